// The two kinds of property, in classes that look like accelerator and array_view.
#include <revamp/detail/property.h>

#include "../check.hpp"

#include <string>
#include <type_traits>

namespace {

using revamp::detail::property;
using revamp::detail::read_only;

template <int N> struct extent {
    int sizes[N];
    constexpr extent() : sizes() {}
    explicit constexpr extent(int a) : sizes() { sizes[0] = a; }
    constexpr int operator[](unsigned i) const { return sizes[i]; }
    constexpr int &operator[](unsigned i) { return sizes[i]; }
    constexpr unsigned size() const { return static_cast<unsigned>(sizes[0]); }
    extent &operator+=(int by) {
        sizes[0] += by;
        return *this;
    }
    friend bool operator==(const extent &a, const extent &b) { return a.sizes[0] == b.sizes[0]; }
};
template <int N> int rank_of(const extent<N> &) {
    return N;
}
template <int N> int rank_by_value(extent<N>) {
    return N;
}

template <int N> struct view {
    read_only<::extent<N>, view> extent;
    read_only<unsigned, view> version;
    read_only<bool, view> is_debug;
    read_only<std::wstring, view> description;

    explicit view(int n) : extent(n), version(7), is_debug(true), description(L"a view") {}
    view(const view &) = default;
    view &operator=(const view &other) {
        extent.set(other.extent);
        version.set(other.version);
        description.set(other.description);
        return *this;
    }
};
static_assert(sizeof(read_only<extent<2>, view<2>>) == sizeof(extent<2>), "no more than the class");
static_assert(sizeof(read_only<unsigned, view<2>>) == sizeof(unsigned), "no more than the number");
static_assert(std::is_trivially_copy_constructible<read_only<extent<2>, view<2>>>::value, "fit for kernels");

template <class L, class R, class = void> struct can_assign : std::false_type {};
template <class L, class R>
struct can_assign<L, R, std::void_t<decltype(std::declval<L>() = std::declval<R>())>> : std::true_type {};
template <class L, class R, class = void> struct can_add : std::false_type {};
template <class L, class R>
struct can_add<L, R, std::void_t<decltype(std::declval<L>() += std::declval<R>())>> : std::true_type {};
typedef read_only<extent<1>, view<1>> view_extent;
static_assert(!can_assign<view_extent &, extent<1>>::value && !can_assign<view_extent &, view_extent &>::value, "");
static_assert(!can_add<view_extent &, int>::value && can_add<extent<1> &, int>::value, "");
static_assert(!can_assign<decltype(std::declval<view_extent &>()[0]), int>::value, "");
static_assert(!can_assign<read_only<unsigned, view<1>> &, unsigned>::value, "");

void check_read_only() {
    view<2> v(5);
    const view<2> &c = v;
    CHECK(v.extent.size() == 5 && c.extent[0] == 5 && c.extent == extent<2>(5) && c.extent == v.extent);
    CHECK(rank_of(v.extent) == 2 && rank_by_value(c.extent) == 2);
    extent<2> e = v.extent;
    e += 2;
    CHECK(e.size() == 7 && v.extent.size() == 5);
    auto copy = v.extent;
    CHECK(rank_of(copy) == 2);
    CHECK(v.version == 7 && v.version + 1 == 8 && v.is_debug && !!c.is_debug);
    CHECK(v.description == L"a view" && v.description.compare(L"a view") == 0 && v.description + L"!" == L"a view!");
    CHECK(std::wstring(L"a view") == v.description && v.description.c_str()[0] == L'a');
    view<2> w(9);
    w = v;
    CHECK(w.extent.size() == 5);
}

// A handle with a count, as accelerator has.
int alive = 0;
struct handle {
    int id, *mode;
    handle(int n, int *m) : id(n), mode(m) { ++alive; }
    handle(const handle &other) : id(other.id), mode(other.mode) { ++alive; }
    handle &operator=(const handle &) = default;
    ~handle() { --alive; }
};

struct queue;
struct default_queue_property {
    typedef handle storage;
    static queue get(const handle &);
    template <class Self> struct members {
        int wait() const { return static_cast<const Self *>(this)->get().wait(); }
    };
};
struct mode_property {
    typedef handle storage;
    static int get(const handle &h) { return *h.mode; }
    static void set(handle &h, int value) { *h.mode = value; }
};

struct device {
    union {
        handle handle_;
        property<default_queue_property, queue> default_queue;
        property<mode_property, int> mode;
    };
    device(int id, int *mode_of) : handle_(id, mode_of) {}
    device(const device &other) : handle_(other.handle_) {}
    device &operator=(const device &other) {
        handle_ = other.handle_;
        return *this;
    }
    ~device() { handle_.~handle(); }
};
static_assert(sizeof(device) == sizeof(handle), "a property takes no storage");

struct queue {
    int id;
    int wait() const { return id; }
    friend bool operator==(const queue &a, const queue &b) { return a.id == b.id; }
};
queue default_queue_property::get(const handle &h) {
    return queue{h.id + 100};
}
int take(const queue &q) {
    return q.id;
}

void check_property() {
    int modes[] = {1, 2};
    {
        device d(3, &modes[0]);
        const device other(4, &modes[1]);
        CHECK(take(d.default_queue) == 103 && d.default_queue.wait() == 103 && other.default_queue.wait() == 104);
        queue q = d.default_queue;
        CHECK(q == d.default_queue && d.default_queue == d.default_queue && !(d.default_queue == other.default_queue));
        device *temporary = new device(5, &modes[0]);
        auto kept = temporary->default_queue;
        delete temporary;
        CHECK(kept.wait() == 105 && alive == 3);
        CHECK(d.mode == 1 && other.mode + 1 == 3);
        d.mode = 5;
        CHECK(modes[0] == 5 && d.mode == 5);
        d.mode = other.mode;
        CHECK(modes[0] == 2 && d.default_queue.wait() == 103);
        d = other;
        CHECK(d.default_queue.wait() == 104);
    }
    CHECK(alive == 0);
}

} // namespace

TEST(properties) {
    check_read_only();
    check_property();
}

CHECK_MAIN
