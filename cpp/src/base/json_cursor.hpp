// Reads JSON text in one pass, without building a tree. The text must end with a NUL: no step goes past one, so that
// the end of the text needs no tests of its own. A NUL inside the text is a fault like any other stray character.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace wavewright {

enum class JsonFault : uint8_t { none, syntax, too_deep, number };

// Characters that skip() passes over without looking: everything but brackets, quotes and control characters.
inline constexpr std::array<bool, 256> kPlainCharacters = [] {
    std::array<bool, 256> plain{};
    for (size_t c = ' '; c < plain.size(); ++c) plain[c] = true;
    for (const char c : {'\n', '\t', '\r'}) plain[static_cast<size_t>(c)] = true;
    for (const char c : {'[', ']', '{', '}', '"'}) plain[static_cast<size_t>(c)] = false;
    return plain;
}();

class JsonCursor {
  public:
    explicit JsonCursor(const char* text) : begin_(text), at_(text) {
        if (std::strncmp(text, "\xEF\xBB\xBF", 3) == 0) at_ += 3;  // byte order mark
    }

    JsonFault fault() const { return fault_; }
    uint64_t offset() const { return static_cast<uint64_t>(at_ - begin_); }
    const char* at() const { return at_; }
    void go_to(const char* at) { at_ = at; }

    bool fail(JsonFault fault = JsonFault::syntax) {
        if (fault_ == JsonFault::none) fault_ = fault;
        return false;
    }

    bool take(char wanted) {
        skip_space();
        if (*at_ != wanted) return false;
        ++at_;
        return true;
    }

    bool take_null() {
        skip_space();
        if (std::strncmp(at_, "null", 4) != 0) return false;
        at_ += 4;
        return true;
    }

    // Nothing but space up to the end of a text of `size` bytes.
    bool at_end(size_t size) {
        skip_space();
        return offset() == size || fail();
    }

    // Calls `member(key)` in front of every value; it must read or skip the value. Keys are as written: an escape in
    // one makes it no key that is asked for.
    template <class Member>
    bool object(Member&& member) {
        if (!take('{')) return fail();
        if (take('}')) return true;
        do {
            std::string_view key;
            if (!string(key) || !take(':')) return fail();
            if (!member(key)) return fail();
        } while (take(','));
        return take('}') || fail();
    }

    // Calls `element()` in front of every value.
    template <class Element>
    bool array(Element&& element) {
        if (!take('[')) return fail();
        if (take(']')) return true;
        do {
            if (!element()) return fail();
        } while (take(','));
        return take(']') || fail();
    }

    // A whole number; 3.0 and 3e2 are whole as well. False, without a fault and without a step, when there is none.
    // `fits` tells whether the number is whole and has 64 bits.
    bool number(int64_t& value, bool& fits) {
        skip_space();
        const char* const start = at_;
        const bool negative = *at_ == '-';
        const char* digit = at_ + (negative ? 1 : 0);
        const char* const first = digit;
        uint64_t magnitude = 0;
        while (is_digit(*digit)) magnitude = magnitude * 10 + static_cast<uint64_t>(*digit++ - '0');
        if (digit == first) return false;
        at_ = digit;
        if (*at_ == '.' || *at_ == 'e' || *at_ == 'E') return real_number(start, value, fits);
        fits = digit - first <= kSafeDigits;
        if (!fits) {
            fits = std::from_chars(start, digit, value).ec == std::errc();
        } else {
            value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
        }
        return true;
    }

    // Skips any value. What is skipped is checked for balance only.
    bool skip() {
        skip_space();
        if (*at_ != '[' && *at_ != '{') return skip_scalar();
        uint64_t is_object = 0;  // one bit per open bracket, the innermost lowest
        unsigned depth = 0;
        for (;;) {
            while (kPlainCharacters[static_cast<uint8_t>(*at_)]) ++at_;
            switch (*at_) {
                case '[':
                case '{':
                    if (++depth > kMaxDepth) return fail(JsonFault::too_deep);
                    is_object = is_object << 1 | (*at_ == '{' ? 1U : 0U);
                    break;
                case ']':
                case '}':
                    if ((is_object & 1) != (*at_ == '}' ? 1U : 0U)) return fail();
                    is_object >>= 1;
                    if (--depth == 0) {
                        ++at_;
                        return true;
                    }
                    break;
                case '"': {
                    std::string_view ignored;
                    if (!string(ignored)) return false;
                    continue;
                }
                default: return fail();
            }
            ++at_;
        }
    }

    void skip_space() {
        while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') ++at_;
    }

    static bool is_digit(char c) { return static_cast<uint8_t>(c - '0') < 10; }

  private:
    static constexpr int kSafeDigits = 18;  // more may need more than 63 bits
    static constexpr unsigned kMaxDepth = 64;

    bool string(std::string_view& text) {
        if (!take('"')) return fail();
        const char* const start = at_;
        while (*at_ != '"') {
            if (static_cast<uint8_t>(*at_) < ' ') return fail();
            if (*at_ == '\\' && static_cast<uint8_t>(*++at_) < ' ') return fail();
            ++at_;
        }
        text = {start, static_cast<size_t>(at_ - start)};
        ++at_;
        return true;
    }

    bool skip_scalar() {
        std::string_view ignored;
        if (*at_ == '"') return string(ignored);
        for (const std::string_view word : {"null", "true", "false", "NaN", "Infinity", "-Infinity"}) {
            if (std::strncmp(at_, word.data(), word.size()) == 0) {
                at_ += word.size();
                return true;
            }
        }
        int64_t value = 0;
        bool fits = false;
        return number(value, fits) || fail();
    }

    bool real_number(const char* start, int64_t& value, bool& fits) {
        double real = 0;
        const char* end = at_;
        while (is_digit(*end) || *end == '.' || *end == 'e' || *end == 'E' || *end == '+' || *end == '-') ++end;
        const std::from_chars_result read = std::from_chars(start, end, real);
        at_ = read.ptr;
        constexpr double kExact = 9007199254740992.0;  // beyond 2^53 neighbours are more than 1 apart
        fits = read.ec == std::errc() && std::fabs(real) <= kExact && std::trunc(real) == real;
        value = fits ? static_cast<int64_t>(real) : 0;
        return true;
    }

    const char* begin_;
    const char* at_;
    JsonFault fault_ = JsonFault::none;
};

}  // namespace wavewright
