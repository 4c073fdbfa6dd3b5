// Counts waves per state in bins of any width.
//
// All changes of states lie on a grid: multiples of 2^grain_bits_ cycles from the origin (4 cycles on gfx9, as its
// tokens count). A bin is therefore a sum over its *grains*, and time is swept in blocks of grains that fit into a
// cache: each wave adds +1 where a state begins and -1 where it ends (`changes_`), and the running sum of these is the
// number of waves in the state.
#include "wavewright/state_counts.hpp"

#include <algorithm>
#include <bit>

#include "base/parallel.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr unsigned kMostGrainBits = 16;    // of a grid that has no finer change; bounds the width of a grain
constexpr int64_t kBlockGrains = 1 << 15;  // 128 KB of changes for each state, which fit into a cache
constexpr size_t kNoKind = SIZE_MAX;       // a state that is not asked for, or none

}  // namespace

StateCounts::StateCounts(const WaveStates& waves, int64_t origin) : states_(waves.states), durations_(waves.durations) {
    // All lengths and times or-ed together: its lowest bit is the finest change.
    uint64_t bits = uint64_t{1} << kMostGrainBits;
    const size_t row_count = states_.size();
    StopCheck check;
    for (size_t wave = 0; wave < waves.begin.size(); ++wave) {
        const uint64_t first = std::min<uint64_t>(waves.first[wave], row_count);
        const uint64_t behind = first + std::min<uint64_t>(waves.count[wave], row_count - first);
        if (first == behind) continue;
        const int64_t begin = bounded(waves.begin[wave]);
        int64_t end = begin;
        for (uint64_t row = first; row < behind; ++row) {
            const int32_t duration = std::max(durations_[row], 0);
            end = bounded(end + duration);
            bits |= static_cast<uint32_t>(duration);
            check.step();
        }
        bits |= static_cast<uint64_t>(begin - origin) | static_cast<uint64_t>(end - origin);
        waves_.push_back({begin, end, first, behind});
    }
    grain_bits_ = static_cast<unsigned>(std::countr_zero(bits));
    std::stable_sort(waves_.begin(), waves_.end(), [](const Wave& a, const Wave& b) { return a.begin < b.begin; });
}

// Counts an interval of whole bins, block after block. Several sweeps write different bins of one result.
class StateCounts::Sweep {
  public:
    Sweep(const StateCounts& counts, const Bins& bins, int64_t end, unsigned grain_bits,
          const std::array<size_t, 256>& kind_of, size_t kind_count, StateBins& out)
        : counts_(counts),
          bins_(bins),
          end_(end),
          grain_bits_(grain_bits),
          kind_of_(kind_of),
          changes_(kind_count, std::vector<int32_t>(kBlockGrains + 1)),
          now_(kind_count),
          out_(out) {}

    void run(uint32_t first_bin, uint32_t behind_bin) {
        const int64_t begin = bins_.begin + bins_.width * first_bin;
        const int64_t end = std::min(bins_.begin + bins_.width * behind_bin, end_);
        enter(begin);
        for (int64_t at = begin; at < end; at += kBlockGrains << grain_bits_)
            block(at, std::min(end, at + (kBlockGrains << grain_bits_)));
    }

  private:
    struct Cursor {
        int64_t time;          // of the next change: the end of the open state, and the begin of that of `row`
        uint64_t row, behind;  // the next state of the wave, and behind its last one
        size_t open;           // place in `kinds` of the state at the moment, or kNoKind
    };

    // Brings the waves that live at the begin to their state there.
    void enter(int64_t begin) {
        for (; next_ < counts_.waves_.size() && counts_.waves_[next_].begin < begin; ++next_) {
            const Wave& wave = counts_.waves_[next_];
            if (wave.end <= begin) continue;
            Cursor cursor{wave.begin, wave.first, wave.behind, kNoKind};
            while (cursor.time <= begin) change(cursor);
            if (cursor.open != kNoKind) ++now_[cursor.open];
            living_.push_back(cursor);
        }
    }

    // Closes the state that is open and opens the next one.
    void change(Cursor& cursor) {
        check_.step();
        cursor.open = kNoKind;
        if (cursor.row < cursor.behind) {
            cursor.open = kind_of_[counts_.states_[cursor.row]];
            cursor.time = bounded(cursor.time + std::max(counts_.durations_[cursor.row], 0));
        }
        ++cursor.row;
    }

    void block(int64_t begin, int64_t end) {
        for (; next_ < counts_.waves_.size() && counts_.waves_[next_].begin < end; ++next_) {
            const Wave& wave = counts_.waves_[next_];
            living_.push_back({wave.begin, wave.first, wave.behind, kNoKind});
        }
        std::erase_if(living_, [&](Cursor& cursor) { return put(cursor, begin, end); });
        for (size_t kind = 0; kind < changes_.size(); ++kind) add_up(kind, begin, end);
    }

    // Puts the changes of a wave into the block. Returns whether the wave ends in it.
    bool put(Cursor& cursor, int64_t begin, int64_t end) {
        while (cursor.time < end) {
            const size_t at = grain(cursor.time - begin);
            if (cursor.open != kNoKind) --changes_[cursor.open][at];
            if (cursor.row >= cursor.behind) return true;
            change(cursor);
            if (cursor.open != kNoKind) ++changes_[cursor.open][at];
        }
        return false;
    }

    size_t grain(int64_t since) const { return static_cast<size_t>(since >> grain_bits_); }

    // Sums the changes of a block up into its bins.
    void add_up(size_t kind, int64_t begin, int64_t end) {
        std::vector<int32_t>& changes = changes_[kind];
        int32_t now = now_[kind];  // waves in the state
        const int64_t grain_cycles = int64_t{1} << grain_bits_;
        auto bin = static_cast<size_t>((begin - bins_.begin) / bins_.width);
        for (int64_t at = begin; at < end; ++bin) {
            const int64_t until = std::min(end, bins_.begin + bins_.width * static_cast<int64_t>(bin + 1));
            const size_t place = kind * bins_.count + bin;
            int64_t sum = 0;
            int32_t low = out_.low[place], high = out_.high[place];
            const size_t last = grain(until - 1 - begin);
            for (size_t i = grain(at - begin); i <= last; ++i) {
                now += changes[i];
                low = std::min(low, now);
                high = std::max(high, now);
                sum += now;
            }
            // The last grain may reach beyond the end of the interval, which need not lie on the grid.
            const int64_t cycles_beyond = begin + static_cast<int64_t>((last + 1) << grain_bits_) - until;
            out_.wave_cycles[place] += sum * grain_cycles - cycles_beyond * now;
            out_.low[place] = low;
            out_.high[place] = high;
            at = until;
        }
        now_[kind] = now;
        std::fill(changes.begin(), changes.end(), 0);
    }

    const StateCounts& counts_;
    const Bins& bins_;
    int64_t end_;
    unsigned grain_bits_;
    const std::array<size_t, 256>& kind_of_;
    std::vector<std::vector<int32_t>> changes_;  // by kind: +1 and -1 by grain of the block
    std::vector<int32_t> now_;                   // by kind: waves in the state at the end of the last block
    StateBins& out_;
    std::vector<Cursor> living_;
    size_t next_ = 0;  // the first wave that has not begun
    StopCheck check_;
};

StateBins StateCounts::bins(const Bins& bins, int64_t end, std::span<const uint8_t> kinds) const {
    std::array<size_t, 256> kind_of;  // by state: its place in `kinds`
    kind_of.fill(kNoKind);
    for (size_t kind = 0; kind < kinds.size(); ++kind) kind_of[kinds[kind]] = kind;
    const size_t places = kinds.size() * bins.count;
    StateBins out{std::vector<int64_t>(places), std::vector<int32_t>(places, INT32_MAX), std::vector<int32_t>(places)};
    const unsigned width_bits = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(bins.width)));
    const unsigned grain_bits = std::min(grain_bits_, width_bits);  // narrow bins need finer grains
    const int64_t grain_count = bins.count * (bins.width >> grain_bits);
    const unsigned workers = workers_for(static_cast<size_t>(grain_count / kBlockGrains));
    const uint32_t bins_per_worker = (bins.count + workers - 1) / workers;
    in_parallel(workers, workers, [&](size_t turn, unsigned) {
        const auto first = static_cast<uint32_t>(turn * bins_per_worker);
        if (first >= bins.count) return;
        const uint32_t behind = std::min(first + bins_per_worker, bins.count);
        Sweep(*this, bins, end, grain_bits, kind_of, kinds.size(), out).run(first, behind);
    });
    return out;
}

}  // namespace wavewright
