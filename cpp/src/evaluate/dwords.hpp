// Functions of dwords that scalar and vector instructions have in common. Those of `Value` follow numbers with unknown
// bases where that is possible; those of uint32_t are for plain numbers, see `plain`.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "value.hpp"

namespace wavewright::evaluate::operations {

using Logic = Domain::Logic;

inline Value copy(Domain&, const Value& a) {
    return a;
}
inline Value add(Domain& domain, const Value& a, const Value& b) {
    return domain.add(a, b);
}
inline Value sub(Domain& domain, const Value& a, const Value& b) {
    return domain.subtract(a, b);
}
inline Value mul(Domain& domain, const Value& a, const Value& b) {
    return domain.multiply(a, b);
}
inline Value and_(Domain& domain, const Value& a, const Value& b) {
    return domain.logic(Logic::and_, a, b);
}
inline Value or_(Domain& domain, const Value& a, const Value& b) {
    return domain.logic(Logic::or_, a, b);
}
inline Value xor_(Domain& domain, const Value& a, const Value& b) {
    return domain.logic(Logic::xor_, a, b);
}
// Only `invert` follows an unknown base; bitwise operations follow conditions and single bits.
inline Value not_(Domain& domain, const Value& a) {
    const bool is_relative = a.base != 0 && a.condition == 0 && a.certain_bits == 0;
    return is_relative ? domain.invert(a) : domain.logic(Logic::xor_, a, domain.constant(UINT32_MAX));
}
inline Value xnor(Domain& domain, const Value& a, const Value& b) {
    return not_(domain, xor_(domain, a, b));
}
inline Value nand(Domain& domain, const Value& a, const Value& b) {
    return not_(domain, and_(domain, a, b));
}
inline Value nor(Domain& domain, const Value& a, const Value& b) {
    return not_(domain, or_(domain, a, b));
}
inline Value andn2(Domain& domain, const Value& a, const Value& b) {
    return and_(domain, a, not_(domain, b));
}
inline Value orn2(Domain& domain, const Value& a, const Value& b) {
    return or_(domain, a, not_(domain, b));
}

// `width` bits from bit `offset`: v_bfe_..., s_bfe_...
Value field(Domain& domain, const Value& source, const Value& offset, const Value& width, bool is_signed);

// A function of the plain numbers of each lane, as a function of values.
template <uint32_t (*Function)(uint32_t)>
Value plain_unary(Domain& domain, const Value& a) {
    return domain.lanewise([&](unsigned lane) { return Function(a.lane[lane]); }, {&a});
}

template <class Number, Number (*Function)(Number, Number)>
Value plain(Domain& domain, const Value& a, const Value& b) {
    return domain.lanewise(
        [&](unsigned lane) {
            return static_cast<uint32_t>(
                Function(static_cast<Number>(a.lane[lane]), static_cast<Number>(b.lane[lane])));
        },
        {&a, &b});
}

template <class Number>
Number least(Number a, Number b) {
    return std::min(a, b);
}
template <class Number>
Number most(Number a, Number b) {
    return std::max(a, b);
}
inline uint32_t high_u(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline int32_t high_i(int32_t a, int32_t b) {
    return static_cast<int32_t>(int64_t{a} * b >> 32);
}
// `a` ones from bit `b`: v_bfm_b32, s_bfm_b32.
inline uint32_t field_mask(uint32_t a, uint32_t b) {
    return ((1U << (a & 31)) - 1) << (b & 31);
}
inline uint32_t reversed(uint32_t a) {
    uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; ++bit) result |= (a >> bit & 1) << (31 - bit);
    return result;
}
inline uint32_t first_one_low(uint32_t a) {
    return a == 0 ? UINT32_MAX : static_cast<uint32_t>(std::countr_zero(a));
}
inline uint32_t first_one_high(uint32_t a) {
    return a == 0 ? UINT32_MAX : static_cast<uint32_t>(std::countl_zero(a));
}
inline uint32_t bit_count(uint32_t a) {
    return static_cast<uint32_t>(std::popcount(a));
}
inline uint32_t sext16(uint32_t a) {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(a)));
}

}  // namespace wavewright::evaluate::operations
