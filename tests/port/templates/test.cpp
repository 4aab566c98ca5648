// test.cpp: compares the algorithms with those of the standard library.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "stdafx.h" //@ stdafx.h
#include "expression.h"
#include <algorithm>
#include <iostream>
#include <numeric>
#include <random>

using namespace std;

namespace
{
    int failures = 0;

    template <typename T> void expect_equal(const char *name, const T &found, const T &expected)
    {
        if (!(found == expected))
        {
            cout << name << ": " << found << " instead of " << expected << endl;
            failures++;
        }
    }

    template <typename T> vector<T> numbers(int size, int seed)
    {
        mt19937 engine(seed);
        uniform_int_distribution<int> distribution(-1000, 1000);
        vector<T> result(size);
        for (int i = 0; i < size; i++)
            result[i] = (T)distribution(engine);
        return result;
    }

    struct is_even
    {
        bool operator()(int a) const restrict(amp, cpu) { return (a & 1) == 0; }
    };

    struct add_one
    {
        int operator()(int a) const restrict(amp, cpu) { return a + 1; }
    };

    template <typename T> class fixture
    {
    public:
        fixture() : m_values(numbers<T>(1000, 7)) {}
        vector<T> &values() { return m_values; }

        void reductions()
        {
            expect_equal("reduce", algo::reduce(m_values.begin(), m_values.end(), T(0)),
                         accumulate(m_values.begin(), m_values.end(), T(0)));
            expect_equal("min", algo::min_value(m_values.begin(), m_values.end()),
                         *min_element(m_values.begin(), m_values.end()));
            expect_equal("max", algo::max_value(m_values.begin(), m_values.end()),
                         *max_element(m_values.begin(), m_values.end()));
        }

        void scans()
        {
            vector<T> found(m_values.size()), expected(m_values.size());
            algo::inclusive_scan(m_values.begin(), m_values.end(), found.begin());
            partial_sum(m_values.begin(), m_values.end(), expected.begin());
            expect_equal("scan", found == expected, true);
        }

        void sorts()
        {
            vector<T> found = m_values, expected = m_values;
            algo::sort(found);
            std::sort(expected.begin(), expected.end());
            expect_equal("sort", found == expected, true);
        }

        void moved(vector<T> &&values) { m_values.swap(values); }

    private:
        vector<T> m_values;
    };

    template <> class fixture<bool>;

    void counts(vector<int> &values)
    {
        expect_equal("count_if", algo::count_if(values.begin(), values.end(), is_even()),
                     (int)std::count_if(values.begin(), values.end(), is_even()));
        vector<int> kept(values.size());
        const auto end = algo::copy_if(values.begin(), values.end(), kept.begin(), is_even());
        expect_equal("copy_if", (int)(end - kept.begin()), algo::count_if(values.begin(), values.end(), is_even()));
    }

    void transforms(vector<int> &values)
    {
        vector<int> found(values.size());
        algo::transform(values.begin(), values.end(), found.begin(), add_one());
        for (size_t i = 0; i < values.size(); i++)
            expect_equal("transform", found[i], values[i] + 1);
    }

    void expressions()
    {
        vector<float> x = numbers<float>(100, 1), y = numbers<float>(100, 2), result;
        algo::variable<float> a(x), b(y);
        algo::evaluate(a() + b() * a() + -b(), result);
        for (int i = 0; i < 100; i++)
            expect_equal("expression", result[i], x[i] + y[i] * x[i] - y[i]);
    }

    void products()
    {
        algo::matrix<float> a(32, 32), b(32, 32), c(32, 32);
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 32; j++)
                a(i, j) = b(i, j) = float(i == j);
        algo::multiplier<float, 16>::run(a, b, c);
        expect_equal("product", c(5, 5), 1.0f);
        a.swap(algo::matrix<float>(2, 2)); //@ matrix
    }
}

void main() //@ void main
{
    fixture<int> ints;
    ints.reductions();
    ints.scans();
    ints.sorts();
    counts(ints.values());
    counts(numbers<int>(64, 3)); //@ vector
    transforms(ints.values());
    ints.moved(numbers<int>(10, 4));
    fixture<float>().sorts();
    expressions();
    products();
    vector<int> keys = numbers<int>(128, 5), values = keys;
    transform(keys.begin(), keys.end(), keys.begin(), bind2nd(std::plus<int>(), 1000)); //@ bind2nd
    vector<unsigned int> unsigned_keys(keys.begin(), keys.end());
    algo::sort_by_key(unsigned_keys, values);
    expect_equal("radix", algo::is_sorted(unsigned_keys), true);
    cout << (failures ? "failed" : "passed") << endl;
    system("pause"); //@ system(
}
