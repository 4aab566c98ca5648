// functional.h: function objects and traits, for the host and for kernels.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include <amp.h>
#include <amp_math.h>
#include <type_traits>
#include <iterator>

#ifndef ALGO_MIN
#define ALGO_MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifdef min
#undef min
#endif
#define min(a, b) ((a) < (b) ? (a) : (b)) //@ #define min
#define _T(x) x##_t

namespace algo
{
    template <typename T> struct plus
    {
        T operator()(const T &a, const T &b) const restrict(amp, cpu) { return a + b; }
    };

    template <typename T> struct multiplies
    {
        T operator()(const T &a, const T &b) const restrict(amp, cpu) { return a * b; }
    };

    template <typename T> struct minimum
    {
        T operator()(const T &a, const T &b) const restrict(amp, cpu) { return min(a, b); }
    };

    template <typename T> struct maximum
    {
        T operator()(const T &a, const T &b) const restrict(amp, cpu) { return a < b ? b : a; }
    };

    template <typename T> struct identity
    {
        const T &operator()(const T &a) const restrict(amp, cpu) { return a; }
    };

    template <typename T> struct negate
    {
        T operator()(const T &a) const restrict(amp, cpu) { return -a; }
    };

    template <typename T> struct less
    {
        bool operator()(const T &a, const T &b) const restrict(amp, cpu) { return a < b; }
    };

    template <typename T> struct greater
    {
        bool operator()(const T &a, const T &b) const restrict(amp, cpu) { return a > b; }
    };

    template <typename T> struct equal_to
    {
        bool operator()(const T &a, const T &b) const restrict(amp, cpu) { return a == b; }
    };

    template <typename Predicate> class not1
    {
    public:
        explicit not1(const Predicate &p) : m_p(p) {}
        template <typename T> bool operator()(const T &a) const restrict(amp, cpu) { return !m_p(a); }

    private:
        Predicate m_p;
    };

    template <typename F, typename G> class compose1
    {
    public:
        compose1(const F &f, const G &g) : m_f(f), m_g(g) {}
        template <typename T> T operator()(const T &a) const restrict(amp, cpu) { return m_f(m_g(a)); }

    private:
        F m_f;
        G m_g;
    };

    template <typename F, typename G> compose1<F, G> compose(const F &f, const G &g) { return compose1<F, G>(f, g); }

    // True for the types that a kernel can use as elements.
    template <typename T> struct is_amp_type : std::false_type {};
    template <> struct is_amp_type<int> : std::true_type {};
    template <> struct is_amp_type<unsigned int> : std::true_type {};
    template <> struct is_amp_type<float> : std::true_type {};
    template <> struct is_amp_type<double> : std::true_type {};

    template <typename T> struct limits
    {
        static_assert(false, "no limits are known of this type"); //@ static_assert(false
    };
    template <> struct limits<int>
    {
        static int lowest() restrict(amp, cpu) { return -2147483647 - 1; }
        static int highest() restrict(amp, cpu) { return 2147483647; }
    };
    template <> struct limits<float>
    {
        static float lowest() restrict(amp, cpu) { return -3.402823466e+38f; }
        static float highest() restrict(amp, cpu) { return 3.402823466e+38f; }
    };

    template <typename Iterator> struct iterator_traits
    {
        typedef typename std::iterator_traits<Iterator>::value_type value_type;
        typedef typename std::iterator_traits<Iterator>::difference_type difference_type;
    };

    // Options of a launch.
    struct options
    {
        options(int tile = 256, bool check = true) : m_tile(tile), m_check(check) {}
        int tile() const { return m_tile; }
        bool check() const { return m_check; }
        void note(const char *text) { m_note = text; }

    private:
        int m_tile;
        bool m_check;
        const char *m_note;
    };

    inline float squared(float x) restrict(cpu) { return x * x; }
    inline float squared(float x) restrict(amp) { return x * x; } //@ squared
}
