#include "print.hpp"

namespace wavewright::isa {
namespace {

// Bits of a modifiers operand.
constexpr int64_t kNegate = 1, kAbsolute = 2, kSignExtend = 16;

// The operand that a modifiers operand belongs to follows it.
size_t modified_place(size_t modifiers) {
    return modifiers + 1;
}

}  // namespace

std::string_view form_suffix(const Instruction& instruction) {
    if (instruction.encoded_as(encoding::vop3))
        return instruction.encoded_as(encoding::dpp) ? "_e64_dpp" : instruction.is(flag::is_single) ? "" : "_e64";
    if (instruction.encoded_as(encoding::dpp)) return "_dpp";
    if (instruction.encoded_as(encoding::sdwa)) return "_sdwa";
    if (instruction.encoded_as(encoding::vop1 | encoding::vop2)) return instruction.is(flag::is_single) ? "" : "_e32";
    return "";
}

void Printer::print() {
    out_ << text(instruction_.record->mnemonic);
    const std::string_view shape = text(instruction_.shape->text);
    if (instruction_.address_count == 1) return print_single_address(shape);
    size_t done = 0;
    for (size_t at = 0; at < shape.size(); ++at) {
        const auto letter = static_cast<uint8_t>(shape[at]);
        if (letter < kFirstOperandByte) continue;
        out_ << shape.substr(done, at - done);
        done = at + 1;
        operand(letter - kFirstOperandByte);
    }
    out_ << shape.substr(done);
}

// One address has no brackets.
void Printer::print_single_address(std::string_view shape) {
    for (const char letter : shape) {
        const auto byte = static_cast<uint8_t>(letter);
        if (byte >= kFirstOperandByte) {
            operand(byte - kFirstOperandByte);
        } else if (letter != '[' && letter != ']') {
            out_ << letter;
        }
    }
}

bool Printer::is_unused_address(size_t place) const {
    const int first = instruction_.place(Name::vaddr0);
    const int resource = instruction_.place(instruction_.encoded_as(encoding::mimg) ? Name::srsrc : Name::rsrc);
    const auto at = static_cast<int>(place);
    return at >= first && at < resource && static_cast<size_t>(at - first) >= instruction_.address_count;
}

void Printer::operand(size_t place) {
    if (instruction_.address_count != 0 && is_unused_address(place)) {
        if (out_.ends_with(", ")) out_.cut(out_.size() - 2);
        return;
    }
    const OperandKind& kind = instruction_.kind(place);
    const Value& value = instruction_.values[place];
    const int64_t number = value.kind == Value::Kind::number ? value.number : 0;
    switch (kind.print) {
        case Print::operand: plain(place); return;
        case Print::regular: regular(place); return;
        case Print::vop_dst: result(place); return;
        case Print::vintrp_dst: out_ << std::string_view("_e32 "), regular(place); return;
        case Print::first_register: first_register(place); return;
        case Print::float_source: source_with_modifiers(place, true); return;
        case Print::integer_source: source_with_modifiers(place, false); return;
        case Print::hex_32:
            if (value.kind == Value::Kind::literal_64) return literal_field_64(static_cast<uint64_t>(value.number));
            out_.hex(static_cast<uint32_t>(number));
            return;
        case Print::literal_64: literal_field_64(static_cast<uint64_t>(value.number)); return;
        case Print::named_bit:
        case Print::named_number:
        case Print::named_hex:
        case Print::named_number_always:
        case Print::named_hex_always: named(kind, number); return;
        default:
            if (!system(kind.print, number)) modifier(kind.print, number);
    }
}

bool implies_vcc(const Instruction& instruction) {
    return instruction.encoded_as(encoding::vopc) && instruction.shape->result_count == 0 &&
           (instruction.traits->defs & implicit_bit::vcc) != 0;
}

void Printer::plain(size_t place) {
    const bool is_first =
        place == 0 || (place == 1 && instruction_.encoded_as(encoding::dpp) && instruction_.has(Name::src0_modifiers));
    if (is_first && implies_vcc(instruction_)) out_ << vcc() << std::string_view(", ");
    regular(place);
}

void Printer::regular(size_t place) {
    const Value& value = instruction_.values[place];
    const OperandKind& kind = instruction_.kind(place);
    switch (value.kind) {
        case Value::Kind::absent: out_ << std::string_view("/*Missing OP*/"); break;
        case Value::Kind::reg: reg(value); break;
        case Value::Kind::constant: constant(value, kind.constant); break;
        case Value::Kind::literal_64: literal_64(static_cast<uint64_t>(value.number), kind.constant); break;
        case Value::Kind::number:
            if (kind.constant == Constant::decimal) {
                out_ << value.number;
            } else {
                plain_32(static_cast<uint32_t>(value.number));
            }
    }
    const Name name = instruction_.names[place];
    if (name == Name::src1 && instruction_.is(flag::vcc_after_src1)) out_ << std::string_view(", ") << vcc();
    if (name == Name::soffset && instruction_.encoded_as(encoding::mtbuf)) buffer_format();
}

void Printer::first_register(size_t place) {
    Value value = instruction_.values[place];
    value.dwords = 1;
    reg(value);
}

void Printer::result(size_t place) {
    if (place == 0) out_ << form_suffix(instruction_) << ' ';
    regular(place);
    if (instruction_.is(flag::vcc_after_dst)) out_ << std::string_view(", ") << vcc();
}

void Printer::source_with_modifiers(size_t place, bool is_float) {
    if (place == 0 && instruction_.encoded_as(encoding::dpp) && implies_vcc(instruction_))
        out_ << vcc() << std::string_view(", ");
    const int64_t modifiers = instruction_.values[place].number;
    const size_t source = modified_place(place);
    const Value& value = instruction_.values[source];
    std::string_view before, behind;
    if (!is_float) {
        if (modifiers & kSignExtend) before = "sext(", behind = ")";
    } else if (modifiers & kAbsolute) {
        before = modifiers & kNegate ? "-|" : "|";
        behind = "|";
    } else if (modifiers & kNegate) {
        const bool is_constant = value.kind == Value::Kind::constant || value.kind == Value::Kind::literal_64;
        const bool has_call = is_constant && !is_expression(value, instruction_.kind(source).constant);
        before = has_call ? "neg(" : "-";
        behind = has_call ? ")" : "";
    }
    out_ << before;
    regular(source);
    out_ << behind;
    if (instruction_.names[source] == Name::src1 && instruction_.is(flag::vcc_after_src1_mods))
        out_ << std::string_view(", ") << vcc();
}

void Printer::named(const OperandKind& kind, int64_t value) {
    const std::string_view name = text(kind.text);
    const bool is_always = kind.print == Print::named_number_always || kind.print == Print::named_hex_always;
    if (value == 0 && !is_always) return;
    // The global data share went with gfx90a and gfx12; the bit is printed nowhere there.
    if (name == "gds" && (target_.has(feature::gfx90a_insts) || target_.generation() >= 12)) return;
    out_ << ' ' << name;
    if (kind.print == Print::named_bit) return;
    out_ << ':';
    if (kind.print == Print::named_hex || kind.print == Print::named_hex_always) {
        out_.signed_hex(value);
    } else {
        out_ << value;
    }
}

void Printer::reg_number(std::string_view prefix, int64_t first, unsigned dwords) {
    out_ << prefix;
    if (dwords == 1) {
        out_ << first;
    } else {
        out_ << '[' << first << ':' << first + dwords - 1 << ']';
    }
}

void Printer::reg(const Value& value) {
    switch (value.bank) {
        case Bank::sgpr: reg_number("s", value.number, value.dwords); return;
        case Bank::ttmp: reg_number("ttmp", value.number, value.dwords); return;
        case Bank::agpr: reg_number("a", value.number, value.dwords); return;
        case Bank::special: out_ << special_name(value); return;
        case Bank::vgpr: break;
    }
    const std::string_view half = value.half == Half::whole ? "" : value.half == Half::low ? ".l" : ".h";
    reg_number("v", value.number, value.dwords);
    out_ << half;
    if (value.high_bits == 0) return;
    out_ << std::string_view(" /*");
    reg_number("v", value.number + value.high_bits, value.dwords);
    out_ << half << std::string_view("*/");
}

std::string_view Printer::special_name(const Value& value) const {
    const bool is_wide = value.dwords > 1;
    switch (value.number) {
        case code::flat_scratch_lo: return is_wide ? "flat_scratch" : "flat_scratch_lo";
        case code::flat_scratch_hi: return "flat_scratch_hi";
        case code::xnack_mask_lo: return is_wide ? "xnack_mask" : "xnack_mask_lo";
        case code::xnack_mask_hi: return "xnack_mask_hi";
        case code::vcc_lo: return is_wide ? "vcc" : "vcc_lo";
        case code::vcc_hi: return "vcc_hi";
        case code::m0: return target_.generation() >= 11 ? "null" : "m0";
        case code::null_register: return target_.generation() >= 11 ? "m0" : "null";
        case code::exec_lo: return is_wide ? "exec" : "exec_lo";
        case code::exec_hi: return "exec_hi";
        case code::flat_scratch_base_lo: return "src_flat_scratch_base_lo";
        case code::flat_scratch_base_hi: return "src_flat_scratch_base_hi";
        case code::shared_base: return "src_shared_base";
        case code::shared_limit: return "src_shared_limit";
        case code::private_base: return "src_private_base";
        case code::private_limit: return "src_private_limit";
        case code::pops_exiting_wave_id: return "src_pops_exiting_wave_id";
        case code::vccz: return "src_vccz";
        case code::execz: return "src_execz";
        case code::scc: return "src_scc";
        default: return "src_lds_direct";  // the only one left of is_special() in decode_operand.cpp
    }
}

}  // namespace wavewright::isa
