// Wave files of decoded directories (`se<E>_sm<S>_sl<L>_wv<W>.json`, spec_ui_output 5.1), many at once, into columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavewright/records.hpp"
#include "wavewright/table.hpp"

namespace wavewright {

// Values of problems.kind. From `unreadable` on the file gives no wave at all; those before it concern rows.
enum class WaveProblem : uint8_t {
    malformed_rows = 0,    // instructions or states that are not rows of numbers of the right size; left out
    impossible_times = 1,  // instructions with a negative stall or one longer than the duration, before the wave or
                           // before the one in front of them; kept
    no_pc = 2,             // instructions of line 0, which is how writers say that the PC is not known; kept
    unknown_lines = 3,     // instructions of lines that the code does not have; kept, without a row
    unreadable = 16,       // the file cannot be opened or read
    syntax = 17,           // not JSON; byte_offset says where
    too_deep = 18,         // absurdly nested
    bad_number = 19,       // begin, end or place is not a whole number in the range of its column
    no_wave = 20,          // JSON, but without a wave, or one without begin and end
    backwards = 21,        // ends before it begins
    duplicate = 22,        // the same place and times as another file
};

// -1 = the file does not say.
#define WAVEWRIGHT_WAVE_FILE_COLUMNS(X) \
    X(uint32_t, file)                   \
    X(int64_t, start_cycles)            \
    X(int64_t, end_cycles)              \
    X(int32_t, cu)                      \
    X(int32_t, simd)                    \
    X(int32_t, slot)                    \
    X(int64_t, id)                      \
    X(int32_t, me)                      \
    X(int32_t, pipe)                    \
    X(int32_t, workgroup)               \
    X(int32_t, cluster)                 \
    X(uint64_t, first_instruction)      \
    X(uint32_t, instruction_count)      \
    X(uint64_t, first_state)            \
    X(uint32_t, state_count)

#define WAVEWRIGHT_WAVE_PROBLEM_COLUMNS(X) \
    X(uint32_t, file)                      \
    X(uint8_t, kind)                       \
    X(uint64_t, byte_offset)               \
    X(uint64_t, count)

WAVEWRIGHT_DECLARE_TABLE(WaveFileTable, waves, WAVEWRIGHT_WAVE_FILE_COLUMNS)
WAVEWRIGHT_DECLARE_TABLE(WaveProblemTable, problems, WAVEWRIGHT_WAVE_PROBLEM_COLUMNS)

// Waves by shader engine and end; their instructions and states in the same order, as in Records.
struct WaveFiles {
    WaveFileTable waves;
    InstructionTable instructions;
    StateTable states;
    WaveProblemTable problems;  // by file

    template <class Visitor>
    void each_table(Visitor&& visit) {
        visit("waves", waves);
        visit("instructions", instructions);
        visit("states", states);
        visit("problems", problems);
    }
};

// Which row of the code a line number means.
class LineRows {
  public:
    // Pairs (line, row); of several pairs of one line the first counts.
    explicit LineRows(std::vector<std::pair<int64_t, int32_t>> pairs);

    // -1 = no such line.
    int32_t row_of(int64_t line) const {
        const uint64_t index = static_cast<uint64_t>(line);
        return index < dense_.size() ? dense_[index] : sparse_row_of(line);
    }

  private:
    int32_t sparse_row_of(int64_t line) const;

    std::vector<int32_t> dense_;  // rows by line, for lines of about as many numbers as there are pairs
    std::vector<std::pair<int64_t, int32_t>> sparse_;  // all pairs, by line
};

// A file on disk, or its content. `content` must be followed by a NUL.
struct WaveFile {
    std::string path;  // used when content.data() is null
    std::string_view content;
    uint32_t se = 0;
};

// Any content gives waves plus problems: nothing is thrown but std::bad_alloc. `threads` 0 = all cores, up to 16.
WaveFiles read_waves(std::span<const WaveFile> files, const LineRows& lines, unsigned threads);

}  // namespace wavewright
