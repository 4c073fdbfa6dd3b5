// Which registers hold values that are still needed, at every row of code: data flow over the rows' control flow.
#pragma once

#include <cstdint>
#include <span>

#include "wavewright/column.hpp"

namespace wavewright {

// What follows a row.
enum class Flow : uint8_t {
    next = 0,      // the next row
    branch = 1,    // `target` or the next row
    jump = 2,      // `target`
    end = 3,       // nothing
    call = 4,      // the function that starts at `target`, then the next row; without a target any function
    back = 5,      // returns to the rows behind the calls of its function
    anywhere = 6,  // any row: what is read anywhere may be needed
};

// What a row does to the mask of active lanes.
enum class MaskChange : uint8_t {
    none = 0,
    narrows = 1,  // no lane becomes active
    widens = 2,   // no lane becomes inactive
    any = 3,
};

// How a row treats its registers; bits.
enum RowHabit : uint8_t {
    writes_all_lanes = 1,  // vector registers, whatever the mask says: MFMA
    reads_all_lanes = 2,   // also those of lanes that are not active: v_readlane
    may_not_write = 4,     // s_cmov, v_writelane: what was there before may stay
    reads_any_vector = 8,  // registers chosen while it runs: v_movrels
};

struct CodeRows {
    std::span<const uint8_t> flow;               // Flow
    std::span<const int32_t> target;             // row; negative = none
    std::span<const uint8_t> mask_change;        // MaskChange
    std::span<const uint8_t> habits;             // RowHabit
    std::span<const uint8_t> starts;             // 1 = a kernel starts here, 2 = another function
    std::span<const uint32_t> operand_row;       // not decreasing
    std::span<const uint16_t> operand_register;  // isa::Register
    std::span<const uint8_t> operand_count;
    std::span<const uint8_t> operand_role;  // isa::Role
    std::span<const uint16_t> given;        // registers that hold values when a kernel starts
};

struct LiveRegisters {
    // One value per row: the larger of those live before the row, and those live behind it with those it writes.
    Column<uint16_t> vgprs;
    Column<uint16_t> agprs;
    Column<uint16_t> sgprs;      // s0 to s105
    Column<uint16_t> vectors;    // vgprs and agprs at the same time
    Column<uint8_t> is_reached;  // whether control can come here from a start

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("live_vgprs", vgprs);
        visit("live_agprs", agprs);
        visit("live_sgprs", sgprs);
        visit("live_vectors", vectors);
        visit("is_reached", is_reached);
    }
};

// Registers that are live before a row.
struct LiveAtRows {
    Column<int32_t> row;
    Column<uint16_t> live_register;
    Column<uint8_t> is_given;  // 0 = nothing has written it on any way to the row: its value is undefined

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("register", live_register);
        visit("is_given", is_given);
    }
};

struct Liveness {
    LiveRegisters rows;
    LiveAtRows at;
    bool is_complete = true;  // false: given up, there are no rows
};

// A register is live at a row where a later row may read the value that it holds there. A vector register holds a
// value per lane. Lanes that are not active keep theirs, so a write ends the life of the old value only in the lanes
// that are active at the write; the rest of it ends where all of its readers' lanes are among those. Registers that
// nothing has written yet on any way from the start hold no value. `wanted` are rows, increasing, for `at`.
//
// Linear in rows for code that compilers write. For others the work is bounded; beyond the bound the answer is that it
// was given up.
Liveness live_registers(const CodeRows& code, std::span<const int32_t> wanted);

}  // namespace wavewright
