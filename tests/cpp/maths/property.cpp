// Tests of revamp::detail::property, in classes that resemble accelerator and accelerator_view.
#include <revamp/detail/property.h>

#include "../check.hpp"

#include <string>
#include <type_traits>

namespace {

using revamp::detail::property;
// A handle like that of accelerator. `alive` counts the handles.
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
int id_of(const queue &q) {
    return q.id;
}

void check_property() {
    int modes[] = {1, 2};
    {
        device d(3, &modes[0]);
        const device other(4, &modes[1]);
        CHECK(id_of(d.default_queue) == 103 && d.default_queue.wait() == 103 && other.default_queue.wait() == 104);
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
    check_property();
}

CHECK_MAIN
