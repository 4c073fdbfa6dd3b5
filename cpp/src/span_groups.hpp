// What is shown of a level: the strongest kind of each cell, neighbours joined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

#include "cell_summary.hpp"
#include "wavescope/span_pyramid.hpp"

namespace wavescope {

// Takes the cells of a lane from a CellSummary and appends groups to a tile; `origin` is added to their times.
template <class Time>
class SpanGroups {
  public:
    using Piece = SpanPiece<Time>;

    SpanGroups(uint32_t lane, int64_t origin, SpanTile& tile) : lane_(lane), origin_(origin), tile_(tile) {}

    void cell(uint64_t number, std::span<const Piece> kinds) {
        Piece shown = kinds.front();
        uint32_t strongest = shown.count;
        for (const Piece& kind : kinds.subspan(1)) {
            if (std::tie(kind.time, kind.count, kind.kind) > std::tie(shown.time, strongest, shown.kind)) {
                shown.kind = kind.kind;
                shown.time = kind.time;
                strongest = kind.count;
            }
            shown.begin = std::min(shown.begin, kind.begin);
            shown.end = std::max(shown.end, kind.end);
            shown.count += kind.count;
            if (shown.item != kind.item) shown.item = kManyItems;
        }
        run(number, number, shown);
    }

    void run(uint64_t first, uint64_t last, const Piece& piece) {
        if (is_open_ && group_.kind == piece.kind && first == last_cell_ + 1) {
            group_.end = std::max(group_.end, piece.end);
            group_.count += piece.count;
            if (group_.item != piece.item) group_.item = kManyItems;
        } else {
            finish();
            group_ = piece;
            is_open_ = true;
        }
        last_cell_ = last;
    }

    void finish() {
        if (!is_open_) return;
        is_open_ = false;
        const bool is_one = group_.item != kManyItems && group_.count <= 1;
        tile_.lane.push_back(lane_);
        tile_.begin.push_back(static_cast<double>(origin_ + static_cast<int64_t>(group_.begin)));
        tile_.end.push_back(static_cast<double>(origin_ + static_cast<int64_t>(group_.end)));
        tile_.kind.push_back(group_.kind);
        tile_.count.push_back(is_one ? 1 : std::max(group_.count, uint32_t{2}));
        tile_.item.push_back(is_one ? group_.item : -1);
        tile_.depth.push_back(0);
    }

  private:
    uint32_t lane_;
    int64_t origin_;
    SpanTile& tile_;
    Piece group_{};
    uint64_t last_cell_ = 0;
    bool is_open_ = false;
};

}  // namespace wavescope
