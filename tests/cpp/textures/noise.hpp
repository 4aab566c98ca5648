// Returns pseudo-random bytes. Each call returns the same bytes.
#ifndef NOISE_HPP
#define NOISE_HPP

#include <vector>

inline std::vector<unsigned char> noise(unsigned size) {
    std::vector<unsigned char> all(size);
    unsigned state = 1;
    for (unsigned char &byte : all)
        byte = static_cast<unsigned char>((state = state * 1664525 + 1013904223) >> 24);
    return all;
}

#endif
