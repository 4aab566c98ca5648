// The expressions of expressions.cpp, each for float and double. A kernel must evaluate an expression as written and
// round every operation once. It may only fuse a product into a sum of the same expression.
//
//     EXPRESSION(name, inputs, body, fused...)
//
// The body computes the result from a, b, c, d and the integer i. `fused` are the results of the fused forms; without
// them, only the result of the body is right. Inputs:
//     ALL       numbers and special values
//     NUMBERS   numbers near 1
//     SMALL     an intermediate result may be subnormal although the inputs are normal
//     SEPARATE  left out with -ffp-contract=fast, which may fuse across statements
#ifndef EXPRESSIONS_HPP
#define EXPRESSIONS_HPP

#include <amp.h>
#include <amp_math.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using namespace concurrency;

enum inputs { ALL = 0, NUMBERS = 1, SEPARATE = 2, SMALL = 4 };

template <class T> using whole = std::conditional_t<sizeof(T) == 4, int, long long>;
// 1.5 * 2^23 (float) or 1.5 * 2^52 (double). Adding this constant rounds a number to an integer.
template <class T> constexpr T big = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);
// Splits the significand of a number into two halves.
template <class T> constexpr T splitter = sizeof(T) == 4 ? T(4097.0) : T(134217729.0);
template <class T> constexpr T infinite = std::numeric_limits<T>::infinity();

template <int N> struct expression;
constexpr int first_expression = __COUNTER__ + 1;
#define EXPRESSION(named, flags, body, ...)                                                                            \
    template <> struct expression<__COUNTER__ - first_expression> {                                                    \
        static constexpr const char *name = #named;                                                                    \
        static constexpr int input_flags = flags;                                                                      \
        template <class T> static T value(T a, T b, T c, T d, whole<T> i) restrict(amp, cpu) {                         \
            (void)a, (void)b, (void)c, (void)d, (void)i;                                                               \
            { body }                                                                                                   \
        }                                                                                                              \
        template <class T> static std::vector<T> fused(T a, T b, T c, T d) {                                           \
            using std::fma;                                                                                            \
            (void)a, (void)b, (void)c, (void)d;                                                                        \
            return {__VA_ARGS__};                                                                                      \
        }                                                                                                              \
    };

// Error terms of compensated arithmetic.
EXPRESSION(two_sum, ALL, T s = a + b; T bb = s - a; return (a - (s - bb)) + (b - bb);)
EXPRESSION(fast_two_sum, ALL, T s = a + b; return b - (s - a);)
EXPRESSION(kahan, ALL, T t = a + b; return (t - a) - b;)
EXPRESSION(
    kahan_sum, ALL, T sum = a; T lost = 0; for (int n = 0; n < 3; ++n) {
        const T y = (n == 0 ? b : n == 1 ? c : d) - lost;
        const T t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    } return lost;)
EXPRESSION(split, SEPARATE, T p = a * splitter<T>; T h = p - (p - a); return a - h;)
EXPRESSION(dekker_product, NUMBERS | SEPARATE, T p = a * splitter<T>; T ah = p - (p - a); T al = a - ah;
           T q = b * splitter<T>; T bh = q - (q - b); T bl = b - bh; T product = a * b;
           return al * bl - (((product - ah * bh) - al * bh) - ah * bl);)
EXPRESSION(fma_product, ALL, T p = a * b; return precise_math::fma(a, b, -p);)
EXPRESSION(two_sum_of_products, SEPARATE, T x = a * b; T y = c * d; T s = x + y; T bb = s - x;
           return (x - (s - bb)) + (y - bb);)

// Rounding by a large constant.
EXPRESSION(rounded, ALL, return (a + big<T>)-big<T>;)
EXPRESSION(rounded_down_from_it, ALL, return big<T> - (big<T> - a);)
EXPRESSION(rounded_in_steps, ALL, T x = a + big<T>; T y = x - big<T>; return a - y;)
EXPRESSION(rounded_by_infinity, ALL, return (a + infinite<T>)-infinite<T>;)

// Sums and products of one expression.
EXPRESSION(product_plus, ALL, return a * b + c;, fma(a, b, c))
EXPRESSION(product_minus, ALL, return a * b - c;, fma(a, b, -c))
EXPRESSION(minus_product, ALL, return c - a * b;, fma(-a, b, c))
EXPRESSION(negated_product, ALL, return -(a * b) + c;, fma(-a, b, c))
EXPRESSION(negated_sum, ALL, return -(a * b + c);, -fma(a, b, c))
EXPRESSION(difference_of_products, ALL, return a * b - c * d;, fma(a, b, -(c *d)), fma(-c, d, a *b))
EXPRESSION(sum_of_products, ALL, return a * b + c * d;, fma(a, b, c *d), fma(c, d, a *b))
EXPRESSION(difference_of_squares, ALL, return a * a - b * b;, fma(a, a, -(b *b)), fma(-b, b, a *a))
EXPRESSION(product_of_sums, ALL, return (a + b) * (a - b);)
EXPRESSION(big_between_products, ALL, return (a * b + big<T>)+c * d;
           , fma(c, d, a *b + big<T>), fma(a, b, big<T>) + c * d, fma(c, d, fma(a, b, big<T>)))
EXPRESSION(big_away_again, ALL, return (a * b + big<T>)-big<T>;, fma(a, b, big<T>) - big<T>)
EXPRESSION(distributed, ALL, return a * b + a * c;, fma(a, b, a *c), fma(a, c, a *b))
EXPRESSION(twice_less_once, ALL, return a * T(2) - a;, fma(a, T(2), -a))
EXPRESSION(polynomial, ALL, return (a * b + c) * b + d;
           , fma(a *b + c, b, d), fma(a, b, c) * b + d, fma(fma(a, b, c), b, d))
EXPRESSION(zero_plus_product, ALL, return a * b + T(0);, fma(a, b, T(0)))
EXPRESSION(zero_minus_product, ALL, return T(0) - a * b;, fma(-a, b, T(0)))
EXPRESSION(associated_left, ALL, return (a + b) + c;)
EXPRESSION(associated_right, ALL, return a + (b + c);)
EXPRESSION(product_of_four, ALL, return (a * b) * (c * d);)

// Sums across statements, and sums for which the source forbids contraction.
EXPRESSION(product_of_another_statement, SEPARATE, T p = a * b; return p + c;)
EXPRESSION(one_product_of_another_statement, SEPARATE, T p = a * b; return p - c * d;, fma(-c, d, a *b))
EXPRESSION(sum_in_statements, SEPARATE, T s = a * b; s += c * d; return s;, fma(c, d, a *b))
EXPRESSION(sum_in_a_loop, ALL, T s = 0; for (int n = 0; n < 4; ++n) s += n % 2 == 0 ? a : b; return s;)
EXPRESSION(products_in_a_loop, SEPARATE, T s = c; for (int n = 0; n < 3; ++n) s = (s + a) * b; return s;)
EXPRESSION(contract_off, SEPARATE, _Pragma("clang fp contract(off)") return a * b + c;)
EXPRESSION(contract_off_of_squares, SEPARATE, _Pragma("clang fp contract(off)") return a * a - b * b;)

// fma rounds once.
EXPRESSION(fma_plus, ALL, return precise_math::fma(a, b, c);)
EXPRESSION(fma_minus, ALL, return precise_math::fma(-a, b, c);)
EXPRESSION(fma_of_big, ALL, return precise_math::fma(a, b, big<T>) - big<T>;)
EXPRESSION(fma_twice, ALL, return precise_math::fma(a, b, precise_math::fma(c, d, a));)
EXPRESSION(fma_of_zero, ALL, return precise_math::fma(a, b, T(0));)

// Quotients and roots.
EXPRESSION(quotient, ALL, return a / b;)
EXPRESSION(quotient_by_three, ALL, return a / T(3);)
EXPRESSION(quotient_by_ten, ALL, return a / T(10);)
EXPRESSION(reciprocal, ALL, return T(1) / a;)
EXPRESSION(quotient_of_sums, ALL, return (a + c) / (b - d);)
EXPRESSION(quotient_twice, ALL, return a / b / c;)
EXPRESSION(quotient_and_back, SMALL, return a / b * b - a;, fma(a / b, b, -a))
EXPRESSION(remainder_by_ten, ALL, T q = a / T(10); return a - q * T(10);, fma(-(a / T(10)), T(10), a))
EXPRESSION(thrice_and_third, ALL, return a * T(3) / T(3);)
EXPRESSION(root, ALL, return precise_math::sqrt(a);)
EXPRESSION(root_of_squares, ALL, return precise_math::sqrt(a * a + b * b);
           , std::sqrt(fma(a, a, b *b)), std::sqrt(fma(b, b, a *a)))
EXPRESSION(reciprocal_root, ALL, return T(1) / precise_math::sqrt(a);)

// Infinities, NaN and the sign of zero.
EXPRESSION(by_zero, ALL, return a / T(0);)
EXPRESSION(zero_by, ALL, return T(0) / a;)
EXPRESSION(times_zero, ALL, return a * T(0);)
EXPRESSION(plus_zero, ALL, return a + T(0);)
EXPRESSION(zero_minus, ALL, return T(0) - a;)
EXPRESSION(plus_negative_zero, ALL, return a + T(-0.0);)
EXPRESSION(less_itself, ALL, return a - a;)
EXPRESSION(by_itself, ALL, return a / a;)
EXPRESSION(sign_of_reciprocal, ALL, return T(1) / (a * T(0));)
EXPRESSION(smaller, ALL, return a < b ? a : b;)
EXPRESSION(not_less, ALL, return !(a < b) ? T(1) : T(2);)
EXPRESSION(equal_to_itself, ALL, return a == a ? T(1) : T(2);)
EXPRESSION(positive_part, ALL, return a > T(0) ? a : T(0);)

// Round trips.
// A conversion from integer to float by way of double rounds twice. Here, both roundings are up.
EXPRESSION(integer_by_double, ALL, const long long n = (((i & 0x7fffffLL) | 0x800001LL) << 39) | 0x3fffffffffLL;
           return T(double(n)) + T(double(static_cast<unsigned long long>(n)));)
EXPRESSION(integer_and_back, ALL, return T(whole<T>(T(i)) - i);)
EXPRESSION(unsigned_and_back, ALL, using word = std::make_unsigned_t<whole<T>>; const word u = word(i) & ~word(0) >> 1;
           return T(whole<T>(word(T(u)) - u));)
EXPRESSION(fraction_cut, NUMBERS, return a - T(whole<T>(a));)
EXPRESSION(fraction_cut_unsigned, NUMBERS, using word = std::make_unsigned_t<whole<T>>; const T x = a < 0 ? -a : a;
           return x - T(word(x));)
EXPRESSION(narrowed, ALL, return T(float(a)) - a;)

constexpr int expressions = __COUNTER__ - first_expression;

#endif
