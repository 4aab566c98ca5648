// Uses of array, array_view, copy and parallel_for_each that must not compile (docs/spec), each with its error.
#include <amp.h>
#include <amp_graphics.h>
#include <revamp/kernel.h>

namespace c = concurrency;

struct with_virtual {
    int x;
    virtual void f();
};
struct virtual_kernel {
    virtual void f() const;
    void operator()(c::index<1>) const {}
};
struct three_bytes {
    char x[3];
};

void cases(c::array<int> &a, const c::array<int> &ca, c::array<int, 2> &a2, c::array<float> &af,
           const c::array_view<int> &v, const c::array_view<const int> &cv, const c::array_view<int, 2> &v2,
           const std::vector<int> &constant, std::vector<float> &floats, const int *pointer,
           const c::accelerator_view &target, const revamp::kernel &spirv) {
    (void)a, (void)ca, (void)a2, (void)af, (void)v, (void)cv, (void)v2, (void)constant, (void)floats, (void)pointer,
        (void)target, (void)spirv;
    static const int plain[3] = {1, 2, 3};
    (void)plain;
    // Elements.
#ifdef FAIL_array_of_char // must not be char, short or bool
    c::array<char> x(4);
#endif
#ifdef FAIL_array_of_short // must not be char, short or bool
    c::array<short> x(4);
#endif
#ifdef FAIL_array_of_bool // must not be char, short or bool
    c::array<bool> x(4);
#endif
#ifdef FAIL_array_of_pointers // must not be pointers
    c::array<int *> x(4);
#endif
#ifdef FAIL_array_of_virtual // must not have virtual functions
    c::array<with_virtual> x(4);
#endif
#ifdef FAIL_array_of_three_bytes // must be a multiple of 4 bytes
    c::array<three_bytes> x(4);
#endif
#ifdef FAIL_array_of_const // must not be const
    c::array<const int> x(4);
#endif
#ifdef FAIL_array_of_views // must not be arrays or array_views
    c::array<c::array_view<int>> x(4);
#endif
#ifdef FAIL_array_of_arrays // must not be arrays or array_views
    c::array<c::array<int>> x(4);
#endif
#ifdef FAIL_array_of_accelerators // must not be accelerators
    c::array<c::accelerator_view> x(4);
#endif
#ifdef FAIL_array_of_references // must not be references
    c::array<int &> x(4);
#endif
#ifdef FAIL_view_of_char // must not be char, short or bool
    c::array_view<char> x(4);
#endif
#ifdef FAIL_view_of_const_short // must not be char, short or bool
    c::array_view<const unsigned short> x(v.reinterpret_as<unsigned short>());
#endif
#ifdef FAIL_view_of_pointers // must not be pointers
    c::array_view<int *> x(4);
#endif
#ifdef FAIL_view_of_volatile // must not be volatile
    c::array_view<volatile int> x(4);
#endif
#ifdef FAIL_view_of_views // must not be arrays or array_views
    c::array_view<c::array_view<int>> x(4);
#endif
    // Ranks and shapes.
#ifdef FAIL_array_rank_0 // the rank of an (array|index or extent) must be at least 1
    c::array<int, 0> x(c::extent<1>(3));
#endif
#ifdef FAIL_array_rank_negative // the rank of an (array|index or extent) must be at least 1
    c::array<int, -2> x(c::extent<1>(3));
#endif
#ifdef FAIL_view_rank_0 // the rank of an (array_view|index or extent) must be at least 1
    c::array_view<int, 0> x(c::extent<1>(3));
#endif
#ifdef FAIL_array_2_of_one // from one number only if its rank is 1
    c::array<int, 2> x(4);
#endif
#ifdef FAIL_array_1_of_two // from two numbers only if its rank is 2
    c::array<int> x(4, 5);
#endif
#ifdef FAIL_array_2_of_three_with_data // from three numbers only if its rank is 3
    c::array<int, 2> x(1, 2, 3, pointer);
#endif
#ifdef FAIL_view_2_of_one // from one number only if its rank is 1
    c::array_view<int, 2> x(4);
#endif
#ifdef FAIL_view_1_of_three // from three numbers only if its rank is 3
    c::array_view<int> x(1, 2, 3);
#endif
#ifdef FAIL_view_2_of_a_container // an array_view of a container must have rank 1 if no extent is passed
    std::vector<int> ints(4);
    c::array_view<int, 2> x(ints);
#endif
#ifdef FAIL_view_2_of_a_c_array // an array_view of a C array must have rank 1
    c::array_view<const int, 2> x(plain);
#endif
#ifdef FAIL_array_of_other_extent // no matching
    c::array<int, 2> x(c::extent<3>(1, 2, 3));
#endif
#ifdef FAIL_array_default // no matching
    c::array<int> x;
#endif
#ifdef FAIL_view_default // no matching
    c::array_view<int> x;
#endif
#ifdef FAIL_view_implicit_of_number // conversion from|no viable conversion
    c::array_view<int> x = 4;
#endif
#ifdef FAIL_array_implicit_of_view // conversion from|no viable conversion
    c::array<int> x = cv;
#endif
    // Copies.
#ifdef FAIL_array_of_other_rank // no matching
    c::array<int> x(a2);
#endif
#ifdef FAIL_array_of_other_element // no matching
    c::array<int> x(af);
#endif
#ifdef FAIL_array_assign_other_rank // no match|no viable
    a = a2;
#endif
#ifdef FAIL_array_assign_const // passing .const|no viable overloaded|discards qualifiers|no match
    ca = a;
#endif
#ifdef FAIL_view_assign_other_rank // no match|no viable
    c::array_view<int> x(v);
    x = v2;
#endif
#ifdef FAIL_view_assign_const // passing .const|no viable overloaded|discards qualifiers|no match
    v = v;
#endif
#ifdef FAIL_view_assign_const_elements // no match|no viable
    c::array_view<int> x(v);
    x = cv;
#endif
#ifdef FAIL_copy_to_const_array // no matching|read-only|binding reference
    c::copy(a, ca);
#endif
#ifdef FAIL_copy_to_const_view // no matching
    c::copy(a, cv);
#endif
#ifdef FAIL_copy_iterators_to_const_view // no matching|no type named|no match
    c::copy(pointer, pointer + 3, cv);
#endif
#ifdef FAIL_copy_other_rank // no matching
    c::copy(a, a2);
#endif
#ifdef FAIL_copy_other_element // no matching
    c::copy(a, af);
#endif
#ifdef FAIL_copy_views_of_other_rank // no matching
    c::copy(v, v2);
#endif
#ifdef FAIL_copy_async_to_const_view // no matching
    c::copy_async(v, cv);
#endif
#ifdef FAIL_copy_to_itself_of_other_rank // no matching|cannot bind|cannot convert|no viable conversion
    v.copy_to(v2);
#endif
#ifdef FAIL_copy_to_const_pointer // must accept the elements of the array or array_view
    c::copy(a, pointer);
#endif
    // Constness.
#ifdef FAIL_view_of_const_vector // no matching
    c::array_view<int> x(constant);
#endif
#ifdef FAIL_view_of_const_vector_with_extent // no matching
    c::array_view<int, 2> x(1, 2, constant);
#endif
#ifdef FAIL_view_of_const_pointer // no matching
    c::array_view<int> x(3, pointer);
#endif
#ifdef FAIL_view_of_const_c_array // no matching
    c::array_view<int> x(plain);
#endif
#ifdef FAIL_view_of_const_array // no matching
    c::array_view<int> x(ca);
#endif
#ifdef FAIL_view_of_const_view // no matching
    c::array_view<int> x(cv);
#endif
#ifdef FAIL_view_of_section_of_const_array // no matching
    c::array_view<int> x(ca.section(0, 1));
#endif
#ifdef FAIL_view_of_other_container // no matching
    c::array_view<int> x(floats);
#endif
#ifdef FAIL_const_view_without_a_source // no matching
    c::array_view<const int> x(4);
#endif
#ifdef FAIL_const_view_without_a_source_extent // no matching
    c::array_view<const int, 2> x(c::extent<2>(4, 4));
#endif
#ifdef FAIL_write_const_view // read-only|not assignable|cannot assign
    cv[0] = 1;
#endif
#ifdef FAIL_write_const_view_data // read-only|not assignable|cannot assign
    cv.data()[0] = 1;
#endif
#ifdef FAIL_write_const_array // read-only|not assignable|cannot assign
    ca[c::index<1>(0)] = 1;
#endif
#ifdef FAIL_discard_const_view // no member named [^d]*discard_data
    cv.discard_data();
#endif
#ifdef FAIL_synchronize_const_view // no matching|too many arguments
    cv.synchronize(c::access_type_read);
#endif
#ifdef FAIL_view_extent_assigned // passing .const|no viable overloaded|discards qualifiers|read-only
    v.extent = c::extent<1>(4);
#endif
#ifdef FAIL_array_extent_component // read-only|not assignable|cannot assign|lvalue required
    a.extent[0] = 4;
#endif
#ifdef FAIL_array_accelerator_view_assigned // passing .const|no viable overloaded|discards qualifiers
    a.accelerator_view = target;
#endif
#ifdef FAIL_source_view_assigned // passing .const|no viable overloaded|discards qualifiers|no match
    v.source_accelerator_view = target;
#endif
    // Views of views.
#ifdef FAIL_view_as_of_rank_2 // view_as needs an array_view of rank 1
    v2.view_as(c::extent<1>(4));
#endif
#ifdef FAIL_reinterpret_as_of_rank_2 // reinterpret_as needs an array_view of rank 1
    v2.reinterpret_as<float>();
#endif
#ifdef FAIL_reinterpret_as_char // must not be char, short or bool
    v.reinterpret_as<char>();
#endif
#ifdef FAIL_reinterpret_array_as_short // must not be char, short or bool
    a2.reinterpret_as<short>();
#endif
#ifdef FAIL_reinterpret_as_pointer // must not be pointers
    v.reinterpret_as<float *>();
#endif
#ifdef FAIL_data_of_rank_2 // data.. needs an array_view of rank 1
    v2.data();
#endif
#ifdef FAIL_section_two_numbers // section.i0, e0. needs an array_view of rank 1
    v2.section(0, 1);
#endif
#ifdef FAIL_section_four_numbers // section.i0, i1, e0, e1. needs an array_view of rank 2
    v.section(0, 1, 2, 3);
#endif
#ifdef FAIL_section_six_numbers // section.i0, i1, i2, e0, e1, e2. needs an array_view of rank 3
    a2.section(0, 1, 2, 3, 4, 5);
#endif
#ifdef FAIL_section_other_index // no matching
    v.section(c::index<2>(0, 0));
#endif
#ifdef FAIL_element_two_numbers // two numbers index only an array_view of rank 2
    v(0, 1);
#endif
#ifdef FAIL_element_three_numbers // three numbers index only an array_view of rank 3
    v2(0, 1, 2);
#endif
#ifdef FAIL_array_element_two_numbers // from two numbers only if its rank is 2
    a(0, 1);
#endif
#ifdef FAIL_element_other_index // no match|no viable
    v2[c::index<1>(0)];
#endif
    // Launches.
#ifdef FAIL_kernel_of_other_rank // must take an index<N> in a launch over an extent<N>
    c::parallel_for_each(c::extent<1>(4), [](c::index<2>) {});
#endif
#ifdef FAIL_kernel_of_tiles_without_tiles // must take an index<N> in a launch over an extent<N>
    c::parallel_for_each(c::extent<1>(4), [](c::tiled_index<2>) {});
#endif
#ifdef FAIL_kernel_of_other_tiles // a tiled_index in a launch over a tiled_extent
    c::parallel_for_each(c::extent<1>(4).tile<4>(), [](c::tiled_index<2>) {});
#endif
#ifdef FAIL_kernel_without_parameter // must take an index<N> in a launch over an extent<N>
    c::parallel_for_each(c::extent<1>(4), [] {});
#endif
#ifdef FAIL_kernel_of_number // must take an index<N> in a launch over an extent<N>
    c::parallel_for_each(c::extent<1>(4), [](int) {});
#endif
#ifdef FAIL_kernel_with_result // must return void
    c::parallel_for_each(c::extent<1>(4), [](c::index<1> i) { return i[0]; });
#endif
#ifdef FAIL_kernel_with_virtual // must not have virtual functions
    c::parallel_for_each(c::extent<1>(4), virtual_kernel());
#endif
#ifdef FAIL_kernel_not_callable // must take an index<N> in a launch over an extent<N>
    c::parallel_for_each(c::extent<1>(4), 3);
#endif
#ifdef FAIL_launch_of_number // no matching
    c::parallel_for_each(4, [](c::index<1>) {});
#endif
#ifdef FAIL_launch_view_second // no matching|is called with the index<N>
    c::parallel_for_each(c::extent<1>(4), target, [](c::index<1>) {});
#endif
#ifdef FAIL_launch_tile_too_large // 1024
    c::parallel_for_each(c::extent<2>(64, 64).tile<64, 64>(), [](c::tiled_index<64, 64>) {});
#endif
#ifdef FAIL_launch_3d_tile_too_large // 64
    c::parallel_for_each(c::extent<3>(65, 1, 1).tile<65, 1, 1>(), [](c::tiled_index<65, 1, 1>) {});
#endif
    // SPIR-V kernels.
#ifdef FAIL_spirv_pointer // a pointer cannot be an argument of a SPIR-V kernel
    c::parallel_for_each(target, c::extent<1>(4), spirv, pointer);
#endif
#ifdef FAIL_spirv_container // an array, or a trivially copyable value
    c::parallel_for_each(target, c::extent<1>(4), spirv, floats);
#endif
#ifdef FAIL_spirv_bool // a bool cannot be an argument of a SPIR-V kernel
    c::parallel_for_each(target, c::extent<1>(4), spirv, true);
#endif
#ifdef FAIL_spirv_short // must not be char or short
    c::parallel_for_each(target, c::extent<1>(4), spirv, short(1));
#endif
}
