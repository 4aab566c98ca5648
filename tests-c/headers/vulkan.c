/* Tests that revamp_vulkan.h compiles with no header before it, and the layout of its structs (see layout.c). */
#include <revamp_vulkan.h>

#if defined(__x86_64__) && (defined(__LP64__) || defined(_WIN64))
#define SIZE(type, bytes) typedef char size_of_##type[sizeof(type) == (bytes) ? 1 : -1]
#define AT(type, field, bytes) typedef char type##_##field[offsetof(type, field) == (bytes) ? 1 : -1]

SIZE(revamp_vulkan_device_requirements, 64);
AT(revamp_vulkan_device_requirements, optional_features, 24);
AT(revamp_vulkan_device_requirements, api_version, 44);
AT(revamp_vulkan_device_requirements, graphics_queue_family_index, 60);
SIZE(revamp_vulkan_device_info, 112);
AT(revamp_vulkan_device_info, queue_family_index, 48);
AT(revamp_vulkan_device_info, get_instance_proc_addr, 72);
AT(revamp_vulkan_device_info, context, 104);
SIZE(revamp_vulkan_view_info, 72);
AT(revamp_vulkan_view_info, is_of_program, 52);
AT(revamp_vulkan_view_info, sharing_family_count, 64);
SIZE(revamp_vulkan_buffer_info, 56);
AT(revamp_vulkan_buffer_info, release, 40);
SIZE(revamp_vulkan_array_info, 40);
SIZE(revamp_vulkan_image_info, 56);
AT(revamp_vulkan_image_info, layout, 24);
AT(revamp_vulkan_image_info, release, 32);
AT(revamp_vulkan_image_info, flags, 48);
SIZE(revamp_vulkan_texture_info, 32);
SIZE(revamp_vulkan_point, 16);
SIZE(revamp_vulkan_shared_memory, 64);
AT(revamp_vulkan_shared_memory, device_uuid, 41);
#endif

typedef int no_empty_unit;
