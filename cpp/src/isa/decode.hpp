// From bytes to the values of operands.
#pragma once

#include <cstdint>
#include <span>

#include "index.hpp"
#include "instruction.hpp"

namespace wavewright::isa {

// Decodes the instruction at the front of `bytes`; false where there is none.
bool decode(const Target& target, const Index& index, std::span<const uint8_t> bytes, Instruction& instruction);

// Makes an instruction one of a record; its operands have no values yet.
void begin_record(const Record& record, Instruction& instruction);

// Decodes the value of a field as an operand (decode_operand.cpp); false where it has no meaning.
bool decode_operand(const Target& target, Instruction& instruction, size_t operand, uint64_t value);

// Reads the dword behind the instruction that constants with kLiteralCode stand for; false where it is not there.
bool take_literal(Instruction& instruction);

// Decodes the operands of image instructions that depend on each other (image.cpp); false where they have no meaning.
bool decode_image(const Target& target, Instruction& instruction);

}  // namespace wavewright::isa
