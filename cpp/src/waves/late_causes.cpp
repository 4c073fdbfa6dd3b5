#include "wavewright/late_causes.hpp"

#include <algorithm>
#include <vector>

#include "base/dense_index.hpp"

namespace wavewright {
namespace {

struct Sums {
    int64_t last = 0;
    int64_t other = 0;
};

// Cycles per row since the last barrier.
class Way {
  public:
    explicit Way(size_t row_count) : spent_(row_count), was_here_(row_count) {}

    void spend(int32_t row, int64_t cycles) {
        const auto at = static_cast<size_t>(row);
        if (!was_here_[at]) {
            was_here_[at] = true;
            rows_.push_back(row);
        }
        spent_[at] = add(spent_[at], cycles);
    }

    template <class Take>
    void end(Take&& take) {
        for (const int32_t row : rows_) {
            const auto at = static_cast<size_t>(row);
            take(row, spent_[at]);
            spent_[at] = 0;
            was_here_[at] = false;
        }
        rows_.clear();
    }

  private:
    std::vector<int64_t> spent_;
    std::vector<bool> was_here_;
    std::vector<int32_t> rows_;
};

uint64_t key_of(uint32_t barrier, int32_t row) {
    return uint64_t{barrier} << 32 | static_cast<uint32_t>(row);
}

}  // namespace

LateCauses late_causes(const Executed& executed, const Passages& passages, size_t row_count) {
    DenseIndex index;
    std::vector<uint64_t> keys;
    std::vector<Sums> sums;
    Way way(row_count);
    size_t next = 0;
    int64_t busy_until = 0;
    for (size_t i = 0; i < executed.wave.size(); ++i) {
        if (i == 0 || executed.wave[i] != executed.wave[i - 1]) {
            way.end([](int32_t, int64_t) {});  // what comes after the last barrier of a wave leads to none
            busy_until = executed.time[i];
        }
        while (next < passages.position.size() && passages.position[next] < i) ++next;
        if (next < passages.position.size() && passages.position[next] == i) {
            const auto role = static_cast<PassageRole>(passages.role[next]);
            const uint32_t barrier = passages.barrier[next];
            way.end([&](int32_t row, int64_t cycles) {
                if (role == PassageRole::alone) return;
                const auto [at, is_new] = index.find_or_add(key_of(barrier, row));
                if (is_new) {
                    keys.push_back(key_of(barrier, row));
                    sums.emplace_back();
                }
                int64_t& sum = role == PassageRole::last ? sums[at].last : sums[at].other;
                sum = add(sum, cycles);
            });
        } else if (executed.row[i] >= 0 && static_cast<size_t>(executed.row[i]) < row_count) {
            const int64_t gap = executed.time[i] > busy_until ? subtract(executed.time[i], busy_until) : 0;
            way.spend(executed.row[i], add(gap, executed.duration[i]));
        }
        busy_until = std::max(busy_until, add(executed.time[i], executed.duration[i]));
    }
    LateCauses causes;
    for (size_t at = 0; at < keys.size(); ++at) {
        causes.barrier.push_back(static_cast<uint32_t>(keys[at] >> 32));
        causes.row.push_back(static_cast<int32_t>(keys[at] & 0xFFFFFFFFU));
        causes.last_cycles.push_back(sums[at].last);
        causes.other_cycles.push_back(sums[at].other);
    }
    return causes;
}

}  // namespace wavewright
