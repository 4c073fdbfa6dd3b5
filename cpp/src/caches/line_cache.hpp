// Caches that drop the line that was not used for longest (LRU). Two forms behind one `touch`:
// - with sets: `ways` single lines each, the set by a hash of the line, because how hardware chooses it is not known;
// - without sets: one pool of blocks of neighbouring lines, which come and leave as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace wavewright::caches {

class LineCache {
  public:
    // `capacity` is in lines and counts where `sets` is 0; there 0 = nothing is ever dropped.
    LineCache(uint32_t sets, uint32_t ways, uint64_t capacity)
        : sets_(sets),
          ways_(ways),
          capacity_(capacity),
          has_power_of_two_sets_((sets & (sets - 1)) == 0),
          tags_(size_t{sets} * ways, kEmpty) {}

    // Looks up `count` lines from `line` on (1 where there are sets) and keeps them. Returns whether they were there.
    bool touch(int64_t line, uint32_t count) { return sets_ != 0 ? touch_set(line) : touch_block(line, count); }

    uint64_t evictions() const { return evictions_; }  // lines dropped

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
        int64_t* const set = tags_.data() + (has_power_of_two_sets_ ? hash & (sets_ - 1) : hash % sets_) * ways_;
        size_t way = 0;
        while (way < ways_ && set[way] != line) ++way;
        const bool is_hit = way < ways_;
        if (!is_hit) {
            way = ways_ - 1;  // the last way gives up its line
            if (set[way] != kEmpty) ++evictions_;
        }
        std::memmove(set + 1, set, way * sizeof *set);
        *set = line;
        return is_hit;
    }

    // Blocks stand in a list by their last use, from `newest_` to `oldest_`, and in a hash table by their first line.
    bool touch_block(int64_t line, uint32_t count) {
        if (slots_.size() < 2 * (used_ + 1)) grow();  // at most half full, so that searches stay short
        const size_t slot = slot_of(line);
        if (slots_[slot] != kNone) {
            // Without a capacity nothing asks for the order.
            if (capacity_ != 0 && slots_[slot] != newest_) {
                unlink(slots_[slot]);
                link(slots_[slot]);
            }
            return true;
        }
        const uint32_t number = free_block();
        blocks_[number].line = line;
        blocks_[number].count = count;
        slots_[slot] = number;
        link(number);
        ++used_;
        lines_ += count;
        while (capacity_ != 0 && lines_ > capacity_) drop_oldest();
        return false;
    }

    // A place in `blocks_`: that of a block that was dropped, or a new one.
    uint32_t free_block() {
        if (unused_ == kNone) {
            blocks_.emplace_back();
            return static_cast<uint32_t>(blocks_.size() - 1);
        }
        return std::exchange(unused_, blocks_[unused_].older);
    }

    // ---- The hash table: open addressing with linear probing; its size is a power of two.

    size_t slot_mask() const { return slots_.size() - 1; }
    size_t first_slot_of(int64_t line) const { return mixed(static_cast<uint64_t>(line)) & slot_mask(); }

    // The slot that has a line, or the empty one where it belongs.
    size_t slot_of(int64_t line) const {
        size_t slot = first_slot_of(line);
        while (slots_[slot] != kNone && blocks_[slots_[slot]].line != line) slot = (slot + 1) & slot_mask();
        return slot;
    }

    void grow() {
        constexpr size_t kFirstSlots = 1024;
        slots_.assign(std::max<size_t>(kFirstSlots, 2 * slots_.size()), kNone);
        for (uint32_t number = newest_; number != kNone; number = blocks_[number].older)
            slots_[slot_of(blocks_[number].line)] = number;
    }

    // Empties a slot. Lines behind it that found their first slot taken move up: a search ends at an empty slot.
    void empty_slot(size_t hole) {
        for (size_t slot = (hole + 1) & slot_mask(); slots_[slot] != kNone; slot = (slot + 1) & slot_mask()) {
            const size_t first = first_slot_of(blocks_[slots_[slot]].line);
            const size_t steps_from_first = (slot - first) & slot_mask();
            const size_t steps_from_hole = (slot - hole) & slot_mask();
            if (steps_from_first < steps_from_hole) continue;  // its first slot lies behind the hole
            slots_[hole] = slots_[slot];
            hole = slot;
        }
        slots_[hole] = kNone;
    }

    // ---- The list.

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
        empty_slot(slot_of(block.line));
        block.older = unused_;
        unused_ = number;
    }

    static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

    struct Block {
        int64_t line = 0;  // the first one
        uint32_t count = 0, older = kNone, newer = kNone;
    };

    uint32_t sets_, ways_;
    uint64_t capacity_;                   // in lines
    uint64_t lines_ = 0, evictions_ = 0;  // lines of the pool; lines dropped
    bool has_power_of_two_sets_;          // then a mask does instead of a division
    std::vector<int64_t> tags_;           // lines, set by set
    std::vector<Block> blocks_;
    std::vector<uint32_t> slots_;  // numbers of blocks
    uint32_t newest_ = kNone, oldest_ = kNone;
    uint32_t unused_ = kNone;  // first of the dropped blocks, which are chained by `older`
    size_t used_ = 0;          // blocks of the pool
};

}  // namespace wavewright::caches
