// C++ AMP: graphics. Short vectors, norm and unorm, textures, their views, samplers and copies.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_AMP_GRAPHICS_H
#define REVAMP_AMP_GRAPHICS_H

#include "amp.h"
#include "amp_short_vectors.h"
#include "revamp/detail/sampler.h"
#include "revamp/detail/texture.h"
#include "revamp/detail/texture_copy.h"

REVAMP_NAMESPACE_BEGIN
namespace graphics {

namespace direct3d {

template <class... Arguments> void *get_texture(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<Arguments...>,
                  "get_texture: revamp has no Direct3D; call revamp::vulkan::get_image() of <revamp/vulkan.hpp> to get "
                  "a VkImage");
    __builtin_unreachable();
}
template <class... Arguments> void *get_sampler(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<Arguments...>, "get_sampler: revamp has no Direct3D");
    __builtin_unreachable();
}
template <class T, int N, class... Arguments> texture<T, N> make_texture(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<T, Arguments...>,
                  "make_texture: revamp has no Direct3D, so there is no Direct3D texture to use; call "
                  "revamp::vulkan::make_texture() of <revamp/vulkan.hpp> for a VkImage");
    __builtin_unreachable();
}
template <class... Arguments> void make_sampler(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<Arguments...>,
                  "make_sampler: revamp has no Direct3D, so there is no Direct3D sampler to use; construct a "
                  "concurrency::graphics::sampler");
}

} // namespace direct3d

} // namespace graphics

namespace direct3d {
using graphics::direct3d::msad4;
}
REVAMP_NAMESPACE_END

#endif // REVAMP_AMP_GRAPHICS_H
