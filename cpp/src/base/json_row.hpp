// One row of numbers: `[1032, 1, 0, 4, 1]`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/json_cursor.hpp"

namespace wavewright {

struct JsonRow {
    size_t width = 0;     // values in the row; those that `values` has no room for are passed over
    bool is_good = true;  // a list of whole numbers of 64 bits; true and false count as 1 and 0
};

// False when the text is not JSON; anything else that is not a row of numbers gives a row that is not good.
inline bool read_row(JsonCursor& cursor, std::span<int64_t> values, JsonRow& row) {
    row = {};
    cursor.skip_space();
    if (*cursor.at() != '[') {
        row.is_good = false;
        return cursor.skip();
    }
    return cursor.array([&] {
        int64_t value = 0;
        bool fits = true;
        if (!cursor.number(value, fits)) {
            fits = *cursor.at() == 't' || *cursor.at() == 'f';
            value = *cursor.at() == 't' ? 1 : 0;
            if (!cursor.skip()) return false;
        }
        row.is_good = row.is_good && fits;
        if (row.width < values.size()) values[row.width] = value;
        ++row.width;
        return true;
    });
}

// The common form, quickly: exactly N whole numbers without spaces. Null when the row has another form.
template <size_t N>
const char* read_compact_row(const char* at, std::array<int64_t, N>& values) {
    constexpr ptrdiff_t kSafeDigits = 18;
    if (*at != '[') return nullptr;
    for (size_t i = 0; i < N; ++i) {
        const bool negative = *++at == '-';
        if (negative) ++at;
        const char* const first = at;
        int64_t magnitude = 0;
        while (JsonCursor::is_digit(*at) && at - first < kSafeDigits) magnitude = magnitude * 10 + (*at++ - '0');
        if (at == first || *at != (i + 1 < N ? ',' : ']')) return nullptr;
        values[i] = negative ? -magnitude : magnitude;
    }
    return at + 1;
}

}  // namespace wavewright
