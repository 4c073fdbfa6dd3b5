#include <map>
#include <utility>
#include <vector>

#include "check.hpp"
#include "wavewright/late_causes.hpp"

namespace wavewright {
namespace {

using Found = std::map<std::pair<uint32_t, int32_t>, std::pair<int64_t, int64_t>>;

Found found_in(const LateCauses& causes) {
    Found found;
    for (size_t i = 0; i < causes.row.size(); ++i)
        found[{causes.barrier[i], causes.row[i]}] = {causes.last_cycles[i], causes.other_cycles[i]};
    return found;
}

// Two waves run rows 0 and 1 to a barrier (row 2), then row 0 to nothing; the second wave is last because of row 1.
TEST(late_causes, rows_on_the_way_to_a_barrier) {
    const std::vector<uint32_t> waves = {0, 0, 0, 0, 1, 1, 1, 1};
    const std::vector<int64_t> times = {0, 4, 8, 200, 0, 10, 110, 200};
    const std::vector<int32_t> stalls(8, 0), durations = {4, 4, 106, 4, 4, 100, 4, 4}, rows = {0, 1, 2, 0, 0, 1, 2, 0};
    const std::vector<uint64_t> positions = {2, 6};
    const std::vector<uint32_t> barriers = {5, 5};
    const std::vector<uint8_t> roles = {0, 1};
    const Found found = found_in(late_causes({waves, times, stalls, durations, rows}, {positions, barriers, roles}, 3));
    REQUIRE(found.size() == 2);
    CHECK_EQUAL(found.at({5U, 0}).first, 4);
    CHECK_EQUAL(found.at({5U, 0}).second, 4);
    CHECK_EQUAL(found.at({5U, 1}).first, 106);  // with the gap before it
    CHECK_EQUAL(found.at({5U, 1}).second, 4);
}

TEST(late_causes, waves_that_meet_nobody_do_not_count) {
    const std::vector<uint32_t> waves = {0, 0};
    const std::vector<int64_t> times = {0, 4};
    const std::vector<int32_t> cycles = {4, 4}, rows = {0, 1};
    const std::vector<uint64_t> positions = {1};
    const std::vector<uint32_t> barriers = {0};
    const std::vector<uint8_t> roles = {2};
    CHECK(late_causes({waves, times, cycles, cycles, rows}, {positions, barriers, roles}, 2).row.empty());
}

TEST(late_causes, hostile_columns) {
    const std::vector<uint32_t> waves = {0, 0, 0};
    const std::vector<int64_t> times = {INT64_MAX, INT64_MIN, 0};
    const std::vector<int32_t> cycles(3, INT32_MAX), rows = {-1, 9, 0};
    const std::vector<uint64_t> positions = {2, UINT64_MAX};
    const std::vector<uint32_t> barriers = {0, 0};
    const std::vector<uint8_t> roles = {1, 1};
    CHECK(late_causes({waves, times, cycles, cycles, rows}, {positions, barriers, roles}, 1).row.empty());
    CHECK(late_causes({}, {}, 0).row.empty());
}

}  // namespace
}  // namespace wavewright
