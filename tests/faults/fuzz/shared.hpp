// Objects whose handles several threads use, replace and release concurrently. No model predicts their contents. Each
// call must return one of a few statuses, nothing may crash or hang, and all memory must be released.
#pragma once
#include "random.hpp"
#include "world.hpp"

#include <atomic>

namespace fuzz {

class Shared {
  public:
    Shared(const World &world, std::vector<Queue> queues);
    // Makes one random call. Any thread may call this.
    void step(Random &random);
    // Called by one thread when no other thread uses the objects.
    void release_all();

  private:
    enum { SLOTS = 12, WORDS = 4096 };
    revamp_region region(Random &random, bool is_written);
    void allow(revamp_status status, const char *what);
    template <class T> T some(std::atomic<T> (&slots)[SLOTS], Random &random);

    const World &world;
    std::vector<Queue> queues;
    std::atomic<revamp_array> arrays[SLOTS] = {};
    std::atomic<revamp_array_view> views[SLOTS] = {};
    std::atomic<revamp_completion> completions[SLOTS] = {};
    // Static, because copies may still use the memory after the Shared is destroyed: nothing waits for every copy.
    static uint32_t memory[4][WORDS];
    const int32_t extent = WORDS;
};

} // namespace fuzz
