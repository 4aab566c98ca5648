/* Tests memory and timeline semaphores that are shared with CUDA (docs/interop.md). The test loads CUDA's driver
 * library at run time and declares the functions that it uses, so it needs neither nvcc nor CUDA's headers. */
#include "support.h"

#include <dlfcn.h>
#include <revamp_vulkan.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 1 << 20, BYTES = ELEMENTS * 4, THREADS = 256 };

/* These constants and types match those of cuda.h. */
enum { OPAQUE_FD = 1, TIMELINE_SEMAPHORE_FD = 9, DEDICATED = 1 };
typedef union {
    int fd;
    struct {
        void *handle;
        const void *name;
    } win32;
} cuda_handle;
typedef struct {
    int type;
    cuda_handle handle;
    unsigned long long size;
    unsigned flags, reserved[16];
} cuda_memory_handle;
typedef struct {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
} cuda_memory_buffer;
typedef struct {
    int type;
    cuda_handle handle;
    unsigned flags, reserved[16];
} cuda_semaphore_handle;
/* CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS or _WAIT_PARAMS: the two differ only in fields that are 0 here. */
typedef struct {
    unsigned long long value, fence, key;
    unsigned reserved[12], flags, more[16];
} cuda_semaphore_value;

#define CUDA_FUNCTIONS(X)                                                                                              \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGetCount, (int *))                                                                                       \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDeviceGetUuid, (void *, int))                                                                                  \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                             \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuModuleUnload, (void *))                                                                                        \
    X(cuLaunchKernel,                                                                                                  \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))        \
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t))                                                           \
    X(cuMemFree_v2, (unsigned long long))                                                                              \
    X(cuImportExternalMemory, (void **, const cuda_memory_handle *))                                                   \
    X(cuExternalMemoryGetMappedBuffer, (unsigned long long *, void *, const cuda_memory_buffer *))                     \
    X(cuDestroyExternalMemory, (void *))                                                                               \
    X(cuImportExternalSemaphore, (void **, const cuda_semaphore_handle *))                                             \
    X(cuWaitExternalSemaphoresAsync, (void *const *, const cuda_semaphore_value *, unsigned, void *))                  \
    X(cuSignalExternalSemaphoresAsync, (void *const *, const cuda_semaphore_value *, unsigned, void *))                \
    X(cuDestroyExternalSemaphore, (void *))

typedef struct {
#define DECLARE(name, parameters) int(*name) parameters;
    CUDA_FUNCTIONS(DECLARE)
} cuda_driver;

#define CUDA(call) REQUIRE((call) == 0)

/* Loads CUDA's driver library. Skips the test if the library is missing. */
static cuda_driver load_cuda(void) {
    cuda_driver cuda;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) check_skip("no CUDA: %s", dlerror());
#define LOOK_UP(name, parameters)                                                                                      \
    *(void **)&cuda.name = dlsym(library, #name);                                                                      \
    if (!cuda.name) check_skip("CUDA's driver has no " #name);
    CUDA_FUNCTIONS(LOOK_UP)
    const int result = cuda.cuInit(0);
    if (result) check_skip("cuInit: %d", result);
    return cuda;
}

/* Returns the CUDA device with this UUID. Skips the test if there is no such device. */
static int cuda_device(const cuda_driver *cuda, const uint8_t *uuid) {
    int count = 0;
    CUDA(cuda->cuDeviceGetCount(&count));
    for (int i = 0; i < count; i++) {
        int device;
        uint8_t candidate_uuid[16];
        CUDA(cuda->cuDeviceGet(&device, i));
        CUDA(cuda->cuDeviceGetUuid(candidate_uuid, device));
        if (!memcmp(candidate_uuid, uuid, sizeof candidate_uuid)) return device;
    }
    check_skip("CUDA has no device with the accelerator's UUID");
}

/* Does the same as step.comp: each number n becomes 3 n + 1. */
static const char step_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry step(.param .u64 numbers, .param .u32 count) {\n"
                               ".reg .pred %p;\n.reg .b32 %r<6>;\n.reg .b64 %d<3>;\n"
                               "ld.param.u64 %d1, [numbers];\nld.param.u32 %r1, [count];\n"
                               "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
                               "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
                               "setp.ge.u32 %p, %r5, %r1;\n@%p bra done;\n"
                               "cvta.to.global.u64 %d1, %d1;\nmul.wide.u32 %d2, %r5, 4;\nadd.u64 %d1, %d1, %d2;\n"
                               "ld.global.u32 %r2, [%d1];\nmad.lo.u32 %r2, %r2, 3, 1;\nst.global.u32 [%d1], %r2;\n"
                               "done:\nret;\n}\n";

/* Creates an array and exports its memory. Skips the test if the device cannot share memory. */
static revamp_array create_exportable_array(const place *at, revamp_vulkan_shared_memory *memory) {
    revamp_array array = NULL;
    int32_t extent = ELEMENTS;
    const revamp_status status = revamp_vulkan_create_exportable_array(at->view, 1, &extent, 4, "shared", &array);
    if (status == REVAMP_ERROR_UNSUPPORTED_FEATURE) check_skip("%s", revamp_last_error_message());
    REQUIRE_OK(status);
    REQUIRE_OK(revamp_vulkan_export_array(array, memory));
    return array;
}

/* Kernels of the library and of CUDA write the same memory in turn. A timeline semaphore orders them: the host does not
 * wait, and nothing is copied. */
TEST(cuda_uses_an_array_without_a_copy) {
    const place *at = first_place_or_skip(runs_spirv);
    const cuda_driver cuda = load_cuda();
    revamp_vulkan_shared_memory memory = {.struct_size = sizeof memory};
    revamp_array array = create_exportable_array(at, &memory);
    const int device = cuda_device(&cuda, memory.device_uuid);
    void *context, *cuda_module, *function, *imported;
    CUDA(cuda.cuDevicePrimaryCtxRetain(&context, device));
    CUDA(cuda.cuCtxSetCurrent(context));
    CUDA(cuda.cuModuleLoadData(&cuda_module, step_ptx));
    CUDA(cuda.cuModuleGetFunction(&function, cuda_module, "step"));
    /* CUDA takes ownership of the file descriptors. */
    const cuda_memory_handle handle = {.type = OPAQUE_FD,
                                       .handle.fd = memory.fd,
                                       .size = memory.allocation_size,
                                       .flags = memory.is_dedicated ? DEDICATED : 0};
    CUDA(cuda.cuImportExternalMemory(&imported, &handle));
    const cuda_memory_buffer buffer = {.offset = memory.offset, .size = memory.size};
    unsigned long long address = 0;
    CUDA(cuda.cuExternalMemoryGetMappedBuffer(&address, imported, &buffer));
    VkSemaphore timeline = VK_NULL_HANDLE;
    int fd = -1;
    void *semaphore;
    REQUIRE_OK(revamp_vulkan_create_semaphore(at->view, &timeline));
    REQUIRE_OK(revamp_vulkan_export_semaphore(at->view, timeline, &fd));
    const cuda_semaphore_handle shared = {.type = TIMELINE_SEMAPHORE_FD, .handle.fd = fd};
    CUDA(cuda.cuImportExternalSemaphore(&semaphore, &shared));

    uint32_t *expected = numbers(ELEMENTS, 9), *seen = numbers(ELEMENTS, 0);
    write_array(array, expected);
    revamp_kernel step = load(at->accelerator, &step_module);
    unsigned count = ELEMENTS;
    void *arguments[] = {&address, &count};
    for (uint64_t turn = 0; turn < 3; turn++) {
        revamp_vulkan_point ours = {timeline, 2 * turn + 1}, theirs = {timeline, 2 * turn + 2};
        const cuda_semaphore_value wait = {.value = ours.value}, signal = {.value = theirs.value};
        CHECK_OK(launch_step(at->view, step, array));
        CHECK_OK(revamp_vulkan_signal_array(array, REVAMP_ACCESS_READ_WRITE, &ours));
        CUDA(cuda.cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, NULL));
        CUDA(cuda.cuLaunchKernel(function, ELEMENTS / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
        CUDA(cuda.cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, NULL));
        CHECK_OK(revamp_vulkan_wait_array(array, REVAMP_ACCESS_READ_WRITE, &theirs));
    }
    step_naive(expected, ELEMENTS, 6);
    CHECK_SAME(read_array(array), expected, BYTES);
    /* CUDA reads what the last launch of the library wrote. */
    CHECK_OK(launch_step(at->view, step, array));
    CHECK_OK(revamp_accelerator_view_wait(at->view));
    step_naive(expected, ELEMENTS, 1);
    CUDA(cuda.cuMemcpyDtoH_v2(seen, address, BYTES));
    CHECK_SAME(seen, expected, BYTES);

    CUDA(cuda.cuStreamSynchronize(NULL));
    CUDA(cuda.cuDestroyExternalSemaphore(semaphore));
    CUDA(cuda.cuMemFree_v2(address));
    CUDA(cuda.cuDestroyExternalMemory(imported));
    CUDA(cuda.cuModuleUnload(cuda_module));
    CUDA(cuda.cuDevicePrimaryCtxRelease_v2(device));
    CHECK_OK(revamp_vulkan_destroy_semaphore(at->view, timeline));
    CHECK_OK(revamp_kernel_release(step));
    CHECK_OK(revamp_array_destroy(array));
}
