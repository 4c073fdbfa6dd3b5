#include "gfx9/counters.hpp"

#include <algorithm>

namespace wavewright::gfx9 {

void Counters::add(uint64_t word, int64_t now, uint64_t interval) {
    if (Perf::sh.word(word) != 0) return;  // as the reference: shader array 0 only
    Sample sample{};
    sample.cu = Perf::cu.byte(word);
    sample.bank = Perf::bank.byte(word);
    sample.time = now - kCyclesPerDelta * sample.cu;  // the CUs report one after the other
    if (interval != 0) {
        int64_t& last = last_.of(sample);
        // Quirk: the zeros stand at the time of this report, not where the missing one was due.
        if (leaves_gap(last, sample.time, interval)) samples_.push_back(sample);
        last = sample.time;
    }
    sample.values = {static_cast<uint16_t>(Perf::value0.word(word)), static_cast<uint16_t>(Perf::value1.word(word)),
                     static_cast<uint16_t>(Perf::value2.word(word)), static_cast<uint16_t>(Perf::value3.word(word))};
    samples_.push_back(sample);
}

void Counters::fill_gaps(uint64_t interval) {
    if (interval == 0 || samples_.empty()) return;
    const size_t count = samples_.size();
    const bool is_affordable = work_left_ >= count && fill_left_ >= count;  // one zero sample for each at most
    if (!is_affordable) {
        ++skipped_;
        return;
    }
    work_left_ -= count;
    LastTimes last_times;
    for (size_t i = 0; i < count; ++i) {
        Sample sample = samples_[i];
        int64_t& last = last_times.of(sample);
        const int64_t due = plus(last, interval);
        if (last > 0 && sample.time > due) {
            sample.values = {};
            sample.time = due;
            samples_.push_back(sample);
        }
        last = samples_[i].time;
    }
    if (samples_.size() == count) return;
    fill_left_ -= samples_.size() - count;
    work_left_ -= std::min(work_left_, kSortCost * samples_.size());
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const Sample& a, const Sample& b) { return a.time < b.time; });
}

void Counters::finish(uint64_t interval, CounterTable& table) {
    const auto emit = [&table](const Sample& s) {
        table.add(s.time, s.cu, s.bank, s.values[0], s.values[1], s.values[2], s.values[3]);
    };
    for (const Sample& sample : samples_) emit(sample);
    if (interval == 0) return;
    for (size_t source = 0; source < last_.by_source.size(); ++source) {
        const int64_t last = last_.by_source[source];
        if (last == 0) continue;
        emit({.time = plus(last, interval),
              .values = {},
              .cu = static_cast<uint8_t>(source / LastTimes::kBanks),
              .bank = static_cast<uint8_t>(source % LastTimes::kBanks)});
    }
}

}  // namespace wavewright::gfx9
