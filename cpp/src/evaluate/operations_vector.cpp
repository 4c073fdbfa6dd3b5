// Vector instructions of dwords: integers and bits, lane by lane.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

Value low_24(Domain& domain, const Value& a) {
    return and_(domain, a, domain.constant(0xFFFFFF));
}
Value mul_u24(Domain& domain, const Value& a, const Value& b) {
    return domain.multiply(low_24(domain, a), low_24(domain, b));
}
Value mul_i24(Domain& domain, const Value& a, const Value& b) {
    return domain.lanewise(
        [&](unsigned lane) {
            const auto sign = [](uint32_t x) { return static_cast<int32_t>(x << 8) >> 8; };
            return static_cast<uint32_t>(sign(a.lane[lane])) * static_cast<uint32_t>(sign(b.lane[lane]));
        },
        {&a, &b});
}

Value mad_u24(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.add(mul_u24(domain, a, b), c);
}

Value mad_i24(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.add(mul_i24(domain, a, b), c);
}

uint32_t high_u24(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(uint64_t{a & 0xFFFFFF} * (b & 0xFFFFFF) >> 32);
}

int32_t high_i24(int32_t a, int32_t b) {
    const auto sign = [](int32_t x) { return int64_t{static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8}; };
    return static_cast<int32_t>(sign(a) * sign(b) >> 32);
}

template <class Number, Number (*Function)(Number, Number)>
Value plain3(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return plain<Number, Function>(domain, plain<Number, Function>(domain, a, b), c);
}

Value subrev(Domain& domain, const Value& a, const Value& b) {
    return domain.subtract(b, a);
}
Value shlrev(Domain& domain, const Value& a, const Value& b) {
    return domain.shift_left(b, a);
}
Value shrrev(Domain& domain, const Value& a, const Value& b) {
    return domain.shift_right(b, a, false);
}
Value sarrev(Domain& domain, const Value& a, const Value& b) {
    return domain.shift_right(b, a, true);
}

Value add3(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.add(domain.add(a, b), c);
}
Value lshl_add(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.add(domain.shift_left(a, b), c);
}

Value add_lshl(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.shift_left(domain.add(a, b), c);
}

Value lshl_or(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return or_(domain, domain.shift_left(a, b), c);
}

Value and_or(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return or_(domain, and_(domain, a, b), c);
}
Value or3(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return or_(domain, or_(domain, a, b), c);
}
Value xor3(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return xor_(domain, xor_(domain, a, b), c);
}
Value xad(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.add(xor_(domain, a, b), c);
}
Value bfi(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return or_(domain, and_(domain, a, b), and_(domain, not_(domain, a), c));
}

Value bfe_u(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return field(domain, a, b, c, false);
}
Value bfe_i(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return field(domain, a, b, c, true);
}
Value alignbit(Domain& domain, const Value& a, const Value& b, const Value& c) {
    Value result = domain.lanewise(
        [&](unsigned lane) {
            return static_cast<uint32_t>((uint64_t{a.lane[lane]} << 32 | b.lane[lane]) >> (c.lane[lane] & 31));
        },
        {&a, &b, &c});
    // Shifted by 16 or less, the low half comes from b alone.
    if (b.base == 0 && domain.is_one_number(c) && (domain.first(c) & 31) <= 16 &&
        (domain.scope() & ~result.lanes) != 0) {
        result = domain.unknown(result.reason);
        result.low_lanes = b.lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane) result.lane[lane] = b.lane[lane] >> (domain.first(c) & 31);
    }
    return result;
}

Value alignbyte(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.lanewise(
        [&](unsigned lane) {
            return static_cast<uint32_t>((uint64_t{a.lane[lane]} << 32 | b.lane[lane]) >> 8 * (c.lane[lane] & 3));
        },
        {&a, &b, &c});
}

template <class Number>
Value median(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.lanewise(
        [&](unsigned lane) {
            const auto x = static_cast<Number>(a.lane[lane]), y = static_cast<Number>(b.lane[lane]),
                       z = static_cast<Number>(c.lane[lane]);
            return static_cast<uint32_t>(std::max(std::min(x, y), std::min(std::max(x, y), z)));
        },
        {&a, &b, &c});
}

// v_perm_b32: each byte of c selects a byte of the result. 0 to 7: a byte of the 64 bits a:b; 8 to 11: the sign of one
// of their halves, in all bits; 12: zeros; above: ones.
Value permute_bytes(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.lanewise(
        [&](unsigned lane) {
            const uint64_t bytes = uint64_t{a.lane[lane]} << 32 | b.lane[lane];
            uint32_t result = 0;
            for (unsigned place = 0; place < 4; ++place) {
                const unsigned selector = c.lane[lane] >> 8 * place & 0xFF;
                uint64_t byte = 0xFF;
                if (selector < 8)
                    byte = bytes >> 8 * selector & 0xFF;
                else if (selector < 12)
                    byte = (bytes >> (16 * (selector - 8) + 15) & 1) != 0 ? 0xFF : 0;
                else if (selector == 12)
                    byte = 0;
                result |= static_cast<uint32_t>(byte) << 8 * place;
            }
            return result;
        },
        {&a, &b, &c});
}

Value bit_count_add(Domain& domain, const Value& a, const Value& b) {
    return domain.add(plain_unary<bit_count>(domain, a), b);
}

// ---- v_bitop3_b32: any bitwise function of three, by its truth table
// ----------------------------------------------------

// Bit k of the table is the result where a, b, c are bits 2, 1, 0 of k.
uint32_t bits_of_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t bits = 0;
    for (unsigned k = 0; k < 8; ++k)
        if ((table >> k & 1) != 0) bits |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    return bits;
}

// The result of one lane whose sources have certain low halves only, if unknown high halves do not matter. Bits do not
// influence each other, so it is enough to try all zeros and all ones for each unknown half.
std::optional<uint32_t> bits_with_unknown_halves(uint32_t table, const std::array<const Value*, 3>& sources,
                                                 unsigned lane) {
    std::optional<uint32_t> result;
    for (unsigned fill = 0; fill < 8; ++fill) {
        std::array<uint32_t, 3> filled{};
        for (unsigned at = 0; at < 3; ++at) {
            const Value& source = *sources[at];
            const bool is_certain = (source.lanes >> lane & 1) != 0;
            const uint32_t high = (fill >> at & 1) != 0 ? 0xFFFF0000 : 0;
            filled[at] = is_certain ? source.lane[lane] : (source.lane[lane] & 0xFFFF) | high;
        }
        const uint32_t bits = bits_of_table(table, filled[0], filled[1], filled[2]);
        if (result && *result != bits) return std::nullopt;
        result = bits;
    }
    return result;
}

Value bitop3_without_bases(Domain& domain, uint32_t table, const Value& a, const Value& b, const Value& c) {
    Value result = domain.lanewise(
        [&](unsigned lane) { return bits_of_table(table, a.lane[lane], b.lane[lane], c.lane[lane]); }, {&a, &b, &c});
    const Lanes low_lanes = (a.lanes | a.low_lanes) & (b.lanes | b.low_lanes) & (c.lanes | c.low_lanes) & ~result.lanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((low_lanes >> lane & 1) == 0) continue;
        const auto bits = bits_with_unknown_halves(table, {&a, &b, &c}, lane);
        result.lane[lane] = bits.value_or(result.lane[lane] & 0xFFFF);
        (bits ? result.lanes : result.low_lanes) |= bit_of(lane);
    }
    return result;
}

// A truth table that is two operations: `inner` of two sources, then `outer` with the third one. Compilers fuse such
// pairs, and each alone can follow an unknown base.
struct FusedPair {
    Logic inner, outer;
    unsigned third;  // place of the source that only `outer` takes

    constexpr uint32_t table() const {
        constexpr std::array<uint32_t, 3> kSources{0xF0, 0xCC, 0xAA};  // bits 2, 1, 0 of k, for k from 7 to 0
        const uint32_t pair = plain_logic(inner, kSources[third == 0 ? 1 : 0], kSources[third == 2 ? 1 : 2]);
        return plain_logic(outer, pair, kSources[third]);
    }

  private:
    static constexpr uint32_t plain_logic(Logic operation, uint32_t a, uint32_t b) {
        return operation == Logic::and_ ? a & b : operation == Logic::or_ ? a | b : a ^ b;
    }
};

constexpr FusedPair kFusedPairs[] = {
    {Logic::and_, Logic::or_, 0}, {Logic::and_, Logic::or_, 1},  {Logic::and_, Logic::or_, 2},
    {Logic::or_, Logic::and_, 0}, {Logic::or_, Logic::and_, 1},  {Logic::or_, Logic::and_, 2},
    {Logic::or_, Logic::or_, 2},  {Logic::and_, Logic::and_, 2}, {Logic::xor_, Logic::xor_, 2},
};

void bitop3(Machine& machine, const Instruction& instruction) {
    const auto table = static_cast<uint32_t>(instruction.number("bitop3", 0)) & 0xFF;
    Domain& domain = machine.domain();
    const std::array<Value, 3> sources{machine.source(instruction, 1), machine.source(instruction, 2),
                                       machine.source(instruction, 3)};
    const auto& [a, b, c] = sources;
    if (a.base == 0 && b.base == 0 && c.base == 0)
        return set(machine, instruction, bitop3_without_bases(domain, table, a, b, c));
    for (const FusedPair& pair : kFusedPairs) {
        if (pair.table() != table) continue;
        const Value first = domain.logic(pair.inner, pair.third == 0 ? b : a, pair.third == 2 ? b : c);
        return set(machine, instruction, domain.logic(pair.outer, first, sources[pair.third]));
    }
    set(machine, instruction, domain.lanewise([](unsigned) { return 0U; }, {&a, &b, &c}));
}

template <bool Subtracts>
void clamped(Machine& machine, const Instruction& instruction) {
    const Value a = machine.source(instruction, 1), b = machine.source(instruction, 2);
    set(machine, instruction,
        machine.domain().lanewise(
            [&](unsigned lane) {
                const uint32_t x = a.lane[lane], y = b.lane[lane];
                if (Subtracts) return x < y ? 0U : x - y;
                return x > UINT32_MAX - y ? UINT32_MAX : x + y;
            },
            {&a, &b}));
}

}  // namespace

std::span<const Operation> vector_operations() {
    static constexpr Operation kOperations[] = {
        {"v_mov_b32", unary<copy>},
        {"v_accvgpr_read_b32", unary<copy>},
        {"v_accvgpr_write_b32", unary<copy>},
        {"v_accvgpr_mov_b32", unary<copy>},
        {"v_accvgpr_read", unary<copy>},
        {"v_accvgpr_write", unary<copy>},
        {"v_add_u32", binary<add>},
        {"v_add_nc_u32", binary<add>},
        {"v_add_i32", binary<add>},
        {"v_add_nc_i32", binary<add>},
        {"v_sub_u32", binary<sub>},
        {"v_sub_nc_u32", binary<sub>},
        {"v_sub_i32", binary<sub>},
        {"v_sub_nc_i32", binary<sub>},
        {"v_subrev_u32", binary<subrev>},
        {"v_subrev_nc_u32", binary<subrev>},
        {"v_mul_lo_u32", binary<mul>},
        {"v_mul_lo_i32", binary<mul>},
        {"v_mul_hi_u32", binary<plain<uint32_t, high_u>>},
        {"v_mul_hi_i32", binary<plain<int32_t, high_i>>},
        {"v_mul_u32_u24", binary<mul_u24>},
        {"v_mul_i32_i24", binary<mul_i24>},
        {"v_mul_hi_u32_u24", binary<plain<uint32_t, high_u24>>},
        {"v_mad_u32_u24", ternary<mad_u24>},
        {"v_mad_i32_i24", ternary<mad_i24>},
        {"v_and_b32", binary<and_>},
        {"v_or_b32", binary<or_>},
        {"v_xor_b32", binary<xor_>},
        {"v_xnor_b32", binary<xnor>},
        {"v_not_b32", unary<not_>},
        {"v_bfrev_b32", unary<plain_unary<reversed>>},
        {"v_ffbl_b32", unary<plain_unary<first_one_low>>},
        {"v_ctz_i32_b32", unary<plain_unary<first_one_low>>},
        {"v_ffbh_u32", unary<plain_unary<first_one_high>>},
        {"v_clz_i32_u32", unary<plain_unary<first_one_high>>},
        {"v_lshlrev_b32", binary<shlrev>},
        {"v_lshrrev_b32", binary<shrrev>},
        {"v_ashrrev_i32", binary<sarrev>},
        {"v_min_u32", binary<plain<uint32_t, least<uint32_t>>>},
        {"v_max_u32", binary<plain<uint32_t, most<uint32_t>>>},
        {"v_min_i32", binary<plain<int32_t, least<int32_t>>>},
        {"v_max_i32", binary<plain<int32_t, most<int32_t>>>},
        {"v_min3_u32", ternary<plain3<uint32_t, least<uint32_t>>>},
        {"v_max3_u32", ternary<plain3<uint32_t, most<uint32_t>>>},
        {"v_min3_i32", ternary<plain3<int32_t, least<int32_t>>>},
        {"v_max3_i32", ternary<plain3<int32_t, most<int32_t>>>},
        {"v_med3_u32", ternary<median<uint32_t>>},
        {"v_med3_i32", ternary<median<int32_t>>},
        {"v_bfm_b32", binary<plain<uint32_t, field_mask>>},
        {"v_add3_u32", ternary<add3>},
        {"v_lshl_add_u32", ternary<lshl_add>},
        {"v_add_lshl_u32", ternary<add_lshl>},
        {"v_lshl_or_b32", ternary<lshl_or>},
        {"v_and_or_b32", ternary<and_or>},
        {"v_or3_b32", ternary<or3>},
        {"v_xor3_b32", ternary<xor3>},
        {"v_xad_u32", ternary<xad>},
        {"v_bfe_u32", ternary<bfe_u>},
        {"v_bfe_i32", ternary<bfe_i>},
        {"v_bfi_b32", ternary<bfi>},
        {"v_bitop3_b32", bitop3},
        {"v_alignbit_b32", ternary<alignbit>},
        {"v_alignbyte_b32", ternary<alignbyte>},
        {"v_perm_b32", ternary<permute_bytes>},
        {"v_bcnt_u32_b32", binary<bit_count_add>},
        {"v_mul_hi_i32_i24", binary<plain<int32_t, high_i24>>},
        {"v_mov_b16", unary<copy>},
    };
    return kOperations;
}

Handler clamped_handler(std::string_view mnemonic) {
    if (mnemonic == "v_sub_u32" || mnemonic == "v_sub_nc_u32") return clamped<true>;
    if (mnemonic == "v_add_u32" || mnemonic == "v_add_nc_u32") return clamped<false>;
    return nullptr;
}

}  // namespace wavewright::evaluate::operations
