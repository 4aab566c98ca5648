// Each FAIL_ case must not compile. Without a case, the file compiles.
#include <revamp/detail/property.h>
struct constant_property {
    typedef int storage;
    static int get(const int &value) { return value; }
};
struct owner {
    union {
        int value;
        revamp::detail::property<constant_property, int> twice;
    };
    owner() : value(0) {}
};
void cases(owner &o) {
    (void)o;
#ifdef FAIL_assign_computed // is not a member of|no member named
    o.twice = 3;
#endif
}
