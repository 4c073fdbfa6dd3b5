#include "evaluate.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/evaluate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

using namespace wavewright::evaluate;

using Phases = std::pair<unsigned, std::vector<uint64_t>>;

struct PatternAddresses {
    Column<int64_t>* address;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("address", *address);
    }
};

std::unique_ptr<Evaluator> evaluator(std::vector<std::string> texts, const nb::dict& rows, std::string column,
                                     const std::vector<Phases>& lds_rules, unsigned group_lanes, unsigned segment_bytes,
                                     unsigned pointer_bytes, unsigned lane_count) {
    const auto target = bind::column<int32_t>(rows, "target_row");
    const auto space = bind::column<uint8_t>(rows, "space");
    const auto direction = bind::column<uint8_t>(rows, "direction");
    const auto width = bind::column<uint8_t>(rows, "width_bytes");
    const auto rule = bind::column<int32_t>(rows, "lds_rule");
    const auto has_segments = bind::column<uint8_t>(rows, "has_segments");
    require_same_length(target, space, direction, width, rule, has_segments);
    if (texts.size() != target.values().size()) throw nb::value_error("columns differ in length");
    EvaluatedCode code;
    code.texts = std::move(texts);
    code.target.assign(target.values().begin(), target.values().end());
    for (size_t row = 0; row < code.target.size(); ++row) {
        if (space.values()[row] > static_cast<uint8_t>(Space::other) ||
            direction.values()[row] > static_cast<uint8_t>(Direction::load_to_lds))
            throw nb::value_error("no such space or direction");
        code.access.push_back({static_cast<Space>(space.values()[row]), static_cast<Direction>(direction.values()[row]),
                               width.values()[row], static_cast<int16_t>(rule.values()[row]),
                               has_segments.values()[row] != 0});
    }
    code.column = std::move(column);
    for (const auto& [banks, phases] : lds_rules) {
        if (banks > UINT8_MAX || !std::has_single_bit(banks)) throw nb::value_error("banks must be a power of two");
        code.lds_rules.push_back({static_cast<uint8_t>(banks), phases});
    }
    if (segment_bytes != 0 && (!std::has_single_bit(segment_bytes) || segment_bytes > 4096 || group_lanes == 0))
        throw nb::value_error("segments must be a power of two");
    if (!std::has_single_bit(pointer_bytes)) throw nb::value_error("pointers are multiples of a power of two");
    code.group_lanes = group_lanes;
    code.segment_bytes = segment_bytes;
    code.pointer_zero_bits = static_cast<uint8_t>(std::countr_zero(pointer_bytes));
    return std::make_unique<Evaluator>(std::move(code), lane_count);
}

using Triple = std::tuple<uint32_t, uint32_t, uint32_t>;

Start start_of(const std::vector<std::tuple<unsigned, unsigned, uint32_t>>& registers,
               const std::vector<std::tuple<nb::bytes, nb::bytes, nb::bytes>>& regions, Triple workgroup,
               Triple workgroups, bool packed_ids, unsigned id_registers, unsigned lane_count) {
    Start start;
    for (const auto& [number, what, value] : registers) {
        if (number >= 1536 || what > static_cast<unsigned>(StartContent::argument))
            throw nb::value_error("no such register");
        start.registers.push_back({static_cast<uint16_t>(number), static_cast<StartContent>(what), value});
    }
    const auto bytes_of = [](const nb::bytes& bytes) {
        const auto* data = reinterpret_cast<const uint8_t*>(bytes.c_str());
        return std::vector<uint8_t>(data, data + bytes.size());
    };
    for (const auto& [bytes, certain, pointers] : regions) {
        if (bytes.size() != certain.size())
            throw nb::value_error("a region must say of each byte whether it is certain");
        start.regions.push_back({bytes_of(bytes), bytes_of(certain), bytes_of(pointers)});
    }
    std::tie(start.workgroup[0], start.workgroup[1], start.workgroup[2]) = workgroup;
    std::tie(start.workgroups[0], start.workgroups[1], start.workgroups[2]) = workgroups;
    start.packed_ids = packed_ids;
    start.id_registers = static_cast<uint8_t>(id_registers);
    start.lane_count = lane_count;
    return start;
}

nb::dict run(const Evaluator& evaluator, const Start& start, unsigned wave, nb::object path, unsigned most_patterns,
             bool keeps_executions) {
    const ArrowInput<int32_t> rows(path);
    auto evaluation = std::make_shared<Evaluation>();
    {
        nb::gil_scoped_release unlocked;
        *evaluation = evaluator.run(start, wave, rows.values(),
                                    {.most_patterns = most_patterns, .has_executions = keeps_executions});
    }
    PatternAddresses addresses{&evaluation->patterns.address};
    nb::dict answer;
    answer["rows"] = arrow_table(evaluation->rows, evaluation);
    answer["reasons"] = arrow_table(evaluation->reasons, evaluation);
    answer["patterns"] = arrow_table(evaluation->patterns, evaluation);
    answer["addresses"] = arrow_table(addresses, evaluation);
    if (keeps_executions) {
        PatternAddresses of_executions{&evaluation->executions.address};
        answer["executions"] = arrow_table(evaluation->executions, evaluation);
        answer["execution_addresses"] = arrow_table(of_executions, evaluation);
    }
    answer["contradiction_row"] = evaluation->contradiction_row;
    answer["misfit_row"] = evaluation->misfit_row;
    answer["branch_count"] = evaluation->branch_count;
    answer["checked_branch_count"] = evaluation->checked_branch_count;
    return answer;
}

nb::dict walk(const Evaluator& evaluator, const Start& start, unsigned wave, nb::object traced, size_t most_steps) {
    const ArrowInput<int32_t> rows(traced);
    auto evaluation = std::make_shared<Evaluation>();
    auto walked = std::make_shared<Walk>();
    {
        nb::gil_scoped_release unlocked;
        walked->traced = rows.values();
        walked->most_steps = most_steps;
        *evaluation = evaluator.walk(start, wave, *walked);
    }
    PatternAddresses addresses{&evaluation->executions.address};
    nb::dict answer;
    answer["path"] = arrow_table(*walked, walked);
    answer["executions"] = arrow_table(evaluation->executions, evaluation);
    answer["execution_addresses"] = arrow_table(addresses, evaluation);
    answer["is_complete"] = walked->is_complete;
    answer["is_as_traced"] = walked->traced_at == walked->traced.size();
    answer["stopped_row"] = evaluation->misfit_row;
    answer["branch_count"] = evaluation->branch_count;
    answer["checked_branch_count"] = evaluation->checked_branch_count;
    answer["assumed_branch_count"] = walked->assumed_branch_count;
    return answer;
}

}  // namespace

void bind_evaluate(nb::module_& m) {
    nb::class_<Start>(m, "WaveStart", "What registers hold when a wave starts.")
        .def(
            "__init__",
            [](Start* self, const std::vector<std::tuple<unsigned, unsigned, uint32_t>>& registers,
               const std::vector<std::tuple<nb::bytes, nb::bytes, nb::bytes>>& regions, Triple workgroup,
               Triple workgroups, bool packed_ids, unsigned id_registers, unsigned lane_count) {
                new (self)
                    Start(start_of(registers, regions, workgroup, workgroups, packed_ids, id_registers, lane_count));
            },
            "registers"_a, "regions"_a, "workgroup"_a, "workgroups"_a, "packed_ids"_a, "id_registers"_a,
            "lane_count"_a);
    nb::class_<Evaluator>(m, "LaneEvaluator", "Lane addresses of executed memory instructions.")
        .def(nb::new_(&evaluator), "texts"_a, "rows"_a, "column"_a, "lds_rules"_a, "group_lanes"_a, "segment_bytes"_a,
             "pointer_bytes"_a, "lane_count"_a)
        .def("run", &run, "start"_a, "wave"_a, "path"_a, "most_patterns"_a, "keeps_executions"_a = false,
             "Evaluates the rows that one wave executed; `wave` is its number in the workgroup.")
        .def("walk", &walk, "start"_a, "wave"_a, "traced"_a, "most_steps"_a,
             "Evaluates one wave that goes where its branches lead, the traced way where nothing else tells it.");
}

}  // namespace wavewright::bind
