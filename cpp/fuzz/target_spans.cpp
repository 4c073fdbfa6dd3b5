#include <algorithm>
#include <cmath>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/span_pyramid.hpp"

namespace wavewright::fuzz {
namespace {

struct Spans {
    std::vector<uint32_t> track;
    std::vector<int64_t> begin, end;
    std::vector<uint16_t> kind;
};

Spans spans_of(Bytes rest) {
    Spans spans;
    int64_t now = 0;
    while (!rest.empty()) {
        const auto what = take<uint8_t>(rest);
        const bool is_wild = (what & 0x80) != 0;
        const int64_t begin = is_wild ? take<int64_t>(rest) : now + take<uint8_t>(rest) / 4;
        const int64_t end = is_wild ? take<int64_t>(rest) : begin + take<uint8_t>(rest) / 8;
        // a short input becomes many spans, so that levels are stored
        const int repeats = (what & 0x40) != 0 ? 100 : 1;
        for (int i = 0; i < repeats; ++i) {
            spans.track.push_back(what % 4);
            spans.begin.push_back(is_wild ? begin : begin + i * 3);
            spans.end.push_back(is_wild ? end : end + i * 3);
            spans.kind.push_back(static_cast<uint16_t>((what >> 2) % 16 + i % 3));
        }
        if (!is_wild) now = spans.end.back();
    }
    return spans;
}

// Of one tile: rows of a track are in order and reach into it; what is shorter than a cell begins there, in groups of
// which there are no more than cells. Times far from 0 are rounded when they become doubles, so bounds are a little
// wider.
void check_tile(const SpanPyramid& pyramid, uint32_t level, uint64_t number, uint64_t tracks, uint8_t cell_bits) {
    const SpanTile tile = pyramid.tile(level, number);
    const auto cell = static_cast<double>(uint64_t{1} << (cell_bits + level));
    const double width = kTileCells * cell;
    const double from = static_cast<double>(pyramid.begin()) + static_cast<double>(number) * width;
    const double rounding =
        std::max(std::abs(static_cast<double>(pyramid.begin())), std::abs(static_cast<double>(pyramid.end()))) * 1e-15;
    uint64_t groups = 0;
    for (size_t i = 0; i < tile.track.size(); ++i) {
        const double begin = tile.begin[i], end = tile.end[i];
        require(begin <= end, "a span does not end before it begins");
        require(begin <= from + width + rounding && end >= from - rounding, "it reaches into its tile");
        require(tile.count[i] >= 1, "it stands for something");
        require((tile.count[i] == 1) == (tile.item[i] >= 0), "one span has its item");
        require(i == 0 || tile.track[i] != tile.track[i - 1] || begin >= tile.begin[i - 1],
                "a track is in order of begin");
        if (level == 0) {
            require(tile.count[i] == 1, "level 0 has no groups");
        } else if (tile.count[i] > 1 || end - begin < cell - rounding) {
            require(begin >= from - rounding, "what is short begins in its tile");
            ++groups;
        }
    }
    require(groups <= tracks * kTileCells, "no more groups than cells");
    require(level == 0 || tile.track.size() <= tracks * kTileCells * 5, "a tile is bounded");
}

// Every span is counted once per level, unless so many overlap that hidden ones are left out.
void check_counts(const SpanPyramid& pyramid, uint32_t level, uint8_t cell_bits, uint64_t taken) {
    const uint64_t tiles = pyramid.tile_count(level);
    constexpr int64_t kExact = int64_t{1} << 53;  // times beyond are rounded, and may seem to begin in the next tile
    if (tiles > 4 || taken > kTileCells || pyramid.begin() < -kExact || pyramid.end() > kExact) return;
    uint64_t counted = 0;
    for (uint64_t number = 0; number < tiles; ++number) {
        const SpanTile tile = pyramid.tile(level, number);
        const auto from = pyramid.begin() + static_cast<int64_t>(number << (cell_bits + level + 10));
        for (size_t i = 0; i < tile.track.size(); ++i)
            if (tile.begin[i] >= static_cast<double>(from)) counted += tile.count[i];
    }
    require(counted == taken, "every span is counted once");
}

}  // namespace

void fuzz_spans(Bytes input) {
    Bytes rest = input;
    const auto control = take<uint8_t>(rest);
    const uint32_t track_count = control % 4 + 1;
    const auto cell_bits = static_cast<uint8_t>(control >> 2 & 0x7);
    const bool is_wide = (control & 0x40) != 0;
    const Spans spans = spans_of(rest);
    const SpanRules rules{track_count, is_wide ? INT64_MIN : 0, is_wide ? INT64_MAX : 100'000, cell_bits,
                          (control & 0x80) == 0};
    const SpanPyramid pyramid({spans.track, spans.begin, spans.end, spans.kind, {}}, rules);
    uint64_t taken = 0;
    for (const uint32_t track : spans.track) taken += track < track_count;
    require(pyramid.span_count() == taken, "every span of a known track is there");
    for (uint32_t level = 0; level < pyramid.level_count(); ++level) {
        const uint64_t count = pyramid.tile_count(level);
        for (uint64_t number = 0; number < std::min<uint64_t>(count, 3); ++number)
            check_tile(pyramid, level, number, track_count, cell_bits);
        check_tile(pyramid, level, count - 1, track_count, cell_bits);
        check_tile(pyramid, level, count / 2, track_count, cell_bits);
        if (!is_wide) check_counts(pyramid, level, cell_bits, taken);
    }
    const SpanTile top = pyramid.tile(pyramid.level_count() - 1, 0);
    require(taken == 0 || !top.track.empty(), "what is there is seen from afar");
}

}  // namespace wavewright::fuzz
