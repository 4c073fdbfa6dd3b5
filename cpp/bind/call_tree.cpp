#include "call_tree.hpp"

#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/call_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

ArrowTable call_tree_of(nb::handle thread, nb::handle begin, nb::handle end, nb::handle name, nb::handle launch,
                        nb::handle work) {
    const ArrowInput<uint32_t> threads(thread), names(name), launches(launch);
    const ArrowInput<int64_t> begins(begin), ends(end), lengths(work["ns"]), counts(work["count"]),
        first_begins(work["begin"]), last_ends(work["end"]);
    const Calls calls{threads.values(), begins.values(), ends.values(),         names.values(),    launches.values(),
                      lengths.values(), counts.values(), first_begins.values(), last_ends.values()};
    require_same_length(threads, begins, ends, names, launches);
    require_same_length(lengths, counts, first_begins, last_ends);
    const auto nodes = std::make_shared<CallNodes>();
    {
        nb::gil_scoped_release unlocked;
        *nodes = call_tree(calls);
    }
    return arrow_table(*nodes, nodes);
}

}  // namespace

void bind_call_tree(nb::module_& m) {
    m.def("call_tree", &call_tree_of, "thread"_a, "begin"_a, "end"_a, "name"_a, "launch"_a, "work"_a,
          "Calls sorted by thread and begin as one tree of names, with times and counts.");
}

}  // namespace wavewright::bind
