/* Tests of textures (docs/spec/textures.md): the rules TEX that apply to the C API. */
#include "views.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t kind, components, bits;
} format;

enum { INT = REVAMP_COMPONENT_INT, UINT, FLOAT, NORM, UNORM, DOUBLE };

/* All formats; those with three components come last. */
static const format formats[] = {
    {INT, 1, 8},    {INT, 2, 8},     {INT, 4, 8},     {INT, 1, 16},  {INT, 2, 16},   {INT, 4, 16},   {INT, 1, 32},
    {INT, 2, 32},   {INT, 4, 32},    {UINT, 1, 8},    {UINT, 2, 8},  {UINT, 4, 8},   {UINT, 1, 16},  {UINT, 2, 16},
    {UINT, 4, 16},  {UINT, 1, 32},   {UINT, 2, 32},   {UINT, 4, 32}, {FLOAT, 1, 16}, {FLOAT, 2, 16}, {FLOAT, 4, 16},
    {FLOAT, 1, 32}, {FLOAT, 2, 32},  {FLOAT, 4, 32},  {NORM, 1, 8},  {NORM, 2, 8},   {NORM, 4, 8},   {NORM, 1, 16},
    {NORM, 2, 16},  {NORM, 4, 16},   {UNORM, 1, 8},   {UNORM, 2, 8}, {UNORM, 4, 8},  {UNORM, 1, 16}, {UNORM, 2, 16},
    {UNORM, 4, 16}, {DOUBLE, 1, 64}, {DOUBLE, 2, 64}, {INT, 3, 32},  {UINT, 3, 32},  {FLOAT, 3, 32}};

static const format one_byte = {UINT, 1, 8}, one_float = {FLOAT, 1, 32}, three_floats = {FLOAT, 3, 32};

static revamp_texture_options texture_options(format f, uint32_t rank, const int32_t *extent) {
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = rank;
    options.extent = extent;
    options.component_kind = f.kind;
    options.components = f.components;
    options.bits = f.bits;
    return options;
}

enum { TEXELS = REVAMP_TEXTURE_STORAGE_TEXELS, IMAGE };

static revamp_texture texture_stored_as(uint32_t storage, const place *p, format f, uint32_t rank,
                                        const int32_t *extent, uint32_t levels) {
    revamp_texture texture = NULL;
    revamp_texture_options options = texture_options(f, rank, extent);
    options.levels = levels;
    /* Images cannot have three components. */
    options.storage = f.components == 3 ? TEXELS : storage;
    REQUIRE_OK(revamp_texture_create(p->view, &options, &texture));
    return texture;
}

static revamp_texture texture_of(const place *p, format f, uint32_t rank, const int32_t *extent, uint32_t levels) {
    return texture_stored_as(TEXELS, p, f, rank, extent, levels);
}

#define FOR_EACH_STORAGE(p, storage)                                                                                   \
    for (uint32_t storage = TEXELS; storage <= (runs_spirv(&(p)->info) ? IMAGE : TEXELS); storage++)

static revamp_texture staging_texture(const place *p, format f, uint32_t rank, const int32_t *extent) {
    revamp_texture texture = NULL;
    revamp_texture_options options = texture_options(f, rank, extent);
    options.associated_view = p->view;
    REQUIRE_OK(revamp_texture_create(cpu_view(), &options, &texture));
    return texture;
}

static revamp_texture_info texture_info(revamp_texture texture) {
    revamp_texture_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_texture_get_info(texture, &info));
    return info;
}

static revamp_texture_level_info level_info(revamp_texture texture, uint32_t level) {
    revamp_texture_level_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_texture_get_level(texture, level, &info));
    return info;
}

static revamp_texture_region all_levels_of(revamp_texture texture) {
    return levels_of(texture, 0, 0);
}

static revamp_texture_region texels_of(revamp_texture texture, uint32_t level, const int32_t *origin,
                                       const int32_t *extent) {
    revamp_texture_region region = levels_of(texture, level, 0);
    region.origin = origin;
    region.extent = extent;
    return region;
}

/* Fills the texture with random bytes, and returns them. */
static uint8_t *fill_texture(revamp_texture texture, uint32_t seed) {
    size_t size = (size_t)texture_info(texture).size;
    uint8_t *sent = memory(size);
    fill_bytes(sent, size, seed);
    revamp_texture_region all = all_levels_of(texture);
    CHECK_OK(revamp_copy_to_texture(sent, size, &all));
    return sent;
}

/* Checks the texels of a region, and that a copy to host memory writes no bytes after them. */
static void check_texels(const revamp_texture_region *region, const void *expected, size_t size) {
    uint8_t *got = memory(size + 8);
    memset(got, 0xA5, size + 8);
    CHECK_OK(revamp_copy_from_texture(region, got, size + 8));
    CHECK_SAME(got, expected, size);
    CHECK_SAME(got + size, "\xA5\xA5\xA5\xA5\xA5\xA5\xA5\xA5", 8);
}

static void check_texture(revamp_texture texture, const void *expected) {
    revamp_texture_region all = all_levels_of(texture);
    check_texels(&all, expected, (size_t)texture_info(texture).size);
}

static void release(revamp_texture texture) {
    CHECK_OK(revamp_texture_release(texture));
}

static const int32_t small_extents[3][3] = {{37}, {5, 7}, {3, 4, 5}};

TEST(TEX_2_TEX_62_every_format_and_rank_comes_back_bit_by_bit) {
    CHECK_NUMBER(COUNT(formats), 41);
    FOR_EACH_RUNNER(p)
    FOR_EACH_STORAGE(p, storage)
    for (size_t f = 0; f < COUNT(formats); f++)
        for (uint32_t rank = 1; rank <= 3; rank++) {
            const void *mark = memory_mark();
            const int32_t *extent = small_extents[rank - 1];
            revamp_texture texture = texture_stored_as(storage, p, formats[f], rank, extent, REVAMP_ALL_LEVELS);
            check_texture(texture, fill_texture(texture, (uint32_t)f * 3 + rank));
            release(texture);
            free_memory_since(mark);
        }
}

TEST(TEX_3_TEX_13_properties_of_textures) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent[] = {100, 200};
        static const format defaults[] = {{INT, 1, 0}, {UINT, 2, 0}, {FLOAT, 4, 0}, {DOUBLE, 1, 0}, {FLOAT, 3, 0}};
        static const uint32_t bits[] = {32, 32, 32, 64, 32}, bytes[] = {4, 8, 16, 8, 12};
        for (size_t i = 0; i < COUNT(defaults); i++) {
            revamp_texture texture = texture_of(p, defaults[i], 2, extent, 0);
            revamp_texture_info info = texture_info(texture);
            CHECK_NUMBER(info.rank, 2);
            CHECK(info.extent[0] == 100 && info.extent[1] == 200 && info.extent[2] == 1);
            CHECK_NUMBER(info.component_kind, defaults[i].kind);
            CHECK_NUMBER(info.components, defaults[i].components);
            CHECK_NUMBER(info.bits, bits[i]);
            CHECK_NUMBER(info.levels, 1);
            CHECK_NUMBER(info.texel_size, bytes[i]);
            CHECK_NUMBER(info.size, 100 * 200 * bytes[i]);
            CHECK(info.view == p->view && info.associated_view == p->view);
            CHECK(info.storage != REVAMP_TEXTURE_STORAGE_AUTO && !info.row_pitch && !info.depth_pitch);
            release(texture);
        }
    }
}

TEST(TEX_15_levels_halve_down_to_one_texel) {
    const place *p = first_place_or_skip(runs_kernels);
    const int32_t extent[] = {10, 3}, expected[][2] = {{10, 3}, {5, 1}, {2, 1}, {1, 1}};
    revamp_texture texture = texture_of(p, three_floats, 2, extent, REVAMP_ALL_LEVELS);
    uint64_t offset = 0;
    CHECK_NUMBER(texture_info(texture).levels, 4);
    for (uint32_t level = 0; level < 4; level++) {
        revamp_texture_level_info info = level_info(texture, level);
        CHECK(info.extent[0] == expected[level][0] && info.extent[1] == expected[level][1] && info.extent[2] == 1);
        CHECK_NUMBER(info.offset, offset);
        CHECK_NUMBER(info.size, product(2, expected[level]) * 12);
        offset += info.size;
    }
    CHECK_NUMBER(texture_info(texture).size, offset);
    revamp_texture_level_info info = {0};
    info.struct_size = sizeof info;
    CHECK_FAILS(revamp_texture_get_level(texture, 4, &info), AS_RUNTIME, "has 4");
    CHECK_FAILS(revamp_texture_get_level(texture, UINT32_MAX, &info), AS_RUNTIME, "has 4");
    release(texture);
}

TEST(TEX_5_TEX_6_TEX_8_invalid_textures_are_refused) {
    static const struct {
        format format;
        uint32_t rank;
        int32_t extent[4];
        uint32_t levels;
        unsigned expected_statuses;
    } cases[] = {
        {{FLOAT, 1, 7}, 1, {4}, 0, AS_RUNTIME},       {{FLOAT, 1, 12}, 1, {4}, 0, AS_RUNTIME},
        {{FLOAT, 1, 128}, 1, {4}, 0, AS_RUNTIME},     {{FLOAT, 1, 8}, 1, {4}, 0, AS_UNSUPPORTED},
        {{FLOAT, 1, 64}, 1, {4}, 0, AS_UNSUPPORTED},  {{INT, 1, 64}, 1, {4}, 0, AS_UNSUPPORTED},
        {{DOUBLE, 1, 32}, 1, {4}, 0, AS_UNSUPPORTED}, {{DOUBLE, 4, 64}, 1, {4}, 0, AS_UNSUPPORTED},
        {{UNORM, 1, 32}, 1, {4}, 0, AS_UNSUPPORTED},  {{UNORM, 3, 8}, 1, {4}, 0, AS_UNSUPPORTED},
        {{INT, 3, 16}, 1, {4}, 0, AS_UNSUPPORTED},    {{NORM, 4, 0}, 1, {4}, 0, AS_ARGUMENT},
        {{INT, 5, 8}, 1, {4}, 0, AS_ARGUMENT},        {{INT, 0, 8}, 1, {4}, 0, AS_ARGUMENT},
        {{0, 1, 8}, 1, {4}, 0, AS_ARGUMENT},          {{INT, 1, 8}, 0, {4}, 0, AS_BAD},
        {{INT, 1, 8}, 4, {4, 4, 4, 4}, 0, AS_BAD},    {{INT, 1, 8}, 2, {4, 0}, 0, AS_RUNTIME},
        {{INT, 1, 8}, 3, {4, 4, -1}, 0, AS_RUNTIME},  {{INT, 1, 8}, 1, {16385}, 0, AS_RUNTIME},
        {{INT, 1, 8}, 2, {1, 16385}, 0, AS_RUNTIME},  {{INT, 1, 8}, 3, {1, 1, 2049}, 0, AS_RUNTIME},
        {{INT, 1, 8}, 2, {8, 4}, 5, AS_RUNTIME},
    };
    const place *p = first_place_or_skip(runs_kernels);
    for (size_t i = 0; i < COUNT(cases); i++) {
        revamp_texture texture = NULL;
        revamp_texture_options options = texture_options(cases[i].format, cases[i].rank, cases[i].extent);
        options.levels = cases[i].levels;
        CHECK_FAILS(revamp_texture_create(p->view, &options, &texture), cases[i].expected_statuses, "");
        CHECK(!texture);
    }
    static const int32_t largest[] = {1, 16384}, deepest[] = {2048, 1, 1};
    release(texture_of(p, one_byte, 2, largest, REVAMP_ALL_LEVELS));
    release(texture_of(p, one_byte, 3, deepest, 12));
    revamp_texture texture = NULL;
    revamp_texture_options options = texture_options(one_byte, 2, largest);
    options.storage = 77;
    CHECK_FAILS(revamp_texture_create(p->view, &options, &texture), AS_ARGUMENT, "77");
    small_job();
}

TEST(TEX_7_the_cpu_has_staging_textures_only) {
    const int32_t extent[] = {4, 4};
    const place *p = first_place_or_skip(runs_kernels);
    revamp_texture texture = NULL;
    revamp_texture_options options = texture_options(one_float, 2, extent);
    CHECK_FAILS(revamp_texture_create(cpu_view(), &options, &texture), AS_UNSUPPORTED, "staging");
    options.associated_view = cpu_view();
    CHECK_FAILS(revamp_texture_create(cpu_view(), &options, &texture), AS_UNSUPPORTED, "staging");
    options.associated_view = p->view;
    options.levels = 2;
    CHECK_FAILS(revamp_texture_create(cpu_view(), &options, &texture), AS_RUNTIME, "one level");
    /* If neither view belongs to the cpu accelerator, the texture is not a staging texture. */
    options.levels = 1;
    REQUIRE_OK(revamp_texture_create(p->view, &options, &texture));
    void *data = &texture;
    CHECK_OK(revamp_texture_data(texture, REVAMP_ACCESS_READ, &data));
    CHECK(!data && texture_info(texture).associated_view == p->view);
    release(texture);
}

/* Copies a box of a packed level to packed memory or, if `to_level`, from packed memory to the level. */
static void copy_box(const uint8_t *level, uint32_t rank, const int32_t *extent, const int32_t *origin,
                     const int32_t *part, size_t texel, uint8_t *packed, bool to_level) {
    uint64_t count = product(rank, part);
    for (uint64_t i = 0; i < count; i++) {
        int32_t index[3];
        unfold(i, rank, part, index);
        uint64_t at = 0;
        for (uint32_t d = 0; d < rank; d++)
            at = at * (uint64_t)extent[d] + (uint64_t)(index[d] + origin[d]);
        uint8_t *there = (uint8_t *)level + at * texel, *here = packed + i * texel;
        memcpy(to_level ? there : here, to_level ? here : there, texel);
    }
}

TEST(TEX_63_sections_are_packed_on_the_host) {
    static const format tested_formats[] = {{UINT, 1, 8}, {UNORM, 2, 8}, {INT, 4, 16}, {FLOAT, 3, 32}, {DOUBLE, 2, 64}};
    static const int32_t extent[] = {20, 14, 18}, part[3][3] = {{5}, {3, 4}, {2, 3, 5}};
    static const int32_t origin[3][3] = {{3}, {1, 2}, {1, 2, 3}};
    FOR_EACH_RUNNER(p)
    FOR_EACH_STORAGE(p, storage)
    for (size_t f = 0; f < COUNT(tested_formats); f++)
        for (uint32_t rank = 1; rank <= 3; rank++)
            for (uint32_t level = 0; level < 2; level++) {
                const void *mark = memory_mark();
                revamp_texture texture = texture_stored_as(storage, p, tested_formats[f], rank, extent, 2);
                uint8_t *expected = fill_texture(texture, rank);
                revamp_texture_level_info info = level_info(texture, level);
                uint32_t texel = texture_info(texture).texel_size;
                size_t size = (size_t)product(rank, part[rank - 1]) * texel;
                uint8_t *box = memory(size);
                revamp_texture_region region = texels_of(texture, level, origin[rank - 1], part[rank - 1]);
                copy_box(expected + info.offset, rank, info.extent, origin[rank - 1], part[rank - 1], texel, box,
                         false);
                check_texels(&region, box, size);
                fill_bytes(box, size, 77);
                copy_box(expected + info.offset, rank, info.extent, origin[rank - 1], part[rank - 1], texel, box, true);
                CHECK_OK(revamp_copy_to_texture(box, size, &region));
                check_texture(texture, expected);
                release(texture);
                free_memory_since(mark);
            }
}

TEST(TEX_37_TEX_38_levels_are_copied_alone_and_together) {
    const int32_t extent[] = {16, 9};
    FOR_EACH_RUNNER(p)
    FOR_EACH_STORAGE(p, storage) {
        revamp_texture texture = texture_stored_as(storage, p, one_byte, 2, extent, 4);
        uint8_t *expected = fill_texture(texture, 5), some[64];
        fill_bytes(some, sizeof some, 6);
        revamp_texture_level_info first = level_info(texture, 1), last = level_info(texture, 3);
        revamp_texture_region one = levels_of(texture, 3, 1), two = levels_of(texture, 1, 2),
                              rest = levels_of(texture, 2, 0);
        check_texels(&one, expected + last.offset, (size_t)last.size);
        check_texels(&two, expected + first.offset, (size_t)(last.offset - first.offset));
        CHECK_OK(revamp_copy_to_texture(some, sizeof some, &two));
        memcpy(expected + first.offset, some, (size_t)(last.offset - first.offset));
        check_texture(texture, expected);
        check_texels(&rest, expected + level_info(texture, 2).offset, 4 * 2 + 2 * 1);
        static const uint32_t wrong[][2] = {{4, 0}, {0, 5}, {3, 2}, {1, UINT32_MAX}, {UINT32_MAX, 1}};
        for (size_t i = 0; i < COUNT(wrong); i++) {
            revamp_texture_region none = levels_of(texture, wrong[i][0], wrong[i][1]);
            CHECK_FAILS(revamp_copy_from_texture(&none, some, sizeof some), AS_RUNTIME, "levels");
        }
        release(texture);
    }
}

TEST(TEX_60_TEX_64_copies_that_do_not_fit) {
    FOR_EACH_RUNNER(p) {
        const int32_t extent[] = {6, 8};
        revamp_texture texture = texture_of(p, one_float, 2, extent, 2);
        const uint8_t *expected = fill_texture(texture, 9);
        uint8_t *host = memory(512);
        revamp_texture_region all = all_levels_of(texture), level = levels_of(texture, 0, 1);
        size_t size = (size_t)texture_info(texture).size;
        CHECK_FAILS(revamp_copy_to_texture(host, size - 1, &all), AS_RUNTIME, "bytes");
        CHECK_FAILS(revamp_copy_from_texture(&level, host, 6 * 8 * 4 - 1), AS_RUNTIME, "bytes");
        CHECK_FAILS(revamp_copy_to_texture(NULL, size, &all), AS_BAD, "NULL");
        CHECK_FAILS(revamp_copy_to_texture(host, size, NULL), AS_BAD, "NULL");
        static const int32_t boxes[][4] = {{0, 0, 7, 1}, {0, 0, 6, 9},  {5, 7, 2, 1}, {-1, 0, 1, 1},
                                           {0, 0, 0, 1}, {0, 0, 1, -1}, {6, 0, 1, 1}, {1, 1, INT32_MAX, 1}};
        for (size_t i = 0; i < COUNT(boxes); i++) {
            revamp_texture_region box = texels_of(texture, 0, boxes[i], boxes[i] + 2);
            CHECK_FAILS(revamp_copy_to_texture(host, 512, &box), AS_RUNTIME, "section");
            CHECK_FAILS(revamp_copy_from_texture(&box, host, 512), AS_RUNTIME, "section");
        }
        revamp_texture_region both = texels_of(texture, 0, boxes[0], NULL);
        both.level_count = 2;
        CHECK_FAILS(revamp_copy_to_texture(host, 512, &both), AS_RUNTIME, "one level");
        check_texture(texture, expected);
        release(texture);
    }
}

TEST(TEX_65_whole_textures_are_copied_with_all_levels) {
    static const format tested_formats[] = {{UINT, 1, 8}, {FLOAT, 3, 32}, {UNORM, 4, 8}};
    const int32_t extent[] = {9, 21};
    for (const place *p = first_place_or_skip(runs_kernels); p->view; p++)
        for (const place *q = places_that(runs_kernels); q->view; q++)
            FOR_EACH_STORAGE(p, storage)
    FOR_EACH_STORAGE(q, other)
    for (size_t f = 0; f < COUNT(tested_formats); f++) {
        const void *mark = memory_mark();
        revamp_texture a = texture_stored_as(storage, p, tested_formats[f], 2, extent, REVAMP_ALL_LEVELS);
        revamp_texture b = texture_stored_as(other, q, tested_formats[f], 2, extent, REVAMP_ALL_LEVELS);
        uint8_t *expected = fill_texture(a, (uint32_t)f);
        revamp_texture_region from = all_levels_of(a), to = all_levels_of(b);
        fill_texture(b, 99);
        CHECK_OK(revamp_copy_texture(&from, &to));
        check_texture(b, expected);
        check_texture(a, expected);
        release(a);
        release(b);
        free_memory_since(mark);
    }
}

TEST(TEX_65_TEX_66_textures_that_do_not_match) {
    const place *p = first_place_or_skip(runs_kernels);
    const int32_t extent[] = {8, 8}, other[] = {8, 16}, far[] = {1, 1}, part[] = {7, 7}, beyond[] = {8, 8};
    static const format one_half = {FLOAT, 1, 16}, two_floats = {FLOAT, 2, 32}, two_halves = {FLOAT, 2, 16},
                        one_int = {INT, 1, 32};
    revamp_texture a = texture_of(p, one_float, 2, extent, 2);
    const struct {
        revamp_texture b;
        bool fits;
    } cases[] = {{texture_of(p, one_float, 2, extent, 2), true},   {texture_of(p, one_int, 2, extent, 2), true},
                 {texture_of(p, one_float, 2, other, 2), false},   {texture_of(p, one_float, 2, extent, 1), false},
                 {texture_of(p, two_floats, 2, extent, 2), false}, {texture_of(p, one_half, 2, extent, 2), false},
                 {texture_of(p, two_halves, 2, extent, 2), false}, {texture_of(p, one_float, 1, extent, 2), false}};
    uint8_t *sent = fill_texture(a, 1);
    revamp_texture_region from = all_levels_of(a);
    for (size_t i = 0; i < COUNT(cases); i++) {
        revamp_texture_region to = all_levels_of(cases[i].b);
        uint8_t *before = fill_texture(cases[i].b, 2);
        if (cases[i].fits)
            CHECK_OK(revamp_copy_texture(&from, &to));
        else
            CHECK_FAILS(revamp_copy_texture(&from, &to), AS_RUNTIME, "");
        check_texture(cases[i].b, cases[i].fits ? sent : before);
    }
    CHECK_FAILS(revamp_copy_texture(&from, &from), AS_RUNTIME, "same texture");
    revamp_texture_region box = texels_of(a, 0, far, part), there = texels_of(cases[0].b, 0, far, part);
    CHECK_OK(revamp_copy_texture(&box, &there));
    for (size_t i = 4; i < 6; i++) {
        there = texels_of(cases[i].b, 0, far, part);
        CHECK_FAILS(revamp_copy_texture(&box, &there), AS_RUNTIME, "texels differ");
    }
    /* Copies between two levels of one texture are refused, too. */
    there = texels_of(a, 1, far, far);
    revamp_texture_region one = texels_of(a, 0, far, far), both = texels_of(cases[0].b, 0, far, far);
    CHECK_FAILS(revamp_copy_texture(&one, &there), AS_RUNTIME, "same texture");
    both.level_count = 2;
    CHECK_FAILS(revamp_copy_texture(&one, &both), AS_RUNTIME, "one level");
    there = texels_of(cases[0].b, 0, far, beyond);
    CHECK_FAILS(revamp_copy_texture(&box, &there), AS_RUNTIME, "section");
    there = texels_of(cases[0].b, 0, far, far);
    CHECK_FAILS(revamp_copy_texture(&box, &there), AS_RUNTIME, "extents differ");
    for (size_t i = 0; i < COUNT(cases); i++)
        release(cases[i].b);
    release(a);
}

TEST(TEX_66_sections_of_textures_anywhere) {
    static const format tested_formats[] = {{UINT, 1, 8}, {UNORM, 2, 8}, {FLOAT, 3, 32}, {FLOAT, 4, 32}};
    const int32_t extent[] = {6, 17, 19}, from[] = {1, 2, 3}, to[] = {3, 7, 5}, part[] = {3, 10, 11};
    for (const place *p = first_place_or_skip(runs_kernels); p->view; p++)
        for (const place *q = places_that(runs_kernels); q->view; q++)
            FOR_EACH_STORAGE(p, storage)
    FOR_EACH_STORAGE(q, other)
    for (size_t f = 0; f < COUNT(tested_formats); f++) {
        const void *mark = memory_mark();
        revamp_texture a = texture_stored_as(storage, p, tested_formats[f], 3, extent, 1),
                       b = texture_stored_as(other, q, tested_formats[f], 3, extent, 1);
        uint8_t *sent = fill_texture(a, 1), *expected = fill_texture(b, 2);
        uint32_t texel = texture_info(a).texel_size;
        uint8_t *box = memory((size_t)product(3, part) * texel);
        revamp_texture_region here = texels_of(a, 0, from, part), there = texels_of(b, 0, to, part);
        CHECK_OK(revamp_copy_texture(&here, &there));
        copy_box(sent, 3, extent, from, part, texel, box, false);
        copy_box(expected, 3, extent, to, part, texel, box, true);
        check_texture(b, expected);
        release(a);
        release(b);
        free_memory_since(mark);
    }
}

TEST(TEX_69_to_72_staging_textures_have_pitches) {
    static const format tested_formats[] = {{UINT, 1, 8}, {FLOAT, 3, 32}, {UNORM, 4, 16}};
    FOR_EACH_RUNNER(p)
    FOR_EACH_STORAGE(p, storage)
    for (size_t f = 0; f < COUNT(tested_formats); f++)
        for (uint32_t rank = 1; rank <= 3; rank++) {
            const void *mark = memory_mark();
            const int32_t *extent = small_extents[rank - 1];
            revamp_texture staging = staging_texture(p, tested_formats[f], rank, extent);
            revamp_texture texture = texture_stored_as(storage, p, tested_formats[f], rank, extent, 1);
            revamp_texture_info info = texture_info(staging);
            CHECK(info.view == cpu_view() && info.associated_view == p->view);
            size_t row = (size_t)info.extent[rank - 1] * info.texel_size, count = (size_t)info.size / row;
            CHECK(rank == 1 ? !info.row_pitch : info.row_pitch >= row);
            CHECK(rank < 3 ? !info.depth_pitch : info.depth_pitch >= info.row_pitch * (uint64_t)info.extent[1]);
            uint8_t *sent = memory((size_t)info.size);
            fill_bytes(sent, (size_t)info.size, rank);
            void *data = NULL;
            REQUIRE_OK(revamp_texture_data(staging, REVAMP_ACCESS_WRITE, &data));
            REQUIRE(data);
            size_t rows = rank == 3 ? (size_t)extent[1] : count;
            for (size_t r = 0; r < count; r++)
                memcpy((char *)data + r / rows * info.depth_pitch + r % rows * info.row_pitch, sent + r * row, row);
            check_texture(staging, sent);
            revamp_texture_region here = all_levels_of(staging), there = all_levels_of(texture);
            CHECK_OK(revamp_copy_texture(&here, &there));
            check_texture(texture, sent);
            uint8_t *second = fill_texture(texture, 44);
            CHECK_OK(revamp_copy_texture(&there, &here));
            REQUIRE_OK(revamp_texture_data(staging, REVAMP_ACCESS_READ, &data));
            for (size_t r = 0; r < count; r++)
                CHECK_SAME((char *)data + r / rows * info.depth_pitch + r % rows * info.row_pitch, second + r * row,
                           row);
            release(staging);
            release(texture);
            free_memory_since(mark);
        }
}

TEST(TEX_68_copies_that_return_at_once) {
    const int32_t extent[] = {257, 511};
    FOR_EACH_RUNNER(p)
    FOR_EACH_STORAGE(p, storage) {
        const void *mark = memory_mark();
        revamp_texture a = texture_stored_as(storage, p, one_float, 2, extent, 2),
                       b = texture_stored_as(storage, p, one_float, 2, extent, 2);
        revamp_texture_region from = all_levels_of(a), to = all_levels_of(b);
        size_t size = (size_t)texture_info(a).size;
        uint8_t *sent = memory(size), *got = memory(size);
        fill_bytes(sent, size, 3);
        revamp_completion up = NULL, across = NULL, down = NULL;
        CHECK_OK(revamp_copy_to_texture_async(sent, size, &from, NULL, &up));
        CHECK_OK(revamp_copy_texture_async(&from, &to, NULL, &across));
        CHECK_OK(revamp_copy_from_texture_async(&to, got, size, NULL, &down));
        expect_done(down);
        CHECK_SAME(got, sent, size);
        expect_done(across);
        expect_done(up);
        CHECK_FAILS(revamp_copy_from_texture_async(&to, got, size - 1, NULL, &down), AS_RUNTIME, "bytes");
        CHECK_FAILS(revamp_copy_texture_async(&to, &to, NULL, &down), AS_RUNTIME, "same texture");
        CHECK_FAILS(revamp_copy_to_texture_async(sent, 3, &to, NULL, &down), AS_RUNTIME, "bytes");
        release(a);
        release(b);
        free_memory_since(mark);
    }
}

/* Launches. */

typedef struct {
    const float *x;
    float *y;
    float a;
    uint32_t n;
} saxpy_block;

static void saxpy(const revamp_thread_id *id, void *context) {
    const saxpy_block *b = context;
    if ((uint32_t)id->global[0] < b->n) b->y[id->global[0]] += b->a * b->x[id->global[0]];
}

/* Launches a kernel that computes y += 2 x, on any accelerator. */
static revamp_status try_saxpy(const place *p, revamp_argument x, revamp_argument y, uint32_t n) {
    int32_t extent = (int32_t)n;
    saxpy_block block = {NULL, NULL, 2, n};
    x.offset = 0;
    y.offset = 8;
    revamp_argument arguments[] = {x, y};
    revamp_status status;
    if (runs_spirv(&p->info)) {
        revamp_kernel kernel = load(p->accelerator, &address_module);
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = 2;
        info.block = &block;
        info.block_size = sizeof block;
        status = revamp_dispatch(p->view, kernel, &info);
        CHECK_OK(revamp_kernel_release(kernel));
    } else {
        revamp_parallel_for_each_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.function = saxpy;
        info.arguments = arguments;
        info.argument_count = 2;
        info.block = &block;
        info.block_size = sizeof block;
        status = revamp_parallel_for_each(p->view, &info);
    }
    return status;
}

static revamp_argument level_argument(revamp_texture texture, uint32_t level, uint32_t count, revamp_access access) {
    return revamp_argument_texture_address(0, texture, level, count, access);
}

TEST(TEX_34_TEX_74_kernels_and_copies_follow_each_other) {
    const int32_t extent = 64;
    FOR_EACH_RUNNER(p) {
        revamp_texture texture = texture_of(p, one_float, 1, &extent, 2);
        revamp_texture other = texture_of(p, one_float, 1, &extent, 2);
        float expected[96], got[96];
        for (int i = 0; i < 96; i++)
            expected[i] = (float)i;
        revamp_texture_region all = all_levels_of(texture), there = all_levels_of(other);
        CHECK_OK(revamp_copy_to_texture(expected, sizeof expected, &all));
        for (int round = 0; round < 3; round++) {
            /* The kernel reads one level and writes the other. */
            CHECK_OK(try_saxpy(p, level_argument(texture, 1, 1, REVAMP_ACCESS_READ),
                               level_argument(texture, 0, 1, REVAMP_ACCESS_READ_WRITE), 32));
            CHECK_OK(revamp_copy_texture(&all, &there));
            CHECK_OK(try_saxpy(p, level_argument(other, 0, 1, REVAMP_ACCESS_READ),
                               level_argument(texture, 1, 0, REVAMP_ACCESS_READ_WRITE), 32));
            for (int i = 0; i < 32; i++)
                expected[i] += 2 * expected[64 + i];
            for (int i = 0; i < 32; i++)
                expected[64 + i] += 2 * expected[i];
        }
        CHECK_OK(revamp_copy_from_texture(&all, got, sizeof got));
        CHECK_SAME(got, expected, sizeof got);
        release(texture);
        release(other);
    }
}

TEST(TEX_33_TEX_35_one_level_is_not_read_and_written_by_two) {
    const int32_t extent = 64;
    const revamp_access R = REVAMP_ACCESS_READ, W = REVAMP_ACCESS_WRITE, RW = REVAMP_ACCESS_READ_WRITE;
    const struct {
        uint32_t level, count;
        revamp_access access;
        uint32_t other_level, other_count;
        revamp_access other_access;
        bool fits;
    } cases[] = {{0, 0, R, 0, 1, RW, false}, {0, 1, W, 0, 0, R, false}, {0, 2, R, 1, 1, RW, false},
                 {1, 1, R, 0, 0, W, false},  {0, 1, R, 0, 1, 0, false}, {0, 1, R, 1, 1, RW, true},
                 {0, 1, RW, 0, 1, RW, true}, {0, 1, RW, 0, 1, W, true}, {0, 2, R, 2, 1, W, true},
                 {0, 3, R, 1, 1, R, true}};
    FOR_EACH_RUNNER(p) {
        revamp_texture texture = texture_of(p, one_float, 1, &extent, 3);
        fill_texture(texture, 1);
        for (size_t i = 0; i < COUNT(cases); i++) {
            revamp_argument x = level_argument(texture, cases[i].level, cases[i].count, cases[i].access);
            revamp_argument y =
                level_argument(texture, cases[i].other_level, cases[i].other_count, cases[i].other_access);
            if (cases[i].fits)
                CHECK_OK(try_saxpy(p, x, y, 1));
            else
                CHECK_FAILS(try_saxpy(p, x, y, 1), AS_RUNTIME, "level");
        }
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        release(texture);
    }
}

TEST(TEX_31_TEX_32_textures_run_where_they_live) {
    const int32_t extent = 64;
    const place *p = first_place_or_skip(runs_kernels);
    revamp_texture here = texture_of(p, one_float, 1, &extent, 1), staging = staging_texture(p, one_float, 1, &extent);
    revamp_argument good = level_argument(here, 0, 1, REVAMP_ACCESS_READ_WRITE), bad = good;
    CHECK_FAILS(try_saxpy(p, level_argument(staging, 0, 1, REVAMP_ACCESS_READ), good, 1), AS_RUNTIME, "staging");
    bad.level = 1;
    CHECK_FAILS(try_saxpy(p, bad, good, 1), AS_RUNTIME, "level");
    bad.level = 0;
    bad.extent = &extent;
    CHECK_FAILS(try_saxpy(p, bad, good, 1), AS_ARGUMENT, "texture");
    place elsewhere = on_view(p, new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC));
    revamp_texture there = texture_of(&elsewhere, one_float, 1, &extent, 1);
    revamp_argument far = level_argument(there, 0, 1, REVAMP_ACCESS_READ),
                    argument_here = level_argument(here, 0, 1, 0);
    CHECK_FAILS(try_saxpy(p, far, argument_here, 1), AS_RUNTIME, "texture 0");
    CHECK_FAILS(try_saxpy(&elsewhere, far, argument_here, 1), AS_RUNTIME, "texture 1");
    place open = *p;
    open.view = NULL;
    CHECK_FAILS(try_saxpy(&open, far, argument_here, 1), AS_RUNTIME, "textures");
    revamp_texture second_there = texture_of(&elsewhere, one_float, 1, &extent, 1);
    fill_texture(there, 1);
    fill_texture(second_there, 2);
    CHECK_OK(try_saxpy(&open, far, level_argument(second_there, 0, 1, 0), 1));
    CHECK_OK(revamp_accelerator_view_wait(elsewhere.view));
    release(second_there);
    release(here);
    release(there);
    release(staging);
    CHECK_OK(revamp_accelerator_view_release(elsewhere.view));
}

TEST(images_are_refused_where_unsupported) {
    const int32_t extent = 64;
    FOR_EACH_RUNNER(p) {
        revamp_texture texture = NULL;
        revamp_texture_options options = texture_options(three_floats, 1, &extent);
        options.storage = IMAGE;
        CHECK_FAILS(revamp_texture_create(p->view, &options, &texture), AS_UNSUPPORTED, "image");
        options.component_kind = UINT;
        options.components = 1;
        if (!runs_spirv(&p->info)) {
            CHECK_FAILS(revamp_texture_create(p->view, &options, &texture), AS_UNSUPPORTED, "image");
            options.associated_view = p->view;
            CHECK_FAILS(revamp_texture_create(cpu_view(), &options, &texture), AS_UNSUPPORTED, "image");
            continue;
        }
        REQUIRE_OK(revamp_texture_create(p->view, &options, &texture));
        CHECK_NUMBER(texture_info(texture).storage, IMAGE);
        revamp_argument argument = level_argument(texture, 0, 1, REVAMP_ACCESS_READ);
        CHECK_FAILS(try_saxpy(p, argument, argument, 1), AS_RUNTIME, "image");
        release(texture);
    }
}

TEST(large_images_are_copied_in_pieces) {
    const int32_t extent[] = {700, 1900}, from[] = {3, 5}, part[] = {690, 1801};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_texture image = texture_stored_as(IMAGE, p, one_float, 2, extent, REVAMP_ALL_LEVELS);
        uint8_t *expected = fill_texture(image, 8);
        check_texture(image, expected);
        size_t size = (size_t)product(2, part) * 4;
        uint8_t *box = memory(size);
        revamp_texture_region region = texels_of(image, 0, from, part);
        copy_box(expected, 2, extent, from, part, 4, box, false);
        check_texels(&region, box, size);
        fill_bytes(box, size, 9);
        copy_box(expected, 2, extent, from, part, 4, box, true);
        CHECK_OK(revamp_copy_to_texture(box, size, &region));
        check_texture(image, expected);
        release(image);
    }
}

/* Random copies between textures of all storages and accelerators, compared with a model of their bytes. */

enum { MEMBERS = 6, STEPS = 150, MAX_PENDING = 8 };

typedef struct {
    revamp_texture texture;
    uint8_t *bytes;
} member;

static void random_box(uint32_t *state, uint32_t rank, const int32_t *extent, int32_t *origin, int32_t *part) {
    for (uint32_t d = 0; d < rank; d++) {
        origin[d] = (int32_t)(random_number(state) % (uint32_t)extent[d]);
        part[d] = 1 + (int32_t)(random_number(state) % (uint32_t)(extent[d] - origin[d]));
    }
}

static void random_copies(const revamp_accelerator_view *views, size_t view_count, const bool *has_images, format f,
                          uint32_t rank, uint32_t seed) {
    static const int32_t extent[] = {9, 14, 11};
    uint32_t state = seed;
    member members[MEMBERS];
    revamp_completion open[MAX_PENDING];
    size_t pending_count = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        place at = {0};
        at.view = views[i % view_count];
        uint32_t storage = has_images[i % view_count] && random_number(&state) % 2 ? IMAGE : TEXELS;
        members[i].texture = i == 0 ? staging_texture(&at, f, rank, extent)
                                    : texture_stored_as(storage, &at, f, rank, extent, i % 3 ? 1 : 2);
        members[i].bytes = fill_texture(members[i].texture, (uint32_t)i);
    }
    uint32_t texel = texture_info(members[0].texture).texel_size;
    for (int step = 0; step < STEPS; step++) {
        member *a = &members[random_number(&state) % MEMBERS], *b = &members[random_number(&state) % MEMBERS];
        uint32_t levels = texture_info(a->texture).levels, level = random_number(&state) % levels;
        revamp_texture_level_info info = level_info(a->texture, level);
        int32_t origin[3], part[3], to[3];
        random_box(&state, rank, info.extent, origin, part);
        size_t size = (size_t)product(rank, part) * texel;
        uint8_t *box = memory(size);
        revamp_texture_region region = texels_of(a->texture, level, origin, part);
        revamp_completion *next =
            random_number(&state) % 2 && pending_count < MAX_PENDING ? &open[pending_count++] : NULL;
        switch (random_number(&state) % 3) {
        case 0:
            fill_bytes(box, size, random_number(&state));
            copy_box(a->bytes + info.offset, rank, info.extent, origin, part, texel, box, true);
            CHECK_OK(next ? revamp_copy_to_texture_async(box, size, &region, NULL, next)
                          : revamp_copy_to_texture(box, size, &region));
            break;
        case 1:
            CHECK_OK(next ? revamp_copy_from_texture_async(&region, box, size, NULL, next)
                          : revamp_copy_from_texture(&region, box, size));
            if (next) CHECK_OK(revamp_completion_get(*next));
            uint8_t *expected = memory(size);
            copy_box(a->bytes + info.offset, rank, info.extent, origin, part, texel, expected, false);
            CHECK_SAME(box, expected, size);
            break;
        default: {
            /* Copies to a random position in the first level of another texture. */
            revamp_texture_level_info there = level_info(b->texture, 0);
            for (uint32_t d = 0; d < rank; d++)
                to[d] = (int32_t)(random_number(&state) % (uint32_t)(there.extent[d] - part[d] + 1));
            revamp_texture_region into = texels_of(b->texture, 0, to, part);
            if (a == b) {
                if (next) pending_count--;
                break;
            }
            CHECK_OK(next ? revamp_copy_texture_async(&region, &into, NULL, next)
                          : revamp_copy_texture(&region, &into));
            copy_box(a->bytes + info.offset, rank, info.extent, origin, part, texel, box, false);
            copy_box(b->bytes, rank, there.extent, to, part, texel, box, true);
        }
        }
        if (pending_count == MAX_PENDING || step == STEPS - 1)
            while (pending_count)
                expect_done(open[--pending_count]);
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        check_texture(members[i].texture, members[i].bytes);
        release(members[i].texture);
    }
}

TEST(TEX_62_TEX_68_copies_at_random) {
    static const format tested_formats[] = {{UINT, 1, 8}, {NORM, 2, 8}, {FLOAT, 3, 32}, {UINT, 4, 16}, {DOUBLE, 2, 64}};
    revamp_accelerator_view views[8], new_views[8];
    bool has_images[8];
    size_t count = 0, new_count = 0;
    FOR_EACH_RUNNER(p) {
        if (count + 2 > COUNT(views)) break;
        views[count] = p->view;
        has_images[count++] = runs_spirv(&p->info);
        if (!runs_spirv(&p->info)) continue;
        views[count] = new_views[new_count++] = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
        has_images[count++] = true;
    }
    for (uint32_t f = 0; f < COUNT(tested_formats); f++)
        for (uint32_t rank = 1; rank <= 3; rank++) {
            const void *mark = memory_mark();
            random_copies(views, count, has_images, tested_formats[f], rank, f * 3 + rank);
            free_memory_since(mark);
        }
    while (new_count > 0)
        CHECK_OK(revamp_accelerator_view_release(new_views[--new_count]));
}
