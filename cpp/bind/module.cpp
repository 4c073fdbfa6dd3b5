// wavewright._core: the Python face of the native core. Only readers, codeobj, analysis and export import it.
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrow.hpp"
#include "cache_orders.hpp"
#include "call_tree.hpp"
#include "chrome.hpp"
#include "costs.hpp"
#include "duration_statistics.hpp"
#include "edit_replay.hpp"
#include "entries.hpp"
#include "evaluate.hpp"
#include "event_graph.hpp"
#include "file_blocks.hpp"
#include "isa.hpp"
#include "lane_costs.hpp"
#include "live_registers.hpp"
#include "perfetto.hpp"
#include "perfetto_trace.hpp"
#include "replay.hpp"
#include "span_pyramid.hpp"
#include "sqlite.hpp"
#include "stalls.hpp"
#include "timeline.hpp"
#include "ui_output.hpp"
#include "waits.hpp"
#include "wave_rows.hpp"
#include "wave_spans.hpp"
#include "wavewright/decode.hpp"
#include "wavewright/stop.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

struct StopSwitch {
    StopFlag flag = std::make_shared<std::atomic<bool>>(false);
};

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::optional<std::string> generation_name(nb::bytes head) {
    switch (detect({static_cast<const uint8_t*>(head.data()), head.size()})) {
        case Generation::gfx9: return "GFX9";
        case Generation::gfx10: return "GFX10";
        case Generation::gfx11: return "GFX11";
        case Generation::gfx12: return "GFX12";
        case Generation::gfx1250: return "GFX1250";
        case Generation::unknown: break;
    }
    return std::nullopt;
}

nb::dict tables_of(const std::shared_ptr<Records>& records) {
    nb::dict tables;
    records->each_table([&](const char* name, auto& table) { tables[name] = nb::cast(arrow_table(table, records)); });
    return tables;
}

struct ProgramRows {
    Column<uint64_t> code_object, address;
    Column<int32_t> listed_row;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("code_object", code_object);
        visit("address", address);
        visit("listed_row", listed_row);
    }
};

ArrowTable rows_of(const Program& program) {
    auto rows = std::make_shared<ProgramRows>();
    for (size_t row = 0; row < program.row_count(); ++row) {
        const Pc pc = program.pc(static_cast<int32_t>(row));
        rows->code_object.push_back(pc.object);
        rows->address.push_back(pc.address);
        rows->listed_row.push_back(program.listed_row(static_cast<int32_t>(row)));
    }
    return arrow_table(*rows, rows);
}

// The listed rows with their texts: what the listings say after sorting and removing duplicates.
struct ListedRows {
    Column<uint64_t> code_object, address;
    Column<uint16_t> size;
    Column<int64_t> text_ends;
    std::string texts;
};

ArrowTable listing_of(const Program& program) {
    auto rows = std::make_shared<ListedRows>();
    rows->text_ends.push_back(0);
    for (int32_t row = 0; row < static_cast<int32_t>(program.listed_rows()); ++row) {
        rows->code_object.push_back(program.pc(row).object);
        rows->address.push_back(program.pc(row).address);
        rows->size.push_back(static_cast<uint16_t>(program.size(row)));
        rows->texts.append(program.text(row));
        rows->text_ends.push_back(static_cast<int64_t>(rows->texts.size()));
    }
    ArrowTable table;
    table.owner = rows;
    table.length = static_cast<int64_t>(program.listed_rows());
    table.columns = {{"code_object", arrow_format<uint64_t>(), rows->code_object.data()},
                     {"address", arrow_format<uint64_t>(), rows->address.data()},
                     {"size", arrow_format<uint16_t>(), rows->size.data()},
                     {"text", "U", rows->texts.data(), rows->text_ends.data()}};
    return table;
}

nb::list marker_names_of(const Program& program) {
    auto bytes = [](const std::string& text) { return nb::bytes(text.data(), text.size()); };
    nb::list rows;
    for (const auto& [object, names] : program.funcmaps()) {
        for (const MarkerName& row : names.rows) {
            rows.append(nb::make_tuple(object, row.id, static_cast<uint8_t>(row.kind), row.payload_count,
                                       bytes(row.name), bytes(row.location)));
        }
    }
    return rows;
}

nb::dict rows_of_all(const std::vector<std::shared_ptr<Records>>& records) {
    auto joined = std::make_shared<JoinedRows>();
    {
        const nb::gil_scoped_release unlocked;
        std::vector<Records*> all;
        for (const std::shared_ptr<Records>& one : records) all.push_back(one.get());
        *joined = joined_rows(all);
    }
    nb::dict tables;
    tables["instructions"] = nb::cast(arrow_table(joined->instructions, joined));
    tables["states"] = nb::cast(arrow_table(joined->states, joined));
    return tables;
}

std::vector<std::shared_ptr<Records>> decode_buffers(const std::vector<Bytes>& buffers, const Program& program,
                                                     bool corrected, unsigned threads, bool rows, size_t first_wave) {
    std::vector<std::span<const uint8_t>> spans;
    for (const Bytes& buffer : buffers) spans.emplace_back(buffer.data(), buffer.size());
    std::vector<Records> decoded;
    {
        nb::gil_scoped_release unlocked;
        decoded = decode_all(spans, program, {.corrected = corrected, .rows = rows}, threads);
        rebase(decoded, first_wave);
    }
    std::vector<std::shared_ptr<Records>> results;
    for (Records& records : decoded) results.push_back(std::make_shared<Records>(std::move(records)));
    return results;
}

nb::dict state_cycles_of(const Records& records) {
    nb::dict cycles;
    for (size_t state = 0; state < Tally::kStates; ++state)
        if (records.tally.spans[state] != 0) cycles[nb::cast(state)] = records.tally.cycles[state];
    return cycles;
}

std::optional<std::string> demangle(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return text ? std::optional<std::string>(text.get()) : std::nullopt;
}

NB_MODULE(_core, m) {
    nb::set_leak_warnings(false);  // what lives until the process ends is no leak
    nb::class_<ArrowTable>(m, "Table")
        .def(
            "__arrow_c_array__", [](const ArrowTable& table, nb::object) { return export_table(table); },
            "requested_schema"_a = nb::none())
        .def("__len__", [](const ArrowTable& table) { return table.length; });

    nb::class_<Program>(m, "Program")
        .def(nb::init<>())
        .def(
            "add_listing",
            [](Program& program, uint64_t object, std::optional<uint64_t> load_address, nb::bytes tsv) {
                return program.add_listing(object, load_address, {tsv.c_str(), tsv.size()});
            },
            "code_object"_a, "load_address"_a.none(), "tsv"_a)
        .def(
            "add_funcmap",
            [](Program& program, uint64_t object, nb::bytes text) {
                return program.add_funcmap(object, {text.c_str(), text.size()});
            },
            "code_object"_a, "text"_a)
        .def("marker_names", &marker_names_of,
             "(code object, marker id, kind, payload count, name, location) of every row of the marker names.")
        .def("link", &Program::link)
        .def("rows", &rows_of, "Place of every row, and the listed row whose text it shows.")
        .def("listing", &listing_of, "Place, size and text of every listed row.")
        .def_prop_ro("first_rows", &Program::first_rows,
                     "First listed row of every listing, and behind them their number.");

    nb::class_<Records>(m, "Records")
        .def_prop_ro("status", [](const Records& r) { return static_cast<uint8_t>(r.status); })
        .def_ro("stopped_at_byte", &Records::stopped_at_byte)
        .def_ro("gfxip", &Records::gfxip)
        .def_ro("stream_version", &Records::stream_version)
        .def_ro("target_cu", &Records::target_cu)
        .def_ro("target_simd", &Records::target_simd)
        .def_ro("double_buffer", &Records::double_buffer)
        .def_ro("realtime_hz", &Records::realtime_hz)
        .def_ro("counter_interval_cycles", &Records::counter_interval_cycles)
        .def_ro("byte_count", &Records::byte_count)
        .def_ro("token_count", &Records::token_count)
        .def_prop_ro("instruction_count", &Records::next_instruction, "Instructions, kept as rows or only counted.")
        .def_prop_ro(
            "category_bits", [](const Records& r) { return r.tally.categories; }, "A bit for each category.")
        .def_prop_ro(
            "release_count", [](const Records& r) { return r.tally.releases; },
            "Releases of barriers, which belong to the execution before them.")
        .def_prop_ro(
            "unresolved_count", [](const Records& r) { return r.tally.unresolved; }, "Instructions without a PC.")
        .def_prop_ro(
            "executed_rows", [](const Records& r) { return nb::bytes(r.tally.rows.data(), r.tally.rows.size()); },
            "By program row up to the last one that was executed: 1 = it was.")
        .def_prop_ro("state_cycles", &state_cycles_of, "Cycles of each state that occurs.");

    m.def("tables", &tables_of, "records"_a, "Every table of a decoded buffer, by name.");
    m.def("joined_rows", &rows_of_all, "records"_a,
          "The tables of instructions and states over all buffers, whose own ones are empty afterwards.");
    m.def("generation_of", &generation_name, "head"_a,
          "Which generation wrote a buffer that starts with these bytes (8 are enough): GFX9, ...; None = unknown.");
    m.def("decode", &decode_buffers, "buffers"_a, "program"_a, "corrected"_a = false, "threads"_a = 0, "rows"_a = true,
          "first_wave"_a = 0,
          "Decode buffers in parallel; wave, instruction and state numbers run through all of them. Without `rows`"
          " instructions and states are only counted.");
    nb::exception<Stopped>(m, "Stopped");
    nb::class_<StopSwitch>(m, "StopSwitch")
        .def(nb::init<>())
        .def(
            "stop", [](const StopSwitch& one) { *one.flag = true; }, "End what works under it, on whatever thread.")
        .def(
            "enter", [](const StopSwitch& one) { current_stop = one.flag; }, "From here on this thread obeys it.")
        .def("leave", [](const StopSwitch&) { current_stop = nullptr; })
        .def_static("current", [] { return StopSwitch{current_stop}; }, "What this thread obeys, for others to obey.");
    bind_timeline(m);
    bind_ui_output(m);
    bind_waits(m);
    bind_costs(m);
    bind_span_pyramid(m);
    bind_sqlite(m);
    bind_call_tree(m);
    bind_duration_statistics(m);
    bind_entries(m);
    bind_isa(m);
    bind_evaluate(m);
    bind_cache_orders(m);
    bind_file_blocks(m);
    bind_event_graph(m);
    bind_lane_costs(m);
    bind_live_registers(m);
    bind_edit_replay(m);
    bind_replay(m);
    bind_stalls(m);
    bind_perfetto(m);
    bind_perfetto_trace(m);
    bind_wave_rows(m);
    bind_wave_spans(m);
    bind_chrome(m);
    m.def("demangle", &demangle, "name"_a, "The C++ name behind a mangled one, or None.");
}

}  // namespace
}  // namespace wavewright::bind
