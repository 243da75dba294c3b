#pragma once
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

/// The whole test library: TEST("a sentence") { CHECK(condition, what, to, print); } and `return check::run();`.
namespace check {

struct Test {
    std::string sentence;
    std::function<void()> body;
};

inline auto tests() -> std::vector<Test>& {
    static std::vector<Test> all;
    return all;
}

inline int failures = 0;  ///< of the test that runs now

inline auto add(std::string sentence, std::function<void()> body) -> bool {
    tests().push_back({std::move(sentence), std::move(body)});
    return true;
}

template <class... Values>
auto fail(const char* file, int line, const char* condition, const Values&... values) -> void {
    constexpr int shown = 5;
    if (++failures > shown) {
        return;
    }
    std::ostringstream text;
    ((text << ' ' << values), ...);
    std::fprintf(stderr, "%s:%d: %s:%s\n", file, line, condition, text.str().c_str());
}

/// Runs every test whose sentence contains `filter`; the exit code of the program.
inline auto run(const char* filter = "") -> int {
    int passed = 0;
    int failed = 0;
    for (const auto& test : tests()) {
        if (test.sentence.find(filter) == std::string::npos) {
            continue;
        }
        failures = 0;
        test.body();
        if (failures > 0) {
            std::fprintf(stderr, "FAILED (%d checks): %s\n", failures, test.sentence.c_str());
        }
        ++(failures > 0 ? failed : passed);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0 ? 1 : 0;
}

}  // namespace check

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)
#define TEST(sentence)                                                                                  \
    static void CHECK_JOIN(test_, __LINE__)();                                                          \
    static const bool CHECK_JOIN(added_, __LINE__) = check::add(sentence, CHECK_JOIN(test_, __LINE__)); \
    static void CHECK_JOIN(test_, __LINE__)()
#define CHECK(condition, ...)                                                       \
    do {                                                                            \
        if (!(condition)) {                                                         \
            check::fail(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
        }                                                                           \
    } while (false)
