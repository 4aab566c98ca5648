// Tests in C++: registration by name and checks. Each test runs in a process of its own (ctest names it).
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
struct abandoned {};

inline int add(const char *name, void (*run)()) {
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

inline int main(int argc, char **argv) {
    const std::string wanted = argc > 1 ? argv[1] : "";
    bool found = false;
    for (const test &one : tests()) {
        if (!wanted.empty() && wanted != one.name) continue;
        found = true;
        try {
            one.run();
        } catch (const skipped &skip) {
            std::cout << "skipped: " << skip.why << std::endl;
            if (!wanted.empty()) return 77;
        } catch (const abandoned &) {
        } catch (const std::exception &e) {
            fail(one.name, 0, std::string("unexpected exception: ") + e.what());
        }
    }
    if (!found) {
        std::cerr << "there is no test " << wanted << std::endl;
        return 2;
    }
    return failures() == 0 ? 0 : 1;
}

} // namespace check

#define TEST(name)                                                                                                     \
    static void name();                                                                                                \
    [[maybe_unused]] static const int added_##name = check::add(#name, name);                                          \
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
            throw check::abandoned();                                                                                  \
        }                                                                                                              \
    } while (0)
#define CHECK_EQUAL(left, right) check::equal(left, right, #left " is not " #right, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check::contains(text, part, __FILE__, __LINE__)
// CHECK_THROWS(Class, expression[, statement]): the expression throws the class or one derived from it; `e` is the
// exception in the statement.
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
