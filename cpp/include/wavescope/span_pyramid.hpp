// Spans of time on lanes, ready to be drawn at any zoom: a tile of any level in time that follows what it shows.
//
// Cells of level L are `cell << L` wide; a tile is kTileCells of them. Level 0 holds the spans themselves. On every level
// above, a cell of a lane shows the kind that covers most of its time (then the one with more spans, then the higher
// number), and neighbouring cells of the same kind are one group. A cell with any span shows something, however short the
// span is: sparse work stays visible from afar. Where spans of a lane overlap, the one that began last counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavescope/column.hpp"

namespace wavescope {

inline constexpr uint32_t kTileCells = 1024;
inline constexpr uint8_t kMaxDepth = 3;
inline constexpr uint32_t kMaxLanes = 1 << 22;

// One value per span. `item` may be empty: the number of the row stands for it.
struct SpanColumns {
    std::span<const uint32_t> lane;
    std::span<const int64_t> begin;
    std::span<const int64_t> end;  // before `begin`: taken as equal
    std::span<const uint16_t> kind;
    std::span<const int32_t> item;
};

// What a tile holds, lane by lane in order of time.
struct SpanTile {
    Column<uint32_t> lane;
    Column<double> begin, end;
    Column<uint16_t> kind;
    Column<uint32_t> count;  // spans that begin in this group; 1 where it is a part of one span
    Column<int32_t> item;    // of the only span; -1 for groups
    Column<uint8_t> depth;   // level 0: sub-lane, so that spans that overlap can be seen side by side

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("lane", lane);
        visit("begin", begin);
        visit("end", end);
        visit("kind", kind);
        visit("count", count);
        visit("item", item);
        visit("depth", depth);
    }
};

struct SpanRules {
    uint32_t lane_count = 0;       // spans on other lanes are left out
    int64_t begin = 0, end = 0;    // of all tiles together; spans are cut to it
    uint8_t cell_bits = 0;         // cells of level 0 are 2**cell_bits wide
    bool parts_overlaps = true;    // which spans get a sub-lane of their own: all that overlap, or only those that also
                                   // begin together; the others lie over the one before
};

class SpanPyramid {
  public:
    // Throws std::length_error for more than 2**31 - 1 spans or kMaxLanes lanes.
    SpanPyramid(const SpanColumns& spans, const SpanRules& rules);

    int64_t begin() const { return begin_; }
    int64_t end() const { return end_; }
    uint64_t span_count() const { return starts_.size(); }
    uint32_t lane_count() const { return static_cast<uint32_t>(lanes_.size()); }
    uint32_t level_count() const { return level_count_; }  // one tile of the last level holds everything
    uint64_t tile_count(uint32_t level) const;
    size_t byte_count() const;  // memory that it takes

    // Nothing for a level or a tile that there is not.
    SpanTile tile(uint32_t level, uint64_t tile) const;

    // A part of a lane's time: one span, or what is stored of a kind in a cell. Those of a lane follow each other.
    struct Piece {
        int64_t begin, end;
        int64_t time;  // of the kind: less than end - begin only within a cell of the level it is stored for
        uint32_t count;
        int32_t item;
        uint16_t kind;
    };

  private:
    struct Level {
        uint32_t number;
        std::vector<Piece> pieces;
    };
    struct Lane {
        size_t first = 0, count = 0;    // of the spans of the lane
        std::vector<uint8_t> depths;    // empty: no spans overlap
        std::vector<int64_t> reach;     // likewise: the latest end up to here
        std::vector<Level> levels;      // pieces for levels from `number` on; where spans overlap the first is level 0
    };

    void sort_into_lanes(const SpanColumns& spans);
    void sort_by_time(const Lane& lane);
    void find_overlaps(Lane& lane) const;
    std::vector<Piece> without_overlaps(const Lane& lane) const;
    void build_levels(Lane& lane) const;
    template <class Visit>
    void each_piece(const Lane& lane, uint32_t level, int64_t from, int64_t to, Visit&& visit) const;
    void append_spans(const Lane& lane, uint32_t number, int64_t from, int64_t to, SpanTile& tile) const;
    void append_groups(const Lane& lane, uint32_t number, uint32_t level, int64_t from, int64_t to,
                       SpanTile& tile) const;

    Column<int64_t> starts_, ends_;
    Column<uint16_t> kinds_;
    Column<int32_t> items_;
    std::vector<Lane> lanes_;
    int64_t begin_ = 0, end_ = 0;
    uint32_t level_count_ = 1;
    uint8_t cell_bits_;
    bool parts_overlaps_;
};

}  // namespace wavescope
