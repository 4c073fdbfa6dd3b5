#include "operands.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace wavewright::isa {
namespace {

struct Registers {
    uint16_t first;
    uint8_t count;
};

uint8_t mask_dwords(const Target& target) {
    return target.wave32 ? 1 : 2;
}

// The registers of a special operand's code; none where it is no register.
std::optional<Registers> special_registers(const Target& target, const Value& value) {
    if (value.number >= code::flat_scratch_lo && value.number <= code::xnack_mask_hi)
        return Registers{static_cast<uint16_t>(flat_scratch_lo + value.number - code::flat_scratch_lo), value.dwords};
    switch (value.number) {
        case code::vcc_lo:
        case code::vcc_hi:
        case code::exec_lo:
        case code::exec_hi: return Registers{static_cast<uint16_t>(value.number), value.dwords};
        case code::m0:
        case code::null_register:
            return value.number == target.null_code() ? std::nullopt : std::optional(Registers{m0, 1});
        case code::vccz: return Registers{vcc_lo, mask_dwords(target)};
        case code::execz: return Registers{exec_lo, mask_dwords(target)};
        case code::scc: return Registers{scc, 1};
        default: return std::nullopt;
    }
}

std::optional<Registers> registers_of(const Target& target, const Value& value) {
    if (!value.is_reg()) return std::nullopt;
    const auto number = static_cast<uint16_t>(value.number);
    switch (value.bank) {
        case Bank::sgpr: return Registers{static_cast<uint16_t>(sgpr0 + number), value.dwords};
        case Bank::ttmp: return Registers{static_cast<uint16_t>(ttmp0 + number), value.dwords};
        case Bank::agpr: return Registers{static_cast<uint16_t>(agpr0 + number), value.dwords};
        case Bank::vgpr: {
            const auto first = static_cast<uint16_t>(vgpr0 + number + value.high_bits);
            return Registers{first, static_cast<uint8_t>(std::min<int>(value.dwords, agpr0 - first))};
        }
        case Bank::special: return special_registers(target, value);
    }
    return std::nullopt;
}

void add(Disassembly& out, uint32_t row, Registers registers, unsigned role) {
    out.operand_row.push_back(row);
    out.operand_register.push_back(registers.first);
    out.operand_count.push_back(registers.count);
    out.operand_role.push_back(static_cast<uint8_t>(role));
}

// Exports have four sources, of which those are read that `en` names.
bool is_exported(const Instruction& instruction, Name name) {
    constexpr Name kSources[] = {Name::src0, Name::src1, Name::src2, Name::src3};
    const auto source = static_cast<unsigned>(std::ranges::find(kSources, name) - kSources);
    const auto enabled = static_cast<unsigned>(instruction.number(Name::en));
    if (instruction.number(Name::compr)) return source < 2 && (enabled >> 2 * source & 3) != 0;
    return source < 4 && (enabled >> source & 1) != 0;
}

bool is_unused(const Instruction& instruction, size_t place) {
    if (instruction.encoded_as(encoding::exp)) return !is_exported(instruction, instruction.names[place]);
    if (instruction.address_count == 0) return false;
    const int first = instruction.place(Name::vaddr0);
    const int resource = instruction.place(instruction.encoded_as(encoding::mimg) ? Name::srsrc : Name::rsrc);
    const auto at = static_cast<int>(place);
    return at >= first + static_cast<int>(instruction.address_count) && at < resource;
}

void add_explicit(const Target& target, const Instruction& instruction, uint32_t row, Disassembly& out) {
    const uint16_t* sources = tables.sources.data() + tables.forms[instruction.record->form].first_source;
    const size_t count = instruction.operand_count();
    unsigned roles[kMaxOperands];
    bool has_ties = false;
    for (size_t place = 0; place < count; ++place) {
        roles[place] = place < instruction.shape->result_count ? writes : reads;
        has_ties |= is_tied(sources[place]);
    }
    for (size_t place = 0; has_ties && place < count; ++place)
        if (is_tied(sources[place])) roles[sources[place] - kTied] |= roles[place] | tied;
    for (size_t place = 0; place < count; ++place) {
        const Value& value = instruction.values[place];
        if (!value.is_reg() || is_tied(sources[place])) continue;
        std::optional<Registers> registers = registers_of(target, value);
        if (!registers || is_unused(instruction, place)) continue;
        if (instruction.kind(place).print == Print::first_register) registers->count = 1;
        const unsigned half = value.half == Half::whole ? 0U : unsigned{value.half == Half::low ? low_half : high_half};
        add(out, row, *registers, roles[place] | half);
    }
}

// Whether vcc is in the text although it is no operand.
bool shows_vcc(const Instruction& instruction) {
    const bool is_compare = instruction.encoded_as(encoding::vopc) && instruction.shape->result_count == 0 &&
                            (instruction.traits->defs & implicit_bit::vcc) != 0;
    return is_compare || instruction.is(flag::vcc_after_dst | flag::vcc_after_src1 | flag::vcc_after_src1_mods) ||
           text(instruction.shape->text).find("vcc") != std::string_view::npos;
}

void add_implicit(const Target& target, const Instruction& instruction, uint32_t row, Disassembly& out) {
    const Traits& traits = *instruction.traits;
    if ((traits.uses | traits.defs) == 0) return;
    const uint8_t mask_count = mask_dwords(target);
    const struct {
        uint8_t bit;
        Registers registers;
    } kImplicit[] = {
        {implicit_bit::exec, {exec_lo, mask_count}},
        {implicit_bit::vcc, {vcc_lo, mask_count}},
        {implicit_bit::scc, {scc, 1}},
        {implicit_bit::m0, {m0, 1}},
        {implicit_bit::flat_scr, {flat_scratch_lo, 2}},
        {implicit_bit::mode, {mode, 1}},
    };
    for (const auto& [bit, registers] : kImplicit) {
        const unsigned role = (traits.uses & bit ? unsigned{reads} : 0U) | (traits.defs & bit ? unsigned{writes} : 0U);
        if (role == 0) continue;
        const bool is_shown = bit == implicit_bit::vcc && shows_vcc(instruction);
        add(out, row, registers, role | (is_shown ? 0U : unsigned{implicit}));
    }
}

uint32_t facts_of_traits(const Traits& traits) {
    constexpr uint32_t kMemory = encoding::ds | encoding::flat | encoding::mubuf | encoding::mtbuf | encoding::mimg |
                                 encoding::vimage | encoding::vsample | encoding::smrd | encoding::exp |
                                 encoding::ldsdir;
    constexpr struct {
        uint64_t flag;
        uint32_t fact;
    } kFacts[] = {
        {flag::may_load, loads},
        {flag::may_store, stores},
        {flag::atomic_return, returns_old},
        {flag::branch, is_branch},
        {flag::call, is_call},
        {flag::no_fall_through, ends_block},
        {flag::salu, is_salu},
        {flag::is_mai | flag::is_wmma | flag::is_swmmac, is_matrix},
        {flag::transcendental, is_transcendental},
        {flag::to_lds, to_lds},
        {flag::vm_count, counts_vm},
        {flag::lgkm_count, counts_lgkm},
        {flag::exp_count, counts_exp},
        {flag::tensor_count, counts_tensor},
        {flag::async_count, counts_async},
    };
    uint32_t facts = 0;
    for (const auto& [flags, fact] : kFacts)
        if (traits.flags & flags) facts |= fact;
    // LLVM's flags of atomics are also set for plain stores to LDS.
    const bool has_both = (facts & loads) && (facts & stores);
    if (has_both && (traits.flags & (flag::atomic_return | flag::atomic_no_return))) facts |= is_atomic;
    // LLVM's flag is also set for vector memory, where it means that EXEC counts.
    if ((traits.flags & flag::valu) && !(traits.encoding & kMemory) && !(facts & (loads | stores))) facts |= is_valu;
    return facts;
}

// The operands whose upper bits are bits 1:0, 3:2, 5:4 and 7:6 of the state (AMDGPUBaseInfo.cpp,
// getVGPRLoweringOperandTables). Operands that are not there are left out by place().
using HighBitNames = std::array<Name, 4>;
constexpr Name kNoName{0xFF};
constexpr unsigned kVgprCount = 1024;

HighBitNames first_names(const Instruction& instruction) {
    constexpr uint32_t kVector =
        encoding::vop1 | encoding::vop2 | encoding::vop3 | encoding::vop3p | encoding::vopc | encoding::dpp;
    if (instruction.encoded_as(kVector)) {
        if (instruction.is(flag::ld_scale)) return {kNoName, kNoName, kNoName, kNoName};
        if (instruction.is(flag::fmamk)) return {Name::src0, kNoName, Name::src1, Name::vdst};
        return {Name::src0, Name::src1, Name::src2, Name::vdst};
    }
    if (instruction.encoded_as(encoding::ds)) return {Name::addr, Name::data0, Name::data1, Name::vdst};
    if (instruction.encoded_as(encoding::flat)) return {Name::vaddr, Name::vdata, kNoName, Name::vdst};
    if (instruction.encoded_as(encoding::mubuf | encoding::mtbuf)) return {Name::vaddr, kNoName, kNoName, Name::vdata};
    if (instruction.encoded_as(encoding::vimage)) return {Name::vaddr0, Name::vaddr1, Name::vaddr2, Name::vdata};
    if (instruction.is(flag::fmamk_x)) return {Name::src0X, kNoName, Name::vsrc1X, Name::vdstX};
    return {Name::src0X, Name::vsrc1X, Name::vsrc2X, Name::vdstX};
}

HighBitNames second_names(const Instruction& instruction) {
    if (instruction.is(flag::fmamk_y)) return {Name::src0Y, kNoName, Name::vsrc1Y, Name::vdstY};
    return {Name::src0Y, Name::vsrc1Y, Name::vsrc2Y, Name::vdstY};
}

void apply_names(Instruction& instruction, const HighBitNames& names, unsigned bits) {
    for (unsigned number = 0; number < names.size(); ++number) {
        Value* value = instruction.value(names[number]);
        if (value == nullptr || !value->is_reg() || value->bank != Bank::vgpr) continue;
        const unsigned high_bits = (bits >> 2 * number & 3) * 256;
        // Registers behind the last are none: LLVM shows the low ones alone.
        if (value->number + high_bits + value->dwords <= kVgprCount)
            value->high_bits = static_cast<uint16_t>(high_bits);
    }
}

}  // namespace

void add_operands(const Target& target, const Instruction& instruction, uint32_t row, Disassembly& out) {
    add_explicit(target, instruction, row, out);
    add_implicit(target, instruction, row, out);
}

uint32_t facts_of(const Record& record) {
    static const std::vector<uint32_t> by_traits = [] {
        std::vector<uint32_t> all;
        for (const Traits& traits : tables.traits) all.push_back(facts_of_traits(traits));
        return all;
    }();
    return by_traits[record.traits];
}

void HighBits::apply(Instruction& instruction) {
    if (instruction.encoded_as(encoding::sopp) && text(instruction.record->mnemonic) == "s_set_vgpr_msb") {
        bits_ = static_cast<unsigned>(instruction.number(Name::simm16)) & 0xFF;
    } else if (instruction.is(flag::terminator)) {
        bits_ = 0;
    } else if (bits_ != 0) {
        apply_names(instruction, first_names(instruction), bits_);
        if (instruction.has(Name::vdstY)) apply_names(instruction, second_names(instruction), bits_);
    }
}

}  // namespace wavewright::isa
