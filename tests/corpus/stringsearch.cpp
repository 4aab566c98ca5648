// Searches a text for patterns. Each unsigned holds four characters. An atomic counter numbers the matches.
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <iostream>
#include <string>
#include <vector>

using namespace concurrency;

// C++ AMP has no char in kernels, so four characters share an unsigned
class packed_text {
    std::vector<unsigned> m_words;
    int m_length;

  public:
    explicit packed_text(const std::string &s) : m_words((s.size() + 3) / 4 + 1), m_length(static_cast<int>(s.size())) {
        for (size_t i = 0; i < s.size(); ++i)
            m_words[i / 4] |= static_cast<unsigned>(static_cast<unsigned char>(s[i])) << (i % 4 * 8);
    }
    const std::vector<unsigned> &words() const { return m_words; }
    int length() const { return m_length; }
};

template <typename View> inline unsigned char_at(const View &v, int i) restrict(amp, cpu) {
    return (v[i >> 2] >> ((i & 3) << 3)) & 0xff;
}

inline unsigned lower(unsigned c) restrict(amp, cpu) {
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

std::vector<int> find_all(const packed_text &text, const packed_text &pattern, bool ignore_case) {
    const int length = text.length(), pattern_length = pattern.length(), max_matches = 128;
    if (length < pattern_length) return std::vector<int>();
    array_view<const unsigned> text_vw(text.words()), pattern_vw(pattern.words());
    std::vector<int> positions(max_matches);
    int found = 0;
    array_view<int> positions_vw(positions), found_vw(1, &found);
    positions_vw.discard_data();
    parallel_for_each(
        extent<1>(length - pattern_length + 1).tile<64>().pad(), [=](tiled_index<64> t) restrict(amp) {
            tile_static unsigned tile_pattern[16];
            if (t.local[0] < 16 && t.local[0] < pattern_vw.extent[0]) tile_pattern[t.local[0]] = pattern_vw[t.local[0]];
            t.barrier.wait();
            const int at = t.global[0];
            if (at > length - pattern_length) return;
            for (int i = 0; i < pattern_length; ++i) {
                unsigned a = char_at(text_vw, at + i), b = char_at(tile_pattern, i);
                if (ignore_case) {
                    a = lower(a);
                    b = lower(b);
                }
                if (a != b) return;
            }
            const int slot = atomic_fetch_inc(&found_vw[0]);
            if (slot < max_matches) positions_vw[slot] = at;
        });
    found_vw.synchronize();
    positions_vw.synchronize();
    positions.resize(std::min(found, max_matches));
    std::sort(positions.begin(), positions.end());
    return positions;
}

std::vector<int> find_all_cpu(std::string text, std::string pattern, bool ignore_case) {
    if (ignore_case) {
        std::transform(text.begin(), text.end(), text.begin(), [](char c) { return (char)lower((unsigned char)c); });
        std::transform(pattern.begin(), pattern.end(), pattern.begin(),
                       [](char c) { return (char)lower((unsigned char)c); });
    }
    std::vector<int> result;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1))
        result.push_back(static_cast<int>(at));
    return result;
}

int main() {
    std::string text;
    for (int i = 0; i < 25; ++i) {
        text += "The quick brown fox jumps over the lazy dog; THE END of line ";
        text += std::to_string(i * i);
        text += ".\n";
    }
    const packed_text packed(text);
    int failed = 0;
    for (const char *pattern : {"fox", "the", "line 1", "dog; THE END of line 400", "aaa", "."}) {
        for (bool ignore_case : {false, true}) {
            const std::vector<int> got = find_all(packed, packed_text(pattern), ignore_case),
                                   expected = find_all_cpu(text, pattern, ignore_case);
            std::cout << "\"" << pattern << "\"" << (ignore_case ? " in any case" : "") << ": " << got.size()
                      << " times" << (got == expected ? "" : "  WRONG") << std::endl;
            failed += got == expected ? 0 : 1;
        }
    }
    return failed ? 1 : 0;
}
