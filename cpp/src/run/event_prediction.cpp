// Times of events after a change: every node again from its edges, in an order in which origins come first.
#include <algorithm>
#include <cmath>
#include <limits>

#include "run/event_nodes.hpp"

namespace wavewright {
namespace {

int64_t scaled(int64_t lag, std::span<const double> scale, uint32_t event) {
    if (scale.empty() || scale[event] == 1.0) return lag;
    return std::llround(static_cast<double>(lag) * scale[event]);
}

}  // namespace

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
        case Link::kDependency: return is_end(node) && (flags & kNotAwaited) != 0;
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
        link == Link::kOrder || link == Link::kOtherStream || (link == Link::kDependency && is_start(node));
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
    // Where an inferred edge binds and is left out, the recorded edge that would have bound gets all of the distance.
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
