// What the families of operations share: how an operation reads its sources and writes its result. Each family is a
// file operations_*.cpp with a table of the mnemonics that it computes; operations.cpp joins the tables and looks them
// up.
//
// Meanings of instructions: AMD's instruction set documents of CDNA3, RDNA3 and RDNA4, "Instruction Details". A
// mnemonic in no table writes numbers that are not known.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "dwords.hpp"
#include "machine.hpp"

namespace wavewright::evaluate::operations {

using Handler = void (*)(Machine&, const Instruction&);

// A mnemonic without its encoding, and the function that computes its results.
struct Operation {
    std::string_view mnemonic;
    Handler handler;
};

// The tables of the families.
std::span<const Operation> carry_operations();
std::span<const Operation> float_operations();
std::span<const Operation> half_operations();
std::span<const Operation> lane_operations();
std::span<const Operation> mask_operations();
std::span<const Operation> scalar_operations();
std::span<const Operation> vector_operations();
std::span<const Operation> wide_operations();

// Comparisons are not in a table: their mnemonics are made of an order and a type. Null for other mnemonics.
Handler comparison_handler(std::string_view mnemonic);

// An addition or subtraction that saturates (`clamp`); null for other mnemonics.
Handler clamped_handler(std::string_view mnemonic);

// Writes a dword, or the part of it that `dst_sel` or the name of the register (v0.l, v0.h) selects.
void set(Machine& machine, const Instruction& instruction, Value result);

// A register of two 16-bit halves, each of which may be certain without the other.
Value with_halves(Domain& domain, const Value& low, const Value& high);

// Writes a 64-bit number. Where it is not certain, `low` may still be: the high dwords of sources have no part in it.
void set_wide(Machine& machine, const Instruction& instruction, std::optional<Wide> wide,
              std::optional<Value> low = std::nullopt);

// Why an instruction with 64-bit sources has no certain result.
Reason wide_reason(Machine& machine, const Instruction& instruction);

inline Reason not_evaluated(const Machine& machine) {
    return {ReasonKind::not_evaluated, machine.row()};
}

// Handlers for a function of one, two or three sources, which leave SCC alone.
template <auto Function>
void unary(Machine& machine, const Instruction& instruction) {
    set(machine, instruction, Function(machine.domain(), machine.source(instruction, 1)));
}

template <auto Function>
void binary(Machine& machine, const Instruction& instruction) {
    set(machine, instruction,
        Function(machine.domain(), machine.source(instruction, 1), machine.source(instruction, 2)));
}

template <auto Function>
void ternary(Machine& machine, const Instruction& instruction) {
    set(machine, instruction,
        Function(machine.domain(), machine.source(instruction, 1), machine.source(instruction, 2),
                 machine.source(instruction, 3)));
}

}  // namespace wavewright::evaluate::operations
