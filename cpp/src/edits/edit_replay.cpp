// Replays of a sequence of instructions: each wave issues its own in order, waits for results, ports and meetings, and
// starts at a time or when another wave has ended.
#include "wavewright/edit_replay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "edits/edit_sequence.hpp"
#include "waves/meetings.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kPorts = 4;  // of a SIMD; kPortCount of replay.cpp

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
    for (const int64_t cycles : replay_.recorded()) recorded_ += cycles;
    identity_ = as_recorded().cycles;
}

// When each wave starts: at a time, or when another one has ended.
struct EditReplay::Starts {
    std::vector<uint32_t> trigger;                 // by wave; kNone = it starts at a time
    std::vector<int64_t> lag;                      // from the end of the trigger, or the time itself
    std::vector<std::vector<uint32_t>> triggered;  // by wave: those that it triggers
    uint64_t moved_waves = 0;                      // that start earlier than recorded

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
          waves_(replay.wave_starts_.size()),
          ports_(replay.replay_.simd_count_ * kPorts),
          free_from_(replay.replay_.cu_count_ * 2, kLongAgo),
          meetings_(replay.meeting_count_),
          last_end_(replay.replay_.cu_count_, 0),
          issued_(sequence.items.size()),
          completed_(sequence.items.size()) {
        for (const Sequence::Item& item : sequence.items)
            if (item.source != Sequence::kNoSource && replay.sources_[item.source].meeting >= 0)
                meetings_.expect(static_cast<size_t>(replay.sources_[item.source].meeting));
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
        } while (meetings_.release_someone(*this));
        int64_t sum = 0;
        for (size_t cu = 0; cu < last_end_.size(); ++cu) sum += std::max<int64_t>(0, last_end_[cu]);
        return sum;
    }

    int64_t issued(uint64_t at) const { return issued_[at]; }

    // After a meeting.
    void go_on(uint32_t wave, int64_t time) { issue(wave, waves_[wave], time); }

  private:
    // Something happens to a wave, or a port becomes free.
    struct Event {
        int64_t time;
        int64_t turn;   // at one time, the lower comes first: Item::turn, or when the wave wanted the port
        uint32_t wave;  // or the number of waves plus that of a port
        // For a queue whose top is the event that comes first.
        bool operator<(const Event& other) const {
            return std::tie(time, turn, wave) > std::tie(other.time, other.turn, other.wave);
        }
    };
    // For a queue whose top is the event whose turn it is, whenever it came.
    struct LaterTurn {
        bool operator()(const Event& a, const Event& b) const {
            return a.turn != b.turn ? a.turn > b.turn : a.wave > b.wave;
        }
    };
    static constexpr int64_t kLastTurn = std::numeric_limits<int64_t>::max();
    // What the next event of a wave is: it starts, its next instruction can issue, or it ends.
    enum class Phase : uint8_t { begin, issue, end };
    struct Wave {
        uint64_t at = 0, stop = 0;  // items: the next one, and where they end
        int64_t issue = 0;          // of the last one, or the start of the wave
        Phase phase = Phase::begin;
    };
    struct TakenPort {
        int64_t free_from = std::numeric_limits<int64_t>::min();
        std::priority_queue<Event, std::vector<Event>, LaterTurn> waiting;
    };

    const Source* source(uint64_t at) const {
        const uint32_t number = sequence_.items[at].source;
        return number == Sequence::kNoSource ? nullptr : &replay_.sources_[number];
    }

    // A latency that is only bounded is replaced by what is usual of its row, where that is known and less. One that is
    // pinned probably ended its wait, so the bound is what it took.
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
        events_.push({time, replay_.wave_starts_[number], number});
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

    // When the next instruction of a wave can issue, or when the wave ends.
    void plan(uint32_t number, Wave& wave) {
        if (wave.at >= wave.stop) {
            wave.phase = Phase::end;
            events_.push({wave.issue + sequence_.rest[number], kLastTurn, number});
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
            const bool is_from_completion = edge.cycles == Sequence::Edge::kFromCompletion;
            ready = std::max(ready, is_from_completion ? completed_[edge.from] : issued_[edge.from] + edge.cycles);
        }
        wave.phase = Phase::issue;
        events_.push({ready, is_first_come(mode_) ? ready : item.turn, number});
    }

    // An instruction whose operands are there: it issues now, or waits for its meeting or its port.
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
        return {std::max(now, ports_[port].free_from), kLastTurn, static_cast<uint32_t>(waves_.size() + port)};
    }

    // A port that waves wait for is free: the one whose turn it is takes it.
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

    // When an instruction that issues at `time` is done. The queue of its unit, if the mode has one, serves it after
    // what came before: this must be called in the order of time.
    int64_t completion(uint32_t number, uint64_t at, int64_t time) {
        const Source* from = source(at);
        if (from == nullptr) return time;
        const int32_t row = replay_.input_.row[sequence_.items[at].source];
        if (row < 0 || at_row(replay_.rules_.adds, row) == 0) return time;
        int64_t latency = row_latency(*from, row);
        if (mode_ == EditMode::kept) latency = std::max(latency, sequence_.items[at].longest_latency);
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
        meetings_.arrive(static_cast<size_t>(from.meeting), event.time - from.signalled,
                         {event.wave, event.time, from.cost}, *this);
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
    std::array<double, 2> service_{};  // by unit: cycles per dword; 0 = the mode has no queue
    std::vector<Wave> waves_;
    std::vector<TakenPort> ports_;   // by SIMD and port
    std::vector<double> free_from_;  // of the queues, by CU and unit
    Meetings<std::numeric_limits<int64_t>::min()> meetings_;
    std::vector<int64_t> last_end_;            // by CU
    std::vector<int64_t> issued_, completed_;  // by item
    std::priority_queue<Event> events_;
};

EditReplay::Starts EditReplay::recorded_starts() const {
    Starts starts{replay_.trigger_, wave_starts_, {}};
    for (size_t wave = 0; wave < wave_starts_.size(); ++wave)
        if (starts.trigger[wave] != Starts::kNone)
            starts.lag[wave] = cycles_between(input_.end[starts.trigger[wave]], input_.begin[wave]);
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
    std::vector<size_t> group_of(wave_starts_.size(), wave_starts_.size());  // by the wave that it waited for
    std::vector<int64_t> filled(replay_.cu_count_, 0);
    std::vector<uint32_t> order(wave_starts_.size());
    for (uint32_t wave = 0; wave < order.size(); ++wave) order[wave] = wave;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return wave_starts_[a] < wave_starts_[b]; });
    for (const uint32_t wave : order) {
        const uint32_t cu = input_.cu[wave], trigger = starts.trigger[wave];
        simds[cu] += !is_seen[input_.simd[wave]];
        is_seen[input_.simd[wave]] = true;
        if (trigger == Starts::kNone) {
            filled[cu] = std::max(filled[cu], wave_starts_[wave]);
            continue;
        }
        if (group_of[trigger] == wave_starts_.size()) {
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
