#include "wavewright/state_counts.hpp"

#include <algorithm>
#include <bit>

#include "base/parallel.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr unsigned kMostGrainBits = 16;
constexpr int64_t kBlockGrains = 1 << 15;  // whose changes fit into a cache
constexpr size_t kNoKind = SIZE_MAX;

}  // namespace

StateCounts::StateCounts(const WaveStates& waves, int64_t origin) : states_(waves.states), durations_(waves.durations) {
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

// One stretch of whole bins, block after block.
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
        int64_t time;  // of the next change: the end of the state that is open, and the begin of `row`
        uint64_t row, behind;
        size_t open;  // kind
    };

    // The waves that live at the begin are counted from there on.
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

    // Puts the changes of a wave into the block; whether it is over.
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

    void add_up(size_t kind, int64_t begin, int64_t end) {
        std::vector<int32_t>& changes = changes_[kind];
        int32_t now = now_[kind];
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
            const int64_t missing = begin + static_cast<int64_t>((last + 1) << grain_bits_) - until;
            out_.wave_cycles[place] += sum * grain_cycles - missing * now;
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
    std::vector<std::vector<int32_t>> changes_;  // of every kind, by grain of the block
    std::vector<int32_t> now_;
    StateBins& out_;
    std::vector<Cursor> living_;
    size_t next_ = 0;
    StopCheck check_;
};

StateBins StateCounts::bins(const Bins& bins, int64_t end, std::span<const uint8_t> kinds) const {
    std::array<size_t, 256> kind_of;
    kind_of.fill(kNoKind);
    for (size_t kind = 0; kind < kinds.size(); ++kind) kind_of[kinds[kind]] = kind;
    const size_t places = kinds.size() * bins.count;
    StateBins out{std::vector<int64_t>(places), std::vector<int32_t>(places, INT32_MAX), std::vector<int32_t>(places)};
    const unsigned width_bits = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(bins.width)));
    const unsigned grain_bits = std::min(grain_bits_, width_bits);
    const unsigned workers = workers_for(static_cast<size_t>(bins.count * (bins.width >> grain_bits) / kBlockGrains));
    const uint32_t share = (bins.count + workers - 1) / workers;
    in_parallel(workers, workers, [&](size_t turn, unsigned) {
        const auto first = static_cast<uint32_t>(turn * share);
        if (first >= bins.count) return;
        Sweep(*this, bins, end, grain_bits, kind_of, kinds.size(), out).run(first, std::min(first + share, bins.count));
    });
    return out;
}

}  // namespace wavewright
