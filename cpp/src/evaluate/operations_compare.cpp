// v_cmp..., v_cmpx... and s_cmp...: comparisons that write masks of lanes, EXEC or SCC.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

// The orders of AMD's mnemonics; f is always false, t always true.
enum class Order : uint8_t { f, lt, eq, le, gt, ne, ge, t };

bool holds(Order order, int sign) {
    switch (order) {
        case Order::f: return false;
        case Order::lt: return sign < 0;
        case Order::eq: return sign == 0;
        case Order::le: return sign <= 0;
        case Order::gt: return sign > 0;
        case Order::ne: return sign != 0;
        case Order::ge: return sign >= 0;
        case Order::t: return true;
    }
    return false;
}

template <class Number>
int sign_of(Number a, Number b) {
    return a < b ? -1 : a > b ? 1 : 0;
}

// Whether comparisons hold in one lane.
template <class Number>
Verdict compare_lane(Domain& domain, Order order, const Value& a, const Value& b, unsigned lane) {
    if ((a.lanes & b.lanes & bit_of(lane)) == 0) return std::nullopt;
    if (a.base == b.base && (a.base == 0 || order == Order::eq || order == Order::ne))
        return holds(order, sign_of(static_cast<Number>(a.lane[lane]), static_cast<Number>(b.lane[lane])));
    // Numbers with bases of which the highest value is known are ranges, if they cannot wrap.
    const auto range = [&](const Value& value, int64_t& least, int64_t& most) {
        least = most =
            std::is_signed_v<Number> ? int64_t{static_cast<int32_t>(value.lane[lane])} : int64_t{value.lane[lane]};
        if (value.base == 0) return true;
        const uint64_t highest = domain.base(value.base).highest;
        if (highest > UINT32_MAX || least < 0) return false;
        most += static_cast<int64_t>(highest);
        return most <= (std::is_signed_v<Number> ? int64_t{INT32_MAX} : int64_t{UINT32_MAX});
    };
    int64_t a_least, a_most, b_least, b_most;
    if (!range(a, a_least, a_most) || !range(b, b_least, b_most)) return std::nullopt;
    if (a_most < b_least) return holds(order, -1);
    if (a_least > b_most) return holds(order, 1);
    if (a_most == b_least && (order == Order::le || order == Order::gt)) return order == Order::le;
    if (a_least == b_most && (order == Order::ge || order == Order::lt)) return order == Order::ge;
    return std::nullopt;
}

Verdict compare_float(Order order, const Value& a, const Value& b, unsigned lane) {
    if ((a.lanes & b.lanes & bit_of(lane)) == 0 || a.base != 0 || b.base != 0) return std::nullopt;
    const auto x = std::bit_cast<float>(a.lane[lane]), y = std::bit_cast<float>(b.lane[lane]);
    if (std::isnan(x) || std::isnan(y)) return std::nullopt;
    return holds(order, sign_of(x, y));
}

Verdict compare_wide_lane(Order order, bool is_signed, const Wide& a, const Wide& b, unsigned lane) {
    if ((a.lanes & b.lanes & bit_of(lane)) == 0) return std::nullopt;
    if (a.base != b.base || (a.base != 0 && order != Order::eq && order != Order::ne)) return std::nullopt;
    return holds(order, is_signed ? sign_of(a.lane[lane], b.lane[lane])
                                  : sign_of(static_cast<uint64_t>(a.lane[lane]), static_cast<uint64_t>(b.lane[lane])));
}

// What a mnemonic compares.
struct Comparison {
    Order order;
    bool is_signed, is_wide, is_half, is_float;

    // Of dwords.
    Verdict in_lane(Domain& domain, const Value& a, const Value& b, unsigned lane) const {
        if (is_float) return compare_float(order, a, b, lane);
        return is_signed ? compare_lane<int32_t>(domain, order, a, b, lane)
                         : compare_lane<uint32_t>(domain, order, a, b, lane);
    }
};

// Reads the rest of a mnemonic after its prefix: lt_u32.
std::optional<Comparison> comparison(std::string_view name) {
    static constexpr std::pair<std::string_view, Order> kOrders[] = {
        {"f", Order::f},   {"lt", Order::lt}, {"eq", Order::eq}, {"le", Order::le}, {"gt", Order::gt},
        {"ne", Order::ne}, {"lg", Order::ne}, {"ge", Order::ge}, {"t", Order::t}};
    static constexpr std::string_view kTypes[] = {"u32", "i32", "u64", "i64", "u16", "i16", "f32"};
    const size_t underscore = name.find('_');
    if (underscore == std::string_view::npos) return std::nullopt;
    const std::string_view type = name.substr(underscore + 1);
    if (std::ranges::find(kTypes, type) == std::end(kTypes)) return std::nullopt;
    for (const auto& [order_name, order] : kOrders)
        if (name.substr(0, underscore) == order_name)
            return Comparison{.order = order,
                              .is_signed = type[0] == 'i',
                              .is_wide = type.ends_with("64"),
                              .is_half = type.ends_with("16"),
                              .is_float = type == "f32"};
    return std::nullopt;
}

std::optional<Comparison> comparison_after(std::string_view mnemonic,
                                           std::initializer_list<std::string_view> prefixes) {
    for (const std::string_view prefix : prefixes)
        if (mnemonic.starts_with(prefix)) return comparison(mnemonic.substr(prefix.size()));
    return std::nullopt;
}

// The outcomes of a vector comparison as the bits of a mask.
struct Outcomes {
    Lanes bits = 0;
    Lanes certain = 0;      // the bits that are certain; those of lanes that are surely inactive are zero
    bool is_alike = false;  // all lanes have the same outcome, certain or not
    Reason reason;

    void add(const Active& active, unsigned lane, Verdict outcome) {
        const Lanes bit = bit_of(lane);
        if (!outcome || (active.maybe & bit) == 0) return;
        if (*outcome && (active.surely & bit) == 0) return;
        certain |= bit;
        if (*outcome) bits |= bit;
    }
};

// Compares the sources at `first` and behind it.
Outcomes compare_wide(Machine& machine, const Instruction& instruction, const Comparison& how, size_t first) {
    const Active active = machine.active();
    const Domain& domain = machine.domain();
    const auto a = machine.wide_source(instruction, first), b = machine.wide_source(instruction, first + 1);
    Outcomes outcomes{.certain = ~active.maybe, .reason = wide_reason(machine, instruction)};
    if (!a || !b) return outcomes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        outcomes.add(active, lane, compare_wide_lane(how.order, how.is_signed, *a, *b, lane));
    outcomes.is_alike = domain.is_common(*a, active.maybe) && domain.is_common(*b, active.maybe);
    return outcomes;
}

Outcomes compare_dwords(Machine& machine, const Instruction& instruction, const Comparison& how, size_t first) {
    const Active active = machine.active();
    Domain& domain = machine.domain();
    Value a = machine.source(instruction, first), b = machine.source(instruction, first + 1);
    if (how.is_half) {
        a = domain.low_16(a);
        b = domain.low_16(b);
        if (how.is_signed) {
            a = plain_unary<sext16>(domain, a);
            b = plain_unary<sext16>(domain, b);
        }
    }
    Outcomes outcomes{.certain = ~active.maybe, .reason = domain.reason_of({&a, &b}, domain.scope())};
    for (unsigned lane = 0; lane < kLanes; ++lane) outcomes.add(active, lane, how.in_lane(domain, a, b, lane));
    outcomes.is_alike = domain.is_common(a, active.maybe) && domain.is_common(b, active.maybe);
    return outcomes;
}

void v_cmp(Machine& machine, const Instruction& instruction) {
    const bool writes_exec = instruction.mnemonic.starts_with("v_cmpx_");
    const auto how = comparison_after(instruction.mnemonic, {"v_cmpx_", "v_cmp_"});
    // Operands: result, a, b. From gfx10 on, v_cmpx_... has no result but EXEC.
    const bool has_result = instruction.operands.size() >= 3;
    const size_t first = has_result ? 1 : 0;
    if (!how || instruction.operands.size() < first + 2) return machine.write_all(instruction, not_evaluated(machine));
    const Active active = machine.active();
    const Outcomes outcomes = how->is_wide ? compare_wide(machine, instruction, *how, first)
                                           : compare_dwords(machine, instruction, *how, first);
    const bool is_one_condition =
        outcomes.is_alike && active.is_certain() && active.maybe != 0 && (active.maybe & outcomes.certain) == 0;
    const auto write = [&](const Operand& to) {
        if (is_one_condition)
            machine.write_choice(to, active.maybe, machine.domain().new_condition());
        else
            machine.write_mask(to, outcomes.bits, outcomes.certain, outcomes.reason);
    };
    if (has_result) write(instruction.operands[0]);
    if (!writes_exec) return;
    if (!has_result) {
        Operand exec;
        exec.kind = Operand::Kind::register_;
        exec.number = isa::exec_lo;
        return write(exec);
    }
    if (instruction.operands[0].number == isa::exec_lo) return;
    // gfx9 writes the result and EXEC. Copying the result keeps one condition for both.
    const unsigned halves = machine.start().lane_count == kLanes ? 2 : 1;
    for (unsigned half = 0; half < halves; ++half) {
        Value value = machine.value(static_cast<uint16_t>(instruction.operands[0].number + half));
        machine.write(static_cast<uint16_t>(isa::exec_lo + half), std::move(value));
    }
}

void s_cmp(Machine& machine, const Instruction& instruction) {
    const auto how = comparison_after(instruction.mnemonic, {"s_cmpk_", "s_cmp_"});
    if (!how || how->is_half || how->is_float || instruction.operands.size() < 2)
        return machine.write_all(instruction, not_evaluated(machine));
    Domain& domain = machine.domain();
    if (how->is_wide) {
        const auto a = machine.wide_source(instruction, 0), b = machine.wide_source(instruction, 1);
        machine.write_scc(a && b ? compare_wide_lane(how->order, how->is_signed, *a, *b, 0) : std::nullopt,
                          wide_reason(machine, instruction));
        return;
    }
    Value a = machine.source(instruction, 0), b = machine.source(instruction, 1);
    if (instruction.mnemonic.starts_with("s_cmpk_"))  // with a number of 16 bits
        b = domain.constant(how->is_signed ? sext16(b.lane[0]) : b.lane[0] & 0xFFFF);
    machine.write_scc(how->in_lane(domain, a, b, 0), domain.reason_of({&a, &b}, domain.scope()));
}

}  // namespace

Handler comparison_handler(std::string_view mnemonic) {
    if (comparison_after(mnemonic, {"v_cmpx_", "v_cmp_"})) return v_cmp;
    if (comparison_after(mnemonic, {"s_cmpk_", "s_cmp_"})) return s_cmp;
    return nullptr;
}

}  // namespace wavewright::evaluate::operations
