// Numbers 64-bit keys in the order in which they are first seen; open addressing, so that millions of look-ups are
// cheap.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace wavewright {

class DenseIndex {
  public:
    // (number of the key, whether it is new).
    std::pair<size_t, bool> find_or_add(uint64_t key) {
        if ((count_ + 1) * 2 > slots_.size()) grow();
        Slot& slot = slots_[place(slots_, key)];
        if (slot.number != 0) return {slot.number - 1, false};
        slot = {key, static_cast<uint32_t>(++count_)};
        return {count_ - 1, true};
    }

  private:
    struct Slot {
        uint64_t key = 0;
        uint32_t number = 0;  // from 1; 0 = free
    };

    static size_t place(const std::vector<Slot>& slots, uint64_t key) {
        const size_t mask = slots.size() - 1;
        uint64_t hash = key * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
        size_t at = static_cast<size_t>(hash) & mask;
        while (slots[at].number != 0 && slots[at].key != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> larger(slots_.empty() ? 64 : slots_.size() * 2);
        for (const Slot& slot : slots_)
            if (slot.number != 0) larger[place(larger, slot.key)] = slot;
        slots_ = std::move(larger);
    }

    std::vector<Slot> slots_;
    size_t count_ = 0;
};

}  // namespace wavewright
