// Tests many kinds of host code in a source with a kernel. Code that no kernel calls is not compiled for the device.
#include <future>
#include <mutex>
#include <regex>
#include <thread>

#include "device.hpp"

using namespace concurrency;

namespace {

std::once_flag once;
thread_local int of_a_thread = 3;
thread_local std::string text_of_a_thread = "x";
const int dynamic = [] {
    try {
        throw 4;
    } catch (int thrown) {
        return thrown;
    }
}();

struct shape {
    virtual int corners() const = 0;
    virtual ~shape() = default;
};
struct square : virtual shape {
    int corners() const override { return 4; }
};

// restrict(amp,cpu) templates that only host code instantiates, for host classes.
template <class T> T sum(const T &a, const T &b) restrict(amp, cpu) {
    return a + b;
}
template <class T> struct box {
    T value;
    explicit box(const T &v) restrict(amp, cpu) : value(v) {}
    T twice() const restrict(amp, cpu) { return sum(value, value); }
};
int doubled(const std::string &text) {
    return static_cast<int>(box<std::string>(text).twice().size());
}

#if defined(__x86_64__)
int register_of_the_host() {
    int value = 0;
    asm("movl $5, %0" : "=a"(value));
    return value;
}
#else
int register_of_the_host() {
    return 5;
}
#endif

} // namespace

TEST(host_code_next_to_a_kernel) {
    int called = 0;
    std::call_once(once, [&] { called = 1; });
    auto asynchronous = std::async(std::launch::async, [] { return ++of_a_thread; });
    std::promise<int> promise;
    std::thread setter([&] { promise.set_value(7); });
    setter.join();
    const square one;
    const shape &any = one;
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0]; });
    const std::shared_future<void> marker = vulkan_view().create_marker();
    marker.wait();
    CHECK(view[3] == 3 && called == 1 && asynchronous.get() == 4 && of_a_thread == 3 &&
          promise.get_future().get() == 7);
    CHECK(dynamic == 4 && any.corners() == 4 && register_of_the_host() == 5 && text_of_a_thread == "x");
    CHECK(doubled("abc") == 6);
    CHECK(std::regex_match("amp", std::regex("[a-p]+")));
}

CHECK_MAIN
