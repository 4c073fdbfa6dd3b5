// The event graph of a run: what had to happen before each event of threads and GPUs could begin or end.
//
// Every event has two nodes, its start and its end; every meeting of ranks (a collective) has one more. An edge says
// that a node cannot come earlier than another one plus a lag. The edge whose origin is latest binds: its lag is the
// recorded distance, so that computing all nodes again from their edges gives the recorded times exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

inline constexpr uint32_t kNoEvent = UINT32_MAX;

// What a call of a thread waits for before it returns.
enum class Awaits : uint8_t {
    kNothing = 0,
    kAllWork = 1,       // of its process that was launched before
    kStream = 2,        // work of one stream that was launched before
    kLaunchedWork = 3,  // the work that it launched itself
    kPerhaps = 4,       // of its process, if some of it ended meanwhile: the record does not say
    kPolled = 5,        // the same since the call before: the last of several queries of one thread
};

enum class Link : uint8_t {
    kDuration = 0,      // of work on a GPU
    kCall = 1,          // inside of a call
    kCode = 2,          // code of a thread between calls
    kLaunch = 3,        // from the start of the launching call to that of the work
    kOrder = 4,         // work of one stream, one after the other
    kWait = 5,          // from the end of work to the return of the call that waited for it
    kDependency = 6,    // recorded: event waits between streams, waits for one event
    kArrival = 7,       // of a rank at a meeting
    kService = 8,       // from the last arrival to the end of the collective
    kHandOver = 9,      // from one thread to another one that was quiet
    kOtherStream = 10,  // work that began when work of another stream had ended
    // Only on paths:
    kHeldUp = 11,  // from the launching call to work that began long after it
    kBeside = 12,  // work of the process that ran while nothing recorded explains what was waited for
    kBefore = 13,  // before the first event
    kAfter = 14,   // after the last one
};
inline constexpr size_t kLinkCount = 11;  // of edges

struct GraphInput {
    // Events, in any order.
    std::span<const uint32_t> track;  // number of its thread or stream
    std::span<const int64_t> start_ns, end_ns;
    std::span<const uint32_t> launch;   // of work: the launching call; kNoEvent = not recorded
    std::span<const uint32_t> meeting;  // of work: the collective over ranks; kNoEvent = none
    std::span<const uint8_t> awaits;    // of calls: an `Awaits`
    std::span<const uint32_t> awaited;  // of calls: the track of `Awaits::kStream`; kNoEvent = not recorded
    // Tracks.
    std::span<const uint32_t> process;    // of each track
    std::span<const uint8_t> is_gpu;      // whether it is a stream
    std::span<const uint8_t> is_working;  // whether it is a stream, or a thread that launches or awaits work
    std::span<const uint32_t> gpu;        // of a stream: its GPU; kNoEvent = not recorded
    // Recorded dependencies: the end of `before` comes before the start (or the end) of `after`.
    std::span<const uint32_t> before, after;
    std::span<const uint8_t> is_into_end;
    // Processes whose times can be compared and that meet each other; each group has its own end.
    std::span<const uint32_t> group;
};

// Rows of what was inconsistent and is not part of the graph.
struct GraphLosses {
    uint64_t backward_edges[kLinkCount] = {};  // that would go back in time
    uint64_t clipped_calls = 0;                // calls that ended after the call they began in
    uint64_t cycle_edges = 0;                  // between nodes at the same time
};

struct PathColumns {
    Column<int64_t> start_ns, end_ns;
    Column<uint32_t> event;  // whose time it is; of code, the call that came after
    Column<uint8_t> link, is_inferred;
    Column<uint32_t> from_event;
    Column<int64_t> busy_ns;  // of it, with work of a GPU of its process
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("start_ns", start_ns);
        visit("end_ns", end_ns);
        visit("event", event);
        visit("link", link);
        visit("is_inferred", is_inferred);
        visit("from_event", from_event);
        visit("busy_ns", busy_ns);
    }
};

// A change of the run; empty columns change nothing.
struct GraphChange {
    std::span<const double> duration_scale;  // of work, calls and collectives
    std::span<const double> code_scale;      // of the code before a call
    std::span<const double> lag_scale;       // from the launching call to the start of work
    std::span<const uint8_t> flags;          // of the events below
};
inline constexpr uint8_t kNotAwaited = 1;  // no call waits for its end
inline constexpr uint8_t kNotOrdered = 2;  // work after it, in its stream or another, waits for its start only
inline constexpr uint8_t kOnTime = 4;      // a collective whose rank arrives in time

// Which of the possible readings of the record is computed.
struct GraphReading {
    bool without_inferred = false;  // distances that an inferred edge explains belong to the recorded edge before it
    bool typical_lags = false;      // edges that do not bind have the median lag of their kind; else the shortest
};

struct Lags {
    int64_t shortest = 0, median = 0;
};
using LagTable = std::vector<std::array<Lags, kLinkCount>>;  // by process and link

class EventGraph {
  public:
    explicit EventGraph(const GraphInput& input);

    // The chain of binding edges that ends with the last event of a group, with what is before and after it in a
    // window. Where an edge does not say what was waited for, work that ran meanwhile takes its time.
    PathColumns path(uint32_t group, int64_t start_ns, int64_t end_ns) const;

    // By how much each event could end later without delaying the end of its group.
    Column<int64_t> slack() const;

    // Start and end of every event after a change: columns of `size()` values each.
    void recompute(const GraphChange& change, const GraphReading& reading, Column<int64_t>& start_ns,
                   Column<int64_t>& end_ns) const;

    size_t size() const { return event_count_; }
    size_t edge_count() const { return from_.size(); }
    const GraphLosses& losses() const { return losses_; }
    // By how much the clocks of CPU and GPU contradict each other, by process.
    std::span<const int64_t> tolerance_ns() const { return tolerance_ns_; }

  private:
    struct Draft;
    struct Building;
    struct Union;

    uint32_t event_of(uint32_t node) const { return node >> 1; }
    int64_t lag_of(size_t edge, uint32_t node, const GraphChange& change, int64_t lag) const;
    uint32_t origin_of(size_t edge, uint32_t node, const GraphChange& change) const;
    bool is_explained(Link link, uint32_t event, int64_t length_ns) const;
    bool crosses_clocks(uint8_t link, uint32_t to) const;
    bool is_removed(size_t edge, uint32_t node, const GraphChange& change) const;
    void link_edges(const std::vector<Draft>& drafts);
    void sort_nodes();
    void weigh_edges();
    void bind_nodes(const LagTable& lags);
    LagTable seen_lags(uint32_t processes) const;

    size_t event_count_ = 0;
    std::vector<int64_t> time_;         // of each node: 2 * event, 2 * event + 1, then meetings
    std::vector<uint32_t> first_edge_;  // incoming edges of each node, CSR
    std::vector<uint32_t> from_;
    std::vector<uint8_t> link_;  // Link, and kInferredBit
    std::vector<int64_t> lag_, typical_lag_;
    std::vector<uint32_t> binding_;  // edge of each node; kNoEvent = none
    std::vector<uint32_t> recorded_binding_;
    std::vector<uint32_t> call_;               // of nodes of calls: the innermost call open before it; kNoEvent = code
    std::vector<uint32_t> order_;              // nodes, every origin before what depends on it
    std::vector<uint32_t> process_, group_;    // of each event
    std::vector<uint32_t> last_node_;          // of each group
    std::vector<int64_t> tolerance_ns_;        // of each process
    std::vector<uint8_t> awaits_;              // of each event
    std::vector<uint8_t> is_working_;          // of each event: whether its track is
    std::vector<uint8_t> is_call_;             // of each event
    std::vector<std::vector<uint32_t>> work_;  // of each process, in the order of starts
    GraphLosses losses_;
};

}  // namespace wavewright
