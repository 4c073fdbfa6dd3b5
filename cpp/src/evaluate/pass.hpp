// One evaluation of one wave: executes its rows on a Machine, compares its branches with the trace, and collects what
// its memory instructions do.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "machine.hpp"
#include "memory.hpp"

namespace wavewright::evaluate {

// Code as Evaluator has read it. Rows are places in both vectors.
struct ReadCode {
    EvaluatedCode given;
    unsigned lane_count;
    std::vector<std::vector<Instruction>> rows;  // one instruction each, or the two of a v_dual_... that run together
};

// Details of memory instructions that are collected besides the sums of rows.
class Tally {
  public:
    explicit Tally(const Details& details) : details_(details) {}

    // An execution whose lane addresses are not known; `position` is its place in the path.
    void add_unknown(size_t position, int32_t row, Reason reason);
    void add_known(size_t position, Lanes active, const Addresses& addresses, const Domain& domain);
    // The addresses of an execution are known, its cost is not. `base_reason` goes with ReasonKind::base_alignment.
    void add_unknown_cost(int32_t row, Reason reason, Reason base_reason);
    void add_pattern(int32_t row, const Wide& addresses, Lanes active, uint8_t width_bytes, uint8_t place);

    void write(Evaluation& result);

  private:
    struct Cause {
        int32_t row;
        Reason reason, base_reason;
        bool is_cost;
        friend auto operator<=>(const Cause&, const Cause&) = default;
    };
    struct Pattern {
        uint32_t count = 0;  // executions
        Lanes active = 0;
        uint8_t width_bytes = 0, place = 0;
        std::array<int64_t, kLanes> address{};  // up to multiples of kPatternBytes
    };

    // Patterns that lie elsewhere by this much are the same: it is a multiple of all lines of banks and segments.
    static constexpr int64_t kPatternBytes = 256;

    Details details_;
    std::map<Cause, uint32_t> causes_;  // executions of each
    std::map<int32_t, std::vector<Pattern>> patterns_;
    ExecutionRows executions_;
};

class Pass {
  public:
    // `rounding` is that of reciprocals, see Machine.
    Pass(const ReadCode& code, const Start& start, unsigned wave, const Details& details, int rounding);

    // Each of these once: executes the rows of a path, or those to which the branches of the wave lead.
    Evaluation follow(std::span<const int32_t> path);
    Evaluation walk(Walk& walk);

    bool used_reciprocal() const { return machine_.used_reciprocal(); }

  private:
    bool is_row(int32_t row) const { return row >= 0 && static_cast<size_t>(row) < code_.rows.size(); }
    const Instruction& instruction_of(int32_t row) const { return code_.rows[static_cast<size_t>(row)].front(); }
    const RowAccess& access_of(int32_t row) const { return code_.given.access[static_cast<size_t>(row)]; }
    int32_t target_of(int32_t row) const { return code_.given.target[static_cast<size_t>(row)]; }

    void execute(int32_t row, size_t position);
    void compare_next(int32_t row, int32_t next);
    bool falls_to(int32_t from, int32_t next) const;
    int32_t next_of_walk(int32_t row, Walk& walk);
    std::optional<bool> branches_in_walk(int32_t row, int32_t traced_next, Walk& walk);
    Evaluation finished();

    void access_memory(const Instruction& instruction, size_t position);
    void record(Lanes active, const Addresses& addresses);

    const ReadCode& code_;
    Machine machine_;
    Tally tally_;
    Evaluation result_;
    Reason lost_;  // why nothing is known any more; none = the path was understood so far
};

}  // namespace wavewright::evaluate
