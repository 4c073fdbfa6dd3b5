// Lane addresses of executed memory instructions, and what they cost: the integer part of machine code, evaluated along
// the path that a wave took (docs/explanation/lane-addresses.md). From texts of instructions, the state of registers
// when a wave starts and the rows that it executed, to sums per row. What is not certain stays unknown, with the
// reason; nothing is guessed.
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

// Why a number is not certain. `detail` is what Reason::detail holds; rows are places in EvaluatedCode::texts.
enum class ReasonKind : uint8_t {
    none = 0,
    start_register = 1,   // detail: register that nobody described
    workgroup_id = 2,     // detail: axis, 0 to 2
    argument = 3,         // detail: offset in bytes from the start of the arguments
    load = 4,             // detail: row that loaded it from memory
    lds_load = 5,         // detail: row that loaded it from LDS
    not_evaluated = 6,    // detail: row of an instruction that is not evaluated
    mask = 7,             // detail: row whose active lanes depend on something unknown
    bits = 8,             // detail: row that cuts a sum of a lane value and an unknown number into bits
    contradiction = 9,    // detail: branch that went another way than its condition says
    path = 10,            // detail: row behind which the trace goes on where the code does not
    base_alignment = 11,  // detail: reason of the base, see Reason::base
    unaligned = 12,       // of a cost: no rule says what unaligned accesses cost
    no_rule = 13,         // of a cost: no rule for this access on this GPU
    out_of_range = 14,    // detail: row with lanes that are in part outside of the buffer
    lds_or_memory = 15,   // FLAT: the address decides which of them answers
    addressing = 16,      // detail: row with a way of addressing that is not evaluated
    high_half = 17,       // part of a 64-bit number of which only the low half can be told
    rounding = 18,        // depends on the last bit of a reciprocal
};

struct Reason {
    ReasonKind kind = ReasonKind::none;
    int32_t detail = 0;
    friend auto operator<=>(const Reason&, const Reason&) = default;
};

// What must hold for a result, a bit each.
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
    uint8_t width_bytes = 0;    // of one address of one lane; at least 1 where Space says lds, global or buffer
    int16_t lds_rule = -1;      // in EvaluatedCode::lds_rules; -1 = no rule
    bool has_segments = false;  // whether the segment rule is for it
};

struct EvaluatedCode {
    // One value per row.
    std::vector<std::string> texts;  // disassembly
    std::vector<int32_t> target;     // row that a branch jumps to; negative = none
    std::vector<RowAccess> access;

    std::string column;              // the instruction set, one of isa::targets()
    std::vector<LdsRule> lds_rules;  // RowAccess::lds_rule is a place in them
    unsigned group_lanes = 0;        // segment rule: lanes that are served together; 0 = no rule
    unsigned segment_bytes = 0;
    uint8_t pointer_zero_bits = 8;  // pointer arguments are multiples of 2 to this power, by assumption
};

// Memory whose contents are certain in part: kernel arguments, the dispatch packet.
struct Region {
    // One value per byte.
    std::vector<uint8_t> bytes;
    std::vector<uint8_t> certain;     // 1 = `bytes` is what the memory holds
    std::vector<uint8_t> is_pointer;  // 1 = part of an argument that is a pointer; empty = nobody described arguments
};

// What a register holds when a wave starts, and the meaning of StartRegister::value. Callers in Python use the numbers.
enum class StartContent : uint8_t {
    constant = 0,      // the value
    workgroup_id = 1,  // along an axis, 0 to 2
    address_low = 2,   // low dword of the address of a region; the value is its place in Start::regions
    address_high = 3,  // high dword of it
    argument = 4,      // the dword at an offset in bytes of region 0, which holds the arguments
};

struct StartRegister {
    uint16_t number = 0;  // isa::Register
    StartContent content = StartContent::constant;
    uint32_t value = 0;
};

// The state in which the waves of a dispatch start.
struct Start {
    std::vector<StartRegister> registers;  // scalar ones; nothing is known about those that are missing
    std::vector<Region> regions;
    uint32_t workgroup[3] = {0, 1, 1};   // work-items along each axis; x = 0: not known, taken as one-dimensional
    uint32_t workgroups[3] = {0, 0, 0};  // of the grid along each axis; 0 = not known
    bool packed_ids = false;             // the work-item ids of all axes are in v0, 10 bits each
    uint8_t id_registers = 1;            // not packed: this many of v0, v1, v2 hold the id of their axis
    unsigned lane_count = 64;            // 32 or 64
};

// Sums over the executions of each row.
struct RowSums {
    Column<uint32_t> execution_count;
    Column<uint32_t> mask_known_count;   // executions whose active lanes are certain
    Column<uint64_t> active_lane_total;  // over these
    Column<uint32_t> known_count;        // executions whose lane addresses are certain
    Column<uint32_t> cost_known_count;   // of these, executions whose costs a rule says
    // Over executions with known costs: LdsCost, segment_count() and least_segment_count() of lane_costs.hpp.
    Column<uint64_t> ideal_cycle_total;
    Column<uint64_t> extra_cycle_total;
    Column<uint64_t> segment_total;
    Column<uint64_t> least_segment_total;
    Column<uint64_t> requested_byte_total;  // over executions with known addresses
    Column<uint8_t> assumptions;            // bits of Assumption

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

// Why addresses or costs of executions of a row are not known; one row for each different reason.
struct ReasonRows {
    Column<int32_t> row;
    Column<uint8_t> kind;  // ReasonKind
    Column<int32_t> detail;
    Column<uint32_t> base_kind;  // of base_alignment: ReasonKind of the base, else none
    Column<int32_t> base_detail;
    Column<uint32_t> count;   // executions
    Column<uint8_t> is_cost;  // 1 = the addresses are certain, the cost is not

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

// Different patterns of a row: addresses relative to the base, up to multiples of 256 bytes.
struct PatternRows {
    Column<int32_t> row;
    Column<uint32_t> count;   // executions
    Column<uint64_t> active;  // a bit per lane
    Column<uint8_t> width_bytes;
    Column<uint8_t> place;    // 0 or 1: ds_read2_... and their kin have two addresses per lane
    Column<int64_t> address;  // in bytes, 64 for each pattern (one per lane)

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
    Column<uint8_t> place;      // as in PatternRows
    Column<uint8_t> is_known;
    Column<uint8_t> kind;  // why it is not known: ReasonKind
    Column<int32_t> detail;
    Column<uint64_t> active;       // a bit per lane
    Column<uint8_t> has_base;      // 1 = addresses are relative to an unknown base
    Column<int32_t> base_pointer;  // offset of the argument that is the pointer in this base; -1 = another base
    Column<int64_t> address;       // in bytes, 64 for each row (one per lane)

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
    int32_t contradiction_row = -1;     // branch that contradicts the path: nothing behind it is known; -1 = none
    int32_t misfit_row = -1;            // row behind which the path does not fit the code; -1 = none
    uint32_t branch_count = 0;          // conditional branches
    uint32_t checked_branch_count = 0;  // whose condition is certain
};

// A wave that goes where its branches lead, with a traced path as the guide where their conditions are not certain.
struct Walk {
    // Given.
    std::span<const int32_t> traced;  // rows; the first one is where the wave begins
    size_t most_steps = 0;

    // Filled.
    Column<int32_t> row;                // that it came to, one after the other
    bool is_complete = false;           // whether it came to its end
    uint32_t assumed_branch_count = 0;  // branches at which it went the traced way, because nothing else tells it
    size_t traced_at = 0;               // place in `traced` behind the last row that it has in common with the wave
    bool is_in_step = true;             // whether the wave has gone the traced way so far

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
    }
};

// Which details of an evaluation are wanted besides its sums.
struct Details {
    unsigned most_patterns = 0;  // different patterns of a row
    bool has_executions = false;
};

struct ReadCode;

// Code that waves ran, read once for all of them.
class Evaluator {
  public:
    Evaluator(EvaluatedCode code, unsigned lane_count);
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    ~Evaluator();

    // Evaluates one wave: `path` are its rows in order, `wave` is its number in the workgroup.
    Evaluation run(const Start& start, unsigned wave, std::span<const int32_t> path, const Details& details) const;

    // Evaluates one wave that goes where its branches lead, with all of its executions.
    Evaluation walk(const Start& start, unsigned wave, Walk& walk) const;

  private:
    std::unique_ptr<const ReadCode> code_;
};

}  // namespace wavewright::evaluate
