#include "memory.hpp"

#include <algorithm>
#include <bit>

namespace wavewright::evaluate {
namespace {

constexpr unsigned kDwordBytes = 4;
constexpr unsigned kStride64 = 64;  // of the ..._st64 forms

Reason reason_of_registers(Machine& machine, const Operand& operand) {
    for (unsigned part = 0; part < operand.count && operand.kind == Operand::Kind::register_; ++part) {
        const Value value = machine.value(static_cast<uint16_t>(operand.number + part));
        if (value.base != 0 && machine.domain().is_common(value, machine.domain().scope())) continue;
        const Reason reason = machine.domain().reason_of(value);
        if (reason.kind != ReasonKind::none && reason.kind != ReasonKind::high_half) return reason;
    }
    return {ReasonKind::addressing, machine.row()};
}

Wide number(Machine& machine, int64_t value) {
    Wide wide;
    wide.lanes = machine.domain().all();
    wide.lane.fill(value);
    return wide;
}

bool writes(const Instruction& instruction, const Operand& operand) {
    return operand.kind == Operand::Kind::register_ &&
           std::any_of(instruction.written.begin(), instruction.written.end(),
                       [&](const Written& each) { return each.number == operand.number; });
}

Addresses lds_addresses(Machine& machine, const Instruction& instruction, const RowAccess& access) {
    Addresses result;
    const size_t at = !instruction.operands.empty() && writes(instruction, instruction.operands[0]) ? 1 : 0;
    if (at >= instruction.operands.size() || !instruction.operands[at].is_vector()) {
        result.reason = {ReasonKind::addressing, machine.row()};
        return result;
    }
    const Value address = machine.source(instruction, at);
    const Lanes lanes = machine.active().maybe;
    if ((lanes & ~address.lanes) != 0) {
        result.reason = machine.domain().reason_of({&address}, lanes);
        return result;
    }
    const bool is_double = instruction.has("offset0") || instruction.has("offset1") ||
                           instruction.mnemonic.find("read2") != std::string::npos ||
                           instruction.mnemonic.find("write2") != std::string::npos ||
                           instruction.mnemonic.find("load_2addr") != std::string::npos ||
                           instruction.mnemonic.find("store_2addr") != std::string::npos ||
                           instruction.mnemonic.find("wrxchg2") != std::string::npos ||
                           instruction.mnemonic.find("storexchg_2addr") != std::string::npos;
    const int64_t unit = access.width_bytes * (instruction.mnemonic.find("st64") != std::string::npos ||
                                                       instruction.mnemonic.find("stride64") != std::string::npos
                                                   ? kStride64
                                                   : 1);
    const auto place = [&](int64_t offset) {
        Wide wide;
        wide.base = address.base;
        wide.lanes = address.lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            wide.lane[lane] = address.base == 0  // addresses of LDS have 32 bits
                                  ? int64_t{static_cast<uint32_t>(address.lane[lane] + static_cast<uint64_t>(offset))}
                                  : int64_t{static_cast<int32_t>(address.lane[lane])} + offset;
        result.places.push_back(wide);
    };
    if (is_double) {
        place(instruction.number("offset0", 0) * unit);
        place(instruction.number("offset1", 0) * unit);
    } else {
        place(instruction.number("offset", 0));
    }
    return result;
}

Addresses global_addresses(Machine& machine, const Instruction& instruction) {
    Addresses result;
    const auto& operands = instruction.operands;
    const size_t at = !operands.empty() && writes(instruction, operands[0]) ? 1 : 0;
    if (at >= operands.size() || !operands[at].is_vector()) {
        result.reason = {ReasonKind::addressing, machine.row()};
        return result;
    }
    Domain& domain = machine.domain();
    const Operand& last = operands.back();
    std::optional<Wide> address;
    Reason reason = reason_of_registers(machine, operands[at]);
    if (operands[at].count == 2) {
        address = machine.wide_source(instruction, at);
    } else if (last.is_scalar() && last.count == 2) {
        const Value offset = machine.source(instruction, at);
        const auto base = machine.wide_source(instruction, operands.size() - 1);
        if (base && (machine.active().maybe & ~offset.lanes) == 0)
            address = domain.add(domain.extended(offset, false), *base);
        else if (!base)
            reason = reason_of_registers(machine, last);
    } else {
        reason = {ReasonKind::addressing, machine.row()};
    }
    if (!address || (machine.active().maybe & ~address->lanes) != 0) {
        result.reason = reason;
        return result;
    }
    result.assumptions = address->assumptions;
    result.places.push_back(domain.add(*address, number(machine, instruction.number("offset", 0))));
    return result;
}

// Buffers: AMD's CDNA3 and RDNA3 documents, "Buffer Addressing". Word 1 holds the high bits of the base, the stride and
// the swizzle bit, word 2 the size.
Addresses buffer_addresses(Machine& machine, const Instruction& instruction, const RowAccess& access) {
    Addresses result;
    result.reason = {ReasonKind::addressing, machine.row()};
    const auto& operands = instruction.operands;
    const auto resource = std::find_if(operands.begin(), operands.end(),
                                       [](const Operand& each) { return each.is_scalar() && each.count == 4; });
    if (resource == operands.end() || resource + 1 == operands.end() || instruction.has("idxen") ||
        instruction.has("addr64"))
        return result;
    Domain& domain = machine.domain();
    const Lanes lanes = machine.active().maybe;
    const Value base_low = machine.value(resource->number);
    const Value word1 = machine.value(static_cast<uint16_t>(resource->number + 1));
    const Value size = machine.value(static_cast<uint16_t>(resource->number + 2));
    const Value base_high = domain.logic(Domain::Logic::and_, word1, domain.constant(0xFFFF));
    const Value above = domain.logic(Domain::Logic::and_, word1, domain.constant(0xFFFF0000));
    const auto base = domain.wide(base_low, base_high);
    if (!base) {
        result.reason = reason_of_registers(machine, *resource);
        return result;
    }
    const bool is_simple = domain.is_plain(above, domain.all()) && above.lane[0] == 0;
    if (!is_simple) {
        if (domain.is_plain(above, domain.all()) && above.lane[0] >> 31 != 0) return result;  // swizzled
        result.assumptions |= plain_buffer;
    }
    Value offset = domain.constant(0);
    if (instruction.has("offen")) {
        const size_t at = static_cast<size_t>(resource - operands.begin());
        if (at == 0 || !operands[at - 1].is_vector()) return result;
        offset = machine.source(instruction, at - 1);
    }
    if ((lanes & ~offset.lanes) != 0) {
        result.reason = domain.reason_of({&offset}, lanes);
        return result;
    }
    const Operand& more = *(resource + 1);
    const Value scalar_offset = more.kind == Operand::Kind::number || more.kind == Operand::Kind::register_
                                    ? machine.source(instruction, static_cast<size_t>(resource - operands.begin()) + 1)
                                    : domain.constant(0);
    const int64_t immediate = instruction.number("offset", 0);
    // Lanes outside of the buffer touch nothing. Stores and loads of several dwords are checked dword by dword in some
    // modes: whoever is only in part inside is left unknown.
    const bool is_sized = domain.is_plain(size, domain.all()) && offset.base == 0;
    const Value* soffset = &scalar_offset;
    const bool has_plain_scalar = domain.is_plain(*soffset, domain.all());
    if (is_sized && has_plain_scalar) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            if ((lanes >> lane & 1) == 0) continue;
            // Whether the scalar offset counts differs between generations: both must agree.
            const uint64_t least = uint64_t{offset.lane[lane]} + static_cast<uint64_t>(immediate);
            const uint64_t most = least + soffset->lane[0];
            const uint64_t end = size.lane[0];
            if (most + access.width_bytes <= end) continue;
            if (least >= end) {
                result.outside |= bit_of(lane);
            } else {
                result.reason = {ReasonKind::out_of_range, machine.row()};
                return result;
            }
        }
    } else {
        result.assumptions |= within_buffer;
    }
    Wide address = domain.add(domain.extended(offset, false), *base);
    address = domain.add(address, domain.extended(scalar_offset, false));
    result.assumptions |= address.assumptions;
    result.places.push_back(domain.add(address, number(machine, immediate)));
    result.reason = {};
    return result;
}

// Bytes of a region at an offset, where all of them are certain.
std::optional<uint32_t> region_dword(const Region& region, int64_t offset, unsigned bytes) {
    if (offset < 0 || static_cast<uint64_t>(offset) + bytes > region.bytes.size()) return std::nullopt;
    uint32_t result = 0;
    for (unsigned each = 0; each < bytes; ++each) {
        const auto at = static_cast<size_t>(offset) + each;
        if (region.certain[at] == 0) return std::nullopt;
        result |= uint32_t{region.bytes[at]} << 8 * each;
    }
    return result;
}

struct NarrowLoad {
    std::string_view part;
    unsigned bytes;
    bool is_signed;
};
constexpr NarrowLoad kNarrow[] = {{"ubyte", 1, false}, {"sbyte", 1, true}, {"ushort", 2, false}, {"sshort", 2, true},
                                  {"u8", 1, false},    {"i8", 1, true},    {"u16", 2, false},    {"i16", 2, true}};

// What a load reads for one dword register.
NarrowLoad load_width(const Instruction& instruction) {
    for (const NarrowLoad& narrow : kNarrow)
        if (instruction.mnemonic.ends_with(narrow.part)) return narrow;
    return {"", kDwordBytes, false};
}

}  // namespace

Value argument(Machine& machine, int region_number, int64_t offset, unsigned bytes, bool is_signed) {
    Domain& domain = machine.domain();
    const Region& region = machine.start().regions[static_cast<size_t>(region_number)];
    if (const auto certain = region_dword(region, offset, bytes)) {
        const unsigned unused = kDwordBits - 8 * bytes;
        return domain.constant(is_signed ? static_cast<uint32_t>(static_cast<int32_t>(*certain << unused) >> unused)
                                         : *certain);
    }
    const Reason reason{ReasonKind::argument, static_cast<int32_t>(std::clamp<int64_t>(offset, -1, INT32_MAX))};
    const uint64_t highest = bytes >= kDwordBytes || is_signed ? UINT32_MAX : (uint64_t{1} << 8 * bytes) - 1;
    Value value = domain.common(reason, 0, highest);
    for (unsigned each = 0; each < bytes && !is_signed; ++each) {  // arguments narrower than a dword share it
        if (const auto byte = region_dword(region, offset + each, 1)) {
            value.bits |= *byte << 8 * each;
            value.certain_bits |= 0xFFU << 8 * each;
        }
    }
    const bool is_described = !region.is_pointer.empty();
    const bool is_low_half = offset >= 0 && offset % 8 == 0 && bytes == kDwordBytes;
    const bool is_pointer = is_low_half && (!is_described || (static_cast<size_t>(offset) < region.is_pointer.size() &&
                                                              region.is_pointer[static_cast<size_t>(offset)] != 0));
    if (is_pointer)
        value.base = domain.new_base({.zero_bits = kDwordBits, .pointers = 1, .highest = UINT32_MAX, .reason = reason});
    return value;
}

Addresses addresses_of(Machine& machine, const Instruction& instruction, const RowAccess& access) {
    machine.domain().set_scope(machine.active().maybe);
    Addresses result;
    switch (access.space) {
        case Space::lds: result = lds_addresses(machine, instruction, access); break;
        case Space::global: result = global_addresses(machine, instruction); break;
        case Space::buffer: result = buffer_addresses(machine, instruction, access); break;
        default: result.reason = {ReasonKind::addressing, machine.row()}; break;
    }
    machine.domain().set_scope(machine.domain().all());
    return result;
}

void load_results(Machine& machine, const Instruction& instruction, const RowAccess& access,
                  const Addresses& addresses) {
    Domain& domain = machine.domain();
    const Lanes lanes = machine.active().maybe;
    const Reason reason{access.space == Space::lds ? ReasonKind::lds_load : ReasonKind::load, machine.row()};
    // A load from one address gives all lanes the same number.
    const bool is_load = access.direction == Direction::load && instruction.mnemonic.find("_tr") == std::string::npos &&
                         instruction.mnemonic.find("d16") == std::string::npos;
    bool alike = is_load && !addresses.places.empty() && addresses.outside == 0;
    for (const Wide& place : addresses.places) alike = alike && domain.is_common(place, lanes);
    const NarrowLoad width = load_width(instruction);
    const int region = alike && addresses.places.size() == 1 ? domain.base(addresses.places[0].base).region : -1;
    for (const Written& written : instruction.written) {
        for (unsigned part = 0; part < written.count; ++part) {
            const auto register_number = static_cast<uint16_t>(written.number + part);
            if (!alike || lanes == 0) {
                machine.write(register_number,
                              register_number < isa::vgpr0 ? domain.common(reason) : domain.unknown(reason));
                continue;
            }
            if (region < 0) {
                machine.write(register_number, domain.common(reason));
                continue;
            }
            const int64_t offset = addresses.places[0].lane[static_cast<unsigned>(std::countr_zero(lanes))] + 4 * part;
            machine.write(register_number, argument(machine, region, offset, width.bytes, width.is_signed));
        }
    }
}

void scalar_load(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    const Reason reason{ReasonKind::load, machine.row()};
    const auto& operands = instruction.operands;
    const bool is_buffer = instruction.mnemonic.starts_with("s_buffer_");
    std::optional<Wide> address = is_buffer || operands.size() < 2 ? std::nullopt : machine.wide_source(instruction, 1);
    if (address && operands.size() > 2) {
        if (operands[2].kind == Operand::Kind::number)
            address = domain.add(*address, number(machine, static_cast<int32_t>(operands[2].literal)));
        else if (operands[2].kind == Operand::Kind::register_ && operands[2].number != isa::null_register)
            address = domain.add(*address, domain.extended(machine.source(instruction, 2), false));
        else if (operands[2].kind != Operand::Kind::register_)
            address.reset();
    }
    if (address) address = domain.add(*address, number(machine, instruction.number("offset", 0)));
    const int region = address ? domain.base(address->base).region : -1;
    const NarrowLoad width = load_width(instruction);
    for (const Written& written : instruction.written)
        for (unsigned part = 0; part < written.count; ++part) {
            const auto register_number = static_cast<uint16_t>(written.number + part);
            if (region >= 0) {
                machine.write(register_number,
                              argument(machine, region, address->lane[0] + 4 * part, width.bytes, width.is_signed));
                continue;
            }
            // Nobody described this memory: what lies in the low half of a pair may be a pointer.
            Value value = domain.common(reason);
            const bool may_be_pointer = !is_buffer && written.count >= 2 && part % 2 == 0;
            if (may_be_pointer)
                value.base =
                    domain.new_base({.zero_bits = kDwordBits, .pointers = 1, .highest = UINT32_MAX, .reason = reason});
            machine.write(register_number, std::move(value));
        }
}

}  // namespace wavewright::evaluate
