// Sums over the instructions of waves that pictures and tables are made of, without a copy of any instruction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/wave_spans.hpp"

namespace wavewright {

// Cycles and executions of every row and kind of instruction: cell (row + 1) * kRowKinds + kind; row -1 = not known.
inline constexpr size_t kRowKinds = 16;

struct RowCycles {
    std::vector<int64_t> cycles, count;
};

// Cycles of instructions, the longer of stall and duration, and executions. Waves with kNoTrack are left out.
RowCycles row_cycles(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                     size_t row_count);

// Stall cycles of every wave.
std::vector<int64_t> stall_of_waves(const PlacedWaves& waves, std::span<const int32_t> stall);

// Stalled part of every instruction that stalled; the kind is that of its group. The columns must outlive the source.
SpanSource stalled_source(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint32_t> group,
                          std::span<const uint16_t> kind_of_group);

// How many cycles of each track are stalled, in bins of any length. Only the waves in the time of a picture are read.
class StalledCycles {
  public:
    // Columns must outlive it. Sums in `kept` bins are made at once: wider ones are their sums.
    StalledCycles(const PlacedWaves& waves, const TracedInstructions& table, uint32_t track_count, const Bins& kept);

    // Tracks x bins. Bins are as wide as those kept or a power of two times that, or narrower.
    std::vector<int64_t> bins(const Bins& bins) const;

  private:
    struct Wave {
        uint32_t track;
        int64_t offset, begin, end;  // of its instructions
        uint64_t first, behind;
    };
    void add(const Bins& bins, std::vector<int64_t>& sums) const;
    void add(const Wave& wave, const Bins& bins, int64_t* sums) const;

    TracedInstructions table_;
    std::vector<Wave> waves_;
    uint32_t track_count_;
    Bins kept_;
    std::vector<int64_t> sums_;
};

}  // namespace wavewright
