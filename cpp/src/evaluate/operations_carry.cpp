// 64-bit additions as compilers write them for 32-bit hardware: one instruction adds the low dwords and leaves a carry,
// a second one adds the high dwords and the carry.
//
// The low sum hands over more than the carry bits: its operands (`Carry`). With them the high sum is computed as one
// 64-bit addition, which also holds for addresses of which only a base is known.
#include <memory>
#include <optional>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

// A sum of low dwords. Its carry is a bit per lane where both are plain numbers, and always names its operands.
struct LowSum {
    Value sum, carry;
};

LowSum low_sum(Domain& domain, const Value& a, const Value& b, bool subtracts) {
    Value sum = subtracts ? domain.subtract(a, b) : domain.add(a, b);
    Value carry = domain.unknown(domain.reason_of({&a, &b}, domain.scope()));
    if (a.base == 0 && b.base == 0) {
        carry.lanes = a.lanes & b.lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            carry.lane[lane] =
                subtracts ? a.lane[lane] < b.lane[lane] : uint64_t{a.lane[lane]} + b.lane[lane] > UINT32_MAX;
    }
    carry.carry = std::make_shared<const Carry>(Carry{.left = std::make_shared<const Value>(a),
                                                      .right = std::make_shared<const Value>(b),
                                                      .sum_version = sum.version,
                                                      .subtracts = subtracts,
                                                      .lanes = domain.scope()});
    return {std::move(sum), std::move(carry)};
}

// Writes the carries of a vector addition as a mask of lanes.
void write_carry(Machine& machine, const Operand& to, const Value& carry) {
    const Active active = machine.active();
    Lanes bits = 0, certain = ~active.maybe;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((active.surely & carry.lanes & bit_of(lane)) != 0) {
            certain |= bit_of(lane);
            if (carry.lane[lane] != 0) bits |= bit_of(lane);
        }
    machine.write_mask(to, bits, certain, carry.reason);
    if (to.kind == Operand::Kind::register_ && to.number != isa::null_register)
        machine.register_at(to.number).carry = carry.carry;
}

template <bool Subtracts, bool Reversed = false>
void add_co(Machine& machine, const Instruction& instruction) {  // operands: result, carry, a, b
    if (instruction.operands.size() < 4) return machine.write_all(instruction, not_evaluated(machine));
    Value a = machine.source(instruction, 2), b = machine.source(instruction, 3);
    if (Reversed) std::swap(a, b);
    auto [sum, carry] = low_sum(machine.domain(), a, b, Subtracts);
    write_carry(machine, instruction.operands[1], carry);
    set(machine, instruction, std::move(sum));
}

// The 64-bit sum of (a, left low dword) and (b, right low dword).
std::optional<Wide> sum_of_pairs(Domain& domain, const Carry& low, const Value& a, const Value& b) {
    const auto one = domain.wide(*low.left, a), other = domain.wide(*low.right, b);
    if (!one || !other) return std::nullopt;
    return low.subtracts ? domain.subtract(*one, *other) : std::optional(domain.add(*one, *other));
}

// Tells the register that holds a low sum which 64-bit number it is the low half of.
void link_low(Machine& machine, uint64_t version, const std::shared_ptr<const Wide>& wide) {
    for (Value& value : machine.registers()) {
        if (value.version != version || value.version == 0) continue;
        value.wide = wide;
        value.is_high_half = false;
        value.link_lanes = wide->lanes & machine.domain().scope();
    }
}

// The sum of the high dwords and the carry of the low ones.
Value high_sum(Machine& machine, const Value& a, const Value& b, const Value& carry_register, const Value& carry_bits,
               bool subtracts) {
    Domain& domain = machine.domain();
    if (a.base == 0 && b.base == 0 && (domain.scope() & ~(a.lanes & b.lanes & carry_bits.lanes)) == 0) {
        return subtracts ? domain.subtract(domain.subtract(a, b), carry_bits)
                         : domain.add(domain.add(a, b), carry_bits);
    }
    const Reason reason = domain.reason_of({&a, &b, &carry_bits}, domain.scope());
    if (const auto& low = carry_register.carry; low && low->subtracts == subtracts) {
        // For the sum it does not matter which high dword belongs to which low one: take the pairing that assumes less.
        std::optional<Wide> sum = sum_of_pairs(domain, *low, a, b);
        if (const auto crossed = subtracts ? std::nullopt : sum_of_pairs(domain, *low, b, a);
            crossed && (!sum || (sum->assumptions != 0 && crossed->assumptions == 0)))
            sum = crossed;
        if (sum) {
            sum->lanes &= low->lanes;
            auto shared = std::make_shared<const Wide>(*sum);
            Value high = domain.high_of(shared);
            link_low(machine, low->sum_version, shared);
            return high;
        }
    }
    const bool alike = domain.is_common(a, domain.scope()) && domain.is_common(b, domain.scope());
    const bool carry_alike = carry_register.carry && domain.is_common(*carry_register.carry->left, domain.scope()) &&
                             domain.is_common(*carry_register.carry->right, domain.scope());
    return alike && carry_alike ? domain.common(reason) : domain.unknown(reason);
}

template <bool Subtracts, bool Reversed = false>
void add_ci(Machine& machine, const Instruction& instruction) {  // operands: result, carry out, a, b, carry in
    if (instruction.operands.size() < 5 || instruction.operands[4].kind != Operand::Kind::register_)
        return machine.write_all(instruction, not_evaluated(machine));
    Value a = machine.source(instruction, 2), b = machine.source(instruction, 3);
    if (Reversed) std::swap(a, b);
    const Value carry_register = machine.value(instruction.operands[4].number);
    const Active lanes = machine.lanes_of(instruction.operands[4].number, machine.start().lane_count == kLanes);
    Value bits;
    bits.reason = carry_register.reason;
    bits.lanes = ~(lanes.maybe & ~lanes.surely);
    for (unsigned lane = 0; lane < kLanes; ++lane) bits.lane[lane] = lanes.surely >> lane & 1;
    Value high = high_sum(machine, a, b, carry_register, bits, Subtracts);
    machine.write_mask(instruction.operands[1], 0, ~machine.active().maybe, not_evaluated(machine));
    set(machine, instruction, std::move(high));
}

template <bool Subtracts, bool Signed>
void s_add(Machine& machine, const Instruction& instruction) {
    const Value a = machine.source(instruction, 1), b = machine.source(instruction, 2);
    auto [sum, carry] = low_sum(machine.domain(), a, b, Subtracts);
    const bool is_plain = (carry.lanes & 1) != 0;
    bool flag = is_plain && carry.lane[0] != 0;
    if (Signed && is_plain) {
        const int64_t x = static_cast<int32_t>(a.lane[0]), y = static_cast<int32_t>(b.lane[0]);
        const int64_t exact = Subtracts ? x - y : x + y;
        flag = exact != static_cast<int32_t>(exact);
    }
    machine.write_scc(is_plain ? Verdict(flag) : std::nullopt, carry.reason);
    if (!Signed) machine.register_at(isa::scc).carry = carry.carry;
    set(machine, instruction, std::move(sum));
}

template <bool Subtracts>
void s_addc(Machine& machine, const Instruction& instruction) {
    const Value a = machine.source(instruction, 1), b = machine.source(instruction, 2);
    const Value scc = machine.value(isa::scc);
    Value bits = scc;
    if (scc.condition != 0) bits.lanes = 0;
    Value high = high_sum(machine, a, b, scc, bits, Subtracts);
    if ((high.lanes & machine.domain().all()) == 0 && high.base == 0) {  // scalars are the same in all lanes
        Value common = machine.domain().common(high.reason);
        common.wide = high.wide;
        common.is_high_half = high.is_high_half;
        common.link_lanes = high.link_lanes;
        high = std::move(common);
    }
    machine.write_scc(std::nullopt, not_evaluated(machine));
    set(machine, instruction, std::move(high));
}

}  // namespace

std::span<const Operation> carry_operations() {
    static constexpr Operation kOperations[] = {
        {"v_add_co_u32", add_co<false>},
        {"v_sub_co_u32", add_co<true>},
        {"v_subrev_co_u32", add_co<true, true>},
        {"v_addc_co_u32", add_ci<false>},
        {"v_add_co_ci_u32", add_ci<false>},
        {"v_subb_co_u32", add_ci<true>},
        {"v_sub_co_ci_u32", add_ci<true>},
        {"v_subbrev_co_u32", add_ci<true, true>},
        {"v_subrev_co_ci_u32", add_ci<true, true>},
        {"s_add_u32", s_add<false, false>},
        {"s_add_co_u32", s_add<false, false>},
        {"s_add_i32", s_add<false, true>},
        {"s_add_co_i32", s_add<false, true>},
        {"s_sub_u32", s_add<true, false>},
        {"s_sub_co_u32", s_add<true, false>},
        {"s_sub_i32", s_add<true, true>},
        {"s_sub_co_i32", s_add<true, true>},
        {"s_addc_u32", s_addc<false>},
        {"s_add_co_ci_u32", s_addc<false>},
        {"s_subb_u32", s_addc<true>},
        {"s_sub_co_ci_u32", s_addc<true>},
    };
    return kOperations;
}

}  // namespace wavewright::evaluate::operations
