/*
 * A demonstration of revamp: lists the accelerators, then computes a picture and a matrix product on the default
 * accelerator for SPIR-V and on host threads. Usage: demo [output folder]
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory) return memory;
    fprintf(stderr, "there are no %zu bytes of memory\n", size);
    exit(EXIT_FAILURE);
}

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static revamp_accelerator_info info_of(revamp_accelerator accelerator) {
    revamp_accelerator_info info = {0};
    info.struct_size = sizeof info;
    CHECK(revamp_accelerator_get_info(accelerator, &info));
    return info;
}

static place make_place(revamp_accelerator accelerator) {
    place p = {accelerator, NULL, info_of(accelerator)};
    CHECK(revamp_accelerator_get_default_view(accelerator, &p.view));
    return p;
}

static void print_accelerators(void) {
    size_t count;
    CHECK(revamp_accelerator_list(NULL, 0, &count));
    revamp_accelerator *all = allocate(count * sizeof *all);
    CHECK(revamp_accelerator_list(all, count, &count));
    printf("%-42s  %10s  %-8s  %s\n", "accelerator", "memory GiB", "emulated", "device path");
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        printf("%-42s  %10.2f  %-8s  %s\n", info.description, (double)info.dedicated_memory / (1024 * 1024),
               info.is_emulated ? "yes" : "no", info.device_path);
        if (info.unusable_reason) printf("    unusable: %s\n", info.unusable_reason);
    }
    printf("\n");
    free(all);
}

/* Prints why and returns false if there is no Vulkan device. */
static bool find_vulkan(place *vulkan) {
    revamp_accelerator accelerator;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) != REVAMP_OK) {
        printf("There is no Vulkan device, so only host threads run: %s\n\n", revamp_last_error_message());
        return false;
    }
    if (info_of(accelerator).kind != REVAMP_ACCELERATOR_VULKAN) {
        printf("The default accelerator was set to one that is no Vulkan device, so only host threads run.\n\n");
        return false;
    }
    *vulkan = make_place(accelerator);
    return true;
}

static place find_host(void) {
    revamp_accelerator accelerator;
    CHECK(revamp_accelerator_find("direct3d\\warp", &accelerator));
    return make_place(accelerator);
}

static void print_result(const char *job, const place *where, const result *r, const char *unit, double unit_size) {
    printf("%-15s  %-42s  %10.2f  %9.2f %-8s  %-5s  %s\n", job, where->info.description, r->seconds * 1e3,
           r->work / r->seconds / unit_size, unit, r->right ? "right" : "WRONG", r->check);
}

int main(int argc, char **argv) {
    char path[4096];
    snprintf(path, sizeof path, "%s/mandelbrot.png", argc > 1 ? argv[1] : ".");
    print_accelerators();

    place there, host = find_host();
    const place *vulkan = find_vulkan(&there) ? &there : NULL;
    result set[2] = {{0}}, product[2] = {{0}};
    mandelbrot(vulkan, &host, path, &set[0], &set[1]);
    matrix_product(vulkan, &host, &product[0], &product[1]);

    printf("%-15s  %-42s  %10s  %18s  %s\n", "job", "accelerator", "time ms", "rate", "check");
    if (vulkan) print_result("Mandelbrot set", vulkan, &set[0], "Mpixel/s", 1e6);
    print_result("Mandelbrot set", &host, &set[1], "Mpixel/s", 1e6);
    if (vulkan) print_result("matrix product", vulkan, &product[0], "GFLOP/s", 1e9);
    print_result("matrix product", &host, &product[1], "GFLOP/s", 1e9);
    printf("\n%s: %s\n", path, vulkan ? "left half by Vulkan, right half by host threads" : "by host threads");

    bool right = set[1].right && product[1].right && (!vulkan || (set[0].right && product[0].right));
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
