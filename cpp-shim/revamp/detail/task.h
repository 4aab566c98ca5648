// revamp: the part of concurrency::task that completion_future::to_task() uses (docs/spec/copies.md#completion_future).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_TASK_H
#define REVAMP_DETAIL_TASK_H

#include "config.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <process.h>
#endif

REVAMP_NAMESPACE_BEGIN

template <class T> class task;

enum task_status { not_complete, completed, canceled };

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

using Concurrency::task;

struct nothing {};
template <class T> using value_of = std::conditional_t<std::is_void_v<T>, nothing, T>;
// Replaces std::optional<nothing>, which is slow to compile.
struct optional_nothing {
    nothing value;
    void emplace(nothing) {}
    const nothing &operator*() const { return value; }
};

// A callback that runs when an operation is done; it does not throw.
struct continuation {
    continuation *next = nullptr; // the next callback of the same operation

    virtual void run() noexcept = 0;
    virtual ~continuation() = default;
};

// Runs `next` on a new thread. A template, so that only programs with tasks pay for the compilation.
template <class Continuation> void run_on_new_thread(std::unique_ptr<Continuation> next) {
#ifdef _WIN32
    // With libwinpthread, a std::thread that is detached at once sometimes gets a null argument or never starts.
    const auto run = [](void *given) { std::unique_ptr<Continuation>(static_cast<Continuation *>(given))->run(); };
    if (_beginthread(run, 0, next.get()) == static_cast<std::uintptr_t>(-1))
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    next.release();
#else
    std::thread([kept = std::move(next)] { kept->run(); }).detach();
#endif
}

// The state of an asynchronous operation: pending, or done with a value or an exception.
template <class T> class task_state {
  public:
    task_state() = default;
    task_state(const task_state &) = delete;
    // Deletes the continuations that are still registered. They never run, because the operation did not end.
    ~task_state() {
        while (continuation *const one = m_first) {
            m_first = one->next;
            delete one;
        }
    }

    void set_value(value_of<T> value) noexcept {
        finish([&] { m_value.emplace(std::move(value)); });
    }
    void set_exception(std::exception_ptr exception) noexcept {
        finish([&] { m_exception = std::move(exception); });
    }

    bool is_done() const {
        std::lock_guard<std::mutex> lock(m_mutex);
        return m_done;
    }
    void wait() const {
        std::unique_lock<std::mutex> lock(m_mutex);
        m_changed.wait(lock, [&] { return m_done; });
    }
    template <class Time> bool wait_until(const Time &time) const {
        std::unique_lock<std::mutex> lock(m_mutex);
        return m_changed.wait_until(lock, time, [&] { return m_done; });
    }
    // Waits, and rethrows the operation's exception.
    const value_of<T> &get() const {
        wait();
        if (m_exception) std::rethrow_exception(m_exception);
        return *m_value;
    }
    // Call only when the operation is done.
    std::exception_ptr exception() const { return m_exception; }

    // Calls `function`, which does not throw, when the operation is done: on the thread that finishes the operation, or
    // on a new thread if the operation is done already.
    template <class F> void on_done(F function) {
        struct kept final : continuation {
            F function;
            explicit kept(F given) : function(std::move(given)) {}
            void run() noexcept override { function(); }
        };
        add(std::make_unique<kept>(std::move(function)));
    }

  private:
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    bool m_done = false;
    std::conditional_t<std::is_void_v<T>, optional_nothing, std::optional<value_of<T>>> m_value;
    std::exception_ptr m_exception;
    // A linked list of continuations in order of registration, and its end, where the next one is appended.
    continuation *m_first = nullptr, **m_end = &m_first;

    template <class Continuation> void add(std::unique_ptr<Continuation> next) {
        {
            std::lock_guard<std::mutex> lock(m_mutex);
            if (!m_done) {
                *m_end = next.release();
                m_end = &(*m_end)->next;
                return;
            }
        }
        run_on_new_thread(std::move(next));
    }

    // `set` stores the result. If it throws, the operation ends with that exception.
    template <class Set> void finish(Set set) noexcept {
        continuation *first = nullptr;
        {
            std::lock_guard<std::mutex> lock(m_mutex);
            if (m_done) return;
            try {
                set();
            } catch (...) {
                m_exception = std::current_exception();
            }
            m_done = true;
            std::swap(first, m_first);
        }
        m_changed.notify_all();
        while (continuation *const one = first) {
            first = one->next;
            one->run();
            delete one;
        }
    }
};

template <class T> struct task_result {
    typedef T type;
    static constexpr bool is_task = false;
};
template <class T> struct task_result<task<T>> {
    typedef T type;
    static constexpr bool is_task = true;
};

// True if the continuation F takes the value of a task<T>; otherwise F takes the task itself.
template <class F, class T> struct takes_value : std::is_invocable<F &, T> {};
template <class F> struct takes_value<F, void> : std::is_invocable<F &> {};

template <class F, class T> auto call_with(F &function, const task<T> &antecedent) {
    if constexpr (!takes_value<F, T>::value) {
        static_assert(std::is_invocable_v<F &, task<T>>,
                      "the function of a continuation must take the task's value or the task as its parameter");
        return function(antecedent);
    } else if constexpr (std::is_void_v<T>) {
        antecedent.get();
        return function();
    } else {
        return function(antecedent.get());
    }
}

struct task_access;

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

template <class T> class task {
  public:
    typedef T result_type;

    task() noexcept = default;

    // Waits, and returns the operation's value or rethrows its exception.
    T get() const {
        if constexpr (std::is_void_v<T>)
            state().get();
        else
            return state().get();
    }
    // Waits, and rethrows the operation's exception.
    task_status wait() const {
        state().get();
        return completed;
    }
    bool is_done() const { return state().is_done(); }

    // Calls `function` when the operation is done. A function that takes a task gets this task. Any other function gets
    // the operation's value, and does not run if the operation threw. Returns a task for the result of `function`. If
    // `function` returns a task itself, the result is that task's result.
    template <class F> auto then(F function) const {
        typedef decltype(revamp::detail::call_with(function, *this)) returned;
        typedef typename revamp::detail::task_result<returned>::type result;
        state();
        auto next = std::make_shared<revamp::detail::task_state<result>>();
        m_state->on_done([self = *this, next, function = std::move(function)]() mutable noexcept {
            try {
                if constexpr (revamp::detail::task_result<returned>::is_task) {
                    const returned inner = revamp::detail::call_with(function, self);
                    revamp::detail::value_of<result> (*result_of)(const returned &) = [](const returned &done) {
                        return done.state().get();
                    };
                    inner.state().is_done() ? settle(*next, inner, result_of)
                                            : inner.m_state->on_done([next, inner, result_of]() noexcept {
                                                  settle(*next, inner, result_of);
                                              });
                } else if constexpr (std::is_void_v<result>) {
                    revamp::detail::call_with(function, self);
                    next->set_value({});
                } else {
                    next->set_value(revamp::detail::call_with(function, self));
                }
            } catch (...) {
                next->set_exception(std::current_exception());
            }
        });
        task<result> made;
        made.m_state = std::move(next);
        return made;
    }

    friend bool operator==(const task &left, const task &right) noexcept { return left.m_state == right.m_state; }
    friend bool operator!=(const task &left, const task &right) noexcept { return left.m_state != right.m_state; }

  private:
    std::shared_ptr<revamp::detail::task_state<T>> m_state;

    const revamp::detail::task_state<T> &state() const {
        if (!m_state) throw std::future_error(std::future_errc::no_state);
        return *m_state;
    }
    template <class State, class Inner, class ResultOf>
    static void settle(State &next, const Inner &inner, ResultOf result_of) noexcept {
        try {
            next.set_value(result_of(inner));
        } catch (...) {
            next.set_exception(std::current_exception());
        }
    }

    template <class U> friend class task;
    friend struct revamp::detail::task_access;
};

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

struct task_access {
    template <class T> static task<T> make(std::shared_ptr<task_state<T>> state) noexcept {
        task<T> made;
        made.m_state = std::move(state);
        return made;
    }
    template <class T, class F> static void on_done(const task<T> &one, F function) {
        one.state();
        one.m_state->on_done(std::move(function));
    }
};

// The joint result of several tasks: void for tasks without values, otherwise a vector of all values. Values that are
// vectors are appended element by element, so that `a && b && c` yields a vector of three.
template <class T> struct joined_values {
    typedef T element;
    typedef std::vector<T> type;
    static void add(type &all, const T &value) { all.push_back(value); }
};
template <class T> struct joined_values<std::vector<T>> {
    typedef T element;
    typedef std::vector<T> type;
    static void add(type &all, const type &values) { all.insert(all.end(), values.begin(), values.end()); }
};
template <> struct joined_values<void> {
    typedef void element;
    typedef void type;
};

// Returns a task that is done when all tasks are done. If any task threw, the result is the exception of the first such
// task in the list.
template <class T> task<typename joined_values<T>::type> all_of(std::vector<task<T>> tasks) {
    typedef typename joined_values<T>::type result;
    struct joined {
        std::vector<task<T>> tasks;
        std::atomic<std::size_t> left;
        explicit joined(std::vector<task<T>> given) : tasks(std::move(given)), left(tasks.size() + 1) {}
    };
    auto next = std::make_shared<task_state<result>>();
    auto all = std::make_shared<joined>(std::move(tasks));
    const auto one_is_done = [next, all]() noexcept {
        if (--all->left != 0) return;
        try {
            if constexpr (std::is_void_v<T>) {
                for (const task<T> &one : all->tasks)
                    one.get();
                next->set_value({});
            } else {
                result values;
                for (const task<T> &one : all->tasks)
                    joined_values<T>::add(values, one.get());
                next->set_value(std::move(values));
            }
        } catch (...) {
            next->set_exception(std::current_exception());
        }
    };
    for (const task<T> &one : all->tasks)
        task_access::on_done(one, one_is_done);
    one_is_done();
    return task_access::make<result>(std::move(next));
}

// Returns a task that is done as soon as any of `tasks` succeeds. `make` computes the result from the task that
// succeeded first and its index. If all tasks throw, the result is the exception of the last task to finish.
template <class Result, class T, class Make> task<Result> any_of(const std::vector<task<T>> &tasks, Make make) {
    auto next = std::make_shared<task_state<Result>>();
    auto left = std::make_shared<std::atomic<std::size_t>>(tasks.size());
    for (std::size_t n = 0; n < tasks.size(); ++n)
        task_access::on_done(tasks[n], [next, left, one = tasks[n], n, make]() noexcept {
            try {
                if constexpr (std::is_void_v<T>) one.get();
                next->set_value(make(one, n));
            } catch (...) {
                if (--*left == 0) next->set_exception(std::current_exception());
            }
        });
    return task_access::make<Result>(std::move(next));
}

template <class It> auto tasks_between(It begin, It end) {
    return std::vector<typename std::iterator_traits<It>::value_type>(begin, end);
}
template <class T> std::vector<task<T>> two_tasks(const task<T> &left, const task<T> &right) {
    return {left, right};
}
// Returns a task whose value is a vector with one element, the value of `one`.
template <class T> task<std::vector<T>> as_vector_task(const task<T> &one) {
    return one.then([](const T &value) { return std::vector<T>(1, value); });
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

template <class It> auto when_all(It begin, It end) {
    return revamp::detail::all_of(revamp::detail::tasks_between(begin, end));
}
// The result is the index of the first task to succeed. For tasks with values, it is a pair of value and index.
template <class It> auto when_any(It begin, It end) {
    const auto tasks = revamp::detail::tasks_between(begin, end);
    if (tasks.empty()) throw std::invalid_argument("when_any() was called with no tasks; pass at least one task");
    typedef typename std::iterator_traits<It>::value_type one;
    typedef typename one::result_type value;
    if constexpr (std::is_void_v<value>)
        return revamp::detail::any_of<std::size_t>(tasks, [](const one &, std::size_t n) { return n; });
    else
        return revamp::detail::any_of<std::pair<value, std::size_t>>(
            tasks, [](const one &first, std::size_t n) { return std::pair<value, std::size_t>(first.get(), n); });
}

template <class T> auto operator&&(const task<T> &left, const task<T> &right) {
    return revamp::detail::all_of(revamp::detail::two_tasks(left, right));
}
template <class T> auto operator&&(const task<T> &left, const task<std::vector<T>> &right) {
    return revamp::detail::as_vector_task(left) && right;
}
template <class T> auto operator&&(const task<std::vector<T>> &left, const task<T> &right) {
    return left && revamp::detail::as_vector_task(right);
}
template <class T> task<T> operator||(const task<T> &left, const task<T> &right) {
    return revamp::detail::any_of<T>(revamp::detail::two_tasks(left, right), [](const task<T> &first, std::size_t) {
        if constexpr (std::is_void_v<T>)
            return revamp::detail::nothing();
        else
            return first.get();
    });
}

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_TASK_H
