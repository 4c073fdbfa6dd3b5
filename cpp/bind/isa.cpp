#include "isa.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "wavewright/isa.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

using isa::Disassembly;

std::vector<std::string> target_names() {
    std::vector<std::string> names;
    for (const std::string_view name : isa::targets()) names.emplace_back(name);
    return names;
}

std::optional<std::pair<std::string, bool>> nearest_target(std::string_view target) {
    const isa::Nearest nearest = isa::nearest(target);
    if (nearest.column.empty()) return std::nullopt;
    return std::pair(std::string(nearest.column), nearest.exact);
}

using ChunkPlace = std::tuple<uint64_t, size_t, size_t, bool>;

std::shared_ptr<Disassembly> disassembly_of(nb::bytes code, const std::vector<ChunkPlace>& places,
                                            std::string_view column, bool operands) {
    const std::span bytes(static_cast<const uint8_t*>(code.data()), code.size());
    std::vector<isa::Chunk> chunks;
    for (const auto& [address, begin, end, wave64] : places) {
        if (begin > end || end > bytes.size()) throw nb::value_error("a chunk lies outside of the code");
        chunks.push_back({address, bytes.subspan(begin, end - begin), wave64});
    }
    nb::gil_scoped_release unlocked;
    return std::make_shared<Disassembly>(isa::disassemble(chunks, column, operands));
}

std::shared_ptr<Disassembly> operands_of_texts(const std::vector<std::string>& texts, std::string_view column,
                                               bool wave64) {
    nb::gil_scoped_release unlocked;
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return std::make_shared<Disassembly>(isa::read_texts(views, column, wave64));
}

template <class T>
void add_column(ArrowTable& table, const char* name, const Column<T>& column) {
    table.columns.push_back({name, arrow_format<T>(), column.data()});
}

ArrowTable rows_of(const std::shared_ptr<Disassembly>& disassembly) {
    ArrowTable table;
    table.length = static_cast<int64_t>(disassembly->record.size());
    if (!disassembly->address.empty() || disassembly->record.empty()) {
        add_column(table, "address", disassembly->address);
        add_column(table, "size", disassembly->size);
    }
    add_column(table, "record", disassembly->record);
    add_column(table, "facts", disassembly->facts);
    if (!disassembly->text_end.empty())
        table.columns.push_back({"text", "U", disassembly->texts.data(), disassembly->text_end.data()});
    table.owner = disassembly;
    return table;
}

ArrowTable operands_of(const std::shared_ptr<Disassembly>& disassembly) {
    ArrowTable table;
    table.length = static_cast<int64_t>(disassembly->operand_row.size());
    add_column(table, "row", disassembly->operand_row);
    add_column(table, "register", disassembly->operand_register);
    add_column(table, "count", disassembly->operand_count);
    add_column(table, "role", disassembly->operand_role);
    table.owner = disassembly;
    return table;
}

nb::bytes tsv_of(const Disassembly& disassembly) {
    std::string lines;
    {
        nb::gil_scoped_release unlocked;
        lines = isa::listing_of(disassembly);
    }
    return nb::bytes(lines.data(), lines.size());
}

}  // namespace

void bind_isa(nb::module_& m) {
    nb::class_<Disassembly>(m, "Disassembly", "Instructions as rows of text, and the registers that they use.")
        .def_prop_ro("rows", &rows_of, "Table of address, size, record, facts, text.")
        .def_prop_ro("operands", &operands_of, "Table of row, register, count, role.")
        .def_prop_ro("tsv", &tsv_of, "Lines of address, size and text, separated by tabs.");
    m.def("isa_targets", &target_names, "Targets that the disassembler has tables for.");
    m.def("isa_nearest", &nearest_target, "target"_a,
          "The table column that serves a target and whether it has the same records; None where there is none.");
    m.def("disassemble", &disassembly_of, "code"_a, "chunks"_a, "column"_a, "operands"_a = true,
          "Disassembles chunks (address, begin, end, wave64) of code for a table column.");
    m.def("read_instruction_texts", &operands_of_texts, "texts"_a, "column"_a, "wave64"_a,
          "Records, facts and operands of instructions whose texts others wrote, by a table column.");
}

}  // namespace wavewright::bind
