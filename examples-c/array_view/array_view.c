/* A Vulkan kernel, a kernel on host threads and the host itself use one array in host memory. Its array_view moves only
 * the bytes that a device lacks. The program prints the transfers after each step. */
#include <revamp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20, PART = 1000 };

static void check(revamp_status status, const char *what) {
    if (status == REVAMP_OK) return;
    fprintf(stderr, "%s: %s\n", what, revamp_last_error_message());
    exit(1);
}

static void say(revamp_array_view view, const char *step) {
    revamp_transfer_counters c = {0};
    c.struct_size = sizeof c;
    check(revamp_array_view_get_source_transfers(view, &c), "the counters");
    printf("%-46s %9llu bytes to accelerators, %9llu back\n", step,
           (unsigned long long)(c.implicit_to_bytes + c.explicit_to_bytes),
           (unsigned long long)(c.implicit_from_bytes + c.explicit_from_bytes));
}

/* The argument block of both kernels. For each launch, the library writes the address of the elements on the device
 * into `numbers`. */
typedef struct {
    uint32_t *numbers;
    uint32_t count;
} block;

static void add_one(const revamp_thread_id *id, void *context) {
    const block *b = context;
    b->numbers[id->global[0]] += 1;
}

static void on_host_threads(revamp_array_view view, int32_t count) {
    block b = {NULL, (uint32_t)count};
    revamp_argument argument = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    revamp_parallel_for_each_info launch = {0};
    launch.struct_size = sizeof launch;
    launch.rank = 1;
    launch.extent = &count;
    launch.function = add_one;
    launch.arguments = &argument;
    launch.argument_count = 1;
    launch.block = &b;
    launch.block_size = sizeof b;
    check(revamp_parallel_for_each(NULL, &launch), "a launch on host threads");
}

static void on_vulkan(revamp_kernel triple, revamp_array_view view, int32_t count) {
    block b = {NULL, (uint32_t)count};
    revamp_argument argument = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    revamp_dispatch_info launch = {0};
    launch.struct_size = sizeof launch;
    launch.rank = 1;
    launch.extent = &count;
    launch.arguments = &argument;
    launch.argument_count = 1;
    launch.block = &b;
    launch.block_size = sizeof b;
    check(revamp_dispatch(NULL, triple, &launch), "a launch");
}

int main(void) {
    uint32_t *numbers = malloc(COUNT * sizeof *numbers);
    int32_t count = COUNT, part = PART;
    revamp_array_view view = NULL, first = NULL;
    revamp_accelerator accelerator = NULL;
    revamp_kernel triple = NULL;
    void *data = NULL;
    uint32_t expected = 1, i;
    if (!numbers) return 1;
    for (i = 0; i < COUNT; i++)
        numbers[i] = 1;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) != REVAMP_OK) {
        fprintf(stderr, "%s\n", revamp_last_error_message());
        return 1;
    }
    check(revamp_kernel_find(accelerator, "triple", &triple), "the kernel");
    check(revamp_array_view_create_host(numbers, 1, &count, sizeof *numbers, NULL, &view), "the view");

    on_vulkan(triple, view, count);
    expected = expected * 3;
    say(view, "a kernel on Vulkan");
    on_vulkan(triple, view, count);
    expected = expected * 3;
    say(view, "the same again: the data is there");
    check(revamp_array_view_section(view, NULL, &part, &first), "the section");
    on_host_threads(first, part);
    say(view, "host threads use 1000 elements");
    check(revamp_array_view_data(first, REVAMP_ACCESS_READ, &data), "an access");
    printf("    element 0 is %u\n", ((const uint32_t *)data)[0]);
    say(view, "the host reads them");

    /* Releasing the last view writes remaining changes back; synchronize first, to get errors. */
    check(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ), "synchronize");
    say(view, "synchronize: the rest comes back");
    check(revamp_array_view_release(first), "release");
    check(revamp_array_view_release(view), "release");
    check(revamp_kernel_release(triple), "release");
    for (i = 0; i < COUNT; i++) {
        if (numbers[i] != expected + (i < PART ? 1 : 0)) {
            fprintf(stderr, "element %u is %u\n", i, numbers[i]);
            return 1;
        }
    }
    printf("all %d elements are right\n", COUNT);
    free(numbers);
    return 0;
}
