#include "sqlite/text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/utf8.hpp"

namespace wavewright::sqlite {
namespace {

size_t ascii_prefix(std::string_view bytes) {
    constexpr uint64_t kHighBits = 0x8080808080808080;
    size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        uint64_t word;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if ((word & kHighBits) != 0) break;
    }
    while (at < bytes.size() && static_cast<uint8_t>(bytes[at]) < 0x80) ++at;
    return at;
}

size_t digits(std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end - at;
}

std::string_view stripped(std::string_view text) {
    constexpr std::string_view kSpace = " \t\n\v\f\r";
    const size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

bool is_utf8(std::string_view bytes) {
    for (;;) {
        bytes.remove_prefix(ascii_prefix(bytes));
        if (bytes.empty()) return true;
        const int length = character_length(bytes);
        if (length < 0) return false;
        bytes.remove_prefix(static_cast<size_t>(length));
    }
}

std::string repaired(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        const int length = character_length(bytes);
        const auto taken = static_cast<size_t>(length < 0 ? -length : length);
        text.append(length < 0 ? kReplacement : bytes.substr(0, taken));
        bytes.remove_prefix(taken);
    }
    return text;
}

SqliteValue number_of(std::string_view text) {
    text = stripped(text);
    if (!text.empty() && text[0] == '+') text.remove_prefix(text.size() > 1 && text[1] == '-' ? 0 : 1);
    const size_t begin = !text.empty() && text[0] == '-' ? 1 : 0;
    const size_t whole = digits(text, begin);
    size_t at = begin + whole, fraction = 0;
    if (whole > 0 && at == text.size()) {
        int64_t value = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return value;
    }
    if (at < text.size() && text[at] == '.') {
        fraction = digits(text, at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0) return {};
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        const size_t sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 1 : 0;
        const size_t exponent = digits(text, at + 1 + sign);
        if (exponent == 0) return {};
        at += 1 + sign + exponent;
    }
    if (at != text.size()) return {};
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return {};
    return value;
}

std::string text_of(double value) {
    if (!std::isfinite(value)) return value < 0 ? "-inf" : "inf";
    char buffer[40];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
    const std::string_view shortest(buffer, static_cast<size_t>(end - buffer));
    const size_t mark = shortest.find('e');
    int exponent = 0;
    const char* exponent_begin = shortest.data() + mark + (shortest[mark + 1] == '+' ? 2 : 1);
    std::from_chars(exponent_begin, end, exponent);
    if (exponent < -4 || exponent >= 16) return std::string(shortest);
    const std::string sign(shortest[0] == '-' ? 1 : 0, '-');
    std::string figures;
    for (const char c : shortest.substr(sign.size(), mark - sign.size()))
        if (c != '.') figures += c;
    if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + figures;
    const auto point = static_cast<size_t>(exponent) + 1;
    if (figures.size() < point) figures.append(point - figures.size(), '0');
    const std::string fraction = figures.substr(point);
    return sign + figures.substr(0, point) + "." + (fraction.empty() ? "0" : fraction);
}

}  // namespace wavewright::sqlite
