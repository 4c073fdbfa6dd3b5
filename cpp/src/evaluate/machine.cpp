#include "machine.hpp"

#include <algorithm>
#include <bit>

#include "memory.hpp"

namespace wavewright::evaluate {
namespace {

constexpr uint32_t kIdBits = 10;  // of a packed work-item id

}  // namespace

Machine::Machine(const Start& start, unsigned wave, int rounding)
    : start_(start), domain_(start.lane_count), rounding_(rounding) {
    for (uint16_t number = 0; number < isa::register_end; ++number) {
        const Reason reason{ReasonKind::start_register, number};
        const bool is_vector = number >= isa::vgpr0;
        registers_[number] = is_vector ? domain_.unknown(reason) : domain_.common(reason);
    }
    const Lanes all = domain_.all();
    std::array<Value, 3> ids;
    Lanes present = 0;
    const uint32_t size[3] = {start.workgroup[0], std::max(1U, start.workgroup[1]), std::max(1U, start.workgroup[2])};
    const uint64_t items = uint64_t{size[0]} * size[1] * size[2];
    for (unsigned lane = 0; lane < start.lane_count; ++lane) {
        const uint32_t item = wave * start.lane_count + lane;
        const uint32_t id[3] = {size[0] == 0 ? item : item % size[0], size[0] == 0 ? 0 : item / size[0] % size[1],
                                size[0] == 0 ? 0 : item / size[0] / size[1]};
        if (size[0] == 0 || item < items) present |= bit_of(lane);
        for (size_t axis = 0; axis < 3; ++axis) ids[axis].lane[lane] = id[axis];
    }
    for (Value& value : ids) {
        value.lanes = present;
        value.reason = {ReasonKind::start_register, isa::vgpr0};
        value = domain_.stamped(std::move(value));
    }
    if (start.packed_ids) {
        for (unsigned lane = 0; lane < kLanes; ++lane)
            ids[0].lane[lane] |= ids[1].lane[lane] << kIdBits | ids[2].lane[lane] << 2 * kIdBits;
        registers_[isa::vgpr0] = ids[0];
    } else {
        for (unsigned axis = 0; axis < std::min<unsigned>(start.id_registers, 3); ++axis)
            registers_[isa::vgpr0 + axis] = ids[axis];
    }
    registers_[isa::exec_lo] = domain_.constant(static_cast<uint32_t>(present & all));
    registers_[isa::exec_hi] = domain_.constant(static_cast<uint32_t>((present & all) >> kDwordBits));
    registers_[isa::null_register] = domain_.constant(0);
    std::vector<uint32_t> bases;
    for (size_t region = 0; region < start.regions.size(); ++region)
        bases.push_back(domain_.new_base(
            {.zero_bits = 6, .region = static_cast<int16_t>(region), .reason = {ReasonKind::argument, -1}}));
    std::vector<std::shared_ptr<const Wide>> addresses;
    for (const uint32_t base : bases) {
        Wide wide;
        wide.base = base;
        wide.lanes = all;
        addresses.push_back(std::make_shared<const Wide>(wide));
    }
    for (const StartRegister& each : start.registers) {
        if (each.number >= isa::vgpr0) continue;
        Value& value = registers_[each.number];
        if (each.what == 0) value = domain_.constant(each.value);
        if (each.what == 1 && each.value < 3) {
            const uint32_t count = start.workgroups[each.value];
            value = domain_.common({ReasonKind::workgroup_id, static_cast<int32_t>(each.value)}, 0,
                                   count != 0 ? count - 1 : UINT32_MAX);
        }
        if (each.what == 2 && each.value < addresses.size()) value = domain_.low_of(addresses[each.value]);
        if (each.what == 3 && each.value < addresses.size()) value = domain_.high_of(addresses[each.value]);
        if (each.what == 4 && !start.regions.empty()) value = argument(*this, 0, each.value, sizeof(uint32_t), false);
    }
}

void Machine::begin(int32_t row) {
    row_ = row;
}

const Value& Machine::value(uint16_t number) {
    Value& value = registers_[number < isa::register_end ? number : uint16_t{isa::null_register}];
    if (value.condition != 0 && domain_.outcome(value.condition) >= 0) value = domain_.settled(value);
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
    if (operand.half == 1) result = domain_.low_16(result);
    if (operand.half == 2) result = domain_.high_16(result);
    if (instruction.has_sdwa && index > 0) {
        const auto part = instruction.word(index == 1 ? "src0_sel" : "src1_sel").value_or("DWORD");
        if (part.starts_with("BYTE_") || part.starts_with("WORD_")) {
            const unsigned bits = part.starts_with("BYTE_") ? 8 : 16;
            const auto place = static_cast<uint32_t>(part.back() - '0');
            const Value moved =
                place == 0 ? result : domain_.shift_right(result, domain_.constant(place * bits), false);
            result = domain_.logic(Domain::Logic::and_, moved, domain_.constant((1U << bits) - 1));
            if (operand.is_sign_extended) {
                const Value up = domain_.constant(kDwordBits - bits);
                result = domain_.shift_right(domain_.shift_left(result, up), up, true);
            }
        } else if (operand.is_sign_extended) {
            return domain_.unknown(not_evaluated);
        }
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
    const bool is_linked =
        result.base != 0 || result.sign_of != 0 || result.wide || (result.low_lanes | result.high_lanes) != 0;
    Lanes certain = result.lanes & lanes.surely;
    if (!is_linked && old.base == 0 && old.version != result.version) {
        const Lanes stays = old.lanes & ~lanes.maybe;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const Lanes bit = bit_of(lane);
            if ((stays & bit) != 0) {
                result.lane[lane] = old.lane[lane];
                certain |= bit;
            } else if ((lanes.maybe & ~lanes.surely & old.lanes & result.lanes & bit) != 0 &&
                       old.lane[lane] == result.lane[lane]) {
                certain |= bit;
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

// Results that nobody computes: the same in all lanes where every source is, because lanes compute alike.
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

void Machine::write_scc(int outcome, Reason reason) {
    if (outcome >= 0) {
        registers_[isa::scc] = domain_.constant(static_cast<uint32_t>(outcome));
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
    const auto verdict = [this](const Value& half) {  // 1 nonzero, 0 zero, -1 not certain
        if (half.condition == 0 && half.base == 0 && half.lanes != 0) return half.lane[0] != 0 ? 1 : 0;
        if (half.condition != 0) return half.either[0] != 0 && half.either[1] != 0 ? 1 : -1;
        return (half.bits & half.certain_bits) != 0 ? 1 : -1;
    };
    const int one = verdict(low), other = verdict(high);
    if (one == 1 || other == 1) return write_scc(1, {});
    if (one == 0 && other == 0) return write_scc(0, {});
    // One condition decides both halves: it decides whether they are zero.
    const uint32_t condition = low.condition != 0 ? low.condition : high.condition;
    const auto fits = [&](const Value& half, int verdict_of_half) {
        return verdict_of_half == 0 || half.condition == condition;
    };
    if (condition != 0 && fits(low, one) && fits(high, other)) {
        Value value = domain_.common({ReasonKind::mask, row_}, 0, 1);
        value.condition = condition;
        for (size_t each = 0; each < 2; ++each) {
            const uint32_t bits =
                (low.condition != 0 ? low.either[each] : 0) | (high.condition != 0 ? high.either[each] : 0);
            value.either[each] = bits != 0 ? 1 : 0;
        }
        registers_[isa::scc] = std::move(value);
        return;
    }
    write_scc(-1, domain_.reason_of(one != 0 ? low : high));
}

Value Machine::mask_half(const Operand& operand, unsigned half) {
    if (operand.kind == Operand::Kind::number)
        return domain_.constant(half == 0 || (operand.is_inline && static_cast<int32_t>(operand.literal) >= 0)
                                    ? (half == 0 ? operand.literal : 0)
                                : static_cast<int32_t>(operand.literal) < 0 ? UINT32_MAX
                                                                            : 0);
    if (operand.kind != Operand::Kind::register_) return domain_.common({ReasonKind::not_evaluated, row_});
    return value(static_cast<uint16_t>(operand.number + half));
}

int Machine::branch(const Instruction& instruction, bool is_taken) {
    struct Condition {
        std::string_view name;
        uint16_t number;
        bool on_zero;
    };
    static constexpr Condition kConditions[] = {
        {"s_cbranch_scc0", isa::scc, true},      {"s_cbranch_scc1", isa::scc, false},
        {"s_cbranch_vccz", isa::vcc_lo, true},   {"s_cbranch_vccnz", isa::vcc_lo, false},
        {"s_cbranch_execz", isa::exec_lo, true}, {"s_cbranch_execnz", isa::exec_lo, false},
    };
    const auto* found_condition =
        std::find_if(std::begin(kConditions), std::end(kConditions),
                     [&](const Condition& each) { return each.name == instruction.mnemonic; });
    if (found_condition == std::end(kConditions)) return -1;
    const bool is_zero = found_condition->on_zero == is_taken;
    const unsigned halves = found_condition->number == isa::scc || start_.lane_count != kLanes ? 1 : 2;
    bool surely_zero = true, surely_not = false;
    uint32_t condition = 0;
    bool by_one_condition = true;
    std::array<uint32_t, 2> bits{};
    for (unsigned half = 0; half < halves; ++half) {
        const Value value = this->value(static_cast<uint16_t>(found_condition->number + half));
        if (value.condition != 0) {
            surely_zero = false;
            surely_not = surely_not || (value.either[0] != 0 && value.either[1] != 0);
            by_one_condition = by_one_condition && (condition == 0 || condition == value.condition);
            condition = value.condition;
            for (size_t each = 0; each < 2; ++each) bits[each] |= value.either[each];
        } else if (value.base == 0 && value.lanes != 0) {
            surely_zero = surely_zero && value.lane[0] == 0;
            surely_not = surely_not || value.lane[0] != 0;
            for (uint32_t& each : bits) each |= value.lane[0];
        } else {
            surely_zero = by_one_condition = false;
            surely_not = surely_not || (value.bits & value.certain_bits) != 0;
        }
    }
    if (surely_zero || surely_not) return surely_zero == is_zero ? 1 : 0;
    if (condition != 0 && by_one_condition) {
        for (int each = 0; each < 2; ++each)
            if ((bits[static_cast<size_t>(each)] == 0) == is_zero &&
                (bits[static_cast<size_t>(1 - each)] == 0) != is_zero)
                domain_.decide(condition, each);
    } else if (is_zero) {  // whatever it was, it was zero
        for (unsigned half = 0; half < halves; ++half) registers_[found_condition->number + half] = domain_.constant(0);
    }
    return -1;
}

}  // namespace wavewright::evaluate
