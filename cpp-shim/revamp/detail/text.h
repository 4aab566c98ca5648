// revamp: conversions of text between UTF-8 and wide strings.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_TEXT_H
#define REVAMP_DETAIL_TEXT_H

#include "config.h"

#include <cstddef>
#include <string>

REVAMP_DETAIL_BEGIN

// Convert between UTF-8, the encoding of the C API, and wide strings: UTF-16 if wchar_t has 16 bits, else UTF-32.
// Invalid text becomes U+FFFD.
inline std::wstring widen(const char *text) {
    std::wstring result;
    while (const unsigned first = static_cast<unsigned char>(*text)) {
        ++text;
        unsigned code = first, minimum = 0;
        int more = 0;
        if (first >= 0xF0 && first < 0xF8) {
            code = first & 0x07;
            minimum = 0x10000;
            more = 3;
        } else if (first >= 0xE0 && first < 0xF0) {
            code = first & 0x0F;
            minimum = 0x800;
            more = 2;
        } else if (first >= 0xC0 && first < 0xE0) {
            code = first & 0x1F;
            minimum = 0x80;
            more = 1;
        } else if (first >= 0x80) {
            code = 0xFFFD;
        }
        for (; more > 0; --more) {
            const unsigned next = static_cast<unsigned char>(*text);
            if ((next & 0xC0) != 0x80) {
                code = 0xFFFD;
                break;
            }
            code = code << 6 | (next & 0x3F);
            ++text;
        }
        if (code < minimum || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
        // A surrogate pair if wchar_t has 16 bits.
        if (sizeof(wchar_t) == 2 && code >= 0x10000) {
            result += static_cast<wchar_t>(0xD7C0 + (code >> 10));
            code = 0xDC00 | (code & 0x3FF);
        }
        result += static_cast<wchar_t>(code);
    }
    return result;
}
inline std::string narrow(const std::wstring &text) {
    std::string result;
    const auto add = [&result](unsigned byte) { result += static_cast<char>(static_cast<unsigned char>(byte)); };
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned code = static_cast<unsigned>(text[i]);
        if (sizeof(wchar_t) == 2 && code >= 0xD800 && code < 0xDC00 && i + 1 < text.size() && text[i + 1] >= 0xDC00 &&
            text[i + 1] < 0xE000)
            code = 0x10000 + ((code & 0x3FF) << 10) + (static_cast<unsigned>(text[++i]) & 0x3FF);
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
        if (code < 0x80) {
            add(code);
        } else if (code < 0x800) {
            add(0xC0 | code >> 6);
            add(0x80 | (code & 0x3F));
        } else if (code < 0x10000) {
            add(0xE0 | code >> 12);
            add(0x80 | (code >> 6 & 0x3F));
            add(0x80 | (code & 0x3F));
        } else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
            add(0x80 | (code >> 6 & 0x3F));
            add(0x80 | (code & 0x3F));
        }
    }
    return result;
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_TEXT_H
