// How much time intervals cover, per group: what overlaps counts once.
#pragma once

#include <cstdint>
#include <vector>

#include "wavewright/key_numbers.hpp"

namespace wavewright {

// Takes intervals in pieces and in any order; keeps what they cover so far.
class CoveredTime {
  public:
    // Intervals that are not shorter than `longest`, negative, unknown, or that begin beyond `farthest` cover nothing.
    CoveredTime(size_t key_count, int64_t longest, int64_t farthest)
        : numbers_(key_count), longest_(longest), farthest_(farthest) {}

    size_t key_count() const { return numbers_.key_count(); }
    // All columns are of one length. Returns the rows that are the first of their group.
    std::vector<uint32_t> add(Keys keys, const Nullable<int64_t>& begins, const Nullable<int64_t>& ends);
    // Per group.
    std::vector<int64_t> totals();

  private:
    struct Interval {
        int64_t begin, end;
    };
    struct Group {
        std::vector<Interval> intervals;
        bool is_sorted = true;
        size_t compact_at = 1 << 16;

        void add(Interval next);
        void compact();
    };

    KeyNumbers numbers_;
    int64_t longest_, farthest_;
    std::vector<Group> groups_;
};

}  // namespace wavewright
