#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "wavescope/span_pyramid.hpp"

namespace wavescope {
namespace {

struct Spans {
    std::vector<uint32_t> lane;
    std::vector<int64_t> begin, end;
    std::vector<uint16_t> kind;

    void add(uint32_t of_lane, int64_t from, int64_t to, uint16_t of_kind) {
        lane.push_back(of_lane);
        begin.push_back(from);
        end.push_back(to);
        kind.push_back(of_kind);
    }
    SpanPyramid pyramid(const SpanRules& rules) const { return SpanPyramid({lane, begin, end, kind, {}}, rules); }
};

struct Row {
    uint32_t lane;
    int64_t begin, end;
    uint16_t kind;
    uint32_t count;
    int32_t item;
    uint8_t depth;
};

std::vector<Row> rows_of(const SpanTile& tile) {
    std::vector<Row> rows;
    for (size_t i = 0; i < tile.lane.size(); ++i)
        rows.push_back({tile.lane[i], static_cast<int64_t>(tile.begin[i]), static_cast<int64_t>(tile.end[i]),
                        tile.kind[i], tile.count[i], tile.item[i], tile.depth[i]});
    return rows;
}

// Spans of one lane after each other, many to a cell of the higher levels.
Spans many(size_t count, uint32_t lanes, uint16_t kinds, unsigned longest_gap, unsigned seed) {
    std::mt19937 random(seed);
    Spans spans;
    std::vector<int64_t> now(lanes);
    for (size_t i = 0; i < count; ++i) {
        const auto lane = static_cast<uint32_t>(random() % lanes);
        now[lane] += random() % longest_gap == 0 ? random() % 5000 : 0;
        const int64_t length = random() % 100 == 0 ? random() % 3000 : random() % 9;
        spans.add(lane, now[lane], now[lane] + length, static_cast<uint16_t>(random() % kinds));
        now[lane] += length;
    }
    return spans;
}

// What a cell has to show, straight from its definition; spans do not overlap.
using Cells = std::map<std::pair<uint32_t, int64_t>, std::map<uint16_t, std::pair<int64_t, int64_t>>>;

Cells cells_of(const Spans& spans, int64_t begin, int64_t width) {
    Cells cells;
    for (size_t i = 0; i < spans.lane.size(); ++i) {
        const int64_t first = (spans.begin[i] - begin) / width;
        const int64_t last = (std::max(spans.begin[i], spans.end[i] - 1) - begin) / width;
        for (int64_t cell = first; cell <= last; ++cell) {
            auto& [time, count] = cells[{spans.lane[i], cell}][spans.kind[i]];
            const int64_t from = begin + cell * width;
            time += std::min(spans.end[i], from + width) - std::max(spans.begin[i], from);
            count += cell == first;
        }
    }
    return cells;
}

uint16_t strongest(const std::map<uint16_t, std::pair<int64_t, int64_t>>& kinds) {
    return std::max_element(kinds.begin(), kinds.end(),
                            [](const auto& a, const auto& b) {
                                return a.second != b.second ? a.second < b.second : a.first < b.first;
                            })
        ->first;
}

void check_levels(const Spans& spans, const SpanRules& rules) {
    const SpanPyramid pyramid = spans.pyramid(rules);
    CHECK_EQUAL(pyramid.span_count(), spans.lane.size());
    for (uint32_t level = 1; level < pyramid.level_count(); ++level) {
        const int64_t width = int64_t{1} << (rules.cell_bits + level);
        const Cells expected = cells_of(spans, rules.begin, width);
        std::map<std::pair<uint32_t, int64_t>, uint16_t> shown;
        int64_t begun = 0;
        for (uint64_t number = 0; number < pyramid.tile_count(level); ++number) {
            const std::vector<Row> rows = rows_of(pyramid.tile(level, number));
            CHECK(rows.size() <= size_t{rules.lane_count} * kTileCells);
            for (const Row& row : rows) {
                const int64_t first = (row.begin - rules.begin) / width;
                const int64_t last = (std::max(row.begin, row.end - 1) - rules.begin) / width;
                CHECK_EQUAL(static_cast<uint64_t>(first) / kTileCells, number);
                CHECK_EQUAL(static_cast<uint64_t>(last) / kTileCells, number);
                for (int64_t cell = first; cell <= last; ++cell)
                    CHECK(shown.emplace(std::pair{row.lane, cell}, row.kind).second);
                begun += row.count;
            }
        }
        for (const auto& [cell, kinds] : expected) {
            const auto found = shown.find(cell);
            // a moment on the first cycle of a cell ends the group of the cell before it
            const bool is_moment =
                std::all_of(kinds.begin(), kinds.end(), [](auto& kind) { return kind.second.first == 0; });
            REQUIRE(found != shown.end() || is_moment);
            if (found != shown.end()) CHECK_EQUAL(found->second, strongest(kinds));
        }
        for (const auto& [cell, kind] : shown) CHECK(expected.contains(cell));
        CHECK(begun >= static_cast<int64_t>(spans.lane.size()));
    }
}

TEST(span_pyramid, every_cell_of_every_level_shows_its_strongest_kind) {
    const Spans spans = many(30'000, 3, 13, 50, 1);
    const int64_t last = *std::max_element(spans.end.begin(), spans.end.end());
    check_levels(spans, {3, 0, last, 0, true});
    check_levels(spans, {3, -77, last + 5, 2, true});
}

TEST(span_pyramid, times_beyond_32_bits) {
    Spans spans = many(20'000, 2, 4, 20, 2);
    for (size_t i = 0; i < spans.lane.size(); ++i)
        for (int64_t* time : {&spans.begin[i], &spans.end[i]}) *time = *time * 100'000 - (int64_t{1} << 40);
    const int64_t last = *std::max_element(spans.end.begin(), spans.end.end());
    check_levels(spans, {2, -(int64_t{1} << 40), last, 22, true});
}

TEST(span_pyramid, memory_is_bounded_by_the_spans) {
    for (const int kinds : {1, 2, 15, 30'000}) {
        const Spans spans = many(200'000, 2, static_cast<uint16_t>(kinds), 1000, 3);
        const SpanPyramid pyramid =
            spans.pyramid({2, 0, *std::max_element(spans.end.begin(), spans.end.end()), 0, true});
        CHECK(pyramid.byte_count() < 3 * 14 * spans.lane.size());
    }
}

TEST(span_pyramid, an_isolated_span_is_seen_at_every_level) {
    Spans spans;
    spans.add(1, 70'000, 70'001, 9);
    spans.add(1, 500'000, 500'000, 4);
    const SpanPyramid pyramid = spans.pyramid({2, 0, 1'000'000, 0, true});
    CHECK_EQUAL(pyramid.level_count(), 11U);
    for (uint32_t level = 0; level < pyramid.level_count(); ++level) {
        std::vector<Row> rows;
        for (uint64_t number = 0; number < pyramid.tile_count(level); ++number)
            for (const Row& row : rows_of(pyramid.tile(level, number))) rows.push_back(row);
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].begin == 70'000 && rows[0].end == 70'001 && rows[0].kind == 9 && rows[0].item == 0);
        CHECK(rows[1].begin == 500'000 && rows[1].end == 500'000 && rows[1].kind == 4 && rows[1].item == 1);
    }
}

TEST(span_pyramid, a_long_span_is_one_group_of_every_tile_and_keeps_its_item) {
    Spans spans;
    spans.add(0, 10, 90'000, 3);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 100'000, 0, true});
    for (uint32_t level = 1; level < pyramid.level_count(); ++level) {
        const int64_t width = int64_t{kTileCells} << level;
        for (uint64_t number = 0; number < pyramid.tile_count(level); ++number) {
            const auto from = static_cast<int64_t>(number) * width;
            const std::vector<Row> rows = rows_of(pyramid.tile(level, number));
            if (from >= 90'000) {
                CHECK(rows.empty());
                continue;
            }
            REQUIRE(rows.size() == 1);
            CHECK_EQUAL(rows[0].begin, std::max<int64_t>(10, from));
            CHECK_EQUAL(rows[0].end, std::min<int64_t>(90'000, from + width));
            CHECK(rows[0].count == 1 && rows[0].item == 0);
        }
    }
}

TEST(span_pyramid, what_began_last_lies_on_top) {
    Spans spans;
    spans.add(0, 0, 64, 1);
    spans.add(0, 16, 32, 2);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 8'000, 0, true});
    std::vector<std::vector<int64_t>> groups;
    for (const Row& row : rows_of(pyramid.tile(3, 0))) groups.push_back({row.begin, row.end, row.kind, row.item});
    CHECK(groups == (std::vector<std::vector<int64_t>>{{0, 16, 1, 0}, {16, 32, 2, 1}, {32, 64, 1, 0}}));
}

TEST(span_pyramid, level_0_finds_long_spans_that_began_before) {
    Spans spans;
    spans.add(0, 0, 5'000, 1);
    for (int64_t i = 0; i < 400; ++i) spans.add(0, i * 10, i * 10 + 5, 2);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 8'000, 0, true});
    const std::vector<Row> rows = rows_of(pyramid.tile(0, 3));
    CHECK_EQUAL(rows.front().end, 5'000);
    CHECK_EQUAL(rows.size(), size_t{1} + (399 - 306));
    CHECK_EQUAL(rows_of(pyramid.tile(0, 4)).size(), size_t{1});
    CHECK(rows_of(pyramid.tile(0, 5)).empty());
}

TEST(span_pyramid, sub_lanes) {
    Spans spans;
    for (const auto& [begin, end] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 9}, {0, 9}, {0, 9}, {0, 9}, {0, 9}, {4, 5}})
        spans.add(0, begin, end, 0);
    for (const bool parts : {true, false}) {
        std::vector<int> depths;
        for (const Row& row : rows_of(spans.pyramid({1, 0, 10, 0, parts}).tile(0, 0))) depths.push_back(row.depth);
        CHECK(depths == (parts ? std::vector<int>{0, 1, 2, 3, 3, 3} : std::vector<int>{0, 1, 2, 3, 3, 0}));
    }
}

TEST(span_pyramid, nothing_and_nonsense) {
    Spans spans;
    CHECK(spans.pyramid({0, 0, 0, 0, true}).tile(0, 0).lane.empty());
    CHECK(spans.pyramid({5, INT64_MIN, INT64_MAX, 255, true}).tile(0, 0).lane.empty());
    spans.add(0, INT64_MAX, INT64_MIN, 65535);
    spans.add(0, INT64_MIN, INT64_MAX, 0);
    spans.add(4'000'000'000, 0, 5, 1);
    const SpanPyramid pyramid = spans.pyramid({1, INT64_MIN, INT64_MAX, 0, true});
    CHECK_EQUAL(pyramid.span_count(), 2U);
    for (uint32_t level = 0; level < pyramid.level_count(); ++level) {
        CHECK(!pyramid.tile(level, 0).lane.empty());
        CHECK(!pyramid.tile(level, pyramid.tile_count(level) - 1).lane.empty());
        CHECK(pyramid.tile(level, pyramid.tile_count(level)).lane.empty());
        CHECK(pyramid.tile(level, UINT64_MAX).lane.empty());
    }
    CHECK(pyramid.tile(UINT32_MAX, 0).lane.empty());
    bool refused = false;
    try {
        spans.pyramid({kMaxLanes + 1, 0, 1, 0, true});
    } catch (const std::length_error&) {
        refused = true;
    }
    CHECK(refused);
}

}  // namespace
}  // namespace wavescope
