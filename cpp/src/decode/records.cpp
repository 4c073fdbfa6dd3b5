#include "wavewright/records.hpp"

#include <algorithm>

#include "wavewright/executed.hpp"

namespace wavewright {

void Records::forget_rows() {
    ExecutionCounter executions;
    for (size_t i = 0; i < instructions.row.size(); ++i) {
        const int32_t row = instructions.row[i];
        if (i == 0 || instructions.wave[i] != instructions.wave[i - 1]) executions = {};
        tally.releases += executions.counts(row, instructions.category[i]) ? 0 : 1;
        tally.unresolved += row < 0;
        tally.highest_row = std::max(tally.highest_row, row);
    }
    for (size_t i = 0; i < states.state.size(); ++i) {
        ++tally.spans[states.state[i]];
        tally.cycles[states.state[i]] += states.duration_cycles[i];
    }
    tally.instructions += instructions.row.size();
    tally.states += states.state.size();
    instructions.each_column([](const char*, auto& column) { column.clear(); });
    states.each_column([](const char*, auto& column) { column.clear(); });
}

}  // namespace wavewright
