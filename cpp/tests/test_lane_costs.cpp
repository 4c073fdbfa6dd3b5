#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/lane_costs.hpp"

namespace wavewright {
namespace {

constexpr uint64_t all = ~uint64_t{0};

// Phases of neighbouring lanes: 0 to lanes - 1, lanes to 2 * lanes - 1, ....
std::vector<uint64_t> contiguous(unsigned lanes) {
    std::vector<uint64_t> phases;
    const uint64_t first_phase = lanes == 64 ? all : (uint64_t{1} << lanes) - 1;
    for (unsigned lane = 0; lane < 64; lane += lanes) phases.push_back(first_phase << lane);
    return phases;
}

// The dwords of 64 lanes that are `dwords` apart.
std::vector<uint32_t> strided(uint32_t dwords, uint32_t first = 0) {
    std::vector<uint32_t> pattern;
    for (uint32_t lane = 0; lane < 64; ++lane) pattern.push_back(first + lane * dwords);
    return pattern;
}

// "ideal+extra" cycles
std::string cost_of(const std::vector<uint32_t>& dwords, uint64_t active, unsigned width, const LdsRule& rule) {
    const LdsCost cost = lds_cost(dwords, active, width, rule);
    return std::to_string(cost.ideal_cycles) + "+" + std::to_string(cost.extra_cycles);
}

TEST(lane_costs, neighbours_are_served_without_extra_cycles) {
    CHECK_EQUAL(cost_of(strided(1), all, 1, {32, contiguous(32)}), "2+0");
    CHECK_EQUAL(cost_of(strided(2), all, 2, {32, contiguous(16)}), "4+0");
    CHECK_EQUAL(cost_of(strided(4), all, 4, {32, contiguous(8)}), "8+0");
}

TEST(lane_costs, a_bank_serves_one_dword_per_cycle) {
    CHECK_EQUAL(cost_of(strided(2), all, 1, {32, contiguous(32)}), "2+2");
    CHECK_EQUAL(cost_of(strided(32), all, 1, {32, contiguous(32)}), "2+62");
    CHECK_EQUAL(cost_of(strided(33), all, 1, {32, contiguous(32)}), "2+0");
    CHECK_EQUAL(cost_of(strided(64), all, 1, {64, contiguous(64)}), "1+63");
}

TEST(lane_costs, lanes_share_a_dword) {
    CHECK_EQUAL(cost_of(strided(0, 5), all, 1, {32, contiguous(32)}), "2+0");
    CHECK_EQUAL(cost_of(strided(0, 5), all, 4, {32, contiguous(8)}), "8+0");
}

TEST(lane_costs, only_active_lanes_count) {
    CHECK_EQUAL(cost_of(strided(32), 0, 1, {32, contiguous(32)}), "0+0");
    CHECK_EQUAL(cost_of(strided(32), 0b101, 1, {32, contiguous(32)}), "1+1");
    CHECK_EQUAL(cost_of(strided(32), (uint64_t{1} << 32) | 1, 1, {32, contiguous(32)}), "2+0");
    // Lane 2 would conflict; it has no address here.
    CHECK_EQUAL(cost_of({0, 1}, all, 1, {32, contiguous(32)}), "1+0");
}

TEST(lane_costs, lanes_without_a_phase_do_not_count) {
    CHECK_EQUAL(cost_of(strided(32), all, 1, {32, {0b11}}), "1+1");
}

// An access that is not aligned to its width reaches into banks of two neighbours.
TEST(lane_costs, accesses_need_not_be_aligned) {
    CHECK_EQUAL(cost_of({0, 33}, 0b11, 2, {32, contiguous(16)}), "1+1");  // 0 1 against 33 34: bank 1 twice
    CHECK_EQUAL(cost_of({0, 34}, 0b11, 2, {32, contiguous(16)}), "1+0");
    CHECK_EQUAL(cost_of({0, 35}, 0b11, 4, {32, contiguous(8)}), "1+1");
    CHECK_EQUAL(cost_of({0, 34}, 0b11, 3, {32, contiguous(8)}), "1+1");
    CHECK_EQUAL(cost_of({0, 1}, 0b11, 4, {32, contiguous(8)}), "1+0");  // they share three dwords
}

TEST(lane_costs, few_banks_take_several_dwords_of_a_lane) {
    CHECK_EQUAL(cost_of(strided(4), all, 4, {1, contiguous(64)}), "1+255");
    CHECK_EQUAL(cost_of(strided(3), all, 3, {2, contiguous(64)}), "1+95");
    CHECK_EQUAL(cost_of(strided(128, 1), all, 4, {128, contiguous(64)}), "1+63");
    CHECK_EQUAL(cost_of(strided(1, UINT32_MAX - 62), all, 2, {128, contiguous(64)}), "1+0");
}

TEST(lane_costs, full_banks_still_share_dwords) {
    std::vector<uint32_t> dwords = strided(3);
    for (uint32_t lane = 60; lane < 64; ++lane) dwords[lane] = 3 * (lane - 60);
    CHECK_EQUAL(cost_of(dwords, all, 3, {2, contiguous(64)}), "1+89");
}

TEST(lane_costs, without_a_rule_nothing_is_counted) {
    CHECK_EQUAL(cost_of(strided(1), all, 1, {0, contiguous(32)}), "0+0");
    CHECK_EQUAL(cost_of(strided(1), all, 1, {24, contiguous(32)}), "0+0");
    CHECK_EQUAL(cost_of(strided(1), all, 1, {32, {}}), "0+0");
    CHECK_EQUAL(cost_of(strided(1), all, 5, {32, contiguous(32)}), "0+0");
    CHECK_EQUAL(cost_of(strided(1), all, 0, {32, contiguous(32)}), "0+0");
}

std::vector<uint64_t> bytes_apart(uint64_t bytes, uint64_t first = 0) {
    std::vector<uint64_t> addresses;
    for (uint64_t lane = 0; lane < 64; ++lane) addresses.push_back(first + lane * bytes);
    return addresses;
}

TEST(lane_costs, segments_are_counted_per_group) {
    CHECK_EQUAL(segment_count(bytes_apart(4), all, 4, 16, 64), 4U);
    CHECK_EQUAL(segment_count(bytes_apart(4), all, 4, 64, 64), 4U);
    CHECK_EQUAL(segment_count(bytes_apart(2), all, 2, 16, 64), 4U);  // two groups touch each segment
    CHECK_EQUAL(segment_count(bytes_apart(2), all, 2, 64, 64), 2U);
    CHECK_EQUAL(segment_count(bytes_apart(4096), all, 2, 16, 64), 64U);
    CHECK_EQUAL(segment_count(bytes_apart(0), all, 4, 16, 64), 4U);
    CHECK_EQUAL(segment_count(bytes_apart(16), all, 16, 16, 64), 16U);
}

TEST(lane_costs, an_access_can_touch_two_segments) {
    CHECK_EQUAL(segment_count(bytes_apart(4, 62), all, 4, 64, 64), 5U);
    CHECK_EQUAL(segment_count(std::vector<uint64_t>{60, 0}, 0b11, 16, 16, 64), 2U);
    CHECK_EQUAL(segment_count(std::vector<uint64_t>{0, 64, 32}, 0b111, 100, 16, 64), 3U);
    CHECK_EQUAL(segment_count(std::vector<uint64_t>{128, 0, 130, 2}, 0b1111, 4, 16, 64), 2U);
}

TEST(lane_costs, segments_end_with_the_address_space) {
    CHECK_EQUAL(segment_count(std::vector<uint64_t>{UINT64_MAX, 0}, 0b11, 16, 16, 64), 2U);
    CHECK_EQUAL(segment_count(std::vector<uint64_t>{UINT64_MAX, UINT64_MAX}, 0b11, 4, 16, 1), 1U);
}

TEST(lane_costs, segments_of_nothing_are_none) {
    CHECK_EQUAL(segment_count(bytes_apart(4), 0, 4, 16, 64), 0U);
    CHECK_EQUAL(segment_count({}, all, 4, 16, 64), 0U);
    CHECK_EQUAL(segment_count(bytes_apart(4), all, 0, 16, 64), 0U);
    CHECK_EQUAL(segment_count(bytes_apart(4), all, 4, 0, 64), 0U);
    CHECK_EQUAL(segment_count(bytes_apart(4), all, 4, UINT32_MAX, 64), 4U);
    CHECK_EQUAL(segment_count(bytes_apart(4), all, 4, 16, 0), 0U);
    CHECK_EQUAL(least_segment_count(all, 4, 16, 0), 0U);
    CHECK_EQUAL(least_segment_count(all, 4, 0, 64), 0U);
}

TEST(lane_costs, least_segments_lie_side_by_side) {
    CHECK_EQUAL(least_segment_count(all, 4, 16, 64), 4U);
    CHECK_EQUAL(least_segment_count(all, 2, 16, 64), 4U);
    CHECK_EQUAL(least_segment_count(all, 16, 16, 64), 16U);
    CHECK_EQUAL(least_segment_count(0x1'0000'0001, 4, 16, 64), 2U);
    CHECK_EQUAL(least_segment_count(0x1FF, 12, 16, 64), 2U);
    CHECK_EQUAL(least_segment_count(0, 4, 16, 64), 0U);
}

}  // namespace
}  // namespace wavewright
