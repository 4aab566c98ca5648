/* Two devices in a pipeline: a Vulkan device filters frames, and host threads sum the rows of the filtered frames. Wait
 * lists order the steps of a frame. Steps of different frames overlap. */
#include <revamp.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { WIDTH = 64, HEIGHT = 48, PIXELS = WIDTH * HEIGHT, FRAMES = 5 };

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

struct filter {
    int32_t size[2];
    int32_t radius;
    float gain;
};

struct frame {
    float sent[PIXELS], sums[HEIGHT];
    revamp_array source, filtered, measured;
    revamp_completion done;
};

/* The argument block of sum_row(), the kernel for host threads. */
struct rows {
    const float *pixels;
    float *sums;
};
static void sum_row(const revamp_thread_id *id, void *context) {
    const struct rows *rows = context;
    int32_t y = id->global[0];
    float sum = 0;
    for (int x = 0; x < WIDTH; x++)
        sum += rows->pixels[y * WIDTH + x];
    rows->sums[y] = sum;
}

static const int32_t extent[] = {HEIGHT, WIDTH};

static revamp_array array_on(revamp_accelerator_view view) {
    revamp_array array;
    CHECK(revamp_array_create(view, 2, extent, sizeof(float), NULL, &array));
    return array;
}

/* Work with these options begins after `first`. */
static revamp_async_options after(const revamp_completion *first) {
    revamp_async_options options = REVAMP_ASYNC_OPTIONS_INIT;
    options.after = first;
    options.after_count = 1;
    return options;
}

static void begin(struct frame *f, revamp_accelerator_view gpu, revamp_accelerator_view host, revamp_kernel blur) {
    revamp_completion uploaded, blurred, moved;
    f->source = array_on(gpu);
    f->filtered = array_on(gpu);
    f->measured = array_on(host);
    CHECK(revamp_copy_to_array_async(f->sent, sizeof f->sent, f->source, NULL, &uploaded));

    struct filter filter = {{WIDTH, HEIGHT}, 1, 1};
    const revamp_argument arguments[] = {revamp_argument_uniform(0, &filter, sizeof filter),
                                         revamp_argument_buffer(1, f->source), revamp_argument_buffer(2, f->filtered)};
    revamp_dispatch_info launch = REVAMP_DISPATCH_INFO_INIT;
    launch.rank = 2;
    launch.extent = extent;
    launch.arguments = arguments;
    launch.argument_count = 3;
    revamp_async_options options = after(&uploaded);
    CHECK(revamp_dispatch_async(gpu, blur, &launch, &options, &blurred));

    revamp_region from = revamp_region_array(f->filtered), to = revamp_region_array(f->measured);
    options = after(&blurred);
    CHECK(revamp_copy_async(&from, &to, &options, &moved));

    /* The kernel's context is a copy of this block. The library writes the array's address into the copy. */
    struct rows rows = {NULL, f->sums};
    const revamp_argument pixels = revamp_argument_address(0, f->measured, REVAMP_ACCESS_READ);
    const int32_t all_rows[] = {HEIGHT};
    revamp_parallel_for_each_info sum = REVAMP_PARALLEL_FOR_EACH_INFO_INIT;
    sum.rank = 1;
    sum.extent = all_rows;
    sum.function = sum_row;
    sum.arguments = &pixels;
    sum.argument_count = 1;
    sum.block = &rows;
    sum.block_size = sizeof rows;
    options = after(&moved);
    CHECK(revamp_parallel_for_each_async(host, &sum, &options, &f->done));
    CHECK(revamp_completion_release(uploaded));
    CHECK(revamp_completion_release(blurred));
    CHECK(revamp_completion_release(moved));
}

int main(void) {
    revamp_accelerator vulkan, threads;
    revamp_accelerator_view gpu, host;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &vulkan));
    CHECK(revamp_accelerator_find("host", &threads));
    CHECK(revamp_accelerator_get_default_view(vulkan, &gpu));
    CHECK(revamp_accelerator_get_default_view(threads, &host));
    revamp_kernel blur;
    CHECK(revamp_kernel_find(vulkan, "blur", &blur));

    static struct frame frames[FRAMES];
    for (int n = 0; n < FRAMES; n++) {
        /* Each frame has one colour, which the filter preserves. */
        for (int i = 0; i < PIXELS; i++)
            frames[n].sent[i] = (float)(n + 1);
        begin(&frames[n], gpu, host, blur);
    }
    for (int n = 0; n < FRAMES; n++) {
        struct frame *f = &frames[n];
        CHECK(revamp_completion_get(f->done));
        for (int y = 0; y < HEIGHT; y++)
            if (f->sums[y] < (float)(n + 1) * WIDTH - 0.01F || f->sums[y] > (float)(n + 1) * WIDTH + 0.01F) {
                fprintf(stderr, "frame %d, row %d: %g\n", n, y, f->sums[y]);
                return EXIT_FAILURE;
            }
        CHECK(revamp_completion_release(f->done));
        CHECK(revamp_array_destroy(f->source));
        CHECK(revamp_array_destroy(f->filtered));
        CHECK(revamp_array_destroy(f->measured));
    }
    printf("%d frames: right\n", FRAMES);
    CHECK(revamp_kernel_release(blur));
    return EXIT_SUCCESS;
}
