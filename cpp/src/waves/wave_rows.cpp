#include "wavewright/wave_rows.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "waves/pieces.hpp"

namespace wavewright {
namespace {

// A well-mixed number for a row: sums of these tell sets of rows apart whatever the order (splitmix64).
uint64_t mixed(uint64_t value) {
    value += 0x9E3779B97F4A7C15ULL;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

struct Spent {
    int64_t hits = 0;
    int64_t latency = 0;
    int64_t stall = 0;
    int64_t idle = 0;
};

int64_t cost_of(const Spent& spent) {
    return wavewright::add(spent.latency, spent.idle);
}

struct Moments {
    int64_t waves = 0;
    Spent sum;
    double hit_squares = 0;
    double latency_squares = 0;
    double stall_squares = 0;
    double cost_squares = 0;
    double cost_products = 0;

    void add(const Spent& spent) {
        const auto square = [](int64_t value) { return static_cast<double>(value) * static_cast<double>(value); };
        ++waves;
        sum.hits += spent.hits;
        sum.latency = wavewright::add(sum.latency, spent.latency);
        sum.stall = wavewright::add(sum.stall, spent.stall);
        sum.idle = wavewright::add(sum.idle, spent.idle);
        hit_squares += square(spent.hits);
        latency_squares += square(spent.latency);
        stall_squares += square(spent.stall);
        cost_squares += square(cost_of(spent));
        cost_products += static_cast<double>(spent.hits) * static_cast<double>(cost_of(spent));
    }
};

// What one wave spent per unit; folded into the moments of its group when the wave is over.
class Ledger {
  public:
    explicit Ledger(size_t unit_count) : spent_(unit_count) {}

    Spent& of(int32_t unit) {
        Spent& spent = spent_[static_cast<size_t>(unit)];
        if (spent.hits == 0) touched_.push_back(unit);
        return spent;
    }

    void fold_into(std::vector<Moments>& moments) {
        if (moments.empty()) moments.resize(spent_.size());
        for (const int32_t unit : touched_) {
            moments[static_cast<size_t>(unit)].add(spent_[static_cast<size_t>(unit)]);
            spent_[static_cast<size_t>(unit)] = Spent{};
        }
        touched_.clear();
    }

  private:
    std::vector<Spent> spent_;
    std::vector<int32_t> touched_;
};

void spend(Ledger& ledger, const Executed& executed, size_t first, size_t last, int64_t begin,
           std::span<const int32_t> units) {
    int64_t busy_until = begin;
    ExecutionCounter executions;
    for (size_t i = first; i < last; ++i) {
        const int32_t row = executed.row[i];
        if (row < 0 || static_cast<size_t>(row) >= units.size()) continue;
        const int64_t time = executed.time[i];
        if (const int32_t unit = units[static_cast<size_t>(row)]; unit >= 0) {
            Spent& spent = ledger.of(unit);
            const uint8_t category = executed.category.empty() ? uint8_t{0} : executed.category[i];
            spent.hits += executions.counts(row, category) ? 1 : 0;
            spent.latency += executed.duration[i];
            spent.stall += executed.stall[i];
            spent.idle = add(spent.idle, time > busy_until ? subtract(time, busy_until) : 0);
        }
        busy_until = std::max(busy_until, add(time, executed.duration[i]));
    }
}

void emit(UnitMoments& table, uint32_t group, const std::vector<Moments>& moments) {
    for (size_t unit = 0; unit < moments.size(); ++unit) {
        const Moments& one = moments[unit];
        if (one.waves == 0) continue;
        table.group.push_back(group);
        table.unit.push_back(static_cast<int32_t>(unit));
        table.wave_count.push_back(one.waves);
        table.hit_count.push_back(one.sum.hits);
        table.latency.push_back(one.sum.latency);
        table.stall.push_back(one.sum.stall);
        table.idle.push_back(one.sum.idle);
        table.hit_squares.push_back(one.hit_squares);
        table.latency_squares.push_back(one.latency_squares);
        table.stall_squares.push_back(one.stall_squares);
        table.cost_squares.push_back(one.cost_squares);
        table.cost_products.push_back(one.cost_products);
    }
}

size_t end_of_wave(std::span<const uint32_t> waves, size_t first) {
    size_t last = first + 1;
    while (last < waves.size() && waves[last] == waves[first]) ++last;
    return last;
}

WavePaths paths_of(std::span<const uint32_t> waves, std::span<const int32_t> rows, std::span<const uint8_t> categories,
                   size_t row_count) {
    WavePaths paths;
    std::vector<uint32_t> seen_by(row_count, 0);  // number of the last part that ran the row; 0 = none yet
    uint32_t stretch = 0;
    for (size_t first = 0, last = 0; first < waves.size(); first = last) {
        last = end_of_wave(waves, first);
        if (++stretch == 0) {
            std::fill(seen_by.begin(), seen_by.end(), 0U);
            stretch = 1;
        }
        uint32_t distinct = 0, unresolved = 0;
        uint64_t signature = 0;
        int32_t last_row = -1;
        uint32_t count = 0;
        ExecutionCounter executions;
        for (size_t i = first; i < last; ++i) {
            const int32_t row = rows[i];
            count += executions.counts(row, categories[i]) ? 1 : 0;
            if (row < 0 || static_cast<size_t>(row) >= row_count) {
                ++unresolved;
                continue;
            }
            last_row = row;
            uint32_t& seen = seen_by[static_cast<size_t>(row)];
            if (seen == stretch) continue;
            seen = stretch;
            ++distinct;
            signature += mixed(static_cast<uint64_t>(row));
        }
        paths.wave.push_back(waves[first]);
        paths.instruction_count.push_back(count);
        paths.unresolved_count.push_back(unresolved);
        paths.distinct_row_count.push_back(distinct);
        paths.signature.push_back(signature);
        paths.last_row.push_back(last_row);
    }
    return paths;
}

template <class T>
void append(Column<T>& all, const Column<T>& more) {
    all.append({more.data(), more.size()});
}

}  // namespace

WavePaths wave_paths(std::span<const uint32_t> waves, std::span<const int32_t> rows,
                     std::span<const uint8_t> categories, size_t row_count) {
    WavePaths all;
    for (const std::optional<WavePaths>&piece : in_pieces(waves, [&](size_t first, size_t last) {
             const size_t count = last - first;
             return paths_of(waves.subspan(first, count), rows.subspan(first, count), categories.subspan(first, count),
                             row_count);
         })) {
        append(all.wave, piece->wave);
        append(all.instruction_count, piece->instruction_count);
        append(all.unresolved_count, piece->unresolved_count);
        append(all.distinct_row_count, piece->distinct_row_count);
        append(all.signature, piece->signature);
        append(all.last_row, piece->last_row);
    }
    return all;
}

UnitMoments unit_moments(const Executed& executed, const WaveColumns& waves, std::span<const int32_t> units) {
    UnitMoments table;
    std::unordered_map<uint32_t, size_t> place_of_wave;
    place_of_wave.reserve(waves.waves.size());
    for (size_t i = 0; i < waves.waves.size(); ++i) place_of_wave.emplace(waves.waves[i], i);
    int32_t unit_count = 0;
    for (const int32_t unit : units) unit_count = std::max(unit_count, unit + 1);
    Ledger ledger(static_cast<size_t>(unit_count));
    std::array<std::vector<Moments>, kMaxWaveGroups> moments;
    for (size_t first = 0, last = 0; first < executed.wave.size(); first = last) {
        last = end_of_wave(executed.wave, first);
        const auto found = place_of_wave.find(executed.wave[first]);
        if (found == place_of_wave.end() || waves.groups[found->second] >= kMaxWaveGroups) continue;
        spend(ledger, executed, first, last, waves.begins[found->second], units);
        ledger.fold_into(moments[waves.groups[found->second]]);
    }
    for (uint32_t group = 0; group < kMaxWaveGroups; ++group) emit(table, group, moments[group]);
    return table;
}

}  // namespace wavewright
