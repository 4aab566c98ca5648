// revamp: programs that print by std::wcout and by std::cout.
//
// On Windows both appear. The GNU C library takes from a stream whichever kind it was first written with, and refuses
// the other: the rest is lost without a word. A header that changed the program's streams would be worse, so it looks
// at the end, and says it. With -DREVAMP_WIDE_OUTPUT, for any one source of the program, wide streams write UTF-8 by
// way of the narrow ones, and both appear, in order.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_OUTPUT_H
#define REVAMP_DETAIL_OUTPUT_H

#include "config.h"
#include "runtime.h"

#include <cstdio>
#include <cwchar>
#include <iostream>
#include <streambuf>
#include <string>

#if !REVAMP_DEVICE_PASS
REVAMP_DETAIL_BEGIN

#ifdef REVAMP_WIDE_OUTPUT
class utf8_buffer : public std::wstreambuf {
  public:
    explicit utf8_buffer(std::streambuf *bytes) : m_bytes(bytes) {}

  protected:
    int_type overflow(int_type character) override {
        if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
        const wchar_t text = traits_type::to_char_type(character);
        return xsputn(&text, 1) == 1 ? character : traits_type::eof();
    }
    std::streamsize xsputn(const wchar_t *text, std::streamsize count) override {
        const std::string bytes = narrow(std::wstring(text, static_cast<std::size_t>(count)));
        const auto size = static_cast<std::streamsize>(bytes.size());
        return m_bytes->sputn(bytes.data(), size) == size ? count : 0;
    }
    int sync() override { return m_bytes->pubsync(); }

  private:
    std::streambuf *const m_bytes;
};

struct wide_output {
    // The buffers are not destroyed: other static objects may print.
    wide_output() {
        std::wcout.rdbuf(new utf8_buffer(std::cout.rdbuf()));
        std::wcerr.rdbuf(new utf8_buffer(std::cerr.rdbuf()));
        std::wclog.rdbuf(new utf8_buffer(std::clog.rdbuf()));
    }
};
inline const wide_output wide_output_in_place;
#else
struct lost_output {
    ~lost_output() {
        const int orientation = std::fwide(stdout, 0);
        if (!(orientation > 0 ? std::cout.bad() : orientation < 0 && std::wcout.bad())) return;
        const char *const text =
            "revamp [warn] output of this program was lost: it prints by std::cout and by std::wcout, "
            "and the C library takes only the one that came first; compile with "
            "-DREVAMP_WIDE_OUTPUT to have both\n";
        if (std::fwide(stderr, 0) > 0)
            std::fwprintf(stderr, L"%s", text);
        else
            std::fputs(text, stderr);
    }
};
inline const lost_output lost_output_at_exit;
#endif

REVAMP_DETAIL_END
#endif

#endif // REVAMP_DETAIL_OUTPUT_H
