// revamp: accelerator_views, arrays and textures shared with Vulkan (docs/interop.md), over <revamp_vulkan.h>. What
// Direct3D interop was: create_accelerator_view, get_device, make_array, get_buffer, make_texture, get_texture. Needs
// Vulkan's headers.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_VULKAN_CPP_H
#define REVAMP_VULKAN_CPP_H

#include "detail/array.h"
#include "detail/texture.h"

#include <revamp_vulkan.h>

namespace revamp {
namespace vulkan {

// What a VkDevice on this accelerator needs.
inline revamp_vulkan_device_requirements get_device_requirements(const Concurrency::accelerator &accelerator) {
    revamp_vulkan_device_requirements found = {};
    found.struct_size = sizeof found;
    detail::check(revamp_vulkan_get_device_requirements(detail::access::native(accelerator), &found));
    return found;
}

// A view on a VkDevice of the program, which outlives it.
inline Concurrency::accelerator_view
create_accelerator_view(revamp_vulkan_device_info device,
                        Concurrency::queuing_mode mode = Concurrency::queuing_mode_automatic) {
    detail::check_library();
    device.struct_size = sizeof device;
    revamp_accelerator_view view = nullptr;
    detail::check(revamp_vulkan_create_view(&device, static_cast<revamp_queuing_mode>(mode), &view));
    return detail::access::adopt(view);
}

// The VkInstance, VkPhysicalDevice, VkDevice and VkQueue of a view, without the list of families.
inline revamp_vulkan_view_info get_view_info(const Concurrency::accelerator_view &view) {
    revamp_vulkan_view_info found = {};
    found.struct_size = sizeof found;
    detail::check(revamp_vulkan_get_view_info(detail::access::native(view), &found));
    return found;
}

// As long as it lives, no other thread submits to queues of the view's VkDevice.
class queue_lock {
    const Concurrency::accelerator_view m_view;

  public:
    explicit queue_lock(const Concurrency::accelerator_view &view) : m_view(view) {
        detail::check(revamp_vulkan_lock_queue(detail::access::native(view)));
    }
    ~queue_lock() { (void)revamp_vulkan_unlock_queue(detail::access::native(m_view)); }
    queue_lock(const queue_lock &) = delete;
    queue_lock &operator=(const queue_lock &) = delete;
};

// An array whose elements lie in a VkBuffer of the program.
template <class T, int N>
Concurrency::array<T, N> make_array(const Concurrency::extent<N> &extent, const Concurrency::accelerator_view &view,
                                    revamp_vulkan_buffer_info buffer) {
    buffer.struct_size = sizeof buffer;
    int room[N];
    revamp_array made = nullptr;
    detail::check(revamp_vulkan_create_array(detail::access::native(view), &buffer, N,
                                             detail::views::values(extent, room), sizeof(T), &made));
    return detail::array_access::adopt<T>(extent, made, view);
}

// The VkBuffer of an array.
template <class T, int N> revamp_vulkan_array_info get_buffer(const Concurrency::array<T, N> &array) {
    revamp_vulkan_array_info found = {};
    found.struct_size = sizeof found;
    detail::check(revamp_vulkan_get_array_buffer(detail::array_access::handle(array), &found));
    return found;
}

// Lets the program use the array; the point is reached when it may. A semaphore of the program is signalled, if it is
// given.
template <class T, int N>
revamp_vulkan_point signal(const Concurrency::array<T, N> &array, revamp_access access,
                           revamp_vulkan_point point = {}) {
    detail::check(revamp_vulkan_signal_array(detail::array_access::handle(array), access, &point));
    return point;
}

// All later uses of the array wait for a point of the program.
template <class T, int N>
void wait(const Concurrency::array<T, N> &array, revamp_access access, const revamp_vulkan_point &point) {
    detail::check(revamp_vulkan_wait_array(detail::array_access::handle(array), access, &point));
}

// A texture whose texels lie in a VkImage of the program, which was made with this extent and number of levels, and the
// format of T and the bits (0: the default of T). `levels`: 0 for all.
template <class T, int N>
Concurrency::graphics::texture<T, N>
make_texture(const Concurrency::extent<N> &extent, const Concurrency::accelerator_view &view,
             revamp_vulkan_image_info image, unsigned bits = 0, unsigned levels = 1) {
    image.struct_size = sizeof image;
    int room[N];
    const revamp_texture_options options = detail::texture_access::options<T>(extent, room, bits, levels);
    revamp_texture made = nullptr;
    detail::check(revamp_vulkan_create_texture(detail::access::native(view), &image, &options, &made));
    return detail::texture_access::adopt<T>(extent, made, view);
}

// A texture that is stored as a VkImage of the library.
template <class T, int N>
Concurrency::graphics::texture<T, N> make_texture(const Concurrency::extent<N> &extent,
                                                  const Concurrency::accelerator_view &view, unsigned bits = 0,
                                                  unsigned levels = 1) {
    int room[N];
    revamp_texture_options options = detail::texture_access::options<T>(extent, room, bits, levels);
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    revamp_texture made = nullptr;
    detail::check(revamp_texture_create(detail::access::native(view), &options, &made));
    return detail::texture_access::adopt<T>(extent, made, view);
}

// The VkImage of a texture that is stored as one.
template <class T, int N> revamp_vulkan_texture_info get_image(const Concurrency::graphics::texture<T, N> &texture) {
    revamp_vulkan_texture_info found = {};
    found.struct_size = sizeof found;
    detail::check(revamp_vulkan_get_texture_image(detail::texture_access::handle(texture), &found));
    return found;
}

// As for arrays, with textures that are stored as images.
template <class T, int N>
revamp_vulkan_point signal(const Concurrency::graphics::texture<T, N> &texture, revamp_access access,
                           revamp_vulkan_point point = {}) {
    detail::check(revamp_vulkan_signal_texture(detail::texture_access::handle(texture), access, &point));
    return point;
}
template <class T, int N>
void wait(const Concurrency::graphics::texture<T, N> &texture, revamp_access access, const revamp_vulkan_point &point) {
    detail::check(revamp_vulkan_wait_texture(detail::texture_access::handle(texture), access, &point));
}

// An array whose memory others can import.
template <class T, int N>
Concurrency::array<T, N> make_exportable_array(const Concurrency::extent<N> &extent,
                                               const Concurrency::accelerator_view &view) {
    int room[N];
    revamp_array made = nullptr;
    detail::check(revamp_vulkan_create_exportable_array(
        detail::access::native(view), N, detail::views::values(extent, room), sizeof(T), nullptr, &made));
    return detail::array_access::adopt<T>(extent, made, view);
}

// A new file descriptor of such an array, which the program closes or gives to an import.
template <class T, int N> revamp_vulkan_shared_memory export_array(const Concurrency::array<T, N> &array) {
    revamp_vulkan_shared_memory found = {};
    found.struct_size = sizeof found;
    detail::check(revamp_vulkan_export_array(detail::array_access::handle(array), &found));
    return found;
}

// An array over memory that others have exported; takes the file descriptor.
template <class T, int N>
Concurrency::array<T, N> import_array(const Concurrency::extent<N> &extent, const Concurrency::accelerator_view &view,
                                      revamp_vulkan_shared_memory memory) {
    memory.struct_size = sizeof memory;
    int room[N];
    revamp_array made = nullptr;
    detail::check(revamp_vulkan_import_array(detail::access::native(view), &memory, N,
                                             detail::views::values(extent, room), sizeof(T), &made));
    return detail::array_access::adopt<T>(extent, made, view);
}

} // namespace vulkan
} // namespace revamp

#endif // REVAMP_VULKAN_CPP_H
