#include "perfetto.hpp"

#include <nanobind/stl/string.h>

#include <list>

#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/perfetto.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// The columns of events, kept as long as this lives. Annotations: [(interned name, is text, column)].
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
        const auto kind = nb::cast<std::string>(given[1]);
        if (kind == "fraction") {
            annotation.kind = PerfettoAnnotation::Kind::Fraction;
            annotation.fractions = fractions_.emplace_back(given[2]).values();
            require_same_length(track_, annotation.fractions);
        } else {
            annotation.kind = kind == "text" ? PerfettoAnnotation::Kind::Text : PerfettoAnnotation::Kind::Integer;
            annotation.integers = integers_.emplace_back(given[2]).values();
            require_same_length(track_, annotation.integers);
        }
        events_.annotations.push_back(annotation);
    }

    ArrowInput<uint64_t> track_, name_, category_, flow_;
    ArrowInput<int64_t> begin_, end_;
    std::list<ArrowInput<int64_t>> integers_;
    std::list<ArrowInput<double>> fractions_;
    PerfettoEvents events_;
};

nb::bytes bytes_of(const std::string& packets) {
    return nb::bytes(packets.data(), packets.size());
}

nb::bytes add_slices(PerfettoSlices& writer, nb::object track, nb::object begin, nb::object end, nb::object name,
                     nb::object category, nb::object flow, nb::list annotations) {
    const EventColumns columns(track, begin, end, name, category, flow, annotations);
    std::string packets;
    {
        nb::gil_scoped_release unlocked;
        packets = writer.add(columns.events());
    }
    return bytes_of(packets);
}

nb::bytes instants_of(nb::object track, nb::object time, nb::object name, nb::object category, nb::object flow,
                      nb::list annotations) {
    const EventColumns columns(track, time, time, name, category, flow, annotations);
    return bytes_of(perfetto_instants(columns.events()));
}

nb::bytes points_of(nb::object track, nb::object time, nb::object value) {
    const ArrowInput<uint64_t> tracks(track);
    const ArrowInput<int64_t> times(time);
    const ArrowInput<double> values(value);
    require_same_length(tracks, times, values);
    return bytes_of(perfetto_points(tracks.values(), times.values(), values.values()));
}

ArrowTable nested_events_of(nb::object line, nb::object begin, nb::object end, bool may_nest) {
    const ArrowInput<uint64_t> lines(line);
    const ArrowInput<int64_t> begins(begin), ends(end);
    require_same_length(lines, begins, ends);
    auto found = std::make_shared<NestedEvents>();
    {
        nb::gil_scoped_release unlocked;
        *found = nested_events(lines.values(), begins.values(), ends.values(), may_nest);
    }
    return arrow_table(*found, found);
}

}  // namespace

void bind_perfetto(nb::module_& m) {
    nb::class_<PerfettoSlices>(m, "PerfettoSlices", "Slices as packets; overlaps go to child tracks.")
        .def(nb::init<uint64_t, bool>(), "first_child"_a, "may_nest"_a)
        .def("add", &add_slices, "track"_a, "begin"_a, "end"_a, "name"_a, "category"_a, "flow"_a, "annotations"_a,
             "Packets of slices sorted by track, begin and end (longest first).")
        .def(
            "finish", [](PerfettoSlices& writer) { return bytes_of(writer.finish()); }, "Packets that end open slices.")
        .def_prop_ro("child_count", &PerfettoSlices::child_count)
        .def_prop_ro("next_child", &PerfettoSlices::next_child);
    m.def("nested_events", &nested_events_of, "line"_a, "begin"_a, "end"_a, "may_nest"_a,
          "Begins and ends of slices sorted by line, begin and end (longest first), with the track of each.");
    m.def("perfetto_instants", &instants_of, "track"_a, "time"_a, "name"_a, "category"_a, "flow"_a, "annotations"_a,
          "Packets of moments on tracks.");
    m.def("perfetto_points", &points_of, "track"_a, "time"_a, "value"_a, "Packets of values of counter tracks.");
}

}  // namespace wavewright::bind
