#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "wavewright/row_totals.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kArrival = 11, kRelease = 9;  // Category: message and immed

// One value per executed instruction.
struct Columns {
    std::vector<uint32_t> wave;
    std::vector<int64_t> time;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category = {};

    Executed executed() const { return {wave, time, stall, duration, row, category}; }
};

template <class T>
std::vector<int64_t> values(const Column<T>& column) {
    return {column.begin(), column.end()};
}

TEST(row_totals, sums_and_maxima) {
    const Columns columns{{0, 0, 0}, {10, 20, 40}, {1, 2, 3}, {4, 5, 6}, {1, 0, 1}};
    const RowTotals totals = row_totals(columns.executed(), std::vector<uint32_t>{0}, std::vector<int64_t>{8}, 2);
    CHECK_EQUAL(values(totals.row), std::vector<int64_t>{0, 1});
    CHECK_EQUAL(values(totals.hit_count), std::vector<int64_t>{1, 2});
    CHECK_EQUAL(values(totals.latency_total), std::vector<int64_t>{5, 10});
    CHECK_EQUAL(values(totals.stall_total), std::vector<int64_t>{2, 4});
    CHECK_EQUAL(values(totals.idle_total), std::vector<int64_t>{6, 2 + 15});
    CHECK_EQUAL(values(totals.latency_max), std::vector<int64_t>{5, 6});
    CHECK_EQUAL(values(totals.stall_max), std::vector<int64_t>{2, 3});
}

// Arrival and release of an s_barrier (row 0), with another wave between; row 1 is a message alone.
TEST(row_totals, a_barrier_of_two_records_is_one_execution) {
    const Columns columns{{0, 7, 0, 7, 0}, {0, 0, 8, 9, 20}, {0, 0, 0, 0, 0},
                          {4, 4, 6, 6, 4}, {0, 0, 0, 0, 1},  {kArrival, kArrival, kRelease, kRelease, kArrival}};
    const RowTotals totals = row_totals(columns.executed(), std::vector<uint32_t>{0, 7}, std::vector<int64_t>{0, 0}, 2);
    CHECK_EQUAL(values(totals.hit_count), std::vector<int64_t>{2, 1});
    CHECK_EQUAL(values(totals.latency_total), std::vector<int64_t>{20, 4});
}

TEST(row_totals, a_gap_begins_at_the_latest_end) {
    const Columns columns{{0, 0, 0}, {0, 2, 30}, {0, 0, 0}, {20, 2, 1}, {0, 0, 0}};
    const RowTotals totals = row_totals(columns.executed(), std::vector<uint32_t>{0}, std::vector<int64_t>{0}, 1);
    CHECK_EQUAL(values(totals.idle_total), std::vector<int64_t>{10});
}

TEST(row_totals, waves_may_be_mixed_or_missing) {
    const Columns columns{{0, 7, 0, 7}, {5, 100, 12, 103}, {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 1, 0, 1}};
    const RowTotals totals = row_totals(columns.executed(), std::vector<uint32_t>{0}, std::vector<int64_t>{0}, 2);
    CHECK_EQUAL(values(totals.idle_total), std::vector<int64_t>{5 + 6, 2});
}

TEST(row_totals, rows_without_code) {
    const Columns columns{{0, 0, 0}, {0, 10, 20}, {0, 0, 0}, {1, 1, 1}, {-1, 2147483647, 3}};
    const RowTotals totals = row_totals(columns.executed(), std::vector<uint32_t>{0}, std::vector<int64_t>{0}, 1);
    CHECK_EQUAL(values(totals.row), std::vector<int64_t>{3, 2147483647});
    CHECK_EQUAL(values(totals.idle_total), std::vector<int64_t>{9, 10});
}

TEST(row_totals, times_at_the_ends_of_the_type) {
    constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
    const Columns columns{{0, 0}, {kLow, kHigh}, {0, 0}, {1, 1}, {0, 0}};
    const RowTotals totals = row_totals(columns.executed(), std::vector<uint32_t>{0}, std::vector<int64_t>{kHigh}, 1);
    CHECK_EQUAL(values(totals.idle_total), std::vector<int64_t>{0});
    const RowTotals far = row_totals(columns.executed(), std::vector<uint32_t>{0}, std::vector<int64_t>{kLow}, 1);
    CHECK_EQUAL(values(far.idle_total), std::vector<int64_t>{kHigh});
}

}  // namespace
}  // namespace wavewright
