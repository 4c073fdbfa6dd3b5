#include "wavewright/span_pyramid.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "spans/span_track.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr int64_t kFarthest = int64_t{1} << 60;
constexpr uint8_t kMaxCellBits = 32;
constexpr uint32_t kTileBits = 10;
static_assert(kTileCells == 1U << kTileBits);
constexpr size_t kSpansPerWorker = 100'000;

}  // namespace

class SpanPyramid::Levels {
  public:
    virtual ~Levels() = default;
    virtual uint64_t span_count() const = 0;
    virtual uint32_t track_count() const = 0;
    virtual size_t byte_count() const = 0;
    virtual void append(uint32_t level, uint32_t shift, uint64_t from, uint64_t to, SpanTile& tile) const = 0;
};

namespace {

// With 32 bits for times where they suffice: that halves the memory, and with it the time to build.
template <class Time>
class TimedLevels : public SpanPyramid::Levels {
  public:
    // The begin and the end of the rules are bounded.
    TimedLevels(const SpanSource& spans, const SpanRules& rules, uint32_t level_count)
        : origin_(rules.begin), tracks_(rules.track_count) {
        sort_into_tracks(spans, rules.end);
        const size_t shares = std::min(tracks_.size(), static_cast<size_t>(span_count() / kSpansPerWorker));
        in_parallel(tracks_.size(), workers_for(shares), [&](size_t track, unsigned) {
            if (tracks_[track].count != 0) tracks_[track].build(spans_, rules, level_count, shelf_);
        });
    }

    uint64_t span_count() const override { return spans_.begin.size(); }
    uint32_t track_count() const override { return static_cast<uint32_t>(tracks_.size()); }

    size_t byte_count() const override {
        size_t bytes =
            spans_.begin.size_bytes() + spans_.end.size_bytes() + spans_.kind.size_bytes() + spans_.item.size_bytes();
        for (const SpanTrack<Time>& track : tracks_) bytes += track.byte_count();
        return bytes;
    }

    void append(uint32_t level, uint32_t shift, uint64_t from, uint64_t to, SpanTile& tile) const override {
        SpanGroups<Time> groups(shift, from);
        for (uint32_t number = 0; number < tracks_.size(); ++number) {
            const SpanTrack<Time>& track = tracks_[number];
            if (track.count == 0) continue;
            const auto show = [&](const SpanPiece<Time>& piece) { append_piece(number, piece, tile); };
            if (level == 0) {
                track.each_span(spans_, from, to, show);
            } else {
                track.add_to(spans_, level, from, to, groups);
                groups.finish(show);
            }
        }
    }

  private:
    void sort_into_tracks(const SpanSource& source, int64_t end) {
        StopCheck check;
        source([&](size_t, uint32_t track, int64_t, int64_t, uint16_t) {
            check.step();
            if (track < tracks_.size()) ++tracks_[track].count;
        });
        std::vector<size_t> next(tracks_.size());
        size_t total = 0;
        for (size_t track = 0; track < tracks_.size(); ++track) {
            next[track] = tracks_[track].first = total;
            total += tracks_[track].count;
        }
        Time* begins = spans_.begin.extend(total);
        Time* ends = spans_.end.extend(total);
        uint16_t* kinds = spans_.kind.extend(total);
        int32_t* items = spans_.item.extend(total);
        source([&](size_t row, uint32_t track, int64_t from, int64_t to, uint16_t kind) {
            check.step();
            if (track >= tracks_.size()) return;
            const size_t at = next[track]++;
            const int64_t begin = std::clamp(from, origin_, end);
            begins[at] = static_cast<Time>(begin - origin_);
            ends[at] = static_cast<Time>(std::clamp(to, begin, end) - origin_);
            kinds[at] = kind;
            items[at] = static_cast<int32_t>(row);
        });
    }

    void append_piece(uint32_t track, const SpanPiece<Time>& piece, SpanTile& tile) const {
        tile.track.push_back(track);
        tile.begin.push_back(static_cast<double>(origin_ + static_cast<int64_t>(piece.begin)));
        tile.end.push_back(static_cast<double>(origin_ + static_cast<int64_t>(piece.end)));
        tile.kind.push_back(piece.kind);
        tile.count.push_back(piece.count);
        tile.item.push_back(piece.count == 1 ? piece.item : -1);
        tile.depth.push_back(piece.depth);
    }

    int64_t origin_;
    TrackSpans<Time> spans_;
    Shelf shelf_;
    std::vector<SpanTrack<Time>> tracks_;
};

}  // namespace

SpanPyramid::SpanPyramid(const SpanColumns& spans, const SpanRules& rules)
    : SpanPyramid(
          [&](const SpanVisit& visit) {
              for (size_t row = 0; row < spans.track.size(); ++row)
                  visit(spans.item.empty() ? row : static_cast<size_t>(spans.item[row]), spans.track[row],
                        spans.begin[row], spans.end[row], spans.kind[row]);
          },
          rules) {
    if (spans.track.size() > static_cast<size_t>(INT32_MAX)) throw std::length_error("too many spans");
}

SpanPyramid::SpanPyramid(const SpanSource& spans, const SpanRules& given)
    : begin_(std::clamp(given.begin, -kFarthest, kFarthest)),
      end_(std::clamp(given.end, begin_, kFarthest)),
      cell_bits_(std::min(given.cell_bits, kMaxCellBits)) {
    if (given.track_count > kMaxTracks) throw std::length_error("too many tracks");
    while (tile_count(level_count_ - 1) > 1) ++level_count_;
    const SpanRules rules{given.track_count, begin_, end_, cell_bits_, given.parts_overlaps};
    if (end_ - begin_ < UINT32_MAX) {
        levels_ = std::make_unique<TimedLevels<uint32_t>>(spans, rules, level_count_);
    } else {
        levels_ = std::make_unique<TimedLevels<uint64_t>>(spans, rules, level_count_);
    }
}

SpanPyramid::~SpanPyramid() = default;

uint64_t SpanPyramid::span_count() const {
    return levels_->span_count();
}

uint32_t SpanPyramid::track_count() const {
    return levels_->track_count();
}

size_t SpanPyramid::byte_count() const {
    return levels_->byte_count();
}

uint64_t SpanPyramid::tile_count(uint32_t level) const {
    const uint32_t shift = cell_bits_ + kTileBits + level;
    return shift < 63 ? (static_cast<uint64_t>(end_ - begin_) >> shift) + 1 : 1;
}

SpanTile SpanPyramid::tile(uint32_t level, uint64_t number) const {
    SpanTile tile;
    if (level >= level_count_ || number >= tile_count(level)) return tile;
    const uint32_t shift = cell_bits_ + level;
    levels_->append(level, shift, number << (shift + kTileBits), (number + 1) << (shift + kTileBits), tile);
    return tile;
}

}  // namespace wavewright
