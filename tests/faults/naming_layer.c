/* A Vulkan layer that writes the names of Vulkan objects to the file that REVAMP_NAMES names, as a tool such as
 * RenderDoc would receive them. A line has the type of the object (VkObjectType) and the name. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>

static PFN_vkSetDebugUtilsObjectNameEXT next_name;

static void add_line(int type, const char *name) {
    const char *path = getenv("REVAMP_NAMES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) abort();
    fprintf(file, "%d %s\n", type, name ? name : "");
    fclose(file);
}

static VKAPI_ATTR VkResult VKAPI_CALL noted_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info) {
    add_line((int)info->objectType, info->pObjectName);
    return next_name ? next_name(device, info) : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL noted_messenger(VkInstance instance,
                                                      const VkDebugUtilsMessengerCreateInfoEXT *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkDebugUtilsMessengerEXT *messenger) {
    (void)instance, (void)info, (void)allocator, (void)messenger;
    add_line(VK_OBJECT_TYPE_DEBUG_UTILS_MESSENGER_EXT, "created");
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult layer_may_create_instance(void) {
    return VK_SUCCESS;
}
VkResult layer_may_create_device(void) {
    return VK_SUCCESS;
}

PFN_vkVoidFunction layer_function_of_device(PFN_vkVoidFunction found, const char *name) {
    (void)name;
    return found;
}

/* VK_EXT_debug_utils is an extension of instances, so the loader asks for all its functions here. */
PFN_vkVoidFunction layer_function_of_instance(PFN_vkVoidFunction found, const char *name) {
    if (!strcmp(name, "vkCreateDebugUtilsMessengerEXT")) return (PFN_vkVoidFunction)noted_messenger;
    if (strcmp(name, "vkSetDebugUtilsObjectNameEXT")) return found;
    next_name = (PFN_vkSetDebugUtilsObjectNameEXT)found;
    return (PFN_vkVoidFunction)noted_name;
}
