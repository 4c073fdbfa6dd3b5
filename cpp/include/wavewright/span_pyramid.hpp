// Spans of time on tracks, ready to be drawn at any zoom: a tile of any level in time that follows what it shows.
//
// Cells of level L are `cell << L` wide; a tile is kTileCells of them. On every level a span that is at least a cell
// long is itself, in every tile that it reaches into, with its own begin and end; level 0 holds all spans so. Of the
// shorter ones, those of a track that begin in the same cell are shown together, as the kind that takes most time (then
// the one with more spans, then the higher number), and neighbours of the same kind with less than a cell between them
// are one group of the tile in which they begin. Every span is counted once per level, and a group of one is that
// span. What began last lies on top of what it overlaps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "wavewright/column.hpp"

namespace wavewright {

inline constexpr uint32_t kTileCells = 1024;
inline constexpr uint8_t kMaxDepth = 3;
inline constexpr uint32_t kMaxTracks = 1 << 22;

// One value per span. `item` may be empty: the number of the row stands for it.
struct SpanColumns {
    std::span<const uint32_t> track;
    std::span<const int64_t> begin;
    std::span<const int64_t> end;  // before `begin`: taken as equal
    std::span<const uint16_t> kind;
    std::span<const int32_t> item;
};

// Spans that are made as they are read, twice: no copy of them is needed. `row` is the item.
using SpanVisit = std::function<void(size_t row, uint32_t track, int64_t begin, int64_t end, uint16_t kind)>;
using SpanSource = std::function<void(const SpanVisit&)>;

// What a tile holds, track by track in order of begin.
struct SpanTile {
    Column<uint32_t> track;
    Column<double> begin, end;
    Column<uint16_t> kind;
    Column<uint32_t> count;  // spans
    Column<int32_t> item;    // of the only span; -1 for groups
    Column<uint8_t> depth;   // sub-track, so that spans that overlap can be seen side by side; the least of a group

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("track", track);
        visit("begin", begin);
        visit("end", end);
        visit("kind", kind);
        visit("count", count);
        visit("item", item);
        visit("depth", depth);
    }
};

struct SpanRules {
    uint32_t track_count = 0;    // spans on other tracks are left out
    int64_t begin = 0, end = 0;  // of all tiles together; spans are cut to it
    uint8_t cell_bits = 0;       // cells of level 0 are 2**cell_bits wide
    bool parts_overlaps = true;  // which spans get a sub-track of their own: all that overlap, or only those that also
                                 // begin together; the others lie over the one before
};

class SpanPyramid {
  public:
    // Throws std::length_error for more than 2**31 - 1 spans or kMaxTracks tracks.
    SpanPyramid(const SpanColumns& spans, const SpanRules& rules);
    SpanPyramid(const SpanSource& spans, const SpanRules& rules);
    ~SpanPyramid();
    SpanPyramid(const SpanPyramid&) = delete;
    SpanPyramid& operator=(const SpanPyramid&) = delete;

    int64_t begin() const { return begin_; }
    int64_t end() const { return end_; }
    uint64_t span_count() const;
    uint32_t track_count() const;
    uint32_t level_count() const { return level_count_; }  // one tile of the last level holds everything
    uint64_t tile_count(uint32_t level) const;
    size_t byte_count() const;  // memory that it takes

    // Nothing for a level or a tile that there is not.
    SpanTile tile(uint32_t level, uint64_t tile) const;

    class Levels;  // what is stored

  private:
    int64_t begin_, end_;
    uint32_t level_count_ = 1;
    uint8_t cell_bits_;
    std::unique_ptr<const Levels> levels_;
};

}  // namespace wavewright
