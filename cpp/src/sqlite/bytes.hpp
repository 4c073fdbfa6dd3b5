// Numbers in the pages of an SQLite file. All may read up to 9 bytes, whatever they say: see kPagePadding.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace wavewright::sqlite {

inline uint32_t big_endian16(const uint8_t* at) {
    return static_cast<uint32_t>(at[0]) << 8 | at[1];
}

inline uint32_t big_endian32(const uint8_t* at) {
    return big_endian16(at) << 16 | big_endian16(at + 2);
}

inline uint64_t big_endian64(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

// A number of 1 to 9 bytes; moves `at` after it.
inline uint64_t take_varint(const uint8_t*& at) {
    if (*at < 0x80) return *at++;
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        const uint8_t byte = *at++;
        value = value << 7 | (byte & 0x7F);
        if (byte < 0x80) return value;
    }
    return value << 8 | *at++;
}

// Serial types say the kind and the size of a value.
constexpr uint64_t kNull = 0, kReal = 7, kZero = 8, kOne = 9, kFirstBlob = 12;

inline bool is_text(uint64_t serial) {
    return serial >= kFirstBlob && (serial & 1) != 0;
}

// 10 and 11 are reserved; SQLite reads them as NULL.
inline uint64_t size_of(uint64_t serial) {
    constexpr uint8_t kSizes[kFirstBlob] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return serial < kFirstBlob ? kSizes[serial] : (serial - kFirstBlob) / 2;
}

// The value of a serial type 1 to 6.
inline int64_t integer_at(const uint8_t* at, uint64_t serial) {
    return static_cast<int64_t>(big_endian64(at)) >> (64 - 8 * size_of(serial));
}

inline double real_at(const uint8_t* at) {
    return std::bit_cast<double>(big_endian64(at));
}

}  // namespace wavewright::sqlite
