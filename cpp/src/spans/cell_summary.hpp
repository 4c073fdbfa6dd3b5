// Sums of the spans of one track, per cell of a level of detail and kind (span_pyramid.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace wavewright {

inline constexpr int32_t kManyItems = INT32_MIN;

// One span, or what a level knows of the spans of one kind that begin in a cell. Times count from the start of all
// tiles.
template <class Time>
struct SpanPiece {
    Time begin, end;  // of the first and of the last span
    Time time;        // that the spans take together; as much as fits
    uint32_t count;   // spans
    int32_t item;     // of the only span; kManyItems: there are several
    uint16_t kind;
    uint8_t depth;  // the least sub-track
};

// Takes pieces in order of their begin. A piece belongs to the cell in which it begins, as a whole, so that every span
// is counted once; out.cell(kinds) gets what a cell holds.
template <class Time, class Out>
class CellSummary {
  public:
    using Piece = SpanPiece<Time>;
    // A cell with more kinds (none of a thread trace has) keeps those that came first; the others only count.
    static constexpr size_t kMaxKinds = 32;

    CellSummary(uint32_t shift, Out& out) : shift_(shift), out_(out) {}

    void add(const Piece& piece) {
        const uint64_t cell = uint64_t{piece.begin} >> shift_;
        if (cell != cell_) flush(cell);
        put(piece);
    }

    void finish() { flush(0); }

  private:
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
        sum.time = time > std::numeric_limits<Time>::max() - sum.time ? std::numeric_limits<Time>::max()
                                                                      : static_cast<Time>(sum.time + time);
        sum.count += piece.count;
        sum.item = kManyItems;
        sum.depth = std::min(sum.depth, piece.depth);
    }

    void flush(uint64_t next) {
        if (kind_count_ != 0) out_.cell(std::span<const Piece>(kinds_.data(), kind_count_));
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

}  // namespace wavewright
