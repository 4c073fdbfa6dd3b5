#include "wavewright/records.hpp"

#include <functional>

#include "base/parallel.hpp"
#include "wavewright/executed.hpp"

namespace wavewright {
namespace {

// Moves one column of all records, column_of(records), behind each other into `all`.
template <class T, class ColumnOf>
void join(Column<T>& all, std::span<Records* const> records, ColumnOf&& column_of) {
    size_t count = 0;
    for (Records* part : records) count += column_of(*part).size();
    for (Records* part : records) {
        Column<T>& column = column_of(*part);
        if (all.empty()) {  // the first one stays where it is
            all = std::move(column);
            all.reserve(count);
        } else {
            all.append({column.data(), column.size()});
            column = Column<T>();  // gives its memory back
        }
    }
}

}  // namespace

void Records::count_rows(size_t instruction_count, size_t state_count, bool kept) {
    ExecutionCounter executions;
    for (size_t i = instructions.row.size() - instruction_count; i < instructions.row.size(); ++i) {
        const int32_t row = instructions.row[i];
        const uint8_t category = instructions.category[i];
        tally.releases += executions.counts(row, category) ? 0 : 1;
        tally.categories |= uint32_t{1} << category % Tally::kCategories;
        if (row < 0) {
            ++tally.unresolved;
            continue;
        }
        const auto at = static_cast<size_t>(row);
        if (at >= tally.rows.size()) tally.rows.resize(at + 1);
        tally.rows[at] = 1;
    }
    for (size_t i = states.state.size() - state_count; i < states.state.size(); ++i) {
        ++tally.spans[states.state[i]];
        tally.cycles[states.state[i]] += states.duration_cycles[i];
    }
    tally.instructions += instruction_count;
    tally.states += state_count;
    if (kept) return;
    instructions.each_column([](const char*, auto& column) { column.clear(); });
    states.each_column([](const char*, auto& column) { column.clear(); });
}

JoinedRows joined_rows(std::span<Records* const> records) {
    JoinedRows all;
    std::vector<std::function<void()>> moves;
    // One move for each declared column, so that threads can take them one by one.
#define WAVEWRIGHT_JOIN(table, name) \
    moves.emplace_back(              \
        [&all, records] { join(all.table.name, records, [](Records& one) -> auto& { return one.table.name; }); });
#define WAVEWRIGHT_JOIN_INSTRUCTIONS(type, name) WAVEWRIGHT_JOIN(instructions, name)
#define WAVEWRIGHT_JOIN_STATES(type, name) WAVEWRIGHT_JOIN(states, name)
    WAVEWRIGHT_INSTRUCTION_COLUMNS(WAVEWRIGHT_JOIN_INSTRUCTIONS)
    WAVEWRIGHT_STATE_COLUMNS(WAVEWRIGHT_JOIN_STATES)
#undef WAVEWRIGHT_JOIN_STATES
#undef WAVEWRIGHT_JOIN_INSTRUCTIONS
#undef WAVEWRIGHT_JOIN
    in_parallel(moves.size(), workers_for(moves.size()), [&](size_t turn, unsigned) { moves[turn](); });
    return all;
}

}  // namespace wavewright
