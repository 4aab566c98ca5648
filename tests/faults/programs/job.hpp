// The common part of the five fault programs. A Job is one run of a program. Calls may fail only because of an injected
// fault, and data that is read without an error must match the model (words.hpp).
#pragma once
#include "../fuzz/words.hpp"
#include "../fuzz/world.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace faults {

using fuzz::Word;
using fuzz::Words;

// Numbers in host memory (`memory`), and the model of their values (`words`).
struct Numbers {
    explicit Numbers(size_t count, uint32_t first = 0);
    std::vector<uint32_t> memory;
    Words words;
    int32_t extent() const { return static_cast<int32_t>(memory.size()); }
};

class Job {
  public:
    // If a call fails although no fault was injected, the process ends with an error.
    Job();
    ~Job();
    bool is_open() const { return opened; }

    // True if the call succeeded. Otherwise checks that a fault was injected and can cause the status.
    bool ok(revamp_status status, const char *what);
    // Checks data that was read without an error.
    void check(const uint32_t *got, const Words &words, const char *what);
    // Updates the model after a call that writes `now`. Unless `is_certain`, the call failed, and each word may have
    // kept its old value.
    static void update_model(Words &to, const Words &now, bool is_certain);
    static Words stepped(const Words &words);

    revamp_accelerator_view vulkan(int n);
    revamp_array array(revamp_accelerator_view view, size_t count);
    revamp_array staging(size_t count);
    revamp_array_view view_of(Numbers &numbers);
    // Launches a kernel that replaces each word x by 3 x + 1.
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
