// revamp: accelerator_views, arrays and textures shared with Vulkan (docs/interop.md), over <revamp_vulkan.h>. Replaces
// the Direct3D interop of C++ AMP: create_accelerator_view, get_device, make_array, get_buffer, make_texture,
// get_texture. Needs Vulkan's headers.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_VULKAN_CPP_H
#define REVAMP_VULKAN_CPP_H

#include "detail/array.h"
#include "detail/texture.h"

#include <revamp_vulkan.h>

namespace revamp {
namespace vulkan {

// The features and extensions that a VkDevice on this accelerator needs.
inline revamp_vulkan_device_requirements get_device_requirements(const Concurrency::accelerator &accelerator) {
    revamp_vulkan_device_requirements info = {};
    info.struct_size = sizeof info;
    detail::check(revamp_vulkan_get_device_requirements(detail::access::native(accelerator), &info));
    return info;
}

// Makes an accelerator_view on a VkDevice of the program. The VkDevice must outlive the accelerator_view.
inline Concurrency::accelerator_view
create_accelerator_view(revamp_vulkan_device_info device,
                        Concurrency::queuing_mode mode = Concurrency::queuing_mode_automatic) {
    detail::check_library();
    device.struct_size = sizeof device;
    revamp_accelerator_view view = nullptr;
    detail::check(revamp_vulkan_create_view(&device, static_cast<revamp_queuing_mode>(mode), &view));
    return detail::access::adopt(view);
}

// The VkInstance, VkPhysicalDevice, VkDevice and VkQueue of an accelerator_view. The result has no list of queue
// families.
inline revamp_vulkan_view_info get_view_info(const Concurrency::accelerator_view &view) {
    revamp_vulkan_view_info info = {};
    info.struct_size = sizeof info;
    detail::check(revamp_vulkan_get_view_info(detail::access::native(view), &info));
    return info;
}

// While a queue_lock exists, no other thread submits to queues of the VkDevice of an accelerator_view.
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
    int extent_storage[N];
    revamp_array created = nullptr;
    detail::check(revamp_vulkan_create_array(detail::access::native(view), &buffer, N,
                                             detail::views::values(extent, extent_storage), sizeof(T), &created));
    return detail::array_access::adopt<T>(extent, created, view);
}

// The VkBuffer of an array.
template <class T, int N> revamp_vulkan_array_info get_buffer(const Concurrency::array<T, N> &array) {
    revamp_vulkan_array_info info = {};
    info.struct_size = sizeof info;
    detail::check(revamp_vulkan_get_array_buffer(detail::array_access::handle(array), &info));
    return info;
}

// Hands the array to the program, which may use it once the returned point is reached. That point is on the semaphore
// of `point`, or on a semaphore of the accelerator_view if `point` has none.
template <class T, int N>
revamp_vulkan_point signal(const Concurrency::array<T, N> &array, revamp_access access,
                           revamp_vulkan_point point = {}) {
    detail::check(revamp_vulkan_signal_array(detail::array_access::handle(array), access, &point));
    return point;
}

// Makes all later uses of the array wait for `point`, which the program signals.
template <class T, int N>
void wait(const Concurrency::array<T, N> &array, revamp_access access, const revamp_vulkan_point &point) {
    detail::check(revamp_vulkan_wait_array(detail::array_access::handle(array), access, &point));
}

// A texture whose texels lie in a VkImage of the program. The image must have this extent, this number of levels
// (0: all), and the format of T with this number of bits (0: the default of T).
template <class T, int N>
Concurrency::graphics::texture<T, N>
make_texture(const Concurrency::extent<N> &extent, const Concurrency::accelerator_view &view,
             revamp_vulkan_image_info image, unsigned bits = 0, unsigned levels = 1) {
    image.struct_size = sizeof image;
    int extent_storage[N];
    const revamp_texture_options options = detail::texture_access::options<T>(extent, extent_storage, bits, levels);
    revamp_texture created = nullptr;
    detail::check(revamp_vulkan_create_texture(detail::access::native(view), &image, &options, &created));
    return detail::texture_access::adopt<T>(extent, created, view);
}

// A texture that is stored as a VkImage of the library.
template <class T, int N>
Concurrency::graphics::texture<T, N> make_texture(const Concurrency::extent<N> &extent,
                                                  const Concurrency::accelerator_view &view, unsigned bits = 0,
                                                  unsigned levels = 1) {
    int extent_storage[N];
    revamp_texture_options options = detail::texture_access::options<T>(extent, extent_storage, bits, levels);
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    revamp_texture created = nullptr;
    detail::check(revamp_texture_create(detail::access::native(view), &options, &created));
    return detail::texture_access::adopt<T>(extent, created, view);
}

// The VkImage of a texture that is stored as an image.
template <class T, int N> revamp_vulkan_texture_info get_image(const Concurrency::graphics::texture<T, N> &texture) {
    revamp_vulkan_texture_info info = {};
    info.struct_size = sizeof info;
    detail::check(revamp_vulkan_get_texture_image(detail::texture_access::handle(texture), &info));
    return info;
}

// Like signal() and wait() for arrays, but for textures that are stored as images.
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

// An array whose memory other devices, processes and interfaces can import.
template <class T, int N>
Concurrency::array<T, N> make_exportable_array(const Concurrency::extent<N> &extent,
                                               const Concurrency::accelerator_view &view) {
    int extent_storage[N];
    revamp_array created = nullptr;
    detail::check(revamp_vulkan_create_exportable_array(
        detail::access::native(view), N, detail::views::values(extent, extent_storage), sizeof(T), nullptr, &created));
    return detail::array_access::adopt<T>(extent, created, view);
}

// A new file descriptor of an exportable array. The program closes it or passes it to an import.
template <class T, int N> revamp_vulkan_shared_memory export_array(const Concurrency::array<T, N> &array) {
    revamp_vulkan_shared_memory info = {};
    info.struct_size = sizeof info;
    detail::check(revamp_vulkan_export_array(detail::array_access::handle(array), &info));
    return info;
}

// An array over exported memory. Takes ownership of the file descriptor, unless it throws.
template <class T, int N>
Concurrency::array<T, N> import_array(const Concurrency::extent<N> &extent, const Concurrency::accelerator_view &view,
                                      revamp_vulkan_shared_memory memory) {
    memory.struct_size = sizeof memory;
    int extent_storage[N];
    revamp_array created = nullptr;
    detail::check(revamp_vulkan_import_array(detail::access::native(view), &memory, N,
                                             detail::views::values(extent, extent_storage), sizeof(T), &created));
    return detail::array_access::adopt<T>(extent, created, view);
}

} // namespace vulkan
} // namespace revamp

#endif // REVAMP_VULKAN_CPP_H
