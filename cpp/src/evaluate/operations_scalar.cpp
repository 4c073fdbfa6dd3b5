// Scalar instructions of dwords, and what they leave in SCC.
#include <cstdint>
#include <optional>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

// Handlers that also write to SCC whether the result is not zero.
template <auto Function>
void scalar_binary(Machine& machine, const Instruction& instruction) {
    Value result = Function(machine.domain(), machine.source(instruction, 1), machine.source(instruction, 2));
    machine.write_scc_nonzero(result);
    set(machine, instruction, std::move(result));
}

template <auto Function>
void scalar_unary(Machine& machine, const Instruction& instruction) {
    Value result = Function(machine.domain(), machine.source(instruction, 1));
    machine.write_scc_nonzero(result);
    set(machine, instruction, std::move(result));
}

Value shl(Domain& domain, const Value& a, const Value& b) {
    return domain.shift_left(a, b);
}
Value shr(Domain& domain, const Value& a, const Value& b) {
    return domain.shift_right(a, b, false);
}
Value sar(Domain& domain, const Value& a, const Value& b) {
    return domain.shift_right(a, b, true);
}

uint32_t sext8(uint32_t a) {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(a)));
}
uint32_t pack_ll(uint32_t a, uint32_t b) {
    return (a & 0xFFFF) | b << 16;
}
uint32_t pack_lh(uint32_t a, uint32_t b) {
    return (a & 0xFFFF) | (b & 0xFFFF0000);
}
uint32_t pack_hh(uint32_t a, uint32_t b) {
    return a >> 16 | (b & 0xFFFF0000);
}
uint32_t pack_hl(uint32_t a, uint32_t b) {
    return a >> 16 | b << 16;
}
uint32_t distance(uint32_t a, uint32_t b) {
    const int64_t difference = int64_t{static_cast<int32_t>(a)} - static_cast<int32_t>(b);
    return static_cast<uint32_t>(difference < 0 ? -difference : difference);
}

uint32_t absolute(uint32_t a) {
    return static_cast<int32_t>(a) < 0 ? 0U - a : a;
}

// The number of 16 bits of s_...k_i32.
Value short_number(Machine& machine, const Instruction& instruction) {
    return machine.domain().constant(sext16(machine.source(instruction, 1).lane[0]));
}

void movk(Machine& machine, const Instruction& instruction) {
    set(machine, instruction, short_number(machine, instruction));
}

void addk(Machine& machine, const Instruction& instruction) {
    Value sum = machine.domain().add(machine.source(instruction, 0), short_number(machine, instruction));
    machine.write_scc(std::nullopt, not_evaluated(machine));
    set(machine, instruction, std::move(sum));
}

void mulk(Machine& machine, const Instruction& instruction) {
    set(machine, instruction,
        machine.domain().multiply(machine.source(instruction, 0), short_number(machine, instruction)));
}

template <bool One>
void bitset(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    const Value number = machine.source(instruction, 1);
    if (!domain.is_plain(number, domain.scope())) return machine.write_all(instruction, domain.reason_of(number));
    const uint32_t bit = 1U << (number.lane[0] & 31);
    set(machine, instruction,
        One ? or_(domain, machine.source(instruction, 0), domain.constant(bit))
            : and_(domain, machine.source(instruction, 0), domain.constant(~bit)));
}

// s_bfe: the second source has the offset in bits 4:0 and the width in bits 22:16.
template <bool Signed>
void s_bfe(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    const Value place = machine.source(instruction, 2);
    if (!domain.is_plain(place, domain.scope())) return machine.write_all(instruction, domain.reason_of(place));
    const unsigned width = place.lane[0] >> 16 & 0x7F;
    const Value offset = domain.constant(place.lane[0] & 31);
    const Value from = machine.source(instruction, 1);
    Value result = width == 0            ? domain.constant(0)
                   : width >= kDwordBits ? domain.shift_right(from, offset, Signed)
                                         : field(domain, from, offset, domain.constant(width), Signed);
    machine.write_scc_nonzero(result);
    set(machine, instruction, std::move(result));
}

template <unsigned Count>
void lshl_n_add(Machine& machine, const Instruction& instruction) {
    Domain& domain = machine.domain();
    Value sum = domain.add(domain.shift_left(machine.source(instruction, 1), domain.constant(Count)),
                           machine.source(instruction, 2));
    machine.write_scc(std::nullopt, not_evaluated(machine));
    set(machine, instruction, std::move(sum));
}

// Minimum and maximum: SCC says which source it was.
template <auto Function>
void s_choice(Machine& machine, const Instruction& instruction) {
    Value result = Function(machine.domain(), machine.source(instruction, 1), machine.source(instruction, 2));
    machine.write_scc(std::nullopt, not_evaluated(machine));
    set(machine, instruction, std::move(result));
}

void indexing_on(Machine& machine, const Instruction& instruction) {
    machine.set_indexing(true);
    machine.write_all(instruction, not_evaluated(machine));
}

void indexing_off(Machine& machine, const Instruction&) {
    machine.set_indexing(false);
}
// s_bitcmp0 (`Zero`), s_bitcmp1: SCC says whether a bit has this value.
template <bool Zero>
void bitcmp(Machine& machine, const Instruction& instruction) {
    const Value a = machine.source(instruction, 0), b = machine.source(instruction, 1);
    const Domain& domain = machine.domain();
    const bool is_plain = domain.is_plain(a, 1) && domain.is_plain(b, 1);
    const bool is_set = is_plain && (a.lane[0] >> (b.lane[0] & 31) & 1) != 0;
    machine.write_scc(is_plain ? Verdict(is_set != Zero) : std::nullopt, domain.reason_of({&a, &b}, 1));
}

}  // namespace

std::span<const Operation> scalar_operations() {
    static constexpr Operation kOperations[] = {
        {"s_mov_b32", unary<copy>},
        {"s_movk_i32", movk},
        {"s_addk_i32", addk},
        {"s_addk_co_i32", addk},
        {"s_mulk_i32", mulk},
        {"s_not_b32", scalar_unary<not_>},
        {"s_brev_b32", unary<plain_unary<reversed>>},
        {"s_ff1_i32_b32", unary<plain_unary<first_one_low>>},
        {"s_ctz_i32_b32", unary<plain_unary<first_one_low>>},
        {"s_flbit_i32_b32", unary<plain_unary<first_one_high>>},
        {"s_clz_i32_u32", unary<plain_unary<first_one_high>>},
        {"s_bcnt1_i32_b32", scalar_unary<plain_unary<bit_count>>},
        {"s_bitcmp0_b32", bitcmp<true>},
        {"s_bitcmp1_b32", bitcmp<false>},
        {"s_sext_i32_i8", unary<plain_unary<sext8>>},
        {"s_sext_i32_i16", unary<plain_unary<sext16>>},
        {"s_abs_i32", scalar_unary<plain_unary<absolute>>},
        {"s_absdiff_i32", scalar_binary<plain<uint32_t, distance>>},
        {"s_bitset0_b32", bitset<false>},
        {"s_bitset1_b32", bitset<true>},
        {"s_mul_i32", binary<mul>},
        {"s_mul_hi_u32", binary<plain<uint32_t, high_u>>},
        {"s_mul_hi_i32", binary<plain<int32_t, high_i>>},
        {"s_bfm_b32", binary<plain<uint32_t, field_mask>>},
        {"s_pack_ll_b32_b16", binary<plain<uint32_t, pack_ll>>},
        {"s_pack_lh_b32_b16", binary<plain<uint32_t, pack_lh>>},
        {"s_pack_hh_b32_b16", binary<plain<uint32_t, pack_hh>>},
        {"s_pack_hl_b32_b16", binary<plain<uint32_t, pack_hl>>},
        {"s_min_u32", s_choice<plain<uint32_t, least<uint32_t>>>},
        {"s_max_u32", s_choice<plain<uint32_t, most<uint32_t>>>},
        {"s_min_i32", s_choice<plain<int32_t, least<int32_t>>>},
        {"s_max_i32", s_choice<plain<int32_t, most<int32_t>>>},
        {"s_and_b32", scalar_binary<and_>},
        {"s_or_b32", scalar_binary<or_>},
        {"s_xor_b32", scalar_binary<xor_>},
        {"s_andn2_b32", scalar_binary<andn2>},
        {"s_and_not1_b32", scalar_binary<andn2>},
        {"s_orn2_b32", scalar_binary<orn2>},
        {"s_or_not1_b32", scalar_binary<orn2>},
        {"s_nand_b32", scalar_binary<nand>},
        {"s_nor_b32", scalar_binary<nor>},
        {"s_xnor_b32", scalar_binary<xnor>},
        {"s_lshl_b32", scalar_binary<shl>},
        {"s_lshr_b32", scalar_binary<shr>},
        {"s_ashr_i32", scalar_binary<sar>},
        {"s_bfe_u32", s_bfe<false>},
        {"s_bfe_i32", s_bfe<true>},
        {"s_lshl1_add_u32", lshl_n_add<1>},
        {"s_lshl2_add_u32", lshl_n_add<2>},
        {"s_lshl3_add_u32", lshl_n_add<3>},
        {"s_lshl4_add_u32", lshl_n_add<4>},
        {"s_set_gpr_idx_on", indexing_on},
        {"s_set_gpr_idx_off", indexing_off},
    };
    return kOperations;
}

}  // namespace wavewright::evaluate::operations
