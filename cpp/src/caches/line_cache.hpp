// Caches that drop what was not used for longest: in sets of single lines, or as a whole with blocks of lines.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <list>
#include <unordered_map>
#include <utility>
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
        const auto found = place_.find(line);
        if (found != place_.end()) {
            blocks_.splice(blocks_.begin(), blocks_, found->second);
            return true;
        }
        blocks_.emplace_front(line, count);
        place_.emplace(line, blocks_.begin());
        lines_ += count;
        while (capacity_ != 0 && lines_ > capacity_) {
            lines_ -= blocks_.back().second;
            evictions_ += blocks_.back().second;
            place_.erase(blocks_.back().first);
            blocks_.pop_back();
        }
        return false;
    }

    uint32_t sets_, ways_;
    uint64_t capacity_, lines_ = 0, evictions_ = 0;
    bool is_power_;
    std::vector<int64_t> tags_;
    std::list<std::pair<int64_t, uint32_t>> blocks_;
    std::unordered_map<int64_t, std::list<std::pair<int64_t, uint32_t>>::iterator> place_;
};

}  // namespace wavewright::caches
