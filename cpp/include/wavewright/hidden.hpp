// How much of each code row's time passed while other work kept the pipes of its SIMD busy
// (docs/explanation/hidden-latency.md).
#pragma once

#include "wavewright/column.hpp"
#include "wavewright/executed.hpp"

namespace wavewright {

// What hidden_latency() reads; columns of one table have the same length.
struct HidingInput {
    Executed executed;
    std::span<const uint8_t> category;  // of the executed instructions
    std::span<const uint8_t> counted;   // 1 = measured; all of them keep pipes busy. Empty = all are measured

    // The waves: number, place and begin.
    std::span<const uint32_t> wave;
    std::span<const uint16_t> se;
    std::span<const uint8_t> simd;
    std::span<const int64_t> begin;

    std::span<const uint8_t> is_matrix;  // per code row

    // Memory instructions of a neighbour SIMD (table other_simd).
    std::span<const uint16_t> other_se;
    std::span<const int64_t> other_time;
    std::span<const uint16_t> other_duration;
};

// reference: as AMD's viewer computes it (rcv_features 2.7). Busy intervals that touch are joined end to end, and a
// wave's own instructions hide its own gaps.
// corrected: true unions, and only what other waves do hides a wave's time.
enum class HidingRule { reference, corrected };

// One row per code row that was executed and counts, in row order; cycles.
struct HiddenLatency {
    Column<int32_t> row;
    Column<int64_t> idle;   // of the gaps before its executions
    Column<int64_t> stall;  // of its stalls
    Column<int64_t> issue;  // of the rest of its durations

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("hidden_idle_cycles_total", idle);
        visit("hidden_stall_cycles_total", stall);
        visit("hidden_issue_cycles_total", issue);
    }
};

// Instructions of waves that are not among the waves of the input neither hide nor are hidden. Linear in the number of
// instructions, but for sorting and a binary search where times jump.
HiddenLatency hidden_latency(const HidingInput& input, HidingRule rule);

}  // namespace wavewright
