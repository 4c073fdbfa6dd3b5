#include <algorithm>
#include <stdexcept>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/edit_replay.hpp"

namespace wavewright::fuzz {
namespace {

constexpr size_t kMostInstructions = 4096, kMostEdits = 64;

// Rules of code rows, as columns.
struct BlockRules {
    std::vector<uint16_t> adds;
    std::vector<uint8_t> order, is_wait, is_end, dwords, is_store, wait_counter, is_matrix;
    std::vector<int32_t> unit, wait_row, wait_value, port_cycles;
    std::vector<uint32_t> key;
};

BlockRules block_rules_of(Bytes& rest) {
    BlockRules rules;
    const size_t rows = 1 + take<uint8_t>(rest) % 32;
    for (size_t row = 0; row < rows; ++row) {
        const auto what = take<uint8_t>(rest);
        const auto more = take<uint8_t>(rest);
        const bool is_wait = (what & 0x80) != 0;
        rules.adds.push_back(is_wait ? 0 : what & 0x7);
        rules.order.push_back(more & 0x3);
        rules.is_wait.push_back(is_wait);
        rules.is_end.push_back((what & 0x78) == 0x78);
        rules.dwords.push_back(static_cast<uint8_t>(1 + (more >> 2 & 3)));
        rules.is_store.push_back(more >> 4 & 1);
        rules.unit.push_back(static_cast<int32_t>(more >> 5 & 3) % 3 - 1);
        rules.key.push_back(what >> 3 & 3);
        rules.is_matrix.push_back(more >> 7);
        rules.port_cycles.push_back(what & 0x40 ? more : 0);
        for (uint8_t counter = 0; is_wait && counter < 3; ++counter) {
            if ((what >> counter & 1) == 0) continue;
            rules.wait_row.push_back(static_cast<int32_t>(row));
            rules.wait_counter.push_back(counter);
            rules.wait_value.push_back(static_cast<int8_t>(more) >> counter);
        }
    }
    return rules;
}

EditRow row_of(Bytes& rest, int32_t last) {
    const auto what = take<uint8_t>(rest);
    EditRow row;
    row.row = (what & 0x40) != 0 ? -1 : (what & 0x3F) % (last + 1);
    row.is_moved = (what & 0x80) != 0;
    row.is_ahead = row.row >= 0 && (what & 0x20) != 0;
    row.is_wait = (what & 0x1) != 0;
    row.padding_states = what & 0xF;
    if ((what & 0x2) != 0) row.waits.push_back({static_cast<uint8_t>(what >> 2 & 3), what & 3});
    if ((what & 0x4) != 0) row.edges.push_back({take<uint8_t>(rest), (what & 0x8) != 0, what & 31, (what & 0x10) != 0});
    row.dwords = what & 0x8 ? 4 : 0;
    if (row.row > 0 && row.dwords != 0) row.joined.push_back(row.row - 1);
    return row;
}

EditedBlock block_of(Bytes& rest, int32_t rows) {
    const auto last = static_cast<int32_t>(take<uint8_t>(rest) % static_cast<uint8_t>(rows));
    EditedBlock block{0, last, {}, {}, {}};
    const size_t count = take<uint8_t>(rest) % kMostEdits;
    for (size_t i = 0; i < count; ++i) block.rows.push_back(row_of(rest, last));
    for (std::vector<EditRow>* around : {&block.prologue, &block.epilogue})
        for (size_t i = take<uint8_t>(rest) % 4; i > 0; --i) around->push_back(row_of(rest, last));
    return block;
}

// Executed instructions as waves on four SIMDs of two CUs, some of which meet.
struct RecordedWaves {
    std::vector<int64_t> time, begin, end, arrival;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category, zeros;
    std::vector<uint32_t> producer, count, cu, simd, meeting;
    std::vector<uint64_t> first, barrier;
};

RecordedWaves waves_of(Bytes rest, size_t rows) {
    RecordedWaves waves;
    while (!rest.empty() && waves.time.size() < kMostInstructions) {
        const auto first = take<uint8_t>(rest);
        const auto second = take<uint8_t>(rest);
        const bool is_wild = (second & 0x40) != 0;
        const int64_t before = waves.time.empty() ? 0 : waves.time.back();
        const size_t i = waves.time.size();
        waves.time.push_back(is_wild ? take<int64_t>(rest) : static_cast<int64_t>(static_cast<uint64_t>(before) + 4));
        waves.stall.push_back(is_wild ? take<int32_t>(rest) : take<uint8_t>(rest));
        waves.duration.push_back(is_wild ? take<int32_t>(rest) : take<uint8_t>(rest));
        waves.row.push_back((first & 0x3F) == 0x3F ? -1 : static_cast<int32_t>((first & 0x3F) % rows));
        waves.category.push_back(second & 0xF);
        if (i == 0 || (first & 0x80) != 0) {
            waves.first.push_back(i);
            waves.count.push_back(0);
            waves.cu.push_back(static_cast<uint32_t>(waves.first.size() / 4 % 2));
            waves.simd.push_back(static_cast<uint32_t>(waves.first.size() % 4));
            waves.begin.push_back(waves.time[i]);
            waves.end.push_back(waves.time[i]);
        }
        ++waves.count.back();
        waves.end.back() = std::max(waves.end.back(), waves.time[i]);
        if ((second & 0x30) == 0x30) {
            waves.barrier.push_back(i);
            waves.meeting.push_back(second & 3);
            waves.arrival.push_back(waves.time[i]);
        }
    }
    waves.zeros.assign(waves.time.size(), 0);
    waves.producer.assign(waves.time.size(), 0);
    return waves;
}

void require_times(const EditTimes& times, size_t steps) {
    require(times.executions <= steps, "no more executions than instructions");
    require(times.traffic_share >= -1, "no less traffic than none");
}

}  // namespace

void fuzz_edits(Bytes input) {
    Bytes rest = input;
    const BlockRules rules = block_rules_of(rest);
    const size_t rows = rules.adds.size();
    const EditedBlock block = block_of(rest, static_cast<int32_t>(rows));
    const RecordedWaves waves = waves_of(rest, rows);
    ReplayInput replayed;
    replayed.time = waves.time;
    replayed.stall = waves.stall;
    replayed.duration = waves.duration;
    replayed.row = waves.row;
    replayed.category = waves.category;
    replayed.cause = replayed.gap_cause = waves.zeros;
    replayed.producer = waves.producer;
    replayed.is_matrix = rules.is_matrix;
    replayed.port_cycles = rules.port_cycles;
    replayed.first = waves.first;
    replayed.count = waves.count;
    replayed.begin = waves.begin;
    replayed.end = waves.end;
    replayed.cu = waves.cu;
    replayed.simd = waves.simd;
    replayed.barrier = waves.barrier;
    replayed.meeting = waves.meeting;
    replayed.arrival = waves.arrival;
    try {
        const EditReplay replay(replayed, {.adds = rules.adds,
                                           .order = rules.order,
                                           .is_wait = rules.is_wait,
                                           .is_end = rules.is_end,
                                           .unit = rules.unit,
                                           .dwords = rules.dwords,
                                           .is_store = rules.is_store,
                                           .key = rules.key,
                                           .wait_row = rules.wait_row,
                                           .wait_counter = rules.wait_counter,
                                           .wait_value = rules.wait_value});
        require(replay.recorded_cycles() >= 0, "no negative time");
        for (const FittedServer& server : replay.servers())
            require(server.fitted_cycles >= 0 && server.most_cycles >= 0, "no negative service");
        for (const int64_t cycles : replay.as_recorded().cycles) require(cycles >= 0, "no negative time as recorded");
        EditedBlock same{block.first, block.last, {}, {}, {}};
        for (int32_t row = block.first; row <= block.last; ++row) {
            same.rows.emplace_back();
            same.rows.back().row = row;
        }
        for (const int64_t cycles : replay.edited(same).cycles)
            require(cycles == replay.recorded_cycles(), "the same order takes as long as recorded");
        require_times(replay.edited(block), waves.time.size());
        require_times(replay.with_more_waves(1 + static_cast<uint32_t>(block.rows.size() % 3)), waves.time.size());
    } catch (const std::invalid_argument&) {
        return;  // times that lie too far apart
    }
}

}  // namespace wavewright::fuzz
