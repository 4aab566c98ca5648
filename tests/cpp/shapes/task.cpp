// Tests of the small part of concurrency::task that revamp implements (docs/spec/copies.md#completion_future).
#include <revamp/detail/task.h>

#include "../check.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

using concurrency::task;
using revamp::detail::task_access;
using revamp::detail::task_state;

template <class T> struct source {
    std::shared_ptr<task_state<T>> state = std::make_shared<task_state<T>>();
    task<T> promised = task_access::make(state);
};

TEST(values) {
    source<int> s;
    CHECK(!s.promised.is_done());
    task<std::string> text = s.promised.then([](int i) { return std::to_string(i); });
    task<void> none = text.then([](const std::string &t) { CHECK(t == "17"); });
    CHECK(!text.is_done());
    s.state->set_value(17);
    CHECK(s.promised.is_done() && s.promised.get() == 17 && text.get() == "17");
    none.get();
    CHECK(none.wait() == concurrency::completed);
    CHECK(s.promised.get() == 17);
}

TEST(continuation_of_a_finished_task) {
    source<void> s;
    s.state->set_value({});
    const bool result = s.promised.then([] { return true; }).get();
    CHECK(result);
}

TEST(chain) {
    source<void> s;
    std::thread finisher([&] { s.state->set_value({}); });
    const int result =
        s.promised.then([] { return 1; }).then([](int i) { return i + 1; }).then([](int i) { return i * 5; }).get();
    finisher.join();
    CHECK(result == 10);
}

TEST(exceptions_pass_through) {
    source<int> s;
    std::atomic<bool> ran{false};
    auto skipped = s.promised.then([&](int) { ran = true; });
    auto handled = skipped.then([](task<void> before) {
        try {
            before.get();
        } catch (const std::logic_error &e) {
            return std::string(e.what());
        }
        return std::string("none");
    });
    s.state->set_exception(std::make_exception_ptr(std::logic_error("it")));
    CHECK_THROWS(std::logic_error, s.promised.get());
    CHECK_THROWS(std::logic_error, (skipped.get(), 0));
    CHECK_THROWS(std::logic_error, skipped.wait());
    CHECK(handled.get() == "it" && !ran);
}

TEST(a_continuation_throws) {
    source<void> s;
    auto next = s.promised.then([]() -> int { throw std::range_error("out"); });
    s.state->set_value({});
    CHECK_THROWS(std::range_error, next.get());
}

TEST(tasks_of_tasks) {
    source<void> outer;
    source<int> inner;
    task<int> both = outer.promised.then([&] { return inner.promised; });
    outer.state->set_value({});
    CHECK(!both.is_done());
    inner.state->set_value(5);
    CHECK(both.get() == 5);
    source<void> failing;
    task<void> end = both.then([&](int) { return failing.promised; });
    failing.state->set_exception(std::make_exception_ptr(std::range_error("out")));
    CHECK_THROWS(std::range_error, (end.get(), 0));
}

TEST(empty_and_equal) {
    const task<int> none;
    CHECK_THROWS(std::future_error, none.get());
    CHECK_THROWS(std::future_error, none.then([](int) {}));
    source<int> s, t;
    const task<int> copy = s.promised;
    CHECK(copy == s.promised && copy != t.promised && none == task<int>());
}

CHECK_MAIN
