#include <cstdint>
#include <vector>

#include "check.hpp"
#include "waves/coverage.hpp"
#include "wavewright/hidden.hpp"
#include "wavewright/records.hpp"

namespace wavewright {
namespace {

TEST(coverage, counts_cycles_before_a_time) {
    Coverage set;
    set.add(10, 20);
    set.add(15, 25);
    set.add(30, 31);
    set.add(40, 40);
    REQUIRE(set.size() == 2);
    CHECK_EQUAL(set.end(0), 25);
    size_t near = 0;
    for (const auto& [time, cycles] : {std::pair<int64_t, int64_t>{5, 0},
                                       {10, 0},
                                       {12, 2},
                                       {25, 15},
                                       {100, 16},
                                       {31, 16},
                                       {30, 15},
                                       {11, 1},
                                       {0, 0}})
        CHECK_EQUAL(set.before(time, near), cycles);
}

TEST(coverage, any_question_after_any_other) {
    Coverage set;
    for (int64_t i = 0; i < 100; ++i) set.add(i * 10, i * 10 + 3);
    for (int64_t from = -1; from < 1005; from += 7) {
        for (int64_t to = -1; to < 1005; to += 5) {
            size_t near = 0;
            set.before(from, near);
            const int64_t whole = to <= 0 ? 0 : std::min<int64_t>(to / 10, 100);
            const int64_t rest = to <= 0 || whole == 100 ? 0 : std::min<int64_t>(to % 10, 3);
            CHECK_EQUAL(set.before(to, near), whole * 3 + rest);
        }
    }
}

TEST(coverage, lengths_are_put_behind_each_other) {
    Coverage set;
    set.add_length(0, 8);
    set.add_length(2, 8);
    set.add_length(17, 1);
    REQUIRE(set.size() == 2);
    CHECK_EQUAL(set.end(0), 16);
    Coverage both;
    unite(set, set, both);
    CHECK_EQUAL(both.size(), size_t{2});
}

// One value per executed instruction.
struct Columns {
    std::vector<uint32_t> wave;
    std::vector<int64_t> time;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category;
};

constexpr uint8_t kValu = static_cast<uint8_t>(Category::valu), kImmed = static_cast<uint8_t>(Category::immed);

// Hidden stall cycles as row, cycles, row, cycles, .... Waves 0 and 1 are on one SIMD, other waves are not listed.
std::vector<int64_t> hidden_stalls(const Columns& columns, HidingRule rule, std::vector<uint8_t> counted = {}) {
    const std::vector<uint32_t> waves{0, 1};
    const std::vector<uint16_t> engines{0, 0};
    const std::vector<uint8_t> simds{0, 0}, is_matrix(3);
    const std::vector<int64_t> begins{0, 0};
    HidingInput input{};
    input.executed = {columns.wave, columns.time, columns.stall, columns.duration, columns.row};
    input.category = columns.category;
    input.counted = counted;
    input.wave = waves;
    input.se = engines;
    input.simd = simds;
    input.begin = begins;
    input.is_matrix = is_matrix;
    const HiddenLatency hidden = hidden_latency(input, rule);
    std::vector<int64_t> stalls;
    for (size_t i = 0; i < hidden.row.size(); ++i) {
        stalls.push_back(hidden.row[i]);
        stalls.push_back(hidden.stall[i]);
    }
    return stalls;
}

// Row 0 issues to the vector pipe in [0, 8), row 1 stalls in [2, 8): the same wave, or another one.
TEST(hidden, own_work_hides_in_the_reference_rule_only) {
    const Columns one_wave{{0, 0}, {0, 2}, {0, 6}, {8, 7}, {0, 1}, {kValu, kImmed}};
    CHECK_EQUAL(hidden_stalls(one_wave, HidingRule::reference), std::vector<int64_t>{0, 0, 1, 6});
    CHECK_EQUAL(hidden_stalls(one_wave, HidingRule::corrected), std::vector<int64_t>{0, 0, 1, 0});
    const Columns two_waves{{0, 1}, {0, 2}, {0, 6}, {8, 7}, {0, 1}, {kValu, kImmed}};
    CHECK_EQUAL(hidden_stalls(two_waves, HidingRule::corrected), std::vector<int64_t>{0, 0, 1, 6});
}

TEST(hidden, instructions_that_do_not_count_hide_others) {
    const Columns three_waves{{0, 1, 7}, {0, 2, 0}, {0, 6, 9}, {8, 7, 9}, {0, 1, 2}, {kValu, kImmed, kValu}};
    CHECK_EQUAL(hidden_stalls(three_waves, HidingRule::reference, {0, 1, 1}), std::vector<int64_t>{1, 6});
}

}  // namespace
}  // namespace wavewright
