#include "wavewright/records.hpp"

#include <algorithm>

namespace wavewright {

void Records::forget_rows() {
    for (const int32_t row : instructions.row) {
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
