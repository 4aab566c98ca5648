// revamp: the class texture and its views (docs/spec/textures.md). Kernels see only the `texel_header` at the beginning
// of a texture or view; the other members are for the host.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_TEXTURE_H
#define REVAMP_DETAIL_TEXTURE_H

#include "array.h"
#include "config.h"
#include "copy_memory.h"
#include "element.h"
#include "exceptions.h"
#include "runtime.h"
#include "sampler.h"
#include "shapes.h"
#include "texels.h"
#include "view.h"

#include <atomic>
#include <climits>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

REVAMP_DETAIL_BEGIN

using Concurrency::graphics::texture;
using Concurrency::graphics::texture_view;
using Concurrency::graphics::writeonly_texture_view;

// Checks the texel type and rank of textures and their views.
template <class T, int N> struct texture_element {
    static_assert(N >= 1 && N <= 3, "the rank of a texture must be 1, 2 or 3");
    static_assert(
        texel_size<T> != 0,
        "the type of a texel must be int, unsigned int, float, double, norm or unorm, or a short vector of one of "
        "these types; a short vector of double must have 2 components, of norm or unorm 2 or 4, and of the other types "
        "2, 3 or 4");
    static constexpr bool meets_requirements = true;
};

// The host state that a texture and its views share.
struct texture_control {
    const revamp_texture handle;
    revamp_texture_info info = {};

    static texture_control *adopt(revamp_texture texture) {
        try {
            return new texture_control(texture);
        } catch (...) {
            (void)revamp_texture_release(texture);
            throw;
        }
    }
    static void retain(texture_control *c) noexcept { c->m_owners.fetch_add(1, std::memory_order_relaxed); }
    // Not inlined, for the reason given at view_control::release.
    [[gnu::noinline]] static void release(texture_control *c) noexcept {
        if (c->m_owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete c;
    }
    bool is_staging() const { return info.view != info.associated_view; }

  private:
    std::atomic<long> m_owners{1};

    explicit texture_control(revamp_texture texture) : handle(texture) {
        info.struct_size = sizeof info;
        check(revamp_texture_get_info(texture, &info));
    }
    ~texture_control() {
        (void)revamp_texture_release(handle);
        acquire_order();
    }
};
inline Concurrency::accelerator_view source_of(texture_control *control) {
    return access::share(control->info.view);
}

// Consecutive levels of a texture.
struct texture_part {
    texture_control *control;
    unsigned level;
    unsigned levels;

    // `origin` and `extent` are null for whole levels.
    revamp_texture_region region(const int *origin = nullptr, const int *extent = nullptr) const {
        revamp_texture_region r = {};
        r.struct_size = sizeof r;
        r.texture = control->handle;
        r.level = level;
        r.level_count = levels;
        r.origin = origin;
        r.extent = extent;
        return r;
    }
};

template <int N> std::size_t texel_count(Concurrency::extent<N> extent, unsigned levels) {
    std::size_t count = 0;
    for (; levels > 0; --levels) {
        count += count_of(extent);
        extent = halved(extent);
    }
    return count;
}

// Converts a number of bytes to the unsigned int that C++ AMP has for it. A larger number becomes UINT_MAX.
constexpr unsigned saturated(std::uint64_t bytes) {
    return bytes < UINT_MAX ? unsigned(bytes) : UINT_MAX;
}

[[noreturn, gnu::cold]] inline void refuse_texture(const std::string &why) {
    throw Concurrency::runtime_exception(why.c_str(), failed);
}
// Only kernels read and write single texels.
[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_texel() {
    refuse_texture("the host cannot read or write single texels of a texture; use copy()");
}
[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_captured_by_reference() {
    refuse_texture(
        "a kernel uses a texture view that it captured by reference; capture views by value ([=], or by name)");
}
inline void check_levels(unsigned first, unsigned count, unsigned levels) {
    if (count == 0 || first >= levels || count > levels - first)
        refuse_texture("a texture view of " + std::to_string(count) + " mipmap levels from level " +
                       std::to_string(first) + " on was requested, but the number of levels is " +
                       std::to_string(levels));
}
// The kernel compiler reports this error at compile time (TEX-42).
[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_view_made_in_kernel() {
    refuse_texture("a kernel cannot create this view; create the view on the host. Kernels can create a "
                   "texture_view<T, N> or writeonly_texture_view only if texels have one component. They can create a "
                   "texture_view<const T, N> only if texels have several components");
}
inline void check_viewed(const texture_control *control) {
    if (control->is_staging())
        refuse_texture("a staging texture cannot have views, because kernels cannot use staging textures; copy it to a "
                       "texture on an accelerator");
}

// The beginning of every texture and texture view: the members that kernels use.
template <class T, int N> class texel_header {
    static_assert(texture_element<T, N>::meets_requirements, "");

  protected:
    // The address of the texels in the memory where the kernel runs.
    void *m_texels = nullptr;

  public:
    // The properties; the functions get_... return the same values.
    const Concurrency::extent<N> extent;
    const unsigned bits_per_scalar_element;
    const unsigned mipmap_levels;

  protected:
    REVAMP_HD texel_header(void *first, const Concurrency::extent<N> &shape, unsigned bits, unsigned levels) noexcept
        : m_texels(first), extent(shape), bits_per_scalar_element(bits), mipmap_levels(levels) {}
    REVAMP_HD texel_header(const texel_header &) = default;
    REVAMP_HD void assign(const texel_header &other) {
        m_texels = other.m_texels;
#if REVAMP_DEVICE_PASS
        const_cast<Concurrency::extent<N> &>(extent) = other.extent;
        const_cast<unsigned &>(bits_per_scalar_element) = other.bits_per_scalar_element;
        const_cast<unsigned &>(mipmap_levels) = other.mipmap_levels;
#else
        new (const_cast<Concurrency::extent<N> *>(&extent)) Concurrency::extent<N>(other.extent);
        new (const_cast<unsigned *>(&bits_per_scalar_element)) unsigned(other.bits_per_scalar_element);
        new (const_cast<unsigned *>(&mipmap_levels)) unsigned(other.mipmap_levels);
#endif
    }

    template <class U, int M, revamp_access Access> friend class basic_texture_view;

    REVAMP_HD texels<N> all() const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) refuse_texel();
        if (__builtin_expect(!m_texels, 0)) refuse_captured_by_reference();
#endif
        return {m_texels, extent, mipmap_levels, bits_per_scalar_element};
    }
    REVAMP_HD Concurrency::extent<N> extent_of_level(unsigned level) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel() && level >= mipmap_levels)
            refuse_texture("mipmap level " + std::to_string(level) + " was requested, but the number of levels is " +
                           std::to_string(mipmap_levels) + "; levels are numbered from 0");
#endif
        return level_extent(extent, level);
    }

  public:
    REVAMP_HD Concurrency::extent<N> get_extent() const {
        return extent;
    }
    unsigned get_bits_per_scalar_element() const {
        return bits_per_scalar_element;
    }
    static constexpr int rank = N;
    typedef texel_scalar<T> scalar_type;
};

// Functions that read texels by index in kernels. `readable`: if false, calls do not compile. `only_read`: false for
// views that kernels also write. The texels of these views are read from memory, never from an image.
#define REVAMP_TEXEL_READS(readable, only_read)                                                                        \
    REVAMP_HD T get(const Concurrency::index<N> &at) const {                                                           \
        static_assert(readable, "a texture_view<T, N> reads only texels of int, unsigned int and float; read other "   \
                                "texels through a texture_view<const T, N>");                                          \
        return revamp::detail::fetch_texel<T>(this->all(), at, 0, only_read);                                          \
    }                                                                                                                  \
    REVAMP_HD T operator[](const Concurrency::index<N> &at) const {                                                    \
        return get(at);                                                                                                \
    }                                                                                                                  \
    REVAMP_HD T operator[](int i0) const {                                                                             \
        static_assert(N == 1, "a single number indexes only textures of rank 1; pass an index");                       \
        return get(Concurrency::index<N>(i0));                                                                         \
    }                                                                                                                  \
    REVAMP_HD T operator()(const Concurrency::index<N> &at) const {                                                    \
        return get(at);                                                                                                \
    }                                                                                                                  \
    REVAMP_HD T operator()(int i0) const {                                                                             \
        static_assert(N == 1, "a single number indexes only textures of rank 1; pass an index");                       \
        return get(Concurrency::index<N>(i0));                                                                         \
    }                                                                                                                  \
    REVAMP_HD T operator()(int i0, int i1) const {                                                                     \
        static_assert(N == 2, "two numbers index only textures of rank 2");                                            \
        return get(Concurrency::index<N>(i0, i1));                                                                     \
    }                                                                                                                  \
    REVAMP_HD T operator()(int i0, int i1, int i2) const {                                                             \
        static_assert(N == 3, "three numbers index only textures of rank 3");                                          \
        return get(Concurrency::index<N>(i0, i1, i2));                                                                 \
    }

template <class T, int N, revamp_access Access> class basic_texture_view;

// The accelerator_views that the program requests for a texture.
struct texture_place {
    Concurrency::accelerator_view view;
    const Concurrency::accelerator_view *associated = nullptr;
};

// Access to private members of textures and views, for copies.
struct texture_access {
    template <class T, int N> static texture_part part(const texture<T, N> &of) {
        if (!of.m_control) throw_moved_from();
        return {of.m_control, 0, of.mipmap_levels};
    }
    template <class T, int N, revamp_access Access>
    static texture_part part(const basic_texture_view<T, N, Access> &of) {
        return {of.m_control, of.m_level, of.mipmap_levels};
    }
    template <class T> static constexpr revamp_component_kind kind_of() {
        typedef texel_scalar<T> S;
        return std::is_same_v<S, int>        ? REVAMP_COMPONENT_INT
               : std::is_same_v<S, unsigned> ? REVAMP_COMPONENT_UINT
               : std::is_same_v<S, float>    ? REVAMP_COMPONENT_FLOAT
               : std::is_same_v<S, norm>     ? REVAMP_COMPONENT_NORM
               : std::is_same_v<S, unorm>    ? REVAMP_COMPONENT_UNORM
                                             : REVAMP_COMPONENT_DOUBLE;
    }
    // Takes ownership of a texture of the C API.
    template <class T, int N>
    static texture<T, N> adopt(const Concurrency::extent<N> &shape, revamp_texture handle,
                               const Concurrency::accelerator_view &view) {
        return texture<T, N>(shape, texture_control::adopt(handle), texture_place{view});
    }
    template <class T, int N> static revamp_texture handle(const texture<T, N> &of) { return part(of).control->handle; }
    // The options of a new texture. They point to the extent in `room`. `levels`: 0 for all.
    template <class T, int N>
    static revamp_texture_options options(const Concurrency::extent<N> &shape, int (&room)[N], unsigned bits,
                                          unsigned levels) {
        if (!has_bits<T>(bits ? bits : default_bits<T>)) refuse_bits<T>(bits);
        revamp_texture_options options = {};
        options.struct_size = sizeof options;
        options.rank = N;
        options.extent = views::values(shape, room);
        options.component_kind = kind_of<T>();
        options.components = static_cast<unsigned>(texel_size<T>);
        options.bits = bits;
        options.levels = levels ? levels : REVAMP_ALL_LEVELS;
        return options;
    }
    // Makes a texture. `levels`: 0 for all.
    template <class T, int N>
    static texture_control *make(const Concurrency::extent<N> &shape, unsigned bits, unsigned levels,
                                 const texture_place &where) {
        int room[N];
        revamp_texture_options options = texture_access::options<T>(shape, room, bits, levels);
        if (where.associated) options.associated_view = access::native(*where.associated);
        revamp_texture handle = nullptr;
        check(revamp_texture_create(access::native(where.view), &options, &handle));
        return texture_control::adopt(handle);
    }

  private:
    template <class T> [[noreturn, gnu::cold]] static void refuse_bits(unsigned bits) {
        std::string accepted;
        for (const unsigned known : {8U, 16U, 32U, 64U})
            if (has_bits<T>(known)) accepted.append(accepted.empty() ? "" : " or ").append(std::to_string(known));
        const std::string why =
            "a texture of " + std::to_string(bits) +
            " bits per scalar element was requested, but for this type of texels the number must be " + accepted;
        // If no texture has components of this number of bits, the exception is a runtime_exception.
        if (bits == 8 || bits == 16 || bits == 32 || bits == 64) throw Concurrency::unsupported_feature(why.c_str());
        refuse_texture(why);
    }
};

// The base of texture views. Access: how kernels may access the texels.
template <class T, int N, revamp_access Access> class basic_texture_view : public texel_header<T, N> {
  public:
    const unsigned data_length;

  protected:
    // The number of the view's first level among the levels of the texture.
    unsigned m_level;

  public:
    union {
        // Null in kernels. Not for use by programs.
        texture_control *m_control;
        // The property; get_accelerator_view() returns the same value.
        source_view_property<texture_control> accelerator_view;
    };

    REVAMP_HD basic_texture_view(const basic_texture_view &other) noexcept
        : texel_header<T, N>(other), data_length(other.data_length), m_level(other.m_level) {
        share_control(other.m_control);
    }
    basic_texture_view &operator=(const basic_texture_view &) = delete;
    REVAMP_HD ~basic_texture_view() {
#if !REVAMP_DEVICE_PASS
        if (m_control) texture_control::release(m_control);
#endif
    }

    Concurrency::accelerator_view get_accelerator_view() const {
        return source_of(m_control);
    }
    unsigned get_data_length() const {
        return data_length;
    }

  protected:
    // Makes a view of `levels` levels of `source`, which is a texture or view. `level`: the first of these levels.
    template <class Source>
    REVAMP_HD basic_texture_view(const Source &source, unsigned level, unsigned levels)
        : texel_header<T, N>(source.m_texels, level_extent(source.extent, checked(source, level, levels)),
                             source.bits_per_scalar_element, levels),
          data_length(length_of(source, level, levels)), m_level(level) {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) {
            const texture_part part = texture_access::part(source);
            m_level += part.level;
            share_control(part.control);
            return;
        }
#endif
        share_control(nullptr);
    }

    REVAMP_HD void become(const basic_texture_view &other) {
        if (this == &other) return;
        this->assign(other);
        m_level = other.m_level;
#if REVAMP_DEVICE_PASS
        const_cast<unsigned &>(data_length) = other.data_length;
#else
        new (const_cast<unsigned *>(&data_length)) unsigned(other.data_length);
        texture_control *old = m_control;
        share_control(other.m_control);
        if (old) texture_control::release(old);
#endif
    }
    friend struct texture_access;

  private:
    template <class Source>
    REVAMP_HD static unsigned checked([[maybe_unused]] const Source &source, unsigned level,
                                      [[maybe_unused]] unsigned levels) {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) {
            check_levels(level, levels, source.mipmap_levels);
            check_viewed(texture_access::part(source).control);
        } else if constexpr (std::is_same_v<Source, texture<T, N>> &&
                             (Access == REVAMP_ACCESS_READ) == (texel_size<T> == 1)) {
            refuse_view_made_in_kernel();
        }
#endif
        return level;
    }
    template <class Source>
    REVAMP_HD static unsigned length_of([[maybe_unused]] const Source &source, [[maybe_unused]] unsigned level,
                                        [[maybe_unused]] unsigned levels) {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel())
            return saturated(texel_count(level_extent(source.extent, level), levels) *
                             texture_access::part(source).control->info.texel_size);
#endif
        return 0;
    }
    // Shares `control`. In kernels, sets m_control to null, so that the compiler knows its value.
    REVAMP_HD void share_control([[maybe_unused]] texture_control *control) noexcept {
#if REVAMP_DEVICE_PASS
        m_control = nullptr;
#else
        if (in_kernel()) {
            m_control = nullptr;
            return;
        }
        m_control = control;
        if (control) {
            texture_control::retain(control);
            if (__builtin_expect(this_thread.scope != nullptr, 0)) register_with_launch();
        }
#endif
    }
    static revamp_argument argument(const void *view) {
        const auto &self = *static_cast<const basic_texture_view *>(view);
        revamp_argument a = REVAMP_ARGUMENT_INIT;
        a.kind = REVAMP_ARGUMENT_ADDRESS;
        a.texture = self.m_control->handle;
        a.level = self.m_level;
        a.level_count = self.mipmap_levels;
        return a;
    }
    // Registers the view with the launch that is being prepared.
    [[gnu::noinline, gnu::cold]] void register_with_launch() noexcept {
#if !REVAMP_DEVICE_PASS
        const bool large = texel_count(this->extent, this->mipmap_levels) * unsigned(texel_size<T>) > INT_MAX;
        this_thread.scope->views.push_back({static_cast<void *>(this), &m_control, Access, large, &argument});
#endif
    }
};

// The properties row_pitch and depth_pitch, for the ranks that have them.
template <int N> struct texture_pitches {
    const unsigned row_pitch, depth_pitch;
    texture_pitches(std::uint64_t row, std::uint64_t depth)
        : row_pitch(saturated(row)), depth_pitch(saturated(depth)) {}
};
template <> struct texture_pitches<2> {
    const unsigned row_pitch;
    texture_pitches(std::uint64_t row, std::uint64_t) : row_pitch(saturated(row)) {}
};
template <> struct texture_pitches<1> {
    texture_pitches(std::uint64_t, std::uint64_t) {}
};

// Calls `use` with the first `count` elements of a range, copied to contiguous memory if they are not contiguous. A
// range of fewer elements is an error.
template <class T, class It, class Use> void from_range_of_at_least(It first, It last, std::size_t count, Use use) {
    const auto too_few = [=](std::size_t given) {
        refuse_texture("the range has " + std::to_string(given) + " elements, but the copy to the texture needs " +
                       std::to_string(count));
    };
    if constexpr (is_forward<It>) {
        const auto given = std::distance(first, last);
        if (given < 0 || static_cast<std::size_t>(given) < count) too_few(given < 0 ? 0 : std::size_t(given));
        from_iterator<T>(first, count, use);
    } else {
        std::vector<T> elements;
        elements.reserve(count);
        // An input iterator may block when it is incremented past the last element needed.
        for (; elements.size() < count && first != last;) {
            elements.push_back(static_cast<T>(*first));
            if (elements.size() < count) ++first;
        }
        if (elements.size() < count) too_few(elements.size());
        use(static_cast<const T *>(elements.data()), count * sizeof(T));
    }
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN
namespace graphics {

// Texels in the memory of one accelerator_view.
template <class T, int N>
class texture : public revamp::detail::texel_header<T, N>, public revamp::detail::texture_pitches<N> {
    typedef revamp::detail::texel_header<T, N> header;
    typedef revamp::detail::texture_pitches<N> pitches;
    typedef revamp::detail::texture_access private_access;
    typedef revamp::detail::texture_control control;
    typedef revamp::detail::texture_place place;
    typedef Concurrency::extent<N> shape_type;
    typedef Concurrency::accelerator_view view_type;
    template <class It> using if_iterator = std::enable_if_t<revamp::detail::is_iterator<It>>;

    control *m_control;
    std::unique_ptr<revamp::detail::live_object> m_object;

    friend struct revamp::detail::texture_access;
    template <class U, int M> friend class texture_view;
    template <class U, int M> friend class writeonly_texture_view;

    // Takes ownership of `made`.
    texture(const shape_type &shape, control *made, const place &where)
        : header(nullptr, shape, made->info.bits, made->info.levels),
          pitches(made->info.row_pitch, made->info.depth_pitch), m_control(made),
          data_length(revamp::detail::saturated(made->info.size)), accelerator_view(where.view),
          associated_accelerator_view(made->is_staging() ? *where.associated : where.view) {
        try {
            register_object();
        } catch (...) {
            drop();
            throw;
        }
    }
    texture(const shape_type &shape, unsigned bits, unsigned levels, const place &where)
        : texture(shape, private_access::make<T>(shape, bits, levels, where), where) {}
    static place default_place() { return place{Concurrency::accelerator().get_default_view()}; }
    // Selects the default number of bits, if T has one.
    static constexpr unsigned default_bits() {
        static_assert(revamp::detail::default_bits<T> != 0,
                      "a texture of norm or unorm has no default bits_per_scalar_element; pass 8 or 16");
        return 0;
    }

    // Registers this object by its address, and makes the header that kernels get.
    void register_object() {
        if (!m_control) return;
        using namespace revamp::detail;
        // Kernels can write only textures of one component: by set(), or by a view that they make (TEX-42).
        const revamp_access access_mode = texel_size<T> == 1 ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ;
        if (!m_object) m_object = std::make_unique<live_object>(access_mode);
        m_object->argument.texture = m_control->handle;
        // Kernels can access only level 0 of a texture of one component, as on Windows, but all levels of other
        // textures.
        m_object->argument.level_count = texel_size<T> == 1 ? 1 : this->mipmap_levels;
        m_object->large = texel_count(this->extent, this->mipmap_levels) * unsigned(texel_size<T>) > INT_MAX;
        m_object->header.resize(sizeof(header));
        __builtin_memcpy(m_object->header.data(), static_cast<const void *>(static_cast<const header *>(this)),
                         sizeof(header));
        live_objects::all().add(this, m_object.get());
    }
    void drop() {
        if (m_object) revamp::detail::live_objects::all().remove(this);
        if (m_control) control::release(m_control);
    }

    void fill(const void *source, unsigned bytes) {
        const revamp_texture_region all = private_access::part(*this).region();
        revamp::detail::check(revamp_copy_to_texture(source, bytes, &all));
    }
    template <class It> void fill_from(It first, It last) {
        revamp::detail::from_range_of_at_least<T>(
            first, last, revamp::detail::count_of(this->extent), [&](const T *elements, std::size_t bytes) {
                const revamp_texture_region all = private_access::part(*this).region();
                revamp::detail::check(revamp_copy_to_texture(elements, bytes, &all));
            });
    }
    void copy_of(const revamp::detail::texture_part &source) {
        const revamp_texture_region from = source.region(), to = private_access::part(*this).region();
        revamp::detail::check(revamp_copy_texture(&from, &to));
    }

  public:
    typedef T value_type;

    const unsigned data_length;
    const Concurrency::accelerator_view accelerator_view;
    const Concurrency::accelerator_view associated_accelerator_view;

    // The constructors, for each way to give the shape. `parameters`: an extent, or the components of an extent.
#define REVAMP_TEXTURE_LIST(...) __VA_ARGS__
#define REVAMP_TEXTURE_FORMS(parameters, shape)                                                                        \
    texture(REVAMP_TEXTURE_LIST parameters) : texture(shape, default_bits(), 1, default_place()) {}                    \
    texture(REVAMP_TEXTURE_LIST parameters, const view_type &view) : texture(shape, default_bits(), 1, place{view}) {} \
    texture(REVAMP_TEXTURE_LIST parameters, const view_type &view, const view_type &associated)                        \
        : texture(shape, default_bits(), 1, place{view, &associated}) {}                                               \
    texture(REVAMP_TEXTURE_LIST parameters, unsigned bits) : texture(shape, bits, 1, default_place()) {}               \
    texture(REVAMP_TEXTURE_LIST parameters, unsigned bits, const view_type &view)                                      \
        : texture(shape, bits, 1, place{view}) {}                                                                      \
    texture(REVAMP_TEXTURE_LIST parameters, unsigned bits, const view_type &view, const view_type &associated)         \
        : texture(shape, bits, 1, place{view, &associated}) {}                                                         \
    template <class It, class = if_iterator<It>>                                                                       \
    texture(REVAMP_TEXTURE_LIST parameters, It first, It last) : texture(shape, default_bits(), 1, default_place()) {  \
        fill_from(first, last);                                                                                        \
    }                                                                                                                  \
    template <class It, class = if_iterator<It>>                                                                       \
    texture(REVAMP_TEXTURE_LIST parameters, It first, It last, const view_type &view)                                  \
        : texture(shape, default_bits(), 1, place{view}) {                                                             \
        fill_from(first, last);                                                                                        \
    }                                                                                                                  \
    template <class It, class = if_iterator<It>>                                                                       \
    texture(REVAMP_TEXTURE_LIST parameters, It first, It last, const view_type &view, const view_type &associated)     \
        : texture(shape, default_bits(), 1, place{view, &associated}) {                                                \
        fill_from(first, last);                                                                                        \
    }                                                                                                                  \
    texture(REVAMP_TEXTURE_LIST parameters, const void *source, unsigned src_byte_size, unsigned bits)                 \
        : texture(shape, bits, 1, default_place()) {                                                                   \
        fill(source, src_byte_size);                                                                                   \
    }                                                                                                                  \
    texture(REVAMP_TEXTURE_LIST parameters, const void *source, unsigned src_byte_size, unsigned bits,                 \
            const view_type &view)                                                                                     \
        : texture(shape, bits, 1, place{view}) {                                                                       \
        fill(source, src_byte_size);                                                                                   \
    }                                                                                                                  \
    texture(REVAMP_TEXTURE_LIST parameters, const void *source, unsigned src_byte_size, unsigned bits,                 \
            const view_type &view, const view_type &associated)                                                        \
        : texture(shape, bits, 1, place{view, &associated}) {                                                          \
        fill(source, src_byte_size);                                                                                   \
    }
    REVAMP_TEXTURE_FORMS((const Concurrency::extent<N> &shape), shape)
    REVAMP_TEXTURE_FORMS((int e0), shape_type(e0))
    REVAMP_TEXTURE_FORMS((int e0, int e1), shape_type(e0, e1))
    REVAMP_TEXTURE_FORMS((int e0, int e1, int e2), shape_type(e0, e1, e2))
#undef REVAMP_TEXTURE_FORMS
#undef REVAMP_TEXTURE_LIST

    // Constructors with mipmap levels. `levels`: 0 for as many as the extent allows.
    texture(const Concurrency::extent<N> &shape, unsigned bits, unsigned levels)
        : texture(shape, bits, levels, default_place()) {}
    texture(const Concurrency::extent<N> &shape, unsigned bits, unsigned levels, const view_type &view)
        : texture(shape, bits, levels, place{view}) {}

    // If this runs while a launch copies its functor, the functor captures a texture by value, which is not allowed.
    // The launch gets the address of the copy, to report the error.
    texture(const texture &other)
        : texture(other, other.accelerator_view == other.associated_accelerator_view
                             ? place{other.accelerator_view}
                             : place{other.accelerator_view, &other.associated_accelerator_view}) {
#if !REVAMP_DEVICE_PASS
        if (revamp::detail::this_thread.scope) revamp::detail::this_thread.scope->arrays.push_back(this);
#endif
    }
    texture(const texture &source, const view_type &view) : texture(source, place{view}) {}
    texture(const texture &source, const view_type &view, const view_type &associated)
        : texture(source, place{view, &associated}) {}
#define REVAMP_TEXTURE_COPIES(View)                                                                                    \
    texture(const View &source) : texture(source, place{source.get_accelerator_view()}) {}                             \
    texture(const View &source, const view_type &view) : texture(source, place{view}) {}                               \
    texture(const View &source, const view_type &view, const view_type &associated)                                    \
        : texture(source, place{view, &associated}) {}
#define REVAMP_COMMA ,
    REVAMP_TEXTURE_COPIES(texture_view<T REVAMP_COMMA N>)
    REVAMP_TEXTURE_COPIES(texture_view<const T REVAMP_COMMA N>)
#undef REVAMP_COMMA
#undef REVAMP_TEXTURE_COPIES

    texture(texture &&other) noexcept
        : header(other), pitches(other), m_control(std::exchange(other.m_control, nullptr)),
          data_length(other.data_length), accelerator_view(other.accelerator_view),
          associated_accelerator_view(other.associated_accelerator_view) {
        if (other.m_object) revamp::detail::live_objects::all().remove(&other);
        m_object = std::move(other.m_object);
        register_object();
    }
    texture &operator=(const texture &other) {
        if (this != &other) *this = texture(other);
        return *this;
    }
    texture &operator=(texture &&other) noexcept {
        if (this != &other) {
            this->~texture();
            new (this) texture(std::move(other));
        }
        return *this;
    }
    ~texture() {
        drop();
    }

    void copy_to(texture &destination) const {
        const revamp_texture_region from = private_access::part(*this).region(),
                                    to = private_access::part(destination).region();
        revamp::detail::check(revamp_copy_texture(&from, &to));
    }
    void copy_to(const writeonly_texture_view<T, N> &destination) const {
        const revamp_texture_region from = private_access::part(*this).region(),
                                    to = private_access::part(destination).region();
        revamp::detail::check(revamp_copy_texture(&from, &to));
    }

    // The first texel of a staging texture, valid until the next copy of that texture; null for other textures.
    void *data() {
        return first(REVAMP_ACCESS_READ_WRITE);
    }
    const void *data() const {
        return first(REVAMP_ACCESS_READ);
    }
    unsigned get_row_pitch() const {
        static_assert(N >= 2, "row_pitch needs a texture of rank 2 or 3, because a texture of rank 1 has only one row");
        return this->row_pitch;
    }
    unsigned get_depth_pitch() const {
        static_assert(N >= 3, "depth_pitch needs a texture of rank 3, because other textures have only one slice");
        return this->depth_pitch;
    }
    unsigned get_data_length() const {
        return data_length;
    }
    Concurrency::accelerator_view get_accelerator_view() const {
        return accelerator_view;
    }
    Concurrency::accelerator_view get_associated_accelerator_view() const {
        return associated_accelerator_view;
    }
    REVAMP_HD unsigned get_mipmap_levels() const {
        return this->mipmap_levels;
    }
    REVAMP_HD Concurrency::extent<N> get_mipmap_extent(unsigned level) const {
        return this->extent_of_level(level);
    }

    REVAMP_TEXEL_READS(revamp::detail::texel_size<T> != 0, true)
    REVAMP_HD void set(const Concurrency::index<N> &at, const T &value) {
        static_assert(revamp::detail::is_read_write<T>, "texture::set writes only texels of int, unsigned int and "
                                                        "float; write other texels through a texture_view<T, N>");
        revamp::detail::store_texel<T>(this->all(), at, value);
    }

  private:
    // A copy of all levels of `source`.
    template <class Source>
    texture(const Source &source, const place &where)
        : texture(source.extent, source.bits_per_scalar_element, source.mipmap_levels, where) {
        copy_of(private_access::part(source));
    }
    void *first(revamp_access access) const {
        void *data = nullptr;
        revamp::detail::check(revamp_texture_data(private_access::part(*this).control->handle, access, &data));
        return data;
    }
};

// Views are made on the host. A kernel can also make a view of a texture that it captured: a writable view if texels
// have one component, else a read-only view (TEX-42). The kernel compiler checks this.

// A view of level 0 that kernels write through.
template <class T, int N>
class writeonly_texture_view : public revamp::detail::basic_texture_view<T, N, REVAMP_ACCESS_READ_WRITE> {
    typedef revamp::detail::basic_texture_view<T, N, REVAMP_ACCESS_READ_WRITE> base;

  public:
    typedef T value_type;

    REVAMP_HD writeonly_texture_view(texture<T, N> &source) : base(source, 0, 1) {}
    REVAMP_HD writeonly_texture_view(const writeonly_texture_view &other) noexcept : base(other) {}
    REVAMP_HD writeonly_texture_view &operator=(const writeonly_texture_view &other) noexcept {
        this->become(other);
        return *this;
    }

    REVAMP_HD void set(const Concurrency::index<N> &at, const T &value) const {
        revamp::detail::store_texel<T>(this->all(), at, value);
    }
};

// A view of one level that kernels can write, and also read if T is int, unsigned int or float.
template <class T, int N>
class texture_view : public revamp::detail::basic_texture_view<T, N, REVAMP_ACCESS_READ_WRITE> {
    typedef revamp::detail::basic_texture_view<T, N, REVAMP_ACCESS_READ_WRITE> base;

  public:
    typedef T value_type;

    REVAMP_HD texture_view(texture<T, N> &source) : base(source, 0, 1) {}
    texture_view(texture<T, N> &source, unsigned mipmap_level) : base(source, mipmap_level, 1) {}
    REVAMP_HD texture_view(const texture_view &other) noexcept : base(other) {}
    REVAMP_HD texture_view &operator=(const texture_view &other) noexcept {
        this->become(other);
        return *this;
    }

    unsigned get_mipmap_levels() const { return this->mipmap_levels; }
    REVAMP_HD Concurrency::extent<N> get_mipmap_extent(unsigned level) const { return this->extent_of_level(level); }

    REVAMP_TEXEL_READS(revamp::detail::is_read_write<T>, false)
    REVAMP_HD void set(const Concurrency::index<N> &at, const T &value) const {
        revamp::detail::store_texel<T>(this->all(), at, value);
    }
};

// A view of levels that kernels read and sample.
template <class T, int N>
class texture_view<const T, N> : public revamp::detail::basic_texture_view<T, N, REVAMP_ACCESS_READ> {
    typedef revamp::detail::basic_texture_view<T, N, REVAMP_ACCESS_READ> base;
    typedef Concurrency::graphics::sampler sampler_type;

  public:
    typedef const T value_type;
    typedef typename base::scalar_type scalar_type;
    typedef typename short_vector<float, N>::type coordinates_type;
    typedef typename short_vector<scalar_type, 4>::type gather_return_type;

    REVAMP_HD texture_view(const texture<T, N> &source) : base(source, 0, source.mipmap_levels) {}
    texture_view(const texture<T, N> &source, unsigned most_detailed_mip, unsigned mip_levels)
        : base(source, most_detailed_mip, mip_levels) {}
    texture_view(const texture_view<T, N> &source) : base(source, 0, 1) {}
    REVAMP_HD texture_view(const texture_view &other) noexcept : base(other) {}
    texture_view(const texture_view &source, unsigned most_detailed_mip, unsigned mip_levels)
        : base(source, most_detailed_mip, mip_levels) {}
    REVAMP_HD texture_view &operator=(const texture_view &other) noexcept {
        this->become(other);
        return *this;
    }
    texture_view &operator=(const texture_view<T, N> &other) { return *this = texture_view(other); }
    // Without this overload an assignment is ambiguous, because a texture converts to both kinds of texture_view.
    REVAMP_HD texture_view &operator=(const texture<T, N> &source) { return *this = texture_view(source); }

    unsigned get_mipmap_levels() const { return this->mipmap_levels; }
    REVAMP_HD Concurrency::extent<N> get_mipmap_extent(unsigned level) const { return this->extent_of_level(level); }

    REVAMP_TEXEL_READS(true, true)
    REVAMP_HD T get(const Concurrency::index<N> &at, unsigned mip_level) const {
        return revamp::detail::fetch_texel<T>(this->all(), at, mip_level);
    }

    REVAMP_HD T sample(const sampler_type &by, const coordinates_type &coordinates,
                       float level_of_detail = 0.0f) const {
        return sampled(revamp::detail::sampling_by(by), coordinates, level_of_detail);
    }
    template <filter_mode Filter = filter_linear, address_mode Address = address_clamp>
    REVAMP_HD T sample(const coordinates_type &coordinates, float level_of_detail = 0.0f) const {
        static_assert(Filter == filter_point || Filter == filter_linear,
                      "sample: the filter must be filter_point or filter_linear");
        return sampled(predefined<Filter, Address>(), coordinates, level_of_detail);
    }

#define REVAMP_GATHER(name, component)                                                                                 \
    REVAMP_HD gather_return_type name(const sampler_type &by, const coordinates_type &coordinates) const {             \
        return gathered<component>(revamp::detail::sampling_by(by), coordinates);                                      \
    }                                                                                                                  \
    template <address_mode Address = address_clamp>                                                                    \
    REVAMP_HD gather_return_type name(const coordinates_type &coordinates) const {                                     \
        return gathered<component>(predefined<filter_linear, Address>(), coordinates);                                 \
    }
    REVAMP_GATHER(gather_red, 0)
    REVAMP_GATHER(gather_green, 1)
    REVAMP_GATHER(gather_blue, 2)
    REVAMP_GATHER(gather_alpha, 3)
#undef REVAMP_GATHER

  private:
    template <filter_mode Filter, address_mode Address> REVAMP_HD static revamp::detail::sampling predefined() {
        static_assert(Address == address_wrap || Address == address_mirror || Address == address_clamp,
                      "the address mode of a predefined sampler must be address_wrap, address_mirror or address_clamp; "
                      "for address_border, construct a sampler with a border colour");
        return {Filter, Address, {}};
    }
    REVAMP_HD T sampled(const revamp::detail::sampling &how, const coordinates_type &coordinates, float level) const {
        static_assert(revamp::detail::can_be_sampled<T>,
                      "sample: only textures of float, norm and unorm can be sampled; read other textures by index");
        if constexpr (!revamp::detail::can_be_sampled<T>) {
            return T();
        } else if constexpr (N == 1) {
            const revamp::detail::coordinates<1> at = {{coordinates}};
            return revamp::detail::sample_texels<T, N>(this->all(), how, at, level);
        } else if constexpr (N == 2) {
            const revamp::detail::coordinates<2> at = {{coordinates.x, coordinates.y}};
            return revamp::detail::sample_texels<T, N>(this->all(), how, at, level);
        } else {
            const revamp::detail::coordinates<3> at = {{coordinates.x, coordinates.y, coordinates.z}};
            return revamp::detail::sample_texels<T, N>(this->all(), how, at, level);
        }
    }
    template <int Component>
    REVAMP_HD gather_return_type gathered(const revamp::detail::sampling &how,
                                          const coordinates_type &coordinates) const {
        static_assert(N == 2, "gather needs a texture of rank 2");
        static_assert(revamp::detail::can_be_sampled<T>,
                      "gather: only textures of float, norm and unorm can be sampled; read other textures by index");
        if constexpr (N == 2 && revamp::detail::can_be_sampled<T>) {
            const revamp::detail::coordinates<2> at = {{coordinates.x, coordinates.y}};
            return revamp::detail::gather_texels<Component, T>(this->all(), how, at);
        } else {
            return gather_return_type();
        }
    }
};
#undef REVAMP_TEXEL_READS

} // namespace graphics
REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_TEXTURE_H
