// Caches that drop what was not used for longest: in sets of single lines, or as a whole with blocks of lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace wavewright::caches {

class LineCache {
  public:
    // No sets: everything stays, or as many lines as `capacity` says.
    LineCache(uint32_t sets, uint32_t ways, uint64_t capacity)
        : sets_(sets),
          ways_(ways),
          capacity_(capacity),
          is_power_((sets & (sets - 1)) == 0),
          tags_(size_t{sets} * ways, kEmpty) {}

    // Whether it was there; now it is.
    bool touch(int64_t line, uint32_t count) { return sets_ != 0 ? touch_set(line) : touch_block(line, count); }

    uint64_t evictions() const { return evictions_; }

  private:
    static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::min();

    static uint64_t mixed(uint64_t number) {  // splitmix64
        number += 0x9E3779B97F4A7C15ULL;
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
        number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
        return number ^ (number >> 31);
    }

    // The lines of a set stand in the order in which they were used, the last one first.
    bool touch_set(int64_t line) {
        const uint64_t hash = mixed(static_cast<uint64_t>(line));
        int64_t* const set = tags_.data() + (is_power_ ? hash & (sets_ - 1) : hash % sets_) * ways_;
        size_t at = 0;
        while (at < ways_ && set[at] != line) ++at;
        const bool is_there = at < ways_;
        if (!is_there && set[--at] != kEmpty) ++evictions_;
        std::memmove(set + 1, set, at * sizeof *set);
        *set = line;
        return is_there;
    }

    bool touch_block(int64_t line, uint32_t count) {
        if (places_.size() < 2 * (used_ + 1)) grow();
        size_t place = place_of(line);
        if (places_[place] != kNone) {
            if (capacity_ != 0 && places_[place] != newest_) {
                unlink(places_[place]);
                link(places_[place]);
            }
            return true;
        }
        uint32_t number = unused_;
        if (number == kNone) {
            number = static_cast<uint32_t>(blocks_.size());
            blocks_.emplace_back();
        } else {
            unused_ = blocks_[number].older;
        }
        blocks_[number].line = line;
        blocks_[number].count = count;
        places_[place] = number;
        link(number);
        ++used_;
        lines_ += count;
        while (capacity_ != 0 && lines_ > capacity_) drop_oldest();
        return false;
    }

    // Where a line stands among the places, or could.
    size_t place_of(int64_t line) const {
        size_t place = mixed(static_cast<uint64_t>(line)) & (places_.size() - 1);
        while (places_[place] != kNone && blocks_[places_[place]].line != line)
            place = (place + 1) & (places_.size() - 1);
        return place;
    }

    void grow() {
        places_.assign(std::max<size_t>(1024, 2 * places_.size()), kNone);
        for (uint32_t each = newest_; each != kNone; each = blocks_[each].older)
            places_[place_of(blocks_[each].line)] = each;
    }

    void link(uint32_t number) {
        blocks_[number].older = newest_;
        blocks_[number].newer = kNone;
        (newest_ != kNone ? blocks_[newest_].newer : oldest_) = number;
        newest_ = number;
    }

    void unlink(uint32_t number) {
        const Block& block = blocks_[number];
        (block.older != kNone ? blocks_[block.older].newer : oldest_) = block.newer;
        (block.newer != kNone ? blocks_[block.newer].older : newest_) = block.older;
    }

    void drop_oldest() {
        const uint32_t number = oldest_;
        Block& block = blocks_[number];
        lines_ -= block.count;
        evictions_ += block.count;
        --used_;
        unlink(number);
        size_t hole = place_of(block.line);
        // What stood behind it, because its own place was taken, moves up.
        for (size_t at = (hole + 1) & (places_.size() - 1); places_[at] != kNone;
             at = (at + 1) & (places_.size() - 1)) {
            const size_t home = mixed(static_cast<uint64_t>(blocks_[places_[at]].line)) & (places_.size() - 1);
            if (((at - home) & (places_.size() - 1)) < ((at - hole) & (places_.size() - 1))) continue;
            places_[hole] = places_[at];
            hole = at;
        }
        places_[hole] = kNone;
        block.older = unused_;
        unused_ = number;
    }

    static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

    struct Block {
        int64_t line = 0;
        uint32_t count = 0, older = kNone, newer = kNone;
    };

    uint32_t sets_, ways_;
    uint64_t capacity_, lines_ = 0, evictions_ = 0;
    bool is_power_;
    std::vector<int64_t> tags_;
    std::vector<Block> blocks_;
    std::vector<uint32_t> places_;  // numbers of blocks, by a hash of their lines
    uint32_t newest_ = kNone, oldest_ = kNone, unused_ = kNone;
    size_t used_ = 0;
};

}  // namespace wavewright::caches
