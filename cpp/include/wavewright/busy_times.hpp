// When pipes of SIMDs issue, as sets of times that tell how much of any interval is in them: pictures of any zoom, from
// sums that are made once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/column.hpp"
#include "wavewright/timeline.hpp"

namespace wavewright {

// Disjoint intervals in order of time. 8 bytes for each; large sets lie in files (file_blocks.hpp).
class TimeSet {
  public:
    // Begins may not lie before the end of what was added last.
    void add(int64_t begin, int64_t end);

    bool empty() const { return blocks_.empty(); }
    int64_t begin() const { return blocks_.front().begin; }
    int64_t end() const { return end_; }
    int64_t total() const { return total_; }

    // Cycles of the set before a time.
    int64_t before(int64_t time) const;

    template <class Visit>
    void each(Visit&& visit) const {
        for (size_t block = 0; block < blocks_.size(); ++block)
            for (size_t i = blocks_[block].first; i < behind(block); ++i)
                visit(blocks_[block].begin + pieces_[i].begin,
                      blocks_[block].begin + pieces_[i].begin + pieces_[i].length);
    }

  private:
    static constexpr size_t kBlock = 128;  // intervals that share a place to count from

    struct Block {
        int64_t begin;
        int64_t before;  // cycles of the set before it
        size_t first;    // in pieces_
    };
    struct Piece {
        uint32_t begin;  // from that of its block
        uint32_t length;
    };
    size_t behind(size_t block) const { return block + 1 < blocks_.size() ? blocks_[block + 1].first : pieces_.size(); }

    std::vector<Block> blocks_;
    Column<Piece> pieces_;
    int64_t total_ = 0;
    int64_t end_ = 0;
};

// More issues of a pipe than those of waves: what neighbours report.
struct MoreIssues {
    std::span<const uint32_t> unit;
    std::span<const int64_t> begin, end;
    uint8_t pipe = 0;
};

class BusyTimes {
  public:
    // Issues of every pipe as pipe_use() counts them. Units are those of `waves` and `more`, below `unit_count`. Throws
    // Stopped.
    BusyTimes(const IssuingWaves& waves, const PipeRules& rules, const MoreIssues& more, uint32_t unit_count);

    BusyTimes(const BusyTimes&) = delete;
    BusyTimes& operator=(const BusyTimes&) = delete;

    // The times of a kind of timeline.hpp: a pipe, kResident, kBubble; kPipeBusy + pipe where an instruction occupies
    // the pipe for longer than it issues. Nothing for others.
    const TimeSet& of(uint32_t unit, uint8_t kind) const;

  private:
    std::vector<TimeSet> sets_;
};

}  // namespace wavewright
