// Gives every instruction of a finished wave its place in the code by walking the listing beside the tokens
// (spec_rdna 11: "stitching").
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rdna_wave.hpp"
#include "wavescope/program.hpp"

namespace wavescope::rdna {

// A barrier wait that the hardware sent no token for: it stands in front of instruction `index`.
struct Gap {
    size_t index;
    int32_t row;
};

class PcMap {
  public:
    // `input_bytes` bounds the work of look-aheads.
    PcMap(const Program& program, bool is_gfx12, size_t input_bytes)
        : program_(program),
          dialect_(is_gfx12 ? Dialect::gfx12 : Dialect::gfx10_11),
          is_gfx12_(is_gfx12),
          look_ahead_budget_(input_bytes * kLookAheadPerByte + kLookAheadMinimum) {}

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
    // Lines in a row that the walk passes without a match, by the reference's rule, and lines without any token
    // (skipped or unknown text), where the reference has no limit but the end of the listing.
    static constexpr uint32_t kMaxUnmatched = 1000;
    static constexpr uint32_t kMaxSilent = 4096;

    enum BarrierWait : uint8_t { unseen = 0, matched = 1, excluded = 2 };

    template <bool kExcludes>
    Result walk(Wave& wave);
    int32_t follow_anchored(size_t index, Category category);
    LineClass class_of(int32_t row) const;
    bool is_excluded_here(const Wave& wave, size_t index, int32_t row, LineClass cls, int32_t next);
    bool fits_later(const Wave& wave, size_t index, int32_t next);
    void note_match(int32_t row);
    void insert_gaps(Wave& wave);

    const Program& program_;
    Dialect dialect_;
    bool is_gfx12_;
    size_t look_ahead_budget_;
    // Of `s_barrier_wait` lines, for the whole decode: results depend on the waves before (spec_rdna 11.5).
    std::unordered_map<int32_t, BarrierWait> barrier_waits_;
    std::vector<int32_t> rows_;
    std::vector<Gap> gaps_;
};

}  // namespace wavescope::rdna
