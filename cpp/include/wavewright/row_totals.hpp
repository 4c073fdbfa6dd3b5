// What each code row cost over all waves.
#pragma once

#include <cstddef>

#include "wavewright/column.hpp"
#include "wavewright/executed.hpp"

namespace wavewright {

// One row per code row that was executed, in row order. Cycles, except for `row` and `hit_count`.
struct RowTotals {
    Column<int32_t> row;
    Column<int64_t> hit_count;
    Column<int64_t> latency_total;
    Column<int64_t> stall_total;
    Column<int64_t> idle_total;  // gaps before its executions, see row_totals()
    Column<int32_t> latency_max;
    Column<int32_t> stall_max;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("hit_count", hit_count);
        visit("latency_cycles_total", latency_total);
        visit("stall_cycles_total", stall_total);
        visit("idle_cycles_total", idle_total);
        visit("latency_cycles_max", latency_max);
        visit("stall_cycles_max", stall_max);
    }
};

// The gap before an instruction runs from the latest end of the wave's earlier instructions, or the wave's begin, to
// the first attempt to issue. Instructions with a negative row neither count nor end a gap. A wave that is not among
// `waves` begins with its first instruction. `row_count` is how many code rows there are: larger rows are counted
// too, in a slower way. One pass.
RowTotals row_totals(const Executed& executed, std::span<const uint32_t> waves, std::span<const int64_t> begins,
                     size_t row_count);

}  // namespace wavewright
