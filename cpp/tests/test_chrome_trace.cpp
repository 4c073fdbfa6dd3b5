#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/chrome_trace.hpp"

namespace wavewright {
namespace {

std::string escaped(std::string_view text) {
    JsonTexts texts;
    texts.add(text);
    return std::string(texts[0]);
}

TEST(chrome_trace, texts_are_escaped_and_made_unicode) {
    CHECK_EQUAL(escaped("a\"b\\c\n"), std::string("\"a\\\"b\\\\c\\u000a\""));
    CHECK_EQUAL(escaped("\xC3\xA9"), std::string("\"\xC3\xA9\""));
    CHECK_EQUAL(escaped("\xF0\x9F\x98\x80"), std::string("\"\xF0\x9F\x98\x80\""));
    for (const std::string_view broken : {"\xC3", "\xFF", "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"})
        CHECK(escaped(broken).starts_with("\"\xEF\xBF\xBD"));
}

std::string traced(auto&& write) {
    std::string text;
    ChromeTrace trace([&](std::string_view block) { text += block; });
    write(trace);
    trace.finish();
    return text;
}

TEST(chrome_trace, an_empty_trace_is_json) {
    CHECK_EQUAL(traced([](ChromeTrace&) {}), std::string("{\"traceEvents\":[\n\n]}\n"));
}

TEST(chrome_trace, times_are_exact) {
    const std::vector<int64_t> place = {1}, begin = {-1001}, end = {INT64_MAX};
    const std::vector<uint32_t> first = {0};
    JsonTexts names;
    names.add("k");
    const std::string text =
        traced([&](ChromeTrace& trace) { trace.slices({place, place, begin, end, first, first}, names, names); });
    CHECK(text.find("\"ts\":-1.001,") != std::string::npos);
}

TEST(chrome_trace, counters_without_a_number_are_left_out) {
    const std::vector<int64_t> place = {1, 1};
    const std::vector<uint32_t> first = {0, 0};
    const std::vector<double> values = {1.5, 0.0 / 0.0};
    JsonTexts names;
    names.add("sclk");
    const std::string text = traced([&](ChromeTrace& trace) { trace.counters({place, place, first, values}, names); });
    CHECK(text.find("{\"sclk\":1.5}") != std::string::npos);
    CHECK(text.find("nan") == std::string::npos);
}

}  // namespace
}  // namespace wavewright
