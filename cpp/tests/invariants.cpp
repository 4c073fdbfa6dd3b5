#include "invariants.hpp"

#include <limits>
#include <optional>

namespace wavewright::testing {
namespace {

constexpr uint32_t kCategories = 0b101'1111'1111'1111;  // by number, 0..12 and 14
constexpr uint8_t kStates = 5;
constexpr int32_t kStallLimit = 1 << 24;
constexpr uint64_t kTokensPerByte = 2;  // the shortest token has 4 bits
constexpr uint64_t kRowsPerToken = 34;  // masks fan out to 16 slots, MISC to 8 events, loss to 2 rows
constexpr uint64_t kRowsAlways = 4096;  // what the end of a buffer may add: slots, counters

std::optional<std::string> ragged_table(Records& records) {
    std::optional<std::string> found;
    records.each_table([&](const char* table, auto& columns) {
        size_t rows = std::numeric_limits<size_t>::max();
        columns.each_column([&](const char* name, auto& column) {
            if (rows == std::numeric_limits<size_t>::max()) rows = column.size();
            if (column.size() != rows) found = std::string(table) + "." + name + " has another length";
        });
        if (rows > records.byte_count * kTokensPerByte * kRowsPerToken + kRowsAlways) {
            found = std::string(table) + " has more rows than the input justifies";
        }
    });
    return found;
}

// Waves own consecutive, gapless runs of `owned`.
template <class First, class Count, class Wave>
bool runs_are_gapless(const First& first, const Count& count, const Wave& wave) {
    uint64_t expected = 0;
    for (size_t w = 0; w < first.size(); ++w) {
        if (first[w] != expected || expected + count[w] > wave.size()) return false;
        for (uint64_t i = 0; i < count[w]; ++i) {
            if (wave[expected + i] != w) return false;
        }
        expected += count[w];
    }
    return expected == wave.size();
}

std::string broken_instruction(const Records& records, const Program& program) {
    const auto& rows = records.instructions;
    for (size_t i = 0; i < rows.wave.size(); ++i) {
        if (rows.category[i] > 31 || !(kCategories >> rows.category[i] & 1)) return "an unknown category";
        if (rows.stall_cycles[i] < 0 || rows.stall_cycles[i] >= kStallLimit) return "a stall outside 24 bits";
        if (rows.row[i] < -1 || rows.row[i] >= static_cast<int64_t>(program.row_count()))
            return "a row outside the program";
    }
    return {};
}

}  // namespace

std::string broken_invariant(Records& records, const Program& program) {
    if (const auto ragged = ragged_table(records)) return *ragged;
    if (records.token_count > records.byte_count * kTokensPerByte + 64) return "more tokens than the bytes can hold";
    const auto& waves = records.waves;
    if (!runs_are_gapless(waves.first_instruction, waves.instruction_count, records.instructions.wave)) {
        return "instructions do not lie wave by wave";
    }
    if (!runs_are_gapless(waves.first_state, waves.state_count, records.states.wave)) {
        return "states do not lie wave by wave";
    }
    for (const uint8_t state : records.states.state) {
        if (state >= kStates) return "an unknown state";
    }
    for (size_t i = 0; i < records.losses.kind.size(); ++i) {
        if (records.losses.byte_offset[i] > records.byte_count) return "a loss behind the end";
        const uint8_t kind = records.losses.kind[i];
        if (kind == 0 || kind > static_cast<uint8_t>(Loss::unended_waves)) return "an unknown loss";
    }
    if (records.stopped_at_byte > records.byte_count) return "stopped behind the end";
    if (records.status == Status::stopped && records.losses.kind.empty()) return "stopped without a loss";
    return broken_instruction(records, program);
}

std::string broken_invariant(const Program& program) {
    const auto rows = static_cast<int64_t>(program.row_count());
    const auto listed = static_cast<int64_t>(program.listed_rows());
    if (listed > rows) return "more listed rows than rows";
    for (int32_t row = 0; row < rows; ++row) {
        const int32_t shown = program.listed_row(row);
        if (shown < -1 || shown >= listed) return "a listed row outside the listings";
        if (row < listed && shown != row) return "a listed row that shows another";
        if (shown < 0) continue;  // an end row has no line
        const Line& line = program.line(row);
        if (line.next < -1 || line.next >= rows) return "a successor outside the program";
        if (line.target < -1 || line.target >= rows) return "a target outside the program";
        if (line.next >= 0 && program.pc(line.next).object != program.pc(row).object) return "a successor elsewhere";
        const int32_t found = program.find(program.pc(row));
        if (program.pc(row).known() && (found < 0 || program.pc(found) != program.pc(row)))
            return "a row that is not found";
    }
    return {};
}

}  // namespace wavewright::testing
