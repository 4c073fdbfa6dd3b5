// Lane addresses of LDS, global and buffer instructions, from their operands; and what loads leave in registers. Only
// memory that somebody described (Region) has certain contents.
#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string>
#include <string_view>

namespace wavewright::evaluate {
namespace {

constexpr unsigned kDwordBytes = 4;
constexpr unsigned kStride64 = 64;  // the ..._st64 forms count their offsets in multiples of 64 elements

bool names_any(const std::string& mnemonic, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return mnemonic.find(part) != std::string::npos; });
}

// Why a register pair or quad is no certain address: the reason of its first dword that has one of its own.
Reason reason_of_registers(Machine& machine, const Operand& operand) {
    for (unsigned part = 0; part < operand.count && operand.kind == Operand::Kind::register_; ++part) {
        const Value value = machine.value(static_cast<uint16_t>(operand.number + part));
        if (value.base != 0 && machine.domain().is_common(value, machine.domain().scope())) continue;
        const Reason reason = machine.domain().reason_of(value);
        if (reason.kind != ReasonKind::none && reason.kind != ReasonKind::high_half) return reason;
    }
    return {ReasonKind::addressing, machine.row()};
}

Wide constant(Machine& machine, int64_t value) {
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

// The index of the first operand that is no result: the address register.
size_t address_operand(const Instruction& instruction) {
    return !instruction.operands.empty() && writes(instruction, instruction.operands[0]) ? 1 : 0;
}

Addresses lds_addresses(Machine& machine, const Instruction& instruction, const RowAccess& access) {
    Addresses result;
    const size_t at = address_operand(instruction);
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
    // Two addresses per lane. gfx9 and RDNA spell them differently.
    const bool is_double =
        instruction.has("offset0") || instruction.has("offset1") ||
        names_any(instruction.mnemonic, {"read2", "write2", "wrxchg2", "load_2addr", "store_2addr", "storexchg_2addr"});
    const bool has_stride = names_any(instruction.mnemonic, {"st64", "stride64"});
    const int64_t unit_bytes = int64_t{access.width_bytes} * (has_stride ? kStride64 : 1);  // of offset0 and offset1
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
        place(instruction.number("offset0", 0) * unit_bytes);
        place(instruction.number("offset1", 0) * unit_bytes);
    } else {
        place(instruction.number("offset", 0));
    }
    return result;
}

// Two forms: a 64-bit address in a pair of vector registers, or a 32-bit offset in one from a scalar base.
Addresses global_addresses(Machine& machine, const Instruction& instruction) {
    Addresses result;
    const auto& operands = instruction.operands;
    const size_t at = address_operand(instruction);
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
    result.places.push_back(domain.add(*address, constant(machine, instruction.number("offset", 0))));
    return result;
}

// The four dwords that describe a buffer: AMD's CDNA3 and RDNA3 documents, "Buffer Addressing". Word 1 holds the high
// bits of the base (0 to 15), the stride and the swizzle bit, word 2 the size in bytes.
struct BufferResource {
    std::optional<Wide> base;  // nothing: not certain
    Value stride;              // bits 16 to 31 of word 1: 0 for plain buffers
    Value size;
};

BufferResource buffer_resource(Machine& machine, uint16_t number) {
    Domain& domain = machine.domain();
    const Value base_low = machine.value(number);
    const Value word1 = machine.value(static_cast<uint16_t>(number + 1));
    const Value base_high = domain.logic(Domain::Logic::and_, word1, domain.constant(0xFFFF));
    return {.base = domain.wide(base_low, base_high),
            .stride = domain.logic(Domain::Logic::and_, word1, domain.constant(0xFFFF0000)),
            .size = machine.value(static_cast<uint16_t>(number + 2))};
}

// Lanes outside of a buffer touch nothing. Stores and loads of several dwords are checked dword by dword in some modes:
// where a lane is only in part inside, nothing is certain (nothing is returned).
std::optional<Lanes> lanes_outside(Lanes lanes, const Value& offset, uint64_t immediate, uint32_t scalar_offset,
                                   uint64_t size_bytes, unsigned width_bytes) {
    Lanes outside = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        // Whether the scalar offset counts differs between generations: both must agree.
        const uint64_t without_scalar = uint64_t{offset.lane[lane]} + immediate;
        const uint64_t with_scalar = without_scalar + scalar_offset;
        if (with_scalar + width_bytes <= size_bytes) continue;
        if (without_scalar < size_bytes) return std::nullopt;
        outside |= bit_of(lane);
    }
    return outside;
}

// base + vector offset (`offen`) + scalar offset + immediate. Indices (`idxen`) and 64-bit offsets are not evaluated.
Addresses buffer_addresses(Machine& machine, const Instruction& instruction, const RowAccess& access) {
    Addresses result;
    result.reason = {ReasonKind::addressing, machine.row()};  // of every early return that says no other
    const auto& operands = instruction.operands;
    const auto resource_operand = std::find_if(operands.begin(), operands.end(), [](const Operand& operand) {
        return operand.is_scalar() && operand.count == 4;
    });
    if (resource_operand == operands.end() || resource_operand + 1 == operands.end() || instruction.has("idxen") ||
        instruction.has("addr64"))
        return result;
    const auto resource_index = static_cast<size_t>(resource_operand - operands.begin());
    Domain& domain = machine.domain();
    const Lanes lanes = machine.active().maybe;
    const BufferResource resource = buffer_resource(machine, resource_operand->number);
    if (!resource.base) {
        result.reason = reason_of_registers(machine, *resource_operand);
        return result;
    }
    const bool is_stride_known = domain.is_plain(resource.stride, domain.all());
    if (!is_stride_known || resource.stride.lane[0] != 0) {
        const bool is_swizzled = is_stride_known && resource.stride.lane[0] >> 31 != 0;
        if (is_swizzled) return result;
        result.assumptions |= plain_buffer;
    }
    Value offset = domain.constant(0);
    if (instruction.has("offen")) {
        if (resource_index == 0 || !operands[resource_index - 1].is_vector()) return result;
        offset = machine.source(instruction, resource_index - 1);
    }
    if ((lanes & ~offset.lanes) != 0) {
        result.reason = domain.reason_of({&offset}, lanes);
        return result;
    }
    const Operand& scalar_operand = *(resource_operand + 1);
    const bool has_scalar_offset =
        scalar_operand.kind == Operand::Kind::number || scalar_operand.kind == Operand::Kind::register_;
    const Value scalar_offset =
        has_scalar_offset ? machine.source(instruction, resource_index + 1) : domain.constant(0);
    const int64_t immediate = instruction.number("offset", 0);
    const bool can_check_size = domain.is_plain(resource.size, domain.all()) && offset.base == 0 &&
                                domain.is_plain(scalar_offset, domain.all());
    if (can_check_size) {
        const auto outside = lanes_outside(lanes, offset, static_cast<uint64_t>(immediate), scalar_offset.lane[0],
                                           resource.size.lane[0], access.width_bytes);
        if (!outside) {
            result.reason = {ReasonKind::out_of_range, machine.row()};
            return result;
        }
        result.outside = *outside;
    } else {
        result.assumptions |= within_buffer;
    }
    Wide address = domain.add(domain.extended(offset, false), *resource.base);
    address = domain.add(address, domain.extended(scalar_offset, false));
    result.assumptions |= address.assumptions;
    result.places.push_back(domain.add(address, constant(machine, immediate)));
    result.reason = {};
    return result;
}

// `bytes` (at most 4) bytes of a region from an offset on, little-endian; nothing where one of them is not certain.
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

// Loads of less than a dword, by the end of their mnemonics: gfx9's spelling, then RDNA's.
struct NarrowLoad {
    std::string_view suffix;
    unsigned bytes;
    bool is_signed;
};
constexpr NarrowLoad kNarrow[] = {{"ubyte", 1, false}, {"sbyte", 1, true}, {"ushort", 2, false}, {"sshort", 2, true},
                                  {"u8", 1, false},    {"i8", 1, true},    {"u16", 2, false},    {"i16", 2, true}};

// What a load reads for one dword register.
NarrowLoad load_width(const Instruction& instruction) {
    for (const NarrowLoad& narrow : kNarrow)
        if (instruction.mnemonic.ends_with(narrow.suffix)) return narrow;
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
            address = domain.add(*address, constant(machine, static_cast<int32_t>(operands[2].literal)));
        else if (operands[2].kind == Operand::Kind::register_ && operands[2].number != isa::null_register)
            address = domain.add(*address, domain.extended(machine.source(instruction, 2), false));
        else if (operands[2].kind != Operand::Kind::register_)
            address.reset();
    }
    if (address) address = domain.add(*address, constant(machine, instruction.number("offset", 0)));
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
