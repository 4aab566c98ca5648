// Each FAIL_ case must not compile, and its error must match the comment. Without a case, the file compiles.
#include <amp.h>
#include <amp_graphics.h>

#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

void cases(texture<float, 2> &f, const texture<float, 2> &constant, texture<float_4, 2> &f4, texture<int, 1> &row,
           texture<unorm, 2> &u, texture<double, 1> &d, texture<float, 3> &volume, std::vector<float> &v) {
    const texture_view<const float, 2> ro(f);
    const texture_view<const int, 1> ro_row(row);
    const texture_view<const float, 3> ro_volume(volume);
    const texture_view<float_4, 2> rw4(f4);
    const texture_view<float, 2> rw(f);
    const texture_view<unorm, 2> rw_unorm(u);
    (void)constant, (void)d, (void)v, (void)ro, (void)ro_row, (void)ro_volume, (void)rw4, (void)rw, (void)rw_unorm;
    const index<2> at;
    const float_2 middle(0.5f);
    (void)at, (void)middle;
#ifdef FAIL_TEX_2_rank // the rank of a texture must be 1, 2 or 3
    texture<float, 4> t(extent<4>{});
#endif
#ifdef FAIL_TEX_2_rank_0 // the rank of a texture must be 1, 2 or 3
    (void)sizeof(texture<float, 0>);
#endif
#ifdef FAIL_TEX_2_rank_of_view // the rank of a texture must be 1, 2 or 3
    (void)sizeof(texture_view<const float, 4>);
#endif
#ifdef FAIL_TEX_2_unorm_3 // the type of a texel must be int, unsigned int, float
    texture<unorm_3, 1> t(4, 8U);
#endif
#ifdef FAIL_TEX_2_view_of_struct // the type of a texel must be int, unsigned int, float
    struct pair {
        int a, b;
    };
    (void)sizeof(writeonly_texture_view<pair, 1>);
#endif
#ifdef FAIL_TEX_2_element // the type of a texel must be int, unsigned int, float
    texture<short, 1> t(4, 8U);
#endif
#ifdef FAIL_TEX_2_double_4 // the type of a texel must be int, unsigned int, float
    texture<double_4, 1> t(4);
#endif
#ifdef FAIL_TEX_4_extent_alone // has no default bits_per_scalar_element. pass 8 or 16
    texture<unorm_4, 2> t(4, 4);
#endif
#ifdef FAIL_TEX_4_iterators // has no default bits_per_scalar_element. pass 8 or 16
    std::vector<norm> values(4);
    texture<norm, 1> t(4, values.begin(), values.end());
#endif
#ifdef FAIL_TEX_17_one_number // a single number indexes only textures of rank 1
    f(1);
#endif
#ifdef FAIL_TEX_17_subscript // a single number indexes only textures of rank 1
    ro[1];
#endif
#ifdef FAIL_TEX_17_three_numbers // three numbers index only textures of rank 3
    ro(1, 2, 3);
#endif
#ifdef FAIL_TEX_19_vector // texture::set writes only texels of int, unsigned int and float
    f4.set(at, float_4());
#endif
#ifdef FAIL_TEX_19_unorm // texture::set writes only texels of int, unsigned int and float
    u.set(at, unorm());
#endif
#ifdef FAIL_TEX_19_double // texture::set writes only texels of int, unsigned int and float
    d.set(index<1>(), 1.0);
#endif
#ifdef FAIL_set_of_const // discards qualifiers|not marked const
    constant.set(at, 1.0f);
#endif
#ifdef FAIL_TEX_23_vector // reads only texels of int, unsigned int and float
    rw4[at];
#endif
#ifdef FAIL_TEX_23_unorm // reads only texels of int, unsigned int and float
    rw_unorm.get(at);
#endif
#ifdef FAIL_assigned_texel // lvalue required|not assignable
    f[at] = 1.0f;
#endif
#ifdef FAIL_TEX_40_writable_of_read_only // cannot bind|no matching con
    texture_view<float, 2> w(ro);
#endif
#ifdef FAIL_TEX_40_writable_of_const // discards qualifiers|no matching con
    texture_view<float, 2> w(constant);
#endif
#ifdef FAIL_TEX_44_sample // only textures of float, norm and unorm can be sampled
    ro_row.sample(0.5f);
#endif
#ifdef FAIL_TEX_44_gather // only textures of float, norm and unorm can be sampled
    texture<int, 2> t(4, 4);
    texture_view<const int, 2>(t).gather_red(middle);
#endif
#ifdef FAIL_TEX_45_rank // gather needs a texture of rank 2
    ro_volume.gather_green(sampler(), float_3(0.5f));
#endif
#ifdef FAIL_TEX_55_border // a predefined sampler must be address_wrap, address_mirror or address_clamp
    ro.sample<filter_point, address_border>(middle);
#endif
#ifdef FAIL_TEX_55_border_gather // a predefined sampler must be address_wrap, address_mirror or address_clamp
    ro.gather_red<address_border>(middle);
#endif
#ifdef FAIL_TEX_61_unorm_in // textures of norm and unorm cannot be copied by iterators
    std::vector<unorm> values(4);
    copy(values.begin(), values.end(), u);
#endif
#ifdef FAIL_TEX_65_rank // textures of different rank cannot be copied to each other
    copy(f, volume);
#endif
#ifdef FAIL_TEX_65_rank_of_section // no matching function|different rank
    copy(f, at, volume, index<3>(), extent<2>(1, 1));
#endif
#ifdef FAIL_TEX_65_rank_of_copy_to // no matching (member )?function|cannot bind|could not convert
    f.copy_to(volume);
#endif
#ifdef FAIL_TEX_67_read_only // is read-only. copy to the texture, or to a texture_view
    copy(v.begin(), v.end(), ro);
#endif
#ifdef FAIL_TEX_67_read_only_pair // is read-only. copy to the texture, or to a texture_view
    copy(f, ro);
#endif
#ifdef FAIL_TEX_70_row // row_pitch needs a texture of rank 2 or 3
    row.get_row_pitch();
#endif
#ifdef FAIL_TEX_70_depth // depth_pitch needs a texture of rank 3
    f.get_depth_pitch();
#endif
#ifdef FAIL_TEX_70_row_property // no member named .*row_pitch
    (void)row.row_pitch;
#endif
#ifdef FAIL_TEX_70_depth_property // no member named .*depth_pitch
    (void)f.depth_pitch;
#endif
#ifdef FAIL_TEX_30_texture_as_element_of_a_view // must not be textures or views of textures
    array_view<texture<float, 2>, 1> a(4);
#endif
#ifdef FAIL_TEX_30_written_view_as_element // must not be textures or views of textures
    array<writeonly_texture_view<float, 2>, 1> a(4);
#endif
#ifdef FAIL_TEX_30_read_view_as_element // must not be textures or views of textures
    array<texture_view<const float, 2>, 1> a(4);
#endif
#ifdef FAIL_TEX_30_element_of_array // must not be textures or views of textures
    array<texture<float, 2>, 1> a(4);
#endif
#ifdef FAIL_TEX_30_view_as_element // must not be textures or views of textures
    array_view<texture_view<float, 2>, 1> a(4);
#endif
#ifdef FAIL_interop // make_texture: revamp has no Direct3D
    concurrency::graphics::direct3d::make_texture<float, 2>(f.accelerator_view, nullptr);
#endif
}
