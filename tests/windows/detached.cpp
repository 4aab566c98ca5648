// Not a test of revamp, and without it: threads that are detached at once, as fast as they come. Built by Debian 12's
// mingw-w64 and run under Wine 8 it stops, or reads address 0 in libstdc++'s start of a thread, to which libwinpthread
// gives null: what tests of tasks (when_all_and_when_any) meet there now and then.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

int main() {
    std::atomic<int> ran{0};
    const int all = 20000;
    for (int i = 0; i < all; i++) {
        auto kept = std::make_unique<int>(i);
        while (i - ran.load() > 40)
            std::this_thread::yield();
        std::thread([kept = std::move(kept), &ran] { ++ran; }).detach();
    }
    while (ran != all)
        std::this_thread::yield();
    std::printf("%d\n", ran.load());
}
