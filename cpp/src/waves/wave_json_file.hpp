// Reads one wave file of a decoded directory (wave_json.hpp) into the columns of the thread that reads it.
#pragma once

#include <cstdint>
#include <string_view>

#include "wavewright/wave_json.hpp"

namespace wavewright {

// Instructions and states of the files that one thread has read, without their waves.
struct WaveRows {
    Column<int64_t> time;
    Column<int32_t> stall, duration, row;
    Column<uint8_t> category;
    Column<uint8_t> state;
    Column<int32_t> state_duration;

    template <class Visitor>
    void each_instruction_column(Visitor&& visit) {
        visit(time);
        visit(stall);
        visit(duration);
        visit(row);
        visit(category);
    }
    template <class Visitor>
    void each_state_column(Visitor&& visit) {
        visit(state);
        visit(state_duration);
    }
};

// A wave, and where its rows are. -1 = the file does not say.
struct WaveHead {
    uint32_t file = 0;  // its place in the input
    uint32_t se = 0;
    uint32_t block = 0;  // number of the thread whose WaveRows have its rows
    int64_t begin = 0, end = 0, id = -1;
    int32_t cu = -1, simd = -1, slot = -1, me = -1, pipe = -1, workgroup = -1, cluster = -1;
    uint64_t first_instruction = 0, first_state = 0;  // in its block
    uint32_t instruction_count = 0, state_count = 0;
};

// Instructions and states of one file with a problem, by WaveProblem.
struct RowProblems {
    uint64_t malformed = 0, impossible = 0, no_pc = 0, unknown_lines = 0;
    uint64_t malformed_at = 0;  // byte offset of the first
};

// Why a file gives no wave.
struct FileFault {
    WaveProblem kind = WaveProblem::syntax;
    uint64_t byte_offset = 0;
};

// Appends to `rows` and fills `head` and `problems`. False when the file gives no wave; then `rows` is as before.
bool parse_wave(std::string_view text, const LineRows& lines, WaveRows& rows, WaveHead& head, RowProblems& problems,
                FileFault& fault);

}  // namespace wavewright
