// revamp: accelerator and accelerator_view over the C API (docs/spec/accelerators.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_RUNTIME_H
#define REVAMP_DETAIL_RUNTIME_H

#include "config.h"
#include "exceptions.h"
#include "text.h"

#include <revamp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
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
template <class T> class task_state;

// The property accelerator::default_cpu_access_type, whose value can change and can be assigned to.
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

    // Selects the default accelerator. After this use, set_default() cannot change the default.
    accelerator();
    explicit accelerator(const std::wstring &path);
    accelerator(const accelerator &) noexcept = default;
    accelerator &operator=(const accelerator &other) noexcept {
        // The properties cannot be assigned to, so the object is constructed again.
        if (this != &other) new (this) accelerator(other);
        return *this;
    }

    // All accelerators that the program can use: Vulkan devices only if the program contains kernels for them.
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

// A queue of work on an accelerator. Copies refer to the same view.
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
    // Returns an operation that is done when all work given to the view so far is done.
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

// The shim's data of an accelerator. Created once and never freed, because accelerator objects refer to it.
struct accelerator_record {
    const revamp_accelerator handle;
    const revamp_accelerator_info info;
    const std::wstring device_path;
    const std::wstring description;
    std::atomic<revamp_accelerator_view> default_handle{nullptr};
    const accelerator self;
    const accelerator_view default_view;
    accelerator_record *next = nullptr; // in the list of record_of()

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

// Throws if the library's binary interface differs from that of the headers.
inline void check_library() {
    static const bool fits = revamp_abi_version() == REVAMP_ABI_VERSION;
    if (!fits)
        throw Concurrency::runtime_exception(
            "the loaded librevamp has another binary interface than the headers that the program was compiled with; "
            "recompile the program with the installed headers",
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

// program_has_spirv: whether a source of the program includes <revamp/kernel.h>. Such a program runs SPIR-V modules on
// the accelerators.
#ifdef _WIN32
// Only ELF has weak undefined symbols. So on Windows, this is a flag, which is set before main().
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
    // Takes over one reference to `handle`.
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
    // Adds a reference to `handle`.
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

// Waits for all work and drops all state of the library. Objects that were created before must not be used afterwards.
// The next call starts the library again.
inline void amp_uninitialize() {
    revamp::detail::check(revamp_uninitialize());
}

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_RUNTIME_H
