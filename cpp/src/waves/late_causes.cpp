#include "wavewright/late_causes.hpp"

#include <algorithm>
#include <vector>

#include "base/dense_index.hpp"
#include "waves/by_row.hpp"
#include "waves/pieces.hpp"

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

// What the ways to every barrier cost, in the order in which rows were first met on one.
struct Costs {
    DenseIndex index;
    std::vector<uint64_t> keys;
    std::vector<Sums> sums;

    Sums& of(uint64_t key) {
        const auto [at, is_new] = index.find_or_add(key);
        if (is_new) {
            keys.push_back(key);
            sums.emplace_back();
        }
        return sums[at];
    }
};

Costs costs_of(const Executed& executed, const Passages& passages, size_t row_count, size_t first, size_t last) {
    Costs costs;
    Way way(row_count);
    const auto& positions = passages.position;
    auto next = static_cast<size_t>(std::lower_bound(positions.begin(), positions.end(), first) - positions.begin());
    int64_t busy_until = 0;
    for (size_t i = first; i < last; ++i) {
        if (i == first || executed.wave[i] != executed.wave[i - 1]) {
            way.end([](int32_t, int64_t) {});  // what comes after the last barrier of a wave leads to none
            busy_until = executed.time[i];
        }
        while (next < positions.size() && positions[next] < i) ++next;
        if (next < positions.size() && positions[next] == i) {
            const auto role = static_cast<PassageRole>(passages.role[next]);
            const uint32_t barrier = passages.barrier[next];
            way.end([&](int32_t row, int64_t cycles) {
                if (role == PassageRole::alone) return;
                Sums& sums = costs.of(key_of(barrier, row));
                int64_t& sum = role == PassageRole::last ? sums.last : sums.other;
                sum = add(sum, cycles);
            });
        } else if (executed.row[i] >= 0 && static_cast<size_t>(executed.row[i]) < row_count) {
            const int64_t gap = executed.time[i] > busy_until ? subtract(executed.time[i], busy_until) : 0;
            way.spend(executed.row[i], add(gap, executed.duration[i]));
        }
        busy_until = std::max(busy_until, add(executed.time[i], executed.duration[i]));
    }
    return costs;
}

}  // namespace

LateCauses late_causes(const Executed& executed, const Passages& passages, size_t row_count) {
    Costs all;
    const auto pieces = in_pieces(
        executed.wave, [&](size_t first, size_t last) { return costs_of(executed, passages, row_count, first, last); });
    for (const std::optional<Costs>& costs : pieces) {
        for (size_t at = 0; at < costs->keys.size(); ++at) {
            Sums& sums = all.of(costs->keys[at]);
            sums.last = add(sums.last, costs->sums[at].last);
            sums.other = add(sums.other, costs->sums[at].other);
        }
    }
    LateCauses causes;
    for (size_t at = 0; at < all.keys.size(); ++at) {
        causes.barrier.push_back(static_cast<uint32_t>(all.keys[at] >> 32));
        causes.row.push_back(static_cast<int32_t>(all.keys[at] & 0xFFFFFFFFU));
        causes.last_cycles.push_back(all.sums[at].last);
        causes.other_cycles.push_back(all.sums[at].other);
    }
    return causes;
}

StallExcess stall_excess(const Executed& executed, const SignedWaves& waves, size_t row_count) {
    const auto sign_of = [&](uint32_t wave) -> int64_t {
        const auto found = std::lower_bound(waves.wave.begin(), waves.wave.end(), wave);
        if (found == waves.wave.end() || *found != wave) return 0;
        return waves.sign[static_cast<size_t>(found - waves.wave.begin())];
    };
    const auto pieces = in_pieces(executed.wave, [&](size_t first, size_t last) {
        ByRow<int64_t> sums(row_count + 1);  // from row -1 on, of which nobody knows what it is
        int64_t sign = 0;
        for (size_t i = first; i < last; ++i) {
            if (i == first || executed.wave[i] != executed.wave[i - 1]) sign = sign_of(executed.wave[i]);
            if (sign == 0 || executed.row[i] == INT32_MAX) continue;
            int64_t& sum = sums.of(std::max(executed.row[i], -1) + 1);
            sum = add(sum, sign * executed.stall[i]);
        }
        return sums;
    });
    ByRow<int64_t> all(row_count + 1);
    for (const std::optional<ByRow<int64_t>>& piece : pieces)
        piece->each([&](int32_t row, int64_t excess) {
            if (excess != 0) all.of(row) = add(all.of(row), excess);
        });
    StallExcess found;
    all.each([&](int32_t row, int64_t excess) {
        if (excess == 0) return;
        found.row.push_back(row - 1);
        found.excess.push_back(excess);
    });
    return found;
}

}  // namespace wavewright
