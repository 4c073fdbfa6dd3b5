// Jumps that waves took between code rows, and the iterations of loops.
#pragma once

#include "wavewright/column.hpp"
#include "wavewright/executed.hpp"

namespace wavewright {

// One row per pair of code rows that followed each other although they do not in the code, in order of rows.
struct Jumps {
    Column<int32_t> from_row;
    Column<int32_t> to_row;
    Column<int64_t> taken;
    Column<int64_t> looped;  // of these, how many went back without the wave having been before `to_row` in between

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("from_row", from_row);
        visit("to_row", to_row);
        visit("taken_count", taken);
        visit("looped_count", looped);
    }
};

// Jumps of rows that `may_jump`. `is_call` tells which of them call functions, whose rows are not part of the loops
// around the call. Both have one value per code row. Instructions without a row hide what happens around them. The
// instructions of a wave follow each other. Linear.
Jumps taken_jumps(std::span<const uint32_t> waves, std::span<const int32_t> rows, std::span<const uint8_t> may_jump,
                  std::span<const uint8_t> is_call);

// Code rows of a loop, both ends included, and the one of them with which an iteration begins.
struct LoopSpan {
    int32_t first;
    int32_t last;
    int32_t begin;
};

// One row per iteration, in the order in which they end.
struct LoopIterations {
    Column<uint32_t> loop;
    Column<uint32_t> wave;
    Column<uint32_t> iteration;  // 0 = the first since the wave entered the loop
    Column<uint8_t> is_last;     // whether the wave left the loop in it
    Column<int64_t> cycles;      // to the next iteration, or to the first instruction after the loop
    Column<int64_t> stall;       // cycles of the instructions in it

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("loop", loop);
        visit("wave", wave);
        visit("iteration", iteration);
        visit("is_last", is_last);
        visit("cycles", cycles);
        visit("stall_cycles", stall);
    }
};

// An iteration begins whenever the loop's begin is executed. A wave leaves a loop with the first instruction outside of
// its rows, unless it is in a function called from inside (`is_call`, one value per code row). Loops nested deeper than
// 64 are passed over. The instructions of a wave follow each other.
LoopIterations loop_iterations(const Executed& executed, std::span<const LoopSpan> loops,
                               std::span<const uint8_t> is_call);

}  // namespace wavewright
