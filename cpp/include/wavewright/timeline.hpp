// What happens over time, added up in equal bins: states of waves, and how busy the pipes of a SIMD are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

// Times beyond it (1.5 days) belong to damaged files; they are cut, so that no sum overflows.
inline constexpr int64_t kFarthestCycles = int64_t{1} << 48;
inline int64_t bounded(int64_t time) {
    return std::clamp(time, -kFarthestCycles, kFarthestCycles);
}

// `count` intervals of `width` cycles (at least 1), the first from `begin` on.
struct Bins {
    int64_t begin = 0;
    int64_t width = 1;
    uint32_t count = 0;
};

// Cycles of many intervals: total, and per bin. Constant work per interval, however many bins it covers.
class BinnedCycles {
  public:
    explicit BinnedCycles(const Bins& bins) : bins_(bins), parts_(bins.count), whole_(bins.count + size_t{1}) {}

    void add(int64_t begin, int64_t end);
    int64_t total() const { return total_; }
    std::vector<int64_t> per_bin() const;

  private:
    Bins bins_;
    std::vector<int64_t> parts_;  // by bin: cycles of intervals that cover it in part
    std::vector<int64_t> whole_;  // +1 at the first bin that an interval covers as a whole, -1 after the last one
    int64_t total_ = 0;
};

// Cycles of one kind in one group of waves; `bin` is kAllBins for the sum over all time, inside the bins or not.
inline constexpr uint32_t kAllBins = UINT32_MAX;

struct CyclesOverTime {
    Column<uint32_t> group;
    Column<uint8_t> kind;
    Column<uint32_t> bin;
    Column<int64_t> cycles;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("group", group);
        visit("kind", kind);
        visit("bin", bin);
        visit("cycles", cycles);
    }

    // Adds the rows of one group and kind: the total, then the bins with cycles.
    void append(uint32_t of_group, uint8_t of_kind, const BinnedCycles& sums);
};

// States of waves, which follow each other from the begin of the wave on.
struct WaveStates {
    // One value per wave.
    std::span<const uint32_t> group;  // what it is counted in
    std::span<const int64_t> begin;
    std::span<const uint64_t> first;  // where its states lie; what is outside of the columns below is left out
    std::span<const uint32_t> count;
    // One value per state.
    std::span<const uint8_t> states;     // WaveState
    std::span<const int32_t> durations;  // cycles
};

// Cycles in each state. Kinds are the values of WaveState; 5 stands for any other value.
CyclesOverTime state_cycles(const WaveStates& waves, const Bins& bins);

// Waves and their instructions, for the pipes they keep busy.
struct IssuingWaves {
    // One value per wave.
    std::span<const uint32_t> unit;   // SIMD of a shader engine, numbered from 0
    std::span<const uint32_t> group;  // what the bins of the unit are added up by
    std::span<const int64_t> offset;  // cycles to add to the times of the wave
    std::span<const int64_t> begin;   // before the offset
    std::span<const int64_t> end;
    std::span<const uint64_t> first;  // where its instructions lie
    std::span<const uint32_t> count;
    // One value per instruction.
    std::span<const int64_t> time;
    std::span<const int32_t> stall;
    std::span<const int32_t> duration;
    std::span<const uint8_t> category;
    std::span<const int32_t> row;
};

// Kinds of PipeUse. Below kMaxPipes: cycles in which something issues to the pipe of this number. Above:
inline constexpr uint8_t kMaxPipes = 16;
inline constexpr uint8_t kAnyPipe = 16;   // cycles in which some pipe of the unit issues
inline constexpr uint8_t kResident = 17;  // cycles in which some wave lives in the unit
inline constexpr uint8_t kBubble = 18;    // cycles in which a wave lives and no pipe issues
inline constexpr uint8_t kPipeBusy = 32;  // + pipe: cycles in which an instruction occupies it; with `busy_of_row` only
inline constexpr uint8_t kNoPipe = 255;   // in PipeRules: not counted

inline constexpr uint8_t kByCategory = 254;  // in PipeRules: as of_category says

// Which pipe an instruction goes to, and for how long.
struct PipeRules {
    std::array<uint8_t, 256> of_category{};  // by category: a pipe, or kNoPipe
    std::span<const uint8_t> of_row;         // by code row: a pipe, kNoPipe, or kByCategory
    bool counts_unknown_rows = true;         // instructions without a row in `of_row` go by category, or are left out
    uint32_t short_pipes = 0;                // bit per pipe: every issue takes `issue_cycles`, whatever was reported
    int32_t issue_cycles = 1;                // the shortest issue
    std::span<const int32_t> busy_of_row;    // by code row: cycles that it occupies its pipe where it issues for fewer
};

// What goes through one pipe of one unit.
struct PipeIssues {
    Column<uint32_t> unit;
    Column<uint8_t> pipe;
    Column<int64_t> issue_count;
    Column<int64_t> phase_cycles;  // in which some wave is between its first and its last instruction for the pipe

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("unit", unit);
        visit("pipe", pipe);
        visit("issue_count", issue_count);
        visit("phase_cycles", phase_cycles);
    }
};

struct PipeUse {
    CyclesOverTime units;   // group = unit, bin = kAllBins
    CyclesOverTime groups;  // per bin
    PipeIssues issues;
};

// Cycles in which each pipe of each unit issues: an instruction issues from time + stall to the end of its duration. It
// occupies the pipe for that time, or for as long as `busy_of_row` says if that is longer.
// True unions: what overlaps counts once. Linear in instructions times the logarithm of the waves that run at once;
// keeps no copy of instructions unless those of a wave are out of order.
PipeUse pipe_use(const IssuingWaves& waves, const PipeRules& rules, const Bins& bins);

}  // namespace wavewright
