#include "duration_statistics.hpp"

#include <deque>
#include <memory>
#include <optional>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/covered_time.hpp"
#include "wavewright/duration_statistics.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
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

// Key columns and times of one piece, all of one length.
class Events {
  public:
    Events(nb::sequence keys, size_t key_count, nb::handle begin, nb::handle end) : begins_(begin), ends_(end) {
        for (nb::handle key : keys) inputs_.emplace_back(key);
        if (inputs_.size() != key_count) throw nb::value_error("another number of keys");
        for (const auto& input : inputs_) columns_.push_back(checked(input.column()));
        checked(ends_.column());
    }

    Keys keys() const { return columns_; }
    Nullable<int64_t> begins() const { return begins_.column(); }
    Nullable<int64_t> ends() const { return ends_.column(); }

    template <class T>
    Nullable<T> checked(Nullable<T> column) const {
        require_same_length(begins().values, column.values);
        return column;
    }

  private:
    std::deque<NullableInput<uint32_t>> inputs_;
    NullableInput<int64_t> begins_, ends_;
    std::vector<Nullable<uint32_t>> columns_;
};

ArrowTable add(DurationStatistics& statistics, nb::sequence keys, nb::handle begin, nb::handle end, nb::handle size) {
    const Events events(keys, statistics.key_count(), begin, end);
    std::optional<NullableInput<int64_t>> input;
    if (!size.is_none()) input.emplace(size);
    const Nullable<int64_t> sizes = input ? events.checked(input->column()) : Nullable<int64_t>{};
    nb::gil_scoped_release unlocked;
    return OneColumn{"row"}(statistics.add(events.keys(), events.begins(), events.ends(), sizes));
}

ArrowTable cover(CoveredTime& time, nb::sequence keys, nb::handle begin, nb::handle end) {
    const Events events(keys, time.key_count(), begin, end);
    nb::gil_scoped_release unlocked;
    return OneColumn{"row"}(time.add(events.keys(), events.begins(), events.ends()));
}

nb::tuple regrouped(nb::handle group, nb::handle value, nb::handle count, nb::handle in_buckets) {
    const ArrowInput<uint32_t> groups(group);
    const ArrowInput<int64_t> values(value), counts(count);
    const ArrowInput<uint8_t> flags(in_buckets);
    require_same_length(groups, values, counts);
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
    nb::class_<CoveredTime>(m, "CoveredTime")
        .def(nb::init<size_t, int64_t, int64_t>(), "key_count"_a, "longest"_a, "farthest"_a)
        .def("add", &cover, "keys"_a, "begin"_a, "end"_a,
             "Take the intervals of one piece; the rows that are the first of their group.")
        .def("totals", [](CoveredTime& time) { return OneColumn{"covered_ns"}(time.totals()); });
    m.def("regrouped_values", &regrouped, "group"_a, "value"_a, "count"_a, "in_buckets"_a,
          "Values added up in new groups, sorted, and which groups have each value and not buckets.");
}

}  // namespace wavewright::bind
