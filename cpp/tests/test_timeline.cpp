// States of waves and use of pipes over time, against numbers worked out by hand or counted cycle by cycle.
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/timeline.hpp"

namespace wavewright {
namespace {

// "group/kind:total [bin]cycles ..." for every group and kind.
std::string shown(const CyclesOverTime& sums) {
    std::ostringstream text;
    for (size_t row = 0; row < sums.group.size(); ++row) {
        if (sums.bin[row] == kAllBins) {
            text << (row == 0 ? "" : " ") << sums.group[row] << "/" << +sums.kind[row] << ":" << sums.cycles[row];
        } else {
            text << " [" << sums.bin[row] << "]" << sums.cycles[row];
        }
    }
    return text.str();
}

std::vector<int64_t> binned(Bins bins, std::vector<std::pair<int64_t, int64_t>> intervals) {
    BinnedCycles sums(bins);
    for (const auto& [begin, end] : intervals) sums.add(begin, end);
    return sums.per_bin();
}

TEST(timeline, intervals_are_cut_at_bins) {
    CHECK_EQUAL(binned({0, 10, 3}, {{5, 25}}), std::vector<int64_t>{5, 10, 5});
    CHECK_EQUAL(binned({0, 10, 3}, {{10, 20}, {12, 14}}), std::vector<int64_t>{0, 12, 0});
    CHECK_EQUAL(binned({0, 10, 3}, {{0, 30}, {0, 30}}), std::vector<int64_t>{20, 20, 20});
    CHECK_EQUAL(binned({-10, 10, 2}, {{-5, 3}}), std::vector<int64_t>{5, 3});
}

TEST(timeline, what_lies_outside_the_bins_counts_in_all_only) {
    BinnedCycles sums({100, 10, 2});
    sums.add(90, 105);
    sums.add(118, 500);
    sums.add(0, 50);
    sums.add(7, 7);
    CHECK_EQUAL(sums.per_bin(), std::vector<int64_t>{5, 2});
    CHECK_EQUAL(sums.total(), int64_t{15 + 382 + 50});
}

TEST(timeline, every_interval_against_counting) {
    const Bins bins{3, 4, 5};
    for (int64_t begin = 0; begin < 26; ++begin) {
        for (int64_t end = begin; end < 28; ++end) {
            std::vector<int64_t> counted(bins.count);
            for (int64_t cycle = std::max<int64_t>(begin, 3); cycle < std::min<int64_t>(end, 23); ++cycle)
                ++counted[static_cast<size_t>((cycle - 3) / 4)];
            CHECK_EQUAL(binned(bins, {{begin, end}}), counted);
        }
    }
}

TEST(timeline, states_of_groups) {
    const std::vector<uint32_t> group = {1, 0}, count = {2, 2};
    const std::vector<int64_t> begin = {0, 8};
    const std::vector<uint64_t> first = {0, 2};
    const std::vector<uint8_t> states = {1, 2, 2, 9};
    const std::vector<int32_t> durations = {4, 8, 4, 2};
    const CyclesOverTime sums = state_cycles({group, begin, first, count, states, durations}, {0, 8, 2});
    CHECK_EQUAL(shown(sums), "0/2:4 [1]4 0/5:2 [1]2 1/1:4 [0]4 1/2:8 [0]4 [1]4");
}

TEST(timeline, states_that_are_not_there_are_left_out) {
    const std::vector<uint32_t> group = {0, 0}, count = {9, 1};
    const std::vector<int64_t> begin = {INT64_MAX, INT64_MIN};
    const std::vector<uint64_t> first = {1, UINT64_MAX};
    const std::vector<uint8_t> states = {1, 2};
    const std::vector<int32_t> durations = {4, -8};
    CHECK_EQUAL(shown(state_cycles({group, begin, first, count, states, durations}, {0, 8, 2})), "0/2:0");
}

constexpr int kMemory = 3, kMath = 6, kImmediate = 9;  // Category: vmem, valu and immed

// Waves and their instructions as columns. VALU issues to pipe 0, memory to pipe 1, immediates to pipe 2, which is
// short. Kinds in the texts below: a pipe, 16 any pipe, 17 resident, 18 bubble, 32 + pipe busy.
struct Traced {
    std::vector<uint32_t> unit, group, count;
    std::vector<int64_t> offset, begin, end, time;
    std::vector<uint64_t> first;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category, row_pipes;
    std::vector<int32_t> row_cycles;

    // Instructions are {time, stall, duration, category, row}.
    void wave(uint32_t of_unit, int64_t from, int64_t to, std::vector<std::array<int, 5>> instructions) {
        unit.push_back(of_unit);
        group.push_back(of_unit / 4);
        offset.push_back(0);
        begin.push_back(from);
        end.push_back(to);
        first.push_back(time.size());
        count.push_back(static_cast<uint32_t>(instructions.size()));
        for (const auto& [at, stalled, lasting, kind, in_row] : instructions) {
            time.push_back(at);
            stall.push_back(stalled);
            duration.push_back(lasting);
            category.push_back(static_cast<uint8_t>(kind));
            row.push_back(in_row);
        }
    }
    PipeUse use(Bins bins = {0, 100, 1}, bool counts_unknown_rows = true) const {
        PipeRules rules;
        rules.of_category.fill(kNoPipe);
        rules.of_category[kMath] = 0;
        rules.of_category[kMemory] = 1;
        rules.of_category[kImmediate] = 2;
        rules.of_row = row_pipes;
        rules.busy_of_row = row_cycles;
        rules.counts_unknown_rows = counts_unknown_rows;
        rules.short_pipes = 1 << 2;
        rules.issue_cycles = 4;
        return pipe_use({unit, group, offset, begin, end, first, count, time, stall, duration, category, row}, rules,
                        bins);
    }
};

TEST(utilization, overlaps_count_once) {
    Traced traced;
    traced.wave(0, 0, 60, {{0, 4, 12, kMath, -1}, {40, 0, 8, kMemory, -1}});
    traced.wave(0, 10, 50, {{6, 2, 12, kMath, -1}, {36, 0, 8, kMath, -1}});
    // VALU 4..18 and 36..44, memory 40..48; lives 0..60
    CHECK_EQUAL(shown(traced.use().units), "0/0:22 0/1:8 0/16:26 0/17:60 0/18:34");
}

TEST(utilization, shortest_issues_and_short_pipes) {
    Traced traced;
    traced.wave(3, 0, 100, {{0, 50, 50, kMath, -1}, {60, 0, 30, kImmediate, -1}, {95, 0, 4, 1, -1}});
    CHECK_EQUAL(shown(traced.use().units), "3/0:4 3/2:4 3/16:8 3/17:100 3/18:92");
}

TEST(utilization, rows_may_have_another_pipe_or_none) {
    Traced traced;
    traced.row_pipes = {5, kNoPipe, kByCategory};
    traced.wave(0, 0, 40, {{0, 0, 8, kMath, 0}, {8, 0, 8, kMath, 1}, {16, 0, 8, kMath, 2}, {24, 0, 8, kMath, 7}});
    CHECK_EQUAL(shown(traced.use().units), "0/0:16 0/5:8 0/16:24 0/17:40 0/18:16");
    CHECK_EQUAL(shown(traced.use({0, 100, 1}, false).units), "0/0:8 0/5:8 0/16:16 0/17:40 0/18:24");
}

std::string shown(const PipeIssues& issues) {
    std::ostringstream text;
    for (size_t row = 0; row < issues.unit.size(); ++row)
        text << (row == 0 ? "" : " ") << issues.unit[row] << "/" << +issues.pipe[row] << ":" << issues.issue_count[row]
             << "x" << issues.phase_cycles[row];
    return text.str();
}

TEST(utilization, an_instruction_occupies_its_pipe_longer_than_it_issues) {
    Traced traced;
    traced.row_pipes = {5, kByCategory};
    traced.row_cycles = {32, 0};
    traced.wave(0, 0, 200, {{0, 0, 4, kMath, 0}, {4, 0, 8, kMath, 1}, {4, 28, 32, kMath, 0}, {80, 0, 40, kMath, 0}});
    // pipe 5 issues 0..4, 32..36, 80..120 and is busy 0..64, 80..120; pipe 0 issues 4..12
    CHECK_EQUAL(shown(traced.use().units), "0/0:8 0/5:48 0/16:56 0/17:200 0/18:144 0/32:8 0/37:104");
    CHECK_EQUAL(shown(traced.use({0, 100, 2}).groups),
                "0/0:8 [0]8 0/5:48 [0]28 [1]20 0/16:56 [0]36 [1]20 0/17:200 [0]100 [1]100 0/18:144 [0]64 [1]80 "
                "0/32:8 [0]8 0/37:104 [0]84 [1]20");
    CHECK_EQUAL(shown(traced.use().issues), "0/0:1x8 0/5:3x120");
}

TEST(utilization, phases_of_waves_are_joined) {
    Traced traced;
    traced.row_cycles = {16};
    traced.wave(0, 0, 300, {{0, 0, 4, kMath, 0}, {100, 0, 4, kMath, 0}});
    traced.wave(0, 0, 300, {{50, 0, 4, kMath, 0}, {110, 0, 4, kMath, -1}, {120, 0, 4, kMemory, -1}});
    traced.wave(0, 0, 300, {{200, 0, 4, kMath, 0}});
    traced.wave(1, 0, 300, {});
    CHECK_EQUAL(shown(traced.use().issues), "0/0:5x132 0/1:1x4");
}

TEST(utilization, groups_and_bins_and_gaps_between_lives) {
    Traced traced;
    traced.wave(4, 0, 10, {{8, 0, 30, kMath, -1}});
    traced.wave(4, 20, 40, {});
    traced.wave(5, 0, 20, {{12, 0, 4, kMath, -1}});
    CHECK_EQUAL(shown(traced.use({0, 20, 2}).groups),
                "1/0:34 [0]16 [1]18 1/16:34 [0]16 [1]18 1/17:50 [0]30 [1]20 1/18:26 [0]24 [1]2");
    CHECK_EQUAL(shown(traced.use().units), "4/0:30 4/16:30 4/17:30 4/18:10 5/0:4 5/16:4 5/17:20 5/18:16");
}

TEST(utilization, waves_out_of_order_are_sorted) {
    Traced traced;
    traced.wave(0, 0, 60, {{40, 0, 8, kMath, -1}, {0, 0, 8, kMath, -1}, {20, 0, 8, kMath, -1}});
    traced.wave(0, 0, 60, {{4, 0, 8, kMath, -1}, {44, 0, 20, kMemory, -1}});
    traced.wave(0, 50, 60, {});
    // VALU 0..12, 20..28, 40..48, memory 44..64
    CHECK_EQUAL(shown(traced.use().units), "0/0:28 0/1:20 0/16:44 0/17:60 0/18:20");
}

TEST(utilization, many_waves_against_counting) {
    Traced traced;
    std::vector<bool> busy(4000);
    uint32_t random = 1;
    for (int wave = 0; wave < 40; ++wave) {
        std::vector<std::array<int, 5>> instructions;
        int time = wave * 31;
        for (int at = 0; at < 30; ++at) {
            random = random * 1664525 + 1013904223;
            const int stall = static_cast<int>(random >> 16) % 20, issue = 4 + static_cast<int>(random >> 24) % 9;
            instructions.push_back({time, stall, stall + issue, kMath, -1});
            for (int cycle = time + stall; cycle < time + stall + issue; ++cycle)
                busy[static_cast<size_t>(cycle)] = true;
            time += static_cast<int>(random >> 20) % 50;
        }
        traced.wave(0, wave * 31, time, instructions);
    }
    const PipeUse use = traced.use();
    CHECK_EQUAL(use.units.cycles[0], std::count(busy.begin(), busy.end(), true));
}

TEST(utilization, wild_numbers) {
    Traced traced;
    traced.wave(0, INT64_MIN, INT64_MAX, {{0, -7, -9, kMath, INT32_MAX}, {5, INT32_MAX, 3, kMath, INT32_MIN}});
    traced.time[1] = INT64_MAX;
    traced.first[0] = 1;
    traced.count[0] = UINT32_MAX;
    traced.row_cycles = {-5};
    const PipeUse use = traced.use();
    CHECK_EQUAL(use.units.cycles[0], int64_t{4});
    CHECK_EQUAL(shown(use.issues), "0/0:1x4");
}

}  // namespace
}  // namespace wavewright
