#include "wavewright/duration_statistics.hpp"

#include <algorithm>

namespace wavewright {
namespace {

void append(DurationValues& table, uint32_t group, const ValueCounts& counts) {
    for (const auto& [value, count] : counts.sorted()) table.add(group, value, count);
}

}  // namespace

void DurationStatistics::Group::add(int64_t duration) {
    const Wide wide = static_cast<Wide>(duration);
    ++timed;
    total += wide;
    squares += wide * wide;
    min = std::min(min, duration);
    max = std::max(max, duration);
    values.add(duration);
}

std::vector<uint32_t> DurationStatistics::add(Keys keys, const Nullable<int64_t>& begins, const Nullable<int64_t>& ends,
                                              const Nullable<int64_t>& sizes) {
    const size_t rows = begins.values.size();
    const std::vector<uint32_t> numbers = numbers_.of(keys, rows);
    std::vector<uint32_t> first_rows;
    for (size_t row = 0; row < rows; ++row) {
        if (numbers[row] == groups_.size()) {
            groups_.emplace_back();
            first_rows.push_back(static_cast<uint32_t>(row));
        }
        Group& group = groups_[numbers[row]];
        ++group.calls;
        if (!sizes.values.empty() && sizes.has(row)) {
            ++group.sized;
            group.bytes += static_cast<Wide>(static_cast<__int128>(sizes.values[row]));
        }
        const int64_t begin = begins.values[row], end = ends.values[row];
        int64_t duration = 0;
        const bool overflows = __builtin_sub_overflow(end, begin, &duration);
        const bool is_timed = begins.has(row) && ends.has(row) && !overflows && duration >= 0 && duration < longest_;
        if (is_timed) group.add(duration);
    }
    return first_rows;
}

DurationSums DurationStatistics::sums() const {
    DurationSums table;
    const auto low = [](Wide value) { return static_cast<uint64_t>(value); };
    const auto high = [](Wide value) { return static_cast<int64_t>(static_cast<uint64_t>(value >> 64)); };
    for (const Group& group : groups_)
        table.add(group.calls, group.timed, low(group.total), high(group.total), low(group.squares),
                  high(group.squares), group.min, group.max, group.sized, low(group.bytes), high(group.bytes),
                  group.values.is_exact());
    return table;
}

DurationValues DurationStatistics::values() const {
    DurationValues table;
    for (uint32_t group = 0; group < groups_.size(); ++group) append(table, group, groups_[group].values);
    return table;
}

RegroupedValues regrouped_values(std::span<const uint32_t> group, std::span<const int64_t> value,
                                 std::span<const int64_t> count, std::span<const uint8_t> in_buckets) {
    std::vector<ValueCounts> groups(in_buckets.size());
    for (size_t number = 0; number < groups.size(); ++number)
        if (in_buckets[number] != 0) groups[number].into_buckets();
    for (size_t row = 0; row < group.size(); ++row) groups.at(group[row]).add(value[row], count[row]);
    RegroupedValues made;
    for (uint32_t number = 0; number < groups.size(); ++number) {
        append(made.values, number, groups[number]);
        made.is_exact.push_back(groups[number].is_exact());
    }
    return made;
}

}  // namespace wavewright
