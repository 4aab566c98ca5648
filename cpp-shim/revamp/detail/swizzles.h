// X-macro lists of swizzles: every ordering, without repetition, of two or more components of a vector. An entry has
// the letters of the swizzle in the sets xyzw and rgba, then the component numbers: M2(x, y, r, g, 0, 1). The list of a
// vector size begins with the entries of the smaller sizes. amp_short_vectors.h undefines these macros.
#ifndef REVAMP_DETAIL_SWIZZLES_H
#define REVAMP_DETAIL_SWIZZLES_H

// clang-format off
#define REVAMP_SWIZZLES_2(M2)                                                                                          \
    M2(x, y, r, g, 0, 1) M2(y, x, g, r, 1, 0)
#define REVAMP_SWIZZLES_3(M2, M3)                                                                                      \
    REVAMP_SWIZZLES_2(M2) M2(x, z, r, b, 0, 2) M2(y, z, g, b, 1, 2) M2(z, x, b, r, 2, 0) M2(z, y, b, g, 2, 1)          \
    M3(x, y, z, r, g, b, 0, 1, 2) M3(x, z, y, r, b, g, 0, 2, 1) M3(y, x, z, g, r, b, 1, 0, 2)                          \
    M3(y, z, x, g, b, r, 1, 2, 0) M3(z, x, y, b, r, g, 2, 0, 1) M3(z, y, x, b, g, r, 2, 1, 0)
#define REVAMP_SWIZZLES_4(M2, M3, M4)                                                                                  \
    REVAMP_SWIZZLES_3(M2, M3) M2(x, w, r, a, 0, 3) M2(y, w, g, a, 1, 3) M2(z, w, b, a, 2, 3) M2(w, x, a, r, 3, 0)      \
    M2(w, y, a, g, 3, 1) M2(w, z, a, b, 3, 2) M3(x, y, w, r, g, a, 0, 1, 3) M3(x, z, w, r, b, a, 0, 2, 3)              \
    M3(x, w, y, r, a, g, 0, 3, 1) M3(x, w, z, r, a, b, 0, 3, 2) M3(y, x, w, g, r, a, 1, 0, 3)                          \
    M3(y, z, w, g, b, a, 1, 2, 3) M3(y, w, x, g, a, r, 1, 3, 0) M3(y, w, z, g, a, b, 1, 3, 2)                          \
    M3(z, x, w, b, r, a, 2, 0, 3) M3(z, y, w, b, g, a, 2, 1, 3) M3(z, w, x, b, a, r, 2, 3, 0)                          \
    M3(z, w, y, b, a, g, 2, 3, 1) M3(w, x, y, a, r, g, 3, 0, 1) M3(w, x, z, a, r, b, 3, 0, 2)                          \
    M3(w, y, x, a, g, r, 3, 1, 0) M3(w, y, z, a, g, b, 3, 1, 2) M3(w, z, x, a, b, r, 3, 2, 0)                          \
    M3(w, z, y, a, b, g, 3, 2, 1) M4(x, y, z, w, r, g, b, a, 0, 1, 2, 3) M4(x, y, w, z, r, g, a, b, 0, 1, 3, 2)        \
    M4(x, z, y, w, r, b, g, a, 0, 2, 1, 3) M4(x, z, w, y, r, b, a, g, 0, 2, 3, 1)                                      \
    M4(x, w, y, z, r, a, g, b, 0, 3, 1, 2) M4(x, w, z, y, r, a, b, g, 0, 3, 2, 1)                                      \
    M4(y, x, z, w, g, r, b, a, 1, 0, 2, 3) M4(y, x, w, z, g, r, a, b, 1, 0, 3, 2)                                      \
    M4(y, z, x, w, g, b, r, a, 1, 2, 0, 3) M4(y, z, w, x, g, b, a, r, 1, 2, 3, 0)                                      \
    M4(y, w, x, z, g, a, r, b, 1, 3, 0, 2) M4(y, w, z, x, g, a, b, r, 1, 3, 2, 0)                                      \
    M4(z, x, y, w, b, r, g, a, 2, 0, 1, 3) M4(z, x, w, y, b, r, a, g, 2, 0, 3, 1)                                      \
    M4(z, y, x, w, b, g, r, a, 2, 1, 0, 3) M4(z, y, w, x, b, g, a, r, 2, 1, 3, 0)                                      \
    M4(z, w, x, y, b, a, r, g, 2, 3, 0, 1) M4(z, w, y, x, b, a, g, r, 2, 3, 1, 0)                                      \
    M4(w, x, y, z, a, r, g, b, 3, 0, 1, 2) M4(w, x, z, y, a, r, b, g, 3, 0, 2, 1)                                      \
    M4(w, y, x, z, a, g, r, b, 3, 1, 0, 2) M4(w, y, z, x, a, g, b, r, 3, 1, 2, 0)                                      \
    M4(w, z, x, y, a, b, r, g, 3, 2, 0, 1) M4(w, z, y, x, a, b, g, r, 3, 2, 1, 0)
// clang-format on

#endif
