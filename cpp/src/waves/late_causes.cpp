// Sums the cycles of waves per row, by their role at barriers (late_causes) or by their speed (stall_excess). Both pass
// once over all instructions, in pieces on all cores; sums of pieces are added up.
#include "wavewright/late_causes.hpp"

#include <algorithm>
#include <vector>

#include "base/dense_index.hpp"
#include "waves/by_row.hpp"
#include "waves/pieces.hpp"

namespace wavewright {
namespace {

// Cycles that waves spent at a row on their way to a barrier.
struct Sums {
    int64_t last = 0;   // by waves that came last
    int64_t other = 0;  // by the others
};

// The way of a wave since its last barrier: cycles that it spent at each row. Only the rows that it touched are visited
// and reset.
class Way {
  public:
    explicit Way(size_t row_count) : spent_(row_count), is_touched_(row_count) {}

    void spend(int32_t row, int64_t cycles) {
        const auto at = static_cast<size_t>(row);
        if (!is_touched_[at]) {
            is_touched_[at] = true;
            touched_rows_.push_back(row);
        }
        spent_[at] = add(spent_[at], cycles);
    }

    // Calls visit(row, cycles) for the rows of the way; then the next way begins.
    template <class Visit>
    void end(Visit&& visit) {
        for (const int32_t row : touched_rows_) {
            const auto at = static_cast<size_t>(row);
            visit(row, spent_[at]);
            spent_[at] = 0;
            is_touched_[at] = false;
        }
        touched_rows_.clear();
    }

  private:
    std::vector<int64_t> spent_;  // by row
    std::vector<bool> is_touched_;
    std::vector<int32_t> touched_rows_;
};

// A barrier and a row of the ways to it, as one number.
uint64_t key_of(uint32_t barrier, int32_t row) {
    return uint64_t{barrier} << 32 | static_cast<uint32_t>(row);
}
uint32_t barrier_of(uint64_t key) {
    return static_cast<uint32_t>(key >> 32);
}
int32_t row_of(uint64_t key) {
    return static_cast<int32_t>(key & UINT32_MAX);
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

// The costs of the instructions [first, behind), which are those of some waves.
Costs costs_of(const Executed& executed, const Passages& passages, size_t row_count, size_t first, size_t behind) {
    Costs costs;
    Way way(row_count);
    const auto& positions = passages.position;
    auto next = static_cast<size_t>(std::lower_bound(positions.begin(), positions.end(), first) - positions.begin());
    int64_t busy_until = 0;  // latest end of the wave's instructions so far
    for (size_t i = first; i < behind; ++i) {
        if (i == first || executed.wave[i] != executed.wave[i - 1]) {
            way.end([](int32_t, int64_t) {});  // what comes after the last barrier of a wave leads to none
            busy_until = executed.time[i];
        }
        while (next < positions.size() && positions[next] < i) ++next;
        if (next < positions.size() && positions[next] == i) {
            const auto role = static_cast<PassageRole>(passages.role[next]);
            const uint32_t barrier = passages.barrier[next];
            way.end([&](int32_t row, int64_t cycles) {
                if (role == PassageRole::alone) return;  // it neither waited nor made others wait
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
        causes.barrier.push_back(barrier_of(all.keys[at]));
        causes.row.push_back(row_of(all.keys[at]));
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
        ByRow<int64_t> sums(row_count + 1);  // by row + 1, so that the unknown row -1 has a place
        int64_t sign = 0;
        for (size_t i = first; i < last; ++i) {
            if (i == first || executed.wave[i] != executed.wave[i - 1]) sign = sign_of(executed.wave[i]);
            if (sign == 0 || executed.row[i] == INT32_MAX) continue;  // row + 1 would overflow; no code has such a row
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
    StallExcess result;
    all.each([&](int32_t row_after, int64_t excess) {
        if (excess == 0) return;
        result.row.push_back(row_after - 1);
        result.excess.push_back(excess);
    });
    return result;
}

}  // namespace wavewright
