// From drafts of edges to a graph: edges by node, an order of the nodes in which origins come first, which edge of each
// node binds, and the lags of all.
#include <algorithm>
#include <array>
#include <limits>

#include "run/event_nodes.hpp"

namespace wavewright {
namespace {

// Of an edge whose lag is a property of its kind, such as what a launch takes, and not of the event.
bool is_latency(uint8_t link) {
    const auto kind = static_cast<Link>(link & kLinkMask);
    return kind == Link::kLaunch || kind == Link::kOrder || kind == Link::kWait || kind == Link::kDependency;
}

}  // namespace

// Whether an edge leads from a time of the CPU to one of the GPU, or back.
bool EventGraph::crosses_clocks(uint8_t link, uint32_t to) const {
    const auto kind = static_cast<Link>(link & kLinkMask);
    return kind == Link::kLaunch || kind == Link::kWait || (kind == Link::kDependency && is_end(to));
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
    size_t done = 0;             // nodes of order_ whose successors have been told
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
        // All that is left is on a cycle or behind one: the earliest goes on without the edges that it waits for.
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
    // Which edge binds depends on the usual lags, and these on which edges bind: first without lags, then once more.
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

}  // namespace wavewright
