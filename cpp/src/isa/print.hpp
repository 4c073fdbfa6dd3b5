// From the values of operands to text, as LLVM 22 writes it (AMDGPUInstPrinter.cpp, Apache-2.0 WITH LLVM-exception).
#pragma once

#include <cstdint>
#include <string_view>

#include "instruction.hpp"
#include "text.hpp"

namespace wavewright::isa {

// The suffix by which LLVM tells forms of the same instruction apart.
std::string_view form_suffix(const Instruction& instruction);

// Whether vcc stands before the first operand: VOPC instructions that write it do not have it as an operand.
bool implies_vcc(const Instruction& instruction);

class Printer {
  public:
    Printer(const Target& target, const Instruction& instruction, Text& out)
        : target_(target), instruction_(instruction), out_(out) {}

    // Mnemonic and operands.
    void print();

  private:
    // print.cpp: registers, sources, results
    void print_single_address(std::string_view shape);
    void operand(size_t place);
    bool is_unused_address(size_t place) const;
    void plain(size_t place);
    void regular(size_t place);
    void first_register(size_t place);
    void result(size_t place);
    void source_with_modifiers(size_t place, bool is_float);
    void named(const OperandKind& kind, int64_t value);
    void reg(const Value& value);
    void reg_number(std::string_view prefix, int64_t first, unsigned dwords);
    std::string_view special_name(const Value& value) const;
    std::string_view vcc() const { return target_.wave32 ? "vcc_lo" : "vcc"; }

    // print_constant.cpp
    void constant(const Value& value, Constant kind);
    void literal(Constant kind);
    void literal_64(uint64_t value, Constant kind);
    void literal_field_64(uint64_t value);
    // A small integer, or the number at a place of the nine constants, or digits.
    void number_or_hex(int64_t integer, int place, uint64_t bits);
    void immediate(uint32_t value, Constant kind);
    void plain_32(uint32_t value);
    void plain_64(uint64_t value, bool is_float);
    bool is_expression(const Value& value, Constant kind) const;

    // print_modifier.cpp: what stands behind the operands
    void modifier(Print print, int64_t value);
    void offset(int64_t value);
    void flat_offset(int64_t value);
    void cache_policy(int64_t value);
    void temporal_hint(unsigned hint, unsigned scope);
    bool is_double_dpp() const;
    void dpp_ctrl(unsigned value);
    void packed_bits(std::string_view title, int64_t bit);
    void op_sel();
    void blgp(int64_t value);
    void matrix_format(std::string_view side, int64_t value);
    void matrix_scale_format(std::string_view side, int64_t value);
    void buffer_format();

    // print_system.cpp: immediates that mean something
    bool system(Print print, int64_t value);
    void wait_count(unsigned value);
    void delay(unsigned value);
    void dep_ctr(unsigned value);
    void hardware_register(unsigned value);
    void message(unsigned value);
    void swizzle(unsigned value);
    void index_mode(unsigned value);
    void version(unsigned value);
    void export_target(unsigned value);
    void export_source(unsigned number);

    const Target& target_;
    const Instruction& instruction_;
    Text& out_;
};

}  // namespace wavewright::isa
