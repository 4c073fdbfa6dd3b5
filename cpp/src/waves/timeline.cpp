// Sums of intervals in bins, and of the states of waves with them.
#include "wavewright/timeline.hpp"

#include <algorithm>
#include <memory>

namespace wavewright {

void BinnedCycles::add(int64_t begin, int64_t end) {
    if (end <= begin) return;
    total_ += end - begin;
    const int64_t range = bins_.width * bins_.count;
    begin = std::max(begin, bins_.begin) - bins_.begin;
    end = std::min(end, bins_.begin + range) - bins_.begin;
    if (end <= begin) return;
    const int64_t first = begin / bins_.width;
    const int64_t first_end = (first + 1) * bins_.width;
    if (end <= first_end) {
        parts_[static_cast<size_t>(first)] += end - begin;
        return;
    }
    const int64_t last = end / bins_.width;  // the bin that is covered partly, or the one after the interval
    parts_[static_cast<size_t>(first)] += first_end - begin;
    if (last < bins_.count) parts_[static_cast<size_t>(last)] += end - last * bins_.width;
    ++whole_[static_cast<size_t>(first + 1)];
    --whole_[static_cast<size_t>(last)];
}

std::vector<int64_t> BinnedCycles::per_bin() const {
    std::vector<int64_t> cycles = parts_;
    int64_t covering = 0;
    for (size_t bin = 0; bin < cycles.size(); ++bin) {
        covering += whole_[bin];
        cycles[bin] += covering * bins_.width;
    }
    return cycles;
}

void CyclesOverTime::append(uint32_t of_group, uint8_t of_kind, const BinnedCycles& sums) {
    auto row = [&](uint32_t of_bin, int64_t of_cycles) {
        group.push_back(of_group);
        kind.push_back(of_kind);
        bin.push_back(of_bin);
        cycles.push_back(of_cycles);
    };
    row(kAllBins, sums.total());
    const std::vector<int64_t> bins = sums.per_bin();
    for (uint32_t at = 0; at < bins.size(); ++at)
        if (bins[at] != 0) row(at, bins[at]);
}

CyclesOverTime state_cycles(const WaveStates& waves, const Bins& bins) {
    constexpr uint8_t kKinds = 6;  // five states, and one for other values
    uint32_t group_count = 0;
    for (const uint32_t group : waves.group) group_count = std::max(group_count, group + 1);
    std::vector<std::unique_ptr<BinnedCycles>> sums(size_t{group_count} * kKinds);  // null = nothing to count
    for (size_t wave = 0; wave < waves.group.size(); ++wave) {
        const uint64_t first = std::min<uint64_t>(waves.first[wave], waves.states.size());
        const uint64_t behind = first + std::min<uint64_t>(waves.count[wave], waves.states.size() - first);
        int64_t time = bounded(waves.begin[wave]);
        for (uint64_t at = first; at < behind; ++at) {
            const uint8_t kind = std::min<uint8_t>(waves.states[at], kKinds - 1);
            const int64_t end = time + std::max(waves.durations[at], 0);
            auto& sum = sums[size_t{waves.group[wave]} * kKinds + kind];
            if (sum == nullptr) sum = std::make_unique<BinnedCycles>(bins);
            sum->add(time, end);
            time = end;
        }
    }
    CyclesOverTime cycles;
    for (size_t at = 0; at < sums.size(); ++at)
        if (sums[at] != nullptr)
            cycles.append(static_cast<uint32_t>(at / kKinds), static_cast<uint8_t>(at % kKinds), *sums[at]);
    return cycles;
}

}  // namespace wavewright
