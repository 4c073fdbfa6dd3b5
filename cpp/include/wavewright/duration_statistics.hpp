// Statistics of durations per group that depend only on the events, not on how they are spread over pieces.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "wavewright/key_numbers.hpp"
#include "wavewright/table.hpp"
#include "wavewright/value_counts.hpp"

namespace wavewright {

// Integers of 128 bits are in two columns: their low and their high half.
#define WAVEWRIGHT_DURATION_SUM_COLUMNS(X) \
    X(int64_t, calls)                      \
    X(int64_t, timed)                      \
    X(uint64_t, total_low)                 \
    X(int64_t, total_high)                 \
    X(uint64_t, squares_low)               \
    X(int64_t, squares_high)               \
    X(int64_t, min)                        \
    X(int64_t, max)                        \
    X(int64_t, sized)                      \
    X(uint64_t, bytes_low)                 \
    X(int64_t, bytes_high)                 \
    X(uint8_t, is_exact)
WAVEWRIGHT_DECLARE_TABLE(DurationSums, duration_sums, WAVEWRIGHT_DURATION_SUM_COLUMNS)

#define WAVEWRIGHT_DURATION_VALUE_COLUMNS(X) \
    X(uint32_t, group)                       \
    X(int64_t, value)                        \
    X(int64_t, count)
WAVEWRIGHT_DECLARE_TABLE(DurationValues, duration_values, WAVEWRIGHT_DURATION_VALUE_COLUMNS)

// Events in pieces; equal keys are one group, groups are numbered as they come first.
class DurationStatistics {
  public:
    // Durations from `longest` on count as calls without time, as do those that are negative or unknown.
    DurationStatistics(size_t key_count, int64_t longest) : numbers_(key_count), longest_(longest) {}

    size_t key_count() const { return numbers_.key_count(); }

    // All columns are of one length; `sizes` may be empty instead. Returns the rows that are the first of their group.
    std::vector<uint32_t> add(Keys keys, const Nullable<int64_t>& begins, const Nullable<int64_t>& ends,
                              const Nullable<int64_t>& sizes);
    // One row per group, `min` and `max` without meaning when nothing is timed.
    DurationSums sums() const;
    // Sorted by group and value.
    DurationValues values() const;

  private:
    using Wide = unsigned __int128;

    struct Group {
        int64_t calls = 0, timed = 0, sized = 0;
        Wide total = 0, squares = 0, bytes = 0;
        int64_t min = std::numeric_limits<int64_t>::max(), max = 0;
        ValueCounts values;

        void add(int64_t duration);
    };

    KeyNumbers numbers_;
    int64_t longest_;
    std::vector<Group> groups_;
};

// Values of groups that became one: adds up, and makes buckets where there are too many, or where `in_buckets` is set.
struct RegroupedValues {
    DurationValues values;          // sorted by group and value
    std::vector<uint8_t> is_exact;  // per group
};
RegroupedValues regrouped_values(std::span<const uint32_t> group, std::span<const int64_t> value,
                                 std::span<const int64_t> count, std::span<const uint8_t> in_buckets);

}  // namespace wavewright
