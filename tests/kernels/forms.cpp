// Tests of restrictions in all places that C++ AMP allows, of tile_static variables of class types, and of other
// constructs that existing programs rely on.
#include <stdlib.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <amp_math.h>

#include "device.hpp"
#include "forms.hpp"

using namespace concurrency;

auto arrow(int x) restrict(amp) -> int {
    return x * 2;
}
int never_throws(int x) restrict(amp) noexcept {
    return x * 3;
}
int throws_nothing(int x) restrict(amp, cpu) throw() {
    return x * 4;
}
int twice_amp(int x) restrict(amp, amp) {
    return x;
}
int repeated(int x) restrict(amp, cpu, amp, cpu) {
    return x;
}
typedef int function_type(int) restrict(amp);
using other_type = int(int) restrict(amp, cpu);
function_type declared_by_type;
struct of_types {
    other_type member;
    static other_type of_class;
};
int declared_by_type(int x) restrict(amp) {
    return x * 3;
}
int of_types::member(int x) restrict(amp, cpu) {
    return x * 5;
}
int of_types::of_class(int x) restrict(amp, cpu) {
    return x * 7;
}
int with_parameter(int given(int) restrict(cpu)) {
    return given(4);
}
// `restrict` is a keyword only after the parameters of a function.
int restrict(int x) restrict(amp, cpu) {
    return x + 1;
}

TEST(restrictions_in_every_place) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            auto last = [](int x) restrict(amp) noexcept->int {
                return x;
            };
            int restrict = 3;
            restrict += ::restrict(restrict);
            view[i] =
                arrow(1) + never_throws(10) + throws_nothing(100) + twice_amp(1000) + repeated(10000) + last(restrict);
        });
    CHECK(view[3] == 2 + 30 + 400 + 1000 + 10000 + 7);
    CHECK(with_parameter(throws_nothing) == 16 &&restrict(4) == 5);
}

TEST(functions_declared_by_a_type_have_its_restriction) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            of_types value;
            view[i] = declared_by_type(1000) + value.member(100) + of_types::of_class(10) + i[0];
        });
    CHECK(view[3] == 3573);
    CHECK(of_types().member(1) == 5 && of_types::of_class(1) == 7);
}

TEST(headers_are_read_like_sources) {
    std::vector<int> v(8);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent.tile<4>(), [=](tiled_index<4> i) restrict(amp) { view[i.global] = in_tile(i, 5); });
    CHECK(view[0] == 5 + 3 + 1000 + 2000 && view[7] == 5 + 0 + 1000 + 2000);
    launch_from_a_header(
        view, [](int x) restrict(amp, cpu) { return x * 7; });
    CHECK(view[5] == 35);
}

TEST(views_of_captured_arrays) {
    struct holder {
        array<int> &one;
        const array<int> &other;
        void operator()(index<1> i) const restrict(amp) {
            array_view<int> written(one);
            array_view<const int> read(other);
            written[i] += read[i];
        }
    };
    std::vector<int> v(8, 1);
    array<int> a(8, v.begin(), vulkan_view());
    const array<int> &same = a;
    parallel_for_each(vulkan_view(), a.extent, holder{a, a});
    std::vector<int> sums(8);
    array_view<int> view(sums);
    parallel_for_each(
        vulkan_view(), a.extent, [ =, &a, &same ](index<1> i) restrict(amp) {
            array_view<int> all(a);
            array_view<const int> constant(same);
            view[i] = all[i] * 100 + constant[i] * 10 + all.section(4, 4)[i[0] % 4];
        });
    CHECK(view[7] == 222);
}

TEST(atomics_on_floats) {
    std::vector<float> v = {0, 0, 0, 0, 8};
    array_view<float> view(5, v);
    parallel_for_each(
        vulkan_view(), extent<1>(64), [=](index<1> i) restrict(amp) {
            atomic_fetch_add(&view[0], 1.5f);
            atomic_fetch_sub(&view[1], 0.5f);
            atomic_fetch_max(&view[2], float(i[0]));
            atomic_fetch_min(&view[3], -float(i[0]));
            float expected = 8;
            atomic_compare_exchange(&view[4], &expected, 9.0f);
        });
    CHECK(view[0] == 96 && view[1] == -32 && view[2] == 63 && view[3] == -63 && view[4] == 9);
}

TEST(a_failed_assertion_ends_its_thread) {
    std::vector<int> v(8);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            assert(i[0] != 3);
            view[i] = i[0];
        });
#ifndef NDEBUG
    CHECK(view[3] == 0);
#endif
    CHECK(view[2] == 2 && view[7] == 7);
}

TEST(explicit_tile_arguments_and_differences_of_pointers) {
    std::vector<int> v(64);
    array_view<int, 2> view(8, 8, v);
    parallel_for_each<4, 4>(
        vulkan_view(), view.extent, [=](tiled_index<4, 4> i) restrict(amp) {
            tile_static int shared[16];
            int *element = &shared[i.local[0] * 4 + i.local[1]], *first = shared;
            *element = int(element - first);
            i.barrier.wait();
            view[i.global] = shared[15] - *element;
        });
    CHECK(view(0, 0) == 15 && view(7, 7) == 0);
}

struct two_numbers {
    int a, b;
};

// Conditional operators that select an element of tile_static memory or of a view, as an lvalue or as a value.
TEST(conditionals_select_between_two_address_spaces) {
    std::vector<int> v(64), r(64);
    std::vector<two_numbers> w(64), q(64);
    for (int n = 0; n < 64; ++n)
        v[n] = w[n].a = n, w[n].b = -n;
    array_view<const int> from(v);
    array_view<const two_numbers> pairs(w);
    array_view<int> to(r);
    array_view<two_numbers> both(q);
    parallel_for_each(
        vulkan_view(), to.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
            tile_static int shared[8];
            tile_static two_numbers shared_pairs[8];
            const int x = t.local[0], g = t.global[0];
            shared[x] = from[g];
            shared_pairs[x] = pairs[g];
            t.barrier.wait();
            const int before = x > 0 ? shared[x - 1] : from[g > 0 ? g - 1 : g];
            const int after = x < 7 ? +shared[x + 1] : +from[g < 63 ? g + 1 : g];
            const two_numbers pair = x > 0 ? shared_pairs[x - 1] : pairs[g > 0 ? g - 1 : 0];
            const int *element = &shared[x], *first = shared;
            to[g] = 100 * before + after + (element - first == x) + (element > first + 3 || element == first) -
                    (x > 3 || x == 0);
            both[g] = pair;
        });
    for (int n = 0; n < 64; ++n) {
        const int before = n > 0 ? n - 1 : 0;
        CHECK(to[n] == 100 * before + (n < 63 ? n + 1 : n) + 1 && both[n].a == before && both[n].b == -before);
    }
}

void swaps(int &a, int &b) restrict(amp, cpu) {
    const int old = a;
    a = b;
    b = old;
}
template <class T> const T &larger(const T &a, const T &b) restrict(amp, cpu) {
    return a < b ? b : a;
}

// Conditional operators select pointers and references into tile_static memory, a view or a local array. They are read
// after later selections, in loops and in calls. Pointers are also incremented, compared and written through.
int uses_lvalues(int x, int *tile, int *view) restrict(amp, cpu) {
    int mine[8];
    for (int k = 0; k < 8; ++k)
        mine[k] = 11 * k + x, tile[k] += x * k, view[k] += k;
    const int &three = x < 3 ? tile[x] : x < 6 ? view[x & 3] : mine[x & 7];
    const int &two = x & 1 ? view[3] : tile[x & 7];
    int sum = larger(three, 20);
    if (x > 4) sum += 100 * two;
    for (int k = 0; k < x; ++k)
        sum = sum * 3 + three + larger(larger(tile[k & 7], view[2]), mine[1]);
    for (int k = 0; k < 6; ++k) {
        const int *p = k % 3 == 0 ? &tile[x & 7] : k % 3 == 1 ? &view[k] : &mine[k];
        sum = 3 * sum + *p + (p == &mine[2]) + 2 * (p != &view[1]);
    }
    const int *at = x & 1 ? &tile[1] : &view[1], *const end = at + x % 5;
    for (; at != end; ++at)
        sum = 5 * sum + *at;
    const int *none = x == 2 ? nullptr : x & 1 ? &tile[1] : &mine[0];
    sum += none ? *none : 5000;
    int *to = x & 1 ? &tile[2] : x & 2 ? &view[4] : &mine[6];
    *to += 7;
    swaps(*to, x % 3 ? mine[3] : view[5]);
    for (int k = 0; k < 8; ++k)
        sum = 7 * sum + tile[k] + 3 * view[k] + 5 * mine[k];
    return sum;
}
TEST(lvalues_in_several_address_spaces_are_kept) {
    std::vector<int> v(64 * 8), r(64);
    for (int n = 0; n < 64 * 8; ++n)
        v[n] = n * 5 % 32;
    std::vector<int> expected = v;
    array_view<int, 2> view(64, 8, v);
    array_view<int> results(r);
    parallel_for_each(
        vulkan_view(), results.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int shared[16][8];
            const int x = t.local[0], g = t.global[0];
            for (int k = 0; k < 8; ++k)
                shared[x][k] = k;
            results[g] = uses_lvalues(x, shared[x], &view(g, 0));
        });
    view.synchronize();
    for (int n = 0; n < 64; ++n) {
        int shared[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        CHECK(results[n] == uses_lvalues(n % 16, shared, &expected[n * 8]));
    }
    CHECK(v == expected);
}

// Three uses of an object that is selected from tile_static memory or a view: a copy initialises a variable, a copy
// replaces a variable that was read before, and a pointer to the object is incremented.
struct four_words {
    float word[4];
};
std::vector<four_words> words_of_all() {
    std::vector<four_words> all(64);
    for (int n = 0; n < 256; ++n)
        all[n / 4].word[n % 4] = float(n * 7 % 101);
    return all;
}
TEST(a_copy_initialises_its_variable) {
    std::vector<four_words> data = words_of_all();
    std::vector<float> copied(64);
    const array_view<four_words> view(data);
    const array_view<float> copies(copied);
    parallel_for_each(
        vulkan_view(), copies.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static four_words tile[64];
            tile[t.local[0]] = view[t.global];
            t.barrier.wait();
            const four_words &selected = (t.local[0] & 1) ? tile[t.local[0] ^ 1] : view[t.global];
            four_words copy = selected;
            copies[t.global] = copy.word[t.local[0] & 3];
        });
    copies.synchronize();
    for (int n = 0; n < 64; ++n)
        CHECK(copied[n] == data[n & 1 ? n ^ 1 : n].word[n & 3]);
}
TEST(a_copy_replaces_a_variable_that_was_read) {
    std::vector<four_words> data = words_of_all();
    std::vector<float> replaced(64);
    const array_view<four_words> view(data);
    const array_view<float> replacements(replaced);
    parallel_for_each(
        vulkan_view(), replacements.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static four_words tile[64];
            const int x = t.local[0];
            four_words kept = view[t.global];
            tile[x] = kept;
            t.barrier.wait();
            const four_words &selected = (x & 1) ? tile[x ^ 1] : view[t.global];
            const float before = kept.word[x & 3];
            kept = selected;
            replacements[t.global] = before - kept.word[(x >> 1) & 3];
        });
    replacements.synchronize();
    for (int n = 0; n < 64; ++n)
        CHECK(replaced[n] == data[n].word[n & 3] - data[n & 1 ? n ^ 1 : n].word[n >> 1 & 3]);
}
TEST(a_selected_pointer_is_incremented) {
    std::vector<float> data(96), sum_data(64);
    for (int n = 0; n < 96; ++n)
        data[n] = float(n * 5 % 37);
    const array_view<float> view(data), sum_view(sum_data);
    const int count = 9;
    parallel_for_each(
        vulkan_view(), sum_view.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static float tile[64];
            tile[t.local[0]] = view[t.global];
            t.barrier.wait();
            const float *at = (t.local[0] & 1) ? &tile[0] : &view[t.global];
            float sum = 0;
            int rest = count;
            for (;;) {
                sum += *at++;
                if (--rest == 0) break;
            }
            sum_view[t.global] = sum;
        });
    sum_view.synchronize();
    for (int n = 0; n < 64; ++n) {
        float sum = 0;
        for (int k = 0; k < count; ++k)
            sum += data[(n & 1 ? 0 : n) + k];
        CHECK(sum_data[n] == sum);
    }
}

// Math functions with and without using-directives, where the C library's templates and functions are visible too.
TEST(mathematics_of_several_types) {
    for (const accelerator_view &where : {vulkan_view(), accelerator(L"host").default_view}) {
        std::vector<float> r(30, 3.0f);
        const array_view<float> v(30, r);
        parallel_for_each(
            where, extent<1>(1), [=](index<1> i) restrict(amp) {
                const float x = v[0];
                const int n = i[0] + 5;
                v[1] = fast_math::pow(x, 2);
                v[2] = fast_math::fmax(x, 4u);
                v[3] = precise_math::pow(x, 2);
                v[4] = precise_math::fmin(1, x);
                v[5] = precise_math::fma(x, 2, 1);
                v[6] = fast_math::round(fast_math::sqrt(n + 4));
                v[7] = precise_math::hypot(x, 4);
                // Without a native kernel, host threads compute the sum as a double (C library). Hence the cast.
                v[8] = float(precise_math::fmod(x, 2) * 10 + fast_math::fmod(n, 2) + fast_math::ceil(n));
                {
                    using namespace concurrency::fast_math;
                    v[9] = round(pow(x, 2));
                    v[10] = fmin(x, 1);
                    v[11] = floor(n);
                }
                {
                    using namespace concurrency::precise_math;
                    v[12] = pow(x, 2);
                    v[13] = fdim(n, x);
                    int q;
                    v[14] = remquo(x, 2.0f, &q);
                    v[15] = q;
                    v[16] = precise_math::remquof(1e6f, 2.0f, &q);
                    v[17] = q;
                    v[18] = remquo(n, 2, &q) + remquof(13.0f, 2.0f, &q) + precise_math::remquo(x, n, &q);
                    v[19] = q;
                    v[20] = rsqrt(n - 1);
                    v[21] = lgamma(n, &q) + precise_math::lgamma(n, &q);
                    v[22] = exp10(n - 3) + cospi(n) + erfinv(0) + rcbrt(n + 3);
                    v[23] = scalb(n, 1) + scalbn(n, 1);
                    v[24] = acosh(n - 4) + cbrt(n + 3u) + tanh(0);
                    v[25] = frexp(n + 3, &q);
                    v[26] = q;
                    v[27] = ldexp(n, 1);
                    v[28] = ilogb(n);
                    v[29] = fast_math::ldexp(n, 2) + fast_math::frexp(n, &q);
                }
            });
        v.synchronize();
        const std::vector<float> expected = {3, 9, 4,      9, 1, 7,    3,        5,     16, 9, 1,    5, 9,  2, -1,
                                             2, 0, 500000, 0, 1, 0.5f, 6.35611f, 99.5f, 20, 2, 0.5f, 4, 10, 2, 20.625f};
        for (int n = 0; n < 30; ++n)
            CHECK(std::fabs(r[n] - expected[n]) < 1e-3f);
    }
}

// Macros of the C library that expand to calls of builtin functions.
static float special(int which) restrict(amp, cpu) {
    switch (which) {
    case 0:
        return INFINITY;
    case 1:
        return -INFINITY;
    case 2:
        return NAN;
    case 3:
        return HUGE_VALF;
    default:
        return static_cast<float>(HUGE_VAL);
    }
}

TEST(infinity_and_nan_by_their_macros) {
    std::vector<float> results(5);
    const array_view<float> all(5, results);
    parallel_for_each(
        all.extent, [=](index<1> i) restrict(amp) { all[i] = special(i[0]); });
    all.synchronize();
    for (int which = 0; which < 5; ++which)
        CHECK(which == 2 ? results[2] != results[2] : results[which] == special(which));
}

TEST(loops_that_llvm_considers_infinite) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), extent<1>(1), [=](index<1>) restrict(amp) {
            for (;;) {
                if (view[1] == 5) break;
                view[1] = 5;
            }
            for (unsigned k = 3; k >= 0; --k)
                if (k == 1) {
                    view[2] = 77;
                    break;
                }
            int n = 0;
            while (true) {
                n++;
                if (n == 10) {
                    view[0] = n;
                    return;
                }
            }
        });
    CHECK(view[0] == 10 && view[1] == 5 && view[2] == 77);
}

// Only one thread sees a local variable, so the operations need not be atomic.
TEST(atomics_on_local_variables) {
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        std::vector<int> v(32);
        const array_view<int, 2> view(4, 8, v);
        parallel_for_each(
            on, extent<1>(4), [=](index<1> i) restrict(amp) {
                int n = i[0], expected = 66, many[4] = {};
                unsigned u = 5;
                view(i[0], 0) = atomic_fetch_add(&n, 3) + atomic_fetch_sub(&n, 1);
                atomic_fetch_or(&n, 64);
                atomic_fetch_xor(&n, 1);
                atomic_fetch_and(&n, 127);
                atomic_fetch_max(&n, 66);
                atomic_fetch_min(&n, 69);
                atomic_fetch_inc(&n);
                atomic_fetch_dec(&n);
                atomic_fetch_max(&u, 0xfffffffeu);
                view(i[0], 1) = n;
                view(i[0], 2) = atomic_compare_exchange(&n, &expected, 1000);
                view(i[0], 3) = n;
                view(i[0], 4) = expected;
                view(i[0], 5) = int(atomic_exchange(&u, 7u));
                view(i[0], 6) = int(u);
                for (int k = 0; k < 8; k++)
                    atomic_fetch_add(&many[k & 3], k * i[0]);
                view(i[0], 7) = many[i[0]];
            });
        const int expected[4][8] = {{3, 67, 0, 67, 67, -2, 7, 0},
                                    {5, 66, 1, 1000, 66, -2, 7, 6},
                                    {7, 69, 0, 69, 69, -2, 7, 16},
                                    {9, 68, 0, 68, 68, -2, 7, 30}};
        for (int i = 0; i < 32; i++)
            CHECK(view(i / 8, i % 8) == expected[i / 8][i % 8]);
    }
}

struct limit {
    static const int most = 5;
};
// MSVC links this program although `most` has no definition. (A program may also define it.)
TEST(static_constants_have_addresses) {
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        std::vector<int> made(8);
        const array_view<int> view(made);
        parallel_for_each(
            on, view.extent, [=](index<1> i) restrict(amp) { view[i] = std::min(i[0], limit::most); });
        view.synchronize();
        CHECK(made == std::vector<int>({0, 1, 2, 3, 4, 5, 5, 5}));
    }
}

// Loops of each form, whose conditions increment a counter.
TEST(loops_count_in_their_conditions) {
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        std::vector<int> made(6);
        const array_view<int> view(made);
        parallel_for_each(
            on, view.extent, [=](index<1> i) restrict(amp) {
                int a = i[0], b = 3, n = 0, sum = 0;
                while (a && b && (++n)) {
                    if (n > a) break;
                    --b;
                }
                sum = n * 10 + b;
                n = 0;
                for (; a && (++n);)
                    if (n == 2) break;
                sum = sum * 10 + n;
                n = 0;
                do {
                    if (n == a) break;
                } while ((a || b) && (++n));
                view[i] = sum * 10 + n;
            });
        view.synchronize();
        CHECK(made == std::vector<int>({300, 2221, 3122, 3023, 3024, 3025}));
    }
}

static int distance(int a, int b) restrict(cpu, amp) {
    if (a < b) std::swap(a, b);
    return a - b;
}
TEST(standard_library_functions_that_are_not_constexpr) {
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        std::vector<int> made(3);
        const array_view<int> view(made);
        parallel_for_each(
            on, view.extent, [=](index<1> i) restrict(amp) {
                int a[2] = {1, 2}, b[2] = {3, i[0]};
                std::swap(a, b);
                const long wide = i[0] - 5;
                const long long wider = -7;
                view[i] = a[1] + std::abs(i[0] - 4) * 10 + int(std::abs(wide)) * 100 + int(std::abs(wider)) * 1000 +
                          distance(i[0], 9) * 10000 + int(std::abs(-1.5f) * 2) * 100000;
                b[0] = std::exchange(a[0], 1 << 20);
                view[i] += a[0] * (b[0] == 3);
            });
        view.synchronize();
        CHECK(made == std::vector<int>({397540 + (1 << 20), 387431 + (1 << 20), 377322 + (1 << 20)}));
    }
    CHECK(distance(2, 5) == 3 && std::abs(-3) == 3);
}

// The compiler copies these classes by memcpy, at addresses that are not multiples of 4.
struct letters {
    char of[12];
};
struct triple {
    short of[3];
};
struct record {
    char before;
    letters text;
    char after;
    triple numbers;
};
TEST(copies_of_members_at_odd_addresses) {
    const int count = 8;
    std::vector<record> given(count), made(count);
    for (int n = 0; n < count; ++n) {
        for (int k = 0; k < 12; ++k)
            given[n].text.of[k] = char(10 * n + k);
        for (int k = 0; k < 3; ++k)
            given[n].numbers.of[k] = short(-1000 * n - k);
    }
    const array_view<const record> from(given);
    const array_view<record> to(made);
    parallel_for_each(
        vulkan_view(), to.extent.tile<4>(), [=](tiled_index<4> i) restrict(amp) {
            const int n = i.global[0], l = i.local[0];
            tile_static triple shared[4];
            shared[l] = from[n].numbers;
            i.barrier.wait();
            record kept[2];
            for (int k = 0; k < 2; ++k) {
                kept[k].text = from[n ^ k].text;
                kept[k].numbers = shared[l ^ k];
            }
            to[n].before = 'b';
            to[n].text = kept[l / 2].text;
            to[n].after = 'a';
            to[n].numbers = kept[l / 2].numbers;
        });
    to.synchronize();
    for (int n = 0; n < count; ++n) {
        const record &expected = given[n ^ (n % 4 / 2)];
        CHECK(made[n].before == 'b' && made[n].after == 'a');
        CHECK(std::equal(made[n].text.of, made[n].text.of + 12, expected.text.of));
        CHECK(std::equal(made[n].numbers.of, made[n].numbers.of + 3, expected.numbers.of));
    }
}

static int &(in_parentheses)(int &x) restrict(cpu, amp) {
    return x;
}
static int (&row(int (&of)[2][3], int n) restrict(cpu, amp))[3] {
    return of[n];
}
// LLVM turns this function into one 128-bit multiplication.
static uint64_t upper_half(uint64_t a, uint64_t b) restrict(cpu, amp) {
    const uint64_t low_a = a & 0xffffffff, high_a = a >> 32, low_b = b & 0xffffffff, high_b = b >> 32;
    const uint64_t middle = high_a * low_b + (low_a * low_b >> 32);
    const uint64_t other = low_a * high_b + (middle & 0xffffffff);
    return high_a * high_b + (middle >> 32) + (other >> 32);
}
TEST(declarators_in_parentheses_and_upper_halves_of_products) {
    const uint64_t most = ~uint64_t(0);
    std::vector<uint64_t> factors = {most, most - 1, 1, 0x123456789abcdef0, 1ull << 63}, made(factors.size());
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        const array_view<const uint64_t> factor(factors);
        const array_view<uint64_t> view(made);
        parallel_for_each(
            on, view.extent, [=](index<1> i) restrict(amp) {
                int cells[2][3] = {{1, 2, 3}, {4, 5, 6}};
                in_parentheses(row(cells, 1)[2]) += i[0];
                view[i] = upper_half(factor[i], most) + cells[1][2];
            });
        view.synchronize();
        CHECK(made ==
              std::vector<uint64_t>({most - 1 + 6, most - 2 + 7, 8, 0x123456789abcdeef + 9, (1ull << 63) - 1 + 10}));
    }
}

CHECK_MAIN
