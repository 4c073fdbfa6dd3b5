#include "wavewright/value_counts.hpp"

#include <algorithm>

namespace wavewright {

size_t ValueCounts::place_of(int64_t value) const {
    const size_t mask = slots_.size() - 1;
    const uint64_t mixed = static_cast<uint64_t>(value) * 0x9E3779B97F4A7C15u;
    size_t place = (mixed ^ mixed >> 32) & mask;
    while (slots_[place].count != 0 && slots_[place].value != value) place = (place + 1) & mask;
    return place;
}

void ValueCounts::grow() {
    std::vector<Slot> before(slots_.empty() ? 16 : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before)
        if (slot.count != 0) slots_[place_of(slot.value)] = slot;
}

void ValueCounts::into_buckets() {
    if (!is_exact_) return;
    is_exact_ = false;
    std::vector<Slot> before;
    before.swap(slots_);
    used_ = 0;
    for (const Slot& slot : before)
        if (slot.count != 0) count_in(bucket_floor(slot.value), slot.count);
}

std::vector<std::pair<int64_t, int64_t>> ValueCounts::sorted() const {
    std::vector<std::pair<int64_t, int64_t>> found;
    found.reserve(used_);
    for (const Slot& slot : slots_)
        if (slot.count != 0) found.emplace_back(slot.value, slot.count);
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace wavewright
