// revamp: programs that print by std::wcout and by std::cout.
//
// On Windows both appear. The GNU C library takes from a stream whichever kind it was first written with, and refuses
// the other: the rest is lost without a word. There are three ways:
//
// - Sources that the kernel compiler compiles: wide streams write the bytes that the C library would make of them, by
//   way of the narrow ones. Both appear, in order. A program that uses wide output alone prints the same bytes as
//   without this. -DREVAMP_NO_WIDE_OUTPUT leaves it out.
// - -DREVAMP_WIDE_OUTPUT, for any one source of the program: the same, and the bytes are UTF-8 in every locale.
// - Other sources: a header that changed the program's streams would be worse, so it looks at the end, and says it.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_OUTPUT_H
#define REVAMP_DETAIL_OUTPUT_H

#include "config.h"
#include "runtime.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cwchar>
#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>

#if !REVAMP_DEVICE_PASS
#if REVAMP_DEVICE_LANGUAGE && defined(__GLIBC__) && !defined(REVAMP_WIDE_OUTPUT) && !defined(REVAMP_NO_WIDE_OUTPUT)
#include <iconv.h>
#include <langinfo.h>
#include <unistd.h>
#define REVAMP_BOTH_OUTPUTS 1
#else
#define REVAMP_BOTH_OUTPUTS 0
#endif
REVAMP_DETAIL_BEGIN

// Set where wide streams write UTF-8: that goes before.
inline bool wide_output_is_utf8 = false;

#if defined(REVAMP_WIDE_OUTPUT) || REVAMP_BOTH_OUTPUTS
// A buffer that keeps nothing.
class unbuffered : public std::wstreambuf {
  protected:
    int_type overflow(int_type character) override {
        if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
        const wchar_t text = traits_type::to_char_type(character);
        return xsputn(&text, 1) == 1 ? character : traits_type::eof();
    }
};
#endif

#ifdef REVAMP_WIDE_OUTPUT
class utf8_buffer : public unbuffered {
  public:
    explicit utf8_buffer(std::streambuf *bytes) : m_bytes(bytes) {}

  protected:
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
    // Inline variables come in no order with the streams' own initialisation: this makes sure of it.
    std::ios_base::Init streams;
    // The buffers are not destroyed: other static objects may print.
    wide_output() {
        wide_output_is_utf8 = true;
        std::wcout.rdbuf(new utf8_buffer(std::cout.rdbuf()));
        std::wcerr.rdbuf(new utf8_buffer(std::cerr.rdbuf()));
        std::wclog.rdbuf(new utf8_buffer(std::clog.rdbuf()));
    }
};
inline const wide_output wide_output_in_place;
#elif REVAMP_BOTH_OUTPUTS
// Takes the place of the buffer of a wide stream over a file of the C library.
class both_buffer : public unbuffered {
  public:
    both_buffer(std::wostream &stream, std::FILE *file) : m_stream(stream), m_file(file), m_plain(stream.rdbuf()) {
        m_stream.rdbuf(this);
    }
    both_buffer(const both_buffer &) = delete;
    ~both_buffer() override {
        if (m_stream.rdbuf() == this) m_stream.rdbuf(m_plain);
        if (m_bytes_of != no_conversion()) iconv_close(m_bytes_of);
    }

  protected:
    std::streamsize xsputn(const wchar_t *text, std::streamsize count) override {
        const std::lock_guard<std::mutex> lock(m_one);
        if (is_wide() || !begin()) return m_plain->sputn(text, count);
        char *from = reinterpret_cast<char *>(const_cast<wchar_t *>(text));
        std::size_t left = static_cast<std::size_t>(count) * sizeof(wchar_t);
        while (left > 0) {
            char bytes[256], *to = bytes;
            std::size_t room = sizeof bytes;
            const bool stopped = iconv(m_bytes_of, &from, &left, &to, &room) == std::size_t(-1) && errno != E2BIG;
            if (!put(bytes, sizeof bytes - room)) return 0;
            if (stopped) break;
        }
        return count - static_cast<std::streamsize>(left / sizeof(wchar_t));
    }
    int sync() override { return is_wide() ? m_plain->pubsync() : std::fflush(m_file); }

  private:
    std::wostream &m_stream;
    std::FILE *const m_file;
    std::wstreambuf *const m_plain;
    std::mutex m_one;
    iconv_t m_bytes_of = no_conversion();

    static iconv_t no_conversion() { return reinterpret_cast<iconv_t>(std::intptr_t{-1}); }
    // The program also uses std::wprintf and the like.
    bool is_wide() const { return std::fwide(m_file, 0) > 0; }
    // The C library decides by the locale of the first output, and writes what resembles a character that has no bytes.
    bool begin() {
        if (m_bytes_of == no_conversion())
            m_bytes_of = iconv_open((std::string(nl_langinfo(CODESET)) + "//TRANSLIT").c_str(), "WCHAR_T");
        return m_bytes_of != no_conversion();
    }
    bool put(const char *bytes, std::size_t count) {
        if (std::fwide(m_file, 0) < 0) return std::fwrite(bytes, 1, count, m_file) == count;
        // Nobody has written to the file yet, so nothing waits in it: it can still become one of either kind.
        while (count > 0) {
            const ssize_t written = ::write(fileno(m_file), bytes, count);
            if (written <= 0) return false;
            bytes += written;
            count -= static_cast<std::size_t>(written);
        }
        return true;
    }
};

struct both_outputs {
    // As in wide_output.
    std::ios_base::Init streams;
    both_buffer *buffers[3] = {};

    both_outputs() {
        if (wide_output_is_utf8) return;
        buffers[0] = new both_buffer(std::wcout, stdout);
        buffers[1] = new both_buffer(std::wcerr, stderr);
        buffers[2] = new both_buffer(std::wclog, stderr);
    }
    both_outputs(const both_outputs &) = delete;
    // A library that is unloaded takes the code of its buffers with it.
    ~both_outputs() {
        for (both_buffer *buffer : buffers)
            delete buffer;
    }
};
inline const both_outputs both_outputs_in_place;
#else
struct lost_output {
    ~lost_output() {
        const int orientation = std::fwide(stdout, 0);
        if (!(orientation > 0 ? std::cout.bad() : orientation < 0 && std::wcout.bad())) return;
        const char *const text =
            "revamp [warn] output of this program was lost: it prints to both std::cout and std::wcout, but the C "
            "library prints only the one that was used first; compile with -DREVAMP_WIDE_OUTPUT to print both\n";
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
