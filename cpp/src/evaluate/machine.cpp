// The registers of a wave: what they hold at its start, how instructions read them (halves, SDWA, signs), how results
// are merged with lanes that are not active, and what masks and conditions say.
#include "machine.hpp"

#include <algorithm>
#include <bit>

#include "memory.hpp"

namespace wavewright::evaluate {
namespace {

constexpr uint32_t kIdBits = 10;        // of a packed work-item id
constexpr uint8_t kRegionZeroBits = 6;  // regions start at multiples of 64 bytes

// Whether a scalar, or a mask of two dwords, is zero: surely, or as the condition of its dwords decides. Join its
// dwords.
struct Nonzero {
    bool surely_zero = true;  // in all cases
    bool surely_not = false;
    uint32_t condition = 0;            // of the dwords that have one; 0 = none has
    bool by_one_condition = true;      // nothing but `condition` is open
    std::array<bool, 2> is_nonzero{};  // by the outcome of `condition`, where nothing else is open

    void join(const Value& dword) {
        if (dword.condition != 0) {
            surely_zero = false;
            surely_not = surely_not || (dword.either[0] != 0 && dword.either[1] != 0);
            by_one_condition = by_one_condition && (condition == 0 || condition == dword.condition);
            condition = dword.condition;
            for (size_t outcome = 0; outcome < 2; ++outcome)
                is_nonzero[outcome] = is_nonzero[outcome] || dword.either[outcome] != 0;
        } else if (dword.base == 0 && dword.lanes != 0) {
            const bool is_set = dword.lane[0] != 0;
            surely_zero = surely_zero && !is_set;
            surely_not = surely_not || is_set;
            for (bool& in_case : is_nonzero) in_case = in_case || is_set;
        } else {
            surely_zero = by_one_condition = false;
            surely_not = surely_not || (dword.bits & dword.certain_bits) != 0;
        }
    }
};

}  // namespace

Machine::Machine(const Start& start, unsigned wave, int rounding)
    : start_(start), domain_(start.lane_count), rounding_(rounding) {
    for (uint16_t number = 0; number < isa::register_end; ++number) {
        const Reason reason{ReasonKind::start_register, number};
        const bool is_vector = number >= isa::vgpr0;
        registers_[number] = is_vector ? domain_.unknown(reason) : domain_.common(reason);
    }
    registers_[isa::null_register] = domain_.constant(0);
    set_work_item_ids(wave);
    set_start_registers();
}

// Work-items fill the lanes of wave after wave, x first. EXEC has the lanes that got one.
void Machine::set_work_item_ids(unsigned wave) {
    const uint32_t size[3] = {start_.workgroup[0], std::max(1U, start_.workgroup[1]),
                              std::max(1U, start_.workgroup[2])};
    const bool is_sized = size[0] != 0;  // else one-dimensional and without an end, by assumption
    const uint64_t item_count = uint64_t{size[0]} * size[1] * size[2];
    std::array<Value, 3> ids;  // along each axis
    Lanes present = 0;
    for (unsigned lane = 0; lane < start_.lane_count; ++lane) {
        const uint32_t item = wave * start_.lane_count + lane;
        if (!is_sized || item < item_count) present |= bit_of(lane);
        ids[0].lane[lane] = is_sized ? item % size[0] : item;
        ids[1].lane[lane] = is_sized ? item / size[0] % size[1] : 0;
        ids[2].lane[lane] = is_sized ? item / size[0] / size[1] : 0;
    }
    for (Value& id : ids) {
        id.lanes = present;
        id.reason = {ReasonKind::start_register, isa::vgpr0};
        id = domain_.stamped(std::move(id));
    }
    if (start_.packed_ids) {
        for (unsigned lane = 0; lane < kLanes; ++lane)
            ids[0].lane[lane] |= ids[1].lane[lane] << kIdBits | ids[2].lane[lane] << 2 * kIdBits;
        registers_[isa::vgpr0] = ids[0];
    } else {
        for (unsigned axis = 0; axis < std::min<unsigned>(start_.id_registers, 3); ++axis)
            registers_[isa::vgpr0 + axis] = ids[axis];
    }
    present &= domain_.all();
    registers_[isa::exec_lo] = domain_.constant(static_cast<uint32_t>(present));
    registers_[isa::exec_hi] = domain_.constant(static_cast<uint32_t>(present >> kDwordBits));
}

void Machine::set_start_registers() {
    std::vector<std::shared_ptr<const Wide>> addresses;  // of regions: a base each
    for (size_t region = 0; region < start_.regions.size(); ++region) {
        Wide address;
        address.base = domain_.new_base({.zero_bits = kRegionZeroBits,
                                         .region = static_cast<int16_t>(region),
                                         .reason = {ReasonKind::argument, -1}});
        address.lanes = domain_.all();
        addresses.push_back(std::make_shared<const Wide>(address));
    }
    for (const StartRegister& given : start_.registers) {
        if (given.number >= isa::vgpr0) continue;
        Value& value = registers_[given.number];
        const bool is_region = given.value < addresses.size();
        switch (given.content) {
            case StartContent::constant: value = domain_.constant(given.value); break;
            case StartContent::workgroup_id: {
                if (given.value >= 3) break;
                const uint32_t count = start_.workgroups[given.value];
                const Reason reason{ReasonKind::workgroup_id, static_cast<int32_t>(given.value)};
                value = domain_.common(reason, 0, count != 0 ? count - 1 : UINT32_MAX);
                break;
            }
            case StartContent::address_low:
                if (is_region) value = domain_.low_of(addresses[given.value]);
                break;
            case StartContent::address_high:
                if (is_region) value = domain_.high_of(addresses[given.value]);
                break;
            case StartContent::argument:
                if (!addresses.empty()) value = argument(*this, 0, given.value, sizeof(uint32_t), false);
                break;
        }
    }
}

void Machine::begin(int32_t row) {
    row_ = row;
}

const Value& Machine::value(uint16_t number) {
    Value& value = registers_[number < isa::register_end ? number : uint16_t{isa::null_register}];
    if (value.condition != 0 && domain_.outcome(value.condition)) value = domain_.settled(value);
    return value;
}

Active Machine::lanes_of(uint16_t number, bool is_wide) {
    Active active;
    const auto half = [&](uint16_t at, unsigned shift) {
        const Value bits = value(at);
        uint32_t surely = 0, maybe = UINT32_MAX;
        if (bits.condition != 0) {
            surely = bits.either[0] & bits.either[1];
            maybe = bits.either[0] | bits.either[1];
        } else if (bits.base == 0 && bits.lanes != 0) {
            surely = maybe = bits.lane[0];
        } else if (bits.certain_bits != 0) {
            surely = bits.bits & bits.certain_bits;
            maybe = surely | ~bits.certain_bits;
        }
        active.surely |= static_cast<Lanes>(surely) << shift;
        active.maybe |= static_cast<Lanes>(maybe) << shift;
    };
    half(number, 0);
    if (is_wide) half(static_cast<uint16_t>(number + 1), kDwordBits);
    active.surely &= domain_.all();
    active.maybe &= domain_.all();
    return active;
}

Active Machine::active() {
    return narrowed_ ? *narrowed_ : lanes_of(isa::exec_lo, start_.lane_count == kLanes);
}

// The part of a source that SDWA selects, BYTE_0 to BYTE_3 or WORD_0 to WORD_1, moved down.
Value Machine::selected(const Value& value, std::string_view part, bool is_sign_extended) {
    const unsigned bits = part.starts_with("BYTE_") ? 8 : 16;
    const auto place = static_cast<uint32_t>(part.back() - '0');
    const Value moved = place == 0 ? value : domain_.shift_right(value, domain_.constant(place * bits), false);
    const Value result = domain_.logic(Domain::Logic::and_, moved, domain_.constant((1U << bits) - 1));
    if (!is_sign_extended) return result;
    const Value up = domain_.constant(kDwordBits - bits);
    return domain_.shift_right(domain_.shift_left(result, up), up, true);
}

Value Machine::source(const Instruction& instruction, size_t index) {
    const Reason not_evaluated{ReasonKind::not_evaluated, row_};
    if (index >= instruction.operands.size()) return domain_.unknown(not_evaluated);
    const Operand& operand = instruction.operands[index];
    if (index == 1 && moved_) return *moved_;
    if (operand.is_changed && !instruction.is_float) return domain_.unknown(not_evaluated);
    switch (operand.kind) {
        case Operand::Kind::number: return domain_.constant(operand.literal);
        case Operand::Kind::register_: break;
        // A name that is none of ours, src_shared_base: the same in all lanes, but for changed operands.
        default: return operand.is_changed ? domain_.unknown(not_evaluated) : domain_.common(not_evaluated);
    }
    Value result = value(operand.number);
    if (operand.is_sign_extended && !instruction.has_sdwa) return domain_.unknown(not_evaluated);
    if (operand.half == Half::low) result = domain_.low_16(result);
    if (operand.half == Half::high) result = domain_.high_16(result);
    if (instruction.has_sdwa && index > 0) {
        const auto part = instruction.word(index == 1 ? "src0_sel" : "src1_sel").value_or("DWORD");
        if (part.starts_with("BYTE_") || part.starts_with("WORD_"))
            result = selected(result, part, operand.is_sign_extended);
        else if (operand.is_sign_extended)
            return domain_.unknown(not_evaluated);
    }
    // Floats: the sign bit.
    if (operand.is_absolute) result = domain_.logic(Domain::Logic::and_, result, domain_.constant(0x7FFFFFFF));
    if (operand.is_negated) result = domain_.logic(Domain::Logic::xor_, result, domain_.constant(0x80000000));
    return result;
}

std::optional<Wide> Machine::wide_source(const Instruction& instruction, size_t index) {
    if (index >= instruction.operands.size()) return std::nullopt;
    const Operand& operand = instruction.operands[index];
    if (operand.kind == Operand::Kind::number) {
        // Whether literals are extended by their sign depends on the operation: these are left out.
        if (!operand.is_inline && static_cast<int32_t>(operand.literal) < 0) return std::nullopt;
        Wide wide;
        wide.lanes = domain_.all();
        wide.lane.fill(static_cast<int32_t>(operand.literal));
        return wide;
    }
    if (operand.kind != Operand::Kind::register_ || operand.count < 2) return std::nullopt;
    return domain_.wide(value(operand.number), value(static_cast<uint16_t>(operand.number + 1)));
}

void Machine::write(uint16_t number, Value result) {
    if (number == isa::null_register || number >= isa::register_end) return;
    if (number < isa::vgpr0) {
        registers_[number] = std::move(result);
        return;
    }
    const Active lanes = active();
    if (is_indexing_) {
        for (uint16_t each = isa::vgpr0; each < isa::agpr0; ++each)
            registers_[each] = domain_.unknown({ReasonKind::not_evaluated, row_});
        return;
    }
    Value& old = registers_[number];
    if (lanes.surely == domain_.all()) {
        old = std::move(result);
        return;
    }
    // Some lanes keep their old number, or may. A result with a base or a link has no room for numbers without it.
    const bool has_base_or_link =
        result.base != 0 || result.sign_of != 0 || result.wide || (result.low_lanes | result.high_lanes) != 0;
    Lanes certain = result.lanes & lanes.surely;
    if (!has_base_or_link && old.base == 0 && old.version != result.version) {
        const Lanes kept_lanes = old.lanes & ~lanes.maybe;
        const Lanes open_lanes = old.lanes & result.lanes & lanes.maybe & ~lanes.surely;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const Lanes bit = bit_of(lane);
            if ((kept_lanes & bit) != 0) {
                result.lane[lane] = old.lane[lane];
                certain |= bit;
            } else if ((open_lanes & bit) != 0 && old.lane[lane] == result.lane[lane]) {
                certain |= bit;  // written or not, it is the same number
            }
        }
        result = domain_.stamped(std::move(result));
    }
    if (!lanes.is_certain() && (lanes.surely & ~result.lanes) == 0) result.reason = {ReasonKind::mask, row_};
    result.lanes = certain;
    result.low_lanes &= lanes.surely & ~certain;
    result.high_lanes &= lanes.surely & ~certain;
    result.link_lanes &= lanes.surely;
    old = std::move(result);
}

void Machine::write(const Operand& operand, unsigned part, Value result) {
    if (operand.kind != Operand::Kind::register_ || operand.number == isa::null_register) return;
    write(static_cast<uint16_t>(operand.number + part), std::move(result));
}

void Machine::write_wide(const Operand& operand, std::optional<Wide> wide, Reason reason) {
    if (operand.kind != Operand::Kind::register_) return;
    if (!wide || wide->lanes == 0) {
        const bool is_vector = operand.is_vector();
        for (uint8_t part = 0; part < std::min<uint8_t>(operand.count, 2); ++part)
            write(operand, part, is_vector ? domain_.unknown(reason) : domain_.common(reason));
        return;
    }
    const auto shared = std::make_shared<const Wide>(*std::move(wide));
    Value low = domain_.low_of(shared), high = domain_.high_of(shared);
    write(operand, 0, std::move(low));
    write(operand, 1, std::move(high));
}

// Results that nobody computes: the same in all lanes where every source is, because lanes compute alike. Not so for
// instructions that take numbers from other lanes, nor for those that read or write a mask of lanes.
bool Machine::is_alike(const Instruction& instruction) {
    if ((instruction.facts & isa::is_valu) == 0 || (instruction.facts & isa::is_matrix) != 0) return false;
    if (instruction.move.is_there || instruction.has_sdwa || is_indexing_) return false;
    for (std::string_view special : {"lane", "mbcnt", "movrel", "interp", "swap", "mfma", "wmma", "swmmac", "cndmask",
                                     "addc", "subb", "_ci_", "div_fmas", "v_cmp"})
        if (instruction.mnemonic.find(special) != std::string::npos) return false;
    const Lanes scope = domain_.scope();
    for (const Operand& operand : instruction.operands) {
        // Results count as sources: some are merged with the old value.
        const bool is_merged = &operand != &instruction.operands.front() || instruction.merges_old;
        for (unsigned part = 0; part < operand.count && is_merged && operand.is_vector(); ++part)
            if (!domain_.is_common(value(static_cast<uint16_t>(operand.number + part)), scope)) return false;
    }
    return true;
}

void Machine::write_all(const Instruction& instruction, Reason reason) {
    if (!instruction.is_understood) {  // it may have written anything
        for (uint16_t number = 0; number < isa::register_end; ++number) {
            if (number == isa::null_register) continue;
            registers_[number] = number < isa::vgpr0 ? domain_.common(reason) : domain_.unknown(reason);
        }
        return;
    }
    const bool alike = is_alike(instruction);
    for (const Written& written : instruction.written)
        for (unsigned part = 0; part < written.count; ++part) {
            const unsigned number = written.number + part;
            if (number >= isa::register_end) continue;
            if (number < isa::vgpr0 || alike) {
                write(static_cast<uint16_t>(number), domain_.common(reason));
            } else {
                write(static_cast<uint16_t>(number), domain_.unknown(reason));
            }
        }
}

void Machine::write_mask(const Operand& operand, Lanes bits, Lanes certain, Reason reason) {
    if (operand.kind != Operand::Kind::register_) return;
    const unsigned halves = start_.lane_count == kLanes ? 2 : 1;
    certain |= ~domain_.all();
    bits &= certain & domain_.all();
    for (unsigned half = 0; half < halves; ++half) {
        const auto part = static_cast<uint32_t>(bits >> half * kDwordBits);
        const auto sure = static_cast<uint32_t>(certain >> half * kDwordBits);
        Value value;
        if (sure == UINT32_MAX) {
            value = domain_.constant(part);
        } else {
            value = domain_.common(reason);
            value.bits = part;
            value.certain_bits = sure;
        }
        write(operand, half, std::move(value));
    }
}

void Machine::write_choice(const Operand& operand, Lanes bits, uint32_t condition) {
    if (operand.kind != Operand::Kind::register_) return;
    const unsigned halves = start_.lane_count == kLanes ? 2 : 1;
    for (unsigned half = 0; half < halves; ++half) {
        const auto part = static_cast<uint32_t>(bits >> half * kDwordBits);
        Value value = domain_.common({ReasonKind::mask, row_});
        value.condition = condition;
        value.either = {0, part};
        write(operand, half, part == 0 ? domain_.constant(0) : std::move(value));
    }
}

void Machine::write_scc(Verdict outcome, Reason reason) {
    if (outcome) {
        registers_[isa::scc] = domain_.constant(*outcome ? 1 : 0);
        return;
    }
    Value value = domain_.common(reason, 0, 1);
    value.condition = domain_.new_condition();
    value.either = {0, 1};
    registers_[isa::scc] = std::move(value);
}

void Machine::write_scc_nonzero(const Value& value) {
    write_scc_nonzero(value, domain_.constant(0));
}

void Machine::write_scc_nonzero(const Value& low_given, const Value& high_given) {
    const Value low = domain_.settled(low_given), high = domain_.settled(high_given);
    Nonzero nonzero;
    nonzero.join(low);
    nonzero.join(high);
    if (nonzero.surely_not) return write_scc(true, {});
    if (nonzero.surely_zero) return write_scc(false, {});
    if (nonzero.condition != 0 && nonzero.by_one_condition) {  // the condition that decides the halves decides SCC
        Value value = domain_.common({ReasonKind::mask, row_}, 0, 1);
        value.condition = nonzero.condition;
        for (size_t outcome = 0; outcome < 2; ++outcome) value.either[outcome] = nonzero.is_nonzero[outcome] ? 1 : 0;
        registers_[isa::scc] = std::move(value);
        return;
    }
    Nonzero of_low;
    of_low.join(low);
    write_scc(std::nullopt, domain_.reason_of(of_low.surely_zero ? high : low));
}

Value Machine::mask_half(const Operand& operand, unsigned half) {
    if (operand.kind == Operand::Kind::number) {
        if (half == 0) return domain_.constant(operand.literal);
        const bool is_negative = static_cast<int32_t>(operand.literal) < 0;
        return domain_.constant(is_negative ? UINT32_MAX : 0);  // extended by its sign
    }
    if (operand.kind != Operand::Kind::register_) return domain_.common({ReasonKind::not_evaluated, row_});
    return value(static_cast<uint16_t>(operand.number + half));
}

Verdict Machine::branch(const Instruction& instruction, bool is_taken) {
    struct Condition {
        std::string_view mnemonic;
        uint16_t number;  // register
        bool on_zero;     // taken where it is zero, else where it is not
    };
    static constexpr Condition kConditions[] = {
        {"s_cbranch_scc0", isa::scc, true},      {"s_cbranch_scc1", isa::scc, false},
        {"s_cbranch_vccz", isa::vcc_lo, true},   {"s_cbranch_vccnz", isa::vcc_lo, false},
        {"s_cbranch_execz", isa::exec_lo, true}, {"s_cbranch_execnz", isa::exec_lo, false},
    };
    const auto* condition = std::ranges::find(kConditions, instruction.mnemonic, &Condition::mnemonic);
    if (condition == std::end(kConditions)) return std::nullopt;
    const bool was_zero = condition->on_zero == is_taken;  // as the trace shows
    const uint16_t number = condition->number;
    const unsigned halves = number == isa::scc || start_.lane_count != kLanes ? 1 : 2;
    Nonzero nonzero;
    for (unsigned half = 0; half < halves; ++half) nonzero.join(value(static_cast<uint16_t>(number + half)));
    if (nonzero.surely_zero || nonzero.surely_not) return nonzero.surely_zero == was_zero;
    if (nonzero.condition != 0 && nonzero.by_one_condition) {
        // The outcome that is the only one to fit the trace.
        for (size_t outcome = 0; outcome < 2; ++outcome)
            if (nonzero.is_nonzero[outcome] != was_zero && nonzero.is_nonzero[1 - outcome] == was_zero)
                domain_.decide(nonzero.condition, outcome == 1);
    } else if (was_zero) {  // whatever it was, it was zero
        for (unsigned half = 0; half < halves; ++half) registers_[number + half] = domain_.constant(0);
    }
    return std::nullopt;
}

}  // namespace wavewright::evaluate
