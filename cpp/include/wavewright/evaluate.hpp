// Lane addresses of executed memory instructions: the integer part of machine code, evaluated along the path that a
// wave took. What is not certain stays unknown, with the reason; nothing is guessed.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wavewright/column.hpp"
#include "wavewright/lane_costs.hpp"

namespace wavewright::evaluate {

// Why a number is not certain.
enum class ReasonKind : uint8_t {
    none = 0,
    start_register = 1,   // detail: register that nobody described
    workgroup_id = 2,     // detail: axis
    argument = 3,         // detail: offset in bytes
    load = 4,             // detail: row that loaded it from memory
    lds_load = 5,         // detail: row that loaded it from LDS
    not_evaluated = 6,    // detail: row of an instruction that is not evaluated
    mask = 7,             // detail: row whose active lanes depend on something unknown
    bits = 8,             // detail: row that cuts a sum of a lane value and an unknown number into bits
    contradiction = 9,    // detail: branch that went another way than its condition says
    path = 10,            // detail: row behind which the trace goes on where the code does not
    base_alignment = 11,  // detail: reason of the base, see Reason::base
    unaligned = 12,
    no_rule = 13,
    out_of_range = 14,   // lanes outside of the buffer
    lds_or_memory = 15,  // flat: depends on the address
    addressing = 16,     // a way of addressing that is not evaluated: detail row
    high_half = 17,      // part of a 64-bit number
    rounding = 18,       // depends on the last bit of a reciprocal
};

struct Reason {
    ReasonKind kind = ReasonKind::none;
    int32_t detail = 0;
    friend auto operator<=>(const Reason&, const Reason&) = default;
};

// What must hold for an answer, bits.
enum Assumption : uint8_t {
    pointer_aligned = 1,  // a pointer argument is a multiple of a segment
    no_wrap = 2,          // adding offsets to an index does not leave its 32 bits
    within_buffer = 4,    // no lane is outside of the buffer
    plain_buffer = 8,     // the buffer is not swizzled
    flat_workgroup = 16,  // one-dimensional workgroup, whole waves
};

enum class Space : uint8_t { none = 0, lds = 1, global = 2, buffer = 3, other = 4 };
enum class Direction : uint8_t { load = 0, store = 1, atomic = 2, load_to_lds = 3 };

// What a row does with memory, and the rules for its costs.
struct RowAccess {
    Space space = Space::none;
    Direction direction = Direction::load;
    uint8_t width_bytes = 0;    // of one address of one lane
    int16_t lds_rule = -1;      // in EvaluatedCode::lds_rules; -1 = no rule
    bool has_segments = false;  // whether the segment rule is for it
};

struct EvaluatedCode {
    std::vector<std::string> texts;  // by row
    std::vector<int32_t> target;     // row that a branch jumps to; negative = none
    std::vector<RowAccess> access;
    std::string column;  // of isa::targets()
    std::vector<LdsRule> lds_rules;
    unsigned group_lanes = 0;  // segment rule: lanes that are served together; 0 = no rule
    unsigned segment_bytes = 0;
    uint8_t pointer_zero_bits = 8;  // of pointers, by assumption
};

// Memory whose contents are certain in part: kernel arguments, the dispatch packet.
struct Region {
    std::vector<uint8_t> bytes, certain;  // certain: 1 per byte
    std::vector<uint8_t> is_pointer;      // 1 for each byte of an argument that is a pointer; empty: not described
};

// What registers hold when a wave starts.
struct StartRegister {
    uint16_t number = 0;
    // 0 constant `value`, 1 workgroup id of axis `value`, 2 low and 3 high half of the address of region `value`,
    // 4 the dword at offset `value` of region 0
    uint8_t what = 0;
    uint32_t value = 0;
};

struct Start {
    std::vector<StartRegister> registers;
    std::vector<Region> regions;
    uint32_t workgroup[3] = {0, 1, 1};   // work-items; 0 = not known, taken as one-dimensional
    uint32_t workgroups[3] = {0, 0, 0};  // of the grid; 0 = not known
    bool packed_ids = false;             // all ids in v0, 10 bits each
    uint8_t id_registers = 1;            // else v0, v1, v2
    unsigned lane_count = 64;
};

// Sums over the executions of each row.
struct RowSums {
    Column<uint32_t> execution_count;
    Column<uint32_t> mask_known_count;   // executions whose active lanes are certain
    Column<uint64_t> active_lane_total;  // over these
    Column<uint32_t> known_count;        // executions whose lane addresses are certain
    Column<uint32_t> cost_known_count;   // and whose costs a rule says
    Column<uint64_t> ideal_cycle_total;  // LDS
    Column<uint64_t> extra_cycle_total;
    Column<uint64_t> segment_total;  // memory
    Column<uint64_t> least_segment_total;
    Column<uint64_t> requested_byte_total;
    Column<uint8_t> assumptions;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("execution_count", execution_count);
        visit("mask_known_count", mask_known_count);
        visit("active_lane_total", active_lane_total);
        visit("known_count", known_count);
        visit("cost_known_count", cost_known_count);
        visit("ideal_cycle_total", ideal_cycle_total);
        visit("extra_cycle_total", extra_cycle_total);
        visit("segment_total", segment_total);
        visit("least_segment_total", least_segment_total);
        visit("requested_byte_total", requested_byte_total);
        visit("assumptions", assumptions);
    }
};

struct ReasonRows {
    Column<int32_t> row;
    Column<uint8_t> kind;
    Column<int32_t> detail;
    Column<uint32_t> base_kind;  // of base_alignment: ReasonKind of the base
    Column<int32_t> base_detail;
    Column<uint32_t> count;
    Column<uint8_t> is_cost;  // the addresses are certain, the cost is not

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("kind", kind);
        visit("detail", detail);
        visit("base_kind", base_kind);
        visit("base_detail", base_detail);
        visit("count", count);
        visit("is_cost", is_cost);
    }
};

// Different patterns of a row: addresses relative to the base, in bytes.
struct PatternRows {
    Column<int32_t> row;
    Column<uint32_t> count;  // executions
    Column<uint64_t> active;
    Column<uint8_t> width_bytes;
    Column<uint8_t> place;    // which of the addresses of the instruction: 0, 1
    Column<int64_t> address;  // kLanes for each pattern

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("count", count);
        visit("active", active);
        visit("width_bytes", width_bytes);
        visit("place", place);
    }
};

// Every execution of a memory instruction, in the order of the path.
struct ExecutionRows {
    Column<uint64_t> position;  // in the path
    Column<uint8_t> place;      // which of the addresses of the instruction: 0, 1
    Column<uint8_t> is_known;
    Column<uint8_t> kind;  // why not: ReasonKind
    Column<int32_t> detail;
    Column<uint64_t> active;
    Column<uint8_t> has_base;      // whether addresses are relative to an unknown base
    Column<int32_t> base_pointer;  // offset of the argument that is the pointer in this base; -1 = another base
    Column<int64_t> address;       // kLanes for each row

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("has_base", has_base);
        visit("base_pointer", base_pointer);
        visit("position", position);
        visit("place", place);
        visit("is_known", is_known);
        visit("kind", kind);
        visit("detail", detail);
        visit("active", active);
    }
};

struct Evaluation {
    RowSums rows;
    ExecutionRows executions;  // where they were asked for
    ReasonRows reasons;
    PatternRows patterns;
    int32_t contradiction_row = -1;     // branch that contradicts the path; rows behind it were not evaluated
    int32_t misfit_row = -1;            // row behind which the path does not fit the code
    uint32_t branch_count = 0;          // conditional branches
    uint32_t checked_branch_count = 0;  // whose condition is certain
};

// A wave that goes where its branches lead, with a traced path as the guide where their conditions are not certain.
struct Walk {
    std::span<const int32_t> traced;  // begins where the wave does
    size_t most_steps = 0;
    Column<int32_t> row;                // that it came to
    bool is_complete = false;           // whether it came to its end
    uint32_t assumed_branch_count = 0;  // branches at which it went the traced way, because nothing else tells it
    size_t traced_at = 0;               // place in `traced` behind its last step,
    bool is_in_step = true;             // as long as it goes the traced way

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
    }
};

class Machine;
struct Addresses;
struct Base;
struct Instruction;
struct PlaceCost;
struct Tally;
struct Wide;

// Code that waves ran, read once for all of them.
class Evaluator {
  public:
    Evaluator(EvaluatedCode code, unsigned lane_count);
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    ~Evaluator();

    // Evaluates one wave: `path` are its rows in order, `wave` is its number in the workgroup. Up to `most_patterns`
    // different patterns of each row are kept, and every execution where `keeps_executions`.
    Evaluation run(const Start& start, unsigned wave, std::span<const int32_t> path, unsigned most_patterns,
                   bool keeps_executions = false) const;

    // Every execution of one wave that goes where its branches lead.
    Evaluation run(const Start& start, unsigned wave, Walk& walk) const;

  private:
    struct Row;

    Evaluation run(const Start& start, unsigned wave, std::span<const int32_t> path, unsigned most_patterns,
                   bool keeps_executions, int rounding, bool& used_reciprocal, Walk* walk = nullptr) const;
    static void keep_equal(Evaluation& result, const Evaluation& other);

    void access_memory(Machine& machine, const Instruction& instruction, size_t position, RowSums& sums,
                       Tally& tally) const;
    void record(Machine& machine, uint64_t active, const Addresses& addresses, RowSums& sums, Tally& tally) const;
    PlaceCost cost_of(const RowAccess& access, const Wide& wide, const Base& base, uint64_t active) const;
    static void keep_pattern(const Wide& wide, uint64_t active, uint8_t width, uint8_t place, int32_t row,
                             Tally& tally);
    void follow(Machine& machine, const Instruction& instruction, int32_t row, int32_t next, Evaluation& result,
                Reason& stopped) const;
    bool falls_to(int32_t from, int32_t next) const;
    // The row that a walk comes to next; -1 = it ends, or nothing tells it.
    int32_t next_row(Machine& machine, const Instruction& instruction, int32_t row, Evaluation& result,
                     Walk& walk) const;

    EvaluatedCode code_;
    unsigned lane_count_;
    std::vector<std::unique_ptr<Row>> rows_;
};

}  // namespace wavewright::evaluate
