// Tests of accelerator, accelerator_view and completion_future (docs/spec/accelerators.md, docs/spec/copies.md).
#include <revamp/detail/completion.h>

#include "../check.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>
#include <type_traits>

using namespace Concurrency;

static accelerator host() {
    return accelerator(L"host");
}
static accelerator cpu() {
    return accelerator(accelerator::cpu_accelerator);
}

TEST(accelerator_list) {
    const std::vector<accelerator> all = accelerator::get_all();
    CHECK(std::count(all.begin(), all.end(), cpu()) == 1);
    CHECK(std::count(all.begin(), all.end(), host()) == 1);
    CHECK(std::count(all.begin(), all.end(), accelerator()) == 1);
    CHECK(std::count(all.begin(), all.end(), accelerator(accelerator::direct3d_warp)) == 1);
    CHECK(std::count(all.begin(), all.end(), accelerator(accelerator::direct3d_ref)) == 0);
    for (const accelerator &one : all) {
        CHECK(!one.device_path.empty() && !one.description.empty());
        CHECK(accelerator(one.device_path) == one);
        CHECK(std::count_if(all.begin(), all.end(),
                            [&](const accelerator &other) { return other.device_path == one.device_path; }) == 1);
        CHECK(one.default_view.accelerator == one);
        if (one.supports_double_precision) CHECK(one.supports_limited_double_precision);
    }
}

TEST(paths) {
    CHECK(accelerator::default_accelerator == std::wstring(L"default"));
    CHECK(accelerator::cpu_accelerator == std::wstring(L"cpu"));
    CHECK(accelerator(L"cpu") == cpu() && cpu().device_path == accelerator::cpu_accelerator);
    CHECK(cpu().device_path.compare(accelerator::cpu_accelerator) == 0);
    CHECK(accelerator(L"host") == host() && host().device_path == L"host");
    CHECK(accelerator(std::wstring()) == accelerator() &&
          accelerator(accelerator::default_accelerator) == accelerator());
    CHECK_THROWS(runtime_exception, accelerator(L"no such thing"), CHECK_CONTAINS(e.what(), "no such thing"));
    CHECK_THROWS(runtime_exception, accelerator(L"gr\u00fcn \U0001F600 \u20ac"),
                 CHECK_CONTAINS(e.what(), "gr\u00fcn \U0001F600 \u20ac"));
}

// A program that asks for one of Direct3D's software devices gets host threads under the name of that device. Programs
// that do not ask for such a device do not see its name (decision 28).
TEST(names_of_direct3d) {
    const accelerator warp(accelerator::direct3d_warp), ref(accelerator::direct3d_ref);
    CHECK(warp.device_path == accelerator::direct3d_warp && accelerator(L"direct3d/warp") == warp);
    CHECK(ref.device_path == accelerator::direct3d_ref && accelerator(L"direct3d/REF") == ref);
    CHECK(warp != ref && warp != host() && ref != host());
    CHECK(accelerator() != ref && accelerator() != warp && accelerator().device_path != accelerator::direct3d_warp);
    for (const accelerator &one : {warp, ref}) {
        CHECK(one.is_emulated && one.supports_double_precision && one.dedicated_memory == host().dedicated_memory);
        CHECK(one.default_view.accelerator.device_path == one.device_path);
        CHECK(one.create_view().accelerator == one);
    }
    CHECK(ref.is_debug && !warp.is_debug && ref.description.find(L"REF") != std::wstring::npos);
}

TEST(text) {
    using namespace revamp::detail;
    for (const wchar_t *text : {L"", L"plain", L"\u00e9\u07ff\u0800\uffff\U00010000\U0010ffff"})
        CHECK(widen(narrow(text).c_str()) == text);
    CHECK(widen("a\xffz") == L"a\ufffdz" && widen("\xe2\x82") == L"\ufffd" &&
          widen("\xc3"
                "a") == L"\ufffd"
                        "a");
    // Overlong forms, a surrogate, and a value beyond the last code point.
    for (const char *text : {"\xc0\x80", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
        CHECK(widen(text) == L"\ufffd");
    CHECK(narrow(std::wstring(1, wchar_t(0xD800))) == "\xef\xbf\xbd");
}

TEST(cpu_accelerator_as_documented) {
    const accelerator c = cpu();
    CHECK(c.version == 1 && c.get_version() == 1);
    CHECK(c.is_emulated && !c.has_display && !c.is_debug);
    CHECK(!c.supports_double_precision && !c.supports_limited_double_precision);
    CHECK(c.dedicated_memory > 1000);
    CHECK(host().is_emulated && host().supports_double_precision);
}

TEST(properties_and_getters_agree) {
    for (const accelerator &a : accelerator::get_all()) {
        CHECK(a.device_path == a.get_device_path() && a.description == a.get_description());
        CHECK(a.version == a.get_version() && a.dedicated_memory == a.get_dedicated_memory());
        CHECK(a.has_display == a.get_has_display() && a.is_debug == a.get_is_debug());
        CHECK(a.is_emulated == a.get_is_emulated());
        CHECK(a.supports_double_precision == a.get_supports_double_precision());
        CHECK(a.supports_limited_double_precision == a.get_supports_limited_double_precision());
        CHECK(a.supports_cpu_shared_memory == a.get_supports_cpu_shared_memory());
        CHECK(a.default_cpu_access_type == a.get_default_cpu_access_type());
        const accelerator_view &v = a.default_view;
        CHECK(v.accelerator == v.get_accelerator() && v.queuing_mode == v.get_queuing_mode());
        CHECK(v.version == v.get_version() && v.version == a.version);
        CHECK(v.is_debug == v.get_is_debug() && v.is_debug == a.is_debug);
        CHECK(v.is_auto_selection == v.get_is_auto_selection() && !v.is_auto_selection);
    }
    std::wstringstream stream;
    stream << cpu().description << cpu().version << cpu().is_debug;
    CHECK(stream.str().size() > 2);
    auto path = cpu().device_path;
    path += L"x";
    static_assert(std::is_same<decltype(path), std::wstring>::value, "");
    auto view = cpu().default_view;
    static_assert(std::is_same<decltype(view), accelerator_view>::value, "");
    switch (cpu().default_cpu_access_type) {
    case access_type_read_write:
        break;
    default:
        CHECK(cpu().default_cpu_access_type == access_type_read_write);
    }
}

TEST(views) {
    static_assert(!std::is_default_constructible<accelerator_view>::value, "");
    const accelerator a = host();
    CHECK(a.default_view == a.default_view && a.get_default_view() == a.default_view);
    CHECK(a.default_view == host().default_view && a.default_view != cpu().default_view);
    const accelerator_view created = a.create_view();
    CHECK(created != a.default_view && created == created && created.queuing_mode == queuing_mode_automatic);
    const accelerator_view other = a.create_view(queuing_mode_immediate);
    CHECK(other != created && other.queuing_mode == queuing_mode_immediate);
    CHECK(a.create_view(queuing_mode::queuing_mode_automatic) != created);
    const accelerator_view copy(created);
    CHECK(copy == created && copy.accelerator == a);
    for (const accelerator_view &v : {a.default_view, created, other, cpu().default_view, cpu().create_view()}) {
        v.flush();
        v.wait();
        v.create_marker().get();
    }
}

TEST(native_handles) {
    using revamp::detail::access;
    const accelerator_view v = host().create_view(queuing_mode_immediate);
    const accelerator_view shared_view = access::share(access::native(v));
    CHECK(shared_view == v && shared_view.queuing_mode == queuing_mode_immediate && shared_view.accelerator == host());
    CHECK(access::share(access::native(host().default_view)) == host().default_view);
    CHECK(access::make(access::native(cpu())) == cpu());
    CHECK_THROWS(runtime_exception, access::share(nullptr), CHECK(e.get_error_code() == E_HANDLE));
    // The last owner frees the handle.
    revamp_accelerator_view handle = nullptr;
    {
        const accelerator_view last = host().create_view();
        const accelerator_view copy(last);
        handle = access::native(last);
    }
    CHECK(revamp_accelerator_view_flush(handle) == REVAMP_ERROR_INVALID_HANDLE);
}

TEST(auto_selection) {
    const accelerator_view v = accelerator::get_auto_selection_view();
    CHECK(v.is_auto_selection && v.accelerator == accelerator() && v == accelerator::get_auto_selection_view());
    CHECK(v != accelerator().default_view && !accelerator().default_view.is_auto_selection);
    v.flush();
    v.wait();
    v.create_marker().get();
    const accelerator_view copy = v;
    CHECK(copy.is_auto_selection && copy == v);
}

TEST(the_default_is_set_once) {
    CHECK_THROWS(runtime_exception, accelerator::set_default(L"no such thing"));
    CHECK(accelerator::set_default(accelerator::cpu_accelerator));
    CHECK(!accelerator::set_default(accelerator::direct3d_warp));
    CHECK(accelerator() == cpu());
    CHECK(accelerator::get_auto_selection_view().accelerator == cpu());
    // After amp_uninitialize() the default can be set again.
    amp_uninitialize();
    amp_uninitialize();
    CHECK(accelerator::set_default(host().device_path));
    CHECK(accelerator() == host());
}

TEST(use_fixes_the_default) {
    const accelerator used;
    CHECK(!used.device_path.empty());
    CHECK(!accelerator::set_default(accelerator::cpu_accelerator));
    CHECK(accelerator() == used);
}

TEST(default_cpu_access) {
    const accelerator a = host();
    CHECK(a.supports_cpu_shared_memory && a.default_cpu_access_type == access_type_read_write);
    CHECK(a.set_default_cpu_access_type(access_type_read));
    CHECK(!a.set_default_cpu_access_type(access_type_write));
    CHECK(host().default_cpu_access_type == access_type_read && access_type_read == a.get_default_cpu_access_type());
    amp_uninitialize();
    accelerator assigned = host();
    assigned.default_cpu_access_type = access_type_write;
    CHECK(host().default_cpu_access_type == access_type_write);
}

TEST(enumerators) {
    static_assert(HLSL_MAX_NUM_BUFFERS == 192 && MODULENAME_MAX_LENGTH == 1024, "");
    CHECK(access_type_none == 0 && access_type_read == 1 && access_type_write == 2 && access_type_read_write == 3);
    CHECK(static_cast<unsigned>(access_type_auto) == 1u << 31);
}

TEST(after_amp_uninitialize) {
    const accelerator_view before = host().create_view();
    before.wait();
    amp_uninitialize();
    CHECK(host().default_view.accelerator == host());
    host().default_view.wait();
    CHECK(host().create_view() != host().default_view);
    // Undefined in C++ AMP; revamp throws.
    CHECK_THROWS(runtime_exception, (before.wait(), 0));
}

// A kernel on host threads that runs until the gate opens.
namespace {
struct gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
    std::atomic<bool> ran{false};

    void open() {
        std::lock_guard<std::mutex> lock(mutex);
        is_open = true;
        changed.notify_all();
    }
    // Opens the gate in any case: otherwise the library would wait for the kernel forever.
    ~gate() { open(); }
    void dispatch(const accelerator_view &view) {
        static const int one[] = {1};
        revamp_parallel_for_each_info info = {};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = one;
        info.function = [](const revamp_thread_id *, void *context) {
            gate &self = *static_cast<gate *>(context);
            std::unique_lock<std::mutex> lock(self.mutex);
            self.changed.wait(lock, [&] { return self.is_open; });
            self.ran = true;
        };
        info.context = this;
        revamp::detail::check(revamp_parallel_for_each(revamp::detail::access::native(view), &info));
    }
};
} // namespace

TEST(empty_futures) {
    const completion_future none;
    CHECK(!none.valid());
    CHECK_THROWS(std::future_error, (none.get(), 0));
    CHECK_THROWS(std::future_error, (none.wait(), 0));
    CHECK_THROWS(std::future_error, none.wait_for(std::chrono::seconds(1)));
    CHECK_THROWS(std::future_error, (none.then([] {}), 0));
    CHECK_THROWS(std::future_error, none.to_task());
    CHECK_THROWS(std::future_error, std::shared_future<void>(none));
}

TEST(futures_wait) {
    gate g;
    const accelerator_view view = host().create_view();
    g.dispatch(view);
    completion_future f = view.create_marker();
    CHECK(f.valid());
    CHECK(f.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout);
    CHECK(f.wait_for(std::chrono::seconds(-5)) == std::future_status::timeout);
    CHECK(f.wait_for((std::chrono::seconds::min)()) == std::future_status::timeout);
    CHECK(f.wait_for(std::chrono::duration<double>(0.001)) == std::future_status::timeout);
    CHECK(f.wait_until(std::chrono::system_clock::now() + std::chrono::milliseconds(5)) == std::future_status::timeout);
    CHECK(f.wait_until(std::chrono::steady_clock::now() - std::chrono::hours(5)) == std::future_status::timeout);
    CHECK(f.wait_until((std::chrono::system_clock::time_point::min)()) == std::future_status::timeout);
    CHECK(!g.ran);
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        g.open();
    });
    CHECK(f.wait_for(std::chrono::hours::max()) == std::future_status::ready);
    CHECK(g.ran);
    f.wait();
    f.get();
    f.get();
    CHECK(f.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    CHECK(f.wait_until(std::chrono::system_clock::now()) == std::future_status::ready);
    opener.join();
}

TEST(futures_are_handles) {
    completion_future a = host().default_view.create_marker();
    completion_future b = a;
    CHECK(a.valid() && b.valid());
    completion_future c = std::move(a);
    CHECK(!a.valid() && c.valid()); // NOLINT: moved from, on purpose
    a = b;
    CHECK(a.valid());
    b = std::move(a);
    CHECK(!a.valid() && b.valid()); // NOLINT
    b = *&b;
    CHECK(b.valid());
    b.get();
    c.get();
    c = completion_future();
    CHECK(!c.valid());
}

TEST(futures_continue) {
    gate g;
    const accelerator_view view = host().create_view();
    g.dispatch(view);
    const completion_future f = view.create_marker();
    std::promise<bool> first, second;
    f.then([&] { first.set_value(g.ran); });
    f.then([&] { second.set_value(g.ran); });
    std::shared_future<void> shared = f;
    CHECK(shared.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout);
    auto tasks = f.to_task().then([&] { return g.ran.load(); });
    CHECK(!tasks.is_done());
    g.open();
    CHECK(first.get_future().get() && second.get_future().get());
    shared.get();
    CHECK(tasks.get());
    // Continuations of a finished operation.
    std::promise<void> third;
    f.then([&] { third.set_value(); });
    third.get_future().get();
    CHECK(f.to_task().then([]() -> bool { return true; }).get());
    f.to_task().get();
    // A functor with a non-const call operator.
    struct counting {
        std::promise<int> *promise;
        int calls;
        void operator()() { promise->set_value(++calls); }
    };
    std::promise<int> calls;
    f.then(counting{&calls, 0});
    CHECK(calls.get_future().get() == 1);
}

TEST(futures_of_the_shim) {
    auto state = std::make_shared<revamp::detail::task_state<void>>();
    const completion_future f = revamp::detail::access::make(state);
    CHECK(f.valid() && f.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout);
    std::promise<void> ran;
    f.then([&] { ran.set_value(); });
    std::shared_future<void> shared = f;
    state->set_exception(std::make_exception_ptr(runtime_exception("it failed", E_FAIL)));
    ran.get_future().get();
    f.wait();
    CHECK(f.wait_for(std::chrono::hours::max()) == std::future_status::ready);
    CHECK_THROWS(runtime_exception, (f.get(), 0), CHECK_CONTAINS(e.what(), "it failed"));
    CHECK_THROWS(runtime_exception, (shared.get(), 0));
    CHECK_THROWS(runtime_exception, (f.to_task().get(), 0));
}

// A barrier in an untiled kernel makes the launch fail. Every future of the launch then fails too.
TEST(futures_fail) {
    const accelerator_view view = host().create_view();
    static const int one[] = {1};
    revamp_parallel_for_each_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = one;
    info.function = [](const revamp_thread_id *id, void *) { (void)revamp_tile_barrier_wait(id); };
    revamp::detail::check(revamp_parallel_for_each(revamp::detail::access::native(view), &info));
    const completion_future f = view.create_marker();
    const std::shared_future<void> shared = f;
    const task<void> tasks = f.to_task();
    std::promise<void> ran;
    f.then([&] { ran.set_value(); });
    ran.get_future().get();
    f.wait();
    CHECK_THROWS(runtime_exception, (f.get(), 0), CHECK_CONTAINS(e.what(), "barrier"));
    CHECK_THROWS(runtime_exception, (shared.get(), 0), CHECK_CONTAINS(e.what(), "barrier"));
    CHECK_THROWS(runtime_exception, (tasks.get(), 0), CHECK_CONTAINS(e.what(), "barrier"));
}

// `a && b` is done when both tasks are done, `a || b` when one task succeeds or both fail.
TEST(tasks_together) {
    const completion_future done = host().create_view().create_marker();
    const auto number = [&](int n) { return done.to_task().then([n] { return n; }); };
    const auto failing = [&] { return done.to_task().then([]() -> int { throw std::runtime_error("it failed"); }); };
    const task<int> one = number(1), two = number(2), three = number(3);
    CHECK((one && two).get() == (std::vector<int>{1, 2}));
    CHECK((one && two && three).get() == (std::vector<int>{1, 2, 3}));
    CHECK((one && (two && three)).get() == (std::vector<int>{1, 2, 3}));
    CHECK(((one && two) && (three && one)).get() == (std::vector<int>{1, 2, 3, 1}));
    CHECK((one && two).then([](const std::vector<int> &all) { return all[0] * 10 + all[1]; }).get() == 12);
    std::atomic<int> ran = 0;
    const task<void> left = one.then([&](int) { ++ran; }), right = two.then([&](int) { ++ran; });
    (left && right && done.to_task()).wait();
    CHECK(ran == 2);
    CHECK_THROWS(std::runtime_error, ((one && failing()).get(), 0), CHECK_CONTAINS(e.what(), "it failed"));

    // `||` gives the result of the task that succeeds first, even if another task failed before.
    const int first = (one || two).get();
    CHECK(first == 1 || first == 2);
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future();
    const task<int> late = done.to_task().then([released] { return released.wait(), 4; });
    CHECK((late || one).get() == 1 && (two || late).get() == 2 && !late.is_done());
    const task<int> either = failing() || late;
    CHECK(!either.is_done());
    release.set_value();
    CHECK(either.get() == 4);
    (left || right).wait();
    CHECK_THROWS(std::runtime_error, ((failing() || failing()).get(), 0));
}

TEST(when_all_and_when_any) {
    const completion_future done = host().create_view().create_marker();
    std::vector<task<int>> numbers;
    std::vector<task<void>> nothings;
    for (int n = 0; n < 20; ++n) {
        numbers.push_back(done.to_task().then([n] { return n * n; }));
        nothings.push_back(numbers.back().then([](int) {}));
    }
    const std::vector<int> values = when_all(numbers.begin(), numbers.end()).get();
    CHECK(values.size() == 20 && values[19] == 361);
    when_all(nothings.begin(), nothings.end()).get();
    CHECK(nothings[19].is_done());
    CHECK(when_all(numbers.begin(), numbers.begin()).get().empty());
    const std::pair<int, std::size_t> any = when_any(numbers.begin(), numbers.end()).get();
    CHECK(any.second < 20 && any.first == int(any.second * any.second));
    CHECK(when_any(nothings.begin(), nothings.end()).get() < 20);
    CHECK_THROWS(std::invalid_argument, when_any(numbers.begin(), numbers.begin()));
}

TEST(from_several_threads) {
    std::vector<std::thread> threads;
    const accelerator_view shared = host().create_view();
    const completion_future future = shared.create_marker();
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                const std::vector<accelerator> all = accelerator::get_all();
                accelerator_view view = shared;
                view = all.back().default_view;
                view = shared;
                completion_future copy = future;
                copy = view.create_marker();
                copy.get();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    shared.wait();
    future.get();
}

// Static objects, which are destroyed after main() in any order.
static accelerator_view &static_view() {
    static accelerator_view view = host().create_view();
    return view;
}
TEST(static_objects) {
    static completion_future future = static_view().create_marker();
    static accelerator last = static_view().accelerator;
    CHECK(future.valid() && last == host());
}

CHECK_MAIN
