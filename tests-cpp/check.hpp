// Checks for the tests in C++. A test is a program; it returns check_result().
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>

inline int &check_failures() {
    static int failures = 0;
    return failures;
}

inline void check_that(bool good, const char *what, const char *file, int line) {
    if (good) return;
    if (++check_failures() <= 50) std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
}

inline int check_result() {
    if (check_failures() != 0) std::fprintf(stderr, "%d checks failed\n", check_failures());
    return check_failures() == 0 ? 0 : 1;
}

#define CHECK(...) check_that((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#endif
