// Each case must not compile; without one the file does.
#include <revamp/detail/property.h>
struct shape {
    int n;
    shape &operator++() {
        ++n;
        return *this;
    }
};
struct constant_property {
    typedef int storage;
    static int get(const int &value) { return value; }
};
struct owner {
    revamp::detail::read_only<shape, owner> extent;
    revamp::detail::read_only<unsigned, owner> version;
    union {
        int value;
        revamp::detail::property<constant_property, int> twice;
    };
    owner() : value(0) {}
};
void cases(owner &o) {
    (void)o;
#ifdef FAIL_assign_class // deleted
    o.extent = shape();
#endif
#ifdef FAIL_increment_class // deleted
    ++o.extent;
#endif
#ifdef FAIL_assign_number // deleted
    o.version = 3u;
#endif
#ifdef FAIL_set_from_outside // private
    o.version.set(3);
#endif
#ifdef FAIL_assign_computed // is not a member of|no member named
    o.twice = 3;
#endif
}
