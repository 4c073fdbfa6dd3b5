#include <vector>

#include "check.hpp"
#include "wavewright/wave_rows.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kVector = 6, kArrival = 11;  // Category: valu and message

TEST(wave_rows, paths_count_distinct_rows) {
    const std::vector<uint32_t> waves = {7, 7, 7, 7, 9, 9};
    const std::vector<int32_t> rows = {0, 1, 0, -1, 1, 0};
    const WavePaths paths =
        wave_paths(waves, rows, std::vector<uint8_t>{kVector, kVector, kArrival, kVector, kArrival, kVector}, 2);
    REQUIRE(paths.wave.size() == 2);
    CHECK_EQUAL(paths.wave[1], 9U);
    CHECK_EQUAL(paths.instruction_count[0], 4U);
    CHECK_EQUAL(paths.unresolved_count[0], 1U);
    CHECK_EQUAL(paths.distinct_row_count[0], 2U);
    CHECK_EQUAL(paths.last_row[0], 0);
    CHECK_EQUAL(paths.signature[0], paths.signature[1]);  // the same set, in another order
}

TEST(wave_rows, other_sets_have_other_signatures) {
    const std::vector<uint32_t> waves = {0, 1, 2, 2};
    const std::vector<int32_t> rows = {0, 5, 0, 5};
    const WavePaths paths = wave_paths(waves, rows, std::vector<uint8_t>(4), 6);
    REQUIRE(paths.wave.size() == 3);
    CHECK(paths.signature[0] != paths.signature[1]);
    CHECK(paths.signature[0] != paths.signature[2]);
}

TEST(wave_rows, rows_behind_the_code_are_unresolved) {
    const std::vector<uint32_t> waves = {0};
    const std::vector<int32_t> rows = {3};
    CHECK_EQUAL(wave_paths(waves, rows, std::vector<uint8_t>(1), 3).unresolved_count[0], 1U);
    CHECK(wave_paths({}, {}, {}, 0).wave.empty());
}

// Two waves of one group: unit 0 = row 0, row 1 has no unit but ends a gap.
TEST(wave_rows, moments_add_waves_and_their_squares) {
    const std::vector<uint32_t> waves = {0, 0, 0, 1};
    const std::vector<int64_t> times = {10, 20, 50, 104};
    const std::vector<int32_t> stalls = {1, 0, 2, 3}, durations = {4, 10, 6, 8}, rows = {0, 1, 0, 0};
    const std::vector<uint32_t> numbers = {0, 1}, groups = {3, 3};
    const std::vector<int64_t> begins = {8, 100};
    const std::vector<int32_t> units = {0, -1};
    const UnitMoments moments = unit_moments({waves, times, stalls, durations, rows}, {numbers, begins, groups}, units);
    REQUIRE(moments.unit.size() == 1);
    CHECK_EQUAL(moments.group[0], 3U);
    CHECK_EQUAL(moments.wave_count[0], 2);
    CHECK_EQUAL(moments.hit_count[0], 3);
    CHECK_EQUAL(moments.latency[0], 18);
    CHECK_EQUAL(moments.stall[0], 6);
    CHECK_EQUAL(moments.idle[0], 2 + 20 + 4);
    CHECK_EQUAL(moments.latency_squares[0], 100.0 + 64.0);
    CHECK_EQUAL(moments.cost_squares[0], 32.0 * 32.0 + 12.0 * 12.0);
    CHECK_EQUAL(moments.cost_products[0], 2 * 32.0 + 1 * 12.0);
}

TEST(wave_rows, unknown_waves_groups_and_rows_are_left_out) {
    const std::vector<uint32_t> waves = {0, 1, 2};
    const std::vector<int64_t> times = {INT64_MAX, INT64_MIN, 0};
    const std::vector<int32_t> cycles = {INT32_MAX, INT32_MAX, 1}, rows = {0, 0, 9};
    const std::vector<uint32_t> numbers = {0, 2}, groups = {kMaxWaveGroups, 0};
    const std::vector<int64_t> begins = {INT64_MIN, INT64_MAX};
    const std::vector<int32_t> units = {0};
    CHECK(unit_moments({waves, times, cycles, cycles, rows}, {numbers, begins, groups}, units).unit.empty());
}

}  // namespace
}  // namespace wavewright
