// expression.h: vector expressions, each of which is evaluated by one kernel.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "sort.h"

namespace algo
{
    template <typename E> struct expression
    {
        const E &self() const restrict(amp, cpu) { return static_cast<const E &>(*this); }
        int size() const { return self().size(); }
    };

    template <typename T> class terminal : public expression<terminal<T>>
    {
    public:
        typedef T value_type;
        explicit terminal(const array_view<T, 1> &view) : m_view(view) {}
        T operator[](int i) const restrict(amp, cpu) { return m_view[i]; }
        int size() const { return m_view.extent[0]; }

    private:
        array_view<T, 1> m_view;
    };

    template <typename T> class constant : public expression<constant<T>>
    {
    public:
        typedef T value_type;
        explicit constant(T value) restrict(amp, cpu) : m_value(value) {}
        T operator[](int) const restrict(amp, cpu) { return m_value; }
        int size() const { return 0; }

    private:
        T m_value;
    };

    template <typename L, typename R, typename Op> class binary : public expression<binary<L, R, Op>>
    {
    public:
        typedef typename L::value_type value_type;
        binary(const L &left, const R &right, Op op) : m_left(left), m_right(right), m_op(op) {}
        value_type operator[](int i) const restrict(amp, cpu) { return m_op(m_left[i], m_right[i]); }
        int size() const { return m_left.size() ? m_left.size() : m_right.size(); }

    private:
        L m_left;
        R m_right;
        Op m_op;
    };

    template <typename E, typename Op> class unary : public expression<unary<E, Op>>
    {
    public:
        typedef typename E::value_type value_type;
        unary(const E &inner, Op op) : m_inner(inner), m_op(op) {}
        value_type operator[](int i) const restrict(amp, cpu) { return m_op(m_inner[i]); }
        int size() const { return m_inner.size(); }

    private:
        E m_inner;
        Op m_op;
    };

    template <typename L, typename R>
    binary<L, R, plus<typename L::value_type>> operator+(const expression<L> &l, const expression<R> &r)
    {
        typedef plus<typename L::value_type> op;
        return binary<L, R, op>(l.self(), r.self(), op());
    }

    template <typename L, typename R>
    binary<L, R, multiplies<typename L::value_type>> operator*(const expression<L> &l, const expression<R> &r)
    {
        typedef multiplies<typename L::value_type> op;
        return binary<L, R, op>(l.self(), r.self(), op());
    }

    template <typename E> unary<E, negate<typename E::value_type>> operator-(const expression<E> &e)
    {
        return unary<E, negate<typename E::value_type>>(e.self(), negate<typename E::value_type>());
    }

    template <typename E> void evaluate(const expression<E> &e, std::vector<typename E::value_type> &to)
    {
        typedef typename E::value_type T;
        const E self = e.self();
        const int size = self.size();
        to.resize(size);
        array_view<T, 1> out(size, to);
        out.discard_data();
        parallel_for_each(out.extent, [=](index<1> i) restrict(amp) { out[i] = self[i[0]]; });
        out.synchronize();
    }

    template <typename T> class variable
    {
    public:
        typedef T value_type;
        explicit variable(std::vector<T> &values) : m_view((int)values.size(), values) {}
        terminal<T> operator()() const { return terminal<T>(m_view); }
        template <typename E> variable &operator=(const expression<E> &e)
        {
            std::vector<T> result;
            evaluate(e, result);
            concurrency::copy(result.begin(), result.end(), m_view);
            return *this;
        }
        static constant<value_type> number(value_type v) { return constant<value_type>(v); }

    private:
        array_view<T, 1> m_view;
    };

    // Sizes that the tests use.
    template <typename T, int N> struct sizes
    {
        enum { elements = N, bytes = N * sizeof(T) };
        static int tiles(int tile) { return (N + tile - 1) / tile; }
    };

    template <typename First, typename Second> struct pair_of
    {
        First first;
        Second second;
        pair_of(First a, Second b) restrict(amp, cpu) : first(a), second(b) {}
        template <typename Other> bool same(const pair_of<Other, Second> &other) const
        {
            return first == other.first && second == other.second;
        }
    };

    template <typename T> T maximum_of(const std::vector<T> &values)
    {
        T best = values[0];
        for each (T value in values) //@ for each
            best = std::max<T>(best, value);
        return best;
    }
}
