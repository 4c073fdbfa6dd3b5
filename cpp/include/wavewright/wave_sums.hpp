// Sums over the instructions of waves that pictures and tables are made of, without a copy of any instruction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/wave_spans.hpp"

namespace wavewright {

inline constexpr size_t kRowKinds = 16;  // kinds as in wave_spans.hpp

// One value per code row and kind of instruction, at (row + 1) * kRowKinds + kind; row -1 = not known.
struct RowCycles {
    std::vector<int64_t> cycles;  // of an execution: the longer of its stall and its duration
    std::vector<int64_t> count;   // executions
};

// Waves with kNoTrack are left out.
RowCycles row_cycles(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                     size_t row_count);

// Stall cycles of every wave.
std::vector<int64_t> stall_of_waves(const PlacedWaves& waves, std::span<const int32_t> stall);

// The stalled part of every instruction that stalled. Its kind is that of its group: `group` has one value per
// instruction, EachInstruction::group of stalls.hpp. The columns must outlive the source.
SpanSource stalled_source(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint32_t> group,
                          std::span<const uint16_t> kind_of_group);

// How many cycles of each track are stalled, in bins of any length. Only the waves in the time of a picture are read.
class StalledCycles {
  public:
    // Columns must outlive it. The sums of `kept` bins are made at once; pictures with wider bins are made from these.
    StalledCycles(const PlacedWaves& waves, const TracedInstructions& table, uint32_t track_count, const Bins& kept);

    // Cycles at track * bins.count + bin. Bins are as wide as those kept or a power of two times that, or narrower.
    std::vector<int64_t> bins(const Bins& bins) const;

  private:
    struct Wave {
        uint32_t track;
        int64_t offset;          // cycles to add to the times of its instructions
        int64_t begin, end;      // of its stalls
        uint64_t first, behind;  // its instructions
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
