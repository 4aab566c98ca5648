/* Tests of compute shaders like those of public samples (kernels/samples.glsl, .hlsl). Each gives the right result, or
 * is refused with an error that names the binding. The test finds the bindings by reflection. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.inc"

enum { THREADS = 64, MAX_ARGUMENTS = 32, WORDS = 1024 * 4 };

typedef struct {
    const char *name;
    const uint32_t *words;
    size_t size;
    /* Part of the error's text; empty if the shader runs. */
    const char *expected_error;
} sample;

static const sample samples[] = {
#define SAMPLE(name, text) {#name, name##_words, sizeof name##_words, text},
    SAMPLES(SAMPLE)
#undef SAMPLE
};

/* The arguments of a launch. */
typedef struct {
    revamp_argument arguments[MAX_ARGUMENTS];
    size_t count;
    revamp_array arrays[MAX_ARGUMENTS];
    revamp_texture textures[MAX_ARGUMENTS];
    uint32_t constants[MAX_ARGUMENTS][WORDS];
} sample_launch;

static revamp_texture texture_of(revamp_accelerator_view view, uint32_t dimensions, uint32_t first) {
    static const int32_t extents[3][3] = {{THREADS}, {8, 8}, {4, 4, 4}};
    uint32_t texels[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        texels[i] = i + first;
    revamp_texture_options options = REVAMP_TEXTURE_OPTIONS_INIT;
    options.rank = dimensions;
    options.extent = extents[dimensions - 1];
    options.component_kind = REVAMP_COMPONENT_UINT;
    options.components = 1;
    options.bits = 32;
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    revamp_texture texture = NULL;
    REQUIRE_OK(revamp_texture_create(view, &options, &texture));
    revamp_texture_region region = levels_of(texture, 0, 0);
    REQUIRE_OK(revamp_copy_to_texture(texels, sizeof texels, &region));
    return texture;
}

static revamp_array numbers_from(revamp_accelerator_view view, uint32_t first) {
    uint32_t words[4 * THREADS];
    for (uint32_t i = 0; i < COUNT(words); i++)
        words[i] = i + first;
    return array_with(view, words, COUNT(words));
}

/* Adds descriptor `element` of a binding. */
static void bind(sample_launch *l, const place *p, const revamp_binding_info *b, uint32_t element) {
    static const revamp_sampler point = {sizeof point, REVAMP_FILTER_POINT, REVAMP_ADDRESS_CLAMP, {0, 0, 0, 0}};
    size_t n = l->count++;
    REQUIRE(n < MAX_ARGUMENTS);
    revamp_argument *a = &l->arguments[n];
    *a = (revamp_argument)REVAMP_ARGUMENT_INIT;
    a->set = b->set;
    a->binding = b->binding;
    a->id = element;
    switch (b->kind) {
    case REVAMP_BINDING_UNIFORM_BUFFER:
        for (size_t i = 0; i < WORDS; i++)
            l->constants[n][i] = 7 + element;
        a->kind = REVAMP_ARGUMENT_UNIFORM;
        a->data = l->constants[n];
        a->size = (size_t)b->min_size;
        break;
    case REVAMP_BINDING_STORAGE_BUFFER:
        a->kind = REVAMP_ARGUMENT_BUFFER;
        a->array = l->arrays[n] = numbers_from(p->view, element);
        break;
    case REVAMP_BINDING_SAMPLER:
        a->kind = REVAMP_ARGUMENT_SAMPLER;
        a->data = &point;
        break;
    default:
        a->kind = REVAMP_ARGUMENT_IMAGE;
        a->texture = l->textures[n] = texture_of(p->view, b->dimensions, element);
        if (b->kind == REVAMP_BINDING_COMBINED_IMAGE_SAMPLER) a->data = &point;
    }
}

static void check_sample(const place *p, revamp_kernel kernel, const char *name) {
    sample_launch *l = calloc(1, sizeof *l);
    REQUIRE(l);
    revamp_kernel_info info = kernel_info(kernel);
    revamp_array result = NULL;
    for (uint32_t n = 0; n < info.binding_count; n++) {
        revamp_binding_info b = REVAMP_BINDING_INFO_INIT;
        REQUIRE_OK(revamp_kernel_get_binding(kernel, n, &b));
        for (uint32_t element = 0; element < b.count; element++) {
            bind(l, p, &b, element);
            if (n == 0 && b.set == 0 && b.binding == 0) result = l->arrays[0];
        }
    }
    uint32_t push[32];
    for (size_t i = 0; i < COUNT(push); i++)
        push[i] = 7;
    if (info.push_constant_size)
        l->arguments[l->count++] = revamp_argument_push_constant(0, push, info.push_constant_size);
    static const int32_t extent[] = {THREADS};
    CHECK_OK(launch(p->view, kernel, 1, extent, l->arguments, l->count));
    uint32_t *got = read_array(result);
    for (uint32_t i = 0; i < THREADS; i++) {
        if (got[i] == 3 * i + 7) continue;
        fprintf(stderr, "%s: element %u\n", name, i);
        CHECK_NUMBER(got[i], 3 * i + 7);
        break;
    }
    for (size_t n = 0; n < MAX_ARGUMENTS; n++) {
        if (l->arrays[n]) CHECK_OK(revamp_array_destroy(l->arrays[n]));
        if (l->textures[n]) CHECK_OK(revamp_texture_release(l->textures[n]));
    }
    free(l);
}

TEST(samples_run_or_are_refused_by_name) {
    CHECK(COUNT(samples) >= 60);
    FOR_EACH_PLACE(p, runs_spirv)
    for (size_t i = 0; i < COUNT(samples); i++) {
        const sample *s = &samples[i];
        revamp_kernel kernel = NULL;
        revamp_status status = try_load(p->accelerator, s->words, s->size, NULL, &kernel);
        if (*s->expected_error) {
            CHECK_FAILS(status, AS_UNSUPPORTED, s->expected_error);
            continue;
        }
        if (status != REVAMP_OK) fprintf(stderr, "%s: %s\n", s->name, revamp_last_error_message());
        /* Skips the shader: the device lacks a feature, and the error names it. */
        if (status == REVAMP_ERROR_UNSUPPORTED_FEATURE && strstr(revamp_last_error_message(), "device feature"))
            continue;
        CHECK_OK(status);
        if (status != REVAMP_OK) continue;
        check_sample(p, kernel, s->name);
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

static const sample *find_sample(const char *name) {
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!strcmp(samples[i].name, name)) return &samples[i];
    abort();
}

static revamp_kernel load_sample(const place *p, const char *name) {
    revamp_kernel kernel = NULL;
    REQUIRE_OK(try_load(p->accelerator, find_sample(name)->words, find_sample(name)->size, NULL, &kernel));
    return kernel;
}

/* If an array is bound as a uniform buffer, the kernel sees earlier writes of kernels and copies. */
TEST(an_array_may_be_bound_as_a_uniform_block) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel sum = load_sample(p, "uniform_block"), step = load(p->accelerator, &step_module);
        uint32_t parameters[64] = {2};
        revamp_array block = array_with(p->view, parameters, COUNT(parameters)), result = array_1d(p->view, THREADS, 4);
        revamp_array_view view = NULL;
        REQUIRE_OK(revamp_array_view_create_host(parameters, 1, (const int32_t[]){64}, 4, NULL, &view));
        static const int32_t extent[] = {THREADS};
        for (int round = 0; round < 3; round++) {
            /* The step kernel changes the parameter from 2 to 7 (3 n + 1). */
            write_array(block, parameters);
            REQUIRE_OK(launch_step(p->view, step, block));
            revamp_argument arguments[] = {revamp_argument_buffer(0, result), revamp_argument_buffer(1, block)};
            CHECK_OK(launch(p->view, sum, 1, extent, arguments, 2));
            uint32_t *got = read_array(result);
            for (uint32_t i = 0; i < THREADS; i++)
                CHECK_NUMBER(got[i], 3 * i + 7);
            arguments[1] = revamp_argument_view(1, view);
            CHECK_OK(launch(p->view, sum, 1, extent, arguments, 2));
            got = read_array(result);
            CHECK_NUMBER(got[63], 3 * 63 + 2);
        }
        CHECK_OK(revamp_array_view_release(view));
        CHECK_OK(revamp_array_destroy(block));
        CHECK_OK(revamp_array_destroy(result));
        CHECK_OK(revamp_kernel_release(sum));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* The call reads the bytes of a uniform block, even if the launch begins later. */
TEST(uniform_bytes_are_read_at_the_call) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load_sample(p, "uniform_block");
        revamp_array result = array_1d(p->view, THREADS, 4);
        revamp_completion trigger = NULL, done = NULL;
        REQUIRE_OK(revamp_completion_create(&trigger));
        uint32_t offset = 7;
        revamp_argument arguments[] = {revamp_argument_buffer(0, result),
                                       revamp_argument_uniform(1, &offset, sizeof offset)};
        static const int32_t extent[] = {THREADS};
        revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
        info.rank = 1;
        info.extent = extent;
        info.arguments = arguments;
        info.argument_count = 2;
        revamp_async_options options = REVAMP_ASYNC_OPTIONS_INIT;
        options.after = &trigger;
        options.after_count = 1;
        REQUIRE_OK(revamp_dispatch_async(p->view, kernel, &info, &options, &done));
        offset = 8;
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        expect_done(done);
        uint32_t *got = read_array(result);
        CHECK_NUMBER(got[1], 10);
        for (offset = 0; offset < 200; offset++)
            CHECK_OK(revamp_dispatch(p->view, kernel, &info));
        got = read_array(result);
        CHECK_NUMBER(got[1], 3 + 199);
        CHECK_OK(revamp_completion_release(trigger));
        CHECK_OK(revamp_array_destroy(result));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

TEST(errors_name_mismatched_bindings) {
    static const int32_t extent[] = {THREADS};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel block = load_sample(p, "uniform_block"), list = load_sample(p, "array_of_uniform_blocks");
        revamp_array result = array_1d(p->view, THREADS, 4);
        uint32_t words[16] = {7};
        revamp_argument a[6] = {revamp_argument_buffer(0, result), revamp_argument_uniform(1, words, 3)};
        CHECK_FAILS(launch(p->view, block, 1, extent, a, 2), AS_ARGUMENT, "needs at least 4 bytes");
        a[1] = revamp_argument_uniform(0, words, 4);
        CHECK_FAILS(launch(p->view, block, 1, extent, a + 1, 1), AS_ARGUMENT, "(Out) is a storage buffer");
        CHECK_FAILS(launch(p->view, block, 1, extent, a, 1), AS_ARGUMENT,
                    "(Parameters), a uniform buffer, is not given");
        a[1] = revamp_argument_uniform(1, words, 4);
        a[1].id = 1;
        CHECK_FAILS(launch(p->view, block, 1, extent, a, 2), AS_ARGUMENT, "descriptor 1 does not exist");
        size_t size = (size_t)p->info.max_uniform_buffer_range + 4;
        char *large = calloc(1, size);
        a[1] = revamp_argument_uniform(1, large, size);
        if (p->info.max_uniform_buffer_range < 1 << 30)
            CHECK_FAILS(launch(p->view, block, 1, extent, a, 2), AS_ARGUMENT, "a binding covers");
        free(large);
        for (uint32_t n = 0; n < 4; n++) {
            a[n + 1] = revamp_argument_uniform(1, words, 4);
            a[n + 1].id = n;
        }
        CHECK_OK(launch(p->view, list, 1, extent, a, 5));
        CHECK_FAILS(launch(p->view, list, 1, extent, a, 4), AS_ARGUMENT,
                    "descriptor 3 of binding 1 of set 0 (parameters)");
        a[4].id = 2;
        CHECK_FAILS(launch(p->view, list, 1, extent, a, 5), AS_ARGUMENT,
                    "descriptor 2 of binding 1 of set 0 (parameters) is given twice");
        CHECK_OK(revamp_array_destroy(result));
        CHECK_OK(revamp_kernel_release(block));
        CHECK_OK(revamp_kernel_release(list));
    }
    small_job();
}
