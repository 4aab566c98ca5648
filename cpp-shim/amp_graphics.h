// C++ AMP: graphics. Short vectors, norm and unorm are complete; textures and samplers are not there yet: naming one of
// their classes is fine, using it does not compile.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_AMP_GRAPHICS_H
#define REVAMP_AMP_GRAPHICS_H

#include "amp.h"
#include "amp_short_vectors.h"

REVAMP_NAMESPACE_BEGIN
namespace graphics {

template <class T, int N> class texture {
    static_assert(N < 0 && N > 0, "revamp has no textures yet: use an array or array_view");
};
template <class T, int N> class texture_view {
    static_assert(N < 0 && N > 0, "revamp has no textures yet: use an array_view");
};
template <class T, int N> class writeonly_texture_view {
    static_assert(N < 0 && N > 0, "revamp has no textures yet: use an array_view");
};
class sampler;

namespace direct3d {

template <class... Arguments> void *get_texture(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<Arguments...>, "get_texture: revamp has no Direct3D");
    __builtin_unreachable();
}
template <class... Arguments> void *get_sampler(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<Arguments...>, "get_sampler: revamp has no Direct3D");
    __builtin_unreachable();
}
template <class T, int N, class... Arguments> texture<T, N> make_texture(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<T, Arguments...>,
                  "make_texture: revamp has no Direct3D, whose texture could become one");
    __builtin_unreachable();
}
template <class... Arguments> void make_sampler(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<Arguments...>,
                  "make_sampler: revamp has no Direct3D, whose sampler could become one");
}

} // namespace direct3d

} // namespace graphics
REVAMP_NAMESPACE_END

#endif // REVAMP_AMP_GRAPHICS_H
