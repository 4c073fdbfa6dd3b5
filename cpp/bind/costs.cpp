#include "costs.hpp"

#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "wavescope/row_totals.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavescope::bind {
namespace {

void same_length(std::initializer_list<size_t> lengths) {
    for (const size_t length : lengths)
        if (length != *lengths.begin()) throw nb::value_error("columns differ in length");
}

// The columns of the instructions table, kept where they are for as long as this lives.
class Instructions {
  public:
    explicit Instructions(nb::handle frame)
        : wave_(column(frame, "wave")),
          time_(column(frame, "time_cycles")),
          stall_(column(frame, "stall_cycles")),
          duration_(column(frame, "duration_cycles")),
          row_(column(frame, "row")) {
        same_length({wave_.values().size(), time_.values().size(), stall_.values().size(), duration_.values().size(),
                     row_.values().size()});
    }

    Executed executed() const {
        return {wave_.values(), time_.values(), stall_.values(), duration_.values(), row_.values()};
    }

    static nb::object column(nb::handle frame, const char* name) { return frame[name]; }

  private:
    ArrowInput<uint32_t> wave_;
    ArrowInput<int64_t> time_;
    ArrowInput<int32_t> stall_, duration_, row_;
};

ArrowTable row_totals_of(nb::object instructions, nb::object waves, size_t row_count) {
    const Instructions columns(instructions);
    const ArrowInput<uint32_t> wave(Instructions::column(waves, "wave"));
    const ArrowInput<int64_t> begin(Instructions::column(waves, "begin_cycles"));
    same_length({wave.values().size(), begin.values().size()});
    auto found = std::make_shared<RowTotals>();
    {
        nb::gil_scoped_release unlocked;
        *found = row_totals(columns.executed(), wave.values(), begin.values(), row_count);
    }
    return arrow_table(*found, found);
}

}  // namespace

void bind_costs(nb::module_& m) {
    m.def("row_totals", &row_totals_of, "instructions"_a, "waves"_a, "row_count"_a,
          "Hits, latency, stall and idle of every executed code row.");
}

}  // namespace wavescope::bind
