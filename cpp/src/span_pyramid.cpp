#include "wavescope/span_pyramid.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "cell_summary.hpp"
#include "parallel.hpp"

namespace wavescope {
namespace {

using Piece = SpanPyramid::Piece;

constexpr int64_t kFarthest = int64_t{1} << 60;
constexpr uint8_t kMaxCellBits = 32;
constexpr size_t kSpansPerWorker = 100'000;
constexpr size_t kFewPieces = 256;  // as many are summed up when a tile is asked for

// Whether nothing of it lies at `time` or later; a moment takes the time it happens at.
bool is_before(int64_t begin, int64_t end, int64_t time) {
    return std::max(begin + 1, end) <= time;
}

// What is stored of a level.
struct Stored {
    std::vector<Piece>& pieces;

    void cell(int64_t, std::span<const Piece> kinds) { pieces.insert(pieces.end(), kinds.begin(), kinds.end()); }
    void run(int64_t, int64_t, const Piece& piece) { pieces.push_back(piece); }
};

// What is shown of a level: the strongest kind of each cell, neighbours joined.
class Groups {
  public:
    Groups(uint32_t lane, SpanTile& tile) : lane_(lane), tile_(tile) {}

    void cell(int64_t number, std::span<const Piece> kinds) {
        Piece shown = kinds.front();
        uint32_t strongest = shown.count;
        for (const Piece& kind : kinds.subspan(1)) {
            const bool is_stronger = std::tie(kind.time, kind.count, kind.kind) > std::tie(shown.time, strongest, shown.kind);
            if (is_stronger) {
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

    void run(int64_t first, int64_t last, const Piece& piece) {
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
        tile_.begin.push_back(static_cast<double>(group_.begin));
        tile_.end.push_back(static_cast<double>(group_.end));
        tile_.kind.push_back(group_.kind);
        tile_.count.push_back(is_one ? 1 : std::max(group_.count, uint32_t{2}));
        tile_.item.push_back(is_one ? group_.item : -1);
        tile_.depth.push_back(0);
    }

  private:
    uint32_t lane_;
    SpanTile& tile_;
    Piece group_{};
    int64_t last_cell_ = 0;
    bool is_open_ = false;
};

// The first level from `level` on whose cells hold `share` pieces on average; pieces follow each other.
uint32_t level_for(const std::vector<int64_t>& first_cells, size_t piece_count, uint32_t level, size_t share) {
    while (level < first_cells.size() && static_cast<size_t>(first_cells[level]) > piece_count / share) ++level;
    return level;
}

}  // namespace

SpanPyramid::SpanPyramid(const SpanColumns& spans, const SpanRules& rules)
    : begin_(std::clamp(rules.begin, -kFarthest, kFarthest)),
      end_(std::clamp(rules.end, begin_, kFarthest)),
      cell_bits_(std::min(rules.cell_bits, kMaxCellBits)),
      parts_overlaps_(rules.parts_overlaps) {
    if (rules.lane_count > kMaxLanes) throw std::length_error("too many lanes");
    if (spans.lane.size() > static_cast<size_t>(INT32_MAX)) throw std::length_error("too many spans");
    lanes_.resize(rules.lane_count);
    sort_into_lanes(spans);
    while (level_count_ < 64 - 10 && tile_count(level_count_ - 1) > 1) ++level_count_;
    std::atomic<size_t> next{0};
    const size_t shares = std::min(lanes_.size(), span_count() / kSpansPerWorker);
    on_workers(workers_for(shares), [&](unsigned) {
        for (size_t lane; (lane = next++) < lanes_.size();) {
            if (lanes_[lane].count == 0) continue;
            sort_by_time(lanes_[lane]);
            find_overlaps(lanes_[lane]);
            build_levels(lanes_[lane]);
        }
    });
}

void SpanPyramid::sort_into_lanes(const SpanColumns& spans) {
    std::vector<size_t> next(lanes_.size());
    for (const uint32_t lane : spans.lane)
        if (lane < lanes_.size()) ++lanes_[lane].count;
    size_t total = 0;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        next[lane] = lanes_[lane].first = total;
        total += lanes_[lane].count;
    }
    int64_t* starts = starts_.extend(total);
    int64_t* ends = ends_.extend(total);
    uint16_t* kinds = kinds_.extend(total);
    int32_t* items = items_.extend(total);
    for (size_t row = 0; row < spans.lane.size(); ++row) {
        const uint32_t lane = spans.lane[row];
        if (lane >= lanes_.size()) continue;
        const size_t at = next[lane]++;
        starts[at] = std::clamp(spans.begin[row], begin_, end_);
        ends[at] = std::clamp(spans.end[row], starts[at], end_);
        kinds[at] = spans.kind[row];
        items[at] = spans.item.empty() ? static_cast<int32_t>(row) : spans.item[row];
    }
}

void SpanPyramid::sort_by_time(const Lane& lane) {
    const auto is_earlier = [this](size_t a, size_t b) {
        return starts_[a] != starts_[b] ? starts_[a] < starts_[b] : ends_[a] > ends_[b];
    };
    bool is_sorted = true;
    for (size_t i = lane.first + 1; is_sorted && i < lane.first + lane.count; ++i) is_sorted = !is_earlier(i, i - 1);
    if (is_sorted) return;
    std::vector<size_t> order(lane.count);
    std::iota(order.begin(), order.end(), lane.first);
    std::stable_sort(order.begin(), order.end(), is_earlier);
    const auto reorder = [&](auto& column) {
        std::vector<typename std::remove_reference_t<decltype(column)>::value_type> sorted(lane.count);
        for (size_t i = 0; i < lane.count; ++i) sorted[i] = column[order[i]];
        std::copy(sorted.begin(), sorted.end(), column.begin() + lane.first);
    };
    reorder(starts_);
    reorder(ends_);
    reorder(kinds_);
    reorder(items_);
}

void SpanPyramid::find_overlaps(Lane& lane) const {
    bool overlaps = false;
    int64_t reach = INT64_MIN;
    for (size_t i = lane.first; !overlaps && i < lane.first + lane.count; ++i) {
        overlaps = starts_[i] < reach;
        reach = std::max(reach, ends_[i]);
    }
    if (!overlaps) return;
    lane.reach.resize(lane.count);
    lane.depths.resize(lane.count);
    int64_t last_begin[kMaxDepth + 1], last_end[kMaxDepth + 1];
    std::fill_n(last_begin, kMaxDepth + 1, INT64_MIN);
    std::fill_n(last_end, kMaxDepth + 1, INT64_MIN);
    reach = INT64_MIN;
    for (size_t i = 0; i < lane.count; ++i) {
        const int64_t begin = starts_[lane.first + i], end = ends_[lane.first + i];
        uint8_t depth = 0;
        while (depth < kMaxDepth && last_end[depth] > begin && (parts_overlaps_ || last_begin[depth] == begin)) ++depth;
        last_begin[depth] = begin;
        last_end[depth] = std::max(last_end[depth], end);
        lane.depths[i] = depth;
        lane.reach[i] = reach = std::max(reach, end);
    }
    lane.levels.push_back({0, without_overlaps(lane)});
}

std::vector<Piece> SpanPyramid::without_overlaps(const Lane& lane) const {
    struct Open {
        size_t span;
        bool was_shown;
    };
    std::vector<Piece> pieces;
    std::vector<Open> open;  // the last one began last; those below may have ended
    uint32_t hidden = 0;     // spans of which nothing could be seen
    int64_t now = INT64_MIN;
    const auto show = [&](Open& one, int64_t until) {
        const uint32_t count = hidden + (one.was_shown ? 0 : 1);
        pieces.push_back({now, until, until - now, count, items_[one.span], kinds_[one.span]});
        one.was_shown = true;
        hidden = 0;
        now = until;
    };
    const auto advance = [&](int64_t until) {
        while (!open.empty()) {
            Open& top = open.back();
            if (now < until && ends_[top.span] > now) show(top, std::min(until, ends_[top.span]));
            if (ends_[top.span] > now) break;
            hidden += top.was_shown ? 0 : 1;
            open.pop_back();
        }
        now = std::max(now, until);
    };
    for (size_t i = lane.first; i < lane.first + lane.count; ++i) {
        advance(starts_[i]);
        open.push_back({i, false});
        if (ends_[i] == starts_[i]) {
            show(open.back(), now);
            open.pop_back();
        }
    }
    advance(kFarthest + 1);
    if (!pieces.empty()) pieces.back().count += hidden;
    return pieces;
}

// Calls visit(piece) for what lies in [from, to), from the coarsest pieces that serve the level.
template <class Visit>
void SpanPyramid::each_piece(const Lane& lane, uint32_t level, int64_t from, int64_t to, Visit&& visit) const {
    const auto above = std::find_if(lane.levels.begin(), lane.levels.end(),
                                    [&](const Level& stored) { return stored.number > level; });
    if (above != lane.levels.begin()) {
        const std::vector<Piece>& pieces = std::prev(above)->pieces;
        auto piece = std::partition_point(pieces.begin(), pieces.end(),
                                          [&](const Piece& one) { return is_before(one.begin, one.end, from); });
        for (; piece != pieces.end() && piece->begin < to; ++piece) visit(*piece);
        return;
    }
    size_t low = lane.first, high = lane.first + lane.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (is_before(starts_[middle], ends_[middle], from)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (size_t i = low; i < lane.first + lane.count && starts_[i] < to; ++i)
        visit(Piece{starts_[i], ends_[i], ends_[i] - starts_[i], 1, items_[i], kinds_[i]});
}

// A level is stored where its cells hold many pieces of the level stored before it, so that all of them together take no
// more than a part of the memory of the spans; what lies between is summed up when a tile is asked for.
void SpanPyramid::build_levels(Lane& lane) const {
    constexpr size_t kShare = 8;
    uint32_t level = 1;
    while (true) {
        std::vector<int64_t> cells(level_count_ + 1);  // cells of each level in which a piece begins
        int64_t last = -1;
        size_t count = 0;
        const uint32_t below = level - 1;
        each_piece(lane, below, INT64_MIN, INT64_MAX, [&](const Piece& piece) {
            const int64_t cell = (piece.begin - begin_) >> cell_bits_;
            ++count;
            if (cell != last) {
                const auto differing = last < 0 ? cells.size() : static_cast<size_t>(std::bit_width(static_cast<uint64_t>(cell ^ last)));
                ++cells[std::min(differing, cells.size() - 1)];
            }
            last = cell;
        });
        // a pair whose cells differ in `n` bits at most is apart on levels below n
        for (size_t i = cells.size() - 1; i-- > 0;) cells[i] += cells[i + 1];
        cells.erase(cells.begin());
        if (count <= kFewPieces) return;
        Level stored{level_for(cells, count, level, kShare), {}};
        for (; stored.number < level_count_; ++stored.number) {
            stored.pieces.clear();
            Stored out{stored.pieces};
            CellSummary<Stored> summary(begin_, cell_bits_ + stored.number, out);
            each_piece(lane, below, INT64_MIN, INT64_MAX, [&](const Piece& piece) { summary.add(piece); });
            summary.finish();
            if (stored.pieces.size() <= count / 2) break;
        }
        if (stored.number >= level_count_) return;
        stored.pieces.shrink_to_fit();
        level = stored.number + 1;
        lane.levels.push_back(std::move(stored));
    }
}

uint64_t SpanPyramid::tile_count(uint32_t level) const {
    const uint32_t shift = cell_bits_ + level;
    if (shift >= 53) return 1;
    return (static_cast<uint64_t>(end_ - begin_) >> shift) / kTileCells + 1;
}

size_t SpanPyramid::byte_count() const {
    size_t bytes = span_count() * (2 * sizeof(int64_t) + sizeof(uint16_t) + sizeof(int32_t));
    for (const Lane& lane : lanes_) {
        bytes += sizeof lane + lane.depths.size() + lane.reach.size() * sizeof(int64_t);
        for (const Level& level : lane.levels) bytes += level.pieces.size() * sizeof(Piece);
    }
    return bytes;
}

SpanTile SpanPyramid::tile(uint32_t level, uint64_t number) const {
    SpanTile tile;
    if (level >= level_count_ || number >= tile_count(level)) return tile;
    const int64_t width = int64_t{kTileCells} << (cell_bits_ + level);
    const int64_t from = begin_ + static_cast<int64_t>(number) * width, to = from + width;
    for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
        if (lanes_[lane].count == 0) continue;
        if (level == 0) {
            append_spans(lanes_[lane], lane, from, to, tile);
        } else {
            append_groups(lanes_[lane], lane, level, from, to, tile);
        }
    }
    return tile;
}

void SpanPyramid::append_spans(const Lane& lane, uint32_t number, int64_t from, int64_t to, SpanTile& tile) const {
    const auto add = [&](size_t i) {
        tile.lane.push_back(number);
        tile.begin.push_back(static_cast<double>(starts_[i]));
        tile.end.push_back(static_cast<double>(ends_[i]));
        tile.kind.push_back(kinds_[i]);
        tile.count.push_back(1);
        tile.item.push_back(items_[i]);
        tile.depth.push_back(lane.depths.empty() ? 0 : lane.depths[i - lane.first]);
    };
    size_t low = lane.first;
    if (lane.reach.empty()) {
        size_t high = lane.first + lane.count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (is_before(starts_[middle], ends_[middle], from)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
    } else {
        // moments at `from` have an end that does not reach beyond it, but nothing before them does either
        const auto first_start = std::lower_bound(starts_.begin() + lane.first, starts_.begin() + lane.first + lane.count, from);
        const auto first_reach = std::upper_bound(lane.reach.begin(), lane.reach.end(), from);
        low += std::min(static_cast<size_t>(first_start - (starts_.begin() + lane.first)),
                        static_cast<size_t>(first_reach - lane.reach.begin()));
    }
    for (size_t i = low; i < lane.first + lane.count && starts_[i] < to; ++i)
        if (!is_before(starts_[i], ends_[i], from)) add(i);
}

void SpanPyramid::append_groups(const Lane& lane, uint32_t number, uint32_t level, int64_t from, int64_t to,
                                SpanTile& tile) const {
    Groups groups(number, tile);
    CellSummary<Groups> summary(begin_, cell_bits_ + level, groups);
    each_piece(lane, level, from, to, [&](const Piece& piece) {
        Piece inside = piece;
        if (piece.begin < from || piece.end > to) {
            inside.begin = std::max(piece.begin, from);
            inside.end = std::min(piece.end, to);
            inside.time = inside.end - inside.begin;
            if (piece.begin < from) inside.count = 0;
        }
        summary.add(inside);
    });
    summary.finish();
    groups.finish();
}

}  // namespace wavescope
