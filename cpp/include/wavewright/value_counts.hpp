// How often each value of a group occurs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wavewright {

// The smallest value of the bucket of a value that is not negative: values that agree in their first nine binary digits
// are one bucket.
inline int64_t bucket_floor(int64_t value) {
    constexpr int kept_bits = 9;
    const int dropped = 64 - kept_bits - std::countl_zero(static_cast<uint64_t>(value));
    return dropped > 0 ? value >> dropped << dropped : value;
}

// Counts per distinct value while there are at most `most_exact` of them, and else per bucket: so it depends only on
// the values, not on their order. Values are not negative.
class ValueCounts {
  public:
    static constexpr size_t most_exact = 4096;

    void add(int64_t value, int64_t count = 1) {
        if (count <= 0) return;
        count_in(is_exact_ ? value : bucket_floor(value), count);
        if (is_exact_ && used_ > most_exact) into_buckets();
    }
    void into_buckets();
    bool is_exact() const { return is_exact_; }
    // (value, or smallest of the bucket; count) in ascending order.
    std::vector<std::pair<int64_t, int64_t>> sorted() const;

  private:
    struct Slot {
        int64_t value = 0;
        int64_t count = 0;  // 0 = free
    };

    void count_in(int64_t value, int64_t count) {
        if (4 * used_ >= 3 * slots_.size()) grow();
        Slot& slot = slots_[place_of(value)];
        used_ += slot.count == 0;
        slot.value = value;
        slot.count += count;
    }
    size_t place_of(int64_t value) const;
    void grow();

    std::vector<Slot> slots_;  // open addressing; a power of two
    size_t used_ = 0;
    bool is_exact_ = true;
};

}  // namespace wavewright
