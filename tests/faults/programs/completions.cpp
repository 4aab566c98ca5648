// Asynchronous copies and synchronizations with callbacks: each is called once, with the operation's own result.
#include "job.hpp"

#include "../fuzz/report.hpp"

#include <chrono>
#include <thread>

namespace faults {

enum { PARTS = 6, COUNT = 40000 };

struct Told {
    std::atomic<int> calls{0};
    std::atomic<revamp_status> status{REVAMP_OK};
};

static void on_done(revamp_status status, void *context) {
    auto *told = static_cast<Told *>(context);
    told->status = status;
    // A callback may call the library.
    revamp_accelerator found = nullptr;
    (void)!revamp_accelerator_find("cpu", &found);
    told->calls++;
}

void completions_program(Job &job) {
    revamp_accelerator_view on = job.vulkan(1);
    if (!on) return;
    std::vector<std::unique_ptr<Numbers>> sent, got;
    std::vector<revamp_array> arrays;
    // Of the arrays, and of what is copied out of them.
    std::vector<Words> words, outs(PARTS);
    // They outlive the callbacks: all are waited for below.
    static std::vector<std::unique_ptr<Told>> told;
    struct Under_way {
        revamp_completion handle;
        Told *told;
    };
    std::vector<Under_way> under_way;
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
                outs[static_cast<size_t>(i)] = words.back();
            told.push_back(std::make_unique<Told>());
            Told *mine = told.back().get();
            if (!job.ok(revamp_completion_then(done, on_done, mine), "then")) mine = nullptr;
            under_way.push_back({done, mine});
            // The copy in must end well for the copy out to be known.
            if (is_in && i % 2 && !job.ok(revamp_completion_get(done), "the copy in"))
                words.back().assign(COUNT, Word());
        }
        Words now = Job::stepped(words.back());
        Job::wrote(words.back(), now, job.ok(job.step(on, arrays.back(), nullptr, COUNT), "a launch"));
    }
    bool all_good = true;
    for (Under_way &u : under_way) {
        revamp_status status = revamp_completion_get(u.handle);
        all_good &= job.ok(status, "an asynchronous copy's end");
        // The watchdog ends a wait that does not.
        while (u.told && u.told->calls == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (u.told && (u.told->calls != 1 || u.told->status != status))
            fuzz::found("a callback was called %d times, with %s; the completion says %s", u.told->calls.load(),
                        revamp_status_name(u.told->status), revamp_status_name(status));
        revamp_completion_release(u.handle);
    }
    for (size_t i = 0; i < PARTS; i++) {
        std::vector<uint32_t> out(COUNT);
        if (!arrays[i] || !job.ok(revamp_copy_from_array(arrays[i], out.data(), COUNT * 4), "a copy out")) continue;
        if (all_good) job.check(out.data(), words[i], "the array");
        if (all_good) job.check(got[i]->memory.data(), outs[i], "what was copied out");
    }
}

} // namespace faults
