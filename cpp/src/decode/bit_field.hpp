// Bit fields of tokens and registers.
#pragma once

#include <cstdint>

namespace wavewright {

// Bits first..last of a word, counted from the least significant one.
struct Field {
    uint8_t first = 0;
    uint64_t mask = 0;  // 0: this version has no such field, it reads as 0

    constexpr uint64_t of(uint64_t contents) const { return (contents >> first) & mask; }
    constexpr bool set(uint64_t contents) const { return of(contents) != 0; }
    constexpr uint8_t byte(uint64_t contents) const { return static_cast<uint8_t>(of(contents)); }
    constexpr uint32_t word(uint64_t contents) const { return static_cast<uint32_t>(of(contents)); }
};

constexpr Field bits(unsigned first, unsigned last) {
    const unsigned width = last - first + 1;
    return {static_cast<uint8_t>(first), width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1};
}

constexpr Field bit(unsigned at) {
    return bits(at, at);
}

}  // namespace wavewright
