#include "ui_output.hpp"

#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "wavewright/integer_rows.hpp"
#include "wavewright/wave_json.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// A str is a path, bytes are content; Python's bytes have a NUL after them.
WaveFile wave_file(nb::handle given, uint32_t se) {
    WaveFile file{.se = se};
    if (nb::isinstance<nb::bytes>(given)) {
        const auto content = nb::borrow<nb::bytes>(given);
        file.content = {content.c_str(), content.size()};
        return file;
    }
    if (!nb::isinstance<nb::str>(given)) throw nb::type_error("a file is a path (str) or content (bytes)");
    const auto path = nb::steal<nb::bytes>(PyUnicode_EncodeFSDefault(given.ptr()));
    if (!path.is_valid()) throw nb::python_error();
    file.path.assign(path.c_str(), path.size());
    return file;
}

nb::dict waves_of(nb::list files, const std::vector<uint32_t>& engines, const std::vector<int64_t>& lines,
                  const std::vector<int32_t>& rows, unsigned threads) {
    if (files.size() != engines.size() || lines.size() != rows.size())
        throw nb::value_error("files and engines, lines and rows must be of equal length");
    std::vector<WaveFile> given;
    given.reserve(files.size());
    for (size_t i = 0; i < files.size(); ++i) given.push_back(wave_file(files[i], engines[i]));
    auto read = std::make_shared<WaveFiles>();
    {
        nb::gil_scoped_release unlocked;
        std::vector<std::pair<int64_t, int32_t>> pairs;
        for (size_t i = 0; i < lines.size(); ++i) pairs.emplace_back(lines[i], rows[i]);
        *read = read_waves(given, LineRows(std::move(pairs)), threads);
    }
    nb::dict tables;
    read->each_table([&](const char* name, auto& table) { tables[name] = nb::cast(arrow_table(table, read)); });
    return tables;
}

constexpr size_t kMostColumns = 64;

// (table with the columns c0, c1, ... and width, malformed rows, byte offset of the fault or None)
nb::tuple integer_rows_of(nb::bytes text, size_t least, size_t most) {
    if (most > kMostColumns) throw nb::value_error("too many columns");
    auto rows = std::make_shared<IntegerRows>();
    {
        nb::gil_scoped_release unlocked;
        *rows = read_integer_rows({text.c_str(), text.size()}, least, most);
    }
    ArrowTable table;
    table.owner = rows;
    table.length = static_cast<int64_t>(rows->width.size());
    for (size_t i = 0; i < rows->values.size(); ++i)
        table.columns.push_back({"c" + std::to_string(i), arrow_format<int64_t>(), rows->values[i].data()});
    table.columns.push_back({"width", arrow_format<uint32_t>(), rows->width.data()});
    const nb::object fault = rows->is_json ? nb::none() : nb::cast(rows->byte_offset);
    return nb::make_tuple(nb::cast(std::move(table)), rows->malformed_count, fault);
}

// ([(key, value as bytes)], byte offset of the fault or None)
nb::tuple object_members_of(nb::bytes text) {
    const ObjectMembers split = split_object({text.c_str(), text.size()});
    nb::list members;
    for (const auto& [key, begin, end] : split.members) {
        members.append(nb::make_tuple(nb::bytes(key.data(), key.size()), nb::bytes(text.c_str() + begin, end - begin)));
    }
    const nb::object fault = split.is_json ? nb::none() : nb::cast(split.byte_offset);
    return nb::make_tuple(members, fault);
}

}  // namespace

void bind_ui_output(nb::module_& m) {
    m.def("read_waves", &waves_of, "files"_a, "engines"_a, "lines"_a, "rows"_a, "threads"_a = 0,
          "Wave files (str = path, bytes = content) with their shader engines into the tables waves, instructions, "
          "states and problems; `lines` and `rows` say which code row a line number means.");
    m.def("read_integer_rows", &integer_rows_of, "text"_a, "least"_a, "most"_a,
          "A JSON list of integer rows: (table c0.. and width, malformed rows, byte offset of a fault or None).");
    m.def("split_json_object", &object_members_of, "text"_a,
          "The members of a JSON object as ([(key, text of the value)], byte offset of a fault or None).");
}

}  // namespace wavewright::bind
