// Gives every instruction of a finished wave its place in the code by walking the listing beside the tokens
// (spec_rdna 11: "stitching").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rdna/wave.hpp"
#include "wavewright/program.hpp"

namespace wavewright::rdna {

// A barrier wait that the hardware sent no token for: it comes before instruction `index`.
struct Gap {
    size_t index;
    int32_t row;
};

// Runs of lines that are passed without a token. Short ones are walked; long ones, which only hostile listings have,
// are looked up in a table of all lines that is made once.
class LineRuns {
  public:
    using Belongs = bool (*)(const Line& line, Dialect dialect);
    LineRuns(const Program& program, Dialect dialect, Belongs belongs)
        : program_(program), dialect_(dialect), belongs_(belongs) {}

    // The last line of the run that begins at `row`, which belongs to it.
    int32_t last(int32_t row) {
        for (int steps = 0; steps < kWalked; ++steps) {
            const int32_t next = program_.line(row).next;
            if (next < 0 || !belongs_(program_.line(next), dialect_)) return row;
            row = next;
        }
        if (lasts_.empty()) make_table();
        return lasts_[static_cast<size_t>(row)];
    }

  private:
    static constexpr int kWalked = 64;
    void make_table();

    const Program& program_;
    Dialect dialect_;
    Belongs belongs_;
    std::vector<int32_t> lasts_;
};

class PcMap {
  public:
    // `input_bytes` bounds the work of look-aheads.
    PcMap(const Program& program, bool is_gfx12, size_t input_bytes);

    struct Result {
        size_t mapped = 0;            // instructions walked over; all of them when the walk is complete
        bool target_missing = false;  // no line at the target of a taken branch: the reference gives up here
    };

    // Fills rows() with one row per instruction, -1 = unknown. Adds instructions for excluded barrier waits, and may
    // lengthen v_mov_b64 instructions.
    Result map(Wave& wave);

    const std::vector<int32_t>& rows() const { return rows_; }

  private:
    // The reference's look-ahead is unbounded, so that a hostile stream could cost the square of its length. Over a
    // whole buffer this many steps per byte are allowed; real look-aheads end after a handful of instructions.
    static constexpr size_t kLookAheadPerByte = 64;
    static constexpr size_t kLookAheadMinimum = size_t{1} << 20;
    static constexpr uint32_t kMaxUnmatched = 1000;  // lines in a row that do not fit, by the reference's rule

    enum BarrierWait : uint8_t { unseen = 0, matched = 1, excluded = 2 };

    struct Walk;
    Result walk(Wave& wave);
    void find_anchors(const Wave& wave, Walk& at);
    int32_t follow_anchored(size_t index, Category category);
    LineClass class_of(int32_t row) const;
    BarrierWait& barrier_wait(int32_t row);
    bool is_excluded_here(const Wave& wave, size_t index, int32_t row, LineClass cls, int32_t next);
    bool fits_later(const Wave& wave, size_t index, int32_t next);
    void insert_gaps(Wave& wave);

    const Program& program_;
    Dialect dialect_;
    bool is_gfx12_;
    size_t look_ahead_budget_;
    // Of `s_barrier_wait` lines, for the whole decode: results depend on the waves before (spec_rdna 11.5).
    std::vector<BarrierWait> barrier_waits_;  // by row; empty until one is needed
    LineRuns silent_, skipped_;
    std::vector<int32_t> rows_;
    std::vector<Gap> gaps_;
};

}  // namespace wavewright::rdna
