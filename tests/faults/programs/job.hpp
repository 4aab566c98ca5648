// What the five programs share: a pass over objects with a flat-memory model, where any call may fail because of a
// fault, but only then; what is read without an error is right.
#pragma once
#include "../fuzz/words.hpp"
#include "../fuzz/world.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace faults {

using fuzz::Word;
using fuzz::Words;

// Numbers in memory of the program, an array or a view, with what they may be.
struct Numbers {
    explicit Numbers(size_t count, uint32_t first = 0);
    std::vector<uint32_t> memory;
    Words words;
    int32_t extent() const { return static_cast<int32_t>(memory.size()); }
};

class Job {
  public:
    // A pass in which a call fails although no fault was injected ends the process with an error.
    Job();
    ~Job();
    bool is_open() const { return opened; }

    // True if it succeeded; else a fault was injected, and the status is of its class.
    bool ok(revamp_status status, const char *what);
    // What is read without an error.
    void check(const uint32_t *got, const Words &words, const char *what);
    // What was written: for certain, or by a call that failed.
    static void wrote(Words &to, const Words &now, bool is_certain);
    static Words stepped(const Words &words);

    revamp_accelerator_view vulkan(int n);
    revamp_array array(revamp_accelerator_view view, size_t count);
    revamp_array staging(size_t count);
    revamp_array_view view_of(Numbers &numbers);
    // 3 x + 1 for all of it.
    revamp_status step(revamp_accelerator_view on, revamp_array array, revamp_array_view view, size_t count);
    void release(revamp_array_view view, Numbers &home);

    fuzz::World world;

  private:
    bool opened = false;
    std::vector<revamp_accelerator_view> views;
    std::vector<revamp_array> arrays;
};

void arrays_program(Job &job);
void sections_program(Job &job);
void queues_program(Job &job);
void completions_program(Job &job);
void threads_program(Job &job);

} // namespace faults
