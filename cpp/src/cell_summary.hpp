// Pieces of one lane, added up per cell of a level and kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace wavescope {

inline constexpr int32_t kManyItems = INT32_MIN;

// A part of a lane's time: one span, or what a level knows of one kind in a cell. Times count from the begin of all
// tiles.
template <class Time>
struct SpanPiece {
    Time begin, end;
    Time time;       // of the kind; less than end - begin only where both lie in one cell
    uint32_t count;  // spans that begin here
    int32_t item;    // kManyItems: of several spans
    uint16_t kind;
};

// Takes pieces in order of time. What it finds goes to `out`: out.cell(number, kinds) for a cell that was looked at
// piece by piece, out.run(first, last, piece) for cells that one piece covers alone.
template <class Time, class Out>
class CellSummary {
  public:
    using Piece = SpanPiece<Time>;
    // A cell with more kinds (none of a thread trace has) keeps those that came first; the others only count.
    static constexpr size_t kMaxKinds = 32;

    CellSummary(uint32_t shift, Out& out) : shift_(shift), out_(out) {}

    void add(const Piece& piece) {
        const uint64_t first = cell_of(piece.begin);
        const uint64_t last = piece.end > piece.begin ? cell_of(piece.end - 1) : first;
        if (first != cell_) flush(first);
        if (first == last) return put(piece);
        Piece part = piece;
        part.end = begin_of(first + 1);
        put(timed(part));
        part.count = 0;
        flush(last);
        if (last - first > 1) {
            part.begin = begin_of(first + 1);
            part.end = begin_of(last);
            out_.run(first + 1, last - 1, timed(part));
        }
        part.begin = begin_of(last);
        part.end = piece.end;
        put(timed(part));
    }

    void finish() { flush(0); }

  private:
    uint64_t cell_of(Time time) const { return uint64_t{time} >> shift_; }
    Time begin_of(uint64_t cell) const { return static_cast<Time>(cell << shift_); }

    static const Piece& timed(Piece& piece) {
        piece.time = piece.end - piece.begin;
        return piece;
    }

    void put(const Piece& piece) {
        const uint64_t bit = uint64_t{1} << (piece.kind % 64);
        if ((seen_ & bit) != 0) {
            // most often it is the kind that came last with these low bits
            size_t i = places_[piece.kind % 64];
            if (kinds_[i].kind != piece.kind)
                for (i = 0; i < kind_count_ && kinds_[i].kind != piece.kind;) ++i;
            if (i < kind_count_) return join(kinds_[i], piece, piece.time);
        }
        if (kind_count_ == kMaxKinds) return join(kinds_[kMaxKinds - 1], piece, 0);
        seen_ |= bit;
        places_[piece.kind % 64] = static_cast<uint8_t>(kind_count_);
        kinds_[kind_count_++] = piece;
    }

    static void join(Piece& sum, const Piece& piece, Time time) {
        sum.begin = std::min(sum.begin, piece.begin);
        sum.end = std::max(sum.end, piece.end);
        sum.time += time;
        sum.count += piece.count;
        if (sum.item != piece.item) sum.item = kManyItems;
    }

    void flush(uint64_t next) {
        if (kind_count_ != 0) out_.cell(cell_, std::span<const Piece>(kinds_.data(), kind_count_));
        kind_count_ = 0;
        seen_ = 0;
        cell_ = next;
    }

    uint32_t shift_;
    Out& out_;
    uint64_t cell_ = 0;
    size_t kind_count_ = 0;
    uint64_t seen_ = 0;  // a bit per kind, by its low bits
    std::array<uint8_t, 64> places_;
    std::array<Piece, kMaxKinds> kinds_;
};

}  // namespace wavescope
