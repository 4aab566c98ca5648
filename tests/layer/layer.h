/* What every Vulkan layer begins with: its links in the loader's chains, for one instance and one device at a time. A
 * layer is layer.c and a file that defines the functions below (layer.cmake). */
#ifndef LAYER_H
#define LAYER_H

#include <string.h>
#include <vulkan/vk_layer.h>

/* The next layer's functions, or the driver's. */
extern PFN_vkGetDeviceProcAddr device_functions;
extern VkDevice the_device;

/* Asked before the next vkCreateInstance or vkCreateDevice: anything but VK_SUCCESS is what the call gives. */
VkResult layer_may_create_instance(void);
VkResult layer_may_create_device(void);

/* The function of this name of the layer, or `found`, the next one's. */
PFN_vkVoidFunction layer_function_of_instance(PFN_vkVoidFunction found, const char *name);
PFN_vkVoidFunction layer_function_of_device(PFN_vkVoidFunction found, const char *name);

#endif
