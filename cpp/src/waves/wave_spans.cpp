// Turns rows of instructions and states into spans on tracks. Each layer is a source that calls a visitor span by span;
// columns are filled from the same sources.
#include "wavewright/wave_spans.hpp"

#include <algorithm>
#include <cstring>

namespace wavewright {
namespace {

WaveSpans empty_spans(size_t count) {
    WaveSpans spans;
    if (count == 0) return spans;
    std::fill_n(spans.track.extend(count), count, kNoTrack);
    std::memset(spans.begin.extend(count), 0, count * sizeof(int64_t));
    std::memset(spans.end.extend(count), 0, count * sizeof(int64_t));
    std::memset(spans.kind.extend(count), 0, count * sizeof(uint16_t));
    return spans;
}

// Calls visit(wave, i) for the instructions or states of all waves, i being the place in a table of `row_count` rows.
template <class Visit>
void each_row(const PlacedWaves& waves, size_t row_count, Visit&& visit) {
    for (size_t wave = 0; wave < waves.track.size(); ++wave) {
        const size_t first = std::min<uint64_t>(waves.first[wave], row_count);
        const size_t last = first + std::min<size_t>(waves.count[wave], row_count - first);
        for (size_t row = first; row < last; ++row) visit(wave, row);
    }
}

// A flag per code row; false for rows that have none.
bool is_flagged(std::span<const uint8_t> of_row, int32_t row) {
    return row >= 0 && static_cast<size_t>(row) < of_row.size() && of_row[static_cast<size_t>(row)] != 0;
}

uint8_t pipe_of(const PipeRules& rules, const TracedInstructions& table, size_t i) {
    const int32_t row = table.row[i];
    const bool is_known = row >= 0 && static_cast<size_t>(row) < rules.of_row.size();
    const uint8_t pipe = is_known ? rules.of_row[static_cast<size_t>(row)] : kByCategory;
    return pipe == kByCategory ? rules.of_category[table.category[i]] : pipe;
}

// What a source gives, as columns of `count` rows.
WaveSpans spans_of(size_t count, const SpanSource& source) {
    WaveSpans spans = empty_spans(count);
    source([&](size_t row, uint32_t track, int64_t begin, int64_t end, uint16_t kind) {
        spans.track[row] = track;
        spans.begin[row] = begin;
        spans.end[row] = end;
        spans.kind[row] = kind;
    });
    return spans;
}

int64_t end_of(int64_t begin, int64_t length) {
    return begin + std::max<int64_t>(length, 0);
}

}  // namespace

SpanSource executed_source(const PlacedWaves& waves, const TracedInstructions& table,
                           std::span<const uint8_t> is_matrix) {
    return [=](const SpanVisit& visit) {
        each_row(waves, table.time.size(), [&](size_t wave, size_t i) {
            const int64_t begin = bounded(table.time[i]) + bounded(waves.time[wave]);
            const uint16_t kind = is_flagged(is_matrix, table.row[i]) ? kMatrixKind : table.category[i];
            visit(i, waves.track[wave], begin, end_of(begin, std::max(table.stall[i], table.duration[i])), kind);
        });
    };
}

SpanSource issued_source(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                         const PipeRules& rules, const PipeTracks& pipes) {
    return [=](const SpanVisit& visit) {
        each_row(waves, table.time.size(), [&](size_t wave, size_t i) {
            const uint8_t pipe = pipe_of(rules, table, i);
            const uint64_t number = uint64_t{waves.track[wave]} * pipes.pipe_count + pipe;
            if (pipe >= pipes.pipe_count || number >= pipes.tracks.size()) return;
            const int64_t begin = bounded(table.time[i]) + bounded(waves.time[wave]) + table.stall[i];
            const bool is_short = pipe < 32 && (rules.short_pipes >> pipe & 1) != 0;
            const int64_t issue = is_short ? 0 : int64_t{table.duration[i]} - table.stall[i];
            const uint16_t kind = is_flagged(is_matrix, table.row[i]) ? kMatrixKind : table.category[i];
            const int64_t end = end_of(begin, std::max<int64_t>(issue, rules.issue_cycles));
            visit(i, pipes.tracks[number], begin, end, kind);
        });
    };
}

WaveSpans executed_spans(const PlacedWaves& waves, const TracedInstructions& table,
                         std::span<const uint8_t> is_matrix) {
    return spans_of(table.time.size(), executed_source(waves, table, is_matrix));
}

WaveSpans issued_spans(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                       const PipeRules& rules, const PipeTracks& pipes) {
    return spans_of(table.time.size(), issued_source(waves, table, is_matrix, rules, pipes));
}

std::vector<uint32_t> used_pipes(const PlacedWaves& waves, const TracedInstructions& table, const PipeRules& rules,
                                 uint32_t unit_count) {
    std::vector<uint32_t> used(unit_count);
    each_row(waves, table.category.size(), [&](size_t wave, size_t i) {
        const uint8_t pipe = pipe_of(rules, table, i);
        if (pipe < 32 && waves.track[wave] < unit_count) used[waves.track[wave]] |= uint32_t{1} << pipe;
    });
    return used;
}

SpanSource state_source(const PlacedWaves& waves, std::span<const uint8_t> states, std::span<const int32_t> durations) {
    return [=](const SpanVisit& visit) {
        size_t last_wave = SIZE_MAX;
        int64_t now = 0;
        each_row(waves, states.size(), [&](size_t wave, size_t i) {
            if (wave != last_wave) now = bounded(waves.time[wave]);
            last_wave = wave;
            const int64_t length = std::max(durations[i], 0);
            visit(i, waves.track[wave], now, end_of(now, length), states[i]);
            now = bounded(now + length);
        });
    };
}

WaveSpans state_spans(const PlacedWaves& waves, std::span<const uint8_t> states, std::span<const int32_t> durations) {
    return spans_of(states.size(), state_source(waves, states, durations));
}

}  // namespace wavewright
