/* Runs an existing shader that has a uniform block: a box filter, as in public samples. */
#include <revamp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { WIDTH = 100, HEIGHT = 60 };

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

/* The block Filter of blur.comp, in std140 layout. */
struct filter {
    int32_t size[2];
    int32_t radius;
    float gain;
};

static int clamped(int i, int end) {
    return i < 0 ? 0 : i >= end ? end - 1 : i;
}

static float expected(const float *source, const struct filter *f, int x, int y) {
    float sum = 0;
    for (int v = -f->radius; v <= f->radius; v++)
        for (int u = -f->radius; u <= f->radius; u++)
            sum += source[clamped(y + v, HEIGHT) * WIDTH + clamped(x + u, WIDTH)];
    int side = 2 * f->radius + 1;
    return f->gain * sum / (float)(side * side);
}

int main(void) {
    static float pixels[HEIGHT * WIDTH], got[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i] = (float)((i * 37) % 256);

    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator));
    CHECK(revamp_accelerator_get_default_view(accelerator, &view));
    revamp_kernel blur;
    CHECK(revamp_kernel_find(accelerator, "blur", &blur));

    const int32_t extent[] = {HEIGHT, WIDTH};
    revamp_array source, target;
    CHECK(revamp_array_create(view, 2, extent, sizeof(float), NULL, &source));
    CHECK(revamp_array_create(view, 2, extent, sizeof(float), NULL, &target));
    CHECK(revamp_copy_to_array(pixels, sizeof pixels, source));

    for (int radius = 1; radius <= 3; radius++) {
        /* The library reads these bytes during the call. */
        struct filter filter = {{WIDTH, HEIGHT}, radius, 1.5F};
        const revamp_argument arguments[] = {revamp_argument_uniform(0, &filter, sizeof filter),
                                             revamp_argument_buffer(1, source), revamp_argument_buffer(2, target)};
        revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
        info.rank = 2;
        info.extent = extent;
        info.arguments = arguments;
        info.argument_count = 3;
        CHECK(revamp_dispatch(view, blur, &info));
        CHECK(revamp_copy_from_array(target, got, sizeof got));
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                float expected_pixel = expected(pixels, &filter, x, y);
                if (fabsf(got[y * WIDTH + x] - expected_pixel) > 1e-3F * expected_pixel) {
                    fprintf(stderr, "radius %d, pixel %d, %d: %g in place of %g\n", radius, x, y, got[y * WIDTH + x],
                            expected_pixel);
                    return EXIT_FAILURE;
                }
            }
    }
    printf("%d x %d pixels, three radii: right\n", WIDTH, HEIGHT);
    CHECK(revamp_array_destroy(source));
    CHECK(revamp_array_destroy(target));
    CHECK(revamp_kernel_release(blur));
    return EXIT_SUCCESS;
}
