/* Computes y = a * x + y on the default accelerator, with arrays, copies and one dispatch. */
#include <revamp.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { COUNT = 1000003 }; /* no multiple of the workgroup size: the kernel checks its bounds */

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

static float x[COUNT], y[COUNT];

/* The elements are small integers: every result is exact, with fma and without. */
static float x_at(int i) {
    return (float)(i % 1000);
}
static float y_at(int i) {
    return (float)(i % 77);
}

static revamp_array upload(revamp_accelerator_view view, const float *values) {
    int32_t extent = COUNT;
    revamp_array array;
    CHECK(revamp_array_create(view, 1, &extent, sizeof *values, NULL, &array));
    CHECK(revamp_copy_to_array(values, COUNT * sizeof *values, array));
    return array;
}

static void launch(revamp_kernel kernel, float a, revamp_array x_array, revamp_array y_array) {
    int32_t extent = COUNT;
    uint32_t count = COUNT;
    revamp_argument arguments[] = {
        revamp_argument_buffer(0, x_array),
        revamp_argument_buffer(1, y_array),
        revamp_argument_push_constant(0, &a, sizeof a),
        revamp_argument_push_constant(sizeof a, &count, sizeof count),
    };
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = sizeof arguments / sizeof arguments[0];
    CHECK(revamp_dispatch(NULL, kernel, &info)); /* NULL: where the arrays live */
}

static int wrong_results(float a) {
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != a * x_at(i) + y_at(i);
    return wrong;
}

int main(void) {
    const float a = 2.5f;
    for (int i = 0; i < COUNT; i++) {
        x[i] = x_at(i);
        y[i] = y_at(i);
    }

    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_kernel kernel;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator));
    CHECK(revamp_accelerator_get_default_view(accelerator, &view));
    CHECK(revamp_kernel_find(accelerator, "saxpy", &kernel));

    revamp_array x_array = upload(view, x), y_array = upload(view, y);
    launch(kernel, a, x_array, y_array);
    CHECK(revamp_copy_from_array(y_array, y, sizeof y)); /* waits for the kernel */

    CHECK(revamp_array_destroy(x_array));
    CHECK(revamp_array_destroy(y_array));
    CHECK(revamp_kernel_release(kernel));

    int wrong = wrong_results(a);
    printf("saxpy: %d elements, %d wrong\n", COUNT, wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
