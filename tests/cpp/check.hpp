// The framework of the C++ tests: TEST() registers a test, and the CHECK macros check values. Without arguments, a test
// program runs all its tests. With arguments, it runs the tests that they name. With several arguments, it prints each
// test that passed and stops at the first test that does not pass. ctest runs each test in its own process.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace check {

struct test {
    const char *name;
    void (*run)();
};
inline std::vector<test> &tests() {
    static std::vector<test> all;
    return all;
}
inline int &failures() {
    static int count = 0;
    return count;
}
struct skipped {
    std::string why;
};
struct test_aborted {};

inline int register_test(const char *name, void (*run)()) {
    tests().push_back({name, run});
    return 0;
}
inline void fail(const char *file, int line, const std::string &what) {
    ++failures();
    std::cerr << file << ':' << line << ": " << what << std::endl;
}

template <class Left, class Right>
void equal(const Left &left, const Right &right, const char *what, const char *file, int line) {
    if (!(left == right)) fail(file, line, what);
}
inline void contains(const std::string &text, const std::string &part, const char *file, int line) {
    if (text.find(part) == std::string::npos) fail(file, line, "\"" + text + "\" does not contain \"" + part + "\"");
}

enum : int { PASSED = 0, FAILED = 1, NO_SUCH_TEST = 2, SKIPPED = 77 };

inline int run(const test &one) {
    const int before = failures();
    try {
        one.run();
    } catch (const skipped &skip) {
        std::cout << "skipped: " << skip.why << std::endl;
        if (failures() == before) return SKIPPED;
    } catch (const test_aborted &) {
    } catch (const std::exception &e) {
        fail(one.name, 0, std::string("unexpected exception: ") + e.what());
    }
    return failures() == before ? PASSED : FAILED;
}

inline int run_named(const std::string &name) {
    for (const test &one : tests())
        if (name == one.name) return run(one);
    std::cerr << "there is no test " << name << std::endl;
    return NO_SUCH_TEST;
}

inline int main(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        const int outcome = run_named(argv[i]);
        if (outcome != PASSED || argc == 2) return outcome;
        std::cout << "passed " << argv[i] << std::endl;
    }
    if (argc > 1) return PASSED;
    for (const test &one : tests())
        run(one);
    return failures() == 0 && !tests().empty() ? PASSED : FAILED;
}

} // namespace check

#define TEST(name)                                                                                                     \
    static void name();                                                                                                \
    [[maybe_unused]] static const int added_##name = check::register_test(#name, name);                                \
    static void name()
#define SKIP(why)                                                                                                      \
    throw check::skipped {                                                                                             \
        why                                                                                                            \
    }
#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, #__VA_ARGS__);                                             \
    } while (0)
#define REQUIRE(...)                                                                                                   \
    do {                                                                                                               \
        if (!(__VA_ARGS__)) {                                                                                          \
            check::fail(__FILE__, __LINE__, #__VA_ARGS__);                                                             \
            throw check::test_aborted();                                                                               \
        }                                                                                                              \
    } while (0)
#define CHECK_EQUAL(left, right) check::equal(left, right, #left " is not " #right, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check::contains(text, part, __FILE__, __LINE__)
// CHECK_THROWS(Class, expression[, statement]): the expression must throw Class or a class derived from it. In the
// statement, `e` is the exception.
#define CHECK_THROWS(...) CHECK_THROWS_PICK(__VA_ARGS__, CHECK_THROWS_3, CHECK_THROWS_2, unused)(__VA_ARGS__)
#define CHECK_THROWS_PICK(Exception, expression, statement, name, ...) name
#define CHECK_THROWS_2(Exception, expression) CHECK_THROWS_3(Exception, expression, (void)0)
#define CHECK_THROWS_3(Exception, expression, statement)                                                               \
    do {                                                                                                               \
        bool thrown = false;                                                                                           \
        try {                                                                                                          \
            (void)(expression);                                                                                        \
        } catch (const Exception &e) {                                                                                 \
            (void)e;                                                                                                   \
            thrown = true;                                                                                             \
            statement;                                                                                                 \
        } catch (const std::exception &e) {                                                                            \
            check::fail(__FILE__, __LINE__, std::string(#expression " threw another exception: ") + e.what());         \
            thrown = true;                                                                                             \
        }                                                                                                              \
        if (!thrown) check::fail(__FILE__, __LINE__, #expression " did not throw");                                    \
    } while (0)

#define CHECK_MAIN                                                                                                     \
    int main(int argc, char **argv) {                                                                                  \
        return check::main(argc, argv);                                                                                \
    }

#endif
