// Replays of waves whose times are written down by hand: what would they take without one cause of waiting?
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "wavewright/replay.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kScalarMath = 2, kMemory = 3, kMath = 6, kWait = 9, kMessage = 11;  // Category
constexpr uint8_t kLoadWait = 10, kGap = 1;                                           // causes

// An instruction, in cycles. Row 0 takes its port for 4 cycles, row 1 is a matrix instruction of 32.
struct Step {
    int64_t time;
    int32_t stall = 0, duration = 4;
    uint8_t category = kWait, cause = 0, gap = 0;
    int32_t row = 0;
    uint32_t producer = 0;
};

struct TracedWave {
    std::vector<Step> steps;
    int64_t begin, end;
    uint32_t cu = 0, simd = 0;
};

struct Barrier {
    uint64_t place;  // in the instructions of all waves
    uint32_t meeting;
    int64_t arrival;
};

// The columns of a replay, kept alive.
struct Columns {
    std::vector<int64_t> time, begin, end, arrival;
    std::vector<int32_t> stall, duration, row, port_cycles{4, 32};
    std::vector<uint8_t> category, cause, gap, is_matrix{0, 1};
    std::vector<uint32_t> producer, count, cu, simd, meeting;
    std::vector<uint64_t> first, place;

    Columns(const std::vector<TracedWave>& waves, const std::vector<Barrier>& barriers) {
        for (const TracedWave& wave : waves) {
            first.push_back(time.size());
            count.push_back(static_cast<uint32_t>(wave.steps.size()));
            begin.push_back(wave.begin);
            end.push_back(wave.end);
            cu.push_back(wave.cu);
            simd.push_back(wave.simd);
            for (const Step& step : wave.steps) {
                time.push_back(step.time);
                stall.push_back(step.stall);
                duration.push_back(step.duration);
                row.push_back(step.row);
                category.push_back(step.category);
                cause.push_back(step.cause);
                gap.push_back(step.gap);
                producer.push_back(step.producer);
            }
        }
        for (const Barrier& barrier : barriers) {
            place.push_back(barrier.place);
            meeting.push_back(barrier.meeting);
            arrival.push_back(barrier.arrival);
        }
    }

    ReplayInput input() const {
        ReplayInput input;
        input.time = time;
        input.stall = stall;
        input.duration = duration;
        input.row = row;
        input.category = category;
        input.cause = cause;
        input.gap_cause = gap;
        input.producer = producer;
        input.is_matrix = is_matrix;
        input.port_cycles = port_cycles;
        input.first = first;
        input.count = count;
        input.begin = begin;
        input.end = end;
        input.cu = cu;
        input.simd = simd;
        input.barrier = place;
        input.meeting = meeting;
        input.arrival = arrival;
        return input;
    }
};

// Cycles of all CUs in a replay with a removal.
int64_t time_of(const std::vector<TracedWave>& waves, const Removal& removal,
                const std::vector<Barrier>& barriers = {}) {
    const Columns columns(waves, barriers);
    const Replay replay(columns.input());
    const std::vector<int64_t> makespans = replay.without(std::vector{removal}).front();
    return std::accumulate(makespans.begin(), makespans.end(), int64_t{0});
}

constexpr uint64_t bit(uint8_t cause) {
    return uint64_t{1} << cause;
}

// A load, a wait of 96 cycles for it, 20 idle cycles, two instructions that use it.
const TracedWave kLoadAndUse{
    {{0, 0, 4, kMemory}, {4, 96, 96, kWait, kLoadWait, 0, 0, 1}, {120, 0, 4, kMath, 0, kGap}, {124, 0, 4, kMath}},
    0,
    128};

TEST(replay, nothing_removed_takes_as_long_as_recorded) {
    CHECK_EQUAL(time_of({kLoadAndUse}, {}), 128);
}

TEST(replay, a_stall_or_a_gap_costs_nothing) {
    CHECK_EQUAL(time_of({kLoadAndUse}, {.causes = bit(kLoadWait)}), 32);
    CHECK_EQUAL(time_of({kLoadAndUse}, {.causes = bit(kGap)}), 108);
    CHECK_EQUAL(time_of({kLoadAndUse}, {.causes = bit(kGap) | bit(kLoadWait)}), 12);
    const std::vector<uint8_t> nowhere{0};
    CHECK_EQUAL(time_of({kLoadAndUse}, {.causes = bit(kLoadWait), .rows = nowhere}), 128);
}

TEST(replay, a_load_takes_as_long_when_its_latency_is_kept) {
    // Without the gap before the wait, the wait is longer by it.
    const TracedWave wave{{{0, 0, 4, kMemory}, {24, 76, 76, kWait, kLoadWait, kGap, 0, 1}}, 0, 100};
    CHECK_EQUAL(time_of({wave}, {.causes = bit(kGap)}), 80);
    CHECK_EQUAL(time_of({wave}, {.causes = bit(kGap), .keeps_latency = true}), 100);
}

TEST(replay, waves_meet_at_barriers) {
    // The first wave waits 100 cycles for memory, the second for the first.
    const std::vector<TracedWave> waves{
        {{{0, 100, 100, kWait, kLoadWait}, {100, 8, 8, kWait}, {108, 0, 4, kMath}}, 0, 112, 0, 0},
        {{{0, 0, 4, kMath}, {4, 104, 104, kWait}, {108, 0, 4, kMath}}, 0, 112, 0, 1}};
    const std::vector<Barrier> barriers{{1, 0, 100}, {4, 0, 4}};
    CHECK_EQUAL(time_of(waves, {}, barriers), 112);
    CHECK_EQUAL(time_of(waves, {.causes = bit(kLoadWait)}, barriers), 16);
    CHECK_EQUAL(time_of(waves, {.removes_barriers = true}, barriers), 112);  // the first wave needs its memory
}

TEST(replay, a_port_is_taken_by_one_at_a_time) {
    // Two waves use the vector pipe one after the other, each as soon as its memory is there: without the waits they
    // share the pipe.
    const auto wave = [](int32_t waiting) {
        std::vector<Step> steps{{0, waiting, waiting, kWait, kLoadWait}};
        for (int64_t i = 0; i < 10; ++i) steps.push_back({waiting + 4 * i, 0, 4, kMath});
        return TracedWave{steps, 0, waiting + 40};
    };
    CHECK_EQUAL(time_of({wave(40), wave(80)}, {}), 120);
    CHECK_EQUAL(time_of({wave(40)}, {.causes = bit(kLoadWait)}), 40);
    CHECK_EQUAL(time_of({wave(40), wave(80)}, {.causes = bit(kLoadWait)}), 80);
}

TEST(replay, a_matrix_instruction_occupies_its_pipe) {
    const TracedWave wave{{{0, 0, 4, kMath, 0, 0, 1}, {4, 28, 32, kMath, kLoadWait, 0, 1}}, 0, 36};
    const Columns columns({wave}, {});
    CHECK_EQUAL(Replay::port_was_busy(columns.input())[1], 1);
    CHECK_EQUAL(time_of({wave}, {.causes = bit(kLoadWait)}), 36);  // it is no stall that could go
}

TEST(replay, a_wave_follows_the_one_whose_place_it_took) {
    const TracedWave second{{{110, 0, 4, kScalarMath}}, 106, 114};
    const std::vector<TracedWave> waves{{{{0, 96, 100, kWait, kLoadWait}}, 0, 100}, second};
    CHECK_EQUAL(time_of(waves, {}), 114);
    CHECK_EQUAL(time_of(waves, {.causes = bit(kLoadWait)}), 18);
}

TEST(replay, time_without_issue_by_cause) {
    // While one wave waits for memory, the other computes for 40 of 96 cycles.
    std::vector<Step> steps;
    for (int64_t i = 0; i < 10; ++i) steps.push_back({20 + 4 * i, 0, 4, kMath});
    const Columns columns({kLoadAndUse, {steps, 20, 60}}, {});
    const Replay replay(columns.input());
    CHECK_EQUAL(replay.without_issue()[kLoadWait], 96 - 40);
    CHECK_EQUAL(replay.without_issue()[kGap], 20 - 4);  // the wait itself issues for 4 cycles
    CHECK_EQUAL(replay.simd_cycles(), 128);
}

TEST(replay, the_end_can_cost_nothing) {
    const TracedWave wave{{{0, 0, 4, kMemory}, {4, 0, 200, kMessage}}, 0, 204};
    CHECK_EQUAL(time_of({wave}, {.removes_ending = true}), 8);
}

TEST(replay, waves_that_meet_in_different_orders_do_not_wait_for_ever) {
    const std::vector<TracedWave> waves{{{{0, 8, 8}, {8, 8, 8}}, 0, 16, 0, 0}, {{{0, 8, 8}, {8, 8, 8}}, 0, 16, 0, 1}};
    CHECK(time_of(waves, {}, {{0, 0, 0}, {1, 1, 8}, {2, 1, 0}, {3, 0, 8}}) > 0);
}

TEST(replay, times_may_be_anything) {
    const int64_t far = INT64_MAX, early = INT64_MIN;
    const TracedWave wave{
        {{far, INT32_MAX, -7, kMath}, {early, -5, INT32_MAX, kMath}, {0, 0, 0, 255, 255, 255, -1}}, far, early};
    const Columns columns({wave, wave}, {{1, 0, early}, {4, 0, far}});
    const Replay replay(columns.input());
    CHECK(replay.without(std::vector<Removal>{{}, {.causes = ~uint64_t{0}, .keeps_latency = true}})[0][0] >= 0);
}

}  // namespace
}  // namespace wavewright
