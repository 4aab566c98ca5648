// revamp: completion_future over the C API (docs/spec/copies.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_COMPLETION_H
#define REVAMP_DETAIL_COMPLETION_H

#include "runtime.h"
#include "task.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <utility>

REVAMP_NAMESPACE_BEGIN

// An asynchronous operation. Copies refer to the same operation.
class REVAMP_VISIBLE completion_future {
  public:
    completion_future() noexcept = default;
    completion_future(const completion_future &other) noexcept;
    completion_future(completion_future &&other) noexcept;
    completion_future &operator=(completion_future other) noexcept;
    ~completion_future() {
        if (m_completion) (void)revamp_completion_release(m_completion);
    }

    bool valid() const noexcept { return m_completion || m_state; }

    // Waits, and throws the operation's failure.
    void get() const;
    void wait() const;
    template <class Rep, class Period>
    std::future_status wait_for(const std::chrono::duration<Rep, Period> &duration) const {
        check_valid();
        const std::chrono::duration<double> seconds = duration;
        // Limits the duration, so that neither its conversion nor the clock overflows.
        std::chrono::nanoseconds limited{0};
        if (seconds.count() >= 1e9)
            limited = std::chrono::seconds(1000000000);
        else if (seconds.count() > 0)
            limited = std::chrono::duration_cast<std::chrono::nanoseconds>(duration);
        if (m_state) {
            const auto end = std::chrono::steady_clock::now() + limited;
            return m_state->wait_until(end) ? std::future_status::ready : std::future_status::timeout;
        }
        const revamp_status status =
            revamp_completion_wait_for(m_completion, static_cast<std::uint64_t>(limited.count()));
        revamp::detail::check(status);
        return status == REVAMP_TIMEOUT ? std::future_status::timeout : std::future_status::ready;
    }
    template <class Clock, class Duration>
    std::future_status wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        for (;;) {
            const auto now = Clock::now();
            // The difference to a time far in the past would overflow.
            const auto left = time > now ? time - now : decltype(time - now)::zero();
            if (wait_for(left) == std::future_status::ready) return std::future_status::ready;
            // The clock may be adjusted during the wait.
            if (Clock::now() >= time) return std::future_status::timeout;
        }
    }

    // Templates, so that only programs that use them pay for their compilation.
    template <class Void, class = std::enable_if_t<std::is_void_v<Void>>> operator std::shared_future<Void>() const {
        check_valid();
        std::promise<Void> promise;
        std::shared_future<Void> future = promise.get_future().share();
        on_done([promise = std::move(promise)](std::exception_ptr exception) mutable {
            if (exception)
                promise.set_exception(exception);
            else
                promise.set_value();
        });
        return future;
    }

    // Calls a copy of `function` on some thread when the operation is done, whether or not it failed. The function must
    // not throw.
    template <class F> void then(const F &function) const {
        check_valid();
        on_done([kept = function](std::exception_ptr) mutable { kept(); });
    }

    template <class Void = void> task<Void> to_task() const {
        check_valid();
        if (m_state) return revamp::detail::task_access::make(m_state);
        auto state = std::make_shared<revamp::detail::task_state<Void>>();
        on_done([state](std::exception_ptr exception) {
            if (exception)
                state->set_exception(exception);
            else
                state->set_value({});
        });
        return revamp::detail::task_access::make(state);
    }

  private:
    // One of these two members is set: m_completion if the library runs the operation, m_state if these headers run it.
    revamp_completion m_completion = nullptr;
    std::shared_ptr<revamp::detail::task_state<void>> m_state;

    void check_valid() const;

    template <class F> struct callback {
        F function;
        // The library passes the object to another thread. This flag shows the ordering to tools that cannot see into
        // the library.
        std::atomic<bool> is_constructed{false};

        explicit callback(F given) : function(std::move(given)) {}
        static void call(revamp_status status, void *context) noexcept {
            const std::unique_ptr<callback> self(static_cast<callback *>(context));
            (void)self->is_constructed.load(std::memory_order_acquire);
            self->function(revamp::detail::exception_of(status));
        }
    };
    // Calls `function` with the exception, or null, when the operation is done.
    template <class F> void on_done(F function) const {
        if (m_state) {
            m_state->on_done(
                [function = std::move(function), state = m_state]() mutable noexcept { function(state->exception()); });
            return;
        }
        std::unique_ptr<callback<F>> context(new callback<F>(std::move(function)));
        context->is_constructed.store(true, std::memory_order_release);
        revamp::detail::check(revamp_completion_then(m_completion, &callback<F>::call, context.get()));
        // The callback frees the context, and may have done so already.
        (void)context.release();
    }

    friend struct revamp::detail::access;
};

#if !REVAMP_DEVICE_PASS
inline completion_future::completion_future(const completion_future &other) noexcept
    : m_completion(other.m_completion), m_state(other.m_state) {
    if (m_completion) (void)revamp_completion_retain(m_completion);
}
inline completion_future::completion_future(completion_future &&other) noexcept
    : m_completion(std::exchange(other.m_completion, nullptr)), m_state(std::move(other.m_state)) {}
inline completion_future &completion_future::operator=(completion_future other) noexcept {
    std::swap(m_completion, other.m_completion);
    m_state.swap(other.m_state);
    return *this;
}

inline void completion_future::get() const {
    check_valid();
    if (m_state)
        m_state->get();
    else
        revamp::detail::check(revamp_completion_get(m_completion));
}
inline void completion_future::wait() const {
    check_valid();
    if (m_state)
        m_state->wait();
    else
        revamp::detail::check(revamp_completion_wait(m_completion));
}
inline void completion_future::check_valid() const {
    if (!valid()) throw std::future_error(std::future_errc::no_state);
}
#endif

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

inline revamp_completion access::native(const completion_future &future) noexcept {
    return future.m_completion;
}
inline completion_future access::adopt(revamp_completion completion) noexcept {
    completion_future future;
    future.m_completion = completion;
    return future;
}
inline completion_future access::make(std::shared_ptr<task_state<void>> state) noexcept {
    completion_future future;
    future.m_state = std::move(state);
    return future;
}

// Options for work whose times the program will query.
inline revamp_async_options timed_options() {
    revamp_async_options options = REVAMP_ASYNC_OPTIONS_INIT;
    options.is_timed = true;
    return options;
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

inline void accelerator_view::wait() const {
    revamp::detail::check(revamp_accelerator_view_wait(revamp::detail::access::native(*this)));
}
inline void accelerator_view::flush() const {
    revamp::detail::check(revamp_accelerator_view_flush(revamp::detail::access::native(*this)));
}
inline completion_future accelerator_view::create_marker() const {
    revamp_completion marker = nullptr;
    revamp::detail::check(revamp_accelerator_view_create_marker(revamp::detail::access::native(*this), &marker));
    return revamp::detail::access::adopt(marker);
}

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_COMPLETION_H
