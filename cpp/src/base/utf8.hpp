// UTF-8 in untrusted bytes: where the next character ends, or how much to replace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wavewright {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length in bytes of the character at the beginning of `bytes`. Negative where there is none: minus the length of
// what one replacement character stands for ("maximal subpart", Unicode 3.9).
inline int character_length(std::string_view bytes) {
    const auto byte = [&](size_t i) { return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : uint8_t{0}; };
    const uint8_t first = byte(0);
    if (first < 0x80) return 1;
    int length = 0;
    uint8_t low = 0x80, high = 0xBF;  // of the second byte: no surrogates, nothing overlong, nothing above U+10FFFF
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        length = 3;
        if (first == 0xE0) low = 0xA0;
        if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        if (first == 0xF0) low = 0x90;
        if (first == 0xF4) high = 0x8F;
    } else {
        return -1;
    }
    if (byte(1) < low || byte(1) > high) return -1;
    for (int i = 2; i < length; ++i)
        if ((byte(static_cast<size_t>(i)) & 0xC0) != 0x80) return -i;
    return length;
}

}  // namespace wavewright
