// Functions for Direct3D objects must not compile, and the error must say why (docs/spec/maths.md#direct3d). See
// revamp_cpp_rejections() in ../CMakeLists.txt.
#include <amp.h>
#include <amp_graphics.h>

namespace c = concurrency;
namespace d = concurrency::direct3d;
namespace g = concurrency::graphics::direct3d;

void cases(c::accelerator &accelerator, c::accelerator_view &view, c::array<int> &a, IUnknown *unknown) {
    (void)a;
    (void)unknown;
    (void)d::create_accelerator_view(accelerator, true);
    (void)d::is_timeout_disabled(view);
#ifdef FAIL_create_accelerator_view // revamp has no Direct3D; use accelerator::create_view
    (void)d::create_accelerator_view(unknown);
#endif
#ifdef FAIL_create_accelerator_view_with_mode // revamp has no Direct3D; use accelerator::create_view
    (void)d::create_accelerator_view(unknown, c::queuing_mode_immediate);
#endif
#ifdef FAIL_get_device // get_device: revamp has no Direct3D
    (void)d::get_device(view);
#endif
#ifdef FAIL_get_buffer // get_buffer: revamp has no Direct3D
    (void)d::get_buffer(a);
#endif
#ifdef FAIL_make_array // make_array: revamp has no Direct3D
    (void)d::make_array<int, 1>(a.extent, view, unknown);
#endif
#ifdef FAIL_d3d_access_lock // d3d_access_lock: revamp has no Direct3D
    d::d3d_access_lock(view);
#endif
#ifdef FAIL_d3d_access_try_lock // d3d_access_try_lock: revamp has no Direct3D
    (void)d::d3d_access_try_lock(view);
#endif
#ifdef FAIL_d3d_access_unlock // d3d_access_unlock: revamp has no Direct3D
    d::d3d_access_unlock(view);
#endif
#ifdef FAIL_scoped_d3d_access_lock // scoped_d3d_access_lock: revamp has no Direct3D
    d::scoped_d3d_access_lock lock(view);
#endif
#ifdef FAIL_scoped_d3d_access_lock_adopted // scoped_d3d_access_lock: revamp has no Direct3D
    d::scoped_d3d_access_lock lock(view, d::adopt_d3d_access_lock_t());
#endif
#ifdef FAIL_get_texture // get_texture: revamp has no Direct3D
    (void)g::get_texture(a);
#endif
#ifdef FAIL_get_sampler // get_sampler: revamp has no Direct3D
    (void)g::get_sampler(view, unknown);
#endif
#ifdef FAIL_make_texture // make_texture: revamp has no Direct3D
    (void)g::make_texture<int, 2>(view, unknown);
#endif
#ifdef FAIL_make_sampler // make_sampler: revamp has no Direct3D
    (void)g::make_sampler(unknown);
#endif
}
