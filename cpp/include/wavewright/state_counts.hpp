// How many waves are in each state, in bins of any length: mean, smallest and largest number. Nothing is stored but the
// ends of waves: a picture costs what the waves in its time did.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/timeline.hpp"

namespace wavewright {

struct StateBins {
    std::vector<int64_t> wave_cycles;  // states x bins
    std::vector<int32_t> low, high;
};

class StateCounts {
  public:
    // Columns of `waves` must outlive it; groups are not looked at. Times of bins count from `origin`.
    StateCounts(const WaveStates& waves, int64_t origin);

    // Of the states `kinds`, up to `end`. Bins begin at a multiple of their width from the origin; the width is a power
    // of two. Throws Stopped.
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
