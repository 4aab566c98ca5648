/* Loads, uses and closes the library that the argument names, three times, then exits with the library closed.
 * process.c starts this program. */
#include <revamp.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void fail(const char *what) {
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

/* A union, because C99 cannot convert the object pointer that dlsym() returns to a function pointer. */
typedef union {
    void *object;
    revamp_status (*find)(const char *, revamp_accelerator *);
    revamp_status (*get_default_view)(revamp_accelerator, revamp_accelerator_view *);
    revamp_status (*array_create)(revamp_accelerator_view, uint32_t, const int32_t *, size_t,
                                  const revamp_array_options *, revamp_array *);
    revamp_status (*copy_to)(const void *, size_t, revamp_array);
    revamp_status (*copy_from)(revamp_array, void *, size_t);
    revamp_status (*destroy)(revamp_array);
    revamp_status (*list)(revamp_accelerator *, size_t, size_t *);
} function;

static function load(const char *name) {
    function f;
    f.object = dlsym(library, name);
    if (!f.object) fail(name);
    return f;
}

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

static void use(const char *path) {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_array array;
    int32_t extent = 100;
    uint32_t sent[100] = {1, 2, 3}, got[100] = {0};
    MUST(load("revamp_accelerator_find").find(path, &accelerator));
    MUST(load("revamp_accelerator_get_default_view").get_default_view(accelerator, &view));
    MUST(load("revamp_array_create").array_create(view, 1, &extent, 4, NULL, &array));
    MUST(load("revamp_copy_to_array").copy_to(sent, sizeof sent, array));
    MUST(load("revamp_copy_from_array").copy_from(array, got, sizeof got));
    if (memcmp(sent, got, sizeof got)) fail("the copy");
    MUST(load("revamp_array_destroy").destroy(array));
}

int main(int count, char **arguments) {
    if (count != 2) fail("the usage: revamp_test_dlopen LIBRARY");
    for (int round = 0; round < 3; round++) {
        size_t accelerators = 0;
        library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) fail(dlerror());
        use("cpu");
        use("direct3d\\warp");
        MUST(load("revamp_accelerator_list").list(NULL, 0, &accelerators));
        if (accelerators > 2) {
            revamp_accelerator best;
            if (load("revamp_accelerator_find").find("default", &best) == REVAMP_OK) use("default");
        }
        if (dlclose(library)) fail("dlclose");
    }
    puts("done");
    return 0;
}
