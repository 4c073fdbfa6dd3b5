// Where the waves that came last to a barrier had spent more cycles than the others, and where slow waves stall longer.
#pragma once

#include <cstdint>
#include <span>

#include "wavewright/column.hpp"
#include "wavewright/executed.hpp"

namespace wavewright {

// One row per executed barrier, in the order of the instructions.
struct Passages {
    std::span<const uint64_t> position;  // index in the instructions
    std::span<const uint32_t> barrier;   // number of the barrier
    std::span<const uint8_t> role;       // PassageRole
};

// What a wave was in its meeting.
enum class PassageRole : uint8_t { other, last, alone };

// Cycles spent at each row on the way to each barrier, by waves that came last and by those that did not.
struct LateCauses {
    Column<uint32_t> barrier;
    Column<int32_t> row;
    Column<int64_t> last_cycles;
    Column<int64_t> other_cycles;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("barrier", barrier);
        visit("row", row);
        visit("last_cycles_total", last_cycles);
        visit("other_cycles_total", other_cycles);
    }
};

// The way to a barrier starts after the wave's previous barrier, or with its first instruction. An instruction costs
// its duration and the gap before it, from the latest end of the wave's earlier instructions. `passages` are sorted by
// position. Instructions outside [0, row_count) do not count. Linear in the number of instructions.
LateCauses late_causes(const Executed& executed, const Passages& passages, size_t row_count);

// Waves in the order of their numbers: 1 for the slower ones, -1 for the faster ones, 0 for what does not count.
struct SignedWaves {
    std::span<const uint32_t> wave;
    std::span<const int8_t> sign;
};

// One row per code row at which the slower waves do not stall exactly as long as the faster ones; -1 = not known.
struct StallExcess {
    Column<int32_t> row;
    Column<int64_t> excess;  // stall cycles of the slower waves less those of the faster ones

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("excess", excess);
    }
};

StallExcess stall_excess(const Executed& executed, const SignedWaves& waves, size_t row_count);

}  // namespace wavewright
