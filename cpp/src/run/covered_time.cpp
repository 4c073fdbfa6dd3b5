#include "wavewright/covered_time.hpp"

#include <algorithm>

namespace wavewright {

void CoveredTime::Group::add(Interval next) {
    if (!intervals.empty()) {
        Interval& last = intervals.back();
        if (next.begin >= last.begin && next.begin <= last.end) {
            last.end = std::max(last.end, next.end);
            return;
        }
        is_sorted &= next.begin > last.begin;
    }
    intervals.push_back(next);
    if (!is_sorted && intervals.size() >= compact_at) {
        compact();
        compact_at = std::max(compact_at, 2 * intervals.size());
    }
}

void CoveredTime::Group::compact() {
    if (is_sorted) return;
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    size_t kept = 0;
    for (const Interval& next : intervals) {
        if (kept != 0 && next.begin <= intervals[kept - 1].end) {
            intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
        } else {
            intervals[kept++] = next;
        }
    }
    intervals.resize(kept);
    is_sorted = true;
}

std::vector<uint32_t> CoveredTime::add(Keys keys, const Nullable<int64_t>& begins, const Nullable<int64_t>& ends) {
    const size_t rows = begins.values.size();
    const std::vector<uint32_t> numbers = numbers_.of(keys, rows);
    std::vector<uint32_t> first_rows;
    for (size_t row = 0; row < rows; ++row) {
        if (numbers[row] == groups_.size()) {
            groups_.emplace_back();
            first_rows.push_back(static_cast<uint32_t>(row));
        }
        if (!begins.has(row) || !ends.has(row)) continue;
        const int64_t begin = begins.values[row], end = ends.values[row];
        int64_t length = 0;
        const bool overflows = __builtin_sub_overflow(end, begin, &length);
        if (overflows || length <= 0 || length >= longest_ || begin < -farthest_ || begin > farthest_) continue;
        groups_[numbers[row]].add({begin, end});
    }
    return first_rows;
}

std::vector<int64_t> CoveredTime::totals() {
    std::vector<int64_t> sums;
    for (Group& group : groups_) {
        group.compact();
        int64_t sum = 0;
        for (const Interval& interval : group.intervals) sum += interval.end - interval.begin;
        sums.push_back(sum);
    }
    return sums;
}

}  // namespace wavewright
