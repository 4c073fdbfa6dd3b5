#include "perfetto_trace.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "wavewright/perfetto_trace.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

using TraceBytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Shared = std::shared_ptr<PerfettoTrace>;

Shared trace_of(const TraceBytes& bytes, const PerfettoWanted& wanted) {
    const std::span<const uint8_t> span(bytes.data(), bytes.size());
    nb::gil_scoped_release unlocked;
    return std::make_shared<PerfettoTrace>(read_perfetto(span, wanted));
}

template <class T>
ArrowColumn numbers(const std::string& name, const Column<T>& values) {
    return {name, arrow_format<T>(), values.data()};
}

// The rows with the wanted annotations, each named as it was asked for, and `json`.
ArrowTable rows_of(const Shared& trace, const PerfettoWanted& wanted) {
    ArrowTable table = arrow_table(trace->rows, trace);
    for (size_t i = 0; i < trace->integers.size(); ++i)
        table.columns.push_back(numbers("integer " + wanted.integers[i], trace->integers[i]));
    for (size_t i = 0; i < trace->texts.size(); ++i)
        table.columns.push_back(numbers("text " + wanted.texts[i], trace->texts[i]));
    table.columns.push_back({"json", "U", trace->json.data(), trace->json_ends.data()});
    return table;
}

ArrowTable texts_of(const Shared& trace) {
    ArrowTable table;
    table.owner = trace;
    table.length = static_cast<int64_t>(trace->text_ends.size()) - 1;
    table.columns.push_back({"text", "U", trace->text_bytes.data(), trace->text_ends.data()});
    return table;
}

nb::dict tables_of_trace(const TraceBytes& bytes, const std::vector<std::string>& integers,
                         const std::vector<std::string>& texts, const std::vector<std::string>& measured) {
    const PerfettoWanted wanted{integers, texts, measured};
    const Shared trace = trace_of(bytes, wanted);
    nb::dict tables;
    tables["tracks"] = nb::cast(arrow_table(trace->tracks, trace));
    tables["rows"] = nb::cast(rows_of(trace, wanted));
    tables["points"] = nb::cast(arrow_table(trace->points, trace));
    tables["flows"] = nb::cast(arrow_table(trace->flows, trace));
    tables["values"] = nb::cast(arrow_table(trace->values, trace));
    tables["texts"] = nb::cast(texts_of(trace));
    tables["counts"] = nb::cast(trace->counts);
    tables["unread"] = nb::cast(trace->unread);
    tables["packet_count"] = nb::cast(trace->packet_count);
    return tables;
}

}  // namespace

void bind_perfetto_trace(nb::module_& m) {
    m.def("read_perfetto", &tables_of_trace, "data"_a, "integers"_a, "texts"_a, "measured"_a,
          "Tables of a Perfetto trace: tracks, rows (slices and moments), points, flows, values, texts; and what was "
          "not read.");
    m.def(
        "compressed_perfetto",
        [](const TraceBytes& bytes) { return compressed_perfetto({bytes.data(), bytes.size()}); }, "data"_a,
        "Where compressed packets begin and end, and where their content begins.");
}

}  // namespace wavewright::bind
