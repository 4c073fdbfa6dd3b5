#include "entries.hpp"

#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/entries.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// The two columns of a table that name an entry, kept where they are for as long as this lives.
class EntryInput {
  public:
    explicit EntryInput(nb::handle columns) : code_object_(columns[0]), address_(columns[1]) {
        require_same_length(code_object_, address_);
    }

    EntryColumns columns() const { return {code_object_.values(), address_.values()}; }

  private:
    ArrowInput<uint64_t> code_object_, address_;
};

ArrowTable distinct_of(const std::vector<nb::tuple>& tables) {
    std::vector<std::unique_ptr<EntryInput>> inputs;
    std::vector<EntryColumns> columns;
    for (const nb::tuple& table : tables) {
        inputs.push_back(std::make_unique<EntryInput>(table));
        columns.push_back(inputs.back()->columns());
    }
    auto found = std::make_shared<Entries>();
    {
        nb::gil_scoped_release unlocked;
        *found = distinct_entries(columns);
    }
    return arrow_table(*found, found);
}

ArrowTable numbers_of(nb::tuple rows, nb::tuple entries) {
    const EntryInput row_input(rows), entry_input(entries);
    auto found = std::make_shared<EntryNumbers>();
    {
        nb::gil_scoped_release unlocked;
        *found = entry_numbers(row_input.columns(), entry_input.columns());
    }
    ArrowTable table;
    table.length = static_cast<int64_t>(found->entry.size());
    ArrowColumn column{"kernel", arrow_format<uint32_t>(), found->entry.data()};
    if (found->unknown_count != 0) {
        column.validity = found->known.data();
        column.null_count = static_cast<int64_t>(found->unknown_count);
    }
    table.columns.push_back(std::move(column));
    table.owner = found;
    return table;
}

}  // namespace

void bind_entries(nb::module_& m) {
    m.def("distinct_entries", &distinct_of, "tables"_a,
          "The entries that pairs of columns (code object, address) name, each once and in order.");
    m.def("entry_numbers", &numbers_of, "rows"_a, "entries"_a,
          "Of each row of a pair of columns the place of its entry in another pair; null = it is not there.");
}

}  // namespace wavewright::bind
