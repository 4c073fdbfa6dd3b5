// The spans of one track, and what is stored of their levels of detail.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shelf.hpp"
#include "spans/cell_summary.hpp"
#include "spans/span_groups.hpp"
#include "wavewright/column.hpp"
#include "wavewright/span_pyramid.hpp"

namespace wavewright {

// Spans of all tracks, track by track. Times count from the start of all tiles.
template <class Time>
struct TrackSpans {
    Column<Time> begin, end;
    Column<uint16_t> kind;
    Column<int32_t> item;
};

template <class Time>
class SpanTrack {
  public:
    using Piece = SpanPiece<Time>;

    size_t first = 0, count = 0;  // in TrackSpans

    // What it stores lies on the shelf: hundreds of tracks with a few megabytes each would fill the memory.
    void build(TrackSpans<Time>& spans, const SpanRules& rules, uint32_t level_count, Shelf& shelf) {
        sort_by_time(spans);
        find_overlaps(spans, rules.parts_overlaps, shelf);
        build_levels(spans, rules.cell_bits, level_count, shelf);
    }

    // Spans that reach into [from, to).
    template <class Visit>
    void each_span(const TrackSpans<Time>& spans, uint64_t from, uint64_t to, Visit&& visit) const {
        size_t i = first_reaching(spans, from);
        for (; i < first + count && spans.begin[i] < to; ++i)
            if (!is_before(spans.begin[i], spans.end[i], from)) visit(piece_of(spans, i));
    }

    // Of a level above 0: what reaches into [from, to).
    void add_to(const TrackSpans<Time>& spans, uint32_t level, uint64_t from, uint64_t to,
                SpanGroups<Time>& groups) const {
        each_piece(spans, level, from, to, [&](const Piece& piece) { groups.add(piece); });
    }

    size_t byte_count() const {
        size_t bytes = sizeof *this + depths_.size_bytes() + reach_.size_bytes();
        for (const Level& level : levels_)
            bytes += level.longs.size_bytes() + level.sums.size_bytes() + level.reach.size_bytes();
        return bytes;
    }

  private:
    // What is stored for a level and those above it, each part in order of begin.
    struct Level {
        uint32_t number = 0;
        std::span<const Piece> longs;  // spans at least a cell long
        std::span<const Piece> sums;   // the others, added up
        std::span<const Time> reach;   // the latest end of `longs` up to here; empty where no spans overlap

        size_t size() const { return longs.size() + sums.size(); }
    };
    struct MadeLevel {
        Column<Piece> longs, sums;
        Column<Time> reach;

        Level at(uint32_t number) const {
            return {number, {longs.data(), longs.size()}, {sums.data(), sums.size()}, {reach.data(), reach.size()}};
        }
    };
    struct Sums {
        Column<Piece>& sums;
        void cell(std::span<const Piece> kinds) { sums.append(kinds); }
    };
    static constexpr size_t kFewPieces = 256;  // as many are summed up when a tile is asked for
    static constexpr size_t kMinShare = 4;  // pieces of the level below that a cell of a stored level holds on average

    // Whether nothing of it lies at `time` or later; a moment takes the time it happens at.
    static bool is_before(uint64_t begin, uint64_t end, uint64_t time) { return std::max(begin + 1, end) <= time; }

    // The first span that may reach beyond `from`.
    size_t first_reaching(const TrackSpans<Time>& spans, uint64_t from) const {
        const auto begins = spans.begin.begin() + first;
        if (!reach_.empty()) {
            const auto reaching = std::upper_bound(reach_.begin(), reach_.end(), from) - reach_.begin();
            const auto beginning = std::lower_bound(begins, begins + count, from) - begins;
            return first + static_cast<size_t>(std::min<std::ptrdiff_t>(reaching, beginning));
        }
        size_t low = first, high = first + count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (is_before(spans.begin[middle], spans.end[middle], from)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    // Of spans that begin together moments come first, then the longest: what is inside another one follows it.
    static bool comes_first(const TrackSpans<Time>& spans, size_t a, size_t b) {
        const bool is_moment = spans.end[a] == spans.begin[a], is_other_moment = spans.end[b] == spans.begin[b];
        return is_moment != is_other_moment ? is_moment : spans.end[a] > spans.end[b];
    }

    void sort_by_time(TrackSpans<Time>& spans) const {
        bool is_sorted = true;
        for (size_t i = first + 1; is_sorted && i < first + count; ++i) {
            const Time begin = spans.begin[i], before = spans.begin[i - 1];
            is_sorted = begin > before || (begin == before && !comes_first(spans, i, i - 1));
        }
        if (is_sorted) return;
        struct Key {
            Time begin;
            uint32_t place;
            bool operator<(const Key& other) const {
                return begin != other.begin ? begin < other.begin : place < other.place;
            }
        };
        Column<Key> order;
        order.extend(count);
        for (size_t i = 0; i < count; ++i) order[i] = {spans.begin[first + i], static_cast<uint32_t>(i)};
        std::sort(order.begin(), order.end());
        for (size_t i = 0, next = 0; i < count; i = next) {
            for (next = i + 1; next < count && order[next].begin == order[i].begin;) ++next;
            Key* const from = order.begin() + i;
            Key* const to = order.begin() + next;
            const auto comes = [&](const Key& a, const Key& b) {
                return comes_first(spans, first + a.place, first + b.place);
            };
            if (!std::is_sorted(from, to, comes)) std::stable_sort(from, to, comes);
        }
        const auto reorder = [&](auto& column) {
            std::remove_reference_t<decltype(column)> sorted;
            sorted.extend(count);
            for (size_t i = 0; i < count; ++i) sorted[i] = column[first + order[i].place];
            std::copy(sorted.begin(), sorted.end(), column.begin() + first);
        };
        reorder(spans.begin);
        reorder(spans.end);
        reorder(spans.kind);
        reorder(spans.item);
    }

    void find_overlaps(const TrackSpans<Time>& spans, bool parts_overlaps, Shelf& shelf) {
        Time reach = 0;
        bool overlaps = false;
        for (size_t i = first; !overlaps && i < first + count; ++i) {
            overlaps = spans.begin[i] < reach;
            reach = std::max(reach, spans.end[i]);
        }
        if (!overlaps) return;
        Column<Time> reaches;
        Column<uint8_t> depths;
        reaches.extend(count);
        depths.extend(count);
        Time last_begin[kMaxDepth + 1] = {}, last_end[kMaxDepth + 1] = {};
        reach = 0;
        for (size_t i = 0; i < count; ++i) {
            const Time begin = spans.begin[first + i], end = spans.end[first + i];
            uint8_t depth = 0;
            while (depth < kMaxDepth && last_end[depth] > begin && (parts_overlaps || last_begin[depth] == begin))
                ++depth;
            last_begin[depth] = begin;
            last_end[depth] = std::max(last_end[depth], end);
            depths[i] = depth;
            reaches[i] = reach = std::max(reach, end);
        }
        reach_ = shelf.put(reaches);
        depths_ = shelf.put(depths);
    }

    Piece piece_of(const TrackSpans<Time>& spans, size_t i) const {
        const Time begin = spans.begin[i], end = spans.end[i];
        const uint8_t depth = depths_.empty() ? uint8_t{0} : depths_[i - first];
        return Piece{begin, end, static_cast<Time>(end - begin), 1, spans.item[i], spans.kind[i], depth};
    }

    // What may reach into [from, to), from the coarsest pieces that serve the level; in order of begin.
    template <class Visit>
    void each_piece(const TrackSpans<Time>& spans, uint32_t level, uint64_t from, uint64_t to, Visit&& visit) const {
        const auto above =
            std::find_if(levels_.begin(), levels_.end(), [&](const Level& one) { return one.number > level; });
        if (above != levels_.begin()) return each_stored(*std::prev(above), from, to, visit);
        each_span(spans, from, to, visit);
    }

    template <class Visit>
    static void each_stored(const Level& level, uint64_t from, uint64_t to, Visit&& visit) {
        const auto begins_before = [&](const Piece& one) { return one.begin < from; };
        auto sum = std::partition_point(level.sums.begin(), level.sums.end(), begins_before);
        auto one = std::partition_point(level.longs.begin(), level.longs.end(), begins_before);
        if (!level.reach.empty()) {
            const auto reaching = std::upper_bound(level.reach.begin(), level.reach.end(), from);
            one = std::min(one, level.longs.begin() + (reaching - level.reach.begin()));
        } else if (one != level.longs.begin()) {
            --one;  // where none overlap, only the last one can reach into it
        }
        for (; one != level.longs.end() && one->begin < to; ++one) {
            for (; sum != level.sums.end() && sum->begin < one->begin; ++sum) visit(*sum);
            if (!is_before(one->begin, one->end, from)) visit(*one);
        }
        for (; sum != level.sums.end() && sum->begin < to; ++sum) visit(*sum);
    }

    // A level is stored where its cells hold many pieces of the level stored before it, so that all of them together
    // take no more than a part of the memory of the spans; what lies between is summed up when a tile is asked for.
    void build_levels(const TrackSpans<Time>& spans, uint8_t cell_bits, uint32_t level_count, Shelf& shelf) {
        size_t stored_count = count;
        MadeLevel made;
        Level last;  // made from what is below it; empty: what is stored
        while (true) {
            const bool is_stored = last.size() == 0;
            const auto each_last = [&](auto&& visit) {
                if (is_stored) return each_piece(spans, last.number, 0, UINT64_MAX, visit);
                each_stored(last, 0, UINT64_MAX, visit);
            };
            const size_t most = is_stored ? stored_count / kMinShare : last.size() / 2;
            if (most < kFewPieces) return;
            const uint32_t found = first_level_with(most, cell_bits, level_count, each_last);
            const uint32_t number = std::max(found, last.number + 1);
            if (number >= level_count) return;
            made = made_level(cell_bits + number, each_last);
            last = made.at(number);
            if (last.size() > stored_count / 2) continue;
            stored_count = last.size();
            levels_.push_back({number, shelf.put(made.longs), shelf.put(made.sums), shelf.put(made.reach)});
            last = {number, {}, {}, {}};
        }
    }

    template <class EachPiece>
    MadeLevel made_level(uint32_t shift, EachPiece&& each) const {
        MadeLevel level;
        Sums sums{level.sums};
        CellSummary<Time, Sums> summary(shift, sums);
        Time reach = 0;
        each([&](const Piece& piece) {
            if (piece.count > 1 || (uint64_t{piece.end} - piece.begin) >> shift == 0) return summary.add(piece);
            level.longs.push_back(piece);
            reach = std::max(reach, piece.end);
            if (!reach_.empty()) level.reach.push_back(reach);
        });
        summary.finish();
        return level;
    }

    // The first level on which pieces begin in at most `most` cells; `level_count` when there is none.
    template <class EachPiece>
    static uint32_t first_level_with(size_t most, uint8_t cell_bits, uint32_t level_count, EachPiece&& each) {
        std::vector<size_t> apart(level_count + 1);  // by the number of bits in which a cell and the one before differ
        uint64_t before = 0;
        each([&](const Piece& piece) {
            const uint64_t cell = uint64_t{piece.begin} >> cell_bits;
            ++apart[std::min(static_cast<size_t>(std::bit_width(cell ^ before)), apart.size() - 1)];
            before = cell;
        });
        size_t cells = 1;
        for (uint32_t level = level_count; level-- > 0;) {
            cells += apart[level + 1];  // on this level and below they are different cells
            if (cells > most) return level + 1;
        }
        return 0;
    }

    std::span<const uint8_t> depths_;  // empty: no spans overlap
    std::span<const Time> reach_;      // likewise: the latest end up to here
    std::vector<Level> levels_;
};

}  // namespace wavewright
