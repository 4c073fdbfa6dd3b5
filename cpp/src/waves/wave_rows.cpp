// Per wave: the set of rows that it ran, as a signature. Per unit of code and group of waves: sums and squares of what
// each wave spent.
#include "wavewright/wave_rows.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
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

// What one wave spent in a unit of code, in cycles but for the hits.
struct Spent {
    int64_t hits = 0;
    int64_t latency = 0;
    int64_t stall = 0;
    int64_t idle = 0;
};

int64_t cost_of(const Spent& spent) {
    return wavewright::add(spent.latency, spent.idle);
}

// Sums over waves of what each spent, of its squares and of a product: means, variances and the correlation of hits and
// cost follow from them. Squares are doubles because they do not fit into 64 bits.
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

// What the present wave spent per unit; folded into the moments of its group when the wave is over. Only the units that
// it touched are visited and reset.
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

// Enters the instructions [first, behind) of a wave that begins at `begin`.
void spend(Ledger& ledger, const Executed& executed, size_t first, size_t behind, int64_t begin,
           std::span<const int32_t> units) {
    int64_t busy_until = begin;  // latest end so far
    ExecutionCounter executions;
    for (size_t i = first; i < behind; ++i) {
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

void append_moments(UnitMoments& table, uint32_t group, const std::vector<Moments>& moments) {
    for (size_t unit = 0; unit < moments.size(); ++unit) {
        const Moments& of_unit = moments[unit];
        if (of_unit.waves == 0) continue;
        table.group.push_back(group);
        table.unit.push_back(static_cast<int32_t>(unit));
        table.wave_count.push_back(of_unit.waves);
        table.hit_count.push_back(of_unit.sum.hits);
        table.latency.push_back(of_unit.sum.latency);
        table.stall.push_back(of_unit.sum.stall);
        table.idle.push_back(of_unit.sum.idle);
        table.hit_squares.push_back(of_unit.hit_squares);
        table.latency_squares.push_back(of_unit.latency_squares);
        table.stall_squares.push_back(of_unit.stall_squares);
        table.cost_squares.push_back(of_unit.cost_squares);
        table.cost_products.push_back(of_unit.cost_products);
    }
}

// Behind the instructions of the wave that begin at `first`.
size_t end_of_wave(std::span<const uint32_t> waves, size_t first) {
    size_t behind = first + 1;
    while (behind < waves.size() && waves[behind] == waves[first]) ++behind;
    return behind;
}

WavePaths paths_of(std::span<const uint32_t> waves, std::span<const int32_t> rows, std::span<const uint8_t> categories,
                   size_t row_count) {
    WavePaths paths;
    // Waves are numbered from 1 as they come, so that nothing is reset between them.
    std::vector<uint32_t> last_wave_at(row_count, 0);  // by row: the last wave that ran it; 0 = none yet
    uint32_t number = 0;
    for (size_t first = 0, behind = 0; first < waves.size(); first = behind) {
        behind = end_of_wave(waves, first);
        if (++number == 0) {  // all numbers were used
            std::fill(last_wave_at.begin(), last_wave_at.end(), 0U);
            number = 1;
        }
        uint32_t distinct = 0, unresolved = 0;
        uint64_t signature = 0;
        int32_t last_row = -1;
        uint32_t count = 0;
        ExecutionCounter executions;
        for (size_t i = first; i < behind; ++i) {
            const int32_t row = rows[i];
            count += executions.counts(row, categories[i]) ? 1 : 0;
            if (row < 0 || static_cast<size_t>(row) >= row_count) {
                ++unresolved;
                continue;
            }
            last_row = row;
            if (std::exchange(last_wave_at[static_cast<size_t>(row)], number) == number) continue;
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
    const auto pieces = in_pieces(waves, [&](size_t first, size_t behind) {
        const size_t count = behind - first;
        return paths_of(waves.subspan(first, count), rows.subspan(first, count), categories.subspan(first, count),
                        row_count);
    });
    for (const std::optional<WavePaths>& piece : pieces) {
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
    std::unordered_map<uint32_t, size_t> place_of_wave;  // in the columns of `waves`
    place_of_wave.reserve(waves.waves.size());
    for (size_t i = 0; i < waves.waves.size(); ++i) place_of_wave.emplace(waves.waves[i], i);
    int32_t unit_count = 0;
    for (const int32_t unit : units) unit_count = std::max(unit_count, unit + 1);
    Ledger ledger(static_cast<size_t>(unit_count));
    std::array<std::vector<Moments>, kMaxWaveGroups> moments;  // by group, then by unit
    for (size_t first = 0, behind = 0; first < executed.wave.size(); first = behind) {
        behind = end_of_wave(executed.wave, first);
        const auto listed = place_of_wave.find(executed.wave[first]);
        if (listed == place_of_wave.end()) continue;
        const size_t place = listed->second;
        if (waves.groups[place] >= kMaxWaveGroups) continue;
        spend(ledger, executed, first, behind, waves.begins[place], units);
        ledger.fold_into(moments[waves.groups[place]]);
    }
    for (uint32_t group = 0; group < kMaxWaveGroups; ++group) append_moments(table, group, moments[group]);
    return table;
}

}  // namespace wavewright
