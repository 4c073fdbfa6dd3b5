// What an INST token's op code means: category of the instruction and how long it occupies its unit (spec_rdna 9.2).
#pragma once

#include <array>
#include <cstdint>

#include "wavewright/records.hpp"

namespace wavewright::rdna {

enum class OpKind : uint8_t {
    issue,          // an instruction
    scaled_issue,   // an instruction whose cycles depend on the header
    register_jump,  // an instruction whose successor is not known
    nothing,        // no instruction; the wave was alive
    wait,           // barrier (v1..v3) or barrier wait
    trap_entry,
    trap_return,
    other_simd,    // issued on the neighbour SIMD: belongs to no wave of ours
    replay,        // the last memory instruction will be issued again
    matrix_scale,  // half of the next instruction
};

// What multiplies the cycles; header fields decide by how much.
enum class Rate : uint8_t { one, double_precision, derated_double_precision, transcendental };
constexpr size_t kRates = 4;

struct Op {
    OpKind kind = OpKind::nothing;
    Category category = Category::none;
    Rate rate = Rate::one;
    uint32_t cycles = 0;
};

constexpr size_t kOpCodes = 512;
using OpTable = std::array<Op, kOpCodes>;

// The codes of stream version `tt`.
const OpTable& ops_for(uint32_t tt);

}  // namespace wavewright::rdna
