/* Writes PNG files without a library: the pixels are stored, not compressed. */
#ifndef PNG_H
#define PNG_H

#include <stdbool.h>
#include <stdint.h>

/* `rgb`: width * height pixels of red, green, blue. */
bool png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
