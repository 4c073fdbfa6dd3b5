// What a trace says of the latencies of its operations, and the service time of a queue that explains them best.
//
// A wait that stalled ended when the last operation that it waited for was done. If it is certain which one that was,
// the latency of this operation is exact ("tight"). All other operations that a wait proves to be done have a bound:
// the end of the wait.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "edits/edit_queues.hpp"
#include "edits/edit_sequence.hpp"
#include "wavewright/edit_replay.hpp"

namespace wavewright {
namespace {

constexpr int64_t kLongestPost = 64;  // cycles from an issue to what comes next of the same wave
constexpr size_t kLeastSamples = 3;   // exact latencies of a row that make its quantiles
constexpr double kLowShare = 0.05, kMiddleShare = 0.5, kHighShare = 0.95;  // quantiles of Typical

// Service times, in cycles per dword and wave instruction, are searched on a coarse grid from 1 to about 540 (steps of
// 15 %) and on a fine one from 80 to 125 % of the longest that is possible (steps of half a percent of it).
constexpr double kGridStep = 1.15;
constexpr int kGridSize = 46;
constexpr double kFineFirst = 0.8, kFineStep = 0.005;
constexpr int kFineSize = 91;
// The longest one that is possible is bisected from 0 to kMostCycles, down to a quarter of a cycle.
constexpr double kMostCycles = 512;
constexpr int kHalvings = 11;
constexpr double kLateShare = 0.05;     // of exact latencies that a service time may contradict
constexpr double kLeastShare = 0.02;    // quantile of latencies that counts as the least one, some being outliers
constexpr double kLeastRest = 0.5;      // of the least latency: no shorter rest is possible behind the queue
constexpr int64_t kRestTolerance = 16;  // cycles
constexpr double kSpreadLow = 0.2, kSpreadHigh = 0.8;  // quantiles whose distance is the spread of the rests
constexpr size_t kFewestTight = 4;                     // exact latencies, without which no queue is fitted

// Linear between neighbours; 0 of nothing. Sorts the values.
double quantile(std::vector<int64_t>& values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(at);
    const size_t high = std::min(low + 1, values.size() - 1);
    return static_cast<double>(values[low]) +
           (at - static_cast<double>(low)) * static_cast<double>(values[high] - values[low]);
}

}  // namespace

// What each instruction cost and when it issued, and how much of their time waves waited for ports.
void EditReplay::read_sources() {
    double contended = 0, lived = 0;  // cycles, of all waves
    std::vector<int64_t> starts(replay_.cu_count_, std::numeric_limits<int64_t>::max());
    for (size_t wave = 0; wave < input_.first.size(); ++wave)
        starts[input_.cu[wave]] = std::min(starts[input_.cu[wave]], input_.begin[wave]);
    wave_starts_.resize(input_.first.size());
    for (size_t wave = 0; wave < input_.first.size(); ++wave) {
        int64_t issue = wave_starts_[wave] = cycles_between(starts[input_.cu[wave]], input_.begin[wave]);
        lived += static_cast<double>(cycles_between(input_.begin[wave], input_.end[wave]));
        for (size_t i = input_.first[wave]; i < input_.first[wave] + input_.count[wave]; ++i) {
            const Replay::Step& step = replay_.steps_[i];
            Source& source = sources_[i];
            contended += step.stall - step.own;
            issue += int64_t{step.wait} + step.stall;
            if (issue > kLongestSpan)
                throw std::invalid_argument("the times of this trace lie too far apart to replay an edit");
            source.issue = issue;
            source.wait = step.wait;
            source.own = step.own;
            source.post = static_cast<int32_t>(std::min<int64_t>(step.issue, kLongestPost));
            source.occupied = step.occupied;
            source.port = step.port;
            if (at_row(rules_.unit, input_.row[i], int32_t{-1}) == 0)
                memory_dwords_ += at_row(rules_.dwords, input_.row[i]);
        }
    }
    contention_share_ = lived > 0 ? contended / lived : 0;
}

// Which instructions are barriers, whom they meet there and what that costs.
void EditReplay::read_meetings() {
    for (const uint32_t meeting : input_.meeting)
        meeting_count_ = std::max<size_t>(meeting_count_, size_t{meeting} + 1);
    std::vector<int64_t> last_arrivals(meeting_count_, std::numeric_limits<int64_t>::min());
    for (size_t i = 0; i < input_.meeting.size(); ++i) {
        int64_t& last = last_arrivals[input_.meeting[i]];
        last = std::max(last, input_.arrival[i]);
    }
    size_t wave = 0;
    for (size_t i = 0; i < input_.barrier.size(); ++i) {
        const uint64_t place = input_.barrier[i];
        while (wave < input_.first.size() && place >= input_.first[wave] + input_.count[wave]) ++wave;
        if (wave == input_.first.size() || place < input_.first[wave]) continue;
        Source& source = sources_[place];
        const int64_t issued = input_.begin[wave] + (source.issue - wave_starts_[wave]);
        const auto positive_cycles = [](int64_t earlier, int64_t later) {
            return static_cast<int32_t>(std::clamp<int64_t>(cycles_between(earlier, later), 0, INT32_MAX));
        };
        source.meeting = static_cast<int32_t>(input_.meeting[i]);
        source.cost = positive_cycles(last_arrivals[input_.meeting[i]], issued);
        source.signalled = positive_cycles(input_.arrival[i], input_.time[place]);
    }
}

// Latencies of operations, exact or bounded, and the quantiles of the exact ones.
class EditReplay::LatencyReader {
  public:
    explicit LatencyReader(EditReplay& replay) : replay_(replay) {}

    void read() {
        replay_.least_in_flight_.assign(rules().adds.size(), std::numeric_limits<uint32_t>::max());
        for (size_t wave = 0; wave < input().first.size(); ++wave) read_wave(wave);
        read_typical();
        for (const std::vector<uint32_t>& operations : uncertain_) pin(operations);
    }

  private:
    const ReplayInput& input() const { return replay_.input_; }
    const EditRules& rules() const { return replay_.rules_; }
    Source& source(size_t instruction) { return replay_.sources_[instruction]; }

    void read_wave(size_t wave) {
        OperationQueues queues;
        for (size_t i = input().first[wave]; i < input().first[wave] + input().count[wave]; ++i) {
            const int32_t row = input().row[i];
            if (at_row(rules().is_wait, row) && !replay_.waits_[static_cast<size_t>(row)].empty()) {
                const OperationQueues::Answer& done = queues.wait(replay_.waits_[static_cast<size_t>(row)]);
                if (done.producers.empty()) continue;
                read_wait(i, done);
            } else if (at_row(rules().is_end, row)) {
                read_end(wave, i, queues);
            }
            const uint16_t adds = at_row(rules().adds, row);
            if (adds != 0) queues.add(static_cast<uint32_t>(i), adds, at_row(rules().order, row));
        }
    }

    // The operations that a wait proves to be done were so when it ended; if it did not stall, before it began.
    void read_wait(size_t wait, const OperationQueues::Answer& done) {
        const int64_t stall = replay_.replay_.steps_[wait].stall;
        const bool is_stalled = stall > input().issue_cycles;
        const int64_t latest_end = source(wait).issue - (is_stalled ? 0 : stall);
        for (const uint32_t producer : done.producers) {
            Source& operation = source(producer);
            const int64_t most = std::max<int64_t>(0, latest_end - operation.issue);
            operation.latency = operation.latency < 0 ? most : std::min(operation.latency, most);
        }
        source(wait).is_explained = is_stalled;
        if (is_stalled && done.is_certain) source(done.producers.back()).is_tight = true;
        if (is_stalled && !done.is_certain) uncertain_.push_back(done.producers);
        uint32_t& least = replay_.least_in_flight_[static_cast<size_t>(input().row[done.producers.back()])];
        least = std::min(least, done.in_flight);
    }

    // The end of a program waits for the stores of its wave.
    void read_end(size_t wave, size_t instruction, const OperationQueues& queues) {
        const int64_t end = replay_.wave_starts_[wave] + cycles_between(input().begin[wave], input().end[wave]);
        queues.each([&](uint32_t operation) {
            if (!at_row(rules().is_store, input().row[operation])) return;
            const int64_t most = end - source(operation).issue - kEndSlots * input().issue_cycles;
            source(operation).latency = std::max<int64_t>(0, most);
            source(instruction).is_explained = true;
        });
    }

    // By row where it has enough exact latencies, else by the kind of operation.
    void read_typical() {
        std::vector<std::vector<int64_t>> by_row(rules().adds.size());
        std::unordered_map<uint32_t, std::vector<int64_t>> by_key;
        for (size_t i = 0; i < replay_.sources_.size(); ++i) {
            if (!source(i).is_tight || input().row[i] < 0) continue;
            by_row[static_cast<size_t>(input().row[i])].push_back(source(i).latency);
            by_key[at_row(rules().key, input().row[i])].push_back(source(i).latency);
        }
        replay_.typical_.resize(by_row.size());
        for (size_t row = 0; row < by_row.size(); ++row) {
            const auto of_key = by_key.find(rules().key[row]);
            const bool is_own = by_row[row].size() >= kLeastSamples;
            if (!is_own && (of_key == by_key.end() || of_key->second.size() < kLeastSamples)) continue;
            std::vector<int64_t>& samples = is_own ? by_row[row] : of_key->second;
            replay_.typical_[row] = {.is_known = true,
                                     .low = static_cast<int64_t>(quantile(samples, kLowShare)),
                                     .middle = static_cast<int64_t>(quantile(samples, kMiddleShare)),
                                     .high = static_cast<int64_t>(quantile(samples, kHighShare))};
        }
    }

    // Of operations that may have ended a wait the one did that usually takes longest; all, where that is not known.
    void pin(std::span<const uint32_t> operations) {
        const auto usual_end = [&](uint32_t operation) {
            const Typical& typical = replay_.typical_[static_cast<size_t>(input().row[operation])];
            return typical.is_known ? source(operation).issue + typical.middle : std::numeric_limits<int64_t>::max();
        };
        int64_t latest = std::numeric_limits<int64_t>::min();
        for (const uint32_t operation : operations) latest = std::max(latest, usual_end(operation));
        for (const uint32_t operation : operations) source(operation).is_pinned |= usual_end(operation) == latest;
    }

    EditReplay& replay_;
    std::vector<std::vector<uint32_t>> uncertain_;  // operations of stalled waits that any of them may have ended
};

// The service time of memory or LDS under which exact latencies differ least, and the longest that they do not
// contradict. What is left of a latency behind the queue is its rest.
class EditReplay::ServerFit {
  public:
    ServerFit(EditReplay& replay, size_t unit)
        : replay_(replay), server_(replay.servers_[unit]), operations_(replay.replay_.cu_count_) {
        const ReplayInput& input = replay_.input_;
        for (size_t wave = 0; wave < input.first.size(); ++wave)
            for (size_t i = input.first[wave]; i < input.first[wave] + input.count[wave]; ++i) {
                if (at_row(replay_.rules_.unit, input.row[i], int32_t{-1}) != static_cast<int32_t>(unit)) continue;
                operations_[input.cu[wave]].push_back(static_cast<uint32_t>(i));
                if (replay_.sources_[i].is_tight) tight_.push_back(static_cast<uint32_t>(i));
            }
        for (auto& operations : operations_)
            std::stable_sort(operations.begin(), operations.end(), [&](uint32_t a, uint32_t b) {
                return replay_.sources_[a].issue < replay_.sources_[b].issue;
            });
    }

    void fit() {
        server_.samples = tight_.size();
        if (tight_.size() < kFewestTight) return;
        server_.most_cycles = longest_service();
        find_best_service();
        set_rests(server_.fitted_cycles, &Source::rest);
        set_rests(server_.most_cycles, &Source::rest_most);
    }

  private:
    int64_t completion(uint32_t operation) const {
        return replay_.sources_[operation].issue + replay_.sources_[operation].latency;
    }

    // When the queue would be done with each of its operations, by instruction.
    std::vector<double> served(double cycles_per_dword) const {
        std::vector<double> done(replay_.sources_.size());
        for (const std::vector<uint32_t>& operations : operations_) {
            double free_from = kLongAgo;
            for (const uint32_t i : operations) {
                free_from = std::max(free_from, static_cast<double>(replay_.sources_[i].issue)) +
                            cycles_per_dword * at_row(replay_.rules_.dwords, replay_.input_.row[i]);
                done[i] = free_from;
            }
        }
        return done;
    }

    std::vector<int64_t> rests_of_tight(double cycles_per_dword) const {
        const std::vector<double> done = served(cycles_per_dword);
        std::vector<int64_t> rests;
        for (const uint32_t i : tight_) rests.push_back(completion(i) - static_cast<int64_t>(done[i]));
        return rests;
    }

    // A service time contradicts a latency where less than a possible rest is left of it.
    double longest_service() const {
        std::vector<int64_t> latencies;
        for (const uint32_t i : tight_) latencies.push_back(replay_.sources_[i].latency);
        const double least_rest = kLeastRest * quantile(latencies, kLeastShare);
        double low = 0, high = kMostCycles;
        for (int turn = 0; turn < kHalvings; ++turn) {
            const double cycles = (low + high) / 2;
            const std::vector<double> done = served(cycles);
            const auto contradicted = std::count_if(tight_.begin(), tight_.end(), [&](uint32_t i) {
                return done[i] + least_rest > static_cast<double>(completion(i) + kRestTolerance);
            });
            const bool is_possible =
                static_cast<double>(contradicted) <= kLateShare * static_cast<double>(tight_.size());
            (is_possible ? low : high) = cycles;
        }
        return low;
    }

    void find_best_service() {
        server_.spread = std::numeric_limits<double>::max();
        const auto try_cycles = [&](double cycles) {
            std::vector<int64_t> rests = rests_of_tight(cycles);
            const double spread = quantile(rests, kSpreadHigh) - quantile(rests, kSpreadLow);
            if (cycles == 0) server_.spread_without = spread;
            if (spread >= server_.spread) return;
            server_.spread = spread;
            server_.fitted_cycles = cycles;
        };
        try_cycles(0);
        for (int step = 0; step < kGridSize; ++step) try_cycles(std::pow(kGridStep, step));
        // A long queue adds up what a service time is off by: near the longest one that is possible, small steps
        // matter.
        for (int step = 0; step < kFineSize; ++step)
            try_cycles(server_.most_cycles * (kFineFirst + kFineStep * static_cast<double>(step)));
    }

    // An operation keeps the rest of its own latency. Where that is not known it has the usual one; where it is only a
    // bound, at most the usual one.
    void set_rests(double cycles_per_dword, int64_t Source::* rest) {
        std::vector<int64_t> rests = rests_of_tight(cycles_per_dword);
        const auto usual = static_cast<int64_t>(quantile(rests, kMiddleShare));
        const std::vector<double> done = served(cycles_per_dword);
        for (const auto& operations : operations_)
            for (const uint32_t i : operations) {
                Source& source = replay_.sources_[i];
                int64_t own = usual;
                if (source.latency >= 0) {
                    own = completion(i) - std::llround(done[i]);
                    const bool is_known = replay_.typical_[static_cast<size_t>(replay_.input_.row[i])].is_known;
                    if (!source.is_tight && !source.is_pinned && is_known) own = std::min(own, usual);
                }
                source.*rest = own;
            }
    }

    EditReplay& replay_;
    FittedServer& server_;
    std::vector<std::vector<uint32_t>> operations_;  // of the unit by CU, in the order of their issue
    std::vector<uint32_t> tight_;                    // those with an exact latency
};

void EditReplay::read_latencies() {
    LatencyReader(*this).read();
    for (size_t unit = 0; unit < servers_.size(); ++unit) ServerFit(*this, unit).fit();
}

}  // namespace wavewright
