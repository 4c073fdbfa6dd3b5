// Sums over the instructions of waves: per code row, per wave, and stalled cycles per track and bin of a picture.
#include "wavewright/wave_sums.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "wavewright/stop.hpp"

namespace wavewright {
namespace {

constexpr size_t kRowsPerWorker = 1'000'000;

// Calls visit(wave, first, behind, worker) for all waves; [first, behind) are their rows in a table of `row_count`
// rows.
template <class Visit>
void each_wave(const PlacedWaves& waves, size_t row_count, unsigned workers, Visit&& visit) {
    in_parallel(waves.track.size(), workers, [&](size_t wave, unsigned worker) {
        const size_t first = std::min<uint64_t>(waves.first[wave], row_count);
        visit(wave, first, first + std::min<size_t>(waves.count[wave], row_count - first), worker);
    });
}

bool is_set(std::span<const uint8_t> of_row, int32_t row) {
    return row >= 0 && static_cast<size_t>(row) < of_row.size() && of_row[static_cast<size_t>(row)] != 0;
}

}  // namespace

RowCycles row_cycles(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint8_t> is_matrix,
                     size_t row_count) {
    const size_t cells = (row_count + 1) * kRowKinds;
    const unsigned workers = workers_for(table.time.size() / kRowsPerWorker);
    std::vector<RowCycles> parts(workers);
    for (RowCycles& part : parts) part = {std::vector<int64_t>(cells), std::vector<int64_t>(cells)};
    each_wave(waves, table.time.size(), workers, [&](size_t wave, size_t first, size_t behind, unsigned worker) {
        if (waves.track[wave] == kNoTrack) return;
        RowCycles& part = parts[worker];
        for (size_t i = first; i < behind; ++i) {
            const int32_t row = table.row[i];
            const bool is_known = row >= 0 && static_cast<size_t>(row) < row_count;
            const size_t place = is_known ? static_cast<size_t>(row) + 1 : 0;
            const size_t kind =
                is_set(is_matrix, row) ? kMatrixKind : std::min<size_t>(table.category[i], kRowKinds - 1);
            const size_t cell = place * kRowKinds + kind;
            part.cycles[cell] += std::max({table.stall[i], table.duration[i], 0});
            part.count[cell] += 1;
        }
    });
    for (unsigned worker = 1; worker < workers; ++worker) {
        for (size_t cell = 0; cell < cells; ++cell) {
            parts[0].cycles[cell] += parts[worker].cycles[cell];
            parts[0].count[cell] += parts[worker].count[cell];
        }
    }
    return std::move(parts[0]);
}

std::vector<int64_t> stall_of_waves(const PlacedWaves& waves, std::span<const int32_t> stall) {
    std::vector<int64_t> sums(waves.track.size());
    each_wave(waves, stall.size(), workers_for(stall.size() / kRowsPerWorker),
              [&](size_t wave, size_t first, size_t behind, unsigned) {
                  for (size_t i = first; i < behind; ++i) sums[wave] += stall[i];
              });
    return sums;
}

SpanSource stalled_source(const PlacedWaves& waves, const TracedInstructions& table, std::span<const uint32_t> group,
                          std::span<const uint16_t> kind_of_group) {
    return [=](const SpanVisit& visit) {
        each_wave(waves, table.time.size(), 1, [&](size_t wave, size_t first, size_t behind, unsigned) {
            if (waves.track[wave] == kNoTrack) return;
            for (size_t i = first; i < behind; ++i) {
                if (table.stall[i] <= 0) continue;
                const int64_t begin = bounded(table.time[i]) + waves.time[wave];
                const uint16_t kind = group[i] < kind_of_group.size() ? kind_of_group[group[i]] : uint16_t{0};
                visit(i, waves.track[wave], begin, begin + table.stall[i], kind);
            }
        });
    };
}

StalledCycles::StalledCycles(const PlacedWaves& waves, const TracedInstructions& table, uint32_t track_count,
                             const Bins& kept)
    : table_(table), track_count_(track_count), kept_(kept) {
    each_wave(waves, table.time.size(), 1, [&](size_t wave, size_t first, size_t behind, unsigned) {
        if (waves.track[wave] >= track_count || first == behind) return;
        Wave stalled{.track = waves.track[wave],
                     .offset = waves.time[wave],
                     .begin = INT64_MAX,
                     .end = INT64_MIN,
                     .first = first,
                     .behind = behind};
        for (size_t i = first; i < behind; ++i) {
            if (table.stall[i] <= 0) continue;
            const int64_t begin = bounded(table.time[i]) + stalled.offset;
            stalled.begin = std::min(stalled.begin, begin);
            stalled.end = std::max(stalled.end, begin + table.stall[i]);
        }
        const bool stalls = stalled.begin < stalled.end;
        if (stalls) waves_.push_back(stalled);
    });
    std::stable_sort(waves_.begin(), waves_.end(), [](const Wave& a, const Wave& b) { return a.track < b.track; });
    sums_.resize(size_t{track_count} * kept.count);
    add(kept_, sums_);
}

std::vector<int64_t> StalledCycles::bins(const Bins& bins) const {
    std::vector<int64_t> sums(size_t{track_count_} * bins.count);
    if (bins.width < kept_.width || kept_.count == 0) {
        add(bins, sums);
        return sums;
    }
    const auto kept_per_bin = static_cast<size_t>(bins.width / kept_.width);
    const auto first_kept = static_cast<size_t>((bins.begin - kept_.begin) / kept_.width);
    for (size_t track = 0; track < track_count_; ++track)
        for (size_t bin = 0; bin < bins.count; ++bin) {
            const size_t first = first_kept + bin * kept_per_bin;
            const size_t behind = std::min<size_t>(first + kept_per_bin, kept_.count);
            for (size_t kept = first; kept < behind; ++kept)
                sums[track * bins.count + bin] += sums_[track * kept_.count + kept];
        }
    return sums;
}

void StalledCycles::add(const Bins& bins, std::vector<int64_t>& sums) const {
    std::vector<size_t> firsts;  // places in waves_ at which a track begins, and its end
    for (size_t wave = 0; wave < waves_.size(); ++wave)
        if (wave == 0 || waves_[wave].track != waves_[wave - 1].track) firsts.push_back(wave);
    firsts.push_back(waves_.size());
    in_parallel(firsts.size() - 1, workers_for(firsts.size()),
                [&](size_t turn, unsigned) {  // a track each: no two write one sum
                    StopCheck check;
                    for (size_t wave = firsts[turn]; wave < firsts[turn + 1]; ++wave) {
                        add(waves_[wave], bins, sums.data() + size_t{waves_[wave].track} * bins.count);
                        check.step();
                    }
                });
}

void StalledCycles::add(const Wave& wave, const Bins& bins, int64_t* sums) const {
    const int64_t from = bins.begin, to = bins.begin + bins.width * bins.count;
    if (wave.end <= from || wave.begin >= to) return;
    for (uint64_t i = wave.first; i < wave.behind; ++i) {
        if (table_.stall[i] <= 0) continue;
        const int64_t begin = bounded(table_.time[i]) + wave.offset;
        int64_t at = std::max(begin, from);
        const int64_t end = std::min(begin + table_.stall[i], to);
        while (at < end) {
            const int64_t bin = (at - from) / bins.width;
            const int64_t until = std::min(end, from + (bin + 1) * bins.width);
            sums[bin] += until - at;
            at = until;
        }
    }
}

}  // namespace wavewright
