// revamp: output of programs that print to both std::wcout and std::cout.
//
// On Windows both outputs appear. The GNU C library fixes the orientation of a file, wide or narrow, at the first
// output, and silently drops output of the other kind. There are three cases:
//
// - In sources that the kernel compiler compiles, wide streams convert their text to the bytes that the C library would
//   write, and write them as narrow output. Both outputs appear, in order. A program with only wide output prints the
//   same bytes as before. -DREVAMP_NO_WIDE_OUTPUT disables this.
// - -DREVAMP_WIDE_OUTPUT, in any one source of the program, does the same, with UTF-8 in every locale.
// - In other sources, changing the streams of the program would be too intrusive. The header checks for lost output at
//   the end of the program, and reports it.
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

// True if wide streams write UTF-8. This has precedence over the conversion by locale.
inline bool wide_output_is_utf8 = false;

#if defined(REVAMP_WIDE_OUTPUT) || REVAMP_BOTH_OUTPUTS
// A stream buffer that passes each character to xsputn() immediately.
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
    // Ensures that the standard streams are initialised first; the order of inline variables is unspecified.
    std::ios_base::Init streams;
    // The buffers are never destroyed, because other static objects may print.
    wide_output() {
        wide_output_is_utf8 = true;
        std::wcout.rdbuf(new utf8_buffer(std::cout.rdbuf()));
        std::wcerr.rdbuf(new utf8_buffer(std::cerr.rdbuf()));
        std::wclog.rdbuf(new utf8_buffer(std::clog.rdbuf()));
    }
};
inline const wide_output wide_output_in_place;
#elif REVAMP_BOTH_OUTPUTS
// Replaces the buffer of a wide stream over a file of the C library.
class narrowing_buffer : public unbuffered {
  public:
    narrowing_buffer(std::wostream &stream, std::FILE *file)
        : m_stream(stream), m_file(file), m_original(stream.rdbuf()) {
        m_stream.rdbuf(this);
    }
    narrowing_buffer(const narrowing_buffer &) = delete;
    ~narrowing_buffer() override {
        if (m_stream.rdbuf() == this) m_stream.rdbuf(m_original);
        if (m_conversion != no_conversion()) iconv_close(m_conversion);
    }

  protected:
    std::streamsize xsputn(const wchar_t *text, std::streamsize count) override {
        const std::lock_guard<std::mutex> lock(m_mutex);
        if (is_wide() || !begin()) return m_original->sputn(text, count);
        char *from = reinterpret_cast<char *>(const_cast<wchar_t *>(text));
        std::size_t left = static_cast<std::size_t>(count) * sizeof(wchar_t);
        while (left > 0) {
            char bytes[256], *to = bytes;
            std::size_t room = sizeof bytes;
            const bool stopped = iconv(m_conversion, &from, &left, &to, &room) == std::size_t(-1) && errno != E2BIG;
            if (!put(bytes, sizeof bytes - room)) return 0;
            if (stopped) break;
        }
        return count - static_cast<std::streamsize>(left / sizeof(wchar_t));
    }
    int sync() override { return is_wide() ? m_original->pubsync() : std::fflush(m_file); }

  private:
    std::wostream &m_stream;
    std::FILE *const m_file;
    std::wstreambuf *const m_original;
    std::mutex m_mutex;
    iconv_t m_conversion = no_conversion();

    static iconv_t no_conversion() { return reinterpret_cast<iconv_t>(std::intptr_t{-1}); }
    // True if the file is wide already: the program also uses std::wprintf or similar functions.
    bool is_wide() const { return std::fwide(m_file, 0) > 0; }
    // Like the C library, uses the locale at the first output, and transliterates characters that it cannot encode.
    bool begin() {
        if (m_conversion == no_conversion())
            m_conversion = iconv_open((std::string(nl_langinfo(CODESET)) + "//TRANSLIT").c_str(), "WCHAR_T");
        return m_conversion != no_conversion();
    }
    bool put(const char *bytes, std::size_t count) {
        if (std::fwide(m_file, 0) < 0) return std::fwrite(bytes, 1, count, m_file) == count;
        // The file has no orientation yet, and an empty buffer. Writing to its descriptor keeps both orientations
        // possible.
        while (count > 0) {
            const ssize_t written = ::write(fileno(m_file), bytes, count);
            // A signal may interrupt the call before it writes anything.
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return false;
            bytes += written;
            count -= static_cast<std::size_t>(written);
        }
        return true;
    }
};

struct narrowed_outputs {
    // Ensures that the standard streams are initialised first.
    std::ios_base::Init streams;
    narrowing_buffer *buffers[3] = {};

    narrowed_outputs() {
        if (wide_output_is_utf8) return;
        buffers[0] = new narrowing_buffer(std::wcout, stdout);
        buffers[1] = new narrowing_buffer(std::wcerr, stderr);
        buffers[2] = new narrowing_buffer(std::wclog, stderr);
    }
    narrowed_outputs(const narrowed_outputs &) = delete;
    // Removes the buffers, because unloading a library removes the code of its buffers.
    ~narrowed_outputs() {
        for (narrowing_buffer *buffer : buffers)
            delete buffer;
    }
};
inline const narrowed_outputs both_outputs_in_place;
#else
struct lost_output {
    ~lost_output() {
        const int orientation = std::fwide(stdout, 0);
        if (!(orientation > 0 ? std::cout.bad() : orientation < 0 && std::wcout.bad())) return;
        const char *const text =
            "revamp [warn] output of this program was lost: the program prints to both std::cout and std::wcout, but "
            "the C library prints only the stream that was used first; compile with -DREVAMP_WIDE_OUTPUT to print "
            "both\n";
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
