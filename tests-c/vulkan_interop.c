/* Tests of objects that the library shares with a program that also calls Vulkan (docs/interop.md). If the validation
 * layer is installed, the program's instance enables it with synchronization checks, and any message fails the test. */
#include "failing_heap.h"
#include "support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <revamp_vulkan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

enum { ELEMENTS = 5000, BYTES = ELEMENTS * 4, OFFSET = 256 };

static unsigned messages;

static VKAPI_ATTR VkBool32 VKAPI_CALL record_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                     VkDebugUtilsMessageTypeFlagsEXT types,
                                                     const VkDebugUtilsMessengerCallbackDataEXT *data, void *context) {
    (void)types, (void)context;
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) {
        __atomic_add_fetch(&messages, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "validation: %s\n", data->pMessage);
    }
    return VK_FALSE;
}

#define VK(call)                                                                                                       \
    do {                                                                                                               \
        VkResult vk_result = call;                                                                                     \
        if (vk_result != VK_SUCCESS) {                                                                                 \
            check_fail(__FILE__, __LINE__, "%s: %d", #call, (int)vk_result);                                           \
            check_abandon();                                                                                           \
        }                                                                                                              \
    } while (0)

/* The Vulkan objects of the program. */
typedef struct {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDeviceQueueCreateInfo queues;
    VkDeviceCreateInfo device_create_info;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value;
    revamp_accelerator_view view;
    int released; /* the number of release calls */
    pthread_mutex_t lock;
    int lock_count;
} program;

static void count_release(void *context) {
    __atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
}

static bool reaches_soon(const int *number, int goal) {
    for (int i = 0; i < 5000 && __atomic_load_n(number, __ATOMIC_SEQ_CST) < goal; i++) {
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    return __atomic_load_n(number, __ATOMIC_SEQ_CST) == goal;
}

static bool has_layer(const char *name) {
    static VkLayerProperties all[64];
    uint32_t count = 64;
    vkEnumerateInstanceLayerProperties(&count, all);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(all[i].layerName, name)) return true;
    return false;
}

static void make_instance(program *p) {
    static const char *const layer = "VK_LAYER_KHRONOS_validation", *const extension = "VK_EXT_debug_utils";
    bool validates = has_layer(layer);
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkDebugUtilsMessengerCreateInfoEXT messenger = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                                                    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                                                       VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                                                    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                                                    .pfnUserCallback = record_message};
    VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .pNext = &messenger,
                                        .enabledValidationFeatureCount = 1,
                                        .pEnabledValidationFeatures = &synchronization};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validates ? &features : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validates,
                                 .ppEnabledLayerNames = &layer,
                                 .enabledExtensionCount = validates,
                                 .ppEnabledExtensionNames = &extension};
    VK(vkCreateInstance(&info, NULL, &p->instance));
    if (validates) {
        /* Keeps the layer loaded, because lsan.supp recognises the layer's leaks by its library name. */
        (void)dlopen("libVkLayer_khronos_validation.so", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
        PFN_vkCreateDebugUtilsMessengerEXT create =
            (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(p->instance, "vkCreateDebugUtilsMessengerEXT");
        VK(create(p->instance, &messenger, NULL, &p->messenger));
    }
}

/* The physical device of the accelerator, in the program's instance. */
static VkPhysicalDevice physical_of(VkInstance instance, const place *at) {
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    vkEnumeratePhysicalDevices(instance, &count, all);
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                                  .pNext = &id};
        vkGetPhysicalDeviceProperties2(all[i], &properties);
        char path[64] = "vulkan\\";
        for (int n = 0; n < 16; n++)
            sprintf(path + strlen(path), "%s%02x", n == 4 || n == 6 || n == 8 || n == 10 ? "-" : "", id.deviceUUID[n]);
        if (!strcmp(path, at->info.device_path)) return all[i];
    }
    check_fail(__FILE__, __LINE__, "the program's VkInstance does not list the device of %s", at->info.device_path);
    check_abandon();
}

static revamp_vulkan_device_requirements requirements_of(const place *at) {
    revamp_vulkan_device_requirements needs = {.struct_size = sizeof needs};
    REQUIRE_OK(revamp_vulkan_get_device_requirements(at->accelerator, &needs));
    return needs;
}

static revamp_vulkan_device_info device_info(program *p, const VkDeviceCreateInfo *info) {
    return (revamp_vulkan_device_info){.struct_size = sizeof(revamp_vulkan_device_info),
                                       .instance = p->instance,
                                       .physical_device = p->physical,
                                       .device = p->device,
                                       .create_info = info,
                                       .queue = p->queue,
                                       .queue_family_index = p->family,
                                       .api_version = VK_API_VERSION_1_3,
                                       .release = count_release,
                                       .context = &p->released};
}

static const float one = 1;

/* Creates a device of the program with this pNext chain and the extensions of `needs`, and a view on that device. */
static revamp_status open_device(program *p, const place *at, const void *chain,
                                 const revamp_vulkan_device_requirements *needs) {
    if (!p->instance) make_instance(p);
    p->physical = physical_of(p->instance, at);
    p->family = requirements_of(at).queue_family_index;
    p->queues = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = p->family,
                                          .queueCount = 1,
                                          .pQueuePriorities = &one};
    p->device_create_info = (VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                                 .pNext = chain,
                                                 .queueCreateInfoCount = 1,
                                                 .pQueueCreateInfos = &p->queues,
                                                 .enabledExtensionCount = needs ? needs->extension_count : 0,
                                                 .ppEnabledExtensionNames = needs ? needs->extensions : NULL};
    VK(vkCreateDevice(p->physical, &p->device_create_info, NULL, &p->device));
    vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
    revamp_vulkan_device_info given = device_info(p, &p->device_create_info);
    return revamp_vulkan_create_view(&given, REVAMP_QUEUING_MODE_AUTOMATIC, &p->view);
}

static void make_objects(program *p) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = p->family};
    VK(vkCreateCommandPool(p->device, &pool, NULL, &p->pool));
    VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &kind};
    VK(vkCreateSemaphore(p->device, &semaphore, NULL, &p->timeline));
}

/* Creates the program's own device, with all features and extensions that the library can use. */
static void create_program_device(program *p, const place *at) {
    revamp_vulkan_device_requirements needs = requirements_of(at);
    REQUIRE_OK(open_device(p, at, needs.features, &needs));
    make_objects(p);
}

/* A program that uses the library's device. */
static program program_on_library_device(const place *at) {
    program p = {0};
    uint32_t families[8];
    revamp_vulkan_view_info info = {
        .struct_size = sizeof info, .sharing_families = families, .sharing_family_count = 8};
    REQUIRE_OK(revamp_vulkan_get_view_info(at->view, &info));
    CHECK(info.sharing_family_count >= 1 && info.sharing_family_count <= 8 && families[0] == info.queue_family_index);
    CHECK(!info.is_of_program && info.api_version >= VK_API_VERSION_1_2 && info.instance && info.physical_device);
    p.device = info.device, p.queue = info.queue, p.family = info.queue_family_index, p.view = at->view;
    make_objects(&p);
    return p;
}

static void destroy_objects(program *p) {
    REQUIRE_OK(revamp_accelerator_view_wait(p->view));
    CHECK_OK(revamp_vulkan_lock_queue(p->view));
    vkQueueWaitIdle(p->queue);
    CHECK_OK(revamp_vulkan_unlock_queue(p->view));
    vkDestroySemaphore(p->device, p->timeline, NULL);
    vkDestroyCommandPool(p->device, p->pool, NULL);
}

static void destroy_instance(program *p) {
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(p->instance, "vkDestroyDebugUtilsMessengerEXT");
    if (p->messenger) destroy(p->instance, p->messenger, NULL);
    vkDestroyInstance(p->instance, NULL);
    CHECK_NUMBER(messages, 0);
}

/* The library releases the device, and the program destroys it. Validation reports objects that still exist. */
static void close_device(program *p) {
    destroy_objects(p);
    CHECK_OK(revamp_accelerator_view_release(p->view));
    CHECK(reaches_soon(&p->released, 1));
    vkDestroyDevice(p->device, NULL);
    destroy_instance(p);
}

static uint32_t memory_type(const program *p, uint32_t allowed, VkMemoryPropertyFlags flags) {
    VkPhysicalDeviceMemoryProperties all;
    vkGetPhysicalDeviceMemoryProperties(p->physical, &all);
    for (uint32_t i = 0; i < all.memoryTypeCount; i++)
        if (allowed >> i & 1 && (all.memoryTypes[i].propertyFlags & flags) == flags) return i;
    check_abandon();
}

enum {
    BUFFER_USAGE = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                   VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT
};

/* A buffer of the program in memory that the host has mapped. */
typedef struct {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *data;
    int released;
} program_buffer;

static program_buffer make_buffer(const program *p, VkDeviceSize size) {
    program_buffer made = {0};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = BUFFER_USAGE};
    VK(vkCreateBuffer(p->device, &info, NULL, &made.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(p->device, made.buffer, &needs);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(p, needs.memoryTypeBits,
                                       VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
    VK(vkAllocateMemory(p->device, &memory, NULL, &made.memory));
    VK(vkBindBufferMemory(p->device, made.buffer, made.memory, 0));
    void *data = NULL;
    VK(vkMapMemory(p->device, made.memory, 0, VK_WHOLE_SIZE, 0, &data));
    made.data = data;
    return made;
}

static void destroy_buffer(const program *p, const program_buffer *buffer) {
    vkDestroyBuffer(p->device, buffer->buffer, NULL);
    vkFreeMemory(p->device, buffer->memory, NULL);
}

/* Submits commands that wait for the point `before`, unless its semaphore is VK_NULL_HANDLE. Returns the point on the
 * program's timeline that the commands signal. */
static revamp_vulkan_point submit(program *p, VkCommandBuffer commands, revamp_vulkan_point before) {
    revamp_vulkan_point after = {p->timeline, ++p->value};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = before.semaphore != VK_NULL_HANDLE,
                                            .pWaitSemaphoreValues = &before.value,
                                            .signalSemaphoreValueCount = 1,
                                            .pSignalSemaphoreValues = &after.value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = before.semaphore != VK_NULL_HANDLE,
                         .pWaitSemaphores = &before.semaphore,
                         .pWaitDstStageMask = &stage,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &after.semaphore};
    CHECK_OK(revamp_vulkan_lock_queue(p->view));
    VK(vkQueueSubmit(p->queue, 1, &info, VK_NULL_HANDLE));
    CHECK_OK(revamp_vulkan_unlock_queue(p->view));
    return after;
}

static VkCommandBuffer begin(const program *p) {
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = p->pool, .commandBufferCount = 1};
    VK(vkAllocateCommandBuffers(p->device, &info, &commands));
    VkCommandBufferBeginInfo how = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VK(vkBeginCommandBuffer(commands, &how));
    return commands;
}

static void await(const program *p, revamp_vulkan_point point) {
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &point.semaphore,
                                .pValues = &point.value};
    VK(vkWaitSemaphores(p->device, &info, UINT64_MAX));
}

static bool shares_memory(const place *at) {
    revamp_array array = NULL;
    int32_t extent = ELEMENTS;
    revamp_status made = revamp_vulkan_create_exportable_array(at->view, 1, &extent, 4, NULL, &array);
    if (made == REVAMP_ERROR_UNSUPPORTED_FEATURE) return false;
    CHECK_OK(made);
    CHECK_OK(revamp_array_destroy(array));
    return true;
}

TEST(a_view_runs_on_a_device_of_the_program) {
    FOR_EACH_PLACE(at, runs_spirv) {
        program p = {0};
        create_program_device(&p, at);
        CHECK(view_info(p.view).accelerator == at->accelerator);
        revamp_vulkan_view_info info = {.struct_size = sizeof info};
        CHECK_OK(revamp_vulkan_get_view_info(p.view, &info));
        CHECK(info.device == p.device && info.queue == p.queue && info.is_of_program && info.instance == p.instance);
        /* One kernel runs on both devices of the accelerator. */
        revamp_kernel step = load(at->accelerator, &step_module);
        uint32_t *expected = numbers(ELEMENTS, 1);
        revamp_array here = array_with(p.view, expected, ELEMENTS), there = array_with(at->view, expected, ELEMENTS);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(launch_step(p.view, step, here));
            CHECK_OK(launch_step(at->view, step, there));
        }
        revamp_region a = whole(here), b = whole(there);
        CHECK_OK(revamp_copy(&a, &b));
        CHECK_OK(launch_step(at->view, step, there));
        step_naive(expected, ELEMENTS, 3);
        CHECK_SAME(read_array(here), expected, BYTES);
        step_naive(expected, ELEMENTS, 1);
        CHECK_SAME(read_array(there), expected, BYTES);
        CHECK_OK(revamp_array_destroy(here));
        CHECK_OK(revamp_array_destroy(there));
        CHECK_NUMBER(p.released, 0);
        CHECK_OK(revamp_kernel_release(step));
        close_device(&p);
    }
}

TEST(errors_name_features_that_the_device_lacks) {
    const place *at = first_place_or_skip(runs_spirv);
    program p = {0};
    CHECK_FAILS(open_device(&p, at, NULL, NULL), AS_UNSUPPORTED, "bufferDeviceAddress");
    CHECK_TEXT(revamp_last_error_message(), "timelineSemaphore");
    CHECK_TEXT(revamp_last_error_message(), "shaderInt64");
    vkDestroyDevice(p.device, NULL);
    /* The library finds a feature in every structure in which Vulkan accepts it. */
    VkPhysicalDeviceBufferDeviceAddressFeatures address = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, .bufferDeviceAddress = VK_TRUE};
    VkPhysicalDeviceFeatures2 core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &address};
    core.features.shaderInt64 = VK_TRUE;
    CHECK_FAILS(open_device(&p, at, &core, NULL), AS_UNSUPPORTED, "timelineSemaphore");
    CHECK(!strstr(revamp_last_error_message(), "bufferDeviceAddress"));
    vkDestroyDevice(p.device, NULL);
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
    address.pNext = &timeline;
    REQUIRE_OK(open_device(&p, at, &core, NULL));
    /* Without the extensions, sharing by file descriptor fails; arrays, copies and launches work. */
    make_objects(&p);
    int32_t extent = ELEMENTS;
    revamp_array array = NULL;
    CHECK_FAILS(revamp_vulkan_create_exportable_array(p.view, 1, &extent, 4, NULL, &array), AS_UNSUPPORTED,
                "VK_KHR_external_memory_fd");
    revamp_kernel step = load(at->accelerator, &step_module);
    uint32_t *expected = numbers(ELEMENTS, 1);
    array = array_with(p.view, expected, ELEMENTS);
    CHECK_OK(launch_step(p.view, step, array));
    step_naive(expected, ELEMENTS, 1);
    CHECK_SAME(read_array(array), expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(step));
    close_device(&p);
    /* The requirements list the features. */
    revamp_vulkan_device_requirements needs = requirements_of(at);
    CHECK_NUMBER(needs.required_feature_count, 3);
    CHECK_TEXT(needs.required_features[0], "bufferDeviceAddress");
    CHECK(needs.optional_feature_count > 0 && needs.optional_features[0] && needs.features->sType);
}

/* The library refuses descriptions of a device that are incomplete or contradict the device. */
TEST(wrong_devices_of_the_program_are_refused) {
    const place *at = first_place_or_skip(runs_spirv);
    program p = {0};
    create_program_device(&p, at);
    VkDeviceCreateInfo nothing = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    revamp_accelerator_view view = NULL;
    revamp_vulkan_device_info info = device_info(&p, &nothing);
    info.api_version = VK_API_VERSION_1_1;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_UNSUPPORTED, "1.2");
    info = device_info(&p, NULL);
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT, "create_info");
    info = device_info(&p, &nothing);
    info.lock_queue = (revamp_vulkan_queue_lock)abort;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT, "both");
    info = device_info(&p, &nothing);
    info.queue = (VkQueue)p.device;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_UNSUPPORTED, "same VkQueue");
    CHECK_FAILS(revamp_vulkan_create_view(NULL, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_BAD, "NULL");
    /* queue_index is checked for a second view on the device too. */
    info = device_info(&p, &nothing);
    info.queue_index = 9;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT,
                "queue_index is 9");
    /* A second view on the same device. */
    info = device_info(&p, &nothing);
    CHECK_OK(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_IMMEDIATE, &view));
    CHECK(view != p.view && view_info(view).queuing_mode == REVAMP_QUEUING_MODE_IMMEDIATE);
    CHECK_OK(revamp_accelerator_view_release(view));
    CHECK_NUMBER(p.released, 0);
    close_device(&p);
}

TEST(queues_that_a_device_of_the_program_lacks_are_refused) {
    const place *at = first_place_or_skip(runs_spirv);
    revamp_vulkan_device_requirements needs = requirements_of(at);
    program p = {0};
    make_instance(&p);
    p.physical = physical_of(p.instance, at), p.family = needs.queue_family_index;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = p.family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &one};
    VkDeviceCreateInfo device_create_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                             .pNext = needs.features,
                                             .queueCreateInfoCount = 1,
                                             .pQueueCreateInfos = &queue,
                                             .enabledExtensionCount = needs.extension_count,
                                             .ppEnabledExtensionNames = needs.extensions};
    VK(vkCreateDevice(p.physical, &device_create_info, NULL, &p.device));
    vkGetDeviceQueue(p.device, p.family, 0, &p.queue);
    uint32_t families[] = {p.family, 77};
    revamp_accelerator_view view = NULL;
    revamp_vulkan_device_info info = device_info(&p, &device_create_info);
    info.queue_family_index = 77;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT, "family 77");
    CHECK_TEXT(revamp_last_error_message(), "pass a smaller number");
    info = device_info(&p, &device_create_info);
    info.sharing_families = families, info.sharing_family_count = 2;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT,
                "sharing_families");
    families[1] = VK_QUEUE_FAMILY_EXTERNAL;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT,
                "sharing_families");
    info = device_info(&p, &device_create_info);
    info.queue_index = 9;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT,
                "queue_index is 9");
    CHECK_TEXT(revamp_last_error_message(), "vkGetDeviceQueue()");
    device_create_info.queueCreateInfoCount = 1, queue.queueCount = 0;
    info.queue_index = 0;
    CHECK_FAILS(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &view), AS_ARGUMENT,
                "created with 0 queues of family");
    queue.queueCount = 1;
    CHECK_NUMBER(p.released, 0);
    info = device_info(&p, &device_create_info);
    info.sharing_families = families, info.sharing_family_count = 1;
    REQUIRE_OK(revamp_vulkan_create_view(&info, REVAMP_QUEUING_MODE_AUTOMATIC, &p.view));
    make_objects(&p);
    close_device(&p);
}

/* In Vulkan, a signal that does not increase the value of a timeline semaphore is undefined behaviour. */
TEST(points_that_do_not_increase_are_refused) {
    FOR_EACH_PLACE(at, runs_spirv) {
        program p = {0};
        create_program_device(&p, at);
        revamp_kernel step = load(at->accelerator, &step_module);
        revamp_array array = array_1d(p.view, ELEMENTS, 4);
        write_array(array, numbers(ELEMENTS, 3));
        revamp_vulkan_point point = {p.timeline, 0};
        CHECK_FAILS(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point), AS_ARGUMENT, "has the value 0");
        revamp_vulkan_point five = {p.timeline, 5};
        VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
        VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &kind};
        CHECK_OK(launch_step(p.view, step, array));
        CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &five));
        await(&p, five);
        for (uint64_t value = 1; value <= 5; value++) {
            point.value = value;
            CHECK_FAILS(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point), AS_ARGUMENT, "pass 6 or more");
        }
        CHECK_FAILS(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &five), AS_ARGUMENT, "has the value 5");
        point.value = 6;
        CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point));
        await(&p, point);
        /* A new semaphore may start at 1 again, even if the driver reuses the handle of a destroyed one. */
        for (int i = 0; i < 20; i++) {
            VkSemaphore new_semaphore;
            VK(vkCreateSemaphore(p.device, &semaphore, NULL, &new_semaphore));
            point = (revamp_vulkan_point){new_semaphore, 1};
            CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point));
            await(&p, point);
            CHECK_OK(revamp_accelerator_view_wait(p.view));
            vkDestroySemaphore(p.device, new_semaphore, NULL);
        }
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
        close_device(&p);
    }
}

/* Descriptors of pipes or files must not reach a driver: it would read the file, and block forever on a pipe. */
TEST(descriptors_of_pipes_and_files_are_refused) {
    const place *at = first_place_or_skip(runs_spirv);
    int pipe_ends[2], sockets[2];
    REQUIRE(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    struct {
        int fd;
        const char *file_kind;
    } file_cases[] = {{pipe_ends[0], "a pipe"},
                      {pipe_ends[1], "a pipe"},
                      {sockets[0], "a socket"},
                      {open("/proc/self/exe", O_RDONLY), "a regular file"},
                      {open("/", O_RDONLY), "a directory"},
                      {open("/dev/null", O_RDWR), "a device"},
                      {-1, "not open"},
                      {dup(0), "not open"}};
    const size_t count = sizeof file_cases / sizeof file_cases[0];
    close(file_cases[count - 1].fd);
    for (size_t i = 0; i < count; i++) {
        revamp_vulkan_shared_memory memory = {
            .struct_size = sizeof memory, .fd = file_cases[i].fd, .allocation_size = 1 << 16};
        int32_t extent = ELEMENTS;
        revamp_array array = NULL;
        VkSemaphore semaphore = VK_NULL_HANDLE;
        CHECK_FAILS(revamp_vulkan_import_array(at->view, &memory, 1, &extent, 4, &array), AS_ARGUMENT,
                    file_cases[i].file_kind);
        CHECK_FAILS(revamp_vulkan_import_semaphore(at->view, file_cases[i].fd, &semaphore), AS_ARGUMENT,
                    file_cases[i].file_kind);
        /* The program still owns the descriptor. */
        if (strcmp(file_cases[i].file_kind, "not open")) CHECK(close(file_cases[i].fd) == 0);
    }
    close(sockets[1]);
}

TEST(an_array_uses_a_buffer_of_the_program) {
    FOR_EACH_PLACE(at, runs_spirv) {
        program p = {0};
        create_program_device(&p, at);
        revamp_kernel step = load(at->accelerator, &step_module);
        program_buffer buffer = make_buffer(&p, OFFSET + BYTES);
        revamp_vulkan_buffer_info info = {.struct_size = sizeof info,
                                          .buffer = buffer.buffer,
                                          .size = OFFSET + BYTES,
                                          .offset = OFFSET,
                                          .usage = BUFFER_USAGE,
                                          .release = count_release,
                                          .context = &buffer.released};
        int32_t extent = ELEMENTS, more = ELEMENTS + 1;
        revamp_array array = NULL;
        CHECK_FAILS(revamp_vulkan_create_array(p.view, &info, 1, &more, 4, &array), AS_RUNTIME, "the VkBuffer has");
        info.usage &= ~(unsigned)VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        CHECK_FAILS(revamp_vulkan_create_array(p.view, &info, 1, &extent, 4, &array), AS_RUNTIME,
                    "SHADER_DEVICE_ADDRESS");
        info.usage = BUFFER_USAGE, info.offset = 4;
        CHECK_FAILS(revamp_vulkan_create_array(p.view, &info, 1, &extent, 4, &array), AS_RUNTIME, "multiple of 16");
        info.offset = OFFSET, info.buffer = VK_NULL_HANDLE;
        CHECK_FAILS(revamp_vulkan_create_array(p.view, &info, 1, &extent, 4, &array), AS_ARGUMENT, "VK_NULL_HANDLE");
        CHECK_NUMBER(buffer.released, 0);
        info.buffer = buffer.buffer;
        for (int i = 0; i < ELEMENTS + OFFSET / 4; i++)
            buffer.data[i] = 7;
        REQUIRE_OK(revamp_vulkan_create_array(p.view, &info, 1, &extent, 4, &array));
        CHECK_NUMBER(array_info(array).cpu_access_type, REVAMP_ACCESS_NONE);
        CHECK_OK(launch_step(p.view, step, array));
        revamp_vulkan_point point = {0};
        CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point));
        await(&p, point);
        CHECK_NUMBER(buffer.data[OFFSET / 4 - 1], 7);
        CHECK_NUMBER(buffer.data[OFFSET / 4], 22);
        CHECK_NUMBER(buffer.data[OFFSET / 4 + ELEMENTS - 1], 22);
        /* Later launches run after the program's fill on the device. */
        VkCommandBuffer fill = begin(&p);
        vkCmdFillBuffer(fill, buffer.buffer, OFFSET, BYTES, 5);
        VK(vkEndCommandBuffer(fill));
        point = submit(&p, fill, point);
        CHECK_OK(revamp_vulkan_wait_array(array, REVAMP_ACCESS_WRITE, &point));
        CHECK_OK(launch_step(p.view, step, array));
        const uint32_t *got = read_array(array);
        CHECK_NUMBER(got[0], 16);
        CHECK_NUMBER(got[ELEMENTS - 1], 16);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_accelerator_view_wait(p.view));
        CHECK(reaches_soon(&buffer.released, 1));
        destroy_buffer(&p, &buffer);
        CHECK_OK(revamp_kernel_release(step));
        close_device(&p);
    }
}

/* Kernels of the library alternate with copies of the program; the host waits only at the end. */
static void check_turns(program *p, revamp_kernel step, bool uses_program_semaphore) {
    enum { ROUNDS = 40 };
    revamp_array array = array_1d(p->view, ELEMENTS, 4), second = array_1d(p->view, ELEMENTS, 4);
    uint32_t *expected = numbers(ELEMENTS, 3);
    write_array(array, expected);
    revamp_vulkan_array_info a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    REQUIRE_OK(revamp_vulkan_get_array_buffer(array, &a));
    REQUIRE_OK(revamp_vulkan_get_array_buffer(second, &b));
    CHECK_NUMBER(a.size, BYTES);
    CHECK_NUMBER(a.usage & BUFFER_USAGE, BUFFER_USAGE);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(launch_step(p->view, step, array));
        revamp_vulkan_point ready = {0}, there = {0};
        if (uses_program_semaphore) ready = (revamp_vulkan_point){p->timeline, ++p->value};
        CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &ready));
        CHECK(!uses_program_semaphore || (ready.semaphore == p->timeline && ready.value == p->value));
        VkCommandBuffer copy = begin(p);
        VkBufferCopy all = {a.offset, b.offset, BYTES};
        vkCmdCopyBuffer(copy, a.buffer, b.buffer, 1, &all);
        VK(vkEndCommandBuffer(copy));
        /* The copy also writes the second array, so it waits for the later point; both points are on one semaphore. */
        if (!uses_program_semaphore) {
            CHECK_OK(revamp_vulkan_signal_array(second, REVAMP_ACCESS_WRITE, &there));
            CHECK(there.semaphore == ready.semaphore && there.value > ready.value);
            ready = there;
        } else {
            there = (revamp_vulkan_point){p->timeline, ++p->value};
            CHECK_OK(revamp_vulkan_signal_array(second, REVAMP_ACCESS_WRITE, &there));
            ready = there;
        }
        revamp_vulkan_point done = submit(p, copy, ready);
        CHECK_OK(revamp_vulkan_wait_array(array, REVAMP_ACCESS_READ, &done));
        CHECK_OK(revamp_vulkan_wait_array(second, REVAMP_ACCESS_WRITE, &done));
        CHECK_OK(launch_step(p->view, step, second));
        revamp_array swapped = array;
        array = second, second = swapped;
        revamp_vulkan_array_info swap = a;
        a = b, b = swap;
    }
    step_naive(expected, ELEMENTS, 2 * ROUNDS);
    CHECK_SAME(read_array(array), expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_array_destroy(second));
}

TEST(the_program_and_the_library_take_turns_by_timelines) {
    FOR_EACH_PLACE(at, runs_spirv) {
        revamp_kernel step = load(at->accelerator, &step_module);
        program p = {0}, library = program_on_library_device(at);
        create_program_device(&p, at);
        check_turns(&p, step, false);
        check_turns(&p, step, true);
        check_turns(&library, step, false);
        check_turns(&library, step, true);
        destroy_objects(&library);
        CHECK_OK(revamp_kernel_release(step));
        close_device(&p);
    }
}

/* Elements that are valid only on another device are copied to the array's buffer before the program uses it. */
TEST(elements_are_copied_back_before_the_program_gets_them) {
    const place *at = first_place_or_skip(runs_spirv);
    program p = {0};
    create_program_device(&p, at);
    program_buffer buffer = make_buffer(&p, BYTES);
    revamp_vulkan_buffer_info info = {
        .struct_size = sizeof info, .buffer = buffer.buffer, .size = BYTES, .usage = BUFFER_USAGE};
    int32_t extent = ELEMENTS;
    revamp_array array = NULL;
    REQUIRE_OK(revamp_vulkan_create_array(p.view, &info, 1, &extent, 4, &array));
    revamp_vulkan_array_info found = REVAMP_VULKAN_ARRAY_INFO_INIT;
    REQUIRE_OK(revamp_vulkan_get_array_buffer(array, &found));
    CHECK_NUMBER(found.usage, BUFFER_USAGE);
    uint32_t *expected = numbers(ELEMENTS, 5);
    write_array(array, expected);
    revamp_array_view over = NULL;
    REQUIRE_OK(revamp_array_view_create_array(array, NULL, &over));
    revamp_kernel step = load(at->accelerator, &step_module);
    revamp_argument argument = revamp_argument_view(0, over);
    CHECK_OK(launch(at->view, step, 1, &extent, &argument, 1));
    revamp_vulkan_point point = {0};
    CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ_WRITE, &point));
    await(&p, point);
    step_naive(expected, ELEMENTS, 1);
    CHECK_SAME(buffer.data, expected, BYTES);
    for (int i = 0; i < ELEMENTS; i++)
        buffer.data[i] = expected[i] = 9;
    /* The copy of the elements on the other device is stale now. */
    CHECK_OK(launch(at->view, step, 1, &extent, &argument, 1));
    step_naive(expected, ELEMENTS, 1);
    CHECK_OK(revamp_array_view_release(over));
    CHECK_SAME(read_array(array), expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(step));
    CHECK_OK(revamp_accelerator_view_wait(p.view));
    destroy_buffer(&p, &buffer);
    close_device(&p);
}

/* Thread function that submits to the library's queue. */
static void *submit_fills(void *context) {
    program *p = context;
    program_buffer buffer = make_buffer(p, BYTES);
    for (int i = 0; i < 100; i++) {
        VkCommandBuffer fill = begin(p);
        vkCmdFillBuffer(fill, buffer.buffer, 0, BYTES, (uint32_t)i);
        VK(vkEndCommandBuffer(fill));
        await(p, submit(p, fill, (revamp_vulkan_point){0}));
        CHECK_NUMBER(buffer.data[1], i);
    }
    destroy_buffer(p, &buffer);
    return NULL;
}

static void launch_concurrently_with(program *p, const place *at, void *(*other)(void *)) {
    revamp_kernel step = load(at->accelerator, &step_module);
    uint32_t *expected = numbers(ELEMENTS, 1);
    revamp_array array = array_with(p->view, expected, ELEMENTS);
    pthread_t thread;
    REQUIRE(!pthread_create(&thread, NULL, other, p));
    for (int i = 0; i < 200; i++) {
        CHECK_OK(launch_step(p->view, step, array));
        CHECK_OK(revamp_accelerator_view_flush(p->view));
    }
    pthread_join(thread, NULL);
    step_naive(expected, ELEMENTS, 200);
    CHECK_SAME(read_array(array), expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(step));
}

TEST(two_threads_submit_to_one_queue) {
    FOR_EACH_PLACE(at, runs_spirv) {
        program p = {0};
        create_program_device(&p, at);
        CHECK_FAILS(revamp_vulkan_unlock_queue(p.view), AS_ARGUMENT, "not hold the lock");
        CHECK_OK(revamp_vulkan_lock_queue(p.view));
        CHECK_FAILS(revamp_vulkan_lock_queue(p.view), AS_ARGUMENT, "already");
        CHECK_OK(revamp_vulkan_unlock_queue(p.view));
        launch_concurrently_with(&p, at, submit_fills);
        close_device(&p);
    }
}

static void lock(void *context, uint32_t family, uint32_t index) {
    program *p = context;
    CHECK(family == p->family && index == 0);
    pthread_mutex_lock(&p->lock);
    p->lock_count++;
}

static void unlock(void *context, uint32_t family, uint32_t index) {
    program *p = context;
    CHECK(family == p->family && index == 0);
    pthread_mutex_unlock(&p->lock);
}

static void released(void *context) {
    count_release(&((program *)context)->released);
}

/* Thread function that submits to the library's queue under the program's own lock. */
static void *submit_under_program_lock(void *context) {
    program *p = context;
    for (int i = 0; i < 200; i++) {
        VkSubmitInfo nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
        pthread_mutex_lock(&p->lock);
        VK(vkQueueSubmit(p->queue, 1, &nothing, VK_NULL_HANDLE));
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

TEST(the_library_takes_the_lock_of_the_program) {
    const place *at = first_place_or_skip(runs_spirv);
    program p = {.lock = PTHREAD_MUTEX_INITIALIZER};
    revamp_vulkan_device_requirements needs = requirements_of(at);
    REQUIRE_OK(open_device(&p, at, needs.features, &needs));
    CHECK_OK(revamp_accelerator_view_release(p.view));
    CHECK(reaches_soon(&p.released, 1));
    /* The library has released the device. The program now passes the device again, with a lock. */
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = needs.features,
                               .enabledExtensionCount = needs.extension_count,
                               .ppEnabledExtensionNames = needs.extensions};
    revamp_vulkan_device_info given = device_info(&p, &info);
    given.lock_queue = lock, given.unlock_queue = unlock, given.release = released, given.context = &p;
    p.released = 0;
    REQUIRE_OK(revamp_vulkan_create_view(&given, REVAMP_QUEUING_MODE_AUTOMATIC, &p.view));
    make_objects(&p);
    launch_concurrently_with(&p, at, submit_under_program_lock);
    CHECK(p.lock_count > 10);
    close_device(&p);
}

/* Imports `memory` into another device of the same hardware, and uses the memory there. */
static void check_import(revamp_accelerator_view there, const revamp_vulkan_shared_memory *memory, uint32_t *expected,
                         const place *at) {
    int32_t extent = ELEMENTS, more = 1 << 28;
    revamp_array array = NULL;
    CHECK_FAILS(revamp_vulkan_import_array(there, memory, 1, &more, 4, &array), AS_RUNTIME, "the shared memory has");
    revamp_vulkan_shared_memory wrong = *memory;
    wrong.memory_type_index = 77;
    CHECK_FAILS(revamp_vulkan_import_array(there, &wrong, 1, &extent, 4, &array), AS_UNSUPPORTED, "memory type");
    wrong = *memory;
    wrong.device_uuid[15] ^= 1;
    CHECK_FAILS(revamp_vulkan_import_array(there, &wrong, 1, &extent, 4, &array), AS_ARGUMENT,
                "exported by the device");
    REQUIRE_OK(revamp_vulkan_import_array(there, memory, 1, &extent, 4, &array));
    CHECK(fcntl(memory->fd, F_GETFD) < 0);
    CHECK_SAME(read_array(array), expected, BYTES);
    revamp_kernel step = load(at->accelerator, &step_module);
    CHECK_OK(launch_step(there, step, array));
    CHECK_OK(revamp_accelerator_view_wait(there));
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(step));
    step_naive(expected, ELEMENTS, 1);
}

TEST(memory_is_shared_by_file_descriptor) {
    const place *at = first_place_or_skip(runs_spirv);
    if (!shares_memory(at)) check_skip("%s cannot share memory by file descriptor", at->info.description);
    program p = {0};
    create_program_device(&p, at);
    int32_t extent = ELEMENTS;
    revamp_array array = NULL;
    REQUIRE_OK(revamp_vulkan_create_exportable_array(at->view, 1, &extent, 4, "shared", &array));
    uint32_t *expected = numbers(ELEMENTS, 8);
    write_array(array, expected);
    CHECK_OK(revamp_accelerator_view_wait(at->view));
    revamp_vulkan_shared_memory memory = {.struct_size = sizeof memory};
    REQUIRE_OK(revamp_vulkan_export_array(array, &memory));
    CHECK(memory.fd >= 0 && memory.size == BYTES && memory.allocation_size >= BYTES && memory.is_dedicated);
    check_import(p.view, &memory, expected, at);
    CHECK_SAME(read_array(array), expected, BYTES);
    /* Another process imports the memory too. */
    REQUIRE_OK(revamp_vulkan_export_array(array, &memory));
    char fd[32], size[32], type[32];
    CHECK(fcntl(memory.fd, F_SETFD, 0) == 0);
    sprintf(fd, "SHARED_FD=%d", (int)memory.fd);
    sprintf(size, "SHARED_SIZE=%llu", (unsigned long long)memory.allocation_size);
    sprintf(type, "SHARED_TYPE=%u", memory.memory_type_index);
    CHECK_CHILD("uses_shared_memory", fd, size, type, NULL);
    close(memory.fd);
    step_naive(expected, ELEMENTS, 1);
    CHECK_SAME(read_array(array), expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    /* Only exportable arrays can be shared. */
    array = array_1d(at->view, ELEMENTS, 4);
    CHECK_FAILS(revamp_vulkan_export_array(array, &memory), AS_RUNTIME, "create_exportable_array");
    CHECK_OK(revamp_array_destroy(array));
    close_device(&p);
}

CHILD(uses_shared_memory) {
    const place *at = first_place_or_skip(runs_spirv);
    revamp_vulkan_shared_memory memory = {.struct_size = sizeof memory,
                                          .fd = atoi(getenv("SHARED_FD")),
                                          .allocation_size = strtoull(getenv("SHARED_SIZE"), NULL, 10),
                                          .memory_type_index = (uint32_t)atoi(getenv("SHARED_TYPE")),
                                          .is_dedicated = true};
    uint32_t *expected = numbers(ELEMENTS, 8);
    step_naive(expected, ELEMENTS, 1);
    check_import(at->view, &memory, expected, at);
}

/* The program waits on its device for a point that the library's device signals. */
TEST(semaphores_are_shared_by_file_descriptor) {
    const place *at = first_place_or_skip(runs_spirv);
    VkSemaphore here = VK_NULL_HANDLE, there = VK_NULL_HANDLE;
    revamp_status made = revamp_vulkan_create_semaphore(at->view, &here);
    if (made == REVAMP_ERROR_UNSUPPORTED_FEATURE) {
        CHECK_TEXT(revamp_last_error_message(), "timeline semaphores");
        check_skip("%s", revamp_last_error_message());
    }
    REQUIRE_OK(made);
    program p = {0};
    create_program_device(&p, at);
    int fd = -1;
    REQUIRE_OK(revamp_vulkan_export_semaphore(at->view, here, &fd));
    REQUIRE_OK(revamp_vulkan_import_semaphore(p.view, fd, &there));
    revamp_kernel step = load(at->accelerator, &step_module);
    uint32_t *expected = numbers(ELEMENTS, 1);
    revamp_array array = array_with(at->view, expected, ELEMENTS);
    CHECK_OK(launch_step(at->view, step, array));
    revamp_vulkan_point point = {here, 12};
    CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point));
    point.semaphore = there;
    await(&p, point);
    CHECK_FAILS(revamp_vulkan_export_semaphore(at->view, VK_NULL_HANDLE, &fd), AS_ARGUMENT, "VK_NULL_HANDLE");
    CHECK_OK(revamp_accelerator_view_wait(at->view));
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(step));
    CHECK_OK(revamp_vulkan_destroy_semaphore(p.view, there));
    CHECK_OK(revamp_vulkan_destroy_semaphore(at->view, here));
    close_device(&p);
}

typedef struct {
    VkImage image;
    VkDeviceMemory memory;
    revamp_vulkan_image_info given;
    int released;
} program_image;

static void make_image(program *p, uint32_t width, uint32_t height, VkFormat format, VkImageCreateFlags flags,
                       program_image *made) {
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .flags = flags,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = format,
                              .extent = {width, height, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VK(vkCreateImage(p->device, &info, NULL, &made->image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(p->device, made->image, &needs);
    VkMemoryAllocateInfo how = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .allocationSize = needs.size,
                                .memoryTypeIndex = memory_type(p, needs.memoryTypeBits, 0)};
    VK(vkAllocateMemory(p->device, &how, NULL, &made->memory));
    VK(vkBindImageMemory(p->device, made->image, made->memory, 0));
    made->released = 0;
    made->given = (revamp_vulkan_image_info){.struct_size = sizeof made->given,
                                             .image = made->image,
                                             .format = format,
                                             .usage = info.usage,
                                             .release = count_release,
                                             .context = &made->released,
                                             .flags = flags};
}
/* Destroys the image after the library has released the `textures` textures that use it. */
static void destroy_image(program *p, program_image *made, int textures) {
    CHECK_OK(revamp_accelerator_view_wait(p->view));
    CHECK(reaches_soon(&made->released, textures));
    vkDestroyImage(p->device, made->image, NULL);
    vkFreeMemory(p->device, made->memory, NULL);
}

TEST(a_texture_uses_an_image_of_the_program) {
    enum { WIDTH = 32, HEIGHT = 16 };
    const place *at = first_place_or_skip(runs_spirv);
    program p = {0};
    create_program_device(&p, at);
    program_image created_image;
    make_image(&p, WIDTH, HEIGHT, VK_FORMAT_R32_UINT, 0, &created_image);
    VkImage image = created_image.image;
    revamp_vulkan_image_info given = created_image.given;
    given.format = VK_FORMAT_R32_SINT;
    int32_t extent[] = {HEIGHT, WIDTH};
    revamp_texture_options options = {.struct_size = sizeof options,
                                      .rank = 2,
                                      .extent = extent,
                                      .component_kind = REVAMP_COMPONENT_UINT,
                                      .components = 1,
                                      .bits = 32};
    revamp_texture texture = NULL;
    CHECK_FAILS(revamp_vulkan_create_texture(p.view, &given, &options, &texture), AS_RUNTIME, "R32_UINT");
    given.format = VK_FORMAT_R32_UINT, given.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    CHECK_FAILS(revamp_vulkan_create_texture(p.view, &given, &options, &texture), AS_RUNTIME, "TRANSFER_SRC");
    given.usage = created_image.given.usage;
    REQUIRE_OK(revamp_vulkan_create_texture(p.view, &given, &options, &texture));
    revamp_vulkan_texture_info found = {.struct_size = sizeof found};
    CHECK_OK(revamp_vulkan_get_texture_image(texture, &found));
    CHECK(found.image == image && found.layout == VK_IMAGE_LAYOUT_GENERAL && found.format == VK_FORMAT_R32_UINT);
    /* The library writes the image. The program copies it to a buffer and clears it. */
    uint32_t *texels = numbers((size_t)WIDTH * HEIGHT, 2);
    revamp_texture_region all = levels_of(texture, 0, 0);
    CHECK_OK(revamp_copy_to_texture(texels, (size_t)WIDTH * HEIGHT * 4, &all));
    revamp_vulkan_point point = {0};
    CHECK_OK(revamp_vulkan_signal_texture(texture, REVAMP_ACCESS_READ_WRITE, &point));
    program_buffer buffer = make_buffer(&p, (VkDeviceSize)WIDTH * HEIGHT * 4);
    VkCommandBuffer copy = begin(&p);
    VkBufferImageCopy whole_image = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                     .imageExtent = {WIDTH, HEIGHT, 1}};
    vkCmdCopyImageToBuffer(copy, image, VK_IMAGE_LAYOUT_GENERAL, buffer.buffer, 1, &whole_image);
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
                               .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT};
    vkCmdPipelineBarrier(copy, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, NULL,
                         0, NULL);
    VkClearColorValue color = {.uint32 = {4, 0, 0, 0}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(copy, image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &range);
    VK(vkEndCommandBuffer(copy));
    point = submit(&p, copy, point);
    CHECK_OK(revamp_vulkan_wait_texture(texture, REVAMP_ACCESS_READ_WRITE, &point));
    uint32_t *got = memory((size_t)WIDTH * HEIGHT * 4);
    CHECK_OK(revamp_copy_from_texture(&all, got, (size_t)WIDTH * HEIGHT * 4));
    CHECK_NUMBER(got[0], 4);
    CHECK_NUMBER(got[WIDTH * HEIGHT - 1], 4);
    CHECK_SAME(buffer.data, texels, (size_t)WIDTH * HEIGHT * 4);
    CHECK_OK(revamp_texture_release(texture));
    destroy_image(&p, &created_image, 1);
    destroy_buffer(&p, &buffer);
    close_device(&p);
}

/* A BGRA image (the component order of displays) is used as a texture of 32-bit numbers and of four components. */
TEST(an_image_of_the_program_is_used_in_another_format) {
    enum { SIDE = 4, BYTES = SIDE * SIDE * 4 };
    const place *at = first_place_or_skip(runs_spirv);
    program p = {0};
    create_program_device(&p, at);
    program_image created_image;
    make_image(&p, SIDE, SIDE, VK_FORMAT_B8G8R8A8_UNORM, VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT, &created_image);
    int32_t extent[] = {SIDE, SIDE};
    revamp_texture_options options = {.struct_size = sizeof options,
                                      .rank = 2,
                                      .extent = extent,
                                      .component_kind = REVAMP_COMPONENT_UINT,
                                      .components = 1,
                                      .bits = 32};
    revamp_texture words = NULL, colours = NULL, sampled = NULL;
    revamp_vulkan_image_info given = created_image.given;
    given.flags = 0;
    CHECK_FAILS(revamp_vulkan_create_texture(p.view, &given, &options, &words), AS_RUNTIME, "MUTABLE_FORMAT");
    given = created_image.given;
    options.bits = 16;
    CHECK_FAILS(revamp_vulkan_create_texture(p.view, &given, &options, &words), AS_RUNTIME, "2 bytes per texel");
    given.format = VK_FORMAT_D32_SFLOAT, options.bits = 32;
    CHECK_FAILS(revamp_vulkan_create_texture(p.view, &given, &options, &words), AS_RUNTIME, "D32_SFLOAT");
    REQUIRE_OK(revamp_vulkan_create_texture(p.view, &created_image.given, &options, &words));
    revamp_vulkan_texture_info found = {.struct_size = sizeof found};
    CHECK_OK(revamp_vulkan_get_texture_image(words, &found));
    CHECK(found.image == created_image.image && found.format == VK_FORMAT_B8G8R8A8_UNORM);
    uint8_t sent[BYTES], got[BYTES];
    fill_bytes(sent, sizeof sent, 5);
    revamp_texture_region all = levels_of(words, 0, 0);
    CHECK_OK(revamp_copy_to_texture(sent, sizeof sent, &all));
    CHECK_OK(revamp_copy_from_texture(&all, got, sizeof got));
    CHECK_SAME(got, sent, sizeof sent);
    CHECK_OK(revamp_texture_release(words));
    CHECK_OK(revamp_accelerator_view_wait(p.view));
    /* A kernel samples the image: component x is the first byte of a texel. */
    options.component_kind = REVAMP_COMPONENT_UNORM, options.components = 4, options.bits = 8;
    given = created_image.given;
    given.layout = VK_IMAGE_LAYOUT_GENERAL;
    REQUIRE_OK(revamp_vulkan_create_texture(p.view, &given, &options, &colours));
    options.component_kind = REVAMP_COMPONENT_FLOAT, options.bits = 32, options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    REQUIRE_OK(revamp_texture_create(p.view, &options, &sampled));
    revamp_kernel kernel = load(at->accelerator, &halve_module);
    revamp_sampler point = {
        .struct_size = sizeof point, .filter = REVAMP_FILTER_POINT, .address = REVAMP_ADDRESS_CLAMP};
    revamp_argument to = revamp_argument_image(0, sampled, 0, 1, NULL);
    to.set = 1;
    revamp_argument arguments[] = {revamp_argument_image(0, colours, 0, 1, NULL), revamp_argument_sampler(1, &point),
                                   to};
    CHECK_OK(launch(p.view, kernel, 2, extent, arguments, 3));
    float sampled_numbers[BYTES];
    revamp_texture_region whole = levels_of(sampled, 0, 0);
    CHECK_OK(revamp_copy_from_texture(&whole, sampled_numbers, sizeof sampled_numbers));
    for (int i = 0; i < BYTES; i++)
        CHECK_NUMBER((int)(sampled_numbers[i] * 255.0F + 0.5F), sent[i]);
    CHECK_OK(revamp_kernel_release(kernel));
    CHECK_OK(revamp_texture_release(sampled));
    CHECK_OK(revamp_texture_release(colours));
    destroy_image(&p, &created_image, 2);
    close_device(&p);
}

TEST(errors_without_vulkan_say_what_to_do) {
    FOR_EACH_PLACE(at, holds_arrays) {
        if (runs_spirv(&at->info)) continue;
        int32_t extent = 4;
        revamp_array array = array_1d(at->view, 4, 4), other = NULL;
        revamp_vulkan_view_info view = {.struct_size = sizeof view};
        revamp_vulkan_array_info info = {.struct_size = sizeof info};
        revamp_vulkan_device_requirements needs = {.struct_size = sizeof needs};
        revamp_vulkan_buffer_info buffer = {.struct_size = sizeof buffer, .usage = BUFFER_USAGE, .size = 16};
        revamp_vulkan_point point = {0};
        VkSemaphore semaphore;
        static const char expected_message[] = "device_path begins with vulkan\\";
        CHECK_FAILS(revamp_vulkan_get_device_requirements(at->accelerator, &needs), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_get_view_info(at->view, &view), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_lock_queue(at->view), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_unlock_queue(at->view), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_get_array_buffer(array, &info), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_create_array(at->view, &buffer, 1, &extent, 4, &other), AS_UNSUPPORTED,
                    expected_message);
        CHECK_FAILS(revamp_vulkan_create_exportable_array(at->view, 1, &extent, 4, NULL, &other), AS_UNSUPPORTED,
                    expected_message);
        CHECK_FAILS(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_create_semaphore(at->view, &semaphore), AS_UNSUPPORTED, expected_message);
        CHECK_FAILS(revamp_vulkan_signal_array(array, REVAMP_ACCESS_NONE, &point), AS_ARGUMENT, "_READ, _WRITE");
        CHECK_FAILS(revamp_vulkan_wait_array(array, REVAMP_ACCESS_READ, &point), AS_ARGUMENT, "VK_NULL_HANDLE");
        CHECK_OK(revamp_array_destroy(array));
        CHECK_FAILS(revamp_vulkan_get_array_buffer(array, &info), AS_HANDLE, "");
    }
}

/* The library refuses invalid handles and NULL pointers. */
TEST(wrong_handles_and_pointers_are_refused) {
    const place *at = first_place_or_skip(runs_spirv);
    revamp_array array = array_1d(at->view, 4, 4);
    int32_t extent = 4, fd;
    revamp_vulkan_view_info view = {.struct_size = sizeof view};
    revamp_vulkan_array_info info = {.struct_size = sizeof info};
    revamp_vulkan_texture_info image = {.struct_size = sizeof image};
    revamp_vulkan_device_requirements needs = {.struct_size = sizeof needs};
    revamp_vulkan_buffer_info buffer = {.struct_size = sizeof buffer};
    revamp_vulkan_image_info given = {.struct_size = sizeof given};
    revamp_vulkan_shared_memory shared_memory = {.struct_size = sizeof shared_memory};
    revamp_texture_options options = {.struct_size = sizeof options,
                                      .rank = 1,
                                      .extent = &extent,
                                      .component_kind = REVAMP_COMPONENT_INT,
                                      .components = 1,
                                      .bits = 32};
    revamp_vulkan_point point = {(VkSemaphore)1, 1};
    VkSemaphore semaphore;
    revamp_array made;
    revamp_texture texture;
    void *const wrong[] = {NULL, array, (void *)4711, at->accelerator};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        revamp_accelerator_view v = wrong[i];
        CHECK_FAILS(revamp_vulkan_get_view_info(v, &view), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_lock_queue(v), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_unlock_queue(v), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_create_array(v, &buffer, 1, &extent, 4, &made), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_create_texture(v, &given, &options, &texture), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_create_exportable_array(v, 1, &extent, 4, NULL, &made), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_import_array(v, &shared_memory, 1, &extent, 4, &made), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_create_semaphore(v, &semaphore), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_import_semaphore(v, -1, &semaphore), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_export_semaphore(v, (VkSemaphore)1, &fd), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_destroy_semaphore(v, VK_NULL_HANDLE), AS_HANDLE, "");
        if (wrong[i] != at->accelerator)
            CHECK_FAILS(revamp_vulkan_get_device_requirements(wrong[i], &needs), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_get_texture_image(wrong[i], &image), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_signal_texture(wrong[i], REVAMP_ACCESS_READ, &point), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_wait_texture(wrong[i], REVAMP_ACCESS_READ, &point), AS_HANDLE, "");
        if (wrong[i] == array) continue;
        CHECK_FAILS(revamp_vulkan_get_array_buffer(wrong[i], &info), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_signal_array(wrong[i], REVAMP_ACCESS_READ, &point), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_wait_array(wrong[i], REVAMP_ACCESS_READ, &point), AS_HANDLE, "");
        CHECK_FAILS(revamp_vulkan_export_array(wrong[i], &shared_memory), AS_HANDLE, "");
    }
    CHECK_FAILS(revamp_vulkan_get_device_requirements(at->accelerator, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_get_view_info(at->view, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_get_array_buffer(array, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_create_array(at->view, NULL, 1, &extent, 4, &made), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_create_array(at->view, &buffer, 1, &extent, 4, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_create_texture(at->view, NULL, &options, &texture), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_wait_array(array, REVAMP_ACCESS_READ, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_export_array(array, NULL), AS_ARGUMENT, "NULL");
    CHECK_FAILS(revamp_vulkan_create_semaphore(at->view, NULL), AS_ARGUMENT, "NULL");
    CHECK_OK(revamp_vulkan_destroy_semaphore(at->view, VK_NULL_HANDLE));
    /* The import of an invalid descriptor fails. */
    if (shares_memory(at)) {
        shared_memory.fd = -1, shared_memory.allocation_size = 1 << 16;
        CHECK(revamp_vulkan_import_array(at->view, &shared_memory, 1, &extent, 4, &made) != REVAMP_OK);
    }
    CHECK_OK(revamp_array_destroy(array));
}

/* revamp_uninitialize() releases everything, including objects that the program has not released. */
TEST(uninitialize_releases_the_device) {
    const place *at = first_place_or_skip(runs_spirv);
    program p = {0};
    create_program_device(&p, at);
    revamp_array array = array_1d(p.view, ELEMENTS, 4);
    revamp_kernel step = load(at->accelerator, &step_module);
    CHECK_OK(launch_step(p.view, step, array));
    vkDestroySemaphore(p.device, p.timeline, NULL);
    vkDestroyCommandPool(p.device, p.pool, NULL);
    CHECK_OK(revamp_uninitialize());
    CHECK_NUMBER(p.released, 1);
    vkDestroyDevice(p.device, NULL);
    destroy_instance(&p);
}

/* The objects that share() shares with the library while allocations fail. */
typedef struct {
    program p;
    const place *at;
    program_buffer buffer;
    program_image image;
    int released; /* release calls for further views on the program's device */
    bool shares_memory, shares_semaphores;
} sharing;

static void share_buffer(sharing *s, const int32_t *extent) {
    revamp_array array;
    revamp_vulkan_point point = {0};
    revamp_vulkan_array_info found = REVAMP_VULKAN_ARRAY_INFO_INIT;
    revamp_vulkan_buffer_info info = REVAMP_VULKAN_BUFFER_INFO_INIT;
    info.buffer = s->buffer.buffer, info.size = BYTES, info.usage = BUFFER_USAGE;
    info.release = count_release, info.context = &s->buffer.released;
    if (!SUCCEEDED(revamp_vulkan_create_array(s->p.view, &info, 1, extent, 4, &array))) return;
    SUCCEEDED(revamp_vulkan_get_array_buffer(array, &found));
    if (SUCCEEDED(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ, &point)))
        SUCCEEDED(revamp_vulkan_wait_array(array, REVAMP_ACCESS_READ, &point));
    CHECK_OK(revamp_array_destroy(array));
}

static void share_image(sharing *s) {
    static const int32_t extent[] = {8, 8};
    revamp_texture texture;
    revamp_vulkan_point point = {0};
    revamp_vulkan_texture_info found = REVAMP_VULKAN_TEXTURE_INFO_INIT;
    revamp_texture_options options = REVAMP_TEXTURE_OPTIONS_INIT;
    options.rank = 2, options.extent = extent, options.component_kind = REVAMP_COMPONENT_UINT;
    options.components = 1, options.bits = 32;
    if (!SUCCEEDED(revamp_vulkan_create_texture(s->p.view, &s->image.given, &options, &texture))) return;
    SUCCEEDED(revamp_vulkan_get_texture_image(texture, &found));
    if (SUCCEEDED(revamp_vulkan_signal_texture(texture, REVAMP_ACCESS_READ, &point)))
        SUCCEEDED(revamp_vulkan_wait_texture(texture, REVAMP_ACCESS_READ, &point));
    CHECK_OK(revamp_texture_release(texture));
}

static void share_by_descriptor(sharing *s, const int32_t *extent) {
    revamp_array array, imported;
    VkSemaphore here, there;
    int32_t fd;
    revamp_vulkan_shared_memory memory = REVAMP_VULKAN_SHARED_MEMORY_INIT;
    if (s->shares_memory && SUCCEEDED(revamp_vulkan_create_exportable_array(s->at->view, 1, extent, 4, NULL, &array))) {
        if (SUCCEEDED(revamp_vulkan_export_array(array, &memory))) {
            if (SUCCEEDED(revamp_vulkan_import_array(s->p.view, &memory, 1, extent, 4, &imported)))
                CHECK_OK(revamp_array_destroy(imported));
            else /* The program still owns the descriptor. */
                CHECK(close(memory.fd) == 0);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
    if (!s->shares_semaphores || !SUCCEEDED(revamp_vulkan_create_semaphore(s->at->view, &here))) return;
    if (SUCCEEDED(revamp_vulkan_export_semaphore(s->at->view, here, &fd))) {
        if (SUCCEEDED(revamp_vulkan_import_semaphore(s->p.view, fd, &there)))
            CHECK_OK(revamp_vulkan_destroy_semaphore(s->p.view, there));
        else
            CHECK(close(fd) == 0);
    }
    CHECK_OK(revamp_vulkan_destroy_semaphore(s->at->view, here));
}

static void share(void *context) {
    sharing *s = context;
    const int32_t extent = ELEMENTS;
    revamp_accelerator_view view;
    revamp_vulkan_view_info info = REVAMP_VULKAN_VIEW_INFO_INIT;
    revamp_vulkan_device_requirements needs = REVAMP_VULKAN_DEVICE_REQUIREMENTS_INIT;
    revamp_vulkan_device_info given = device_info(&s->p, &s->p.device_create_info);
    given.context = &s->released;
    SUCCEEDED(revamp_vulkan_get_device_requirements(s->at->accelerator, &needs));
    if (SUCCEEDED(revamp_vulkan_create_view(&given, REVAMP_QUEUING_MODE_AUTOMATIC, &view)))
        CHECK_OK(revamp_accelerator_view_release(view));
    SUCCEEDED(revamp_vulkan_get_view_info(s->p.view, &info));
    if (SUCCEEDED(revamp_vulkan_lock_queue(s->p.view))) CHECK_OK(revamp_vulkan_unlock_queue(s->p.view));
    share_buffer(s, &extent);
    share_image(s);
    share_by_descriptor(s, &extent);
}

CHILD(shares_without_memory) {
    static sharing s;
    VkSemaphore semaphore;
    heap_begin();
    s.at = first_place_or_skip(runs_spirv);
    create_program_device(&s.p, s.at);
    s.buffer = make_buffer(&s.p, BYTES);
    make_image(&s.p, 8, 8, VK_FORMAT_R32_UINT, 0, &s.image);
    s.shares_memory = shares_memory(s.at);
    s.shares_semaphores = revamp_vulkan_create_semaphore(s.at->view, &semaphore) == REVAMP_OK;
    if (s.shares_semaphores) CHECK_OK(revamp_vulkan_destroy_semaphore(s.at->view, semaphore));
    const size_t all = heap_count(share, &s);
    CHECK(all > 20);
    for (size_t n = 1; n <= all; n++)
        heap_fail(n, share, &s);
    share(&s);
    CHECK_OK(revamp_accelerator_view_wait(s.p.view));
    destroy_buffer(&s.p, &s.buffer);
    vkDestroyImage(s.p.device, s.image.image, NULL);
    vkFreeMemory(s.p.device, s.image.memory, NULL);
    close_device(&s.p);
    full_job();
}

TEST(each_allocation_for_shared_objects_fails) {
    heap_begin();
    first_place_or_skip(runs_spirv);
    CHECK_CHILD("shares_without_memory", "REVAMP_TEST=fail-threads=1", "REVAMP_LOG=error", NULL);
}
