// Post 002, fourth sample: which simultaneous accesses to overlapping views are races. The library's race check
// (REVAMP_CHECK=1) reports the races. The results of a race are undefined; this program does not use them.
// 000_1_launch_choice.cpp explains the marks `advice: KIND N`.
#include "report.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace concurrency;

namespace {

#ifdef _WIN32
const int check_races = _putenv_s("REVAMP_CHECK", "1");
#else
const int check_races = setenv("REVAMP_CHECK", "1", 1);
#endif

std::atomic<int> races{0};
void note_race(revamp_log_level, const char *message, void *) noexcept {
    if (std::string(message).find("AV-23") != std::string::npos) ++races;
}

void add_one(const array_view<int> &view) {
    parallel_for_each( // advice: race 0
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
}

// True if `use` is a race with a copy from `source`. The copy may be done before `use` begins, so the test is repeated.
// The message of a race may come a little later, from another thread.
template <class Use> bool is_race(const array_view<int> &source, std::vector<int> &copied, const Use &use) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        completion_future copying = copy_async(source, copied.begin());
        use();
        copying.get();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (races.exchange(0) > 0) return true;
    }
    return false;
}

} // namespace

int main() {
    const int count = 1000;
    posts::report report("Post 002, sample 4: overlapping views at the same time");
    revamp::detail::check(revamp_set_log_callback(note_race, nullptr, REVAMP_LOG_ERROR));
    std::vector<int> numbers(count, 5), copied(count);
    const array_view<int> all(numbers), lower = all.section(0, 600), upper = all.section(400, 600);

    completion_future copying = copy_async(upper, copied.begin());
    const array_view<const int> lower_to_read(lower);
    const int seen = lower_to_read[500];
    report.check("a view may be read while an overlapping one is copied from", races == 0 && seen == 5);
    copying.get();
    add_one(lower);
    report.check("after the program has waited for the copy, the view may be written",
                 races == 0 && lower[500] == 6 && copied[0] == 5);

    report.check("a launch that captures an overlapping writable view meanwhile is a race",
                 is_race(upper, copied, [&] { add_one(lower); }));
    report.check("an access of the host to any element of that view meanwhile is a race",
                 is_race(upper, copied, [&] { (void)lower[0]; })); // advice: race 0

    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    races = 0;
    copying = copy_async(all.section(600, 400), copied.begin());
    add_one(lower);
    copying.get();
    report.check("a launch that captures a view without common elements is no race", races == 0);
    revamp::detail::check(revamp_set_log_callback(nullptr, nullptr, REVAMP_LOG_ERROR));
    return report.result();
} // advice: destructor write-back 2400
