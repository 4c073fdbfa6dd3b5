#include <algorithm>
#include <limits>

#include "run/event_nodes.hpp"

namespace wavewright {

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

}  // namespace wavewright
