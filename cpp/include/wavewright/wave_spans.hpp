// Spans of waves on tracks, as timelines show them: executed instructions, what pipes issue, states. A layer is either
// made as a whole (..._spans, columns) or read span by span (..._source), which needs no memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/column.hpp"
#include "wavewright/span_pyramid.hpp"
#include "wavewright/timeline.hpp"

namespace wavewright {

inline constexpr uint32_t kNoTrack = UINT32_MAX;
inline constexpr uint16_t kMatrixKind = 15;  // matrix instructions, which the hardware reports as VALU

// One row per instruction or state; those of no wave have no track.
struct WaveSpans {
    Column<uint32_t> track;
    Column<int64_t> begin, end;
    Column<uint16_t> kind;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("track", track);
        visit("begin", begin);
        visit("end", end);
        visit("kind", kind);
    }
};

// Where waves lie: one value per wave. `first` and `count` are its rows in the table of instructions or of states; rows
// outside of the table are left out.
struct PlacedWaves {
    std::span<const uint32_t> track;
    std::span<const int64_t> time;  // with instructions: cycles to add to their times; with states: start of the wave
    std::span<const uint64_t> first;
    std::span<const uint32_t> count;
};

// Columns of the table `instructions`.
struct TracedInstructions {
    std::span<const int64_t> time;
    std::span<const int32_t> stall;
    std::span<const int32_t> duration;
    std::span<const uint8_t> category;
    std::span<const int32_t> row;
};

// Executed instructions: from the first attempt to issue to the end of the duration (or of the stall, if that is
// later). The kind is the category, or kMatrixKind for code rows of `is_matrix`.
WaveSpans executed_spans(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix);

// The tracks of pipes: that of pipe p of unit u is tracks[u * pipe_count + p].
struct PipeTracks {
    std::span<const uint32_t> tracks;
    uint32_t pipe_count;
};

// What pipes issue: from time + stall to the end of the duration as the pipe rules say (see pipe_use).
// PlacedWaves::track is the unit of the wave here; pipes without a track are left out.
WaveSpans issued_spans(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                       const PipeRules& rules, const PipeTracks& pipes);

// By unit: a bit for every pipe to which anything is issued.
std::vector<uint32_t> used_pipes(const PlacedWaves& waves, const TracedInstructions& table, const PipeRules& rules,
                                 uint32_t unit_count);

// States, one after the other from the start of the wave.
WaveSpans state_spans(const PlacedWaves& waves, std::span<const uint8_t> states, std::span<const int32_t> durations);

// The same three, span by span; the columns must outlive the source.
SpanSource executed_source(const PlacedWaves& waves, const TracedInstructions& table,
                           std::span<const uint8_t> is_matrix);
SpanSource issued_source(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                         const PipeRules& rules, const PipeTracks& pipes);
SpanSource state_source(const PlacedWaves& waves, std::span<const uint8_t> states, std::span<const int32_t> durations);

}  // namespace wavewright
