#include "lane_costs.hpp"

#include <nanobind/stl/vector.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "wavewright/column.hpp"
#include "wavewright/lane_costs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

struct LdsCosts {
    Column<uint32_t> ideal_cycles, extra_cycles;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("ideal_cycles", ideal_cycles);
        visit("extra_cycles", extra_cycles);
    }
};

struct SegmentCounts {
    Column<uint32_t> segment_count, least_segment_count;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("segment_count", segment_count);
        visit("least_segment_count", least_segment_count);
    }
};

// Lanes of each pattern: `values` holds one per lane, pattern after pattern.
size_t lane_count_of(size_t values, std::span<const uint64_t> active) {
    if (active.empty() && values == 0) return 0;
    const size_t lanes = active.empty() ? 0 : values / active.size();
    if (lanes == 0 || lanes > kLanesMax || lanes * active.size() != values)
        throw nb::value_error("each pattern must have the same number of lanes, 1 to 64");
    if (lanes < kLanesMax)
        for (const uint64_t mask : active)
            if (mask >> lanes != 0) throw nb::value_error("an active lane has no address");
    return lanes;
}

LdsRule rule_of(unsigned width_dwords, unsigned banks, std::vector<uint64_t> phases, std::span<const uint64_t> active) {
    if (width_dwords == 0 || width_dwords > kLdsWidthMax) throw nb::value_error("an access has 1 to 4 dwords");
    if (banks > UINT8_MAX || !std::has_single_bit(banks))
        throw nb::value_error("banks must be a power of two below 256");
    uint64_t served = 0;
    for (const uint64_t phase : phases) {
        if ((served & phase) != 0) throw nb::value_error("a lane is in two phases");
        served |= phase;
    }
    for (const uint64_t mask : active)
        if ((mask & ~served) != 0) throw nb::value_error("an active lane is in no phase");
    return {static_cast<uint8_t>(banks), std::move(phases)};
}

ArrowTable lds_costs_of(nb::object dwords, nb::object active, unsigned width_dwords, unsigned banks,
                        std::vector<uint64_t> phases) {
    const ArrowInput<uint32_t> dword_column(dwords);
    const ArrowInput<uint64_t> active_column(active);
    const std::span<const uint64_t> masks = active_column.values();
    const size_t lanes = lane_count_of(dword_column.values().size(), masks);
    const LdsRule rule = rule_of(width_dwords, banks, std::move(phases), masks);
    auto costs = std::make_shared<LdsCosts>();
    {
        nb::gil_scoped_release unlocked;
        uint32_t* const ideal = costs->ideal_cycles.extend(masks.size());
        uint32_t* const extra = costs->extra_cycles.extend(masks.size());
        for (size_t at = 0; at < masks.size(); ++at) {
            const LdsCost cost =
                lds_cost(dword_column.values().subspan(at * lanes, lanes), masks[at], width_dwords, rule);
            ideal[at] = cost.ideal_cycles;
            extra[at] = cost.extra_cycles;
        }
    }
    return arrow_table(*costs, costs);
}

ArrowTable segment_counts_of(nb::object addresses, nb::object active, unsigned width_bytes, unsigned group_lanes,
                             unsigned segment_bytes) {
    const ArrowInput<uint64_t> address_column(addresses);
    const ArrowInput<uint64_t> active_column(active);
    const std::span<const uint64_t> masks = active_column.values();
    const size_t lanes = lane_count_of(address_column.values().size(), masks);
    if (width_bytes == 0) throw nb::value_error("an access has at least a byte");
    if (group_lanes == 0) throw nb::value_error("a group has at least a lane");
    if (!std::has_single_bit(segment_bytes)) throw nb::value_error("bytes of a segment must be a power of two");
    auto counts = std::make_shared<SegmentCounts>();
    {
        nb::gil_scoped_release unlocked;
        uint32_t* const touched = counts->segment_count.extend(masks.size());
        uint32_t* const least = counts->least_segment_count.extend(masks.size());
        for (size_t at = 0; at < masks.size(); ++at) {
            touched[at] = segment_count(address_column.values().subspan(at * lanes, lanes), masks[at], width_bytes,
                                        group_lanes, segment_bytes);
            least[at] = least_segment_count(masks[at], width_bytes, group_lanes, segment_bytes);
        }
    }
    return arrow_table(*counts, counts);
}

}  // namespace

void bind_lane_costs(nb::module_& m) {
    m.def("lds_costs", &lds_costs_of, "dwords"_a, "active"_a, "width_dwords"_a, "banks"_a, "phases"_a,
          "Cycles of LDS for each pattern: `dwords` has one per lane, pattern after pattern, `active` a mask each.");
    m.def("segment_counts", &segment_counts_of, "addresses"_a, "active"_a, "width_bytes"_a, "group_lanes"_a,
          "segment_bytes"_a, "Segments that each pattern touches, and the least that its active lanes could.");
}

}  // namespace wavewright::bind
