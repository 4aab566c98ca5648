// The fault program `completions`: asynchronous copies with callbacks. Each callback must be called once, with the
// result of its own copy.
#include "job.hpp"

#include "../fuzz/report.hpp"

#include <chrono>
#include <thread>

namespace faults {

enum { PARTS = 6, COUNT = 40000 };

struct CallbackRecord {
    std::atomic<int> calls{0};
    std::atomic<revamp_status> status{REVAMP_OK};
};

static void on_done(revamp_status status, void *context) {
    auto *records = static_cast<CallbackRecord *>(context);
    records->status = status;
    // A callback may call the library.
    revamp_accelerator found = nullptr;
    (void)!revamp_accelerator_find("cpu", &found);
    records->calls++;
}

void completions_program(Job &job) {
    revamp_accelerator_view on = job.vulkan(1);
    if (!on) return;
    std::vector<std::unique_ptr<Numbers>> sent, got;
    std::vector<revamp_array> arrays;
    // The models of the arrays, and of the memory that the arrays are copied to.
    std::vector<Words> words, out_words(PARTS);
    // Static, so that the records outlive the callbacks.
    static std::vector<std::unique_ptr<CallbackRecord>> records;
    struct PendingCopy {
        revamp_completion handle;
        CallbackRecord *record;
        bool has_callback;
    };
    std::vector<PendingCopy> pending_copies;
    for (int i = 0; i < PARTS; i++) {
        sent.push_back(std::make_unique<Numbers>(COUNT, static_cast<uint32_t>(i)));
        got.push_back(std::make_unique<Numbers>(COUNT));
        arrays.push_back(job.array(on, COUNT));
        words.emplace_back(COUNT);
        if (!arrays.back()) continue;
        for (bool is_in : {true, false}) {
            revamp_completion done = nullptr;
            revamp_status status =
                is_in
                    ? revamp_copy_to_array_async(sent.back()->memory.data(), COUNT * 4, arrays.back(), nullptr, &done)
                    : revamp_copy_from_array_async(arrays.back(), got.back()->memory.data(), COUNT * 4, nullptr, &done);
            if (!job.ok(status, "an asynchronous copy")) continue;
            if (is_in)
                words.back() = sent.back()->words;
            else
                out_words[static_cast<size_t>(i)] = words.back();
            records.push_back(std::make_unique<CallbackRecord>());
            CallbackRecord *mine = records.back().get();
            const bool has_callback = job.ok(revamp_completion_then(done, on_done, mine), "then");
            pending_copies.push_back({done, mine, has_callback});
            // If the copy in fails, the result of the copy out is unknown.
            if (is_in && i % 2 && !job.ok(revamp_completion_get(done), "the copy in"))
                words.back().assign(COUNT, Word());
        }
        Words now = Job::stepped(words.back());
        Job::update_model(words.back(), now, job.ok(job.step(on, arrays.back(), nullptr, COUNT), "a launch"));
    }
    bool all_good = true;
    for (PendingCopy &pending : pending_copies) {
        revamp_status status = revamp_completion_get(pending.handle);
        all_good &= job.ok(status, "an asynchronous copy's end");
        // If the callback never comes, the watchdog ends the run.
        while (pending.has_callback && pending.record->calls == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (pending.has_callback && pending.record->status != status)
            fuzz::found("a callback was called with %s; the completion says %s",
                        revamp_status_name(pending.record->status), revamp_status_name(status));
        revamp_completion_release(pending.handle);
    }
    for (size_t i = 0; i < PARTS; i++) {
        std::vector<uint32_t> out(COUNT);
        if (!arrays[i] || !job.ok(revamp_copy_from_array(arrays[i], out.data(), COUNT * 4), "a copy out")) continue;
        if (all_good) job.check(out.data(), words[i], "the array");
        if (all_good) job.check(got[i]->memory.data(), out_words[i], "what was copied out");
    }
    // Counted last, so that a second call has time to come. A callback that was not added must not be called.
    for (const PendingCopy &pending : pending_copies)
        if (pending.record->calls != (pending.has_callback ? 1 : 0))
            fuzz::found("a callback was called %d times, and %s added", pending.record->calls.load(),
                        pending.has_callback ? "was" : "was not");
}

} // namespace faults
