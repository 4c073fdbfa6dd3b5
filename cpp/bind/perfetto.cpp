#include "perfetto.hpp"

#include <nanobind/stl/string.h>

#include <list>
#include <memory>
#include <string>

#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/perfetto.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// The columns of events, kept as long as this lives. Annotations: [(interned name, kind, column)], where kind is
// "integer", "text" (its column has numbers of interned texts) or "fraction".
class EventColumns {
  public:
    EventColumns(nb::handle track, nb::handle begin, nb::handle end, nb::handle name, nb::handle category,
                 nb::handle flow, const nb::list& annotations)
        : track_(track), name_(name), category_(category), flow_(flow), begin_(begin), end_(end) {
        events_ = {track_.values(), begin_.values(), end_.values(), name_.values(), category_.values(), flow_.values()};
        require_same_length(track_, begin_, end_, name_, category_, flow_);
        for (nb::handle each : annotations) add(nb::cast<nb::tuple>(each));
    }

    const PerfettoEvents& events() const { return events_; }

  private:
    void add(const nb::tuple& given) {
        PerfettoAnnotation annotation;
        annotation.name = nb::cast<uint64_t>(given[0]);
        annotation.kind = kind_named(nb::cast<std::string>(given[1]));
        if (annotation.kind == PerfettoAnnotation::Kind::Fraction) {
            annotation.fractions = fractions_.emplace_back(given[2]).values();
            require_same_length(track_, annotation.fractions);
        } else {
            annotation.integers = integers_.emplace_back(given[2]).values();
            require_same_length(track_, annotation.integers);
        }
        events_.annotations.push_back(annotation);
    }

    static PerfettoAnnotation::Kind kind_named(const std::string& kind) {
        if (kind == "integer") return PerfettoAnnotation::Kind::Integer;
        if (kind == "text") return PerfettoAnnotation::Kind::Text;
        if (kind == "fraction") return PerfettoAnnotation::Kind::Fraction;
        throw nb::value_error(("no kind of annotation: " + kind).c_str());
    }

    ArrowInput<uint64_t> track_, name_, category_, flow_;
    ArrowInput<int64_t> begin_, end_;
    std::list<ArrowInput<int64_t>> integers_;  // lists: an ArrowInput cannot be moved, as spans point into it
    std::list<ArrowInput<double>> fractions_;
    PerfettoEvents events_;
};

// The packets that `write` makes, without the interpreter lock: other threads go on meanwhile.
template <class Write>
nb::bytes written(Write&& write) {
    std::string packets;
    {
        nb::gil_scoped_release unlocked;
        packets = write();
    }
    return nb::bytes(packets.data(), packets.size());
}

nb::bytes add_slices(PerfettoSlices& writer, nb::object track, nb::object begin, nb::object end, nb::object name,
                     nb::object category, nb::object flow, nb::list annotations) {
    const EventColumns columns(track, begin, end, name, category, flow, annotations);
    return written([&] { return writer.add(columns.events()); });
}

nb::bytes instants_of(nb::object track, nb::object time, nb::object name, nb::object category, nb::object flow,
                      nb::list annotations) {
    const EventColumns columns(track, time, time, name, category, flow, annotations);
    return written([&] { return perfetto_instants(columns.events()); });
}

nb::bytes points_of(nb::object track, nb::object time, nb::object value) {
    const ArrowInput<uint64_t> tracks(track);
    const ArrowInput<int64_t> times(time);
    const ArrowInput<double> values(value);
    require_same_length(tracks, times, values);
    return written([&] { return perfetto_points(tracks.values(), times.values(), values.values()); });
}

ArrowTable nested_events_of(nb::object line, nb::object begin, nb::object end, bool may_nest) {
    const ArrowInput<uint64_t> lines(line);
    const ArrowInput<int64_t> begins(begin), ends(end);
    require_same_length(lines, begins, ends);
    auto events = std::make_shared<NestedEvents>();
    {
        nb::gil_scoped_release unlocked;
        *events = nested_events(lines.values(), begins.values(), ends.values(), may_nest);
    }
    return arrow_table(*events, events);
}

}  // namespace

// Times are in ns. Slices, instants and values are columns of one length.
void bind_perfetto(nb::module_& m) {
    nb::class_<PerfettoSlices>(m, "PerfettoSlices",
                               "Slices as packets. Those that overlap on a track go to child tracks of it.")
        .def(nb::init<uint64_t, bool>(), "first_child"_a, "may_nest"_a,
             "Child tracks get the uuids from `first_child` on. may_nest: a slice may lie inside another one of its "
             "track; otherwise it goes to a child track, too.")
        .def("add", &add_slices, "track"_a, "begin"_a, "end"_a, "name"_a, "category"_a, "flow"_a, "annotations"_a,
             "Packets of slices sorted by track, begin and end (longest first), times in ns. track: uuid; name and "
             "category: interned; flow: slices of one number are joined by arrows, 0 = none.")
        .def(
            "finish", [](PerfettoSlices& writer) { return written([&] { return writer.finish(); }); },
            "Packets that end open slices.")
        .def_prop_ro("child_count", &PerfettoSlices::child_count, "Child tracks that were needed so far.")
        .def_prop_ro("next_child", &PerfettoSlices::next_child, "The uuid that the next child track would get.");
    m.def("nested_events", &nested_events_of, "line"_a, "begin"_a, "end"_a, "may_nest"_a,
          "Begins and ends of slices sorted by line, begin and end (longest first), in ns. A line is what slices "
          "belong to, such as a thread; it has as many tracks as its slices need. Each event has the number of its "
          "track.");
    m.def("perfetto_instants", &instants_of, "track"_a, "time"_a, "name"_a, "category"_a, "flow"_a, "annotations"_a,
          "Packets of instant events; columns as those of PerfettoSlices.add.");
    m.def("perfetto_points", &points_of, "track"_a, "time"_a, "value"_a,
          "Packets of the values of counter tracks (uuids) at times in ns.");
}

}  // namespace wavewright::bind
