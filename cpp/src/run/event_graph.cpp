#include "wavewright/event_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace wavewright {
namespace {

constexpr uint8_t kInferredBit = 0x80, kLinkMask = 0x7f;
// A thread without calls for so long may have waited for another thread, and work that starts so soon after the end of
// other work may have waited for it. Launches take 5 to 20 us, so shorter distances say nothing.
constexpr int64_t kQuietNs = 20'000;
// Work that starts so much later than its launch returned was held up by something else than the launch.
constexpr int64_t kLongLaunchNs = 1'000'000;
// Clocks of CPU and GPU are compared once in a while, so that they differ by up to tens of us. What contradicts the
// order of launch, work and wait by more is another error of the record.
constexpr int64_t kMostSkewNs = 100'000;
constexpr size_t kCallsBack = 64;  // calls of a thread before it stops that are looked at for what it launched
constexpr int kStepsBack = 8;  // work that is looked at when the last one of a stream cannot be what a call waited for

constexpr uint32_t start_of(uint32_t event) {
    return 2 * event;
}
constexpr uint32_t end_of(uint32_t event) {
    return 2 * event + 1;
}

// Rows by group: those of group g are rows[first[g]] to rows[first[g + 1]].
struct Groups {
    std::vector<uint32_t> first, rows;

    Groups(std::span<const uint32_t> group, size_t count) : first(count + 1), rows(group.size()) {
        for (const uint32_t at : group) ++first[at + 1];
        for (size_t at = 1; at < first.size(); ++at) first[at] += first[at - 1];
        std::vector<uint32_t> next(first.begin(), first.end() - 1);
        for (size_t row = 0; row < group.size(); ++row) rows[next[group[row]]++] = static_cast<uint32_t>(row);
    }
    std::span<uint32_t> of(size_t group) {
        return {rows.data() + first[group], static_cast<size_t>(first[group + 1] - first[group])};
    }
};

// The work of one stream in the order of its starts.
struct Stream {
    std::span<const uint32_t> events;
    std::vector<int64_t> issued_ns;  // when the latest recorded launch of all work so far began
    std::vector<uint32_t> latest;    // place of the work so far that ends last

    // Place of the work that ends last among all that was launched until then; -1 = none.
    ptrdiff_t last_issued(int64_t time_ns) const {
        const auto after = std::upper_bound(issued_ns.begin(), issued_ns.end(), time_ns);
        return after == issued_ns.begin() ? -1 : static_cast<ptrdiff_t>(latest[after - issued_ns.begin() - 1]);
    }
};

// Recorders write most rows in the order of time.
template <class Less>
void sort_if_needed(std::span<uint32_t> rows, Less less) {
    if (!std::is_sorted(rows.begin(), rows.end(), less)) std::sort(rows.begin(), rows.end(), less);
}

struct Point {
    int64_t time_ns;
    uint32_t node, track, place;
    uint32_t stream;  // of the work that the thread launched last
};

bool is_latency(uint8_t link) {
    const auto kind = static_cast<Link>(link & kLinkMask);
    return kind == Link::kLaunch || kind == Link::kOrder || kind == Link::kWait || kind == Link::kDependency;
}

int64_t scaled(int64_t lag, std::span<const double> scale, uint32_t event) {
    if (scale.empty() || scale[event] == 1.0) return lag;
    return std::llround(static_cast<double>(lag) * scale[event]);
}

}  // namespace

struct EventGraph::Draft {
    uint32_t to, from;
    uint8_t link;
};

// Everything that is needed only until the edges are there.
struct EventGraph::Building {
    EventGraph& graph;
    const GraphInput& in;
    Groups tracks;
    std::vector<Draft> drafts;
    std::vector<Stream> streams;  // by track; empty for threads
    std::vector<std::vector<uint32_t>> by_process_streams, by_process_threads;
    std::vector<uint32_t> working_threads;   // of each process: how many
    std::vector<std::vector<Point>> points;  // of each thread, in order
    std::vector<int64_t> dependency_ns;      // of work: the latest end of recorded dependencies
    std::vector<uint32_t> launched_into;     // of calls: the stream of work that it launched; kNoEvent = none
    std::vector<uint32_t> waited_for;        // of calls: the stream of the work that it waited for; kNoEvent = none

    Building(EventGraph& owner, const GraphInput& input)
        : graph(owner),
          in(input),
          tracks(input.track, input.process.size()),
          streams(input.process.size()),
          by_process_streams(input.group.size()),
          by_process_threads(input.group.size()),
          working_threads(input.group.size()),
          points(input.process.size()),
          dependency_ns(input.track.size(), std::numeric_limits<int64_t>::min()),
          launched_into(input.track.size(), kNoEvent),
          waited_for(input.track.size(), kNoEvent) {
        drafts.reserve(3 * input.track.size());
        for (uint32_t track = 0; track < in.process.size(); ++track) {
            (in.is_gpu[track] != 0 ? by_process_streams : by_process_threads)[in.process[track]].push_back(track);
            if (in.is_gpu[track] == 0 && in.is_working[track] != 0) ++working_threads[in.process[track]];
        }
    }

    void add(uint32_t to, uint32_t from, Link link, bool is_inferred = false) {
        drafts.push_back(
            {to, from, static_cast<uint8_t>(static_cast<uint8_t>(link) | (is_inferred ? kInferredBit : 0))});
    }

    void add_all() {
        for (size_t event = 0; event < in.launch.size(); ++event)
            if (in.launch[event] != kNoEvent) launched_into[in.launch[event]] = in.track[event];
        for (size_t at = 0; at < in.before.size(); ++at) {
            add(in.is_into_end[at] != 0 ? end_of(in.after[at]) : start_of(in.after[at]), end_of(in.before[at]),
                Link::kDependency);
            if (in.is_into_end[at] != 0) waited_for[in.after[at]] = in.track[in.before[at]];
            if (in.is_into_end[at] == 0) {
                int64_t& latest = dependency_ns[in.after[at]];
                latest = std::max(latest, in.end_ns[in.before[at]]);
            }
        }
        for (uint32_t track = 0; track < in.process.size(); ++track)
            in.is_gpu[track] != 0 ? add_stream(track) : add_thread(track);
        for (uint32_t process = 0; process < in.group.size(); ++process) measure_clocks(process);
        for (uint32_t process = 0; process < in.group.size(); ++process) {
            for (const uint32_t track : by_process_threads[process]) {
                uint32_t previous = kNoEvent;
                for (const uint32_t call : tracks.of(track)) {
                    add_waits(call, previous, process);
                    previous = call;
                }
            }
            add_other_streams(process);
            add_hand_overs(process);
        }
        add_meetings();
    }

    void add_thread(uint32_t track) {
        const std::span<uint32_t> calls = tracks.of(track);
        sort_if_needed(calls, [&](uint32_t a, uint32_t b) {
            if (in.start_ns[a] != in.start_ns[b]) return in.start_ns[a] < in.start_ns[b];
            return in.end_ns[a] != in.end_ns[b] ? in.end_ns[a] > in.end_ns[b] : a < b;
        });
        std::vector<uint32_t> open;
        std::vector<Point>& sequence = points[track];
        sequence.reserve(2 * calls.size());
        uint32_t stream = kNoEvent;
        const auto place = [&](uint32_t node) {
            if (launched_into[node >> 1] != kNoEvent) stream = launched_into[node >> 1];
            graph.call_[node] = open.empty() ? kNoEvent : open.back();
            if (!sequence.empty()) add(node, sequence.back().node, open.empty() ? Link::kCode : Link::kCall);
            sequence.push_back({graph.time_[node], node, track, static_cast<uint32_t>(sequence.size()), stream});
        };
        const auto close_until = [&](int64_t time_ns) {
            while (!open.empty() && graph.time_[end_of(open.back())] <= time_ns) {
                place(end_of(open.back()));
                open.pop_back();
            }
        };
        for (const uint32_t call : calls) {
            close_until(in.start_ns[call]);
            place(start_of(call));
            if (!open.empty() && graph.time_[end_of(call)] > graph.time_[end_of(open.back())]) {
                graph.time_[end_of(call)] = graph.time_[end_of(open.back())];
                ++graph.losses_.clipped_calls;
            }
            open.push_back(call);
        }
        close_until(std::numeric_limits<int64_t>::max());
    }

    void add_stream(uint32_t track) {
        const std::span<uint32_t> events = tracks.of(track);
        sort_if_needed(events, [&](uint32_t a, uint32_t b) {
            if (in.start_ns[a] != in.start_ns[b]) return in.start_ns[a] < in.start_ns[b];
            return in.end_ns[a] != in.end_ns[b] ? in.end_ns[a] < in.end_ns[b] : a < b;
        });
        std::vector<uint32_t> by_end(events.size());
        for (uint32_t at = 0; at < by_end.size(); ++at) by_end[at] = at;
        sort_if_needed(std::span(by_end), [&](uint32_t a, uint32_t b) {
            const int64_t a_end = in.end_ns[events[a]], b_end = in.end_ns[events[b]];
            return a_end != b_end ? a_end < b_end : a < b;
        });
        Stream& stream = streams[track];
        stream.events = events;
        size_t ended = 0;
        for (uint32_t at = 0; at < events.size(); ++at) {
            const uint32_t event = events[at], launch = in.launch[event];
            const int64_t start = in.start_ns[event];
            add(end_of(event), start_of(event), Link::kDuration);
            if (launch != kNoEvent) add(start_of(event), start_of(launch), Link::kLaunch);
            // Work of a stream is launched in its order: without a record, no earlier than the work before it.
            const int64_t issued =
                launch == kNoEvent ? std::numeric_limits<int64_t>::min() : std::min(start, in.start_ns[launch]);
            stream.issued_ns.push_back(at == 0 ? issued : std::max(issued, stream.issued_ns.back()));
            const bool is_latest = at == 0 || in.end_ns[event] >= in.end_ns[events[stream.latest.back()]];
            stream.latest.push_back(is_latest ? at : stream.latest.back());
            while (ended < by_end.size() && in.end_ns[events[by_end[ended]]] <= start) ++ended;
            size_t before = ended;
            while (before > 0 && by_end[before - 1] >= at) --before;  // work of no duration at this very time
            if (before > 0) add(start_of(event), end_of(events[by_end[before - 1]]), Link::kOrder);
        }
    }

    // By how much a call seems to have returned before the end of the work that it waited for; below 0 = after it.
    // Where the record leaves open which stream or GPU that was, it is the one whose last work ended nearest to the
    // return: another one could only seem to be it by a distance that is less than a usual return.
    int64_t late_end(uint32_t call, uint32_t process) const {
        const auto awaits = static_cast<Awaits>(in.awaits[call]);
        if (awaits != Awaits::kAllWork && awaits != Awaits::kStream) return 0;
        std::vector<std::pair<uint32_t, int64_t>> ends;  // of the last work, by GPU or stream
        for (const uint32_t track : by_process_streams[process]) {
            if (awaits == Awaits::kStream && in.awaited[call] != kNoEvent && track != in.awaited[call]) continue;
            const ptrdiff_t at = streams[track].last_issued(in.start_ns[call]);
            if (at < 0 || in.launch[streams[track].events[at]] == kNoEvent) continue;
            const int64_t end = in.end_ns[streams[track].events[at]];
            if (end <= in.start_ns[call]) continue;
            const uint32_t place = awaits == Awaits::kStream ? track : in.gpu[track];
            const auto same =
                std::find_if(ends.begin(), ends.end(), [&](const auto& other) { return other.first == place; });
            if (same == ends.end())
                ends.emplace_back(place, end);
            else
                same->second = std::max(same->second, end);
        }
        if (ends.empty() || (ends.size() > 1 && in.end_ns[call] - in.start_ns[call] <= kQuietNs)) return 0;
        int64_t nearest = ends.front().second - in.end_ns[call];
        for (const auto& [place, end] : ends)
            if (std::abs(end - in.end_ns[call]) < std::abs(nearest)) nearest = end - in.end_ns[call];
        return nearest;
    }

    // By how much work starts before its launch, and waits return before the end of what they waited for.
    void measure_clocks(uint32_t process) {
        int64_t& tolerance = graph.tolerance_ns_[process];
        const auto see = [&](int64_t difference) {
            if (difference < kMostSkewNs) tolerance = std::max(tolerance, difference);
        };
        for (const uint32_t track : by_process_streams[process])
            for (const uint32_t event : streams[track].events)
                if (in.launch[event] != kNoEvent) see(in.start_ns[in.launch[event]] - in.start_ns[event]);
        for (const uint32_t track : by_process_threads[process])
            for (const uint32_t call : tracks.of(track))
                if (in.awaits[call] != 0) see(late_end(call, process));
    }

    // The last work of a stream that a call can have waited for: it was launched before the call, as far as that is
    // recorded, and ended with it within the tolerance of the clocks; kNoEvent = none.
    uint32_t awaited_work(const Stream& stream, int64_t since_ns, uint32_t call) const {
        const int64_t limit = graph.time_[end_of(call)] + graph.tolerance_ns_[graph.process_[call]];
        ptrdiff_t at = stream.last_issued(since_ns);
        for (int step = 0; at >= 0 && step < kStepsBack; ++step, --at)
            if (in.end_ns[stream.events[at]] <= limit) return stream.events[at];
        if (at < 0) return kNoEvent;
        const auto after =
            std::upper_bound(stream.latest.begin(), stream.latest.begin() + at + 1, limit,
                             [&](int64_t time, uint32_t place) { return time < in.end_ns[stream.events[place]]; });
        return after == stream.latest.begin() ? kNoEvent : stream.events[*(after - 1)];
    }

    // Work without a recorded launch that ran during a call was launched before it if no other thread can have done so.
    // The last query of a poll would not have been made if the work had ended earlier: it waits before it begins.
    void add_wait(uint32_t call, uint32_t work, bool is_inferred) {
        const bool has_no_launch = in.launch[work] == kNoEvent && working_threads[graph.process_[call]] > 1;
        const bool is_polled =
            static_cast<Awaits>(in.awaits[call]) == Awaits::kPolled && in.end_ns[work] <= in.start_ns[call];
        add(is_polled ? start_of(call) : end_of(call), end_of(work), Link::kWait, is_inferred || has_no_launch);
        waited_for[call] = in.track[work];
    }

    void add_waits(uint32_t call, uint32_t previous, uint32_t process) {
        const auto awaits = static_cast<Awaits>(in.awaits[call]);
        if (awaits == Awaits::kNothing || (awaits == Awaits::kPolled && previous == kNoEvent)) return;
        if (awaits == Awaits::kLaunchedWork && launched_into[call] != kNoEvent) return;  // added with the work
        if (awaits == Awaits::kStream && in.awaited[call] != kNoEvent) {
            const uint32_t work = awaited_work(streams[in.awaited[call]], in.start_ns[call], call);
            if (work != kNoEvent) add_wait(call, work, false);
            return;
        }
        const int64_t since = in.start_ns[awaits == Awaits::kPolled ? previous : call];
        uint32_t last = kNoEvent;
        for (const uint32_t track : by_process_streams[process]) {
            const uint32_t work = awaited_work(streams[track], since, call);
            if (work == kNoEvent) continue;
            if (awaits == Awaits::kAllWork) add_wait(call, work, false);
            if (last == kNoEvent || in.end_ns[work] > in.end_ns[last]) last = work;
        }
        if (last == kNoEvent) return;
        if (awaits == Awaits::kAllWork)
            waited_for[call] = in.track[last];
        else if (in.end_ns[last] > since)
            add_wait(call, last, true);
    }

    // Work whose start nothing recorded explains, after the end of work of another stream: right after it, or, where
    // its launch is not recorded or long ago, after the last one.
    void add_other_streams(uint32_t process) {
        const std::vector<uint32_t>& numbers = by_process_streams[process];
        for (const uint32_t track : numbers)
            for (const uint32_t event : streams[track].events) {
                const uint32_t launch = in.launch[event];
                if (launch != kNoEvent && in.awaits[launch] == static_cast<uint8_t>(Awaits::kLaunchedWork) &&
                    in.end_ns[event] <= graph.time_[end_of(launch)] + graph.tolerance_ns_[process])
                    add_wait(launch, event, false);
            }
        if (numbers.size() < 2) return;
        std::vector<uint32_t> by_end;
        for (const uint32_t track : numbers)
            by_end.insert(by_end.end(), streams[track].events.begin(), streams[track].events.end());
        std::sort(by_end.begin(), by_end.end(), [&](uint32_t a, uint32_t b) {
            return in.end_ns[a] != in.end_ns[b] ? in.end_ns[a] < in.end_ns[b] : a < b;
        });
        for (const uint32_t track : numbers) {
            int64_t previous_ns = std::numeric_limits<int64_t>::min();  // latest end in the stream so far
            for (const uint32_t event : streams[track].events) {
                const int64_t start = in.start_ns[event];
                int64_t explained = std::max(dependency_ns[event], previous_ns <= start ? previous_ns : start);
                if (in.launch[event] != kNoEvent) explained = std::max(explained, in.start_ns[in.launch[event]]);
                previous_ns = std::max(previous_ns, in.end_ns[event]);
                if (explained > start - kQuietNs && explained <= start) continue;
                const bool is_held_up =
                    in.launch[event] == kNoEvent || start - in.end_ns[in.launch[event]] > kLongLaunchNs;
                const int64_t earliest = is_held_up ? explained + 1 : std::max(explained + 1, start - kQuietNs);
                auto at = std::upper_bound(by_end.begin(), by_end.end(), start,
                                           [&](int64_t time, uint32_t other) { return time < in.end_ns[other]; });
                for (int step = 0; at != by_end.begin() && step < kStepsBack; ++step) {
                    const uint32_t other = *--at;
                    if (in.end_ns[other] < earliest) break;
                    if (in.track[other] == track || in.start_ns[other] >= start) continue;
                    add(start_of(event), end_of(other), Link::kOtherStream, true);
                    break;
                }
            }
        }
    }

    // Whether the record shows that one thread goes on where another one stopped: the other one launched into its
    // stream meanwhile, or waited for what it launched.
    bool is_handed_over(const Point& other, const Point* previous, uint32_t next_stream) const {
        if (next_stream == kNoEvent) return false;
        const uint32_t last_stream = previous == nullptr ? next_stream : previous->stream;
        const auto is_shared = [&](uint32_t stream) {
            return stream != kNoEvent && (stream == next_stream || stream == last_stream);
        };
        if (other.node % 2 == 1 && is_shared(waited_for[other.node >> 1])) return true;
        const std::vector<Point>& others = points[other.track];
        for (size_t at = other.place + 1, steps = 0; at-- > 0 && steps < kCallsBack; ++steps) {
            if (previous != nullptr && others[at].time_ns < previous->time_ns) return false;
            if (is_shared(launched_into[others[at].node >> 1])) return true;
        }
        return false;
    }

    // A thread that launches, was quiet while another one launched or waited, and goes on when that one becomes quiet.
    void add_hand_overs(uint32_t process) {
        std::vector<uint32_t> numbers;
        for (const uint32_t track : by_process_threads[process])
            if (in.is_working[track] != 0) numbers.push_back(track);
        if (numbers.size() < 2) return;
        std::vector<Point> all;
        for (const uint32_t track : numbers) all.insert(all.end(), points[track].begin(), points[track].end());
        std::stable_sort(all.begin(), all.end(), [](const Point& a, const Point& b) { return a.time_ns < b.time_ns; });
        for (const uint32_t track : numbers) {
            const std::vector<Point>& sequence = points[track];
            size_t burst = sequence.size();   // first point of the burst of calls that follows
            uint32_t next_stream = kNoEvent;  // of the first work that is launched from here on
            for (size_t at = sequence.size(); at-- > 0;) {
                const Point& here = sequence[at];
                if (here.node % 2 == 0 && launched_into[here.node >> 1] != kNoEvent)
                    next_stream = launched_into[here.node >> 1];
                if (graph.call_[here.node] != kNoEvent) continue;
                if (at > 0 && here.time_ns - sequence[at - 1].time_ns <= kQuietNs) continue;
                const int64_t burst_end = sequence[burst - 1].time_ns;
                burst = at;
                if (here.node % 2 == 1) continue;
                auto before = std::lower_bound(all.begin(), all.end(), here.time_ns,
                                               [](const Point& point, int64_t time) { return point.time_ns < time; });
                for (int step = 0; before != all.begin() && step < kStepsBack; ++step) {
                    const Point& other = *--before;
                    if (other.track == track) break;
                    const std::vector<Point>& others = points[other.track];
                    const bool goes_on =
                        other.place + 1 < others.size() && others[other.place + 1].time_ns <= burst_end;
                    if (goes_on && at > 0) continue;
                    if (!is_handed_over(other, at > 0 ? &sequence[at - 1] : nullptr, next_stream)) continue;
                    add(here.node, other.node, Link::kHandOver, true);
                    break;
                }
            }
        }
    }

    void collect_work() {
        graph.work_.resize(in.group.size());
        for (uint32_t process = 0; process < in.group.size(); ++process) {
            std::vector<uint32_t>& work = graph.work_[process];
            for (const uint32_t track : by_process_streams[process])
                work.insert(work.end(), streams[track].events.begin(), streams[track].events.end());
            sort_if_needed(std::span(work), [&](uint32_t a, uint32_t b) {
                return in.start_ns[a] != in.start_ns[b] ? in.start_ns[a] < in.start_ns[b] : a < b;
            });
        }
    }

    void add_meetings() {
        for (uint32_t event = 0; event < in.meeting.size(); ++event) {
            if (in.meeting[event] == kNoEvent) continue;
            const auto node = static_cast<uint32_t>(2 * in.track.size() + in.meeting[event]);
            graph.time_[node] = std::max(graph.time_[node], in.start_ns[event]);
            add(node, start_of(event), Link::kArrival);
            add(end_of(event), node, Link::kService);
        }
    }
};

EventGraph::EventGraph(const GraphInput& input) : event_count_(input.track.size()) {
    size_t meetings = 0;
    for (const uint32_t meeting : input.meeting)
        if (meeting != kNoEvent) meetings = std::max(meetings, size_t{meeting} + 1);
    time_.assign(2 * event_count_ + meetings, std::numeric_limits<int64_t>::min());
    call_.assign(2 * event_count_, kNoEvent);
    for (size_t event = 0; event < event_count_; ++event) {
        time_[2 * event] = input.start_ns[event];
        time_[2 * event + 1] = input.end_ns[event];
    }
    process_.resize(event_count_);
    group_.resize(event_count_);
    for (size_t event = 0; event < event_count_; ++event) {
        process_[event] = input.process[input.track[event]];
        group_[event] = input.group[process_[event]];
    }
    tolerance_ns_.assign(input.group.size(), 0);
    {
        Building building(*this, input);
        building.add_all();
        link_edges(building.drafts);
        building.collect_work();
    }
    last_node_.assign(input.group.size(), kNoEvent);
    awaits_.assign(input.awaits.begin(), input.awaits.end());
    is_call_.resize(event_count_);
    for (size_t event = 0; event < event_count_; ++event) is_call_[event] = input.is_gpu[input.track[event]] == 0;
    is_working_.resize(event_count_);
    for (size_t event = 0; event < event_count_; ++event) is_working_[event] = input.is_working[input.track[event]];
    const auto is_working = [&](uint32_t node) { return is_working_[event_of(node)] != 0; };
    for (uint32_t node = 0; node < 2 * event_count_; ++node) {
        uint32_t& last = last_node_[group_[event_of(node)]];
        const bool is_more = last == kNoEvent || is_working(node) > is_working(last);
        if (is_more || (is_working(node) == is_working(last) && time_[node] >= time_[last])) last = node;
    }
    sort_nodes();
    weigh_edges();
}

// Whether an edge leads from a time of the CPU to one of the GPU, or back.
bool EventGraph::crosses_clocks(uint8_t link, uint32_t to) const {
    const auto kind = static_cast<Link>(link & kLinkMask);
    return kind == Link::kLaunch || kind == Link::kWait || (kind == Link::kDependency && to % 2 == 1);
}

// Drafts by the node they lead to; those that go back in time, by more than the clocks differ, are losses.
void EventGraph::link_edges(const std::vector<Draft>& drafts) {
    first_edge_.assign(time_.size() + 1, 0);
    const auto goes_forward = [&](const Draft& draft) {
        const int64_t tolerance =
            crosses_clocks(draft.link, draft.to) ? tolerance_ns_[process_[event_of(draft.to)]] : 0;
        return time_[draft.from] <= time_[draft.to] + tolerance;
    };
    for (const Draft& draft : drafts) {
        if (goes_forward(draft))
            ++first_edge_[draft.to + 1];
        else
            ++losses_.backward_edges[draft.link & kLinkMask];
    }
    for (size_t node = 1; node < first_edge_.size(); ++node) first_edge_[node] += first_edge_[node - 1];
    from_.resize(first_edge_.back());
    link_.resize(first_edge_.back());
    std::vector<uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
    for (const Draft& draft : drafts) {
        if (!goes_forward(draft)) continue;
        const uint32_t edge = next[draft.to]++;
        from_[edge] = draft.from;
        link_[edge] = draft.link;
    }
}

// An order of the nodes in which origins come first. Only nodes at the same time can form cycles: their edges are cut.
void EventGraph::sort_nodes() {
    const size_t count = time_.size();
    std::vector<uint32_t> waiting(count), first_out(count + 1), out(from_.size());
    for (const uint32_t from : from_) ++first_out[from + 1];
    for (size_t node = 0; node < count; ++node) {
        first_out[node + 1] += first_out[node];
        waiting[node] = first_edge_[node + 1] - first_edge_[node];
    }
    {
        std::vector<uint32_t> next(first_out.begin(), first_out.end() - 1);
        for (uint32_t node = 0; node < count; ++node)
            for (uint32_t edge = first_edge_[node]; edge < first_edge_[node + 1]; ++edge)
                out[next[from_[edge]]++] = node;
    }
    order_.reserve(count);
    std::vector<uint8_t> is_placed(count);
    const auto place = [&](uint32_t node) {
        is_placed[node] = 1;
        order_.push_back(node);
    };
    for (uint32_t node = 0; node < count; ++node)
        if (waiting[node] == 0) place(node);
    size_t done = 0;
    std::vector<uint32_t> rest;  // by time, made only if there is a cycle
    size_t rest_at = 0;
    while (true) {
        for (; done < order_.size(); ++done)
            for (uint32_t at = first_out[order_[done]]; at < first_out[order_[done] + 1]; ++at)
                if (is_placed[out[at]] == 0 && --waiting[out[at]] == 0) place(out[at]);
        if (order_.size() == count) break;
        if (rest.empty()) {
            for (uint32_t node = 0; node < count; ++node)
                if (is_placed[node] == 0) rest.push_back(node);
            std::stable_sort(rest.begin(), rest.end(), [&](uint32_t a, uint32_t b) { return time_[a] < time_[b]; });
        }
        while (is_placed[rest[rest_at]] != 0) ++rest_at;
        const uint32_t node = rest[rest_at];
        for (uint32_t edge = first_edge_[node]; edge < first_edge_[node + 1]; ++edge)
            if (is_placed[from_[edge]] == 0) {
                from_[edge] = kNoEvent;
                ++losses_.cycle_edges;
            }
        place(node);
    }
}

// Which edge of each node binds: the one that with the usual lag of its kind in its process holds the node up longest.
// What is usual is the shortest lag that was seen where the origin of such an edge was the latest.
void EventGraph::weigh_edges() {
    const uint32_t processes = process_.empty() ? 0 : 1 + *std::max_element(process_.begin(), process_.end());
    LagTable lags(processes);
    bind_nodes(lags);
    lags = seen_lags(processes);
    bind_nodes(lags);
    lags = seen_lags(processes);
    lag_.assign(from_.size(), 0);
    typical_lag_.assign(from_.size(), 0);
    for (uint32_t node = 0; node < time_.size(); ++node)
        for (uint32_t edge = first_edge_[node]; edge < first_edge_[node + 1]; ++edge) {
            if (from_[edge] == kNoEvent) continue;
            const auto link = static_cast<Link>(link_[edge] & kLinkMask);
            const int64_t distance = time_[node] - time_[from_[edge]];
            if (edge == binding_[node] || link == Link::kService) {
                lag_[edge] = typical_lag_[edge] = distance;
            } else if (link == Link::kDuration) {  // of a collective that waited: what the others needed too
                int64_t service = distance;
                for (uint32_t other = first_edge_[node]; other < first_edge_[node + 1]; ++other)
                    if (from_[other] != kNoEvent && static_cast<Link>(link_[other] & kLinkMask) == Link::kService)
                        service = std::min(service, time_[node] - time_[from_[other]]);
                lag_[edge] = typical_lag_[edge] = service;
            } else if (is_latency(link_[edge])) {
                const Lags& usual = lags[process_[event_of(node)]][link_[edge] & kLinkMask];
                lag_[edge] = std::min(distance, usual.shortest);
                typical_lag_[edge] = std::min(distance, usual.median);
            }
        }
}

// The edge of each node that reaches furthest with its usual lag; of several, the one whose origin is latest, and of
// those a recorded one.
void EventGraph::bind_nodes(const LagTable& lags) {
    binding_.assign(time_.size(), kNoEvent);
    recorded_binding_.assign(time_.size(), kNoEvent);
    for (uint32_t node = 0; node < time_.size(); ++node) {
        int64_t furthest = 0, furthest_recorded = 0;
        for (uint32_t edge = first_edge_[node]; edge < first_edge_[node + 1]; ++edge) {
            if (from_[edge] == kNoEvent) continue;
            const int64_t origin = time_[from_[edge]];
            const int64_t usual =
                is_latency(link_[edge]) ? lags[process_[event_of(node)]][link_[edge] & kLinkMask].shortest : 0;
            const int64_t reach = std::min(time_[node], origin + usual);
            const bool is_inferred = (link_[edge] & kInferredBit) != 0;
            const auto replaces = [&](uint32_t other, int64_t other_reach) {
                if (other == kNoEvent || reach != other_reach) return other == kNoEvent || reach > other_reach;
                if (origin != time_[from_[other]]) return origin > time_[from_[other]];
                return !is_inferred && (link_[other] & kInferredBit) != 0;
            };
            if (replaces(binding_[node], furthest)) {
                binding_[node] = edge;
                furthest = reach;
            }
            if (!is_inferred && replaces(recorded_binding_[node], furthest_recorded)) {
                recorded_binding_[node] = edge;
                furthest_recorded = reach;
            }
        }
    }
}

// The shortest and the median lag of the edges of each kind that bind, by process.
LagTable EventGraph::seen_lags(uint32_t processes) const {
    std::vector<std::array<std::vector<int64_t>, kLinkCount>> seen(processes);
    for (uint32_t node = 0; node < 2 * event_count_; ++node) {
        const uint32_t binding = binding_[node];
        if (binding != kNoEvent && is_latency(link_[binding]))
            seen[process_[event_of(node)]][link_[binding] & kLinkMask].push_back(time_[node] - time_[from_[binding]]);
    }
    LagTable lags(processes);
    for (size_t process = 0; process < processes; ++process)
        for (size_t link = 0; link < kLinkCount; ++link) {
            std::vector<int64_t>& values = seen[process][link];
            if (values.empty()) continue;
            const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
            std::nth_element(values.begin(), middle, values.end());
            lags[process][link] = {*std::min_element(values.begin(), values.end()), *middle};
        }
    return lags;
}

// The union of the work of a process, asked for stretches of time that follow each other.
struct EventGraph::Union {
    const EventGraph& graph;
    std::span<const uint32_t> work;
    size_t next = 0;
    int64_t until_ns = std::numeric_limits<int64_t>::min();  // the latest end of work so far
    uint32_t latest = kNoEvent;                              // the work that has it

    void advance(int64_t time_ns) {
        for (; next < work.size() && graph.time_[start_of(work[next])] <= time_ns; ++next)
            if (const int64_t end = graph.time_[end_of(work[next])]; end > until_ns) {
                until_ns = end;
                latest = work[next];
            }
    }

    // Calls `piece(start, end, event)` for all pieces of a stretch; of a piece without work the event is kNoEvent.
    template <class Piece>
    void each(int64_t start_ns, int64_t end_ns, Piece piece) {
        for (int64_t time = start_ns; time < end_ns;) {
            advance(time);
            const bool is_busy = until_ns > time;
            int64_t end = end_ns;
            if (is_busy)
                end = std::min(end, until_ns);
            else if (next < work.size())
                end = std::min(end, graph.time_[start_of(work[next])]);
            piece(time, end, is_busy ? latest : kNoEvent);
            time = end;
        }
    }
};

// Whether the record says what the time of a stretch was spent with, whatever GPUs did meanwhile.
bool EventGraph::is_explained(Link link, uint32_t event, int64_t length_ns) const {
    switch (link) {
        case Link::kWait: return length_ns <= kQuietNs;  // to return takes a while
        case Link::kDependency: return length_ns <= kQuietNs && is_call_[event] != 0;
        case Link::kDuration:
        case Link::kService:
        case Link::kLaunch: return true;
        case Link::kCode: return is_working_[event] != 0;
        case Link::kCall: {  // a wait of which nothing says what it waited for
            const auto awaits = static_cast<Awaits>(awaits_[event]);
            return awaits == Awaits::kNothing || awaits == Awaits::kPerhaps;
        }
        default: return false;
    }
}

PathColumns EventGraph::path(uint32_t group, int64_t start_ns, int64_t end_ns) const {
    uint32_t node = group < last_node_.size() ? last_node_[group] : kNoEvent;
    std::vector<uint32_t> nodes;  // from the end to the beginning
    for (; node != kNoEvent; node = binding_[node] == kNoEvent ? kNoEvent : from_[binding_[node]])
        nodes.push_back(node);
    PathColumns path;
    if (nodes.empty()) return path;
    // Where clocks differ, an event that held up another one seems to come after it: its time ends there.
    std::vector<int64_t> times(nodes.size());
    for (size_t at = 0; at < nodes.size(); ++at)
        times[at] = at == 0 ? time_[nodes[at]] : std::min(time_[nodes[at]], times[at - 1]);
    std::vector<Union> unions;
    for (const std::vector<uint32_t>& work : work_) unions.push_back({*this, work});
    const auto put = [&](int64_t start, int64_t end, Link link, uint32_t event, bool is_inferred, uint32_t from) {
        const auto row = [&](int64_t piece_start, int64_t piece_end, Link kind, uint32_t whose, bool guess,
                             int64_t busy) {
            path.start_ns.push_back(piece_start);
            path.end_ns.push_back(piece_end);
            path.event.push_back(whose);
            path.link.push_back(static_cast<uint8_t>(kind));
            path.is_inferred.push_back(guess ? 1 : 0);
            path.from_event.push_back(from);
            path.busy_ns.push_back(busy);
        };
        if (link == Link::kDuration || link == Link::kService)
            return row(start, end, link, event, is_inferred, end - start);
        Union& work = unions[process_[event]];
        if (is_explained(link, event, end - start)) {
            int64_t busy = 0;
            work.each(start, end, [&](int64_t low, int64_t high, uint32_t other) {
                if (other != kNoEvent) busy += high - low;
            });
            return row(start, end, link, event, is_inferred, busy);
        }
        work.each(start, end, [&](int64_t low, int64_t high, uint32_t other) {
            const bool is_busy = other != kNoEvent;
            row(low, high, is_busy ? Link::kBeside : link, is_busy ? other : event, is_busy || is_inferred,
                is_busy ? high - low : 0);
        });
    };
    const uint32_t first = nodes.back(), last = nodes.front();
    const auto event_at = [&](uint32_t at) { return event_of(at < 2 * event_count_ ? at : from_[binding_[at]]); };
    if (start_ns < times.back()) put(start_ns, times.back(), Link::kBefore, event_at(first), false, event_at(first));
    for (size_t at = nodes.size(); at-- > 1;) {
        const uint32_t from = nodes[at], to = nodes[at - 1], edge = binding_[to];
        if (to >= 2 * event_count_) continue;  // arrivals take no time: the last one is the meeting
        auto link = static_cast<Link>(link_[edge] & kLinkMask);
        if (link == Link::kLaunch && time_[to] - time_[end_of(event_of(from))] > kLongLaunchNs) link = Link::kHeldUp;
        put(times[at], times[at - 1], link, link == Link::kCall ? call_[to] : event_of(to),
            (link_[edge] & kInferredBit) != 0, event_at(from));
    }
    if (end_ns > times.front()) put(times.front(), end_ns, Link::kAfter, event_at(last), false, event_at(last));
    return path;
}

Column<int64_t> EventGraph::slack() const {
    std::vector<int64_t> latest(time_.size(), std::numeric_limits<int64_t>::max());
    for (uint32_t node = 0; node < 2 * event_count_; ++node)
        latest[node] = std::max(time_[node], time_[last_node_[group_[event_of(node)]]]);
    for (size_t at = order_.size(); at-- > 0;) {
        const uint32_t node = order_[at];
        for (uint32_t edge = first_edge_[node]; edge < first_edge_[node + 1]; ++edge)
            if (from_[edge] != kNoEvent) latest[from_[edge]] = std::min(latest[from_[edge]], latest[node] - lag_[edge]);
    }
    Column<int64_t> slack;
    int64_t* const values = slack.extend(event_count_);
    for (size_t event = 0; event < event_count_; ++event) values[event] = latest[2 * event + 1] - time_[2 * event + 1];
    return slack;
}

bool EventGraph::is_removed(size_t edge, uint32_t node, const GraphChange& change) const {
    if (change.flags.empty()) return false;
    const uint32_t from = from_[edge];
    const uint8_t flags = from < 2 * event_count_ ? change.flags[event_of(from)] : uint8_t{0};
    switch (static_cast<Link>(link_[edge] & kLinkMask)) {
        case Link::kWait: return (flags & kNotAwaited) != 0;
        case Link::kDependency: return node % 2 == 1 && (flags & kNotAwaited) != 0;
        case Link::kArrival: return (flags & kOnTime) != 0;
        case Link::kDuration: return (flags & kOnTime) != 0;
        default: return false;
    }
}

// Work that others do not wait for still comes before them: they wait for its start.
uint32_t EventGraph::origin_of(size_t edge, uint32_t node, const GraphChange& change) const {
    const uint32_t from = from_[edge];
    const auto link = static_cast<Link>(link_[edge] & kLinkMask);
    const bool is_order =
        link == Link::kOrder || link == Link::kOtherStream || (link == Link::kDependency && node % 2 == 0);
    return is_order && !change.flags.empty() && (change.flags[event_of(from)] & kNotOrdered) != 0
               ? start_of(event_of(from))
               : from;
}

int64_t EventGraph::lag_of(size_t edge, uint32_t node, const GraphChange& change, int64_t lag) const {
    switch (static_cast<Link>(link_[edge] & kLinkMask)) {
        case Link::kDuration:
        case Link::kService: return scaled(lag, change.duration_scale, event_of(node));
        case Link::kCall: return scaled(lag, change.duration_scale, call_[node]);
        case Link::kCode: return scaled(lag, change.code_scale, event_of(node));
        case Link::kLaunch: return scaled(lag, change.lag_scale, event_of(node));
        default: return lag;
    }
}

void EventGraph::recompute(const GraphChange& change, const GraphReading& reading, Column<int64_t>& start_ns,
                           Column<int64_t>& end_ns) const {
    std::vector<int64_t> time(time_.size());
    const std::vector<int64_t>& lags = reading.typical_lags ? typical_lag_ : lag_;
    for (const uint32_t node : order_) {
        const uint32_t binding = binding_[node], recorded = recorded_binding_[node];
        const bool is_dropping =
            reading.without_inferred && recorded != kNoEvent && (link_[binding] & kInferredBit) != 0;
        bool has_origin = false;
        int64_t latest = std::numeric_limits<int64_t>::min();
        for (uint32_t edge = first_edge_[node]; edge < first_edge_[node + 1]; ++edge) {
            const uint32_t from = from_[edge];
            if (from == kNoEvent || is_removed(edge, node, change)) continue;
            if (is_dropping && (link_[edge] & kInferredBit) != 0) continue;
            const int64_t lag = is_dropping && edge == recorded ? time_[node] - time_[from] : lags[edge];
            latest = std::max(latest, time[origin_of(edge, node, change)] + lag_of(edge, node, change, lag));
            has_origin = true;
        }
        time[node] = has_origin ? latest : time_[node];
    }
    int64_t* const starts = start_ns.extend(event_count_);
    int64_t* const ends = end_ns.extend(event_count_);
    for (size_t event = 0; event < event_count_; ++event) {
        starts[event] = time[2 * event];
        ends[event] = time[2 * event + 1];
    }
}

}  // namespace wavewright
