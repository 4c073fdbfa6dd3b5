// Spans of waves on tracks, as timelines show them: executed instructions, what pipes issue, states.
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

// Where waves lie: one value per wave.
struct PlacedWaves {
    std::span<const uint32_t> track;
    std::span<const int64_t> time;    // instructions: cycles to add to their times; states: start of the wave
    std::span<const uint64_t> first;  // of its rows; what lies outside the table is left out
    std::span<const uint32_t> count;
};

struct TracedInstructions {
    std::span<const int64_t> time;
    std::span<const int32_t> stall;
    std::span<const int32_t> duration;
    std::span<const uint8_t> category;
    std::span<const int32_t> row;
};

// From the time to the end of the stall or the duration; the kind is the category, kMatrixKind for rows of `is_matrix`.
WaveSpans executed_spans(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix);

// From time + stall to the end of the duration as the pipe rules say (see pipe_use). The track of a wave is that of its
// unit: pipe p of unit u is track tracks[u * pipe_count + p], where there is one.
struct PipeTracks {
    std::span<const uint32_t> tracks;
    uint32_t pipe_count;
};
WaveSpans issued_spans(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                       const PipeRules& rules, const PipeTracks& pipes);

// A bit for every pipe of every unit to which anything is issued.
std::vector<uint32_t> used_pipes(const PlacedWaves& waves, const TracedInstructions& table, const PipeRules& rules,
                                 uint32_t unit_count);

// The same as they are read; the columns must outlive the source.
SpanSource executed_source(const PlacedWaves& waves, const TracedInstructions& table,
                           std::span<const uint8_t> is_matrix);
SpanSource issued_source(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                         const PipeRules& rules, const PipeTracks& pipes);
SpanSource state_source(const PlacedWaves& waves, std::span<const uint8_t> states, std::span<const int32_t> durations);

// One state after the other.
WaveSpans state_spans(const PlacedWaves& waves, std::span<const uint8_t> states, std::span<const int32_t> durations);

}  // namespace wavewright
