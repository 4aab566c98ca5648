/* Computes the Mandelbrot set on a Vulkan device and on host threads, checks it, and writes it as a picture. */
#include "demo.h"
#include "png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = MANDELBROT_WIDTH, HEIGHT = MANDELBROT_HEIGHT, PIXELS = WIDTH * HEIGHT, TILE = 16 };

/* The share of pixels that may differ. Pixels differ where a compiler fuses products and sums. */
#define MAX_DIFFERENT_SHARE 0.01

typedef struct {
    uint32_t steps;
    float distance;
} escape;

/* The push constants of mandelbrot.comp. */
typedef struct {
    float left, top, pixel;
    uint32_t width, height, max_steps;
} section;

static const section seahorses = {-0.7483f, 0.1022f, 4.0e-6f, WIDTH, HEIGHT, 1000};

static escape escape_at(const section *s, int column, int row) {
    float cx = s->left + (float)column * s->pixel, cy = s->top - (float)row * s->pixel;
    float x = 0, y = 0, xx = 0, yy = 0;
    uint32_t step = 0;
    while (step < s->max_steps && xx + yy < 256) {
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        step++;
    }
    escape e = {step, xx + yy};
    return e;
}

static void kernel_function(const revamp_thread_id *id, void *context) {
    escape *escapes = context;
    escapes[id->global[0] * WIDTH + id->global[1]] = escape_at(&seahorses, id->global[1], id->global[0]);
}

static double run_on_host(const place *host, escape *escapes) {
    int32_t extent[] = {HEIGHT, WIDTH};
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = extent;
    info.function = kernel_function;
    info.context = escapes;
    double start = seconds();
    CHECK(revamp_parallel_for_each(host->view, &info));
    CHECK(revamp_accelerator_view_wait(host->view));
    return seconds() - start;
}

static double launch(const place *vulkan, revamp_kernel kernel, revamp_array array, int32_t height, int32_t width) {
    int32_t extent[] = {height, width};
    revamp_argument arguments[] = {
        revamp_argument_buffer(0, array),
        revamp_argument_push_constant(0, &seahorses, sizeof seahorses),
    };
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = extent;
    info.arguments = arguments;
    info.argument_count = sizeof arguments / sizeof arguments[0];
    double start = seconds();
    CHECK(revamp_dispatch(vulkan->view, kernel, &info));
    CHECK(revamp_accelerator_view_wait(vulkan->view));
    return seconds() - start;
}

static double run_on_vulkan(const place *vulkan, escape *escapes) {
    int32_t extent[] = {HEIGHT, WIDTH};
    revamp_kernel kernel;
    revamp_array array;
    CHECK(revamp_kernel_find(vulkan->accelerator, "mandelbrot", &kernel));
    CHECK(revamp_array_create(vulkan->view, 2, extent, sizeof *escapes, NULL, &array));
    launch(vulkan, kernel, array, TILE, TILE); /* creates the pipeline, which is not timed */
    double time = launch(vulkan, kernel, array, HEIGHT, WIDTH);
    CHECK(revamp_copy_from_array(array, escapes, PIXELS * sizeof *escapes));
    CHECK(revamp_array_destroy(array));
    CHECK(revamp_kernel_release(kernel));
    return time;
}

static void check(const escape *escapes, const escape *expected, result *r) {
    int different = 0;
    for (int i = 0; i < PIXELS; i++)
        different += escapes[i].steps != expected[i].steps;
    r->work = PIXELS;
    r->right = different <= MAX_DIFFERENT_SHARE * PIXELS;
    snprintf(r->check, sizeof r->check, "%.3f%% of pixels differ, %.0f%% allowed", 100.0 * different / PIXELS,
             100 * MAX_DIFFERENT_SHARE);
}

static uint8_t wave(double at) {
    return (uint8_t)(255 * (0.5 - 0.5 * cos(6.283185307179586 * at)));
}

/* The distance tells where between two steps the point escaped, so colours change smoothly. */
static void colour(escape e, uint8_t *rgb) {
    if (e.steps == seahorses.max_steps) {
        rgb[0] = rgb[1] = rgb[2] = 0;
        return;
    }
    double smooth = e.steps + 1 - log2(log2(e.distance) / 2);
    double at = log2(smooth + 1) * 0.9;
    rgb[0] = wave(at);
    rgb[1] = wave(at - 0.07);
    rgb[2] = wave(at - 0.18);
}

static void write_picture(const escape *by_vulkan_escapes, const escape *by_host_escapes, const char *path) {
    uint8_t *rgb = allocate(PIXELS * 3);
    for (int i = 0; i < PIXELS; i++) {
        int column = i % WIDTH;
        colour((column < WIDTH / 2 ? by_vulkan_escapes : by_host_escapes)[i], rgb + 3 * i);
        if (by_vulkan_escapes != by_host_escapes && column == WIDTH / 2) memset(rgb + 3 * i, 255, 3);
    }
    bool written = png_write(path, WIDTH, HEIGHT, rgb);
    free(rgb);
    if (written) return;
    perror(path);
    exit(EXIT_FAILURE);
}

void mandelbrot(const place *vulkan, const place *host, const char *path, result *by_vulkan, result *by_host) {
    escape *expected = allocate(PIXELS * sizeof *expected),
           *by_host_escapes = allocate(PIXELS * sizeof *by_host_escapes);
    escape *by_vulkan_escapes = vulkan ? allocate(PIXELS * sizeof *by_vulkan_escapes) : by_host_escapes;
    for (int i = 0; i < PIXELS; i++)
        expected[i] = escape_at(&seahorses, i % WIDTH, i / WIDTH);
    if (vulkan) {
        by_vulkan->seconds = run_on_vulkan(vulkan, by_vulkan_escapes);
        check(by_vulkan_escapes, expected, by_vulkan);
    }
    by_host->seconds = run_on_host(host, by_host_escapes);
    check(by_host_escapes, expected, by_host);
    write_picture(by_vulkan_escapes, by_host_escapes, path);
    if (vulkan) free(by_vulkan_escapes);
    free(by_host_escapes);
    free(expected);
}
