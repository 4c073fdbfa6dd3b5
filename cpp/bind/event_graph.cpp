#include "event_graph.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/event_graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

constexpr int64_t kFarthestNs = int64_t{1} << 61;

struct Times {
    Column<int64_t> start_ns, end_ns;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("start_ns", start_ns);
        visit("end_ns", end_ns);
    }
};

struct Slack {
    Column<int64_t> slack_ns;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("slack_ns", slack_ns);
    }
};

void require_below(std::span<const uint32_t> values, size_t count, bool may_be_none, const char* what) {
    for (const uint32_t value : values)
        if (value >= count && !(may_be_none && value == kNoEvent)) throw nb::value_error(what);
}

void build(EventGraph* at, const nb::dict& events, const nb::dict& tracks, const nb::dict& dependencies,
           nb::handle group) {
    const auto track = column<uint32_t>(events, "track"), launch = column<uint32_t>(events, "launch"),
               meeting = column<uint32_t>(events, "meeting"), awaited = column<uint32_t>(events, "awaited"),
               process = column<uint32_t>(tracks, "process"), before = column<uint32_t>(dependencies, "before"),
               after = column<uint32_t>(dependencies, "after");
    const auto start = column<int64_t>(events, "start_ns"), end = column<int64_t>(events, "end_ns");
    const auto awaits = column<uint8_t>(events, "awaits"), is_gpu = column<uint8_t>(tracks, "is_gpu"),
               is_into_end = column<uint8_t>(dependencies, "is_into_end"),
               is_working = column<uint8_t>(tracks, "is_working");
    const auto gpu = column<uint32_t>(tracks, "gpu");
    const ArrowInput<uint32_t> groups(group);
    require_same_length(track, launch, meeting, awaited, start, end, awaits);
    require_same_length(process, is_gpu, is_working, gpu);
    require_same_length(before, after, is_into_end);
    const size_t count = track.values().size(), track_count = process.values().size();
    if (count >= kNoEvent / 4) throw nb::value_error("too many events");
    require_below(track.values(), track_count, false, "no such track");
    require_below(launch.values(), count, true, "no such launch");
    require_below(meeting.values(), count, true, "no such meeting");
    require_below(awaited.values(), track_count, true, "no such awaited track");
    require_below(process.values(), groups.values().size(), false, "no such process");
    require_below(groups.values(), groups.values().size(), false, "no such group");
    require_below(before.values(), count, false, "no such event");
    require_below(after.values(), count, false, "no such event");
    for (size_t event = 0; event < count; ++event) {
        const int64_t from = start.values()[event], to = end.values()[event];
        if (from > to || from < -kFarthestNs || to > kFarthestNs)
            throw nb::value_error("an event has an impossible time");
    }
    const GraphInput input{track.values(),   start.values(),       end.values(),     launch.values(),
                           meeting.values(), awaits.values(),      awaited.values(), process.values(),
                           is_gpu.values(),  is_working.values(),  gpu.values(),     before.values(),
                           after.values(),   is_into_end.values(), groups.values()};
    for (const uint32_t track_awaited : input.awaited)
        if (track_awaited != kNoEvent && input.is_gpu[track_awaited] == 0) throw nb::value_error("a thread is awaited");
    nb::gil_scoped_release unlocked;
    new (at) EventGraph(input);
}

ArrowTable path_of(const EventGraph& graph, uint32_t group, int64_t start_ns, int64_t end_ns) {
    const auto path = std::make_shared<PathColumns>();
    {
        nb::gil_scoped_release unlocked;
        *path = graph.path(group, start_ns, end_ns);
    }
    return arrow_table(*path, path);
}

ArrowTable slack_of(const EventGraph& graph) {
    const auto slack = std::make_shared<Slack>();
    {
        nb::gil_scoped_release unlocked;
        slack->slack_ns = graph.slack();
    }
    return arrow_table(*slack, slack);
}

template <class T>
std::span<const T> values_of(std::optional<ArrowInput<T>>& input, const nb::object& column, size_t count) {
    if (column.is_none()) return {};
    input.emplace(column);
    if (input->values().size() != count) throw nb::value_error("columns differ in length");
    return input->values();
}

ArrowTable recomputed(const EventGraph& graph, const nb::object& duration_scale, const nb::object& code_scale,
                      const nb::object& lag_scale, const nb::object& flags, bool without_inferred, bool typical_lags) {
    std::optional<ArrowInput<double>> durations, codes, lags;
    std::optional<ArrowInput<uint8_t>> marks;
    const size_t count = graph.size();
    const GraphChange change{values_of(durations, duration_scale, count), values_of(codes, code_scale, count),
                             values_of(lags, lag_scale, count), values_of(marks, flags, count)};
    for (const std::span<const double> scale : {change.duration_scale, change.code_scale, change.lag_scale})
        for (const double value : scale)
            if (!(value >= 0.0 && value <= 1000.0)) throw nb::value_error("a scale must be 0 to 1000");
    const auto times = std::make_shared<Times>();
    {
        nb::gil_scoped_release unlocked;
        graph.recompute(change, {without_inferred, typical_lags}, times->start_ns, times->end_ns);
    }
    return arrow_table(*times, times);
}

nb::dict losses_of(const EventGraph& graph) {
    const GraphLosses& losses = graph.losses();
    uint64_t backward = 0;
    for (const uint64_t count : losses.backward_edges) backward += count;
    nb::dict counts;
    counts["launched_later"] = losses.backward_edges[static_cast<size_t>(Link::kLaunch)];
    counts["backward"] = backward - losses.backward_edges[static_cast<size_t>(Link::kLaunch)];
    counts["clipped_calls"] = losses.clipped_calls;
    counts["cycles"] = losses.cycle_edges;
    return counts;
}

}  // namespace

void bind_event_graph(nb::module_& m) {
    nb::class_<EventGraph>(m, "EventGraph")
        .def("__init__", &build, "events"_a, "tracks"_a, "dependencies"_a, "group"_a)
        .def("path", &path_of, "group"_a, "start_ns"_a, "end_ns"_a,
             "The critical path of a group of processes, from its beginning, in a window.")
        .def("slack", &slack_of, "By how much each event could end later without delaying the end of its group.")
        .def("recompute", &recomputed, "duration_scale"_a.none() = nb::none(), "code_scale"_a.none() = nb::none(),
             "lag_scale"_a.none() = nb::none(), "flags"_a.none() = nb::none(), "without_inferred"_a = false,
             "typical_lags"_a = false, "Start and end of every event after a change.")
        .def_prop_ro("losses", &losses_of)
        .def_prop_ro("tolerance_ns",
                     [](const EventGraph& graph) {
                         return std::vector<int64_t>(graph.tolerance_ns().begin(), graph.tolerance_ns().end());
                     })
        .def_prop_ro("edge_count", &EventGraph::edge_count)
        .def("__len__", &EventGraph::size);
}

}  // namespace wavewright::bind
