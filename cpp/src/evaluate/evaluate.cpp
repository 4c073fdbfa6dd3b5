// Reads the code of a kernel once, and evaluates waves that ran it (pass.hpp). Where an address depends on the last bit
// of a reciprocal, a wave is evaluated with each rounding, and only what is equal is kept.
#include "wavewright/evaluate.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "pass.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::evaluate {
namespace {

void check(const EvaluatedCode& code, unsigned lane_count) {
    const size_t count = code.texts.size();
    if (code.target.size() != count || code.access.size() != count)
        throw std::invalid_argument("columns differ in length");
    if (lane_count != 32 && lane_count != 64) throw std::invalid_argument("a wave has 32 or 64 lanes");
    for (const RowAccess& access : code.access)
        if (access.lds_rule >= static_cast<int>(code.lds_rules.size())) throw std::invalid_argument("no such LDS rule");
}

// Adds the registers that instructions write, by the records of the instruction set.
void add_written(const isa::Disassembly& read, std::vector<std::vector<Instruction>>& rows) {
    for (size_t at = 0; at < read.operand_row.size(); ++at) {
        const uint8_t role = read.operand_role[at];
        if ((role & isa::writes) == 0) continue;
        const bool keeps_old = (role & (isa::reads | isa::tied | isa::low_half | isa::high_half)) != 0;
        for (Instruction& instruction : rows[read.operand_row[at]]) {
            const bool has_halves = instruction.mnemonic.find("16") != std::string::npos;
            instruction.written.push_back({read.operand_register[at], read.operand_count[at]});
            instruction.merges_old = instruction.merges_old || keeps_old || has_halves;
        }
    }
}

// The records list the results of both halves of a v_dual_... together; each half writes only its first operand.
void split_written(std::vector<Instruction>& halves) {
    for (Instruction& half : halves) {
        if (half.operands.empty()) continue;
        const uint16_t result = half.operands.front().number;
        std::erase_if(half.written, [&](const Written& written) { return written.number != result; });
    }
}

ReadCode read_code(EvaluatedCode given, unsigned lane_count) {
    check(given, lane_count);
    std::vector<std::vector<Instruction>> rows;
    const std::vector<std::string_view> texts(given.texts.begin(), given.texts.end());
    const isa::Disassembly read = isa::read_texts(texts, given.column, lane_count == kLanes);
    const bool is_gfx9 = given.column.starts_with("gfx9");
    rows.reserve(texts.size());
    for (size_t row = 0; row < texts.size(); ++row) {
        rows.push_back(read_instruction(texts[row], lane_count));
        for (Instruction& instruction : rows.back()) {
            instruction.facts = read.facts[row];
            instruction.is_understood = read.record[row] != isa::kNoRecord;
            // gfx9 fills the high half with zeros, but for one form (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest).
            instruction.keeps_high = !is_gfx9 || instruction.mnemonic == "v_mad_u16";
        }
    }
    add_written(read, rows);
    for (std::vector<Instruction>& instructions : rows) {
        for (Instruction& instruction : instructions) prepare(instruction);
        if (instructions.size() == 2) split_written(instructions);
    }
    return {.given = std::move(given), .lane_count = lane_count, .rows = std::move(rows)};
}

// The patterns of each row as bytes, to compare those of two evaluations.
std::map<int32_t, std::string> patterns_by_row(const PatternRows& patterns) {
    std::map<int32_t, std::string> by_row;
    for (size_t at = 0; at < patterns.row.size(); ++at) {
        std::string& bytes = by_row[patterns.row[at]];
        bytes.append(reinterpret_cast<const char*>(&patterns.active[at]), sizeof(uint64_t));
        bytes.append(reinterpret_cast<const char*>(patterns.address.data() + kLanes * at), kLanes * sizeof(int64_t));
    }
    return by_row;
}

bool equal_sums(const RowSums& one, const RowSums& other, size_t row) {
    return one.known_count[row] == other.known_count[row] && one.mask_known_count[row] == other.mask_known_count[row] &&
           one.active_lane_total[row] == other.active_lane_total[row] &&
           one.extra_cycle_total[row] == other.extra_cycle_total[row] &&
           one.segment_total[row] == other.segment_total[row];
}

void keep_equal_rows(Evaluation& result, const Evaluation& other) {
    std::map<int32_t, std::string> patterns = patterns_by_row(result.patterns);
    std::map<int32_t, std::string> other_patterns = patterns_by_row(other.patterns);
    RowSums& sums = result.rows;
    for (size_t row = 0; row < sums.known_count.size(); ++row) {
        const auto number = static_cast<int32_t>(row);
        const bool is_equal = equal_sums(sums, other.rows, row) && patterns[number] == other_patterns[number];
        if (is_equal || sums.known_count[row] == 0) continue;
        result.reasons.row.push_back(number);
        result.reasons.kind.push_back(static_cast<uint8_t>(ReasonKind::rounding));
        result.reasons.detail.push_back(0);
        result.reasons.base_kind.push_back(0);
        result.reasons.base_detail.push_back(0);
        result.reasons.count.push_back(sums.known_count[row]);
        result.reasons.is_cost.push_back(0);
        sums.known_count[row] = sums.cost_known_count[row] = 0;
        sums.ideal_cycle_total[row] = sums.extra_cycle_total[row] = 0;
        sums.segment_total[row] = sums.least_segment_total[row] = sums.requested_byte_total[row] = 0;
    }
}

void keep_equal_executions(ExecutionRows& executions, const ExecutionRows& other) {
    const size_t count = std::min(executions.position.size(), other.position.size());
    for (size_t at = 0; at < count; ++at) {
        const int64_t* const addresses = executions.address.data() + kLanes * at;
        const bool is_equal = executions.active[at] == other.active[at] &&
                              std::equal(addresses, addresses + kLanes, other.address.data() + kLanes * at);
        if (is_equal) continue;
        executions.is_known[at] = 0;
        executions.kind[at] = static_cast<uint8_t>(ReasonKind::rounding);
    }
}

// Of two evaluations that differ in how reciprocals are rounded: where their numbers differ, they are not known.
void keep_equal(Evaluation& result, const Evaluation& other) {
    if (result.contradiction_row < 0) result.contradiction_row = other.contradiction_row;
    keep_equal_rows(result, other);
    keep_equal_executions(result.executions, other.executions);
}

// Evaluates the path again with reciprocals rounded the other ways, and keeps what does not depend on it. Returns
// whether one of these contradicts the path.
bool keep_certain(const ReadCode& code, const Start& start, unsigned wave, std::span<const int32_t> path,
                  const Details& details, Evaluation& result) {
    bool contradicts = false;
    for (const int rounding : {-1, 1}) {
        const Evaluation other = Pass(code, start, wave, details, rounding).follow(path);
        contradicts = contradicts || other.contradiction_row >= 0;
        keep_equal(result, other);
    }
    return contradicts;
}

}  // namespace

Evaluator::Evaluator(EvaluatedCode code, unsigned lane_count)
    : code_(std::make_unique<const ReadCode>(read_code(std::move(code), lane_count))) {}

Evaluator::~Evaluator() = default;

Evaluation Evaluator::run(const Start& start, unsigned wave, std::span<const int32_t> path,
                          const Details& details) const {
    if (start.lane_count != code_->lane_count) throw std::invalid_argument("waves differ in size");
    Pass pass(*code_, start, wave, details, 0);
    Evaluation result = pass.follow(path);
    if (pass.used_reciprocal()) keep_certain(*code_, start, wave, path, details, result);
    return result;
}

Evaluation Evaluator::walk(const Start& start, unsigned wave, Walk& walk) const {
    if (start.lane_count != code_->lane_count) throw std::invalid_argument("waves differ in size");
    const Details details{.most_patterns = 0, .has_executions = true};
    Pass pass(*code_, start, wave, details, 0);
    Evaluation result = pass.walk(walk);
    if (pass.used_reciprocal()) {
        const std::span<const int32_t> path(walk.row.data(), walk.row.size());
        if (keep_certain(*code_, start, wave, path, details, result)) walk.is_complete = false;
    }
    return result;
}

}  // namespace wavewright::evaluate
