#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/jumps.hpp"

namespace wavewright {
namespace {

// "from>to x taken/looped" of every jump.
std::string jumps_of(std::vector<int32_t> rows, std::vector<uint8_t> may_jump, std::vector<uint8_t> is_call = {},
                     std::vector<uint32_t> waves = {}) {
    waves.resize(rows.size());
    const Jumps jumps = taken_jumps(waves, rows, may_jump, is_call);
    std::ostringstream shown;
    for (size_t i = 0; i < jumps.taken.size(); ++i) {
        shown << jumps.from_row[i] << ">" << jumps.to_row[i] << " x " << jumps.taken[i] << "/" << jumps.looped[i]
              << " ";
    }
    return shown.str();
}

// "loop:cycles/stall" of every iteration, with ( before a first and ) behind a last one; row i is executed at 10 i.
std::string iterations_of(std::vector<int32_t> rows, std::vector<LoopSpan> loops, std::vector<uint8_t> is_call = {},
                          std::vector<uint32_t> waves = {}) {
    is_call.resize(100);
    waves.resize(rows.size());
    std::vector<int64_t> times;
    for (size_t i = 0; i < rows.size(); ++i) times.push_back(static_cast<int64_t>(10 * i));
    const std::vector<int32_t> stalls(rows.size(), 1), durations(rows.size(), 4);
    const LoopIterations found = loop_iterations({waves, times, stalls, durations, rows}, loops, is_call);
    std::ostringstream shown;
    for (size_t i = 0; i < found.loop.size(); ++i) {
        shown << (found.iteration[i] == 0 ? "(" : "") << found.loop[i] << ":" << found.cycles[i] << "/"
              << found.stall[i] << (found.is_last[i] != 0 ? ") " : " ");
    }
    return shown.str();
}

TEST(jumps, only_rows_that_may_jump_count) {
    CHECK_EQUAL(jumps_of({0, 1, 2, 1, 2, 1, 2, 5, 0}, {0, 0, 1, 0, 0, 0}), "2>1 x 2/2 2>5 x 1/0 ");
    CHECK_EQUAL(jumps_of({2, 1, 2, -1, 2, 0}, {1, 1, 1}, {}, {0, 0, 1, 1, 1, 1}), "2>0 x 1/0 2>1 x 1/0 ");
    CHECK_EQUAL(jumps_of({9, 1}, {1, 1, 1}), "");
    CHECK_EQUAL(jumps_of({}, {}), "");
}

TEST(jumps, a_block_out_of_line_is_no_loop) {
    const std::vector<uint8_t> all(10, 1);
    // Row 2 jumps out to 8, which jumps back to 3; the second time round the loop 1..4 it does so again.
    CHECK_EQUAL(jumps_of({1, 2, 8, 3, 4, 1, 2, 8, 3, 4, 5}, all), "2>8 x 2/0 4>1 x 1/1 8>3 x 2/0 ");
    CHECK_EQUAL(jumps_of({3, 1, 2, 3, 1, 2, 3, 4}, all), "3>1 x 2/1 ");  // entered in the middle
}

TEST(jumps, called_functions_are_apart) {
    const std::vector<uint8_t> all(10, 1), calls{0, 0, 0, 0, 0, 0, 1};
    // Row 6 in the loop 5..7 calls a function at 1 with a loop 1..2.
    CHECK_EQUAL(jumps_of({5, 6, 1, 2, 1, 2, 7, 5, 6, 1, 2, 7, 8}, all, calls),
                "2>1 x 1/1 2>7 x 2/0 6>1 x 2/0 7>5 x 1/1 ");
}

TEST(jumps, iterations_of_a_loop) {
    CHECK_EQUAL(iterations_of({0, 1, 2, 1, 2, 1, 2, 3}, {{1, 2, 1}}), "(0:20/2 0:20/2 0:20/2) ");
    CHECK_EQUAL(iterations_of({0, 1, 2}, {{1, 2, 1}}), "(0:14/2) ");
    CHECK_EQUAL(iterations_of({0, 2, 1, 2, 9}, {{1, 2, 1}}), "(0:20/2) ");
}

TEST(jumps, nested_loops) {
    CHECK_EQUAL(iterations_of({1, 2, 3, 2, 3, 4, 1, 2, 3, 4, 5}, {{1, 4, 1}, {2, 3, 2}}),
                "(1:20/2 1:20/2) (0:60/6 (1:20/2) 0:40/4) ");
}

TEST(jumps, loops_entered_in_the_middle) {
    CHECK_EQUAL(iterations_of({2, 3, 1, 2, 3, 1, 4}, {{1, 3, 2}}), "(0:30/3 0:30/3) ");
    CHECK_EQUAL(iterations_of({2, 2, 3, 1, 2, 4}, {{1, 3, 2}, {2, 2, 2}}),
                "(0:10/1 (1:10/1 1:10/1) 0:30/3 (1:10/1) 0:10/1) ");
}

TEST(jumps, waves_and_calls) {
    CHECK_EQUAL(iterations_of({1, 2, 1, 2}, {{1, 2, 1}}, {}, {0, 0, 1, 1}), "(0:14/2) (0:14/2) ");
    CHECK_EQUAL(iterations_of({1, 2, 50, 51, 3, 1, 3, 4}, {{1, 3, 1}}, {0, 0, 1}), "(0:50/5 0:20/2) ");
    CHECK_EQUAL(iterations_of({1, 2, 50, 51, 3}, {{1, 3, 1}}), "(0:20/2) ");
}

TEST(jumps, hostile_loops) {
    std::vector<LoopSpan> loops;
    std::vector<int32_t> rows;
    for (int32_t row = 0; row < 99; ++row) loops.push_back({row, 99, row}), rows.push_back(row);
    loops.push_back({-5, 3, -5});
    loops.push_back({1 << 30, 3, 1 << 30});
    CHECK(!iterations_of(rows, loops).empty());
}

}  // namespace
}  // namespace wavewright
