// When the pipes of one SIMD are busy, and with which of its waves, from the instructions of these waves
// (docs/explanation/hidden-latency.md has the rules). hidden.cpp asks how much of each wave's time such work hides.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wavewright/hidden.hpp"

namespace wavewright {

// The kind of an instruction: it decides which pipe the instruction keeps busy, and what other work hides it.
enum class Work : uint8_t { matrix, valu, memory, scalar, other };

// One executed instruction. Times are cycles of the shader engine's clock, lengths are cycles.
struct Token {
    int64_t time;    // of the first attempt to issue
    int32_t stall;   // from there to its issue
    int32_t length;  // stall and issue
    int32_t row;     // -1 = not known
    Work work;
    bool counts;  // among those that are measured

    int64_t issue() const { return time + stall; }
    int64_t end() const { return time + length; }
};

// One interval in which an instruction keeps a pipe busy.
struct Busy {
    int64_t begin;
    uint32_t length;
    uint32_t owner;  // place of its wave in SimdGroup::waves, or kOtherSimd

    int64_t end() const { return begin + length; }
};

inline constexpr uint32_t kOtherSimd = UINT32_MAX;  // a neighbour SIMD that shares the memory pipe

enum class Pipe : uint8_t { valu, matrix, memory, scalar };
inline constexpr size_t kPipes = 4;
using Pipes = std::array<Column<Busy>, kPipes>;  // by Pipe, in order of begin

// Neighbouring instructions of one wave in the table.
struct Run {
    size_t first;
    size_t count;
};

struct WaveRuns {
    int64_t begin = 0;
    std::vector<Run> runs;  // its instructions, in the order of execution
};

// Waves of one SIMD of one shader engine, in order of begin: all of them, or a batch with those that run beside it.
struct SimdGroup {
    uint16_t se = 0;
    std::vector<WaveRuns> waves;
    size_t instruction_count = 0;
    std::vector<uint32_t> measured_waves;      // places in `waves`; the other waves only keep pipes busy
    int64_t from = INT64_MIN, to = INT64_MAX;  // the time in which the measured waves run
};

// All waves of the input, a group for each SIMD.
std::vector<SimdGroup> simd_groups(const HidingInput& input);

// Long groups cut into batches of waves that follow each other, each with all waves that are busy meanwhile: what a
// batch needs fits into a cache, and not all of a trace is in memory at once.
std::vector<SimdGroup> batches_of(const HidingInput& input, std::vector<SimdGroup> groups);

// Replaces `tokens` by those of a wave, in the order of the table.
void read_tokens(const HidingInput& input, const WaveRuns& wave, std::vector<Token>& tokens);

// Replaces `pipes` by those of a group. `buffer` is room for sorting; both are worth reusing for the next group.
void read_pipes(const HidingInput& input, const SimdGroup& group, Pipes& pipes, Column<Busy>& buffer);

}  // namespace wavewright
