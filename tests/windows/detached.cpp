// Reproduces a failure without revamp: creates and detaches threads as fast as possible. If the program is built by
// Debian 12's mingw-w64, it hangs or crashes under Wine 8. It crashes when libwinpthread passes a null pointer to
// libstdc++'s thread start routine. Tests of tasks (when_all_and_when_any) sometimes fail under Wine for this reason.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

int main() {
    std::atomic<int> ran{0};
    const int thread_count = 20000;
    for (int i = 0; i < thread_count; i++) {
        auto value = std::make_unique<int>(i);
        while (i - ran.load() > 40)
            std::this_thread::yield();
        std::thread([value = std::move(value), &ran] { ++ran; }).detach();
    }
    while (ran != thread_count)
        std::this_thread::yield();
    std::printf("%d\n", ran.load());
}
