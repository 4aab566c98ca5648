// Handles that several threads use, retain and release at once: nobody knows what they hold, but each call must come to
// one of few statuses, nothing may crash or hang, and all memory comes back.
#pragma once
#include "random.hpp"
#include "world.hpp"

#include <atomic>

namespace fuzz {

class Shared {
  public:
    Shared(const World &world, std::vector<Queue> queues);
    // One call, by any thread.
    void step(Random &random);
    // By one thread, when no other uses it.
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
    // Memory of the program, which lives as long as all work: copies whose completion nobody waited for go on.
    static uint32_t memory[4][WORDS];
    const int32_t extent = WORDS;
};

} // namespace fuzz
