#include "chrome.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/chrome_trace.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

using Times = ArrowInput<int64_t>;
using Numbers = ArrowInput<uint32_t>;

void require_texts(std::span<const uint32_t> numbers, const JsonTexts& texts) {
    if (std::any_of(numbers.begin(), numbers.end(), [&](uint32_t number) { return number >= texts.size(); }))
        throw nb::value_error("a number without a text");
}

JsonTexts texts_of(const std::vector<std::string>& texts) {
    JsonTexts made;
    for (const std::string& text : texts) made.add(text);
    return made;
}

JsonTexts values_of(const std::vector<std::string>& values) {
    JsonTexts made;
    for (const std::string& value : values) made.add_raw(value);
    return made;
}

// Columns by name, kept as long as the rows that show them.
struct SliceRows {
    Times pid, tid, begin, end;
    Numbers name, args;
    explicit SliceRows(nb::handle frame)
        : pid(frame["pid"]),
          tid(frame["tid"]),
          begin(frame["start_ns"]),
          end(frame["end_ns"]),
          name(frame["name"]),
          args(frame["args"]) {}
    ChromeSlices rows(const JsonTexts& names, const JsonTexts& values) const {
        const ChromeSlices made{pid.values(), tid.values(), begin.values(), end.values(), name.values(), args.values()};
        require_same_length(made.pid, made.tid, made.begin, made.end, made.name, made.args);
        require_texts(made.name, names);
        require_texts(made.args, values);
        return made;
    }
};

struct LaunchRows {
    Times pid, tid, call_begin, call_end, gpu, queue, begin, end;
    explicit LaunchRows(nb::handle frame)
        : pid(frame["pid"]),
          tid(frame["tid"]),
          call_begin(frame["call_start_ns"]),
          call_end(frame["call_end_ns"]),
          gpu(frame["gpu"]),
          queue(frame["track"]),
          begin(frame["start_ns"]),
          end(frame["end_ns"]) {}
    ChromeLaunches rows() const {
        const ChromeLaunches made{pid.values(), tid.values(),   call_begin.values(), call_end.values(),
                                  gpu.values(), queue.values(), begin.values(),      end.values()};
        require_same_length(made.pid, made.tid, made.call_begin, made.call_end, made.gpu, made.queue, made.begin,
                            made.end);
        return made;
    }
};

struct MarkerRows {
    Times pid, tid, begin, end;
    Numbers name;
    explicit MarkerRows(nb::handle frame)
        : pid(frame["pid"]), tid(frame["tid"]), begin(frame["start_ns"]), end(frame["end_ns"]), name(frame["name"]) {}
    ChromeMarkers rows(const JsonTexts& names) const {
        const ChromeMarkers made{pid.values(), tid.values(), begin.values(), end.values(), name.values()};
        require_same_length(made.pid, made.tid, made.begin, made.end, made.name);
        require_texts(made.name, names);
        return made;
    }
};

void add_counters(ChromeTrace& trace, nb::handle frame, const JsonTexts& names) {
    const Times pid(frame["pid"]), time(frame["time_ns"]);
    const Numbers name(frame["name"]);
    const ArrowInput<double> value(frame["value"]);
    require_same_length(pid, time, name, value);
    require_texts(name.values(), names);
    trace.counters({pid.values(), time.values(), name.values(), value.values()}, names);
}

nb::dict counts_of(const ChromeTrace& trace) {
    const ChromeCounts& counts = trace.counts();
    nb::dict made;
    made["slices"] = counts.slices;
    made["marks"] = counts.marks;
    made["flows"] = counts.flows;
    made["points"] = counts.counters;
    made["frames"] = counts.frames;
    return made;
}

}  // namespace

void bind_chrome(nb::module_& m) {
    nb::class_<JsonTexts>(m, "JsonTexts")
        .def("__len__", &JsonTexts::size)
        .def("__getitem__", [](const JsonTexts& texts, size_t number) {
            if (number >= texts.size()) throw nb::index_error();
            return std::string(texts[number]);
        });
    m.def("json_texts", &texts_of, "texts"_a, "Texts as JSON strings, each escaped once.");
    m.def("json_values", &values_of, "values"_a, "JSON values, taken as they are.");
    nb::class_<ChromeTrace>(m, "ChromeTrace")
        .def(
            "__init__",
            [](ChromeTrace* trace, nb::callable write) {
                new (trace) ChromeTrace([write = std::move(write)](std::string_view block) {
                    write(nb::bytes(block.data(), block.size()));
                });
            },
            "write"_a, "A Chrome trace that is given to `write` in blocks of bytes.")
        .def("events", [](ChromeTrace& trace, const std::vector<std::string>& objects) { trace.events(objects); })
        .def("slices",
             [](ChromeTrace& trace, nb::handle frame, const JsonTexts& names, const JsonTexts& args) {
                 const SliceRows rows(frame);
                 trace.slices(rows.rows(names, args), names, args);
             })
        .def("marks",
             [](ChromeTrace& trace, nb::handle frame, const JsonTexts& names, const JsonTexts& args) {
                 const SliceRows rows(frame);
                 trace.marks(rows.rows(names, args), names, args);
             })
        .def("counters", &add_counters)
        .def("flows", [](ChromeTrace& trace, nb::handle frame) { trace.flows(LaunchRows(frame).rows()); })
        .def("queue_depths", [](ChromeTrace& trace, nb::handle frame,
                                int64_t last) { trace.queue_depths(LaunchRows(frame).rows(), last); })
        .def("frames",
             [](ChromeTrace& trace, nb::handle launches, nb::handle markers, const JsonTexts& names) {
                 const MarkerRows rows(markers);
                 trace.frames(LaunchRows(launches).rows(), rows.rows(names), names);
             })
        .def("finish", &ChromeTrace::finish)
        .def_prop_ro("counts", &counts_of);
}

}  // namespace wavewright::bind
