// What each wave ran, and how much its waves differ in what a piece of code cost them.
#pragma once

#include <cstdint>
#include <span>

#include "wavewright/column.hpp"
#include "wavewright/executed.hpp"

namespace wavewright {

// One row per wave that ran anything, in the order of the instructions.
struct WavePaths {
    Column<uint32_t> wave;
    Column<uint32_t> instruction_count;
    Column<uint32_t> unresolved_count;    // of these: without a row
    Column<uint32_t> distinct_row_count;  // rows that it ran at least once
    Column<uint64_t> signature;           // the same for waves that ran the same set of rows
    Column<int32_t> last_row;             // -1: none

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("wave", wave);
        visit("instruction_count", instruction_count);
        visit("unresolved_count", unresolved_count);
        visit("distinct_row_count", distinct_row_count);
        visit("signature", signature);
        visit("last_row", last_row);
    }
};

// The instructions of a wave follow each other. Rows outside [0, row_count) are unresolved. Linear in the number of
// instructions; memory of 4 bytes per row.
WavePaths wave_paths(std::span<const uint32_t> waves, std::span<const int32_t> rows,
                     std::span<const uint8_t> categories, size_t row_count);

// Sums over waves, and sums of squares of what each wave spent, per group of waves and unit of code.
struct UnitMoments {
    Column<uint32_t> group;
    Column<int32_t> unit;
    Column<int64_t> wave_count;  // waves that ran the unit
    Column<int64_t> hit_count;
    Column<int64_t> latency;
    Column<int64_t> stall;
    Column<int64_t> idle;
    Column<double> hit_squares;
    Column<double> latency_squares;
    Column<double> stall_squares;
    Column<double> cost_squares;   // of latency + idle, the cost of a unit
    Column<double> cost_products;  // of hits and cost

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("group", group);
        visit("unit", unit);
        visit("wave_count", wave_count);
        visit("hit_count", hit_count);
        visit("latency_cycles_total", latency);
        visit("stall_cycles_total", stall);
        visit("idle_cycles_total", idle);
        visit("hit_squares", hit_squares);
        visit("latency_squares", latency_squares);
        visit("stall_squares", stall_squares);
        visit("cost_squares", cost_squares);
        visit("cost_products", cost_products);
    }
};

// Columns of the waves, all of one length. Groups must be below kMaxWaveGroups; others are left out.
struct WaveColumns {
    std::span<const uint32_t> waves;
    std::span<const int64_t> begins;
    std::span<const uint32_t> groups;
};

inline constexpr uint32_t kMaxWaveGroups = 64;

// `units` gives the unit of every row, -1 = none. Idle is the gap before an instruction, from the latest end of the
// wave's earlier instructions or the wave's begin; instructions without a row neither count nor end a gap. A row
// without a unit does end gaps. Waves that `waves` does not list are left out. Linear in the number of instructions;
// memory in proportion to the units, once per group that has waves.
UnitMoments unit_moments(const Executed& executed, const WaveColumns& waves, std::span<const int32_t> units);

}  // namespace wavewright
