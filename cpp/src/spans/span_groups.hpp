// What is shown of a track on a level: spans at least a cell long by themselves, shorter ones in groups.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "spans/cell_summary.hpp"
#include "wavewright/span_pyramid.hpp"

namespace wavewright {

// Takes the pieces of one track that reach into a tile, in order of their begin.
template <class Time>
class SpanGroups {
  public:
    using Piece = SpanPiece<Time>;

    SpanGroups(uint32_t shift, uint64_t from) : shift_(shift), from_(from), summary_(shift, *this) {}

    void add(const Piece& piece) {
        if (is_long(piece)) {
            longs_.push_back(piece);
        } else if (piece.begin >= from_) {
            summary_.add(piece);
        }
    }

    // All that was added, in order of begin: visit(piece). It can then take the next track.
    template <class Visit>
    void finish(Visit&& visit) {
        summary_.finish();
        close();
        if (longs_.size() > kMostLongs) drop_hidden();
        auto next = groups_.begin();
        for (const Piece& one : longs_) {
            for (; next != groups_.end() && next->begin < one.begin; ++next) visit(*next);
            visit(one);
        }
        for (; next != groups_.end(); ++next) visit(*next);
        longs_.clear();
        groups_.clear();
        next_long_ = 0;
    }

    // From the summary of a cell: the strongest kind stands for all that begins there.
    void cell(std::span<const Piece> kinds) {
        Piece shown = kinds.front();
        uint32_t strongest = shown.count;
        for (const Piece& kind : kinds.subspan(1)) {
            if (std::tie(kind.time, kind.count, kind.kind) > std::tie(shown.time, strongest, shown.kind)) {
                shown.kind = kind.kind;
                shown.time = kind.time;
                strongest = kind.count;
            }
            join(shown, kind);
        }
        const bool is_neighbour = is_open_ && group_.kind == shown.kind && !is_far(shown.begin);
        // what began last lies on top: a group that goes on after a long span began is another one
        if (is_neighbour && !has_long_before(shown.begin)) {
            join(group_, shown);
        } else {
            close();
            group_ = shown;
            is_open_ = true;
            has_long_before(shown.begin);
        }
    }

  private:
    // More can only be where they lie over each other: then those are left out of which no cell is seen.
    static constexpr size_t kMostLongs = size_t{4} * kTileCells;

    bool is_long(const Piece& piece) const {
        return piece.count == 1 && uint64_t{piece.end} - piece.begin >= uint64_t{1} << shift_;
    }

    bool is_far(Time begin) const {
        return begin > group_.end && uint64_t{begin} - group_.end >= uint64_t{1} << shift_;
    }

    // Whether a long span began before this time and not before the one that was asked for last.
    bool has_long_before(Time time) {
        const size_t before = next_long_;
        while (next_long_ < longs_.size() && longs_[next_long_].begin < time) ++next_long_;
        return next_long_ != before;
    }

    static void join(Piece& sum, const Piece& other) {
        sum.begin = std::min(sum.begin, other.begin);
        sum.end = std::max(sum.end, other.end);
        sum.count += other.count;
        sum.item = kManyItems;
        sum.depth = std::min(sum.depth, other.depth);
    }

    void close() {
        if (is_open_) groups_.push_back(group_);
        is_open_ = false;
    }

    // From the last one to the first, each takes the cells that are still free; `free[c]` leads to the next free one.
    void drop_hidden() {
        std::array<uint32_t, kTileCells + 1> free;
        std::iota(free.begin(), free.end(), 0);
        const auto next_free = [&](uint32_t cell) {
            while (free[cell] != cell) cell = free[cell] = free[free[cell]];
            return cell;
        };
        const auto cell_of = [&](uint64_t time) {
            return static_cast<uint32_t>(std::min<uint64_t>((time - from_) >> shift_, kTileCells - 1));
        };
        const auto is_hidden = [&](const Piece& piece) {
            const uint32_t last = cell_of(std::max<uint64_t>(piece.end - 1, from_));
            bool is_seen = false;
            uint32_t cell = next_free(cell_of(std::max<uint64_t>(piece.begin, from_)));
            for (; cell <= last; cell = next_free(cell)) {
                free[cell] = cell + 1;
                is_seen = true;
            }
            return !is_seen;
        };
        std::reverse(longs_.begin(), longs_.end());
        longs_.erase(std::remove_if(longs_.begin(), longs_.end(), is_hidden), longs_.end());
        std::reverse(longs_.begin(), longs_.end());
    }

    uint32_t shift_;
    uint64_t from_;
    std::vector<Piece> longs_, groups_;
    size_t next_long_ = 0;
    Piece group_{};
    bool is_open_ = false;
    CellSummary<Time, SpanGroups> summary_;
};

}  // namespace wavewright
