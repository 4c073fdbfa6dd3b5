// Pieces of one lane, added up per cell of a level and kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "wavescope/span_pyramid.hpp"

namespace wavescope {

inline constexpr int32_t kManyItems = INT32_MIN;

// Takes pieces in order of time. What it finds goes to `out`: out.cell(number, kinds) for a cell that was looked at piece
// by piece, out.run(first, last, piece) for cells that one piece covers alone.
template <class Out>
class CellSummary {
  public:
    using Piece = SpanPyramid::Piece;
    // A cell with more kinds (none of a thread trace has) keeps those that came first; the others only count.
    static constexpr size_t kMaxKinds = 32;

    CellSummary(int64_t origin, uint32_t shift, Out& out) : origin_(origin), shift_(shift), out_(out) {}

    void add(const Piece& piece) {
        const int64_t first = cell_of(piece.begin), last = cell_of(std::max(piece.begin, piece.end - 1));
        if (first != cell_) flush(first);
        if (first == last) return put(piece);
        Piece head = piece;
        head.end = begin_of(first + 1);
        head.time = head.end - head.begin;
        put(head);
        Piece rest = piece;
        rest.count = 0;
        if (last - first > 1) {
            flush(last);
            rest.begin = begin_of(first + 1);
            rest.end = begin_of(last);
            rest.time = rest.end - rest.begin;
            out_.run(first + 1, last - 1, rest);
        } else {
            flush(last);
        }
        rest.begin = begin_of(last);
        rest.end = piece.end;
        rest.time = rest.end - rest.begin;
        put(rest);
    }

    void finish() { flush(0); }

  private:
    int64_t cell_of(int64_t time) const { return (time - origin_) >> shift_; }
    int64_t begin_of(int64_t cell) const { return origin_ + (cell << shift_); }

    void put(const Piece& piece) {
        for (size_t i = 0; i < kind_count_; ++i)
            if (kinds_[i].kind == piece.kind) return join(kinds_[i], piece, piece.time);
        if (kind_count_ < kMaxKinds) {
            kinds_[kind_count_++] = piece;
        } else {
            join(kinds_[kMaxKinds - 1], piece, 0);
        }
    }

    static void join(Piece& sum, const Piece& piece, int64_t time) {
        sum.begin = std::min(sum.begin, piece.begin);
        sum.end = std::max(sum.end, piece.end);
        sum.time += time;
        sum.count += piece.count;
        if (sum.item != piece.item) sum.item = kManyItems;
    }

    void flush(int64_t next) {
        if (kind_count_ != 0) out_.cell(cell_, std::span<const Piece>(kinds_.data(), kind_count_));
        kind_count_ = 0;
        cell_ = next;
    }

    int64_t origin_;
    uint32_t shift_;
    Out& out_;
    int64_t cell_ = 0;
    size_t kind_count_ = 0;
    std::array<Piece, kMaxKinds> kinds_;
};

}  // namespace wavescope
