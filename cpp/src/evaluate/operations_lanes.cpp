// Instructions that move values between lanes: v_readlane and its kin, ds_permute, ds_swizzle and operands with DPP.
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate {
namespace operations {
namespace {

// A scalar with the number of one lane, whose base all lanes have in common.
Value one_lane(Domain& domain, const Value& from, unsigned lane) {
    Value result;
    result.base = from.base;
    result.lanes = domain.all();
    result.reason = from.reason;
    result.lane.fill(from.lane[lane]);
    return domain.stamped(std::move(result));
}

void readfirstlane(Machine& machine, const Instruction& instruction) {
    const Active active = machine.active();
    const Value from = machine.source(instruction, 1);
    // Without an active lane, lane 0 is read.
    const unsigned first = active.maybe == 0 ? 0 : static_cast<unsigned>(std::countr_zero(active.maybe));
    const bool is_first =
        active.maybe == 0 || (active.surely >> first & 1) != 0 || machine.domain().is_common(from, active.maybe);
    Domain& domain = machine.domain();
    set(machine, instruction,
        is_first && (from.lanes >> first & 1) != 0 ? one_lane(domain, from, first)
                                                   : domain.common(domain.reason_of(from)));
}

void readlane(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    const Value from = machine.source(instruction, 1), selector = machine.source(instruction, 2);
    const unsigned lane = selector.lane[0] & (machine.start().lane_count - 1);
    const bool is_certain = domain.is_plain(selector, bit_of(0)) && (from.lanes >> lane & 1) != 0;
    set(machine, instruction, is_certain ? one_lane(domain, from, lane) : domain.common(domain.reason_of(from)));
}

void writelane(Machine& machine, const Instruction& instruction) {
    const Value from = machine.source(instruction, 1), selector = machine.source(instruction, 2);
    const Operand& to = instruction.operands.front();
    if (to.kind != Operand::Kind::register_) return;
    Value& old = machine.register_at(to.number);
    const Reason reason = machine.domain().reason_of(from);
    if (!machine.domain().is_plain(selector, bit_of(0))) {
        old = machine.domain().unknown(reason);
        return;
    }
    const unsigned lane = selector.lane[0] & (machine.start().lane_count - 1);
    Value result = old;
    result.wide.reset();
    result.sign_of = 0;
    if (from.base == old.base && (from.lanes & 1) != 0) {
        result.lanes |= bit_of(lane);
        result.lane[lane] = from.lane[0];
    } else {
        result.lanes &= ~bit_of(lane);
        result.reason = reason;
    }
    old = machine.domain().stamped(std::move(result));
}

// v_mbcnt_lo, v_mbcnt_hi: counts the bits of a mask that are below the own lane, in its low or high dword.
template <bool High>
void mbcnt(Machine& machine, const Instruction& instruction) {
    const Value mask = machine.source(instruction, 1), base = machine.source(instruction, 2);
    Domain& domain = machine.domain();
    if (!domain.is_plain(mask, domain.scope()))
        return set(machine, instruction, domain.unknown(domain.reason_of(mask)));
    Value count;
    count.lanes = domain.all();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const unsigned own_bits = lane % 32;
        const uint32_t below = High == (lane >= 32) ? (1U << own_bits) - 1 : High ? 0 : UINT32_MAX;
        count.lane[lane] = bit_count(mask.lane[lane] & below);
    }
    set(machine, instruction, domain.add(domain.stamped(std::move(count)), base));
}

// v_permlane16: four bits per lane select a lane of its row of 16; v_permlanex16 (`Crossed`) one of the other row of
// the pair.
template <bool Crossed>
void permlane16(Machine& machine, const Instruction& instruction) {
    const Value from = machine.source(instruction, 1), low = machine.source(instruction, 2),
                high = machine.source(instruction, 3);
    Domain& domain = machine.domain();
    const Active active = machine.active();
    if (active.surely != domain.all() || !domain.is_plain(low, 1) || !domain.is_plain(high, 1) ||
        !instruction.words.empty())
        return machine.write_all(instruction, not_evaluated(machine));
    Value result;
    result.base = from.base;
    result.reason = from.reason;
    for (unsigned lane = 0; lane < machine.start().lane_count; ++lane) {
        const uint32_t selected = (lane % 16 < 8 ? low.lane[0] : high.lane[0]) >> 4 * (lane % 8) & 15;
        const unsigned source = (lane / 16 ^ (Crossed ? 1U : 0U)) * 16 + selected;
        result.lane[lane] = from.lane[source];
        result.lanes |= from.lanes >> source & 1 ? bit_of(lane) : 0;
    }
    set(machine, instruction, domain.stamped(std::move(result)));
}

// ds_bpermute_b32: each lane takes the number of the lane that its address names.
void bpermute(Machine& machine, const Instruction& instruction) {
    const Value address = machine.source(instruction, 1), data = machine.source(instruction, 2);
    const Active active = machine.active();
    Domain& domain = machine.domain();
    const auto offset = static_cast<uint32_t>(instruction.number("offset", 0));
    Value result;
    result.base = data.base;
    result.reason = domain.reason_of({&address, &data}, active.maybe);
    const bool plain = domain.is_plain(address, active.maybe) && active.is_certain();
    for (unsigned lane = 0; lane < kLanes && plain; ++lane) {
        const unsigned from = (address.lane[lane] + offset) / 4 % machine.start().lane_count;
        // Lanes that are not active give zero; such results are left unknown.
        if ((active.surely >> from & 1) == 0 || (data.lanes >> from & 1) == 0) continue;
        result.lanes |= bit_of(lane);
        result.lane[lane] = data.lane[from];
    }
    set(machine, instruction, domain.stamped(std::move(result)));
}

// ds_permute_b32: each active lane gives its number to the lane that its address names; of several the highest wins.
void permute(Machine& machine, const Instruction& instruction) {
    const Value address = machine.source(instruction, 1), data = machine.source(instruction, 2);
    const Active active = machine.active();
    Domain& domain = machine.domain();
    if (!active.is_certain() || !domain.is_plain(address, active.maybe) || data.base != 0)
        return machine.write_all(instruction, not_evaluated(machine));
    Value result;
    result.reason = data.reason;
    result.lanes = domain.all();  // a lane that no other one gives to gets zero
    const auto offset = static_cast<uint32_t>(instruction.number("offset", 0));
    for (unsigned lane = 0; lane < machine.start().lane_count; ++lane) {
        if ((active.surely >> lane & 1) == 0) continue;
        const unsigned to = (address.lane[lane] + offset) / 4 % machine.start().lane_count;
        result.lane[to] = data.lane[lane];
        if ((data.lanes >> lane & 1) == 0)
            result.lanes &= ~bit_of(to);
        else
            result.lanes |= bit_of(to);
    }
    set(machine, instruction, domain.stamped(std::move(result)));
}

// The pattern of ds_swizzle_b32 as assemblers print it: swizzle(NAME,number,...).
struct SwizzlePattern {
    std::string_view name;
    std::array<unsigned, 4> numbers{};
    size_t count = 0;

    // The lane that a lane takes its number from; nothing for the spellings that are not evaluated.
    std::optional<unsigned> source_of(unsigned lane) const {
        const unsigned size = numbers[0];
        if (name == "SWAP" && count == 1) return lane ^ size;
        if (name == "BROADCAST" && count == 2 && size != 0) return lane / size * size + numbers[1];
        if (name == "REVERSE" && count == 1 && size != 0) return lane / size * size + size - 1 - lane % size;
        if (name == "QUAD_PERM" && count == 4) return lane / 4 * 4 + (numbers[lane % 4] & 3);
        return std::nullopt;
    }
};

std::optional<SwizzlePattern> swizzle_pattern(std::string_view text) {
    constexpr std::string_view kPrefix = "swizzle(";
    if (!text.starts_with(kPrefix) || !text.ends_with(')')) return std::nullopt;
    text = text.substr(kPrefix.size(), text.size() - kPrefix.size() - 1);
    SwizzlePattern pattern{.name = text.substr(0, text.find(','))};
    for (size_t at = pattern.name.size(); at < text.size() && pattern.count < pattern.numbers.size(); ++pattern.count) {
        unsigned& number = pattern.numbers[pattern.count];
        for (++at; at < text.size() && text[at] != ','; ++at)
            if (text[at] >= '0' && text[at] <= '9') number = number * 10 + static_cast<unsigned>(text[at] - '0');
    }
    return pattern;
}

void swizzle(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    const Value from = machine.source(instruction, 1);
    const Active active = machine.active();
    const auto pattern = swizzle_pattern(instruction.word("offset").value_or(""));
    if (!pattern || !active.is_certain())
        return set(machine, instruction,
                   domain.is_common(from, domain.all()) ? from : domain.unknown(not_evaluated(machine)));
    Value result;
    result.base = from.base;
    result.reason = from.reason;
    for (unsigned lane = 0; lane < machine.start().lane_count; ++lane) {
        const auto source = pattern->source_of(lane);
        if (!source) return set(machine, instruction, domain.unknown(not_evaluated(machine)));
        if (*source >= machine.start().lane_count || (active.surely & from.lanes & bit_of(*source)) == 0) continue;
        result.lanes |= bit_of(lane);
        result.lane[lane] = from.lane[*source];
    }
    set(machine, instruction, domain.stamped(std::move(result)));
}

}  // namespace

std::span<const Operation> lane_operations() {
    static constexpr Operation kOperations[] = {
        {"v_readfirstlane_b32", readfirstlane},
        {"v_readlane_b32", readlane},
        {"v_writelane_b32", writelane},
        {"v_mbcnt_lo_u32_b32", mbcnt<false>},
        {"v_mbcnt_hi_u32_b32", mbcnt<true>},
        {"v_permlane16_b32", permlane16<false>},
        {"v_permlanex16_b32", permlane16<true>},
        {"ds_bpermute_b32", bpermute},
        {"ds_permute_b32", permute},
        {"ds_swizzle_b32", swizzle},
    };
    return kOperations;
}

}  // namespace operations

// DPP: takes the first source from other lanes. A lane without one keeps its old result, or gets 0 (`bound_ctrl`).
bool Machine::move_lanes(const Instruction& instruction) {
    const LaneMove& move = instruction.move;
    const Active exec = active();
    if (!move.is_evaluated || !exec.is_certain() || instruction.has("fi") || instruction.operands.size() < 2)
        return false;
    const Value from = source(instruction, 1);
    Value moved;
    moved.base = from.base;
    moved.reason = from.reason;
    Lanes written = 0;
    for (unsigned lane = 0; lane < start_.lane_count; ++lane) {
        const bool is_enabled = (move.row_mask >> lane / 16 & 1) != 0 && (move.bank_mask >> lane % 16 / 4 & 1) != 0;
        if ((exec.surely & bit_of(lane)) == 0 || !is_enabled) continue;
        const int source_lane = move.from[lane];
        const bool is_valid = source_lane >= 0 && (exec.surely >> source_lane & 1) != 0;
        if (!is_valid && !move.bound_zero) continue;
        written |= bit_of(lane);
        if (!is_valid) {
            if (from.base == 0) moved.lanes |= bit_of(lane);
            continue;
        }
        moved.lane[lane] = from.lane[static_cast<size_t>(source_lane)];
        if ((from.lanes >> source_lane & 1) != 0) moved.lanes |= bit_of(lane);
    }
    moved_ = domain_.stamped(std::move(moved));
    narrowed_ = Active{written, written};
    return true;
}

}  // namespace wavewright::evaluate
