// The whole test framework: tests register themselves by suite, a failed check says where, what and with which values
// and lets the rest run. `core_tests SUITE...` runs the named suites, `core_tests` all of them.
#pragma once

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace wavewright::testing {

struct Test {
    const char* suite;
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failure_count() {
    static int count = 0;
    return count;
}

struct Registration {
    Registration(const char* suite, const char* name, void (*run)()) { tests().push_back({suite, name, run}); }
};

template <class T>
std::string shown(const T& value) {
    std::ostringstream out;
    if constexpr (std::is_enum_v<T>) {
        out << +static_cast<std::underlying_type_t<T>>(value);
    } else if constexpr (std::is_integral_v<T>) {
        out << +value;
    } else {
        out << value;
    }
    return out.str();
}

template <class T>
std::string shown(const std::vector<T>& values) {
    std::string text = "[";
    for (const T& value : values) text += (text.size() > 1 ? ", " : "") + shown(value);
    return text + "]";
}

inline void fail(const char* file, int line, const std::string& what) {
    ++failure_count();
    std::cerr << file << ":" << line << ": " << what << "\n";
}

template <class A, class B>
void check_equal(const A& actual, const B& expected, const char* text, const char* file, int line) {
    if (!(actual == expected))
        fail(file, line, std::string(text) + " is " + shown(actual) + ", not " + shown(expected));
}

}  // namespace wavewright::testing

#define TEST(suite, name)                                                                                        \
    static void suite##_##name();                                                                                \
    static const ::wavewright::testing::Registration registered_##suite##_##name(#suite, #name, suite##_##name); \
    static void suite##_##name()

#define CHECK(condition) \
    if (!(condition)) ::wavewright::testing::fail(__FILE__, __LINE__, "not true: " #condition)

// Ends the test when it fails: for what the following checks stand on.
#define REQUIRE(condition)                                                        \
    if (!(condition)) {                                                           \
        ::wavewright::testing::fail(__FILE__, __LINE__, "not true: " #condition); \
        return;                                                                   \
    }

#define CHECK_EQUAL(actual, ...) ::wavewright::testing::check_equal(actual, __VA_ARGS__, #actual, __FILE__, __LINE__)
