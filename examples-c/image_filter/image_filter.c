/* Textures in SPIR-V kernels. Kernels compute the mipmap levels and the edges of a picture. The program writes the
 * edges to image_filter.png. */
#include <revamp.h>

#include "png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { SIZE = 512, LEVELS = 4 };

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

typedef uint8_t pixel[4];
static pixel sent[SIZE * SIZE], got[SIZE * SIZE], edges[SIZE * SIZE];

static void draw(void) {
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            uint8_t *p = sent[y * SIZE + x];
            double dx = x - SIZE / 2.0, dy = y - SIZE / 2.0, ring = sqrt(dx * dx + dy * dy) / 24;
            p[0] = (uint8_t)(x / 2);
            p[1] = fmod(ring, 2) < 1 ? 220 : 40;
            p[2] = (uint8_t)(y / 2);
            p[3] = 255;
        }
}

static revamp_texture texture_of(revamp_accelerator_view view, uint32_t levels) {
    const int32_t extent[] = {SIZE, SIZE};
    revamp_texture texture;
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = 2;
    options.extent = extent;
    options.component_kind = REVAMP_COMPONENT_UNORM;
    options.components = 4;
    options.bits = 8;
    options.levels = levels;
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    CHECK(revamp_texture_create(view, &options, &texture));
    return texture;
}

/* Runs a kernel that reads a level of `from` and writes a level of `to`, which may be the same texture. */
static void launch(revamp_kernel kernel, revamp_texture from, uint32_t level, revamp_texture to, uint32_t to_level) {
    revamp_texture_level_info written = {0};
    written.struct_size = sizeof written;
    CHECK(revamp_texture_get_level(to, to_level, &written));
    revamp_sampler sampler = {0}; /* linear; outside of the texture it repeats the edge */
    sampler.struct_size = sizeof sampler;
    revamp_argument arguments[] = {revamp_argument_image(0, from, level, 1, &sampler),
                                   revamp_argument_image(1, to, to_level, 1, NULL)};
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = written.extent;
    info.arguments = arguments;
    info.argument_count = 2;
    CHECK(revamp_dispatch(NULL, kernel, &info));
}

static void download(revamp_texture texture, uint32_t level, pixel *pixels) {
    revamp_texture_region region = {0};
    region.struct_size = sizeof region;
    region.texture = texture;
    region.level = level;
    region.level_count = 1;
    CHECK(revamp_copy_from_texture(&region, pixels, sizeof got));
}

/* The expected results, computed on the host. */

static double brightness(int x, int y) {
    x = x < 0 ? 0 : x >= SIZE ? SIZE - 1 : x;
    y = y < 0 ? 0 : y >= SIZE ? SIZE - 1 : y;
    const uint8_t *p = sent[y * SIZE + x];
    return (0.25 * p[0] + 0.5 * p[1] + 0.25 * p[2]) / 255;
}

static int wrong_edges(void) {
    int wrong = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double dx = 0, dy = 0;
            for (int k = -1; k <= 1; k++) {
                int weight = k ? 1 : 2;
                dx += weight * (brightness(x + 1, y + k) - brightness(x - 1, y + k));
                dy += weight * (brightness(x + k, y + 1) - brightness(x + k, y - 1));
            }
            double expected = fmin(sqrt(dx * dx + dy * dy), 1) * 255;
            wrong += fabs(edges[y * SIZE + x][0] - expected) > 4;
        }
    return wrong;
}

/* Each texel of a level must be the mean of the picture's texels that it covers. Each level adds a rounding error. */
static int wrong_texels(uint32_t level) {
    int side = SIZE >> level, covered = 1 << level, wrong = 0;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                for (int i = 0; i < covered * covered; i++)
                    sum += sent[(y * covered + i / covered) * SIZE + x * covered + i % covered][c];
                wrong += fabs(got[y * side + x][c] - sum / covered / covered) > 2.0 + level;
            }
    return wrong;
}

static void write_png(void) {
    static uint8_t rgb[SIZE * SIZE * 3];
    for (int i = 0; i < SIZE * SIZE; i++)
        for (int c = 0; c < 3; c++)
            rgb[i * 3 + c] = edges[i][c];
    if (!png_write("image_filter.png", SIZE, SIZE, rgb)) fprintf(stderr, "image_filter.png could not be written\n");
}

int main(void) {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_kernel find_edges, halve;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator));
    CHECK(revamp_accelerator_get_default_view(accelerator, &view));
    CHECK(revamp_kernel_find(accelerator, "edges", &find_edges));
    CHECK(revamp_kernel_find(accelerator, "halve", &halve));

    draw();
    revamp_texture picture = texture_of(view, LEVELS), result = texture_of(view, 1);
    revamp_texture_region first = {0};
    first.struct_size = sizeof first;
    first.texture = picture;
    first.level_count = 1;
    CHECK(revamp_copy_to_texture(sent, sizeof sent, &first));

    int wrong = 0;
    for (uint32_t level = 1; level < LEVELS; level++)
        launch(halve, picture, level - 1, picture, level); /* reads one level, writes the next */
    launch(find_edges, picture, 0, result, 0);
    for (uint32_t level = 1; level < LEVELS; level++) {
        download(picture, level, got); /* waits for the kernel */
        wrong += wrong_texels(level);
    }
    download(result, 0, edges);
    wrong += wrong_edges();
    write_png();

    CHECK(revamp_texture_release(picture));
    CHECK(revamp_texture_release(result));
    CHECK(revamp_kernel_release(find_edges));
    CHECK(revamp_kernel_release(halve));
    printf("image_filter: %d levels and edges of %d x %d texels, %d wrong\n", LEVELS - 1, SIZE, SIZE, wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
