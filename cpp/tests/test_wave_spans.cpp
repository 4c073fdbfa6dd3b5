#include <vector>

#include "check.hpp"
#include "wavewright/wave_spans.hpp"

namespace wavewright {
namespace {

struct Waves {
    std::vector<uint32_t> track, count;
    std::vector<int64_t> time;
    std::vector<uint64_t> first;
    PlacedWaves placed() const { return {track, time, first, count}; }
};

struct Instructions {
    std::vector<int64_t> time;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category;
    TracedInstructions table() const { return {time, stall, duration, category, row}; }
};

// track, begin, end, kind of every row
std::vector<std::vector<int64_t>> rows_of(const WaveSpans& spans) {
    std::vector<std::vector<int64_t>> rows;
    for (size_t i = 0; i < spans.track.size(); ++i)
        rows.push_back({spans.track[i], spans.begin[i], spans.end[i], spans.kind[i]});
    return rows;
}

const Waves kWaves{{3, 1}, {2, 1}, {100, -10}, {0, 2}};
const Instructions kSteps{{0, 20, 50, 7}, {4, 0, 30, 0}, {8, 12, 20, 1}, {0, 1, -1, 0}, {6, 6, 9, 1}};
constexpr int64_t kNone = kNoTrack;

TEST(wave_spans, executed_until_the_end_of_stall_or_duration) {
    const std::vector<uint8_t> is_matrix{0, 1};
    CHECK(rows_of(executed_spans(kWaves.placed(), kSteps.table(), is_matrix)) ==
          (std::vector<std::vector<int64_t>>{{3, 100, 108, 6}, {3, 120, 132, 15}, {1, 40, 70, 9}, {kNone, 0, 0, 0}}));
}

TEST(wave_spans, issued_after_the_stall_for_at_least_one_clock) {
    PipeRules rules;
    rules.of_category.fill(kNoPipe);
    rules.of_category[6] = 0;
    rules.of_category[9] = 1;
    rules.short_pipes = 2;
    rules.issue_cycles = 4;
    const Waves waves{{1, 0}, {2, 1}, {100, -10}, {0, 2}};
    const std::vector<uint32_t> tracks{kNoTrack, 7, 5, kNoTrack};
    CHECK(rows_of(issued_spans(waves.placed(), kSteps.table(), {}, rules, {tracks, 2})) ==
          (std::vector<std::vector<int64_t>>{{5, 104, 108, 6}, {5, 120, 132, 6}, {7, 70, 74, 9}, {kNone, 0, 0, 0}}));
    CHECK_EQUAL(used_pipes(waves.placed(), kSteps.table(), rules, 3), std::vector<uint32_t>{2, 1, 0});
}

TEST(wave_spans, states_follow_each_other) {
    const std::vector<uint8_t> states{1, 2, 3, 4};
    const std::vector<int32_t> durations{5, -3, 7, 2};
    CHECK(rows_of(state_spans(kWaves.placed(), states, durations)) ==
          (std::vector<std::vector<int64_t>>{{3, 100, 105, 1}, {3, 105, 105, 2}, {1, -10, -3, 3}, {kNone, 0, 0, 0}}));
}

TEST(wave_spans, waves_that_reach_beyond_the_table) {
    const Waves waves{{0, 1}, {UINT32_MAX, 5}, {INT64_MAX, INT64_MIN}, {3, UINT64_MAX}};
    const std::vector<std::vector<int64_t>> rows = rows_of(executed_spans(waves.placed(), kSteps.table(), {}));
    CHECK_EQUAL(rows[2][0], kNone);
    CHECK_EQUAL(rows[3][1], kFarthestCycles + 7);
    CHECK(executed_spans(waves.placed(), {}, {}).track.empty());
}

}  // namespace
}  // namespace wavewright
