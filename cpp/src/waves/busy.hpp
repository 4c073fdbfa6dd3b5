// When the pipes of one SIMD are busy, and with which of its waves, from the instructions of these waves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wavewright/hidden.hpp"

namespace wavewright {

// The kind of an instruction: it decides which pipe the instruction keeps busy, and what other work hides it.
enum class Work : uint8_t { matrix, valu, memory, scalar, other };

// One executed instruction.
struct Token {
    int64_t time;
    int32_t stall;
    int32_t length;  // stall and issue
    int32_t row;
    Work work;
    bool counts;

    int64_t issue() const { return time + stall; }
    int64_t end() const { return time + length; }
};

// One interval in which a pipe is taken, and by which wave (its index in the group).
struct Busy {
    int64_t begin;
    uint32_t length;
    uint32_t owner;

    int64_t end() const { return begin + length; }
};

inline constexpr uint32_t kOtherSimd = UINT32_MAX;  // owner: a neighbour SIMD

enum class Pipe : uint8_t { valu, matrix, memory, scalar };
using Pipes = std::array<Column<Busy>, 4>;  // by Pipe, in order of begin

// Instructions that stand together in the table.
struct Run {
    size_t first;
    size_t count;
};

struct WaveRuns {
    int64_t begin = 0;
    std::vector<Run> runs;  // its instructions, in the order of execution
};

// All waves of one SIMD of one shader engine, in order of begin.
struct SimdGroup {
    uint16_t se = 0;
    std::vector<WaveRuns> waves;
    size_t instruction_count = 0;
    std::vector<uint32_t> asked;  // the waves that are measured, by their places; the others keep pipes busy
    int64_t from = INT64_MIN, to = INT64_MAX;  // the time of those
};

std::vector<SimdGroup> simd_groups(const HidingInput& input);

// Groups cut into neighbouring waves with everything that is busy meanwhile: what they need fits into a cache, and not
// all of a trace is in memory at once.
std::vector<SimdGroup> batches_of(const HidingInput& input, std::vector<SimdGroup> groups);

// Replaces `tokens` by those of a wave, in the order of the table.
void read_tokens(const HidingInput& input, const WaveRuns& wave, std::vector<Token>& tokens);

// Replaces `pipes` by those of a group. `buffer` is room for sorting; both are worth keeping for the next group.
void read_pipes(const HidingInput& input, const SimdGroup& group, Pipes& pipes, Column<Busy>& buffer);

}  // namespace wavewright
