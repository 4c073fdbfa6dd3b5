// What is counted per group over events that can hold anything: statistics of durations, covered time, trees of calls,
// tracks.
#include <algorithm>
#include <map>
#include <numeric>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/call_tree.hpp"
#include "wavewright/covered_time.hpp"
#include "wavewright/duration_statistics.hpp"
#include "wavewright/tracks.hpp"

namespace wavewright::fuzz {
namespace {

constexpr int64_t kLongest = int64_t{1} << 50, kFarthest = int64_t{1} << 61;

struct Events {
    std::vector<uint32_t> key, other_key, thread, launch;
    std::vector<uint64_t> line;
    std::vector<int64_t> begin, end, size;
    std::vector<uint8_t> has_key, has_begin, has_end;

    explicit Events(Bytes rest) {
        int64_t now = 0;
        while (!rest.empty()) {
            const auto what = take<uint8_t>(rest);
            const bool is_wild = (what & 0x80) != 0;
            const int64_t from = is_wild ? take<int64_t>(rest) : now + what % 16;
            key.push_back(is_wild ? take<uint32_t>(rest) : what % 5);
            other_key.push_back(what / 16 % 3);
            thread.push_back(what % 3);
            line.push_back(what % 3);
            launch.push_back(what % 7);
            begin.push_back(from);
            end.push_back(is_wild ? take<int64_t>(rest) : from + take<uint8_t>(rest));
            size.push_back(is_wild ? take<int64_t>(rest) : what);
            has_key.push_back(what % 11 != 0);
            has_begin.push_back(what % 13 != 0);
            has_end.push_back(what % 17 != 0);
            if (!is_wild) now = from;
        }
    }

    size_t count() const { return key.size(); }

    // Rows in another order, in all columns.
    void sort_by_thread() {
        std::vector<size_t> order(count());
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
            if (thread[a] != thread[b]) return thread[a] < thread[b];
            return begin[a] != begin[b] ? begin[a] < begin[b] : end[a] > end[b];
        });
        const auto sorted = [&](auto& column) {
            auto copy = column;
            for (size_t i = 0; i < order.size(); ++i) copy[i] = column[order[i]];
            column = std::move(copy);
        };
        sorted(key);
        sorted(thread);
        sorted(line);
        sorted(launch);
        sorted(begin);
        sorted(end);
    }
};

template <class T>
std::span<const T> part(const std::vector<T>& column, size_t from, size_t to) {
    return std::span(column).subspan(from, to - from);
}

void check_statistics(const Events& events) {
    DurationStatistics statistics(2, kLongest);
    CoveredTime covered(2, kLongest, kFarthest);
    const size_t half = events.count() / 2, whole = events.count();
    for (const auto& [from, to] : {std::pair{size_t{0}, half}, {half, whole}}) {
        const Nullable<uint32_t> keys[] = {{part(events.key, from, to), part(events.has_key, from, to)},
                                           {part(events.other_key, from, to), {}}};
        const Nullable<int64_t> begins{part(events.begin, from, to), part(events.has_begin, from, to)};
        const Nullable<int64_t> ends{part(events.end, from, to), part(events.has_end, from, to)};
        statistics.add(keys, begins, ends, {part(events.size, from, to), {}});
        covered.add(keys, begins, ends);
    }
    const DurationSums sums = statistics.sums();
    const DurationValues values = statistics.values();
    int64_t calls = 0, timed = 0, counted = 0;
    for (size_t i = 0; i < sums.calls.size(); ++i) {
        calls += sums.calls[i];
        timed += sums.timed[i];
        require(sums.timed[i] <= sums.calls[i], "no more times than calls");
        require(sums.timed[i] == 0 || (sums.min[i] >= 0 && sums.min[i] <= sums.max[i] && sums.max[i] < kLongest),
                "durations in their range");
    }
    for (const int64_t count : values.count) counted += count;
    require(calls == static_cast<int64_t>(whole) && counted == timed, "every event is counted once");
    const std::vector<uint8_t> in_buckets(sums.calls.size(), 1);
    int64_t regrouped = 0;
    for (const int64_t count : regrouped_values(values.group, values.value, values.count, in_buckets).values.count)
        regrouped += count;
    require(regrouped == counted, "buckets hold every value");
    const std::vector<int64_t> totals = covered.totals();
    require(totals.size() == sums.calls.size(), "the same groups");
    for (size_t i = 0; i < totals.size(); ++i) {
        const __int128 total = static_cast<__int128>(sums.total_high[i]) << 64 | sums.total_low[i];
        require(totals[i] >= 0 && totals[i] <= total, "no more is covered than lasts");
    }
}

void check_trees(const Events& events) {
    const std::vector<int64_t> launch_ns = {1, INT64_MAX, -5, 0}, launch_count = {1, 2, 3, 4};
    std::vector<uint32_t> names = events.key;
    for (uint32_t& name : names) name = name % 7 == 6 ? nameless : name % 7;
    const CallNodes nodes = call_tree({events.thread, events.begin, events.end, names, events.launch, launch_ns,
                                       launch_count, launch_count, launch_ns});
    int64_t calls = 0;
    for (size_t i = 0; i < nodes.parent.size(); ++i) {
        require(nodes.parent[i] >= -1 && nodes.parent[i] < static_cast<int64_t>(i), "parents come first");
        calls += nodes.call_count[i];
    }
    require(calls == static_cast<int64_t>(names.size()) - std::count(names.begin(), names.end(), nameless),
            "every call with a name is in one node");
    for (const bool may_nest : {false, true}) {
        const NestedEvents nested = nested_events(events.line, events.begin, events.end, may_nest);
        require(nested.row.size() == 2 * events.count(), "a begin and an end for every slice");
        std::map<std::pair<uint64_t, uint32_t>, std::vector<uint32_t>> open;
        for (size_t i = 0; i < nested.row.size(); ++i) {
            const uint32_t row = nested.row[i];
            require(row < events.count(), "rows that exist");
            std::vector<uint32_t>& track = open[{events.line[row], nested.track[i]}];
            if (nested.is_end[i] == 0) {
                require(may_nest || track.empty(), "no slice inside another");
                track.push_back(row);
            } else {
                require(!track.empty() && track.back() == row, "what begins last ends first");
                track.pop_back();
            }
        }
    }
}

}  // namespace

void fuzz_groups(Bytes input) {
    Events events(input.first(std::min<size_t>(input.size(), 4096)));
    check_statistics(events);
    events.sort_by_thread();
    check_trees(events);
}

}  // namespace wavewright::fuzz
