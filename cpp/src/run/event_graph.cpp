// What had to happen before each event: the recorded launches, waits and dependencies, the order of threads and
// streams, and what is inferred where nothing is recorded. How the edges become a graph is in event_edges.cpp.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "run/event_nodes.hpp"

namespace wavewright {
namespace {

// Clocks of CPU and GPU are compared once in a while, so that they differ by up to tens of us. What contradicts the
// order of launch, work and wait by more is another error of the record.
constexpr int64_t kMostSkewNs = 100'000;
constexpr size_t kCallsBack = 64;  // calls of a thread before it stops that are looked at for what it launched
constexpr int kStepsBack = 8;  // work that is looked at when the last one of a stream cannot be what a call waited for

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

// A node of a thread.
struct Point {
    int64_t time_ns;
    uint32_t node, track;
    uint32_t place;   // among the points of the thread
    uint32_t stream;  // of the work that the thread launched last
};

}  // namespace

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

    // The order matters: clocks are measured with the streams at hand, and waits need their tolerance; hand-overs need
    // to know who launched into and who waited for which stream.
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

    // Calls of a thread, which lie in each other: each node follows the one before it, in code or inside of a call. A
    // call that ends after the one that it began in ends with it.
    void add_thread(uint32_t track) {
        const std::span<uint32_t> calls = tracks.of(track);
        sort_if_needed(calls, [&](uint32_t a, uint32_t b) {
            if (in.start_ns[a] != in.start_ns[b]) return in.start_ns[a] < in.start_ns[b];
            return in.end_ns[a] != in.end_ns[b] ? in.end_ns[a] > in.end_ns[b] : a < b;
        });
        std::vector<uint32_t> open;  // calls, the innermost last
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

    // Work of a stream: each starts after its launch and after the work that ended last before it.
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
        size_t ended = 0;  // places of by_end with work that ended at the start of this one or before
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

    // From the work that a call waited for to its return: recorded where the record names the stream or all work of the
    // process is meant, inferred where any work may have been waited for. `previous` is the call before it, if any.
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
        if (is_end(other.node) && is_shared(waited_for[other.node >> 1])) return true;
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
                if (is_start(here.node) && launched_into[here.node >> 1] != kNoEvent)
                    next_stream = launched_into[here.node >> 1];
                if (graph.call_[here.node] != kNoEvent) continue;
                if (at > 0 && here.time_ns - sequence[at - 1].time_ns <= kQuietNs) continue;
                const int64_t burst_end = sequence[burst - 1].time_ns;
                burst = at;
                if (is_end(here.node)) continue;
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

    // All work of each process, in the order of starts: paths ask what ran beside them.
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

    // A collective begins when its last rank has come, and ends for all of them after that.
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

}  // namespace wavewright
