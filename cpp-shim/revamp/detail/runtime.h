// revamp: accelerator, accelerator_view and completion_future over the C API (docs/spec/accelerators.md,
// docs/spec/copies.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_RUNTIME_H
#define REVAMP_DETAIL_RUNTIME_H

#include "config.h"
#include "exceptions.h"
#include "task.h"

#include <revamp.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

REVAMP_NAMESPACE_BEGIN

enum queuing_mode { queuing_mode_immediate, queuing_mode_automatic };

enum access_type {
    access_type_none = 0,
    access_type_read = 1,
    access_type_write = 2,
    access_type_read_write = access_type_read | access_type_write,
    access_type_auto = -2147483647 - 1 // 1 << 31
};

// Limits of the original implementation; nothing here depends on them.
constexpr unsigned HLSL_MAX_NUM_BUFFERS = 64 + 128;
constexpr unsigned MODULENAME_MAX_LENGTH = 1024;

class accelerator;
class accelerator_view;
class completion_future;

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

using Concurrency::accelerator;
using Concurrency::accelerator_view;
using Concurrency::access_type;
using Concurrency::completion_future;

struct accelerator_record;
struct access;

// Converts between UTF-8, the encoding of the C API, and wchar_t, which is UTF-32 here. Invalid text becomes U+FFFD.
inline std::wstring widen(const char *text) {
    std::wstring result;
    while (const unsigned first = static_cast<unsigned char>(*text)) {
        ++text;
        unsigned code = first;
        int more = 0;
        if (first >= 0xF0 && first < 0xF8) {
            code = first & 0x07;
            more = 3;
        } else if (first >= 0xE0 && first < 0xF0) {
            code = first & 0x0F;
            more = 2;
        } else if (first >= 0xC0 && first < 0xE0) {
            code = first & 0x1F;
            more = 1;
        } else if (first >= 0x80) {
            code = 0xFFFD;
        }
        for (; more > 0; --more) {
            const unsigned next = static_cast<unsigned char>(*text);
            if ((next & 0xC0) != 0x80) {
                code = 0xFFFD;
                break;
            }
            code = code << 6 | (next & 0x3F);
            ++text;
        }
        // A surrogate pair if wchar_t has 16 bits.
        if (sizeof(wchar_t) == 2 && code >= 0x10000) {
            result += static_cast<wchar_t>(0xD7C0 + (code >> 10));
            code = 0xDC00 | (code & 0x3FF);
        }
        result += static_cast<wchar_t>(code);
    }
    return result;
}
inline std::string narrow(const std::wstring &text) {
    std::string result;
    const auto add = [&result](unsigned byte) { result += static_cast<char>(static_cast<unsigned char>(byte)); };
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned code = static_cast<unsigned>(text[i]);
        if (sizeof(wchar_t) == 2 && code >= 0xD800 && code < 0xDC00 && i + 1 < text.size() && text[i + 1] >= 0xDC00 &&
            text[i + 1] < 0xE000)
            code = 0x10000 + ((code & 0x3FF) << 10) + (static_cast<unsigned>(text[++i]) & 0x3FF);
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
        if (code < 0x80) {
            add(code);
        } else if (code < 0x800) {
            add(0xC0 | code >> 6);
            add(0x80 | (code & 0x3F));
        } else if (code < 0x10000) {
            add(0xE0 | code >> 12);
            add(0x80 | (code >> 6 & 0x3F));
            add(0x80 | (code & 0x3F));
        } else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
            add(0x80 | (code >> 6 & 0x3F));
            add(0x80 | (code & 0x3F));
        }
    }
    return result;
}

// The property accelerator::default_cpu_access_type: it changes, and may be assigned to.
class cpu_access_property {
  public:
    operator access_type() const;
    const cpu_access_property &operator=(access_type type) const;
    const cpu_access_property &operator=(const cpu_access_property &other) const {
        return *this = static_cast<access_type>(other);
    }
    cpu_access_property(const cpu_access_property &) = default;

  private:
    accelerator_record &m_record;

    explicit cpu_access_property(accelerator_record &record) noexcept : m_record(record) {}
    friend class Concurrency::accelerator;
};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// A device. Its properties are constants, or references to a record of the device that is never freed. Thus they have
// the types that C++ AMP specifies, and copies allocate nothing.
class REVAMP_VISIBLE accelerator {
    revamp::detail::accelerator_record *m_record;

  public:
    static constexpr wchar_t default_accelerator[] = L"default";
    static constexpr wchar_t cpu_accelerator[] = L"cpu";
    static constexpr wchar_t direct3d_warp[] = L"direct3d\\warp";
    static constexpr wchar_t direct3d_ref[] = L"direct3d\\ref";

    // The default accelerator, which cannot be changed after this use.
    accelerator();
    explicit accelerator(const std::wstring &path);
    accelerator(const accelerator &) noexcept = default;
    accelerator &operator=(const accelerator &other) noexcept {
        // The properties cannot be assigned to, so the object begins anew.
        if (this != &other) new (this) accelerator(other);
        return *this;
    }

    // All accelerators that the program can use: Vulkan devices only if it contains kernels for them.
    static std::vector<accelerator> get_all();
    static bool set_default(std::wstring path);
    static accelerator_view get_auto_selection_view();

    accelerator_view create_view(queuing_mode mode = queuing_mode_automatic) const;
    accelerator_view get_default_view() const;
    bool set_default_cpu_access_type(access_type type) const;
    access_type get_default_cpu_access_type() const { return default_cpu_access_type; }

    std::wstring get_device_path() const { return device_path; }
    std::wstring get_description() const { return description; }
    unsigned get_version() const noexcept { return version; }
    std::size_t get_dedicated_memory() const noexcept { return dedicated_memory; }
    bool get_has_display() const noexcept { return has_display; }
    bool get_is_debug() const noexcept { return is_debug; }
    bool get_is_emulated() const noexcept { return is_emulated; }
    bool get_supports_double_precision() const noexcept { return supports_double_precision; }
    bool get_supports_limited_double_precision() const noexcept { return supports_limited_double_precision; }
    bool get_supports_cpu_shared_memory() const noexcept { return supports_cpu_shared_memory; }

    const std::wstring &device_path;
    const std::wstring &description;
    const accelerator_view &default_view;
    const std::size_t dedicated_memory; // in kilobytes
    const unsigned version;             // major << 16 | minor
    const bool has_display;
    const bool is_debug;
    const bool is_emulated;
    const bool supports_double_precision;
    const bool supports_limited_double_precision;
    const bool supports_cpu_shared_memory;
    const revamp::detail::cpu_access_property default_cpu_access_type;

    friend bool operator==(const accelerator &left, const accelerator &right) noexcept;
    friend bool operator!=(const accelerator &left, const accelerator &right) noexcept { return !(left == right); }

  private:
    explicit accelerator(revamp::detail::accelerator_record &record) noexcept;
    friend struct revamp::detail::access;
    friend struct revamp::detail::accelerator_record;
};

// A queue of work on an accelerator; a handle, whose copies are the same view.
class REVAMP_VISIBLE accelerator_view {
    // A shared reference. Null for the default view, which the accelerator owns and opens at the first use.
    revamp_accelerator_view m_view;

  public:
    accelerator_view(const accelerator_view &other) noexcept
        : m_view(other.m_view), accelerator(other.accelerator), queuing_mode(other.queuing_mode),
          version(other.version), is_debug(other.is_debug), is_auto_selection(other.is_auto_selection) {
        // If the handle is invalid, the copy is invalid too, and each use of either fails.
        if (m_view) (void)revamp_accelerator_view_retain(m_view);
    }
    accelerator_view &operator=(const accelerator_view &other) noexcept {
        if (this != &other) {
            this->~accelerator_view();
            new (this) accelerator_view(other);
        }
        return *this;
    }
    ~accelerator_view() {
        if (m_view) (void)revamp_accelerator_view_release(m_view);
    }

    Concurrency::accelerator get_accelerator() const noexcept { return accelerator; }
    Concurrency::queuing_mode get_queuing_mode() const noexcept { return queuing_mode; }
    unsigned get_version() const noexcept { return version; }
    bool get_is_debug() const noexcept { return is_debug; }
    bool get_is_auto_selection() const noexcept { return is_auto_selection; }

    // Waits until all work given to the view so far is done.
    void wait() const;
    // Submits queued work to the device; does not wait.
    void flush() const;
    // An operation that is done when all work given to the view so far is.
    completion_future create_marker() const;

    const Concurrency::accelerator &accelerator;
    const Concurrency::queuing_mode queuing_mode;
    const unsigned version;
    const bool is_debug;
    const bool is_auto_selection;

    friend bool operator==(const accelerator_view &left, const accelerator_view &right) noexcept {
        return left.m_view == right.m_view && left.is_auto_selection == right.is_auto_selection &&
               left.accelerator == right.accelerator;
    }
    friend bool operator!=(const accelerator_view &left, const accelerator_view &right) noexcept {
        return !(left == right);
    }

  private:
    accelerator_view(const Concurrency::accelerator &of, revamp_accelerator_view view, Concurrency::queuing_mode mode,
                     bool is_auto) noexcept
        : m_view(view), accelerator(of), queuing_mode(mode), version(of.version), is_debug(of.is_debug),
          is_auto_selection(is_auto) {}
    friend struct revamp::detail::access;
    friend struct revamp::detail::accelerator_record;
};

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

// The data of an accelerator of the library. Created once and never freed, because accelerator objects refer to it.
struct accelerator_record {
    const revamp_accelerator handle;
    const revamp_accelerator_info info;
    const std::wstring device_path;
    const std::wstring description;
    std::atomic<revamp_accelerator_view> default_handle{nullptr};
    const accelerator self;
    const accelerator_view default_view;
    accelerator_record *next = nullptr; // of record_of()

    accelerator_record(revamp_accelerator accelerator_handle, const revamp_accelerator_info &properties)
        : handle(accelerator_handle), info(properties), device_path(widen(properties.device_path)),
          description(widen(properties.description)), self(*this),
          default_view(self, nullptr, Concurrency::queuing_mode_automatic, false) {}

    revamp_accelerator_view default_view_handle() {
        revamp_accelerator_view view = default_handle.load(std::memory_order_acquire);
        if (!view) {
            check(revamp_accelerator_get_default_view(handle, &view));
            default_handle.store(view, std::memory_order_release);
        }
        return view;
    }
};

inline revamp_accelerator_info info_of(revamp_accelerator handle) {
    revamp_accelerator_info info = {};
    info.struct_size = sizeof info;
    check(revamp_accelerator_get_info(handle, &info));
    return info;
}

// Refuses a library with another binary interface.
inline void check_library() {
    static const bool fits = revamp_abi_version() == REVAMP_ABI_VERSION;
    if (!fits)
        throw Concurrency::runtime_exception(
            "the program was compiled against another version of librevamp than the one that was "
            "loaded; compile it against the installed headers",
            revamp::detail::failed);
}

inline accelerator_record &record_of(revamp_accelerator handle) {
    static std::mutex mutex;
    static accelerator_record *first = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    accelerator_record **at = &first;
    for (; *at; at = &(*at)->next)
        if ((*at)->handle == handle) return **at;
    return *(*at = new accelerator_record(handle, info_of(handle)));
}

inline accelerator_record &default_record() {
    check_library();
    revamp_accelerator handle = nullptr;
    check(revamp_accelerator_get_default(REVAMP_CODE_HOST, &handle));
    return record_of(handle);
}

// Defined if a source of the program includes <revamp/kernel.h>: such a program runs SPIR-V on the accelerators.
#ifdef _WIN32
// Only ELF has weak undefined symbols. Set before main().
inline bool program_has_spirv = false;
inline bool runs_spirv() {
    return program_has_spirv;
}
#else
extern const char program_has_spirv __attribute__((weak));
inline bool runs_spirv() {
    return &program_has_spirv != nullptr;
}
#endif

// Conversions between the objects of C++ AMP and the handles of the C API.
struct access {
    static accelerator_record &record(const accelerator &accelerator) noexcept { return *accelerator.m_record; }
    static revamp_accelerator native(const accelerator &accelerator) noexcept { return accelerator.m_record->handle; }
    // A borrowed handle. For the auto-selection view, it is the default view of the default accelerator.
    static revamp_accelerator_view native(const accelerator_view &view) {
        return view.m_view ? view.m_view : record(view.accelerator).default_view_handle();
    }
    static const accelerator &make(revamp_accelerator handle) { return record_of(handle).self; }
    // Takes over one share of `handle`.
    static accelerator_view adopt(revamp_accelerator_view handle) {
        struct owner {
            revamp_accelerator_view view;
            ~owner() {
                if (view) (void)revamp_accelerator_view_release(view);
            }
        } owned = {handle};
        revamp_accelerator_view_info info = {};
        info.struct_size = sizeof info;
        check(revamp_accelerator_view_get_info(handle, &info));
        accelerator_record &record = record_of(info.accelerator);
        if (record.default_view_handle() == handle) return record.default_view;
        owned.view = nullptr;
        return accelerator_view(record.self, handle, static_cast<Concurrency::queuing_mode>(info.queuing_mode), false);
    }
    // Makes one more share of `handle`.
    static accelerator_view share(revamp_accelerator_view handle) {
        check(revamp_accelerator_view_retain(handle));
        return adopt(handle);
    }
    static accelerator_view auto_selection() {
        return accelerator_view(default_record().self, nullptr, Concurrency::queuing_mode_automatic, true);
    }
    static revamp_completion native(const completion_future &future) noexcept;
    static completion_future adopt(revamp_completion completion) noexcept;
    static completion_future make(std::shared_ptr<task_state<void>> state) noexcept;
};

#if !REVAMP_DEVICE_PASS
inline accelerator_record &record_at(const std::wstring &path) {
    if (path.empty() || path == accelerator::default_accelerator) return default_record();
    check_library();
    revamp_accelerator handle = nullptr;
    check(revamp_accelerator_find(narrow(path).c_str(), &handle));
    accelerator_record &record = record_of(handle);
    if (record.info.unusable_reason) {
        const std::string why =
            "the accelerator \"" + narrow(path) + "\" cannot be used: " + record.info.unusable_reason;
        throw Concurrency::runtime_exception(why.c_str(), revamp::detail::failed);
    }
    return record;
}
#endif

inline cpu_access_property::operator access_type() const {
    // The numbers are the same; AUTO is the sign bit.
    return static_cast<access_type>(static_cast<int>(info_of(m_record.handle).default_cpu_access_type));
}
inline const cpu_access_property &cpu_access_property::operator=(access_type type) const {
    m_record.self.set_default_cpu_access_type(type);
    return *this;
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

#if !REVAMP_DEVICE_PASS
inline accelerator::accelerator(revamp::detail::accelerator_record &record) noexcept
    : m_record(&record), device_path(record.device_path), description(record.description),
      default_view(record.default_view), dedicated_memory(record.info.dedicated_memory), version(record.info.version),
      has_display(record.info.has_display), is_debug(record.info.is_debug), is_emulated(record.info.is_emulated),
      supports_double_precision(record.info.supports_double_precision),
      supports_limited_double_precision(record.info.supports_limited_double_precision),
      supports_cpu_shared_memory(record.info.supports_cpu_shared_memory), default_cpu_access_type(record) {}
inline accelerator::accelerator() : accelerator(revamp::detail::default_record()) {}
inline accelerator::accelerator(const std::wstring &path) : accelerator(revamp::detail::record_at(path)) {}

inline std::vector<accelerator> accelerator::get_all() {
    revamp::detail::check_library();
    const bool spirv = revamp::detail::runs_spirv();
    std::vector<revamp_accelerator> handles(16);
    std::size_t count = 0;
    revamp::detail::check(revamp_accelerator_list_offered(spirv, handles.data(), handles.size(), &count));
    if (count > handles.size()) {
        handles.resize(count);
        revamp::detail::check(revamp_accelerator_list_offered(spirv, handles.data(), handles.size(), &count));
    }
    handles.resize(count);
    std::vector<accelerator> all;
    for (revamp_accelerator handle : handles)
        all.push_back(revamp::detail::record_of(handle).self);
    return all;
}

inline bool accelerator::set_default(std::wstring path) {
    revamp::detail::check_library();
    bool changed = false;
    revamp::detail::check(revamp_accelerator_set_default(revamp::detail::narrow(path).c_str(), &changed));
    return changed;
}

inline accelerator_view accelerator::get_auto_selection_view() {
    return revamp::detail::access::auto_selection();
}

inline accelerator_view accelerator::create_view(queuing_mode mode) const {
    revamp_accelerator_view view = nullptr;
    revamp::detail::check(
        revamp_accelerator_create_view(m_record->handle, static_cast<revamp_queuing_mode>(mode), &view));
    return revamp::detail::access::adopt(view);
}

inline accelerator_view accelerator::get_default_view() const {
    // Opens the view now, so that errors appear here and not at its first use.
    m_record->default_view_handle();
    return m_record->default_view;
}

inline bool accelerator::set_default_cpu_access_type(access_type type) const {
    bool changed = false;
    revamp::detail::check(revamp_accelerator_set_default_cpu_access_type(
        m_record->handle, static_cast<revamp_access>(static_cast<int>(type)), &changed));
    return changed;
}

inline bool operator==(const accelerator &left, const accelerator &right) noexcept {
    return left.m_record->handle == right.m_record->handle;
}
#endif

// An operation under way; copies are the same operation.
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
        if (m_state) {
            // Clocks overflow later than this.
            const auto now = std::chrono::steady_clock::now();
            const auto limited = seconds.count() < 1e9
                                     ? std::chrono::duration_cast<std::chrono::steady_clock::duration>(duration)
                                     : std::chrono::steady_clock::duration(std::chrono::seconds(1000000000));
            return m_state->wait_until(now + limited) ? std::future_status::ready : std::future_status::timeout;
        }
        std::uint64_t nanoseconds = 0;
        if (seconds.count() >= 1e9)
            nanoseconds = UINT64_MAX;
        else if (seconds.count() > 0)
            nanoseconds =
                static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
        const revamp_status status = revamp_completion_wait_for(m_completion, nanoseconds);
        revamp::detail::check(status);
        return status == REVAMP_TIMEOUT ? std::future_status::timeout : std::future_status::ready;
    }
    template <class Clock, class Duration>
    std::future_status wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        for (;;) {
            const auto left = time - Clock::now();
            if (wait_for(left) == std::future_status::ready) return std::future_status::ready;
            // The clock may be set during the wait.
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
    // One of the two is set: an operation of the library, or of the shim.
    revamp_completion m_completion = nullptr;
    std::shared_ptr<revamp::detail::task_state<void>> m_state;

    void check_valid() const;

    template <class F> struct callback {
        F function;
        // The library passes the object to another thread. This flag shows the ordering to tools that cannot see into
        // the library.
        std::atomic<bool> is_whole{false};

        explicit callback(F given) : function(std::move(given)) {}
        static void call(revamp_status status, void *context) noexcept {
            const std::unique_ptr<callback> self(static_cast<callback *>(context));
            (void)self->is_whole.load(std::memory_order_acquire);
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
        context->is_whole.store(true, std::memory_order_release);
        revamp::detail::check(revamp_completion_then(m_completion, &callback<F>::call, context.get()));
        // The callback frees it, and may have done so already.
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

// Of work whose times are asked for.
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

// Waits for all work and drops all state of the library. Objects made before must not be used; the next call begins
// anew.
inline void amp_uninitialize() {
    revamp::detail::check(revamp_uninitialize());
}

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_RUNTIME_H
