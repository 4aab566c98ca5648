/* The interface between layer.c and a test layer. layer.c links the layer into the Vulkan loader's chains of layers,
 * for one instance and one device at a time. The layer defines the four functions below. layer.cmake builds a layer. */
#ifndef LAYER_H
#define LAYER_H

#include <string.h>
#include <vulkan/vk_layer.h>

/* Returns the device functions of the next layer, or of the driver if there is no next layer. */
extern PFN_vkGetDeviceProcAddr device_functions;
extern VkDevice the_device;

/* layer.c calls these functions before the next layer's vkCreateInstance and vkCreateDevice. If the result is not
 * VK_SUCCESS, layer.c returns it to the program, and does not call the next layer. */
VkResult layer_may_create_instance(void);
VkResult layer_may_create_device(void);

/* Returns the test layer's function of this name. If there is none, returns `next`, the next layer's function. */
PFN_vkVoidFunction layer_function_of_instance(PFN_vkVoidFunction next, const char *name);
PFN_vkVoidFunction layer_function_of_device(PFN_vkVoidFunction next, const char *name);

#endif
