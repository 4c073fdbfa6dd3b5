// The analyses of executed instructions over columns that can hold anything: times, rows and waves of foreign files.
#include <algorithm>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/hidden.hpp"
#include "wavewright/jumps.hpp"
#include "wavewright/late_causes.hpp"
#include "wavewright/row_totals.hpp"
#include "wavewright/timeline.hpp"
#include "wavewright/wave_rows.hpp"
#include "wavewright/wave_spans.hpp"

namespace wavewright::fuzz {
namespace {

constexpr uint32_t kRows = 16;  // of the code; instructions name some more
constexpr uint32_t kUnits = 4;

struct Instructions {
    std::vector<uint32_t> wave;
    std::vector<int64_t> time;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category;

    explicit Instructions(Bytes& rest) {
        int64_t now = 0;
        uint32_t number = 0;
        while (!rest.empty()) {
            const auto what = take<uint8_t>(rest);
            const bool is_wild = (what & 0x40) != 0;
            number += what >> 7;
            const auto place = take<uint8_t>(rest);
            wave.push_back(is_wild && place > 250 ? UINT32_MAX : number);
            time.push_back(is_wild ? take<int64_t>(rest) : now);
            stall.push_back(is_wild ? take<int32_t>(rest) : what & 7);
            duration.push_back(is_wild ? take<int32_t>(rest) : (what & 7) + place % 8);
            row.push_back(is_wild && place % 5 == 0 ? take<int32_t>(rest) : place % (kRows + 3) - 1);
            category.push_back(is_wild ? place : place % 16);
            if (!is_wild) now += what & 31;
        }
    }
    Executed executed() const { return {wave, time, stall, duration, row, category}; }
    TracedInstructions table() const { return {time, stall, duration, category, row}; }
};

struct Waves {
    std::vector<uint32_t> number, group, track, unit, count;
    std::vector<int64_t> begin, end;
    std::vector<uint64_t> first;
    std::vector<uint16_t> se;
    std::vector<uint8_t> simd;

    Waves(Bytes& rest, size_t length) {
        for (uint32_t i = 0; i < 6; ++i) {
            const auto what = take<uint8_t>(rest);
            number.push_back((what & 1) != 0 ? i : i / 2);
            begin.push_back((what & 2) != 0 ? take<int64_t>(rest) : what);
            end.push_back((what & 4) != 0 ? take<int64_t>(rest) : begin.back());
            group.push_back((what & 8) != 0 ? take<uint32_t>(rest) : i % 3);
            first.push_back((what & 16) != 0 ? take<uint64_t>(rest) : i * length / 6);
            count.push_back((what & 32) != 0 ? take<uint32_t>(rest) : static_cast<uint32_t>(length / 6));
            track.push_back((what & 64) != 0 ? take<uint32_t>(rest) : i);
            unit.push_back(i % kUnits);
            se.push_back(i % 2);
            simd.push_back(static_cast<uint8_t>(i % 4));
        }
    }
};

template <class Table>
void check_columns(Table&& table) {
    size_t rows = SIZE_MAX;
    table.each_column([&](const char*, auto& column) {
        require(rows == SIZE_MAX || column.size() == rows, "columns of one length");
        rows = column.size();
    });
}

void check_costs(const Instructions& from, const Waves& waves, std::span<const uint8_t> flags) {
    const RowTotals totals = row_totals(from.executed(), waves.number, waves.begin, kRows);
    int64_t hits = 0;
    for (size_t i = 0; i < totals.row.size(); ++i) {
        require(totals.row[i] >= 0 && (i == 0 || totals.row[i] > totals.row[i - 1]), "rows in order, each once");
        hits += totals.hit_count[i];
    }
    require(hits <= std::count_if(from.row.begin(), from.row.end(), [](int32_t row) { return row >= 0; }),
            "no instruction is counted twice");
    const std::vector<int64_t> other_time = {0, INT64_MAX, 5};
    const std::vector<uint16_t> other_se = {0, 1, 7}, other_duration = {3, UINT16_MAX, 0};
    const HidingInput input{from.executed(), from.category, {},       waves.number, waves.se,      waves.simd,
                            waves.begin,     flags,         other_se, other_time,   other_duration};
    for (const HidingRule rule : {HidingRule::reference, HidingRule::corrected}) {
        HiddenLatency hidden = hidden_latency(input, rule);
        check_columns(hidden);
        for (const int64_t cycles : hidden.idle) require(cycles >= 0, "hidden time is not negative");
    }
    check_columns(wave_paths(from.wave, from.row, from.category, kRows));
    const std::vector<int32_t> units = {0, 0, 1, -1, 2, 2, 2, 3, -1, 1, 0, 5, 5, 5, -1, 4};
    check_columns(unit_moments(from.executed(), {waves.number, waves.begin, waves.group}, units));
}

void check_paths(const Instructions& from, std::span<const uint8_t> flags) {
    for (const int64_t taken : taken_jumps(from.wave, from.row, flags, flags).taken) require(taken > 0, "jumps happen");
    const std::vector<LoopSpan> loops = {{1, 9, 1}, {2, 5, 3}, {3, 3, 3}, {12, 15, 12}};
    LoopIterations turns = loop_iterations(from.executed(), loops, flags);
    check_columns(turns);
    for (const uint32_t loop : turns.loop) require(loop < loops.size(), "iterations of loops that exist");
    std::vector<uint64_t> position;
    std::vector<uint32_t> barrier;
    std::vector<uint8_t> role;
    for (size_t i = 0; i < from.row.size(); ++i) {
        if (from.row[i] != 4) continue;
        position.push_back(i);
        barrier.push_back(static_cast<uint32_t>(i % 3));
        role.push_back(from.category[i] % 4);
    }
    check_columns(late_causes(from.executed(), {position, barrier, role}, kRows));
}

void check_timelines(const Instructions& from, const Waves& waves, std::span<const uint8_t> flags, const Bins& bins) {
    PipeRules rules;
    for (size_t i = 0; i < rules.of_category.size(); ++i)
        rules.of_category[i] = i < kMaxPipes ? static_cast<uint8_t>(i) : kNoPipe;
    const std::vector<uint8_t> of_row(kRows, kByCategory);
    const std::vector<int32_t> busy_of_row(kRows, 32);
    rules.of_row = of_row;
    rules.busy_of_row = busy_of_row;
    rules.short_pipes = 6;
    rules.issue_cycles = 4;
    const IssuingWaves issuing{waves.unit,  waves.unit, waves.begin, waves.begin,   waves.end,     waves.first,
                               waves.count, from.time,  from.stall,  from.duration, from.category, from.row};
    const PipeUse use = pipe_use(issuing, rules, bins);
    for (const int64_t cycles : use.units.cycles) require(cycles >= 0, "busy cycles are not negative");
    for (const int64_t cycles : use.issues.phase_cycles) require(cycles > 0, "a phase has cycles");
    check_columns(
        state_cycles({waves.unit, waves.begin, waves.first, waves.count, from.category, from.duration}, bins));

    const PlacedWaves placed{waves.track, waves.begin, waves.first, waves.count};
    const PlacedWaves on_units{waves.unit, waves.begin, waves.first, waves.count};
    std::vector<uint32_t> tracks(kUnits * kMaxPipes);
    for (size_t i = 0; i < tracks.size(); ++i) tracks[i] = i % 3 != 0 ? static_cast<uint32_t>(i) : kNoTrack;
    const auto check_spans = [&](WaveSpans spans) {
        require(spans.track.size() == from.time.size(), "a span per instruction");
        check_columns(spans);
    };
    check_spans(executed_spans(placed, from.table(), flags));
    check_spans(issued_spans(on_units, from.table(), flags, rules, {tracks, kMaxPipes}));
    check_spans(state_spans(placed, from.category, from.duration));
    require(used_pipes(on_units, from.table(), rules, kUnits).size() == kUnits, "pipes of every unit");
}

}  // namespace

void fuzz_executed(Bytes input) {
    Bytes rest = input;
    std::vector<uint8_t> flags;
    for (uint32_t row = 0, bits = take<uint16_t>(rest); row < kRows; ++row) flags.push_back(bits >> row & 1);
    const auto control = take<uint8_t>(rest);
    const Bins bins{(control & 1) != 0 ? -100 : 0, 1 + (control >> 1) % 40, 1U + (control >> 4)};
    Bytes places = rest.first(std::min<size_t>(rest.size(), 64));
    const Instructions instructions(rest);
    const Waves waves(places, instructions.wave.size());
    check_costs(instructions, waves, flags);
    check_paths(instructions, flags);
    check_timelines(instructions, waves, flags, bins);
}

}  // namespace wavewright::fuzz
