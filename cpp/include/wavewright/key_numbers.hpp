// Numbers the groups of rows: each combination of the values of several columns gets a number.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace wavewright {

// A column in which values may be missing.
template <class T>
struct Nullable {
    std::span<const T> values;
    std::span<const uint8_t> known;  // a byte per row; empty = all are

    bool has(size_t row) const { return known.empty() || known[row] != 0; }
};

using Keys = std::span<const Nullable<uint32_t>>;

// Combinations get numbers from 0 in the order of their first row, the same in all pieces of a table. A missing value
// counts as a value.
class KeyNumbers {
  public:
    explicit KeyNumbers(size_t key_count) : codes_(key_count) {}

    size_t key_count() const { return codes_.size(); }
    // The number of each row; all columns have `rows` rows.
    std::vector<uint32_t> of(Keys keys, size_t rows);

  private:
    // Per key: (number of the keys before it, its code) -> number of all of them.
    std::vector<std::unordered_map<uint64_t, uint32_t>> codes_;
};

}  // namespace wavewright
