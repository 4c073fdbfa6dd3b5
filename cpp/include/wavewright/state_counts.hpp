// How many waves are in each state, in bins of any length: mean, smallest and largest number. Nothing is stored but the
// ends of waves: a picture costs what the waves in its time did.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/timeline.hpp"

namespace wavewright {

// One value per state and bin: kind * bin count + bin.
struct StateBins {
    std::vector<int64_t> wave_cycles;  // cycles of all waves in the state; over the width of the bin: their mean number
    std::vector<int32_t> low, high;    // the smallest and the largest number of waves in the state at a time
};

class StateCounts {
  public:
    // Columns of `waves` must outlive it; groups are not looked at. Bins may begin at multiples of their width from
    // `origin` (cycles).
    StateCounts(const WaveStates& waves, int64_t origin);

    // Counts of the states `kinds` (values of WaveState), up to the time `end`. The width of bins is a power of two.
    // Throws Stopped.
    StateBins bins(const Bins& bins, int64_t end, std::span<const uint8_t> kinds) const;

  private:
    struct Wave {
        int64_t begin, end;
        uint64_t first, behind;  // of its states
    };
    class Sweep;

    std::span<const uint8_t> states_;
    std::span<const int32_t> durations_;
    std::vector<Wave> waves_;  // by begin
    unsigned grain_bits_ = 0;  // all changes lie at multiples of 2**grain_bits_ from the origin
};

}  // namespace wavewright
