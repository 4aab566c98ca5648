/* Declarations shared by the parts of the demo. */
#ifndef DEMO_H
#define DEMO_H

#include <revamp.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

/* Prints the library's last error and exits. */
void fail(const char *call);
void *allocate(size_t size);
double seconds(void);

/* Where a job runs. */
typedef struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_accelerator_info info;
} place;

/* The result of a job. Its time is 0 if the job did not run. */
typedef struct {
    double seconds;
    double work; /* pixels, or floating-point operations */
    bool right;
    char check[64];
} result;

enum { MANDELBROT_WIDTH = 1600, MANDELBROT_HEIGHT = 1200 };

/* `vulkan` may be NULL. mandelbrot() writes a picture to `path`. Host threads compute the right half. Vulkan computes
 * the left half, or host threads do if `vulkan` is NULL. */
void mandelbrot(const place *vulkan, const place *host, const char *path, result *by_vulkan, result *by_host);
void matrix_product(const place *vulkan, const place *host, result *by_vulkan, result *by_host);

#endif
