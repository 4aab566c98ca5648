// Tests of the library in amp_algorithms.h, which iterates over array_views with begin() and end().
#include "amp_algorithms.h"
#include "stdafx.h"
#include <iostream>
#include <numeric>
#include <vector>

using namespace concurrency;
namespace amp_alg = amp_algorithms;

static int g_failed = 0;

#define AreEqual(expected, actual)                                                                                     \
    do {                                                                                                               \
        if (!((expected) == (actual))) {                                                                               \
            std::wcout << __FILE__ << L":" << __LINE__ << L": " << #actual << L" is not as expected" << std::endl;     \
            ++g_failed;                                                                                                \
        }                                                                                                              \
    } while (false)

// A functor with a member, for host and device.
template <typename T> class scaled {
    T m_by;

  public:
    explicit scaled(T by) : m_by(by) {}
    T operator()(const T &x) const restrict(cpu, amp) { return x * m_by; }
};

struct TestPoint {
    float x, y;
    TestPoint() restrict(amp, cpu) : x(0), y(0) {}
    TestPoint(float _x, float _y) restrict(amp, cpu) : x(_x), y(_y) {}
    float GetLength() const restrict(amp, cpu) { return x * x + y * y; }
};

struct farther {
    TestPoint operator()(const TestPoint &a, const TestPoint &b) const restrict(cpu, amp) {
        return a.GetLength() < b.GetLength() ? b : a;
    }
};

void transform_fill_iota_generate() {
    std::vector<int> vec(1000), out(1000);
    array_view<int> av(1000, vec), av_out(out);
    amp_alg::iota(amp_alg::begin(av), amp_alg::end(av), 5);
    amp_alg::transform(amp_alg::begin(av), amp_alg::end(av), amp_alg::begin(av_out), scaled<int>(3));
    av_out.synchronize();
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 5);
    std::transform(expected.begin(), expected.end(), expected.begin(), scaled<int>(3));
    AreEqual(expected, out);

    amp_alg::fill(amp_alg::begin(av) + 10, amp_alg::begin(av) + 20, 7);
    AreEqual(7, av[10]);
    AreEqual(7, av[19]);
    AreEqual(25, av[20]);
    AreEqual(14, av[9]);

    const int value = 42;
    amp_alg::generate(
        amp_alg::begin(av), amp_alg::end(av), [=]() restrict(amp, cpu) { return value; });
    AreEqual(42 * 1000, std::accumulate(av.data(), av.data() + 1000, 0));

    // Transforms a two-dimensional view into a view of another type.
    array_view<int, 2> square = av.view_as(extent<2>(20, 50));
    array<float, 2> floats(20, 50);
    amp_alg::transform(
        accelerator().default_view, array_view<const int, 2>(square), array_view<float, 2>(floats),
        [](int x) restrict(amp) { return x / 2.0f; });
    std::vector<float> host = floats;
    AreEqual(std::vector<float>(1000, 21.0f), host);
}

void reductions() {
    for (int size : {1, 5, 63, 128, 129, 4096, 10007}) {
        std::vector<int> vec(size);
        for (int i = 0; i < size; ++i)
            vec[i] = (i * 7919) % 1013 - 500;
        array_view<const int> av(size, vec);
        AreEqual(std::accumulate(vec.begin(), vec.end(), 0), amp_alg::reduce(av, amp_alg::plus<int>()));
        AreEqual(*std::max_element(vec.begin(), vec.end()), amp_alg::reduce(av, amp_alg::max<int>()));
    }
    std::vector<TestPoint> points;
    for (int i = 0; i < 300; ++i)
        points.push_back(TestPoint(float(i % 17), float((i * 31) % 101)));
    array_view<const TestPoint> av_points(points);
    const TestPoint best = amp_alg::reduce(av_points, farther());
    const TestPoint expected = std::accumulate(points.begin(), points.end(), TestPoint(), farther());
    AreEqual(expected.GetLength(), best.GetLength());
}

void scans() {
    for (int size : {1, 64, 65, 1000, 5000}) {
        std::vector<unsigned> vec(size), out(size), expected(size);
        for (int i = 0; i < size; ++i)
            vec[i] = 1 + i % 5;
        array_view<const unsigned> input(size, vec);
        array_view<unsigned> output(size, out);
        output.discard_data();
        amp_alg::scan<64, amp_alg::scan_mode::inclusive>(accelerator().default_view, input, output,
                                                         amp_alg::plus<unsigned>());
        output.synchronize();
        std::partial_sum(vec.begin(), vec.end(), expected.begin());
        AreEqual(expected, out);
        amp_alg::scan<64, amp_alg::scan_mode::exclusive>(accelerator().default_view, input, output,
                                                         amp_alg::plus<unsigned>());
        output.synchronize();
        std::rotate(expected.begin(), expected.end() - 1, expected.end());
        expected[0] = 0;
        AreEqual(expected, out);
    }
}

void copies_if() {
    std::vector<int> vec(777), out(777, -1), expected;
    for (int i = 0; i < 777; ++i)
        vec[i] = (i * 37) % 100;
    array_view<int> av(vec), av_out(out);
    auto last = amp_alg::copy_if(
        amp_alg::begin(av), amp_alg::end(av), amp_alg::begin(av_out), [](int x) restrict(amp) { return x % 3 == 0; });
    std::copy_if(vec.begin(), vec.end(), std::back_inserter(expected), [](int x) { return x % 3 == 0; });
    AreEqual(int(expected.size()), last - amp_alg::begin(av_out));
    av_out.synchronize();
    expected.resize(777, -1);
    AreEqual(expected, out);
}

int main() {
    std::wcout << L"Running on " << accelerator().description << std::endl;
    transform_fill_iota_generate();
    reductions();
    scans();
    copies_if();
    std::wcout << (g_failed ? L"FAILED" : L"All tests passed") << std::endl;
    return g_failed ? 1 : 0;
}
