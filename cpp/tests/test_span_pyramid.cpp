#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "wavewright/span_pyramid.hpp"

namespace wavewright {
namespace {

struct Spans {
    std::vector<uint32_t> track;
    std::vector<int64_t> begin, end;
    std::vector<uint16_t> kind;

    void add(uint32_t of_track, int64_t from, int64_t to, uint16_t of_kind) {
        track.push_back(of_track);
        begin.push_back(from);
        end.push_back(to);
        kind.push_back(of_kind);
    }
    SpanPyramid pyramid(const SpanRules& rules) const { return SpanPyramid({track, begin, end, kind, {}}, rules); }
};

struct Row {
    uint32_t track;
    int64_t begin, end;
    uint16_t kind;
    uint32_t count;
    int32_t item;
    uint8_t depth;
};

std::vector<Row> rows_of(const SpanTile& tile) {
    std::vector<Row> rows;
    for (size_t i = 0; i < tile.track.size(); ++i)
        rows.push_back({tile.track[i], static_cast<int64_t>(tile.begin[i]), static_cast<int64_t>(tile.end[i]),
                        tile.kind[i], tile.count[i], tile.item[i], tile.depth[i]});
    return rows;
}

// Spans of one track after each other, many to a cell of the higher levels.
Spans many(size_t count, uint32_t tracks, uint16_t kinds, unsigned longest_gap, unsigned seed) {
    std::mt19937 random(seed);
    Spans spans;
    std::vector<int64_t> now(tracks);
    for (size_t i = 0; i < count; ++i) {
        const auto track = static_cast<uint32_t>(random() % tracks);
        now[track] += random() % longest_gap == 0 ? random() % 5000 : 0;
        const int64_t length = random() % 100 == 0 ? random() % 3000 : random() % 9;
        spans.add(track, now[track], now[track] + length, static_cast<uint16_t>(random() % kinds));
        now[track] += length;
    }
    return spans;
}

bool operator==(const Row& a, const Row& b) {
    const auto key = [](const Row& row) {
        return std::tuple{row.track, row.begin, row.end, row.kind, row.count, row.item, row.depth};
    };
    return key(a) == key(b);
}

// The kind that takes most time among spans, then the one with more of them, then the higher number.
uint16_t strongest(const Spans& spans, const std::vector<size_t>& rows) {
    std::map<uint16_t, std::pair<int64_t, int64_t>> kinds;
    for (const size_t row : rows) {
        kinds[spans.kind[row]].first += spans.end[row] - spans.begin[row];
        ++kinds[spans.kind[row]].second;
    }
    return std::max_element(kinds.begin(), kinds.end(),
                            [](const auto& a, const auto& b) {
                                return a.second != b.second ? a.second < b.second : a.first < b.first;
                            })
        ->first;
}

// What a tile has to show, straight from the definition; spans do not overlap.
std::vector<Row> expected_rows(const Spans& spans, const SpanRules& rules, int64_t width, int64_t number) {
    const int64_t from = rules.begin + number * width * kTileCells, to = from + width * kTileCells;
    std::vector<Row> shown;
    for (uint32_t track = 0; track < rules.track_count; ++track) {
        std::map<int64_t, std::vector<size_t>> cells;
        std::vector<Row> groups, rows;
        for (size_t i = 0; i < spans.track.size(); ++i) {
            const int64_t begin = spans.begin[i], end = spans.end[i];
            if (spans.track[i] != track || begin >= to) continue;
            if (end - begin >= width && end > from)
                rows.push_back({track, begin, end, spans.kind[i], 1, static_cast<int32_t>(i), 0});
            if (end - begin < width && begin >= from) cells[(begin - rules.begin) / width].push_back(i);
        }
        for (const auto& [cell, members] : cells) {
            Row row{track, INT64_MAX, INT64_MIN, strongest(spans, members), static_cast<uint32_t>(members.size()),
                    -1,    0};
            for (const size_t i : members) {
                row.begin = std::min(row.begin, spans.begin[i]);
                row.end = std::max(row.end, spans.end[i]);
                if (members.size() == 1) row.item = static_cast<int32_t>(i);
            }
            if (!groups.empty() && groups.back().kind == row.kind && row.begin - groups.back().end < width) {
                groups.back().end = row.end;
                groups.back().count += row.count;
                groups.back().item = -1;
            } else {
                groups.push_back(row);
            }
        }
        rows.insert(rows.end(), groups.begin(), groups.end());
        std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.begin < b.begin; });
        shown.insert(shown.end(), rows.begin(), rows.end());
    }
    return shown;
}

void check_levels(const Spans& spans, const SpanRules& rules) {
    const SpanPyramid pyramid = spans.pyramid(rules);
    CHECK_EQUAL(pyramid.span_count(), spans.track.size());
    for (uint32_t level = 1; level < pyramid.level_count(); ++level) {
        const int64_t width = int64_t{1} << (rules.cell_bits + level);
        const uint64_t step = std::max<uint64_t>(1, pyramid.tile_count(level) / 8);
        for (uint64_t number = 0; number < pyramid.tile_count(level); number += step)
            CHECK(rows_of(pyramid.tile(level, number)) ==
                  expected_rows(spans, rules, width, static_cast<int64_t>(number)));
    }
}

// Whether spans overlap or not: each is counted once per level, and what is at least a cell long is itself everywhere.
void check_counts(const Spans& spans, const SpanRules& rules) {
    const SpanPyramid pyramid = spans.pyramid(rules);
    for (uint32_t level = 0; level < pyramid.level_count(); ++level) {
        const int64_t width = int64_t{1} << (rules.cell_bits + level);
        uint64_t counted = 0;
        std::map<int32_t, uint64_t> tiles_of;
        for (uint64_t number = 0; number < pyramid.tile_count(level); ++number) {
            const int64_t from = rules.begin + static_cast<int64_t>(number) * width * kTileCells;
            for (const Row& row : rows_of(pyramid.tile(level, number))) {
                if (row.begin >= from) counted += row.count;
                CHECK_EQUAL(row.count == 1, row.item >= 0);
                if (row.item < 0) continue;
                const auto i = static_cast<size_t>(row.item);
                CHECK(row.begin == spans.begin[i] && row.end == spans.end[i] && row.kind == spans.kind[i]);
                ++tiles_of[row.item];
            }
        }
        CHECK_EQUAL(counted, spans.track.size());
        for (size_t i = 0; i < spans.track.size(); ++i) {
            if (spans.end[i] - spans.begin[i] < width) continue;
            const int64_t tile = width * kTileCells;
            const int64_t touched = (spans.end[i] - 1 - rules.begin) / tile - (spans.begin[i] - rules.begin) / tile + 1;
            CHECK_EQUAL(tiles_of[static_cast<int32_t>(i)], static_cast<uint64_t>(touched));
        }
    }
}

TEST(span_pyramid, every_level_shows_what_its_definition_says) {
    const Spans spans = many(30'000, 3, 13, 50, 1);
    const int64_t last = *std::max_element(spans.end.begin(), spans.end.end());
    check_levels(spans, {3, 0, last, 0, true});
    check_levels(spans, {3, -77, last + 5, 2, true});
}

TEST(span_pyramid, times_beyond_32_bits) {
    Spans spans = many(20'000, 2, 4, 20, 2);
    for (size_t i = 0; i < spans.track.size(); ++i)
        for (int64_t* time : {&spans.begin[i], &spans.end[i]}) *time = *time * 100'000 - (int64_t{1} << 40);
    const int64_t last = *std::max_element(spans.end.begin(), spans.end.end());
    check_levels(spans, {2, -(int64_t{1} << 40), last, 22, true});
}

TEST(span_pyramid, memory_is_bounded_by_the_spans) {
    for (const int kinds : {1, 2, 15, 30'000}) {
        const Spans spans = many(200'000, 2, static_cast<uint16_t>(kinds), 1000, 3);
        const SpanPyramid pyramid =
            spans.pyramid({2, 0, *std::max_element(spans.end.begin(), spans.end.end()), 0, true});
        CHECK(pyramid.byte_count() < 3 * 14 * spans.track.size());
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

TEST(span_pyramid, a_long_span_is_itself_in_every_tile) {
    Spans spans;
    spans.add(0, 10, 90'000, 3);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 100'000, 0, true});
    for (uint32_t level = 0; level < pyramid.level_count(); ++level) {
        for (uint64_t number = 0; number < pyramid.tile_count(level); ++number) {
            const auto from = static_cast<int64_t>(number) * (int64_t{kTileCells} << level);
            const std::vector<Row> whole{{0, 10, 90'000, 3, 1, 0, 0}};
            CHECK(rows_of(pyramid.tile(level, number)) == (from < 90'000 ? whole : std::vector<Row>{}));
        }
    }
}

TEST(span_pyramid, short_spans_beside_a_long_one_do_not_count_as_it) {
    Spans spans;
    spans.add(0, 0, 4'000, 1);
    for (int64_t i = 0; i < 3; ++i) spans.add(0, 4'000 + i, 4'001 + i, 2);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 8'000, 0, true});
    const std::vector<Row> expected{{0, 0, 4'000, 1, 1, 0, 0}, {0, 4'000, 4'003, 2, 3, -1, 0}};
    CHECK(rows_of(pyramid.tile(3, 0)) == expected);
}

TEST(span_pyramid, what_began_last_lies_on_top) {
    Spans spans;
    spans.add(0, 0, 64, 1);
    spans.add(0, 16, 32, 2);
    for (int64_t i = 0; i < 6; ++i) spans.add(0, 34 + 4 * i, 35 + 4 * i, 3);
    spans.add(0, 45, 60, 4);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 8'000, 0, true});
    const std::vector<Row> expected{{0, 0, 64, 1, 1, 0, 0},
                                    {0, 16, 32, 2, 1, 1, 1},
                                    {0, 34, 47, 3, 4, -1, 1},
                                    {0, 45, 60, 4, 1, 8, 1},
                                    {0, 50, 55, 3, 2, -1, 2}};
    CHECK(rows_of(pyramid.tile(3, 0)) == expected);
}

TEST(span_pyramid, overlapping_spans_are_counted_once) {
    std::mt19937 random(4);
    Spans spans;
    for (size_t i = 0; i < 6'000; ++i) {
        const int64_t begin = random() % 60'000;
        const int64_t length = random() % 50 == 0 ? random() % 5'000 : random() % 20;
        spans.add(static_cast<uint32_t>(random() % 2), begin, std::min<int64_t>(begin + length, 60'000),
                  static_cast<uint16_t>(random() % 40));
    }
    check_counts(spans, {2, 0, 60'000, 0, true});
    const Spans apart = many(20'000, 2, 60, 30, 5);
    check_counts(apart, {2, 0, *std::max_element(apart.end.begin(), apart.end.end()), 0, true});
}

TEST(span_pyramid, a_tile_is_bounded_however_many_spans_overlap) {
    Spans spans;
    for (int64_t i = 0; i < 20'000; ++i) spans.add(0, i / 8, 50'000 - i / 8, static_cast<uint16_t>(i % 7));
    spans.add(0, 20'000, 30'000, 9);
    const SpanPyramid pyramid = spans.pyramid({1, 0, 60'000, 0, true});
    for (uint32_t level = 1; level < pyramid.level_count(); ++level)
        for (uint64_t number = 0; number < pyramid.tile_count(level); ++number)
            CHECK(pyramid.tile(level, number).track.size() <= size_t{5} * kTileCells);
    const std::vector<Row> top = rows_of(pyramid.tile(pyramid.level_count() - 1, 0));
    CHECK(top.front().begin < 64);
    CHECK(top.back() == (Row{0, 20'000, 30'000, 9, 1, 20'000, 3}));
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

TEST(span_pyramid, sub_tracks) {
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
    CHECK(spans.pyramid({0, 0, 0, 0, true}).tile(0, 0).track.empty());
    CHECK(spans.pyramid({5, INT64_MIN, INT64_MAX, 255, true}).tile(0, 0).track.empty());
    spans.add(0, INT64_MAX, INT64_MIN, 65535);
    spans.add(0, INT64_MIN, INT64_MAX, 0);
    spans.add(4'000'000'000, 0, 5, 1);
    const SpanPyramid pyramid = spans.pyramid({1, INT64_MIN, INT64_MAX, 0, true});
    CHECK_EQUAL(pyramid.span_count(), 2U);
    for (uint32_t level = 0; level < pyramid.level_count(); ++level) {
        CHECK(!pyramid.tile(level, 0).track.empty());
        CHECK(!pyramid.tile(level, pyramid.tile_count(level) - 1).track.empty());
        CHECK(pyramid.tile(level, pyramid.tile_count(level)).track.empty());
        CHECK(pyramid.tile(level, UINT64_MAX).track.empty());
    }
    CHECK(pyramid.tile(UINT32_MAX, 0).track.empty());
    bool refused = false;
    try {
        spans.pyramid({kMaxTracks + 1, 0, 1, 0, true});
    } catch (const std::length_error&) {
        refused = true;
    }
    CHECK(refused);
}

}  // namespace
}  // namespace wavewright
