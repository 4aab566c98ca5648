// Code that is forbidden in kernels. Each FAIL_ case is compiled separately; without a case, the file compiles.
#include <amp.h>
#include <cstdarg>

using namespace concurrency;

int of_the_host(int x) {
    return x + 1;
}
int fine(int x) restrict(amp, cpu) {
    return x + 2;
}
#if defined(FAIL_recursion)
int recurses(int n) restrict(amp, cpu) {
    return n < 2 ? n : recurses(n - 1) * recurses(n - 2);
}
#endif
#if defined(FAIL_variable_arguments)
int variable(int n, ...) restrict(amp, cpu) {
    va_list arguments;
    va_start(arguments, n);
    n = va_arg(arguments, int);
    va_end(arguments);
    return n;
}
#endif
#if defined(FAIL_computed_goto)
int jumps(int n) restrict(amp, cpu) {
    static const void *const labels[] = {&&even, &&odd};
    goto *labels[n & 1];
even:
    return n;
odd:
    return 1;
}
#endif

#if defined(FAIL_constant_divided_in_a_function)
template <int by> int divided(int x) restrict(amp, cpu) {
    return x + 7 / (6 & by);
}
#endif

void launch(array_view<int> view, array<int> &data) {
    parallel_for_each(
        view.extent, [ =, &data ](index<1> i) restrict(amp) { view[i] = fine(data[i]); });
    int total = 0;
    (void)total;
#ifdef FAIL_host_function // 'of_the_host' is a cpu function
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = of_the_host(1); });
#endif
#ifdef FAIL_throw // 'throw'
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            if (view[i] > 3) throw 3;
        });
#endif
#ifdef FAIL_captured_int // 'total' .'int &'. is captured by reference
    parallel_for_each(
        view.extent, [ =, &total ](index<1> i) restrict(amp) { total += view[i]; });
#endif
#ifdef FAIL_recursion // 'recurses': recursion is not allowed
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = recurses(view[i]); });
#endif
#ifdef FAIL_variable_arguments // 'variable' takes variable arguments
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = variable(1, view[i]); });
#endif
#ifdef FAIL_computed_goto // 'goto' is not allowed
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = jumps(view[i]); });
#endif
#ifdef FAIL_unmarked_kernel // the kernel is a cpu function: write restrict.amp. after the parameters of 'operator..'
    struct functor {
        array_view<int> view;
        void operator()(index<1> i) const { view[i] = 1; }
    };
    parallel_for_each(view.extent, functor{view});
#endif
#ifdef FAIL_wrong_parameter // the kernel takes 'index<2>', but a launch over 'extent<1>' passes 'index<1>'
    parallel_for_each(
        view.extent, [=](index<2> i) restrict(amp) { view[i[0]] = 1; });
#endif
#ifdef FAIL_result // must return void
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { return view[i]; });
#endif
#ifdef FAIL_printed_number // direct3d_printf: '%f' takes a float or double, but the argument is an int .argument 2.
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { direct3d_printf("%d %f", i[0], fine(view[i])); });
#endif
#ifdef FAIL_printed_text // direct3d_errorf: the format must be a string literal
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { direct3d_errorf(i[0] > 3 ? "a" : "b"); });
#endif
#ifdef FAIL_constant_divided_by_zero // so Clang has dropped its result. The operation is an integer division by 0
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = int(7u / (6u & 1u)); });
#endif
#ifdef FAIL_constant_remainder_by_zero // an operation on constants is undefined
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 7 % (6 & 1); });
#endif
#ifdef FAIL_most_negative_constant_by_minus_one // an operation on constants is undefined
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = int(0x80000000u) / -(7 & 1); });
#endif
#ifdef FAIL_constant_divided_in_a_condition // an operation on constants is undefined
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            for (int n = 0; n < 7 / (6 & 1); ++n)
                view[i] += n;
        });
#endif
#ifdef FAIL_constant_divided_in_a_function // an operation on constants is undefined
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = divided<1>(view[i]); });
#endif
#ifdef FAIL_constant_shifted_by_too_much // a shift by as many bits
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] |= 1 << (32 + (1 & 7)); });
#endif
#ifdef FAIL_syntax // expected
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = ; });
#endif
}
