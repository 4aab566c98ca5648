// revamp: sampler (rules TEX-46 to TEX-59).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_SAMPLER_H
#define REVAMP_DETAIL_SAMPLER_H

#include "../../amp_short_vectors.h"
#include "config.h"
#include "exceptions.h"
#include "texels.h"

#include <new>

REVAMP_NAMESPACE_BEGIN
namespace graphics {

// The parameters for sampling a texture. The object is a plain value, without a handle.
class sampler {
  public:
    const Concurrency::graphics::filter_mode filter_mode;
    const Concurrency::graphics::address_mode address_mode;
    const float_4 border_color;

    sampler() : sampler(filter_linear, address_clamp) {}
    sampler(Concurrency::graphics::filter_mode filter) : sampler(filter, address_clamp) {}
    sampler(Concurrency::graphics::address_mode address, float_4 border = float_4(0.0f))
        : sampler(filter_linear, address, border) {}
    sampler(Concurrency::graphics::filter_mode filter, Concurrency::graphics::address_mode address,
            float_4 border = float_4(0.0f))
        : filter_mode(filter), address_mode(address), border_color(border) {
        if (filter != filter_point && filter != filter_linear) reject("filter_mode", "filter_point or filter_linear");
        if (address < address_wrap || address > address_border)
            reject("address_mode", "address_wrap, address_mirror, address_clamp or address_border");
    }
    sampler(const sampler &) = default;
    REVAMP_HD sampler &operator=(const sampler &other) {
        // The members are const because they are read-only properties.
        const_cast<Concurrency::graphics::filter_mode &>(filter_mode) = other.filter_mode;
        const_cast<Concurrency::graphics::address_mode &>(address_mode) = other.address_mode;
        const_cast<float_4 &>(border_color) = other.border_color;
        return *this;
    }

    REVAMP_HD Concurrency::graphics::filter_mode get_filter_mode() const { return filter_mode; }
    REVAMP_HD Concurrency::graphics::address_mode get_address_mode() const { return address_mode; }
    REVAMP_HD float_4 get_border_color() const { return border_color; }

  private:
    [[noreturn]] static void reject(const char *what, const char *known) {
        throw runtime_exception((std::string("unknown ") + what + " of a sampler; use " + known).c_str(),
                                revamp::detail::failed);
    }
};

} // namespace graphics
REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

REVAMP_HD inline sampling sampling_by(const Concurrency::graphics::sampler &sampler) {
    const Concurrency::graphics::float_4 &border = sampler.border_color;
    return {sampler.filter_mode, sampler.address_mode, {border.x, border.y, border.z, border.w}};
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_SAMPLER_H
