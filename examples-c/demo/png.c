/* Writes PNG files whose pixels are stored without compression. */
#include "png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK_BYTES = 65535, HEADER_SIZE = 13, ZLIB_HEAD = 2, BLOCK_HEAD = 5, ZLIB_TAIL = 4 };

static uint32_t crc32(uint32_t crc, const uint8_t *bytes, size_t size) {
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static uint32_t adler32(const uint8_t *bytes, size_t size) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void put_u32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static bool write_chunk(FILE *file, const char *type, const uint8_t *data, size_t size) {
    uint8_t head[8], tail[4];
    put_u32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    put_u32(tail, crc32(crc32(0, head + 4, 4), data, size));
    return fwrite(head, 1, 8, file) == 8 && (size == 0 || fwrite(data, 1, size, file) == size) &&
           fwrite(tail, 1, 4, file) == 4;
}

static bool write_header(FILE *file, uint32_t width, uint32_t height) {
    uint8_t header[HEADER_SIZE] = {0};
    put_u32(header, width);
    put_u32(header + 4, height);
    header[8] = 8; /* bits per component */
    header[9] = 2; /* components: red, green, blue */
    return write_chunk(file, "IHDR", header, sizeof header);
}

/* Each row begins with a filter type. The type 0 means that the row is not filtered. */
static uint8_t *rows_with_filters(uint32_t width, uint32_t height, const uint8_t *rgb, size_t *size) {
    size_t row = (size_t)width * 3;
    *size = (row + 1) * height;
    uint8_t *rows = calloc(*size, 1);
    for (size_t y = 0; rows && y < height; y++)
        memcpy(rows + y * (row + 1) + 1, rgb + y * row, row);
    return rows;
}

/* Returns a zlib stream of stored blocks, or NULL without memory. */
static uint8_t *deflate_stored(const uint8_t *bytes, size_t size, size_t *deflated_size) {
    size_t blocks = (size + MAX_BLOCK_BYTES - 1) / MAX_BLOCK_BYTES;
    *deflated_size = ZLIB_HEAD + blocks * BLOCK_HEAD + size + ZLIB_TAIL;
    uint8_t *deflated = malloc(*deflated_size), *at = deflated;
    if (!deflated) return NULL;
    *at++ = 0x78;
    *at++ = 0x01;
    for (size_t from = 0; from < size; from += MAX_BLOCK_BYTES) {
        size_t length = size - from < MAX_BLOCK_BYTES ? size - from : MAX_BLOCK_BYTES;
        *at++ = from + length == size; /* 1 in the last block */
        *at++ = (uint8_t)length;
        *at++ = (uint8_t)(length >> 8);
        *at++ = (uint8_t)~length;
        *at++ = (uint8_t)(~length >> 8);
        memcpy(at, bytes + from, length);
        at += length;
    }
    put_u32(at, adler32(bytes, size));
    return deflated;
}

static bool write_pixels(FILE *file, uint32_t width, uint32_t height, const uint8_t *rgb) {
    size_t size, deflated_size;
    uint8_t *rows = rows_with_filters(width, height, rgb, &size);
    uint8_t *deflated = rows ? deflate_stored(rows, size, &deflated_size) : NULL;
    bool written = deflated && write_chunk(file, "IDAT", deflated, deflated_size);
    free(deflated);
    free(rows);
    return written;
}

bool png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool written = fwrite("\x89PNG\r\n\x1a\n", 1, 8, file) == 8 && write_header(file, width, height) &&
                   write_pixels(file, width, height, rgb) && write_chunk(file, "IEND", NULL, 0);
    return fclose(file) == 0 && written;
}
