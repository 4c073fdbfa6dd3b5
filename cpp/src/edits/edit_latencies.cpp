// What a trace says of the latencies of its operations, and the service time of a queue that explains them best.
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
constexpr double kGridStep = 1.15;    // of service times that are tried
constexpr int kGridSize = 46;
constexpr double kFineFirst = 0.8, kFineStep = 0.005;  // of the longest service time that is possible
constexpr int kFineSize = 91;
constexpr double kMostCycles = 512;
constexpr int kHalvings = 11;
constexpr double kLateShare = 0.05;  // of exact latencies that a service time may contradict

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

void EditReplay::read_sources() {
    double contended = 0, lived = 0;
    std::vector<int64_t> starts(replay_.cu_count_, std::numeric_limits<int64_t>::max());
    for (size_t wave = 0; wave < input_.first.size(); ++wave)
        starts[input_.cu[wave]] = std::min(starts[input_.cu[wave]], input_.begin[wave]);
    begins_.resize(input_.first.size());
    for (size_t wave = 0; wave < input_.first.size(); ++wave) {
        int64_t issue = begins_[wave] = plain(starts[input_.cu[wave]], input_.begin[wave]);
        lived += static_cast<double>(plain(input_.begin[wave], input_.end[wave]));
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

void EditReplay::read_meetings() {
    for (const uint32_t meeting : input_.meeting)
        meeting_count_ = std::max<size_t>(meeting_count_, size_t{meeting} + 1);
    std::vector<int64_t> last(meeting_count_, std::numeric_limits<int64_t>::min());
    for (size_t i = 0; i < input_.meeting.size(); ++i)
        last[input_.meeting[i]] = std::max(last[input_.meeting[i]], input_.arrival[i]);
    size_t wave = 0;
    for (size_t i = 0; i < input_.barrier.size(); ++i) {
        const uint64_t place = input_.barrier[i];
        while (wave < input_.first.size() && place >= input_.first[wave] + input_.count[wave]) ++wave;
        if (wave == input_.first.size() || place < input_.first[wave]) continue;
        Source& source = sources_[place];
        const int64_t issued = input_.begin[wave] + (source.issue - begins_[wave]);
        source.meeting = static_cast<int32_t>(input_.meeting[i]);
        source.cost = static_cast<int32_t>(std::clamp<int64_t>(plain(last[input_.meeting[i]], issued), 0, INT32_MAX));
        source.signalled =
            static_cast<int32_t>(std::clamp<int64_t>(plain(input_.arrival[i], input_.time[place]), 0, INT32_MAX));
    }
}

// Upper bounds of the latency of every operation, and which of them are exact.
void EditReplay::read_latencies() {
    least_in_flight_.assign(rules_.adds.size(), std::numeric_limits<uint32_t>::max());
    std::vector<std::vector<uint32_t>> uncertain;  // operations of waits that any of them may have ended
    for (size_t wave = 0; wave < input_.first.size(); ++wave) {
        OperationQueues queues;
        for (size_t i = input_.first[wave]; i < input_.first[wave] + input_.count[wave]; ++i) {
            const int32_t row = input_.row[i];
            Source& source = sources_[i];
            if (at_row(rules_.is_wait, row) && !waits_[static_cast<size_t>(row)].empty()) {
                const auto& answer = queues.wait(waits_[static_cast<size_t>(row)]);
                if (answer.producers.empty()) continue;
                const int64_t stall = replay_.steps_[i].stall;
                const bool is_stalled = stall > input_.issue_cycles;
                for (const uint32_t producer : answer.producers) {
                    Source& operation = sources_[producer];
                    const int64_t most =
                        std::max<int64_t>(0, source.issue - (is_stalled ? 0 : stall) - operation.issue);
                    operation.latency = operation.latency < 0 ? most : std::min(operation.latency, most);
                }
                if (is_stalled && !answer.is_certain) uncertain.push_back(answer.producers);
                const int32_t last = input_.row[answer.producers.back()];
                uint32_t& least = least_in_flight_[static_cast<size_t>(last)];
                least = std::min(least, answer.in_flight);
                source.is_explained = is_stalled;
                if (is_stalled && answer.is_certain) sources_[answer.producers.back()].is_tight = true;
            } else if (at_row(rules_.is_end, row)) {
                const int64_t end = begins_[wave] + plain(input_.begin[wave], input_.end[wave]);
                queues.each([&](uint32_t operation) {
                    if (!at_row(rules_.is_store, input_.row[operation])) return;
                    const int64_t most = end - sources_[operation].issue - 4 * input_.issue_cycles;
                    sources_[operation].latency = std::max<int64_t>(0, most);
                    source.is_explained = true;
                });
            }
            const uint16_t adds = at_row(rules_.adds, row);
            if (adds != 0) queues.add(static_cast<uint32_t>(i), adds, at_row(rules_.order, row));
        }
    }
    std::vector<std::vector<int64_t>> by_row(rules_.adds.size());
    std::unordered_map<uint32_t, std::vector<int64_t>> by_key;
    for (size_t i = 0; i < sources_.size(); ++i) {
        if (!sources_[i].is_tight || input_.row[i] < 0) continue;
        by_row[static_cast<size_t>(input_.row[i])].push_back(sources_[i].latency);
        by_key[at_row(rules_.key, input_.row[i])].push_back(sources_[i].latency);
    }
    typical_.resize(by_row.size());
    for (size_t row = 0; row < by_row.size(); ++row) {
        const auto of_key = by_key.find(rules_.key[row]);
        const bool is_own = by_row[row].size() >= kLeastSamples;
        if (!is_own && (of_key == by_key.end() || of_key->second.size() < kLeastSamples)) continue;
        std::vector<int64_t>& samples = is_own ? by_row[row] : of_key->second;
        typical_[row] = {true, static_cast<int64_t>(quantile(samples, 0.05)),
                         static_cast<int64_t>(quantile(samples, 0.5)), static_cast<int64_t>(quantile(samples, 0.95))};
    }
    for (const std::vector<uint32_t>& operations : uncertain) pin(operations);
}

// Of operations that may have ended a wait the one did that usually takes longest; all, where that is not known.
void EditReplay::pin(std::span<const uint32_t> operations) {
    const auto end_of = [&](uint32_t i) {
        const Typical& typical = typical_[static_cast<size_t>(input_.row[i])];
        return typical.is_known ? sources_[i].issue + typical.middle : std::numeric_limits<int64_t>::max();
    };
    int64_t latest = std::numeric_limits<int64_t>::min();
    for (const uint32_t i : operations) latest = std::max(latest, end_of(i));
    for (const uint32_t i : operations) sources_[i].is_pinned |= end_of(i) == latest;
}

// When the queue of a unit would be done with each of its operations, by CU.
std::vector<double> EditReplay::served(size_t unit, double cycles) const {
    std::vector<double> done(sources_.size());
    for (const std::vector<uint32_t>& operations : served_[unit]) {
        double free_from = -1e18;
        for (const uint32_t i : operations) {
            free_from = std::max(free_from, static_cast<double>(sources_[i].issue)) +
                        cycles * at_row(rules_.dwords, input_.row[i]);
            done[i] = free_from;
        }
    }
    return done;
}

// The service time under which exact latencies differ least, and the longest that they do not contradict.
void EditReplay::fit(size_t unit) {
    served_[unit].assign(replay_.cu_count_, {});
    std::vector<uint32_t> tight;
    std::vector<int64_t> latencies;
    for (size_t wave = 0; wave < input_.first.size(); ++wave)
        for (size_t i = input_.first[wave]; i < input_.first[wave] + input_.count[wave]; ++i) {
            if (at_row(rules_.unit, input_.row[i], int32_t{-1}) != static_cast<int32_t>(unit)) continue;
            served_[unit][input_.cu[wave]].push_back(static_cast<uint32_t>(i));
            if (sources_[i].is_tight) tight.push_back(static_cast<uint32_t>(i));
        }
    for (auto& operations : served_[unit])
        std::stable_sort(operations.begin(), operations.end(),
                         [&](uint32_t a, uint32_t b) { return sources_[a].issue < sources_[b].issue; });
    FittedServer& server = servers_[unit];
    server.samples = tight.size();
    if (tight.size() < 4) return;
    for (const uint32_t i : tight) latencies.push_back(sources_[i].latency);
    const double least = quantile(latencies, 0.02);
    const auto rests = [&](double cycles) {
        const std::vector<double> done = served(unit, cycles);
        std::vector<int64_t> rest;
        for (const uint32_t i : tight)
            rest.push_back(sources_[i].issue + sources_[i].latency - static_cast<int64_t>(done[i]));
        return rest;
    };
    double low = 0, high = kMostCycles;
    for (int turn = 0; turn < kHalvings; ++turn) {
        const double cycles = (low + high) / 2;
        const std::vector<double> done = served(unit, cycles);
        const auto late = std::count_if(tight.begin(), tight.end(), [&](uint32_t i) {
            return done[i] + 0.5 * least > static_cast<double>(sources_[i].issue + sources_[i].latency + 16);
        });
        (static_cast<double>(late) <= kLateShare * static_cast<double>(tight.size()) ? low : high) = cycles;
    }
    server.most_cycles = low;
    server.spread = std::numeric_limits<double>::max();
    const auto try_cycles = [&](double cycles) {
        std::vector<int64_t> rest = rests(cycles);
        const double spread = quantile(rest, 0.8) - quantile(rest, 0.2);
        if (cycles == 0) server.spread_without = spread;
        if (spread >= server.spread) return;
        server.spread = spread;
        server.fitted_cycles = cycles;
    };
    try_cycles(0);
    for (int step = 0; step < kGridSize; ++step) try_cycles(std::pow(kGridStep, step));
    // A long queue adds up what a service time is off by: near the longest one that is possible, small steps matter.
    for (int step = 0; step < kFineSize; ++step)
        try_cycles(server.most_cycles * (kFineFirst + kFineStep * static_cast<double>(step)));
    for (const bool is_most : {false, true}) {
        const double cycles = is_most ? server.most_cycles : server.fitted_cycles;
        std::vector<int64_t> rest = rests(cycles);
        const auto middle = static_cast<int64_t>(quantile(rest, 0.5));
        const std::vector<double> done = served(unit, cycles);
        for (const auto& operations : served_[unit])
            for (const uint32_t i : operations) {
                Source& source = sources_[i];
                int64_t own = middle;
                if (source.latency >= 0) {
                    own = source.issue + source.latency - std::llround(done[i]);
                    const bool is_known = typical_[static_cast<size_t>(input_.row[i])].is_known;
                    if (!source.is_tight && !source.is_pinned && is_known) own = std::min(own, middle);
                }
                (is_most ? source.rest_most : source.rest) = own;
            }
    }
}

}  // namespace wavewright
