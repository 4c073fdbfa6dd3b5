// Which pipe an instruction is issued to, as Python tells it.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>

#include "arrow_in.hpp"
#include "wavewright/timeline.hpp"

namespace wavewright::bind {

// PipeRules of Python. The column stays Python's until it is used.
struct PipeRecord {
    nanobind::bytes of_category;  // a byte per category: its pipe, or kNoPipe; categories beyond it have none
    nanobind::object of_row;      // a column of uint8, see PipeRules::of_row
    uint32_t short_pipes = 0;
    int32_t issue_cycles = 1;
};

// The rules of a record, and the column that they lie in.
class PipeColumns {
  public:
    explicit PipeColumns(const PipeRecord& record) : of_row_(record.of_row) {
        rules_.of_category.fill(kNoPipe);
        const auto* pipes = reinterpret_cast<const uint8_t*>(record.of_category.c_str());
        const size_t count = std::min(record.of_category.size(), rules_.of_category.size());
        std::copy_n(pipes, count, rules_.of_category.begin());
        rules_.of_row = of_row_.values();
        rules_.short_pipes = record.short_pipes;
        rules_.issue_cycles = std::max(record.issue_cycles, 1);
    }

    const PipeRules& rules() const { return rules_; }

  private:
    ArrowInput<uint8_t> of_row_;
    PipeRules rules_;
};

}  // namespace wavewright::bind
