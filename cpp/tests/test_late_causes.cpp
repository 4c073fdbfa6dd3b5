#include <map>
#include <utility>
#include <vector>

#include "check.hpp"
#include "wavewright/late_causes.hpp"

namespace wavewright {
namespace {

constexpr auto kOther = static_cast<uint8_t>(PassageRole::other), kLast = static_cast<uint8_t>(PassageRole::last),
               kAlone = static_cast<uint8_t>(PassageRole::alone);

// Cycles of waves that came last, and of others, by barrier and row.
struct Cycles {
    int64_t last, other;
};
using CyclesByPlace = std::map<std::pair<uint32_t, int32_t>, Cycles>;

CyclesByPlace by_place(const LateCauses& causes) {
    CyclesByPlace cycles;
    for (size_t i = 0; i < causes.row.size(); ++i)
        cycles[{causes.barrier[i], causes.row[i]}] = {causes.last_cycles[i], causes.other_cycles[i]};
    return cycles;
}

// Two waves run rows 0 and 1 to a barrier (row 2), then row 0 to nothing; the second wave is last because of row 1.
TEST(late_causes, rows_on_the_way_to_a_barrier) {
    const std::vector<uint32_t> waves = {0, 0, 0, 0, 1, 1, 1, 1};
    const std::vector<int64_t> times = {0, 4, 8, 200, 0, 10, 110, 200};
    const std::vector<int32_t> stalls(8, 0), durations = {4, 4, 106, 4, 4, 100, 4, 4}, rows = {0, 1, 2, 0, 0, 1, 2, 0};
    const std::vector<uint64_t> positions = {2, 6};
    const std::vector<uint32_t> barriers = {5, 5};
    const std::vector<uint8_t> roles = {kOther, kLast};
    const CyclesByPlace cycles =
        by_place(late_causes({waves, times, stalls, durations, rows}, {positions, barriers, roles}, 3));
    REQUIRE(cycles.size() == 2);
    CHECK_EQUAL(cycles.at({5U, 0}).last, 4);
    CHECK_EQUAL(cycles.at({5U, 0}).other, 4);
    CHECK_EQUAL(cycles.at({5U, 1}).last, 106);  // with the gap before it
    CHECK_EQUAL(cycles.at({5U, 1}).other, 4);
}

TEST(late_causes, waves_that_meet_nobody_do_not_count) {
    const std::vector<uint32_t> waves = {0, 0};
    const std::vector<int64_t> times = {0, 4};
    const std::vector<int32_t> cycles = {4, 4}, rows = {0, 1};
    const std::vector<uint64_t> positions = {1};
    const std::vector<uint32_t> barriers = {0};
    const std::vector<uint8_t> roles = {kAlone};
    CHECK(late_causes({waves, times, cycles, cycles, rows}, {positions, barriers, roles}, 2).row.empty());
}

TEST(late_causes, hostile_columns) {
    const std::vector<uint32_t> waves = {0, 0, 0};
    const std::vector<int64_t> times = {INT64_MAX, INT64_MIN, 0};
    const std::vector<int32_t> cycles(3, INT32_MAX), rows = {-1, 9, 0};
    const std::vector<uint64_t> positions = {2, UINT64_MAX};
    const std::vector<uint32_t> barriers = {0, 0};
    const std::vector<uint8_t> roles = {kLast, kLast};
    CHECK(late_causes({waves, times, cycles, cycles, rows}, {positions, barriers, roles}, 1).row.empty());
    CHECK(late_causes({}, {}, 0).row.empty());
}

// Many pieces: the sums are those of one pass, whatever piece a wave is in.
TEST(late_causes, pieces_add_up) {
    constexpr uint32_t kWaves = 2200, kSteps = 1000;
    std::vector<uint32_t> waves, barriers;
    std::vector<int64_t> times;
    std::vector<int32_t> stalls, rows;
    std::vector<uint64_t> positions;
    std::vector<uint8_t> roles;
    for (uint32_t wave = 0; wave < kWaves; ++wave) {
        for (uint32_t step = 0; step < kSteps; ++step) {
            if (step + 1 == kSteps) {
                positions.push_back(waves.size());
                barriers.push_back(1);
                roles.push_back(wave % 2 == 0 ? kOther : kLast);
            }
            waves.push_back(wave);
            times.push_back(step * 4);
            stalls.push_back(wave % 2 == 0 ? 1 : 3);
            rows.push_back(static_cast<int32_t>(step % 10) - 1);
        }
    }
    const std::vector<int32_t> durations(waves.size(), 4);
    const Executed executed{waves, times, stalls, durations, rows};
    const CyclesByPlace cycles = by_place(late_causes(executed, {positions, barriers, roles}, 10));
    REQUIRE(cycles.size() == 9);
    CHECK_EQUAL(cycles.at({1U, 0}).last, int64_t{kWaves / 2} * 100 * 4);  // no gap: row -1 took the time before
    CHECK_EQUAL(cycles.at({1U, 8}).other, int64_t{kWaves / 2} * 99 * 4);  // the last step is the barrier
    const std::vector<uint32_t> numbers = {0, 1, 2, 3};
    const std::vector<int8_t> signs = {-1, 1, 0, 1};
    const StallExcess excess = stall_excess(executed, {numbers, signs}, 9);
    REQUIRE(excess.row.size() == 10);
    CHECK_EQUAL(excess.row[0], -1);
    CHECK_EQUAL(excess.excess[0], 100 * (3 + 3 - 1));
    CHECK_EQUAL(excess.excess[9], 100 * (3 + 3 - 1));
    CHECK(stall_excess({}, {}, 0).row.empty());
}

}  // namespace
}  // namespace wavewright
