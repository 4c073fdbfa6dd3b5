#include "duration_statistics.hpp"

#include <deque>
#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "wavescope/duration_statistics.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavescope::bind {
namespace {

template <class T>
class NullableInput {
  public:
    explicit NullableInput(nb::handle column) : input_(column, true), known_(input_.known()) {}

    Nullable<T> column() const { return {input_.values(), known_}; }

  private:
    ArrowInput<T> input_;
    std::vector<uint8_t> known_;
};

struct OneColumn {
    const char* name;
    template <class T>
    ArrowTable operator()(std::vector<T> values) const {
        const auto kept = std::make_shared<std::vector<T>>(std::move(values));
        ArrowTable table;
        table.length = static_cast<int64_t>(kept->size());
        table.columns = {{name, arrow_format<T>(), kept->data()}};
        table.owner = kept;
        return table;
    }
};

template <class Table>
ArrowTable exported(Table table) {
    const auto kept = std::make_shared<Table>(std::move(table));
    return arrow_table(*kept, kept);
}

ArrowTable add(DurationStatistics& statistics, nb::sequence keys, nb::handle begin, nb::handle end, nb::handle size) {
    std::deque<NullableInput<uint32_t>> inputs;
    for (nb::handle key : keys) inputs.emplace_back(key);
    if (inputs.size() != statistics.key_count()) throw nb::value_error("another number of keys");
    const NullableInput<int64_t> begins(begin), ends(end);
    std::deque<NullableInput<int64_t>> sizes;
    if (!size.is_none()) sizes.emplace_back(size);
    const size_t rows = begins.column().values.size();
    std::vector<Nullable<uint32_t>> columns;
    bool is_even = ends.column().values.size() == rows && (sizes.empty() || sizes[0].column().values.size() == rows);
    for (const auto& input : inputs) {
        columns.push_back(input.column());
        is_even &= columns.back().values.size() == rows;
    }
    if (!is_even) throw nb::value_error("columns differ in length");
    nb::gil_scoped_release unlocked;
    const Nullable<int64_t> known_sizes = sizes.empty() ? Nullable<int64_t>{} : sizes[0].column();
    return OneColumn{"row"}(statistics.add(columns, begins.column(), ends.column(), known_sizes));
}

nb::tuple regrouped(nb::handle group, nb::handle value, nb::handle count, nb::handle in_buckets) {
    const ArrowInput<uint32_t> groups(group);
    const ArrowInput<int64_t> values(value), counts(count);
    const ArrowInput<uint8_t> flags(in_buckets);
    const size_t rows = groups.values().size();
    if (values.values().size() != rows || counts.values().size() != rows)
        throw nb::value_error("columns differ in length");
    RegroupedValues made;
    {
        nb::gil_scoped_release unlocked;
        made = regrouped_values(groups.values(), values.values(), counts.values(), flags.values());
    }
    return nb::make_tuple(exported(std::move(made.values)), OneColumn{"is_exact"}(std::move(made.is_exact)));
}

}  // namespace

void bind_duration_statistics(nb::module_& m) {
    nb::class_<DurationStatistics>(m, "DurationStatistics")
        .def(nb::init<size_t, int64_t>(), "key_count"_a, "longest"_a)
        .def("add", &add, "keys"_a, "begin"_a, "end"_a, "size"_a.none(),
             "Take the events of one piece; the rows that are the first of their group.")
        .def("sums", [](const DurationStatistics& statistics) { return exported(statistics.sums()); })
        .def("values", [](const DurationStatistics& statistics) { return exported(statistics.values()); });
    m.def("regrouped_values", &regrouped, "group"_a, "value"_a, "count"_a, "in_buckets"_a,
          "Values added up in new groups, sorted, and which groups have each value and not buckets.");
}

}  // namespace wavescope::bind
