/* What the parts of the demo share. */
#ifndef DEMO_H
#define DEMO_H

#include <revamp.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

/* Ends the program with the library's words. */
void fail(const char *call);
void *allocate(size_t size);
double seconds(void);

/* Where a job runs. */
typedef struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_accelerator_info info;
} place;

/* What a job came to. A place that is missing has a time of 0. */
typedef struct {
    double seconds;
    double work; /* pixels, or floating-point operations */
    bool right;
    char check[64];
} result;

enum { MANDELBROT_WIDTH = 1600, MANDELBROT_HEIGHT = 1200 };

/* `vulkan` may be NULL. The picture at `path` has a left half by Vulkan, if there is, and a right half by host threads.
 */
void mandelbrot(const place *vulkan, const place *host, const char *path, result *by_vulkan, result *by_host);
void matrix_product(const place *vulkan, const place *host, result *by_vulkan, result *by_host);

#endif
