// The critical path of a group: the chain of edges that bind, from its last event back to its first, as rows of time.
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
    struct Row {
        int64_t start_ns, end_ns;
        Link link;
        uint32_t event;  // whose time it is
        uint32_t from;   // the event before it on the path
        bool is_inferred = false;
    };
    const auto put = [&](const Row& row, int64_t busy_ns) {
        path.start_ns.push_back(row.start_ns);
        path.end_ns.push_back(row.end_ns);
        path.event.push_back(row.event);
        path.link.push_back(static_cast<uint8_t>(row.link));
        path.is_inferred.push_back(row.is_inferred ? 1 : 0);
        path.from_event.push_back(row.from);
        path.busy_ns.push_back(busy_ns);
    };
    // A row, or several where nothing recorded explains its time: then work that ran meanwhile takes what it covers.
    const auto put_explained = [&](const Row& row) {
        if (row.link == Link::kDuration || row.link == Link::kService) return put(row, row.end_ns - row.start_ns);
        Union& work = unions[process_[row.event]];
        if (is_explained(row.link, row.event, row.end_ns - row.start_ns)) {
            int64_t busy_ns = 0;
            work.each(row.start_ns, row.end_ns, [&](int64_t low, int64_t high, uint32_t other) {
                if (other != kNoEvent) busy_ns += high - low;
            });
            return put(row, busy_ns);
        }
        work.each(row.start_ns, row.end_ns, [&](int64_t low, int64_t high, uint32_t other) {
            Row piece = row;
            piece.start_ns = low;
            piece.end_ns = high;
            if (other == kNoEvent) return put(piece, 0);
            piece.link = Link::kBeside;
            piece.event = other;
            piece.is_inferred = true;
            put(piece, high - low);
        });
    };
    const uint32_t first = nodes.back(), last = nodes.front();
    // The event of a node; of a meeting the one that came last.
    const auto event_at = [&](uint32_t node_of_path) {
        return event_of(node_of_path < 2 * event_count_ ? node_of_path : from_[binding_[node_of_path]]);
    };
    if (start_ns < times.back())
        put_explained({start_ns, times.back(), Link::kBefore, event_at(first), event_at(first)});
    for (size_t at = nodes.size(); at-- > 1;) {
        const uint32_t from = nodes[at], to = nodes[at - 1], edge = binding_[to];
        if (to >= 2 * event_count_) continue;  // arrivals take no time: the last one is the meeting
        auto link = static_cast<Link>(link_[edge] & kLinkMask);
        if (link == Link::kLaunch && time_[to] - time_[end_of(event_of(from))] > kLongLaunchNs) link = Link::kHeldUp;
        const bool is_inferred = (link_[edge] & kInferredBit) != 0;
        const uint32_t event = link == Link::kCall ? call_[to] : event_of(to);
        put_explained({times[at], times[at - 1], link, event, event_at(from), is_inferred});
    }
    if (end_ns > times.front()) put_explained({times.front(), end_ns, Link::kAfter, event_at(last), event_at(last)});
    return path;
}

}  // namespace wavewright
