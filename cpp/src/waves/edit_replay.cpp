#include "wavewright/edit_replay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "waves/edit_queues.hpp"

namespace wavewright {
namespace {

constexpr int64_t kLongestPost = 64;  // cycles from an issue to what comes next of the same wave
constexpr int64_t kLongestSpan = int64_t{1} << 40;
constexpr size_t kLeastSamples = 3;  // exact latencies of a row that make its quantiles
constexpr double kGridStep = 1.15;   // of service times that are tried
constexpr int kGridSize = 46;
constexpr double kFineFirst = 0.8, kFineStep = 0.005;  // of the longest service time that is possible
constexpr int kFineSize = 91;
constexpr double kMostCycles = 512;
constexpr int kHalvings = 11;
constexpr double kLateShare = 0.05;  // of exact latencies that a service time may contradict
constexpr uint8_t kMemoryPort = 5;   // Port of replay.cpp
constexpr uint8_t kPorts = 4;

int64_t plain(int64_t earlier, int64_t later) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(later, earlier, &difference) || std::abs(difference) > kLongestSpan)
        throw std::invalid_argument("the times of this trace lie too far apart to replay an edit");
    return difference;
}

double quantile(std::vector<int64_t>& values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(at);
    const size_t high = std::min(low + 1, values.size() - 1);
    return static_cast<double>(values[low]) +
           (at - static_cast<double>(low)) * static_cast<double>(values[high] - values[low]);
}

template <class T>
T at_row(std::span<const T> values, int32_t row, T otherwise = {}) {
    return row >= 0 && static_cast<size_t>(row) < values.size() ? values[static_cast<size_t>(row)] : otherwise;
}

bool is_first_come(EditMode mode) {
    return mode == EditMode::first_come || mode == EditMode::server_first_come;
}

}  // namespace

EditReplay::EditReplay(const ReplayInput& input, const EditRules& rules)
    : input_(input), rules_(rules), replay_(input), sources_(input.time.size()) {
    waits_.resize(rules_.adds.size());
    for (size_t i = 0; i < rules_.wait_row.size(); ++i) {
        const int32_t row = rules_.wait_row[i];
        if (row >= 0 && static_cast<size_t>(row) < waits_.size())
            waits_[static_cast<size_t>(row)].push_back({rules_.wait_counter[i], rules_.wait_value[i]});
    }
    read_sources();
    read_meetings();
    read_latencies();
    fit(0);
    fit(1);
    for (const int64_t cycles : replay_.recorded()) recorded_ += cycles;
    identity_ = as_recorded().cycles;
}

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

// The instructions of all waves in their new order.
struct EditReplay::Sequence {
    static constexpr uint32_t kNoSource = std::numeric_limits<uint32_t>::max();

    struct Item {
        uint32_t source = kNoSource;
        int32_t wait = 0, own = 0;
        int64_t recorded = 0;  // order among those that wait for a port
        uint32_t first_edge = 0;
        int64_t longest = -1;  // latency of the operations that are one with it
        uint8_t dwords = 0;
        bool is_wait = false, is_moved = false, ends = false;
    };
    struct Edge {
        uint32_t from;
        int32_t cycles;  // from issue to issue; -1 = from its end
    };

    std::vector<Item> items;
    std::vector<Edge> edges;
    std::vector<uint64_t> first;  // of each wave, and behind the last one
    std::vector<int64_t> rest;    // of each wave, from its last issue to its end
    uint64_t memory_dwords = 0, executions = 0, lacking_samples = 0, waits_seen = 0, emptier_waits = 0;
};

class EditReplay::Builder {
  public:
    Builder(const EditReplay& replay, const EditedBlock* block) : replay_(replay), block_(block) {
        if (block_ == nullptr) return;
        for (const EditRow& row : block_->rows)
            if (row.row < 0 || row.is_moved || row.ahead) is_changed_ = true;
    }

    Sequence build() {
        sequence_.items.reserve(replay_.sources_.size() + replay_.sources_.size() / 8);
        for (size_t wave = 0; wave < replay_.input_.first.size(); ++wave) build_wave(wave);
        sequence_.first.push_back(sequence_.items.size());
        sequence_.items.push_back({.first_edge = static_cast<uint32_t>(sequence_.edges.size())});
        return std::move(sequence_);
    }

  private:
    using Item = Sequence::Item;

    void build_wave(size_t wave) {
        const ReplayInput& input = replay_.input_;
        begin_ = input.first[wave];
        const uint64_t stop = begin_ + input.count[wave];
        sequence_.first.push_back(sequence_.items.size());
        sequence_.rest.push_back(replay_.replay_.rest_[wave]);
        queues_ = {};
        post_ = 0;
        recorded_ = replay_.begins_[wave];
        bool is_around = false;
        for (uint64_t i = begin_; i < stop;) {
            if (block_ == nullptr || !find(now_, i, stop)) {
                add(i, nullptr, i);
                is_around = false;
                ++i;
                continue;
            }
            const bool goes_on = find(next_, i + now_.length, stop);
            ++sequence_.executions;
            if (!is_around)
                for (const EditRow& row : block_->prologue) add_row(row, now_);
            places_before_ = is_around ? std::exchange(places_, {}) : std::vector<uint32_t>{};
            places_.clear();
            for (size_t k = 0; k < block_->rows.size(); ++k) {
                const EditRow& row = block_->rows[k];
                places_.push_back(static_cast<uint32_t>(sequence_.items.size()));
                const bool is_head = k == 0 && row.row != block_->first;
                add_row(row, row.ahead && goes_on ? next_ : now_, is_head);
            }
            if (!goes_on)
                for (const EditRow& row : block_->epilogue) add_row(row, now_);
            is_around = true;
            i += now_.length;
        }
        finish(wave);
    }

    // One execution of the block: where the records of its rows stand. In raw traces a barrier has two, its arrival and
    // its release; a block of one row that is there twice was executed twice.
    struct Execution {
        uint64_t begin = 0, length = 0;
        std::vector<uint32_t> at;  // by row of the block, and behind the last one
    };

    bool find(Execution& execution, uint64_t begin, uint64_t stop) const {
        execution.begin = begin;
        execution.at.clear();
        uint64_t i = begin;
        for (int32_t row = block_->first; row <= block_->last; ++row) {
            if (i >= stop || replay_.input_.row[i] != row) return false;
            execution.at.push_back(static_cast<uint32_t>(i++ - begin));
            while (block_->first != block_->last && i < stop && replay_.input_.row[i] == row) ++i;
        }
        execution.length = i - begin;
        execution.at.push_back(static_cast<uint32_t>(execution.length));
        return true;
    }

    void add_row(const EditRow& row, const Execution& execution, bool is_head = false) {
        if (row.row < 0) return add(Sequence::kNoSource, &row, now_.begin, is_head);
        const auto number = static_cast<size_t>(row.row - block_->first);
        const uint64_t first = execution.begin + execution.at[number],
                       stop = execution.begin + execution.at[number + 1];
        add(first, &row, now_.begin, is_head);
        for (uint64_t i = first + 1; i < stop; ++i) add(i, nullptr, i);
    }

    int32_t rest_of_wait(uint64_t i) const {
        return replay_.sources_[i].wait - (i > begin_ ? replay_.sources_[i - 1].post : 0);
    }

    // One instruction; `edit` = nullptr outside of the block. The first place of a block keeps what it costs to get
    // there.
    void add(uint64_t from, const EditRow* edit, uint64_t start, bool is_head = false) {
        const bool is_new = from == Sequence::kNoSource;
        const auto number = static_cast<uint32_t>(sequence_.items.size());
        const int32_t row = is_new ? -1 : replay_.input_.row[from];
        const bool is_moved = edit != nullptr && (edit->is_moved || edit->ahead || is_new);
        const int32_t slot = replay_.input_.issue_cycles;
        Item item{.first_edge = static_cast<uint32_t>(sequence_.edges.size())};
        item.is_moved = is_moved;
        item.is_wait = is_new ? edit->is_wait : at_row(replay_.rules_.is_wait, row) != 0;
        const std::span<const EditWait> waits = waits_of(item, edit, row, is_new);
        const bool waits_for_some = item.is_wait && !waits.empty();
        if (is_new) {
            item.wait = post_;
            item.own = edit->is_wait ? slot : slot * edit->padding_states;
            item.recorded = recorded_;
            post_ = 0;
        } else {
            const Source& source = replay_.sources_[from];
            item.source = static_cast<uint32_t>(from);
            item.wait = std::max(0, rest_of_wait(from) + post_);
            item.own = source.own;
            item.recorded = source.issue;
            item.dwords = edit != nullptr && edit->dwords ? edit->dwords : at_row(replay_.rules_.dwords, row);
            if (is_moved && source.meeting < 0) {
                item.wait = post_;
                if (source.port != kMemoryPort && !waits_for_some) item.own = 0;
            }
            post_ = source.post;
            for (const int32_t joined : edit != nullptr ? std::span(edit->joined) : std::span<const int32_t>()) {
                const Source& other =
                    replay_.sources_[now_.begin + now_.at[static_cast<size_t>(joined - block_->first)]];
                item.longest = std::max(item.longest, other.issue + other.latency - source.issue);
            }
        }
        if (is_head) item.wait = std::max(0, rest_of_wait(start) + post_before_);
        recorded_ = item.recorded;
        if (waits_for_some) {
            add_wait(item, waits, is_new, is_moved, from, slot);
        } else if (!is_new && at_row(replay_.rules_.is_end, row) && replay_.sources_[from].is_explained) {
            add_end(item, slot);
        }
        const uint16_t adds = at_row(replay_.rules_.adds, row);
        if (adds != 0) count_operation(number, row, adds, item, is_moved);
        if (is_moved && edit != nullptr && !item.is_wait) add_edges(*edit);
        sequence_.items.push_back(item);
        post_before_ = post_;
    }

    std::span<const EditWait> waits_of(const Item& item, const EditRow* edit, int32_t row, bool is_new) const {
        if (is_new) return edit->waits;
        if (!item.is_wait) return {};
        return replay_.waits_[static_cast<size_t>(row)];
    }

    void add_wait(Item& item, std::span<const EditWait> waits, bool is_new, bool is_moved, uint64_t from,
                  int32_t slot) {
        const auto& answer = queues_.wait(waits);
        if (is_new || replay_.sources_[from].is_explained || is_moved)
            item.own = is_new ? slot : std::min(item.own, slot);
        for (const uint32_t producer : answer.producers) {
            sequence_.edges.push_back({producer, -1});
            if (is_new && is_latency_unknown(sequence_.items[producer].source)) ++sequence_.lacking_samples;
        }
        if (answer.producers.empty() || !is_changed_) return;
        const uint32_t last = sequence_.items[answer.producers.back()].source;
        if (last == Sequence::kNoSource) return;
        const int32_t row = replay_.input_.row[last];
        const uint32_t least = replay_.least_in_flight_[static_cast<size_t>(row)];
        ++sequence_.waits_seen;
        if (answer.in_flight < least && least != std::numeric_limits<uint32_t>::max()) ++sequence_.emptier_waits;
    }

    // True of an operation that only ever shared waits which any of several may have ended.
    bool is_latency_unknown(uint32_t number) const {
        if (number == Sequence::kNoSource || replay_.input_.row[number] < 0) return false;
        const Source& source = replay_.sources_[number];
        return source.is_pinned && !source.is_tight &&
               !replay_.typical_[static_cast<size_t>(replay_.input_.row[number])].is_known;
    }

    void add_end(Item& item, int32_t slot) {
        const size_t before = sequence_.edges.size();
        queues_.each([&](uint32_t operation) {
            const uint32_t source = sequence_.items[operation].source;
            if (source == Sequence::kNoSource || replay_.sources_[source].latency < 0) return;
            if (at_row(replay_.rules_.is_store, replay_.input_.row[source])) sequence_.edges.push_back({operation, -1});
        });
        if (sequence_.edges.size() == before) return;
        item.wait = slot;
        item.own = 0;
        item.ends = true;
    }

    void count_operation(uint32_t number, int32_t row, uint16_t adds, const Item& item, bool is_moved) {
        queues_.add(number, adds, at_row(replay_.rules_.order, row));
        if (at_row(replay_.rules_.unit, row, int32_t{-1}) == 0) sequence_.memory_dwords += item.dwords;
        const auto at = static_cast<size_t>(row);
        const bool is_load = !at_row(replay_.rules_.is_store, row);
        if (is_moved && is_load && !replay_.typical_[at].is_known) ++sequence_.lacking_samples;
    }

    void add_edges(const EditRow& edit) {
        for (const EditEdge& edge : edit.edges) {
            const std::vector<uint32_t>& places = edge.is_around ? places_before_ : places_;
            if (edge.from >= places.size()) continue;
            const uint32_t from = places[edge.from];
            const uint32_t source = sequence_.items[from].source;
            const int32_t port =
                edge.adds_port && source != Sequence::kNoSource ? replay_.sources_[source].occupied : 0;
            sequence_.edges.push_back({from, edge.cycles + port});
        }
    }

    void finish(size_t wave) {
        if (sequence_.items.size() > sequence_.first.back() && sequence_.items.back().ends)
            sequence_.rest[wave] = std::min<int64_t>(sequence_.rest[wave], 4 * replay_.input_.issue_cycles);
    }

    const EditReplay& replay_;
    const EditedBlock* block_;
    bool is_changed_ = false;
    Sequence sequence_;
    OperationQueues queues_;
    uint64_t begin_ = 0;
    int32_t post_ = 0, post_before_ = 0;
    int64_t recorded_ = 0;
    Execution now_, next_;
    std::vector<uint32_t> places_, places_before_;  // of the rows of this execution of the block, and of the one before
};

// When each wave starts: at a time, or when another one has ended.
struct EditReplay::Starts {
    std::vector<uint32_t> trigger;  // by wave; kNone = it starts at a time
    std::vector<int64_t> lag;       // from the end of the trigger, or the time itself
    std::vector<std::vector<uint32_t>> triggered;
    uint64_t moved_waves = 0;

    static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

    void find_triggered() {
        triggered.assign(trigger.size(), {});
        for (uint32_t wave = 0; wave < trigger.size(); ++wave)
            if (trigger[wave] != kNone) triggered[trigger[wave]].push_back(wave);
    }
};

// One replay of a sequence.
class EditReplay::Run {
  public:
    Run(const EditReplay& replay, const Sequence& sequence, const Starts& starts, EditMode mode)
        : replay_(replay),
          sequence_(sequence),
          starts_(starts),
          mode_(mode),
          waves_(replay.begins_.size()),
          ports_(replay.replay_.simd_count_ * kPorts),
          free_from_(replay.replay_.cu_count_ * 2, -1e18),
          meetings_(replay.meeting_count_),
          last_end_(replay.replay_.cu_count_, 0),
          issued_(sequence.items.size()),
          completed_(sequence.items.size()) {
        for (const Sequence::Item& item : sequence.items)
            if (item.source != Sequence::kNoSource && replay.sources_[item.source].meeting >= 0)
                ++meetings_[static_cast<size_t>(replay.sources_[item.source].meeting)].expected;
        for (size_t unit = 0; unit < 2; ++unit) {
            const FittedServer& server = replay.servers_[unit];
            const bool is_fitted = mode == EditMode::server || mode == EditMode::server_first_come;
            service_[unit] = mode == EditMode::server_most ? server.most_cycles : is_fitted ? server.fitted_cycles : 0;
        }
        for (uint32_t wave = 0; wave < waves_.size(); ++wave)
            if (starts.trigger[wave] == Starts::kNone) start(wave, starts.lag[wave]);
    }

    int64_t cycles() {
        do {
            while (!events_.empty()) {
                const Event event = events_.top();
                events_.pop();
                happen(event);
            }
        } while (release_someone());
        int64_t sum = 0;
        for (size_t cu = 0; cu < last_end_.size(); ++cu) sum += std::max<int64_t>(0, last_end_[cu]);
        return sum;
    }

    int64_t issued(uint64_t at) const { return issued_[at]; }

  private:
    struct Event {
        int64_t time, recorded;
        uint32_t wave;                              // or, behind the waves, a port
        bool operator<(const Event& other) const {  // the one that comes later
            return std::tie(time, recorded, wave) > std::tie(other.time, other.recorded, other.wave);
        }
    };
    struct LaterTurn {
        bool operator()(const Event& a, const Event& b) const {
            return a.recorded != b.recorded ? a.recorded > b.recorded : a.wave > b.wave;
        }
    };
    enum class Phase : uint8_t { begin, issue, end };
    struct Wave {
        uint64_t at = 0, stop = 0;
        int64_t issue = 0;
        Phase phase = Phase::begin;
    };
    struct TakenPort {
        int64_t free_from = std::numeric_limits<int64_t>::min();
        std::priority_queue<Event, std::vector<Event>, LaterTurn> waiting;
    };
    struct Meeting {
        uint32_t expected = 0;
        int64_t latest = std::numeric_limits<int64_t>::min();
        std::vector<std::pair<uint32_t, int64_t>> waiting;
    };

    const Source* source(uint64_t at) const {
        const uint32_t number = sequence_.items[at].source;
        return number == Sequence::kNoSource ? nullptr : &replay_.sources_[number];
    }

    int64_t row_latency(const Source& source, int32_t row) const {
        const Typical& typical = replay_.typical_[static_cast<size_t>(row)];
        if (source.latency < 0 || source.is_tight || source.is_pinned || !typical.is_known) return source.latency;
        const int64_t most = mode_ == EditMode::kept     ? typical.high
                             : mode_ == EditMode::hidden ? typical.low
                                                         : typical.middle;
        return std::min(source.latency, most);
    }

    void start(uint32_t number, int64_t time) {
        Wave& wave = waves_[number];
        wave.at = sequence_.first[number];
        wave.stop = sequence_.first[number + 1];
        events_.push({time, replay_.begins_[number], number});
    }

    void happen(const Event& event) {
        if (event.wave >= waves_.size()) return hand_on(event.wave - static_cast<uint32_t>(waves_.size()), event.time);
        Wave& wave = waves_[event.wave];
        switch (wave.phase) {
            case Phase::begin: wave.issue = event.time; return plan(event.wave, wave);
            case Phase::issue: return attempt(event, wave);
            case Phase::end: return finish(event);
        }
    }

    void plan(uint32_t number, Wave& wave) {
        if (wave.at >= wave.stop) {
            wave.phase = Phase::end;
            events_.push({wave.issue + sequence_.rest[number], std::numeric_limits<int64_t>::max(), number});
            return;
        }
        const Sequence::Item& item = sequence_.items[wave.at];
        const Source* from = source(wave.at);
        int64_t ready = wave.issue + item.wait;
        const bool is_meeting = from != nullptr && from->meeting >= 0;
        const bool is_free =
            mode_ == EditMode::hidden && item.is_moved && !item.is_wait && from != nullptr && from->port == kMemoryPort;
        if (!is_meeting && !is_free) ready += item.own;
        for (uint32_t e = item.first_edge; e < sequence_.items[wave.at + 1].first_edge; ++e) {
            const Sequence::Edge& edge = sequence_.edges[e];
            ready = std::max(ready, edge.cycles < 0 ? completed_[edge.from] : issued_[edge.from] + edge.cycles);
        }
        wave.phase = Phase::issue;
        events_.push({ready, is_first_come(mode_) ? ready : item.recorded, number});
    }

    void attempt(const Event& event, Wave& wave) {
        const Source* from = source(wave.at);
        if (from != nullptr && from->meeting >= 0) return arrive(event, *from);
        if (from == nullptr || from->port >= kPorts) return issue(event.wave, wave, event.time);
        const size_t number = replay_.input_.simd[event.wave] * kPorts + from->port;
        TakenPort& port = ports_[number];
        if (port.free_from <= event.time && port.waiting.empty()) {
            port.free_from = event.time + from->occupied;
            return issue(event.wave, wave, event.time);
        }
        if (port.waiting.empty()) events_.push(freed(number, event.time));
        port.waiting.push(event);
    }

    Event freed(size_t port, int64_t now) const {
        return {std::max(now, ports_[port].free_from), std::numeric_limits<int64_t>::max(),
                static_cast<uint32_t>(waves_.size() + port)};
    }

    void hand_on(size_t number, int64_t time) {
        TakenPort& port = ports_[number];
        const uint32_t next = port.waiting.top().wave;
        port.waiting.pop();
        Wave& wave = waves_[next];
        port.free_from = time + source(wave.at)->occupied;
        if (!port.waiting.empty()) events_.push(freed(number, time));
        issue(next, wave, time);
    }

    void issue(uint32_t number, Wave& wave, int64_t time) {
        issued_[wave.at] = time;
        completed_[wave.at] = completion(number, wave.at, time);
        wave.issue = time;
        ++wave.at;
        plan(number, wave);
    }

    int64_t completion(uint32_t number, uint64_t at, int64_t time) {
        const Source* from = source(at);
        if (from == nullptr) return time;
        const int32_t row = replay_.input_.row[sequence_.items[at].source];
        if (row < 0 || at_row(replay_.rules_.adds, row) == 0) return time;
        int64_t latency = row_latency(*from, row);
        if (mode_ == EditMode::kept) latency = std::max(latency, sequence_.items[at].longest);
        const int32_t unit = at_row(replay_.rules_.unit, row, int32_t{-1});
        if (unit < 0 || service_[static_cast<size_t>(unit)] <= 0 || latency < 0)
            return time + std::max<int64_t>(0, latency);
        double& free_from = free_from_[replay_.input_.cu[number] * 2 + static_cast<size_t>(unit)];
        free_from = std::max(free_from, static_cast<double>(time)) +
                    service_[static_cast<size_t>(unit)] * sequence_.items[at].dwords;
        const int64_t rest = mode_ == EditMode::server_most ? from->rest_most : from->rest;
        return std::max(time, static_cast<int64_t>(std::llround(free_from)) + rest);
    }

    void arrive(const Event& event, const Source& from) {
        Meeting& meeting = meetings_[static_cast<size_t>(from.meeting)];
        meeting.latest = std::max(meeting.latest, event.time - from.signalled);
        if (meeting.waiting.empty()) opened_.push_back(static_cast<size_t>(from.meeting));
        meeting.waiting.emplace_back(event.wave, event.time);
        if (meeting.waiting.size() >= meeting.expected) release(meeting);
    }

    void release(Meeting& meeting) {
        const auto waiting = std::exchange(meeting.waiting, {});
        const int64_t latest = std::exchange(meeting.latest, std::numeric_limits<int64_t>::min());
        for (const auto& [number, ready] : waiting) {
            Wave& wave = waves_[number];
            issue(number, wave, std::max(ready, latest + source(wave.at)->cost));
        }
    }

    bool release_someone() {
        while (first_open_ < opened_.size()) {
            Meeting& meeting = meetings_[opened_[first_open_++]];
            if (meeting.waiting.empty()) continue;
            release(meeting);
            return true;
        }
        return false;
    }

    void finish(const Event& event) {
        const uint32_t cu = replay_.input_.cu[event.wave];
        last_end_[cu] = std::max(last_end_[cu], event.time);
        for (const uint32_t other : starts_.triggered[event.wave]) start(other, event.time + starts_.lag[other]);
    }

    const EditReplay& replay_;
    const Sequence& sequence_;
    const Starts& starts_;
    EditMode mode_;
    std::array<double, 2> service_{};
    std::vector<Wave> waves_;
    std::vector<TakenPort> ports_;
    std::vector<double> free_from_;
    std::vector<Meeting> meetings_;
    std::vector<size_t> opened_;
    size_t first_open_ = 0;
    std::vector<int64_t> last_end_, issued_, completed_;
    std::priority_queue<Event> events_;
};

EditReplay::Starts EditReplay::recorded_starts() const {
    Starts starts{replay_.trigger_, begins_, {}};
    for (size_t wave = 0; wave < begins_.size(); ++wave)
        if (starts.trigger[wave] != Starts::kNone)
            starts.lag[wave] = plain(input_.end[starts.trigger[wave]], input_.begin[wave]);
    starts.find_triggered();
    return starts;
}

// Waves that started when one wave had ended took its workgroup's place together. With room for some groups more, each
// group starts when as many places were free before: at the end that an earlier group waited for, the first ones
// behind the waves that found a place at once.
EditReplay::Starts EditReplay::earlier_starts(uint32_t more) const {
    Starts starts = recorded_starts();
    struct Group {
        uint32_t trigger;
        std::vector<uint32_t> waves;
    };
    std::vector<std::vector<Group>> groups(replay_.cu_count_);
    std::vector<size_t> simds(replay_.cu_count_, 0);
    std::vector<bool> is_seen(replay_.simd_count_, false);
    std::vector<size_t> group_of(begins_.size(), begins_.size());  // by the wave that it waited for
    std::vector<int64_t> filled(replay_.cu_count_, 0);
    std::vector<uint32_t> order(begins_.size());
    for (uint32_t wave = 0; wave < order.size(); ++wave) order[wave] = wave;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return begins_[a] < begins_[b]; });
    for (const uint32_t wave : order) {
        const uint32_t cu = input_.cu[wave], trigger = starts.trigger[wave];
        simds[cu] += !is_seen[input_.simd[wave]];
        is_seen[input_.simd[wave]] = true;
        if (trigger == Starts::kNone) {
            filled[cu] = std::max(filled[cu], begins_[wave]);
            continue;
        }
        if (group_of[trigger] == begins_.size()) {
            group_of[trigger] = groups[cu].size();
            groups[cu].push_back({trigger, {}});
        }
        groups[cu][group_of[trigger]].waves.push_back(wave);
    }
    for (size_t cu = 0; cu < groups.size(); ++cu) {
        size_t waves = 0;
        for (const Group& group : groups[cu]) waves += group.waves.size();
        if (waves == 0) continue;
        const size_t room = size_t{more} * simds[cu] * groups[cu].size() / waves;  // groups of the mean size
        starts.moved_waves += room == 0 ? 0 : waves;
        for (size_t i = 0; room != 0 && i < groups[cu].size(); ++i)
            for (const uint32_t wave : groups[cu][i].waves) {
                starts.trigger[wave] = i < room ? Starts::kNone : groups[cu][i - room].trigger;
                if (i < room) starts.lag[wave] += filled[cu];
            }
    }
    starts.find_triggered();
    return starts;
}

EditTimes EditReplay::timed(const Sequence& sequence, const Starts& starts) const {
    EditTimes times;
    for (size_t mode = 0; mode < kEditModes; ++mode)
        times.cycles[mode] = Run(*this, sequence, starts, static_cast<EditMode>(mode)).cycles();
    if (memory_dwords_ != 0)
        times.traffic_share = static_cast<double>(sequence.memory_dwords) / static_cast<double>(memory_dwords_) - 1;
    times.is_extrapolated = sequence.emptier_waits > sequence.executions / 2;
    times.executions = sequence.executions;
    times.lacking_samples = sequence.lacking_samples;
    return times;
}

EditTimes EditReplay::as_recorded() const {
    return timed(Builder(*this, nullptr).build(), recorded_starts());
}

// Times are corrected by what the same mode makes of the order that was recorded.
EditTimes EditReplay::edited(const EditedBlock& block) const {
    EditTimes times = timed(Builder(*this, &block).build(), recorded_starts());
    for (size_t mode = 0; mode < kEditModes; ++mode) times.cycles[mode] += recorded_ - identity_[mode];
    return times;
}

std::vector<EditedIssue> EditReplay::issues(size_t wave, const EditedBlock* block) const {
    const Sequence sequence = Builder(*this, block).build();
    const Starts starts = recorded_starts();
    Run run(*this, sequence, starts, EditMode::middle);
    run.cycles();
    std::vector<EditedIssue> issues;
    for (uint64_t at = sequence.first.at(wave); at < sequence.first.at(wave + 1); ++at) {
        const uint32_t source = sequence.items[at].source;
        issues.push_back({source == Sequence::kNoSource ? -1 : input_.row[source], run.issued(at)});
    }
    return issues;
}

EditTimes EditReplay::with_more_waves(uint32_t more) const {
    const Starts starts = earlier_starts(more);
    EditTimes times = timed(Builder(*this, nullptr).build(), starts);
    for (size_t mode = 0; mode < kEditModes; ++mode) times.cycles[mode] += recorded_ - identity_[mode];
    times.executions = starts.moved_waves;
    return times;
}

}  // namespace wavewright
