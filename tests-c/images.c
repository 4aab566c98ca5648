/* Tests of kernels with images and samplers (docs/spec/textures.md#images-and-samplers). Copies: rules/rules_tex.c. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static revamp_texture texture_of(const place *p, uint32_t storage, uint32_t kind, uint32_t components, uint32_t bits,
                                 uint32_t rank, const int32_t *extent, uint32_t levels) {
    revamp_texture texture = NULL;
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = rank;
    options.extent = extent;
    options.component_kind = kind;
    options.components = components;
    options.bits = bits;
    options.levels = levels;
    options.storage = storage;
    REQUIRE_OK(revamp_texture_create(p->view, &options, &texture));
    return texture;
}

static revamp_texture image_of(const place *p, uint32_t kind, uint32_t components, uint32_t bits, uint32_t rank,
                               const int32_t *extent, uint32_t levels) {
    return texture_of(p, REVAMP_TEXTURE_STORAGE_IMAGE, kind, components, bits, rank, extent, levels);
}

static void write_image(revamp_texture texture, const void *texels, size_t size) {
    revamp_texture_region all = levels_of(texture, 0, 0);
    CHECK_OK(revamp_copy_to_texture(texels, size, &all));
}

static void read_level(revamp_texture texture, uint32_t level, void *texels, size_t size) {
    revamp_texture_region one = levels_of(texture, level, 1);
    CHECK_OK(revamp_copy_from_texture(&one, texels, size));
}

static revamp_sampler sampler_of(revamp_filter filter, revamp_address address) {
    revamp_sampler sampler = {0};
    sampler.struct_size = sizeof sampler;
    sampler.filter = filter;
    sampler.address = address;
    return sampler;
}

static void check_bindings(revamp_kernel kernel) {
    static const struct {
        revamp_binding_kind kind;
        uint32_t dimensions;
        revamp_access access;
    } expected[] = {{REVAMP_BINDING_STORAGE_IMAGE, 2, REVAMP_ACCESS_READ_WRITE},
                    {REVAMP_BINDING_SAMPLED_IMAGE, 1, REVAMP_ACCESS_READ},
                    {REVAMP_BINDING_SAMPLED_IMAGE, 3, REVAMP_ACCESS_READ}};
    CHECK_NUMBER(kernel_info(kernel).binding_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        revamp_binding_info info = {0};
        info.struct_size = sizeof info;
        CHECK_OK(revamp_kernel_get_binding(kernel, i, &info));
        CHECK_NUMBER(info.kind, expected[i].kind);
        CHECK_NUMBER(info.dimensions, expected[i].dimensions);
        CHECK_NUMBER(info.access, expected[i].access);
    }
}

TEST(images_are_bound_by_their_types) {
    enum { WIDTH = 13, HEIGHT = 9, TEXELS = WIDTH * HEIGHT, ROUNDS = 3 };
    static const int32_t size[] = {HEIGHT, WIDTH}, line_size[] = {WIDTH}, box_size[] = {2, HEIGHT, WIDTH};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &images_module);
        check_bindings(kernel);
        revamp_texture line = image_of(p, REVAMP_COMPONENT_INT, 1, 16, 1, line_size, 1);
        revamp_texture box = image_of(p, REVAMP_COMPONENT_UINT, 2, 8, 3, box_size, 1);
        revamp_texture totals[] = {image_of(p, REVAMP_COMPONENT_UINT, 1, 32, 2, size, 1),
                                   image_of(p, REVAMP_COMPONENT_UINT, 1, 32, 2, size, 1)};
        int16_t sent_line[WIDTH];
        uint8_t sent_box[2 * TEXELS][2];
        uint32_t expected[2][TEXELS], got[TEXELS];
        fill_bytes(sent_line, sizeof sent_line, 1);
        fill_bytes(sent_box, sizeof sent_box, 2);
        write_image(line, sent_line, sizeof sent_line);
        write_image(box, sent_box, sizeof sent_box);
        for (int t = 0; t < 2; t++) {
            fill_bytes(expected[t], sizeof expected[t], 3 + (uint32_t)t);
            write_image(totals[t], expected[t], sizeof expected[t]);
        }
        /* The launches alternate between two textures. */
        for (int round = 0; round < 2 * ROUNDS; round++) {
            uint32_t *total = expected[round % 2];
            revamp_argument arguments[] = {revamp_argument_image(1, line, 0, 1, NULL),
                                           revamp_argument_image(0, totals[round % 2], 0, 0, NULL),
                                           revamp_argument_image(2, box, 0, 0, NULL)};
            CHECK_OK(launch(p->view, kernel, 2, size, arguments, 3));
            for (int i = 0; i < TEXELS; i++)
                total[i] = 2 * total[i] + (uint32_t)sent_line[i % WIDTH] + sent_box[TEXELS + i][1];
        }
        for (int t = 0; t < 2; t++) {
            read_level(totals[t], 0, got, sizeof got);
            CHECK_SAME(got, expected[t], sizeof got);
            CHECK_OK(revamp_texture_release(totals[t]));
        }
        CHECK_OK(revamp_texture_release(line));
        CHECK_OK(revamp_texture_release(box));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* A reference sampler that follows Direct3D's rules, for textures with one float per texel. */

enum { WIDE = 8, HIGH = 4, LEVELS = 3 };

typedef struct {
    int width, height;
    const float *texel;
} level;

static int outside(int i, int size, revamp_address address, bool *is_border) {
    if (i >= 0 && i < size) return i;
    if (address == REVAMP_ADDRESS_CLAMP) return i < 0 ? 0 : size - 1;
    if (address == REVAMP_ADDRESS_BORDER) *is_border = true;
    int period = address == REVAMP_ADDRESS_MIRROR ? 2 * size : size, rest = (i % period + period) % period;
    return rest < size ? rest : period - 1 - rest;
}

static float texel_at(const level *l, int x, int y, const revamp_sampler *s) {
    bool is_border = false;
    x = outside(x, l->width, s->address, &is_border);
    y = outside(y, l->height, s->address, &is_border);
    return is_border ? s->border_color[0] : l->texel[y * l->width + x];
}

static float sample_level(const level *l, float u, float v, const revamp_sampler *s) {
    float x = u * (float)l->width, y = v * (float)l->height;
    if (s->filter == REVAMP_FILTER_POINT) return texel_at(l, (int)floorf(x), (int)floorf(y), s);
    x -= 0.5F;
    y -= 0.5F;
    int left = (int)floorf(x), top = (int)floorf(y);
    float a = x - (float)left, b = y - (float)top;
    float upper = texel_at(l, left, top, s) * (1 - a) + texel_at(l, left + 1, top, s) * a;
    float lower = texel_at(l, left, top + 1, s) * (1 - a) + texel_at(l, left + 1, top + 1, s) * a;
    return upper * (1 - b) + lower * b;
}

static float sample_levels(const level *levels, const float *place, const revamp_sampler *s) {
    float lod = place[2] < 0 ? 0 : place[2] > LEVELS - 1 ? LEVELS - 1 : place[2];
    if (s->filter == REVAMP_FILTER_POINT)
        return sample_level(&levels[(int)ceilf(lod + 0.5F) - 1], place[0], place[1], s);
    int finer = (int)lod, coarser = finer + 1 < LEVELS ? finer + 1 : finer;
    float part = lod - (float)finer;
    return sample_level(&levels[finer], place[0], place[1], s) * (1 - part) +
           sample_level(&levels[coarser], place[0], place[1], s) * part;
}

TEST(samplers_filter_and_address) {
    enum { SAMPLES = 600 };
    static const int32_t size[] = {HIGH, WIDE}, count = SAMPLES;
    float texels[WIDE * HIGH + WIDE * HIGH / 4 + WIDE * HIGH / 16], sample_points[SAMPLES][4], got[SAMPLES][4];
    uint32_t state = 5;
    for (size_t i = 0; i < COUNT(texels); i++)
        texels[i] = (float)(random_number(&state) % 256) / 255;
    for (int i = 0; i < SAMPLES; i++) {
        sample_points[i][0] = (float)(random_number(&state) % 4096) / 1024 - 1.5F + 1.0F / 3000;
        sample_points[i][1] = (float)(random_number(&state) % 4096) / 1024 - 1.5F + 1.0F / 3000;
        sample_points[i][2] = (float)(random_number(&state) % 500) / 100 - 1 + 0.003F;
        sample_points[i][3] = 0;
    }
    const level levels[LEVELS] = {{WIDE, HIGH, texels},
                                  {WIDE / 2, HIGH / 2, texels + WIDE * HIGH},
                                  {WIDE / 4, HIGH / 4, texels + WIDE * HIGH + WIDE * HIGH / 4}};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &sample_module);
        revamp_texture picture = image_of(p, REVAMP_COMPONENT_FLOAT, 1, 32, 2, size, LEVELS);
        revamp_array at = array_1d(p->view, SAMPLES, 16), colours = array_1d(p->view, SAMPLES, 16);
        write_image(picture, texels, sizeof texels);
        write_array(at, sample_points);
        for (revamp_filter filter = REVAMP_FILTER_LINEAR; filter <= REVAMP_FILTER_POINT; filter++)
            for (revamp_address address = REVAMP_ADDRESS_CLAMP; address <= REVAMP_ADDRESS_BORDER + 1; address++) {
                revamp_sampler sampler = sampler_of(filter, address);
                if (address > REVAMP_ADDRESS_BORDER) {
                    sampler.address = REVAMP_ADDRESS_BORDER;
                    sampler.border_color[0] = 0.25F;
                }
                revamp_argument arguments[] = {revamp_argument_image(0, picture, 0, 0, &sampler),
                                               revamp_argument_buffer(1, at), revamp_argument_buffer(2, colours)};
                revamp_status status = launch(p->view, kernel, 1, &count, arguments, 3);
                /* Not every device has custom border colours. */
                if (status == REVAMP_ERROR_UNSUPPORTED_FEATURE && sampler.border_color[0] > 0) continue;
                CHECK_OK(status);
                CHECK_OK(revamp_copy_from_array(colours, got, sizeof got));
                int wrong = 0;
                for (int i = 0; i < SAMPLES; i++)
                    wrong += fabsf(got[i][0] - sample_levels(levels, sample_points[i], &sampler)) > 0.02F;
                CHECK_NUMBER(wrong, 0);
            }
        CHECK_OK(revamp_texture_release(picture));
        CHECK_OK(revamp_array_destroy(at));
        CHECK_OK(revamp_array_destroy(colours));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

CHILD(uses_many_border_colours) {
    enum { COLOURS = 600 };
    static const int32_t size[] = {4, 4}, one = 1;
    static const float outside[4] = {-1, -1, 0, 0}, texels[16];
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &sample_module);
        revamp_texture picture = image_of(p, REVAMP_COMPONENT_FLOAT, 1, 32, 2, size, 1);
        revamp_array at = array_1d(p->view, 1, 16), colour = array_1d(p->view, 1, 16);
        write_image(picture, texels, sizeof texels);
        write_array(at, outside);
        for (int i = 1; i <= COLOURS; i++) {
            revamp_sampler sampler = sampler_of(REVAMP_FILTER_LINEAR, REVAMP_ADDRESS_BORDER);
            sampler.border_color[0] = (float)i / 1024;
            revamp_argument arguments[] = {revamp_argument_image(0, picture, 0, 0, &sampler),
                                           revamp_argument_buffer(1, at), revamp_argument_buffer(2, colour)};
            float got[4];
            revamp_status status = launch(p->view, kernel, 1, &one, arguments, 3);
            if (i == 1 && status == REVAMP_ERROR_UNSUPPORTED_FEATURE) break;
            CHECK_OK(status);
            CHECK_OK(revamp_copy_from_array(colour, got, sizeof got));
            CHECK(got[0] == (float)i / 1024);
        }
        CHECK_OK(revamp_texture_release(picture));
        CHECK_OK(revamp_array_destroy(at));
        CHECK_OK(revamp_array_destroy(colour));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* The library destroys unused samplers to make room for new ones. */
TEST(unused_samplers_are_destroyed) {
    first_place_or_skip(runs_spirv);
    CHECK_CHILD("uses_many_border_colours", "REVAMP_TEST=samplers=200", NULL);
}

TEST(linear_filters_need_filterable_texels) {
    static const int32_t size[] = {4, 4}, count = 4;
    static const uint8_t texels[16] = {9, 8, 7, 6, 9, 8, 7, 6, 9, 8, 7, 6, 9, 8, 7, 6};
    static const uint32_t expected[] = {9, 8, 7, 6};
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t got[4] = {0};
        revamp_kernel kernel = load(p->accelerator, &codes_module);
        revamp_texture codes = image_of(p, REVAMP_COMPONENT_UINT, 1, 8, 2, size, 1);
        revamp_array results = array_1d(p->view, 4, 4);
        write_image(codes, texels, sizeof texels);
        for (revamp_filter filter = REVAMP_FILTER_LINEAR; filter <= REVAMP_FILTER_POINT; filter++) {
            revamp_sampler sampler = sampler_of(filter, REVAMP_ADDRESS_CLAMP);
            revamp_argument arguments[] = {revamp_argument_image(0, codes, 0, 0, NULL),
                                           revamp_argument_sampler(1, &sampler), revamp_argument_buffer(2, results)};
            revamp_status status = launch(p->view, kernel, 1, &count, arguments, 3);
            if (filter == REVAMP_FILTER_LINEAR)
                CHECK_FAILS(status, AS_UNSUPPORTED, "binding 1 of set 0 is given a linear sampler");
            else
                CHECK_OK(status);
        }
        CHECK_OK(revamp_copy_from_array(results, got, sizeof got));
        CHECK_SAME(got, expected, sizeof got);
        CHECK_OK(revamp_array_destroy(results));
        CHECK_OK(revamp_texture_release(codes));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* Checks that each texel of `level` is the mean of four texels of `finer`. */
static void check_means(float (*finer)[4], float (*level)[4], int side) {
    int wrong = 0;
    for (int i = 0; i < side * side; i++)
        for (int c = 0; c < 4; c++) {
            float *first = finer[i / side * 4 * side + i % side * 2];
            float mean = (first[c] + first[4 + c] + first[8 * side + c] + first[8 * side + 4 + c]) / 4;
            wrong += fabsf(level[i][c] - mean) > 1.0F;
        }
    CHECK_NUMBER(wrong, 0);
}

TEST(TEX_33_TEX_34_levels_are_made_of_the_ones_before) {
    enum { SIZE = 64 };
    static const int32_t size[] = {SIZE, SIZE};
    FOR_EACH_PLACE(p, runs_spirv) {
        const void *mark = memory_mark();
        revamp_kernel kernel = load(p->accelerator, &halve_module);
        revamp_texture texture = image_of(p, REVAMP_COMPONENT_FLOAT, 4, 32, 2, size, REVAMP_ALL_LEVELS);
        revamp_sampler linear = sampler_of(REVAMP_FILTER_LINEAR, REVAMP_ADDRESS_CLAMP);
        float(*finer)[4] = memory(SIZE * SIZE * 16), (*got)[4] = memory(SIZE * SIZE * 16);
        for (int i = 0; i < SIZE * SIZE * 4; i++)
            finer[i / 4][i % 4] = (float)(i * 37 % 256);
        revamp_texture_region base = levels_of(texture, 0, 1);
        CHECK_OK(revamp_copy_to_texture(finer, SIZE * SIZE * 16, &base));
        for (uint32_t l = 1; l <= 6; l++) {
            int32_t extent[] = {SIZE >> l, SIZE >> l};
            revamp_argument arguments[] = {revamp_argument_image(0, texture, l - 1, 1, NULL),
                                           revamp_argument_sampler(1, &linear),
                                           in_set(revamp_argument_image(0, texture, l, 1, NULL), 1)};
            CHECK_OK(launch(p->view, kernel, 2, extent, arguments, 3));
        }
        for (uint32_t l = 1; l <= 6; l++) {
            int side = SIZE >> l;
            read_level(texture, l, got, (size_t)side * (size_t)side * 16);
            check_means(finer, got, side);
            memcpy(finer, got, (size_t)side * (size_t)side * 16);
        }
        revamp_argument same[] = {revamp_argument_image(0, texture, 0, 2, NULL), revamp_argument_sampler(1, &linear),
                                  in_set(revamp_argument_image(0, texture, 1, 1, NULL), 1)};
        CHECK_FAILS(launch(p->view, kernel, 2, size, same, 3), AS_RUNTIME, "level");
        CHECK_OK(revamp_texture_release(texture));
        CHECK_OK(revamp_kernel_release(kernel));
        free_memory_since(mark);
    }
}

/* Recorded launches must not mistake a new texture for a released one. */
TEST(new_images_are_not_mistaken_for_released_ones) {
    static const int32_t size[] = {8, 8}, line_size[] = {8}, box_size[] = {2, 8, 8};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &images_module);
        for (uint32_t round = 0; round < 40; round++) {
            uint32_t zeros[64] = {0}, got[64];
            uint8_t box_texels[2 * 64][2];
            int16_t line_texels[8] = {0};
            memset(box_texels, (int)round, sizeof box_texels);
            revamp_texture line = image_of(p, REVAMP_COMPONENT_INT, 1, 16, 1, line_size, 1);
            revamp_texture box = image_of(p, REVAMP_COMPONENT_UINT, 2, 8, 3, box_size, 1);
            revamp_texture total = image_of(p, REVAMP_COMPONENT_UINT, 1, 32, 2, size, 1);
            write_image(line, line_texels, sizeof line_texels);
            write_image(box, box_texels, sizeof box_texels);
            write_image(total, zeros, sizeof zeros);
            revamp_argument arguments[] = {revamp_argument_image(0, total, 0, 0, NULL),
                                           revamp_argument_image(1, line, 0, 0, NULL),
                                           revamp_argument_image(2, box, 0, 0, NULL)};
            CHECK_OK(launch(p->view, kernel, 2, size, arguments, 3));
            CHECK_OK(launch(p->view, kernel, 2, size, arguments, 3));
            /* The launches may still be running. */
            CHECK_OK(revamp_texture_release(line));
            CHECK_OK(revamp_texture_release(box));
            read_level(total, 0, got, sizeof got);
            CHECK_NUMBER(got[17], 3 * round);
            CHECK_OK(revamp_texture_release(total));
        }
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

static void check_sampler_errors(const place *p, revamp_texture floats, revamp_texture total) {
    static const int32_t size = 4;
    revamp_kernel sample = load(p->accelerator, &sample_module);
    revamp_array array = array_1d(p->view, 64, 4);
    revamp_sampler good = sampler_of(REVAMP_FILTER_LINEAR, REVAMP_ADDRESS_CLAMP), wrong_filter = good,
                   wrong_address = good;
    wrong_filter.filter = 7;
    wrong_address.address = 7;
    const struct {
        revamp_argument argument;
        unsigned expected_statuses;
        const char *message;
    } cases[] = {{revamp_argument_image(0, floats, 0, 0, NULL), AS_ARGUMENT, "without a sampler"},
                 {revamp_argument_image(0, floats, 0, 0, &wrong_filter), AS_RUNTIME, "filter"},
                 {revamp_argument_image(0, floats, 0, 0, &wrong_address), AS_RUNTIME, "address"},
                 {revamp_argument_image(0, total, 0, 0, &good), AS_ARGUMENT, "texels of float"},
                 {revamp_argument_sampler(0, &good), AS_ARGUMENT, "sampler without a texture"},
                 {revamp_argument_sampler(0, NULL), AS_ARGUMENT, "NULL"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        revamp_argument arguments[] = {cases[i].argument, revamp_argument_buffer(1, array),
                                       revamp_argument_buffer(2, array)};
        CHECK_FAILS(launch(p->view, sample, 1, &size, arguments, 3), cases[i].expected_statuses, cases[i].message);
    }
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(sample));
}

TEST(mismatched_images_are_refused) {
    static const int32_t size[] = {4, 4}, line_size[] = {4}, box_size[] = {4, 4, 4};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &images_module);
        revamp_texture line = image_of(p, REVAMP_COMPONENT_INT, 1, 32, 1, line_size, 1);
        revamp_texture box = image_of(p, REVAMP_COMPONENT_UINT, 4, 8, 3, box_size, 2);
        revamp_texture total = image_of(p, REVAMP_COMPONENT_UINT, 1, 32, 2, size, 2);
        revamp_texture floats = image_of(p, REVAMP_COMPONENT_FLOAT, 1, 32, 2, size, 1);
        revamp_texture bytes = image_of(p, REVAMP_COMPONENT_UINT, 1, 8, 2, size, 1);
        revamp_texture signs = image_of(p, REVAMP_COMPONENT_INT, 2, 8, 3, box_size, 1);
        revamp_texture texels = texture_of(p, REVAMP_TEXTURE_STORAGE_TEXELS, REVAMP_COMPONENT_UINT, 1, 32, 2, size, 1);
        revamp_array array = array_1d(p->view, 64, 4);
        revamp_sampler linear = sampler_of(REVAMP_FILTER_LINEAR, REVAMP_ADDRESS_CLAMP);
        revamp_argument good[] = {revamp_argument_image(0, total, 0, 1, NULL),
                                  revamp_argument_image(1, line, 0, 0, NULL),
                                  revamp_argument_image(2, box, 0, 0, NULL)};
        const struct {
            revamp_argument argument;
            unsigned expected_statuses;
            const char *message;
        } cases[] = {
            {revamp_argument_image(0, line, 0, 1, NULL), AS_ARGUMENT, "2 dimensions, but the texture has 1"},
            {revamp_argument_image(0, floats, 0, 1, NULL), AS_ARGUMENT, "texels of uint"},
            {revamp_argument_image(0, bytes, 0, 1, NULL), AS_ARGUMENT, "R32ui"},
            {revamp_argument_image(0, total, 0, 0, NULL), AS_ARGUMENT, "2 levels"},
            {revamp_argument_image(0, total, 2, 1, NULL), AS_RUNTIME, "level"},
            {revamp_argument_image(0, texels, 0, 1, NULL), AS_RUNTIME, "not stored as an image"},
            {revamp_argument_image(0, total, 0, 1, &linear), AS_ARGUMENT, "sampler"},
            {revamp_argument_image(1, total, 0, 1, NULL), AS_ARGUMENT, "1 dimensions"},
            {revamp_argument_image(2, signs, 0, 1, NULL), AS_ARGUMENT, "texels of uint"},
            {revamp_argument_image(5, total, 0, 1, NULL), AS_ARGUMENT, "no binding 5"},
            {revamp_argument_buffer(0, array), AS_ARGUMENT, "storage image"},
            {revamp_argument_sampler(1, &linear), AS_ARGUMENT, "sampler without a texture"},
            {with_access(revamp_argument_image(0, total, 0, 1, NULL), REVAMP_ACCESS_READ), AS_ARGUMENT, "access"},
            {revamp_argument_image(0, NULL, 0, 1, NULL), AS_HANDLE, "null"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
            revamp_argument arguments[3];
            memcpy(arguments, good, sizeof good);
            arguments[cases[i].argument.binding % 3] = cases[i].argument;
            CHECK_FAILS(launch(p->view, kernel, 2, size, arguments, 3), cases[i].expected_statuses, cases[i].message);
        }
        revamp_argument twice[] = {good[0], good[1], good[2], good[1]};
        CHECK_FAILS(launch(p->view, kernel, 2, size, good, 2), AS_ARGUMENT, "sampled image");
        CHECK_FAILS(launch(p->view, kernel, 2, size, twice, 4), AS_ARGUMENT, "twice");
        check_sampler_errors(p, floats, total);
        CHECK_OK(launch(p->view, kernel, 2, size, good, 3));
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        revamp_texture all[] = {line, box, total, floats, bytes, signs, texels};
        for (size_t i = 0; i < COUNT(all); i++)
            CHECK_OK(revamp_texture_release(all[i]));
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}
