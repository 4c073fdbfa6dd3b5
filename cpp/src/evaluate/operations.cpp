// What instructions compute: one table of mnemonics. Meanings: AMD's instruction set documents of CDNA3, RDNA3 and
// RDNA4
// ("Instruction Details"). A mnemonic that is not here writes numbers that are not known.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <unordered_map>

#include "machine.hpp"

namespace wavewright::evaluate {

using Logic = Domain::Logic;

struct Operations {
    using Handler = void (*)(Machine&, const Instruction&);

    // ---- results -------------------------------------------------------------------------------------------------

    static void set(Machine& m, const Instruction& i, Value result) {
        const Operand& to = i.operands.front();
        if (to.kind != Operand::Kind::register_) return;
        Domain& d = m.domain_;
        if (i.has_sdwa) {
            const auto part = i.word("dst_sel").value_or("DWORD");
            if (part != "DWORD") {
                const unsigned bits = part.starts_with("BYTE_") ? 8 : 16;
                const auto place = static_cast<uint32_t>(part.back() - '0');
                if (i.word("dst_unused").value_or("") == "UNUSED_PAD")
                    result = d.shift_left(d.logic(Logic::and_, result, d.constant((1U << bits) - 1)),
                                          d.constant(place * bits));
                else
                    result = d.unknown({ReasonKind::not_evaluated, m.row_});
            }
        }
        if (to.half == 1) result = with_halves(m, d.low_16(result), d.high_16(m.value(to.number)));
        if (to.half == 2) result = with_halves(m, d.low_16(m.value(to.number)), d.low_16(result));
        m.write(to, 0, std::move(result));
    }

    // A register of two halves; where only one of them is certain, it stays so.
    static Value with_halves(Machine& m, const Value& low, const Value& high) {
        Domain& d = m.domain_;
        const Lanes low_lanes = low.base == 0 ? low.lanes : 0, high_lanes = high.base == 0 ? high.lanes : 0;
        Value merged;
        merged.reason = d.reason_of({&low, &high}, d.scope());
        merged.lanes = low_lanes & high_lanes;
        merged.low_lanes = low_lanes & ~high_lanes;
        merged.high_lanes = high_lanes & ~low_lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane) merged.lane[lane] = low.lane[lane] | high.lane[lane] << 16;
        return d.stamped(std::move(merged));
    }

    template <uint32_t (*Function)(uint32_t, uint32_t, uint32_t), unsigned Sources>
    static void half(Machine& m, const Instruction& i) {
        Domain& d = m.domain_;
        const Value a = d.low_16(m.source(i, 1)), b = d.low_16(m.source(i, 2));
        const Value c = Sources > 2 ? d.low_16(m.source(i, 3)) : d.constant(0);
        Value result = d.lanewise(
            [&](unsigned lane) { return Function(a.lane[lane], b.lane[lane], c.lane[lane]) & 0xFFFF; }, {&a, &b, &c});
        const Operand& to = i.operands.front();
        if (to.half == 0 && i.keeps_high && !i.has_sdwa && to.kind == Operand::Kind::register_)
            result = with_halves(m, result, d.high_16(m.value(to.number)));
        set(m, i, std::move(result));
    }
    static uint32_t half_sum(uint32_t a, uint32_t b, uint32_t) { return a + b; }
    static uint32_t half_difference(uint32_t a, uint32_t b, uint32_t) { return a - b; }
    static uint32_t half_reverse(uint32_t a, uint32_t b, uint32_t) { return b - a; }
    static uint32_t half_product(uint32_t a, uint32_t b, uint32_t) { return a * b; }
    static uint32_t half_mad(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
    static uint32_t half_shlrev(uint32_t a, uint32_t b, uint32_t) { return b << (a & 15); }
    static uint32_t half_shrrev(uint32_t a, uint32_t b, uint32_t) { return b >> (a & 15); }
    static uint32_t half_and(uint32_t a, uint32_t b, uint32_t) { return a & b; }
    static uint32_t half_or(uint32_t a, uint32_t b, uint32_t) { return a | b; }
    static uint32_t half_xor(uint32_t a, uint32_t b, uint32_t) { return a ^ b; }
    static uint32_t half_min(uint32_t a, uint32_t b, uint32_t) { return std::min(a, b); }
    static uint32_t half_max(uint32_t a, uint32_t b, uint32_t) { return std::max(a, b); }

    // ---- floats: what compilers divide integers with ------------------------------------------------------------

    static float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
    static uint32_t bits_of(float number) { return std::bit_cast<uint32_t>(number); }
    static uint32_t float_of_unsigned(uint32_t a) { return bits_of(static_cast<float>(a)); }
    static uint32_t float_of_signed(uint32_t a) { return bits_of(static_cast<float>(static_cast<int32_t>(a))); }
    static uint32_t float_of_byte(uint32_t a) { return bits_of(static_cast<float>(a & 0xFF)); }
    static uint32_t unsigned_of_float(uint32_t a) {
        const float number = as_float(a);
        if (!(number > 0.0F)) return 0;
        return number >= 4294967296.0F ? UINT32_MAX : static_cast<uint32_t>(number);
    }
    static uint32_t signed_of_float(uint32_t a) {
        const float number = as_float(a);
        if (std::isnan(number)) return 0;
        if (number >= 2147483648.0F) return INT32_MAX;
        if (number < -2147483648.0F) return static_cast<uint32_t>(INT32_MIN);
        return static_cast<uint32_t>(static_cast<int32_t>(number));
    }
    static uint32_t truncated(uint32_t a) { return bits_of(std::trunc(as_float(a))); }
    static uint32_t float_product(uint32_t a, uint32_t b) { return bits_of(as_float(a) * as_float(b)); }
    static Value float_fma(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.lanewise(
            [&](unsigned lane) {
                return bits_of(std::fma(as_float(a.lane[lane]), as_float(b.lane[lane]), as_float(c.lane[lane])));
            },
            {&a, &b, &c});
    }
    static Value float_mad(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.lanewise(
            [&](unsigned lane) {
                const float product = as_float(a.lane[lane]) * as_float(b.lane[lane]);
                return bits_of(product + as_float(c.lane[lane]));
            },
            {&a, &b, &c});
    }
    // The hardware's reciprocal is less than one unit in the last place away: one of the two floats around the true
    // one. Which of them, or the nearer, `rounding_` says.
    static void reciprocal(Machine& m, const Instruction& i) {
        const Value a = m.source(i, 1);
        Value result = m.domain_.lanewise(
            [&](unsigned lane) {
                const float number = as_float(a.lane[lane]), nearest = 1.0F / number;
                const double exact = 1.0 / static_cast<double>(number);
                if (m.rounding_ == 0 || !std::isnormal(nearest) || nearest == exact) return bits_of(nearest);
                const bool is_above = std::fabs(nearest) > std::fabs(exact), wants_above = m.rounding_ > 0;
                if (is_above == wants_above) return bits_of(nearest);
                return bits_of(std::nextafter(nearest, wants_above ? std::copysign(INFINITY, nearest) : 0.0F));
            },
            {&a});
        m.used_reciprocal_ = m.used_reciprocal_ || (result.base == 0 && result.lanes != 0);
        set(m, i, std::move(result));
    }

    // Saturates where it would wrap.
    template <bool Subtracts>
    static void clamped(Machine& m, const Instruction& i) {
        const Value a = m.source(i, 1), b = m.source(i, 2);
        set(m, i,
            m.domain_.lanewise(
                [&](unsigned lane) {
                    const uint32_t x = a.lane[lane], y = b.lane[lane];
                    if (Subtracts) return x < y ? 0U : x - y;
                    return x > UINT32_MAX - y ? UINT32_MAX : x + y;
                },
                {&a, &b}));
    }

    template <auto Function>
    static void unary(Machine& m, const Instruction& i) {
        set(m, i, Function(m.domain_, m.source(i, 1)));
    }

    template <auto Function>
    static void binary(Machine& m, const Instruction& i) {
        set(m, i, Function(m.domain_, m.source(i, 1), m.source(i, 2)));
    }

    template <auto Function>
    static void ternary(Machine& m, const Instruction& i) {
        set(m, i, Function(m.domain_, m.source(i, 1), m.source(i, 2), m.source(i, 3)));
    }

    // Scalars that also say in SCC whether the result is not zero.
    template <auto Function>
    static void scalar_binary(Machine& m, const Instruction& i) {
        Value result = Function(m.domain_, m.source(i, 1), m.source(i, 2));
        m.write_scc_nonzero(result);
        set(m, i, std::move(result));
    }

    template <auto Function>
    static void scalar_unary(Machine& m, const Instruction& i) {
        Value result = Function(m.domain_, m.source(i, 1));
        m.write_scc_nonzero(result);
        set(m, i, std::move(result));
    }

    // ---- functions of dwords -------------------------------------------------------------------------------------

    static Value copy(Domain&, const Value& a) { return a; }
    static Value add(Domain& d, const Value& a, const Value& b) { return d.add(a, b); }
    static Value sub(Domain& d, const Value& a, const Value& b) { return d.subtract(a, b); }
    static Value subrev(Domain& d, const Value& a, const Value& b) { return d.subtract(b, a); }
    static Value mul(Domain& d, const Value& a, const Value& b) { return d.multiply(a, b); }
    static Value and_(Domain& d, const Value& a, const Value& b) { return d.logic(Logic::and_, a, b); }
    static Value or_(Domain& d, const Value& a, const Value& b) { return d.logic(Logic::or_, a, b); }
    static Value xor_(Domain& d, const Value& a, const Value& b) { return d.logic(Logic::xor_, a, b); }
    static Value not_(Domain& d, const Value& a) {
        return a.base == 0 ? d.logic(Logic::xor_, a, d.constant(UINT32_MAX)) : inverted(d, a);
    }
    static Value inverted(Domain& d, const Value& a) {
        return a.condition != 0 || a.certain_bits != 0 ? d.logic(Logic::xor_, a, d.constant(UINT32_MAX)) : d.invert(a);
    }
    static Value xnor(Domain& d, const Value& a, const Value& b) { return not_(d, xor_(d, a, b)); }
    static Value nand(Domain& d, const Value& a, const Value& b) { return not_(d, and_(d, a, b)); }
    static Value nor(Domain& d, const Value& a, const Value& b) { return not_(d, or_(d, a, b)); }
    static Value andn2(Domain& d, const Value& a, const Value& b) { return and_(d, a, not_(d, b)); }
    static Value orn2(Domain& d, const Value& a, const Value& b) { return or_(d, a, not_(d, b)); }
    static Value shl(Domain& d, const Value& a, const Value& b) { return d.shift_left(a, b); }
    static Value shr(Domain& d, const Value& a, const Value& b) { return d.shift_right(a, b, false); }
    static Value sar(Domain& d, const Value& a, const Value& b) { return d.shift_right(a, b, true); }
    static Value shlrev(Domain& d, const Value& a, const Value& b) { return d.shift_left(b, a); }
    static Value shrrev(Domain& d, const Value& a, const Value& b) { return d.shift_right(b, a, false); }
    static Value sarrev(Domain& d, const Value& a, const Value& b) { return d.shift_right(b, a, true); }

    static Value low_24(Domain& d, const Value& a) { return and_(d, a, d.constant(0xFFFFFF)); }
    static Value mul_u24(Domain& d, const Value& a, const Value& b) { return d.multiply(low_24(d, a), low_24(d, b)); }
    static Value mul_i24(Domain& d, const Value& a, const Value& b) {
        return d.lanewise(
            [&](unsigned lane) {
                const auto sign = [](uint32_t x) { return static_cast<int32_t>(x << 8) >> 8; };
                return static_cast<uint32_t>(sign(a.lane[lane])) * static_cast<uint32_t>(sign(b.lane[lane]));
            },
            {&a, &b});
    }
    static Value mad_u24(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.add(mul_u24(d, a, b), c);
    }
    static Value mad_i24(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.add(mul_i24(d, a, b), c);
    }

    template <class Number, Number (*Function)(Number, Number)>
    static Value plain(Domain& d, const Value& a, const Value& b) {
        return d.lanewise(
            [&](unsigned lane) {
                return static_cast<uint32_t>(
                    Function(static_cast<Number>(a.lane[lane]), static_cast<Number>(b.lane[lane])));
            },
            {&a, &b});
    }
    template <class Number>
    static Number least(Number a, Number b) {
        return std::min(a, b);
    }
    template <class Number>
    static Number most(Number a, Number b) {
        return std::max(a, b);
    }
    static uint32_t high_u(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
    static int32_t high_i(int32_t a, int32_t b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }
    static uint32_t high_u24(uint32_t a, uint32_t b) {
        return static_cast<uint32_t>(uint64_t{a & 0xFFFFFF} * (b & 0xFFFFFF) >> 32);
    }
    static int32_t high_i24(int32_t a, int32_t b) {
        const auto sign = [](int32_t x) { return int64_t{static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8}; };
        return static_cast<int32_t>(sign(a) * sign(b) >> 32);
    }
    static uint32_t field_mask(uint32_t a, uint32_t b) { return ((1U << (a & 31)) - 1) << (b & 31); }
    static uint32_t pack_ll(uint32_t a, uint32_t b) { return (a & 0xFFFF) | b << 16; }
    static uint32_t pack_lh(uint32_t a, uint32_t b) { return (a & 0xFFFF) | (b & 0xFFFF0000); }
    static uint32_t pack_hh(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xFFFF0000); }
    static uint32_t pack_hl(uint32_t a, uint32_t b) { return a >> 16 | b << 16; }
    static uint32_t distance(uint32_t a, uint32_t b) {
        const int64_t difference = int64_t{static_cast<int32_t>(a)} - static_cast<int32_t>(b);
        return static_cast<uint32_t>(difference < 0 ? -difference : difference);
    }

    template <uint32_t (*Function)(uint32_t)>
    static Value plain_unary(Domain& d, const Value& a) {
        return d.lanewise([&](unsigned lane) { return Function(a.lane[lane]); }, {&a});
    }
    static uint32_t reversed(uint32_t a) {
        uint32_t result = 0;
        for (unsigned bit = 0; bit < 32; ++bit) result |= (a >> bit & 1) << (31 - bit);
        return result;
    }
    static uint32_t first_one_low(uint32_t a) {
        return a == 0 ? UINT32_MAX : static_cast<uint32_t>(std::countr_zero(a));
    }
    static uint32_t first_one_high(uint32_t a) {
        return a == 0 ? UINT32_MAX : static_cast<uint32_t>(std::countl_zero(a));
    }
    static uint32_t bit_count(uint32_t a) { return static_cast<uint32_t>(std::popcount(a)); }
    static uint32_t sext8(uint32_t a) { return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(a))); }
    static uint32_t sext16(uint32_t a) { return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(a))); }
    static uint32_t absolute(uint32_t a) { return static_cast<int32_t>(a) < 0 ? 0U - a : a; }

    template <class Number, Number (*Function)(Number, Number)>
    static Value plain3(Domain& d, const Value& a, const Value& b, const Value& c) {
        return plain<Number, Function>(d, plain<Number, Function>(d, a, b), c);
    }

    static Value add3(Domain& d, const Value& a, const Value& b, const Value& c) { return d.add(d.add(a, b), c); }
    static Value lshl_add(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.add(d.shift_left(a, b), c);
    }
    static Value add_lshl(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.shift_left(d.add(a, b), c);
    }
    static Value lshl_or(Domain& d, const Value& a, const Value& b, const Value& c) {
        return or_(d, d.shift_left(a, b), c);
    }
    static Value and_or(Domain& d, const Value& a, const Value& b, const Value& c) { return or_(d, and_(d, a, b), c); }
    static Value or3(Domain& d, const Value& a, const Value& b, const Value& c) { return or_(d, or_(d, a, b), c); }
    static Value xor3(Domain& d, const Value& a, const Value& b, const Value& c) { return xor_(d, xor_(d, a, b), c); }
    static Value xad(Domain& d, const Value& a, const Value& b, const Value& c) { return d.add(xor_(d, a, b), c); }
    static Value bfi(Domain& d, const Value& a, const Value& b, const Value& c) {
        return or_(d, and_(d, a, b), and_(d, not_(d, a), c));
    }
    static Value field(Domain& d, const Value& given, const Value& offset, const Value& width, bool is_signed) {
        const bool is_low = given.low_lanes != 0 && d.is_plain(offset, d.scope()) && d.is_plain(width, d.scope()) &&
                            d.is_common(offset, d.scope()) && d.is_common(width, d.scope()) &&
                            (d.first(offset) & 31) + (d.first(width) & 31) <= 16;
        const Value a = is_low ? d.low_16(given) : given;
        if (!d.is_plain(width, d.scope()) || !d.is_common(width, d.scope()) || is_signed || a.base == 0)
            return d.lanewise(
                [&](unsigned lane) {
                    const unsigned at = offset.lane[lane] & 31, bits = width.lane[lane] & 31;
                    if (bits == 0) return 0U;
                    const uint32_t moved = a.lane[lane] >> at;
                    if (!is_signed) return moved & ((1U << bits) - 1);
                    if (at + bits >= 32) return static_cast<uint32_t>(static_cast<int32_t>(a.lane[lane]) >> at);
                    return static_cast<uint32_t>(static_cast<int32_t>(moved << (32 - bits)) >> (32 - bits));
                },
                {&a, &offset, &width});
        const unsigned bits = d.first(width) & 31;
        return and_(d, d.shift_right(a, offset, false), d.constant((1U << bits) - 1));
    }
    static Value bfe_u(Domain& d, const Value& a, const Value& b, const Value& c) { return field(d, a, b, c, false); }
    static Value bfe_i(Domain& d, const Value& a, const Value& b, const Value& c) { return field(d, a, b, c, true); }
    static Value alignbit(Domain& d, const Value& a, const Value& b, const Value& c) {
        Value result = d.lanewise(
            [&](unsigned lane) {
                return static_cast<uint32_t>((uint64_t{a.lane[lane]} << 32 | b.lane[lane]) >> (c.lane[lane] & 31));
            },
            {&a, &b, &c});
        // The low half comes from b alone where it is moved by no more than 16.
        if (b.base == 0 && d.is_plain(c, d.scope()) && d.is_common(c, d.scope()) && (d.first(c) & 31) <= 16 &&
            (d.scope() & ~result.lanes) != 0) {
            result = d.unknown(result.reason);
            result.low_lanes = b.lanes;
            for (unsigned lane = 0; lane < kLanes; ++lane) result.lane[lane] = b.lane[lane] >> (d.first(c) & 31);
        }
        return result;
    }
    static Value alignbyte(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.lanewise(
            [&](unsigned lane) {
                return static_cast<uint32_t>((uint64_t{a.lane[lane]} << 32 | b.lane[lane]) >> 8 * (c.lane[lane] & 3));
            },
            {&a, &b, &c});
    }
    template <class Number>
    static Value median(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.lanewise(
            [&](unsigned lane) {
                const auto x = static_cast<Number>(a.lane[lane]), y = static_cast<Number>(b.lane[lane]),
                           z = static_cast<Number>(c.lane[lane]);
                return static_cast<uint32_t>(std::max(std::min(x, y), std::min(std::max(x, y), z)));
            },
            {&a, &b, &c});
    }
    // Selectors: 0 to 7 a byte of b, a; 8 to 11 the sign of a half; 12 zeros; above ones.
    static Value permute_bytes(Domain& d, const Value& a, const Value& b, const Value& c) {
        return d.lanewise(
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
    static Value bit_count_add(Domain& d, const Value& a, const Value& b) {
        return d.add(plain_unary<bit_count>(d, a), b);
    }

    // Bit k of the table is the result for a, b, c = bits 2, 1, 0 of k.
    static void bitop3(Machine& m, const Instruction& i) {
        const auto table = static_cast<uint32_t>(i.number("bitop3", 0)) & 0xFF;
        Domain& d = m.domain_;
        const Value a = m.source(i, 1), b = m.source(i, 2), c = m.source(i, 3);
        if (a.base == 0 && b.base == 0 && c.base == 0) {
            const auto bits_of_table = [table](uint32_t x, uint32_t y, uint32_t z) {
                uint32_t bits = 0;
                for (unsigned k = 0; k < 8; ++k)
                    if ((table >> k & 1) != 0)
                        bits |= ((k & 4) != 0 ? x : ~x) & ((k & 2) != 0 ? y : ~y) & ((k & 1) != 0 ? z : ~z);
                return bits;
            };
            Value result = d.lanewise(
                [&](unsigned lane) { return bits_of_table(a.lane[lane], b.lane[lane], c.lane[lane]); }, {&a, &b, &c});
            result.low_lanes =
                (a.lanes | a.low_lanes) & (b.lanes | b.low_lanes) & (c.lanes | c.low_lanes) & ~result.lanes;
            // A high half that no unknown bit has a part in is certain: bits are independent, so all zeros and all ones
            // stand for whatever they are.
            for (unsigned lane = 0; lane < kLanes; ++lane) {
                if ((result.low_lanes >> lane & 1) == 0) continue;
                bool is_certain = true;
                for (unsigned fill = 0; fill < 8; ++fill) {
                    const auto filled = [&](const Value& value, unsigned bit) {
                        const bool is_open = (value.lanes >> lane & 1) == 0;
                        return is_open ? (value.lane[lane] & 0xFFFF) | ((fill >> bit & 1) != 0 ? 0xFFFF0000 : 0)
                                       : value.lane[lane];
                    };
                    const uint32_t bits = bits_of_table(filled(a, 2), filled(b, 1), filled(c, 0));
                    if (fill == 0) result.lane[lane] = bits;
                    is_certain = is_certain && bits == result.lane[lane];
                }
                if (!is_certain) continue;
                result.lanes |= bit_of(lane);
                result.low_lanes &= ~bit_of(lane);
            }
            set(m, i, std::move(result));
            return;
        }
        // With bases: the tables that compilers make of two operations, as these.
        struct Known {
            uint32_t table;
            Value (*function)(Domain&, const Value&, const Value&, const Value&);
        };
        static constexpr Known kKnown[] = {
            {0xEA, [](Domain& e, const Value& x, const Value& y, const Value& z) { return or_(e, and_(e, y, z), x); }},
            {0xEC, [](Domain& e, const Value& x, const Value& y, const Value& z) { return or_(e, and_(e, x, z), y); }},
            {0xF8, [](Domain& e, const Value& x, const Value& y, const Value& z) { return or_(e, and_(e, y, z), x); }},
            {0xFE, or3},
            {0x96, xor3},
            {0x80, [](Domain& e, const Value& x, const Value& y, const Value& z) { return and_(e, and_(e, x, y), z); }},
            {0xC8, [](Domain& e, const Value& x, const Value& y, const Value& z) { return and_(e, or_(e, x, z), y); }},
            {0xA8, [](Domain& e, const Value& x, const Value& y, const Value& z) { return and_(e, or_(e, x, y), z); }},
            {0xE0, [](Domain& e, const Value& x, const Value& y, const Value& z) { return and_(e, or_(e, y, z), x); }},
        };
        for (const Known& known : kKnown) {
            if (known.table != table || !fits(known.table, known.function, d)) continue;
            set(m, i, known.function(d, a, b, c));
            return;
        }
        set(m, i, d.lanewise([](unsigned) { return 0U; }, {&a, &b, &c}));
    }

    // Whether a function of three has this table: the list above is checked each time it is used, not trusted.
    template <class Function>
    static bool fits(uint32_t table, Function&& function, Domain& d) {
        const Value result = function(d, d.constant(0xF0), d.constant(0xCC), d.constant(0xAA));
        return (result.lane[0] & 0xFF) == table;
    }

    // ---- moves between lanes -------------------------------------------------------------------------------------

    static void readfirstlane(Machine& m, const Instruction& i) {
        const Active active = m.active();
        const Value from = m.source(i, 1);
        // Without an active lane, lane 0 is read.
        const unsigned first = active.maybe == 0 ? 0 : static_cast<unsigned>(std::countr_zero(active.maybe));
        const bool is_first =
            active.maybe == 0 || (active.surely >> first & 1) != 0 || m.domain_.is_common(from, active.maybe);
        set(m, i,
            is_first && (from.lanes >> first & 1) != 0 ? one_lane(m, from, first)
                                                       : m.domain_.common(m.domain_.reason_of(from)));
    }

    static Value one_lane(Machine& m, const Value& from, unsigned lane) {
        Value result;
        result.base = from.base;
        result.lanes = m.domain_.all();
        result.reason = from.reason;
        result.lane.fill(from.lane[lane]);
        return m.domain_.stamped(std::move(result));
    }

    static void readlane(Machine& m, const Instruction& i) {
        const Value from = m.source(i, 1), which = m.source(i, 2);
        const unsigned lane = which.lane[0] & (m.start_.lane_count - 1);
        const bool is_sure = m.domain_.is_plain(which, bit_of(0)) && (from.lanes >> lane & 1) != 0;
        set(m, i, is_sure ? one_lane(m, from, lane) : m.domain_.common(m.domain_.reason_of(from)));
    }

    static void writelane(Machine& m, const Instruction& i) {
        const Value from = m.source(i, 1), which = m.source(i, 2);
        const Operand& to = i.operands.front();
        if (to.kind != Operand::Kind::register_) return;
        Value& old = m.registers_[to.number];
        const Reason reason = m.domain_.reason_of(from);
        if (!m.domain_.is_plain(which, bit_of(0))) {
            old = m.domain_.unknown(reason);
            return;
        }
        const unsigned lane = which.lane[0] & (m.start_.lane_count - 1);
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
        old = m.domain_.stamped(std::move(result));
    }

    template <bool High>
    static void mbcnt(Machine& m, const Instruction& i) {
        const Value mask = m.source(i, 1), base = m.source(i, 2);
        Domain& d = m.domain_;
        if (!d.is_plain(mask, d.scope())) return set(m, i, d.unknown(d.reason_of(mask)));
        Value count;
        count.lanes = d.all();
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const unsigned own_bits = lane % 32;
            const uint32_t below = High == (lane >= 32) ? (1U << own_bits) - 1 : High ? 0 : UINT32_MAX;
            count.lane[lane] = bit_count(mask.lane[lane] & below);
        }
        set(m, i, d.add(d.stamped(std::move(count)), base));
    }

    // Lanes of a row of 16 by four bits each; `Crossed` from the other row of the pair.
    template <bool Crossed>
    static void permlane16(Machine& m, const Instruction& i) {
        const Value from = m.source(i, 1), low = m.source(i, 2), high = m.source(i, 3);
        Domain& d = m.domain_;
        const Active active = m.active();
        if (active.surely != d.all() || !d.is_plain(low, 1) || !d.is_plain(high, 1) || !i.words.empty())
            return m.write_all(i, not_evaluated(m));
        Value result;
        result.base = from.base;
        result.reason = from.reason;
        for (unsigned lane = 0; lane < m.start_.lane_count; ++lane) {
            const uint32_t selected = (lane % 16 < 8 ? low.lane[0] : high.lane[0]) >> 4 * (lane % 8) & 15;
            const unsigned source = (lane / 16 ^ (Crossed ? 1U : 0U)) * 16 + selected;
            result.lane[lane] = from.lane[source];
            result.lanes |= from.lanes >> source & 1 ? bit_of(lane) : 0;
        }
        set(m, i, d.stamped(std::move(result)));
    }

    static void bpermute(Machine& m, const Instruction& i) {
        const Value address = m.source(i, 1), data = m.source(i, 2);
        const Active active = m.active();
        Domain& d = m.domain_;
        const auto offset = static_cast<uint32_t>(i.number("offset", 0));
        Value result;
        result.base = data.base;
        result.reason = d.reason_of({&address, &data}, active.maybe);
        const bool plain = d.is_plain(address, active.maybe) && active.is_certain();
        for (unsigned lane = 0; lane < kLanes && plain; ++lane) {
            const unsigned from = (address.lane[lane] + offset) / 4 % m.start_.lane_count;
            // Lanes that are not active give zero.
            const bool is_there = (active.surely >> from & 1) != 0 && (data.lanes >> from & 1) != 0;
            if (!is_there) continue;
            result.lanes |= bit_of(lane);
            result.lane[lane] = data.lane[from];
        }
        set(m, i, d.stamped(std::move(result)));
    }

    // Each active lane gives its number to one other; of several the highest lane wins.
    static void permute(Machine& m, const Instruction& i) {
        const Value address = m.source(i, 1), data = m.source(i, 2);
        const Active active = m.active();
        Domain& d = m.domain_;
        if (!active.is_certain() || !d.is_plain(address, active.maybe) || data.base != 0)
            return m.write_all(i, not_evaluated(m));
        Value result;
        result.reason = data.reason;
        result.lanes = d.all();  // lanes that nobody gives to get zero
        const auto offset = static_cast<uint32_t>(i.number("offset", 0));
        for (unsigned lane = 0; lane < m.start_.lane_count; ++lane) {
            if ((active.surely >> lane & 1) == 0) continue;
            const unsigned to = (address.lane[lane] + offset) / 4 % m.start_.lane_count;
            result.lane[to] = data.lane[lane];
            if ((data.lanes >> lane & 1) == 0)
                result.lanes &= ~bit_of(to);
            else
                result.lanes |= bit_of(to);
        }
        set(m, i, d.stamped(std::move(result)));
    }

    // Patterns by name: SWAP, BROADCAST, REVERSE and QUAD_PERM of lanes; all other spellings are not evaluated.
    static void swizzle(Machine& m, const Instruction& i) {
        const Value from = m.source(i, 1);
        const Active active = m.active();
        Domain& d = m.domain_;
        std::string_view how = i.word("offset").value_or("");
        std::array<unsigned, 4> numbers{};
        size_t count = 0;
        if (!how.starts_with("swizzle(") || !how.ends_with(')') || !active.is_certain())
            return set(m, i, d.is_common(from, d.all()) ? from : d.unknown(not_evaluated(m)));
        how = how.substr(8, how.size() - 9);
        const std::string_view name = how.substr(0, how.find(','));
        for (size_t at = name.size(); at < how.size() && count < numbers.size(); ++count) {
            ++at;
            for (; at < how.size() && how[at] != ','; ++at)
                if (how[at] >= '0' && how[at] <= '9')
                    numbers[count] = numbers[count] * 10 + static_cast<unsigned>(how[at] - '0');
        }
        Value result;
        result.base = from.base;
        result.reason = from.reason;
        for (unsigned lane = 0; lane < m.start_.lane_count; ++lane) {
            unsigned source = lane;
            if (name == "SWAP" && count == 1)
                source = lane ^ numbers[0];
            else if (name == "BROADCAST" && count == 2 && numbers[0] != 0)
                source = lane / numbers[0] * numbers[0] + numbers[1];
            else if (name == "REVERSE" && count == 1 && numbers[0] != 0)
                source = lane / numbers[0] * numbers[0] + numbers[0] - 1 - lane % numbers[0];
            else if (name == "QUAD_PERM" && count == 4)
                source = lane / 4 * 4 + (numbers[lane % 4] & 3);
            else
                return set(m, i, d.unknown(not_evaluated(m)));
            if (source >= m.start_.lane_count || (active.surely >> source & 1) == 0 || (from.lanes >> source & 1) == 0)
                continue;
            result.lanes |= bit_of(lane);
            result.lane[lane] = from.lane[source];
        }
        set(m, i, d.stamped(std::move(result)));
    }

    // ---- 64 bits -------------------------------------------------------------------------------------------------

    static Reason not_evaluated(Machine& m) { return {ReasonKind::not_evaluated, m.row_}; }

    static Reason wide_reason(Machine& m, const Instruction& i) {
        for (size_t index = 1; index < i.operands.size(); ++index) {
            const Operand& operand = i.operands[index];
            if (operand.kind != Operand::Kind::register_) continue;
            for (unsigned part = 0; part < operand.count; ++part) {
                const Value value = m.value(static_cast<uint16_t>(operand.number + part));
                const Reason reason = m.domain_.reason_of(value);
                if (reason.kind != ReasonKind::none && reason.kind != ReasonKind::high_half) return reason;
            }
        }
        return not_evaluated(m);
    }

    static void mov_b64(Machine& m, const Instruction& i) {
        const Operand& to = i.operands.front();
        if (to.kind != Operand::Kind::register_ || i.operands.size() < 2) return m.write_all(i, not_evaluated(m));
        const Operand& from = i.operands[1];
        if (from.kind == Operand::Kind::register_ && from.count == 2) {
            Value low = m.value(from.number), high = m.value(static_cast<uint16_t>(from.number + 1));
            m.write(to, 0, std::move(low));
            m.write(to, 1, std::move(high));
            return;
        }
        m.write_wide(to, m.wide_source(i, 1), not_evaluated(m));
    }

    // The numbers; where they are not certain, at least the low dword, which high dwords have no part in.
    static void set_wide(Machine& m, const Instruction& i, std::optional<Wide> wide, std::optional<Value> low = {}) {
        const Operand& to = i.operands.front();
        if (wide && (m.domain_.scope() & ~wide->lanes) == 0) return m.write_wide(to, std::move(wide), {});
        const Reason reason = wide_reason(m, i);
        if (m.is_alike(i))
            m.write_all(i, reason);
        else
            m.write_wide(to, std::move(wide), reason);
        if (low && (m.domain_.scope() & ~low->lanes) == 0 && to.kind == Operand::Kind::register_)
            m.write(to, 0, *std::move(low));
    }

    static void lshlrev_b64(Machine& m, const Instruction& i) {
        shift_wide(m, i, m.wide_source(i, 2), m.source(i, 2), m.source(i, 1));
    }

    static void lshl_b64(Machine& m, const Instruction& i) {
        shift_wide(m, i, m.wide_source(i, 1), m.source(i, 1), m.source(i, 2));
        scc_of_pair(m, i.operands.front());
    }

    static void shift_wide(Machine& m, const Instruction& i, const std::optional<Wide>& number, const Value& low,
                           const Value& count) {
        Domain& d = m.domain_;
        if (!d.is_plain(count, d.scope()) || !d.is_common(count, d.scope())) return set_wide(m, i, std::nullopt);
        const unsigned by = d.first(count) & 63;
        set_wide(m, i, number ? std::optional(d.shift_left(*number, by)) : std::nullopt,
                 by >= kDwordBits ? d.constant(0) : d.shift_left(low, d.constant(by)));
    }

    static void scc_of_pair(Machine& m, const Operand& to) {
        if (to.kind == Operand::Kind::register_ && to.count == 2)
            m.write_scc_nonzero(m.value(to.number), m.value(static_cast<uint16_t>(to.number + 1)));
        else
            m.write_scc(-1, not_evaluated(m));
    }

    // Shifts to the right: of plain numbers; of others the low dword by 32 or more is the high one.
    template <bool Signed>
    static void right_b64(Machine& m, const Instruction& i, const std::optional<Wide>& number, const Value& count) {
        Domain& d = m.domain_;
        if (!number || number->base != 0 || !d.is_plain(count, d.scope()) || !d.is_common(count, d.scope()))
            return set_wide(m, i, std::nullopt);
        Wide result = *number;
        const unsigned by = d.first(count) & 63;
        for (int64_t& lane : result.lane)
            lane = Signed ? lane >> by : static_cast<int64_t>(static_cast<uint64_t>(lane) >> by);
        set_wide(m, i, result);
    }
    static void lshrrev_b64(Machine& m, const Instruction& i) {
        right_b64<false>(m, i, m.wide_source(i, 2), m.source(i, 1));
    }
    static void ashrrev_i64(Machine& m, const Instruction& i) {
        right_b64<true>(m, i, m.wide_source(i, 2), m.source(i, 1));
    }
    static void lshr_b64(Machine& m, const Instruction& i) {
        right_b64<false>(m, i, m.wide_source(i, 1), m.source(i, 2));
        scc_of_pair(m, i.operands.front());
    }
    static void ashr_i64(Machine& m, const Instruction& i) {
        right_b64<true>(m, i, m.wide_source(i, 1), m.source(i, 2));
        scc_of_pair(m, i.operands.front());
    }

    static void lshl_add_u64(Machine& m, const Instruction& i) {
        const auto number = m.wide_source(i, 1), addend = m.wide_source(i, 3);
        const Value count = m.source(i, 2);
        Domain& d = m.domain_;
        if (!d.is_plain(count, d.scope()) || !d.is_common(count, d.scope())) return set_wide(m, i, std::nullopt);
        const unsigned by = d.first(count) & 7;
        std::optional<Wide> sum;
        if (number && addend) sum = d.add(d.shift_left(*number, by), *addend);
        set_wide(m, i, sum, d.add(d.shift_left(m.source(i, 1), d.constant(by)), m.source(i, 3)));
    }

    static void add_u64(Machine& m, const Instruction& i) {
        const auto one = m.wide_source(i, 1), other = m.wide_source(i, 2);
        set_wide(m, i, one && other ? std::optional(m.domain_.add(*one, *other)) : std::nullopt,
                 m.domain_.add(m.source(i, 1), m.source(i, 2)));
    }
    static void sub_u64(Machine& m, const Instruction& i) {
        const auto one = m.wide_source(i, 1), other = m.wide_source(i, 2);
        set_wide(m, i, one && other ? m.domain_.subtract(*one, *other) : std::nullopt,
                 m.domain_.subtract(m.source(i, 1), m.source(i, 2)));
    }
    static void mul_u64(Machine& m, const Instruction& i) {
        const auto one = m.wide_source(i, 1), other = m.wide_source(i, 2);
        set_wide(m, i, one && other ? m.domain_.multiply(*one, *other) : std::nullopt,
                 m.domain_.multiply(m.source(i, 1), m.source(i, 2)));
    }

    template <bool Signed>
    static void mad_64_32(Machine& m, const Instruction& i) {  // d, carry, a, b, c
        if (i.operands.size() < 5) return m.write_all(i, not_evaluated(m));
        Domain& d = m.domain_;
        const Value a = m.source(i, 2), b = m.source(i, 3);
        const auto addend = m.wide_source(i, 4);
        const auto product = d.multiply(d.extended(a, Signed), d.extended(b, Signed));
        set_wide(m, i, product && addend ? std::optional(d.add(*product, *addend)) : std::nullopt,
                 d.add(d.multiply(a, b), m.source(i, 4)));
        m.write_mask(i.operands[1], 0, 0, not_evaluated(m));
    }

    // ---- carries -------------------------------------------------------------------------------------------------

    // The sum, and the carry as bits where everything is plain, else as the operands that made it.
    static Value low_sum(Machine& m, const Value& a, const Value& b, bool subtracts, Value& carry, Reason reason) {
        Domain& d = m.domain_;
        Value sum = subtracts ? d.subtract(a, b) : d.add(a, b);
        carry = d.unknown(reason);
        if (a.base == 0 && b.base == 0) {
            carry.lanes = a.lanes & b.lanes;
            for (unsigned lane = 0; lane < kLanes; ++lane)
                carry.lane[lane] =
                    subtracts ? a.lane[lane] < b.lane[lane] : uint64_t{a.lane[lane]} + b.lane[lane] > UINT32_MAX;
        }
        auto token = std::make_shared<Carry>();
        token->left = std::make_shared<const Value>(a);
        token->right = std::make_shared<const Value>(b);
        token->sum_version = sum.version;
        token->subtracts = subtracts;
        token->lanes = d.scope();
        carry.carry = std::move(token);
        return sum;
    }

    template <bool Subtracts, bool Reversed = false>
    static void add_co(Machine& m, const Instruction& i) {  // d, carry, a, b
        if (i.operands.size() < 4) return m.write_all(i, not_evaluated(m));
        Value a = m.source(i, 2), b = m.source(i, 3);
        if (Reversed) std::swap(a, b);
        Value carry;
        Value sum = low_sum(m, a, b, Subtracts, carry, m.domain_.reason_of({&a, &b}, m.domain_.scope()));
        write_carry(m, i.operands[1], carry);
        set(m, i, std::move(sum));
    }

    // Lanes with a carry as a mask register.
    static void write_carry(Machine& m, const Operand& to, const Value& carry) {
        const Active active = m.active();
        Lanes bits = 0, certain = ~active.maybe;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            if ((active.surely & carry.lanes & bit_of(lane)) != 0) {
                certain |= bit_of(lane);
                if (carry.lane[lane] != 0) bits |= bit_of(lane);
            }
        m.write_mask(to, bits, certain, carry.reason);
        if (to.kind == Operand::Kind::register_ && to.number != isa::null_register)
            m.registers_[to.number].carry = carry.carry;
    }

    static std::optional<Wide> sum_of_pairs(Domain& d, const Carry& low, const Value& a, const Value& b) {
        const auto one = d.wide(*low.left, a), other = d.wide(*low.right, b);
        if (!one || !other) return std::nullopt;
        return low.subtracts ? d.subtract(*one, *other) : std::optional(d.add(*one, *other));
    }

    // high + high + carry of the low dwords.
    static Value high_sum(Machine& m, const Value& a, const Value& b, const Value& carry_register,
                          const Value& carry_bits, bool subtracts) {
        Domain& d = m.domain_;
        if (a.base == 0 && b.base == 0 && (d.scope() & ~(a.lanes & b.lanes & carry_bits.lanes)) == 0) {
            Value sum = subtracts ? d.subtract(d.subtract(a, b), carry_bits) : d.add(d.add(a, b), carry_bits);
            return sum;
        }
        const Reason reason = d.reason_of({&a, &b, &carry_bits}, d.scope());
        if (const auto& token = carry_register.carry; token && token->subtracts == subtracts) {
            // Which high dword belongs to which low one does not matter for the sum: what assumes less is taken.
            std::optional<Wide> sum = sum_of_pairs(d, *token, a, b);
            if (const auto crossed = subtracts ? std::nullopt : sum_of_pairs(d, *token, b, a);
                crossed && (!sum || (sum->assumptions != 0 && crossed->assumptions == 0)))
                sum = crossed;
            if (sum) {
                sum->lanes &= token->lanes;
                auto shared = std::make_shared<const Wide>(*sum);
                Value high = d.high_of(shared);
                link_low(m, token->sum_version, shared);
                return high;
            }
        }
        const bool alike = d.is_common(a, d.scope()) && d.is_common(b, d.scope());
        const bool carry_alike = carry_register.carry && d.is_common(*carry_register.carry->left, d.scope()) &&
                                 d.is_common(*carry_register.carry->right, d.scope());
        return alike && carry_alike ? d.common(reason) : d.unknown(reason);
    }

    // The register that holds the low half of a sum learns what it is a half of.
    static void link_low(Machine& m, uint64_t version, const std::shared_ptr<const Wide>& wide) {
        for (Value& value : m.registers_) {
            if (value.version != version || value.version == 0) continue;
            value.wide = wide;
            value.is_high_half = false;
            value.link_lanes = wide->lanes & m.domain_.scope();
        }
    }

    template <bool Subtracts, bool Reversed = false>
    static void add_ci(Machine& m, const Instruction& i) {  // d, carry out, a, b, carry in
        if (i.operands.size() < 5 || i.operands[4].kind != Operand::Kind::register_)
            return m.write_all(i, not_evaluated(m));
        Value a = m.source(i, 2), b = m.source(i, 3);
        if (Reversed) std::swap(a, b);
        const Value carry_register = m.value(i.operands[4].number);
        const Active lanes = m.lanes_of(i.operands[4].number, m.start_.lane_count == kLanes);
        Value bits;
        bits.reason = carry_register.reason;
        bits.lanes = ~(lanes.maybe & ~lanes.surely);
        for (unsigned lane = 0; lane < kLanes; ++lane) bits.lane[lane] = lanes.surely >> lane & 1;
        Value high = high_sum(m, a, b, carry_register, bits, Subtracts);
        m.write_mask(i.operands[1], 0, ~m.active().maybe, not_evaluated(m));
        set(m, i, std::move(high));
    }

    template <bool Subtracts, bool Signed>
    static void s_add(Machine& m, const Instruction& i) {
        const Value a = m.source(i, 1), b = m.source(i, 2);
        Value carry;
        Value sum = low_sum(m, a, b, Subtracts, carry, m.domain_.reason_of({&a, &b}, m.domain_.scope()));
        const bool is_plain = (carry.lanes & 1) != 0;
        bool flag = is_plain && carry.lane[0] != 0;
        if (Signed && is_plain) {
            const int64_t x = static_cast<int32_t>(a.lane[0]), y = static_cast<int32_t>(b.lane[0]);
            const int64_t exact = Subtracts ? x - y : x + y;
            flag = exact != static_cast<int32_t>(exact);
        }
        m.write_scc(is_plain ? (flag ? 1 : 0) : -1, carry.reason);
        if (!Signed) m.registers_[isa::scc].carry = carry.carry;
        set(m, i, std::move(sum));
    }

    template <bool Subtracts>
    static void s_addc(Machine& m, const Instruction& i) {
        const Value a = m.source(i, 1), b = m.source(i, 2);
        const Value scc = m.value(isa::scc);
        Value bits = scc;
        if (scc.condition != 0) bits.lanes = 0;
        Value high = high_sum(m, a, b, scc, bits, Subtracts);
        if ((high.lanes & m.domain_.all()) == 0 && high.base == 0) {  // scalars are the same in all lanes
            Value common = m.domain_.common(high.reason);
            common.wide = high.wide;
            common.is_high_half = high.is_high_half;
            common.link_lanes = high.link_lanes;
            high = std::move(common);
        }
        m.write_scc(-1, not_evaluated(m));
        set(m, i, std::move(high));
    }

    // ---- conditions ----------------------------------------------------------------------------------------------

    static void cndmask(Machine& m, const Instruction& i) {  // d, false, true, mask
        Domain& d = m.domain_;
        const Value no = m.source(i, 1), yes = m.source(i, 2);
        Active mask;
        uint32_t condition = 0;
        const bool has_operand = i.operands.size() > 3;
        if (has_operand && i.operands[3].kind == Operand::Kind::number) {
            mask.surely = mask.maybe = i.operands[3].literal == 0                          ? 0
                                       : static_cast<int32_t>(i.operands[3].literal) == -1 ? d.all()
                                                                                           : 0;
            if (mask.surely == 0 && i.operands[3].literal != 0) return m.write_all(i, not_evaluated(m));
        } else if (has_operand && i.operands[3].kind != Operand::Kind::register_) {
            return m.write_all(i, not_evaluated(m));
        } else {
            const uint16_t number = has_operand ? i.operands[3].number : uint16_t{isa::vcc_lo};
            mask = m.lanes_of(number, m.start_.lane_count == kLanes);
            condition = m.value(number).condition;
        }
        const Lanes scope = d.scope();
        const Lanes chosen = mask.surely & scope, open = mask.maybe & ~mask.surely & scope;
        if (open == 0 && chosen == 0) return set(m, i, no);
        if (open == 0 && chosen == scope) return set(m, i, yes);
        Value result;
        result.reason = {ReasonKind::mask, m.row_};
        if (open == 0) result.reason = d.reason_of({&no, &yes}, scope);
        if (no.base == yes.base) {
            result.base = no.base;
            for (unsigned lane = 0; lane < kLanes; ++lane) {
                const Lanes bit = bit_of(lane);
                const Value& from = (chosen & bit) != 0 ? yes : no;
                const bool is_same = (no.lanes & yes.lanes & bit) != 0 && no.lane[lane] == yes.lane[lane];
                if ((open & bit) != 0 && !is_same) continue;
                result.lane[lane] = from.lane[lane];
                result.lanes |= from.lanes & bit;
            }
        } else if (open == 0) {  // one base only: the lanes that were chosen
            const bool take_yes = std::popcount(chosen) * 2 >= std::popcount(scope);
            const Value& from = take_yes ? yes : no;
            result.base = from.base;
            result.lane = from.lane;
            result.lanes = from.lanes & (take_yes ? chosen : scope & ~chosen);
        }
        // A choice that all lanes make alike, between numbers that all lanes have in common.
        if (open == scope && condition != 0 && d.is_common(no, scope) && d.is_common(yes, scope) &&
            (scope & ~result.lanes) != 0)
            return set(m, i, d.common(d.reason_of({&no, &yes}, scope)));
        set(m, i, d.stamped(std::move(result)));
    }

    enum class Order : uint8_t { f, lt, eq, le, gt, ne, ge, t };

    static bool holds(Order order, int sign) {
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
    static int sign_of(Number a, Number b) {
        return a < b ? -1 : a > b ? 1 : 0;
    }

    // Outcome in one lane; -1 = not certain.
    template <class Number>
    static int compare_lane(Domain& d, Order order, const Value& a, const Value& b, unsigned lane) {
        if ((a.lanes & b.lanes & bit_of(lane)) == 0) return -1;
        if (a.base == b.base && (a.base == 0 || order == Order::eq || order == Order::ne))
            return holds(order, sign_of(static_cast<Number>(a.lane[lane]), static_cast<Number>(b.lane[lane])));
        // Ranges: numbers up to the highest of their bases, where nothing wraps.
        const auto range = [&](const Value& value, int64_t& least, int64_t& most) {
            least = most =
                std::is_signed_v<Number> ? int64_t{static_cast<int32_t>(value.lane[lane])} : int64_t{value.lane[lane]};
            if (value.base == 0) return true;
            const uint64_t highest = d.base(value.base).highest;
            if (highest > UINT32_MAX || least < 0) return false;
            most += static_cast<int64_t>(highest);
            return most <= (std::is_signed_v<Number> ? int64_t{INT32_MAX} : int64_t{UINT32_MAX});
        };
        int64_t a_least, a_most, b_least, b_most;
        if (!range(a, a_least, a_most) || !range(b, b_least, b_most)) return -1;
        if (a_most < b_least) return holds(order, -1);
        if (a_least > b_most) return holds(order, 1);
        if (a_most == b_least && (order == Order::le || order == Order::gt)) return order == Order::le;
        if (a_least == b_most && (order == Order::ge || order == Order::lt)) return order == Order::ge;
        return -1;
    }

    static int compare_float(Order order, const Value& a, const Value& b, unsigned lane) {
        if ((a.lanes & b.lanes & bit_of(lane)) == 0 || a.base != 0 || b.base != 0) return -1;
        const float x = as_float(a.lane[lane]), y = as_float(b.lane[lane]);
        if (std::isnan(x) || std::isnan(y)) return -1;
        return holds(order, x < y ? -1 : x > y ? 1 : 0);
    }

    static int compare_wide_lane(Order order, bool is_signed, const Wide& a, const Wide& b, unsigned lane) {
        if ((a.lanes & b.lanes & bit_of(lane)) == 0) return -1;
        if (a.base != b.base || (a.base != 0 && order != Order::eq && order != Order::ne)) return -1;
        return holds(order, is_signed
                                ? sign_of(a.lane[lane], b.lane[lane])
                                : sign_of(static_cast<uint64_t>(a.lane[lane]), static_cast<uint64_t>(b.lane[lane])));
    }

    struct Comparison {
        Order order;
        bool is_signed, is_wide;
        bool is_half = false, is_float = false;
    };

    static std::optional<Comparison> comparison(std::string_view words) {  // "lt_u32"
        static constexpr std::pair<std::string_view, Order> kOrders[] = {
            {"f", Order::f},   {"lt", Order::lt}, {"eq", Order::eq}, {"le", Order::le}, {"gt", Order::gt},
            {"ne", Order::ne}, {"lg", Order::ne}, {"ge", Order::ge}, {"t", Order::t}};
        const size_t line = words.find('_');
        if (line == std::string_view::npos) return std::nullopt;
        const std::string_view type = words.substr(line + 1);
        if (type != "u32" && type != "i32" && type != "u64" && type != "i64" && type != "u16" && type != "i16" &&
            type != "f32")
            return std::nullopt;
        for (const auto& [name, order] : kOrders)
            if (words.substr(0, line) == name)
                return Comparison{order, type[0] == 'i', type.ends_with("64"), type.ends_with("16"), type == "f32"};
        return std::nullopt;
    }

    static void v_cmp(Machine& m, const Instruction& i) {
        const bool writes_exec = i.mnemonic.starts_with("v_cmpx_");
        const auto how = comparison(std::string_view(i.mnemonic).substr(writes_exec ? 7 : 6));
        Domain& d = m.domain_;
        // d, a, b; gfx10 and later name no result where it is EXEC, and v_cmp_..._e32 names vcc.
        const size_t first = i.operands.size() >= 3 ? 1 : 0;
        if (!how || i.operands.size() < first + 2) return m.write_all(i, not_evaluated(m));
        Operand to;
        to.kind = Operand::Kind::register_;
        to.number = isa::exec_lo;
        const Active active = m.active();
        Lanes bits = 0, certain = ~active.maybe;
        Reason reason;
        bool alike = false;
        if (how->is_wide) {
            const auto a = m.wide_source(i, first), b = m.wide_source(i, first + 1);
            reason = wide_reason(m, i);
            for (unsigned lane = 0; lane < kLanes && a && b; ++lane) {
                const int outcome = compare_wide_lane(how->order, how->is_signed, *a, *b, lane);
                add_lane(active, lane, outcome, bits, certain);
            }
            alike = a && b && d.is_common(*a, active.maybe) && d.is_common(*b, active.maybe);
        } else {
            Value a = m.source(i, first), b = m.source(i, first + 1);
            if (how->is_half) {
                a = d.low_16(a);
                b = d.low_16(b);
                if (how->is_signed) {
                    a = plain_unary<sext16>(d, a);
                    b = plain_unary<sext16>(d, b);
                }
            }
            reason = d.reason_of({&a, &b}, d.scope());
            for (unsigned lane = 0; lane < kLanes; ++lane) {
                const int outcome = how->is_float    ? compare_float(how->order, a, b, lane)
                                    : how->is_signed ? compare_lane<int32_t>(d, how->order, a, b, lane)
                                                     : compare_lane<uint32_t>(d, how->order, a, b, lane);
                add_lane(active, lane, outcome, bits, certain);
            }
            alike = d.is_common(a, active.maybe) && d.is_common(b, active.maybe);
        }
        const auto write = [&](const Operand& operand) {
            if (alike && active.is_certain() && (active.maybe & ~certain) == active.maybe && active.maybe != 0)
                m.write_choice(operand, active.maybe, d.new_condition());
            else
                m.write_mask(operand, bits, certain, reason);
        };
        if (first == 1) write(i.operands[0]);
        if (writes_exec && (first == 0 || i.operands[0].number != isa::exec_lo)) {
            if (first == 1) {  // gfx9 writes both: one condition
                const unsigned halves = m.start_.lane_count == kLanes ? 2 : 1;
                for (unsigned half = 0; half < halves; ++half) {
                    Value value = m.value(static_cast<uint16_t>(i.operands[0].number + half));
                    m.write(static_cast<uint16_t>(isa::exec_lo + half), std::move(value));
                }
            } else {
                write(to);
            }
        }
    }

    static void add_lane(const Active& active, unsigned lane, int outcome, Lanes& bits, Lanes& certain) {
        const Lanes bit = bit_of(lane);
        if (outcome < 0 || (active.maybe & bit) == 0) return;
        if (outcome == 0) {
            certain |= bit;  // not set, active or not
        } else if ((active.surely & bit) != 0) {
            certain |= bit;
            bits |= bit;
        }
    }

    static void s_cmp(Machine& m, const Instruction& i) {
        const bool is_short = i.mnemonic.starts_with("s_cmpk_");
        const auto how = comparison(std::string_view(i.mnemonic).substr(is_short ? 7 : 6));
        if (!how || how->is_half || how->is_float || i.operands.size() < 2) return m.write_all(i, not_evaluated(m));
        Domain& d = m.domain_;
        if (how->is_wide) {
            const auto a = m.wide_source(i, 0), b = m.wide_source(i, 1);
            m.write_scc(a && b ? compare_wide_lane(how->order, how->is_signed, *a, *b, 0) : -1, wide_reason(m, i));
            return;
        }
        Value a = m.source(i, 0), b = m.source(i, 1);
        if (is_short) b = d.constant(how->is_signed ? sext16(b.lane[0]) : b.lane[0] & 0xFFFF);
        m.write_scc(how->is_signed ? compare_lane<int32_t>(d, how->order, a, b, 0)
                                   : compare_lane<uint32_t>(d, how->order, a, b, 0),
                    d.reason_of({&a, &b}, d.scope()));
    }

    static Value choose(Machine& m, const Value& yes_given, const Value& no_given) {
        Domain& d = m.domain_;
        const Value scc = m.value(isa::scc), yes = d.settled(yes_given), no = d.settled(no_given);
        if (scc.condition == 0 && scc.base == 0 && scc.lanes != 0) return scc.lane[0] != 0 ? yes : no;
        const bool plain = yes.base == 0 && no.base == 0 && yes.lanes != 0 && no.lanes != 0;
        Value result = d.common(d.reason_of(scc));
        if (scc.condition != 0 && plain) {
            result.condition = scc.condition;
            for (size_t each = 0; each < 2; ++each)
                result.either[each] = scc.either[each] != 0 ? yes.lane[0] : no.lane[0];
            if (result.either[0] == result.either[1]) return d.constant(result.either[0]);
        }
        return result;
    }

    static void cselect_b32(Machine& m, const Instruction& i) { set(m, i, choose(m, m.source(i, 1), m.source(i, 2))); }

    static void cselect_b64(Machine& m, const Instruction& i) {
        if (i.operands.size() < 3) return m.write_all(i, not_evaluated(m));
        Value low = choose(m, m.mask_half(i.operands[1], 0), m.mask_half(i.operands[2], 0));
        Value high = choose(m, m.mask_half(i.operands[1], 1), m.mask_half(i.operands[2], 1));
        m.write(i.operands[0], 0, std::move(low));
        m.write(i.operands[0], 1, std::move(high));
    }

    template <auto Function>
    static void logic_b64(Machine& m, const Instruction& i) {
        if (i.operands.size() < 3 || i.operands[0].kind != Operand::Kind::register_)
            return m.write_all(i, not_evaluated(m));
        Value low = Function(m.domain_, m.mask_half(i.operands[1], 0), m.mask_half(i.operands[2], 0));
        Value high = Function(m.domain_, m.mask_half(i.operands[1], 1), m.mask_half(i.operands[2], 1));
        m.write_scc_nonzero(low, high);
        m.write(i.operands[0], 0, std::move(low));
        m.write(i.operands[0], 1, std::move(high));
    }

    static void not_b64(Machine& m, const Instruction& i) {
        if (i.operands.size() < 2 || i.operands[0].kind != Operand::Kind::register_)
            return m.write_all(i, not_evaluated(m));
        Value low = not_(m.domain_, m.mask_half(i.operands[1], 0)),
              high = not_(m.domain_, m.mask_half(i.operands[1], 1));
        m.write_scc_nonzero(low, high);
        m.write(i.operands[0], 0, std::move(low));
        m.write(i.operands[0], 1, std::move(high));
    }

    // d = EXEC; EXEC = function of the source and EXEC.
    template <auto Function, bool Wide>
    static void saveexec(Machine& m, const Instruction& i) {
        if (i.operands.size() < 2 || i.operands[0].kind != Operand::Kind::register_)
            return m.write_all(i, not_evaluated(m));
        std::array<Value, 2> old, changed;
        for (unsigned half = 0; half < (Wide ? 2U : 1U); ++half) {
            old[half] = m.value(static_cast<uint16_t>(isa::exec_lo + half));
            changed[half] = Function(m.domain_, m.mask_half(i.operands[1], half), old[half]);
        }
        if (!Wide) changed[1] = m.domain_.constant(0);
        m.write_scc_nonzero(changed[0], changed[1]);
        for (unsigned half = 0; half < (Wide ? 2U : 1U); ++half) {
            m.write(i.operands[0], half, old[half]);
            m.write(static_cast<uint16_t>(isa::exec_lo + half), changed[half]);
        }
    }
    static Value n2and(Domain& d, const Value& a, const Value& b) { return and_(d, not_(d, a), b); }

    // ---- scalars with forms of their own -------------------------------------------------------------------------

    static void movk(Machine& m, const Instruction& i) {
        set(m, i, m.domain_.constant(sext16(m.source(i, 1).lane[0])));
    }
    static void addk(Machine& m, const Instruction& i) {
        Value sum = m.domain_.add(m.source(i, 0), m.domain_.constant(sext16(m.source(i, 1).lane[0])));
        m.write_scc(-1, not_evaluated(m));
        set(m, i, std::move(sum));
    }
    static void mulk(Machine& m, const Instruction& i) {
        set(m, i, m.domain_.multiply(m.source(i, 0), m.domain_.constant(sext16(m.source(i, 1).lane[0]))));
    }
    template <bool One>
    static void bitset(Machine& m, const Instruction& i) {
        Domain& d = m.domain_;
        const Value which = m.source(i, 1);
        if (!d.is_plain(which, d.scope())) return m.write_all(i, d.reason_of(which));
        const uint32_t bit = 1U << (which.lane[0] & 31);
        set(m, i, One ? or_(d, m.source(i, 0), d.constant(bit)) : and_(d, m.source(i, 0), d.constant(~bit)));
    }
    template <bool Signed>
    static void s_bfe(Machine& m, const Instruction& i) {  // offset in bits 4:0, width in bits 22:16
        Domain& d = m.domain_;
        const Value how = m.source(i, 2);
        if (!d.is_plain(how, d.scope())) return m.write_all(i, d.reason_of(how));
        const unsigned width = how.lane[0] >> 16 & 0x7F;
        const Value from = m.source(i, 1);
        Value result = width == 0    ? d.constant(0)
                       : width >= 32 ? d.shift_right(from, d.constant(how.lane[0] & 31), Signed)
                                     : field(d, from, d.constant(how.lane[0] & 31), d.constant(width), Signed);
        m.write_scc_nonzero(result);
        set(m, i, std::move(result));
    }
    template <unsigned Count>
    static void lshl_n_add(Machine& m, const Instruction& i) {
        Domain& d = m.domain_;
        Value sum = d.add(d.shift_left(m.source(i, 1), d.constant(Count)), m.source(i, 2));
        m.write_scc(-1, not_evaluated(m));
        set(m, i, std::move(sum));
    }
    template <auto Function>
    static void s_choice(Machine& m, const Instruction& i) {  // min, max: SCC says which
        Value result = Function(m.domain_, m.source(i, 1), m.source(i, 2));
        m.write_scc(-1, not_evaluated(m));
        set(m, i, std::move(result));
    }
    template <auto Function>
    static void s_plain(Machine& m, const Instruction& i) {  // leaves SCC alone
        set(m, i, Function(m.domain_, m.source(i, 1), m.source(i, 2)));
    }
    static void bcnt1_b64(Machine& m, const Instruction& i) {
        if (i.operands.size() < 2 || i.operands[1].kind != Operand::Kind::register_)
            return m.write_all(i, not_evaluated(m));
        const Active lanes = m.lanes_of(i.operands[1].number, true);
        Value result = lanes.is_certain() && m.start_.lane_count == kLanes
                           ? m.domain_.constant(static_cast<uint32_t>(std::popcount(lanes.surely)))
                           : m.domain_.common({ReasonKind::mask, m.row_}, 0, 64);
        m.write_scc_nonzero(result);
        set(m, i, std::move(result));
    }
    static void cmov_b32(Machine& m, const Instruction& i) { set(m, i, choose(m, m.source(i, 1), m.source(i, 0))); }
    static void indexing_on(Machine& m, const Instruction& i) {
        m.is_indexing_ = true;
        m.write_all(i, not_evaluated(m));
    }
    static void indexing_off(Machine& m, const Instruction&) { m.is_indexing_ = false; }

    // ---- 16 bits: plain numbers only -----------------------------------------------------------------------------

    // Which half of an operand a half of the result takes: `op_sel` for the low one, `op_sel_hi` for the high one.
    static bool takes_high(const Instruction& i, std::string_view list, size_t operand, bool otherwise) {
        const auto text = i.word(list);
        const size_t at = 1 + 2 * (operand - 1);  // "[0,1]"
        return text && at < text->size() ? (*text)[at] == '1' : otherwise;
    }

    template <uint32_t (*Function)(uint32_t, uint32_t, uint32_t)>
    static void packed(Machine& m, const Instruction& i) {
        if (i.operands.size() < 3) return m.write_all(i, not_evaluated(m));
        const Value a = m.source(i, 1), b = m.source(i, 2);
        unsigned shift[2][3] = {};
        for (size_t operand = 1; operand < 3; ++operand) {
            shift[0][operand] = takes_high(i, "op_sel", operand, false) ? 16 : 0;
            shift[1][operand] = takes_high(i, "op_sel_hi", operand, true) ? 16 : 0;
            // Literals have two halves; what the high half of an inline number is differs between generations.
            if (i.operands[operand].kind == Operand::Kind::number && i.operands[operand].is_inline &&
                (shift[0][operand] | shift[1][operand]) != 0)
                return m.write_all(i, not_evaluated(m));
        }
        set(m, i,
            m.domain_.lanewise(
                [&](unsigned lane) {
                    uint32_t result = 0;
                    for (unsigned half = 0; half < 2; ++half)
                        result |= (Function(a.lane[lane] >> shift[half][1] & 0xFFFF,
                                            b.lane[lane] >> shift[half][2] & 0xFFFF, 0) &
                                   0xFFFF)
                                  << 16 * half;
                    return result;
                },
                {&a, &b}));
    }

    static void packed_mad(Machine& m, const Instruction& i) {
        if (i.operands.size() < 4) return m.write_all(i, not_evaluated(m));
        std::array<Value, 3> sources;
        unsigned shift[2][3];
        for (size_t operand = 1; operand < 4; ++operand) {
            sources[operand - 1] = m.source(i, operand);
            shift[0][operand - 1] = takes_high(i, "op_sel", operand, false) ? 16 : 0;
            shift[1][operand - 1] = takes_high(i, "op_sel_hi", operand, true) ? 16 : 0;
            // Literals have two halves; of inline numbers only the low one is the same in all generations.
            const Operand& each = i.operands[operand];
            const bool is_small = each.kind == Operand::Kind::number && each.is_inline;
            if (is_small && each.literal != 0 && (shift[0][operand - 1] | shift[1][operand - 1]) != 0 &&
                static_cast<int32_t>(each.literal) > 0)
                return m.write_all(i, not_evaluated(m));
        }
        const Value &a = sources[0], &b = sources[1], &c = sources[2];
        set(m, i,
            m.domain_.lanewise(
                [&](unsigned lane) {
                    uint32_t result = 0;
                    for (unsigned half = 0; half < 2; ++half) {
                        const uint32_t x = a.lane[lane] >> shift[half][0] & 0xFFFF,
                                       y = b.lane[lane] >> shift[half][1] & 0xFFFF,
                                       z = c.lane[lane] >> shift[half][2] & 0xFFFF;
                        result |= ((x * y + z) & 0xFFFF) << 16 * half;
                    }
                    return result;
                },
                {&a, &b, &c}));
    }

    // d.low = a.dword[op_sel[0]], d.high = b.dword[op_sel[1]].
    static void packed_mov(Machine& m, const Instruction& i) {
        const bool is_plain = i.operands.size() == 3 && i.operands[0].kind == Operand::Kind::register_ &&
                              i.operands[1].kind == Operand::Kind::register_ && i.operands[1].count == 2 &&
                              i.operands[2].kind == Operand::Kind::register_ && i.operands[2].count == 2;
        if (!is_plain) return m.write_all(i, not_evaluated(m));
        Value low = m.value(static_cast<uint16_t>(i.operands[1].number + (takes_high(i, "op_sel", 1, false) ? 1 : 0)));
        Value high = m.value(static_cast<uint16_t>(i.operands[2].number + (takes_high(i, "op_sel", 2, false) ? 1 : 0)));
        m.write(i.operands[0], 0, std::move(low));
        m.write(i.operands[0], 1, std::move(high));
    }

    static void ctz_b64(Machine& m, const Instruction& i) {
        const auto number = m.wide_source(i, 1);
        if (!number || number->base != 0 || number->lanes == 0) return m.write_all(i, wide_reason(m, i));
        const auto bits = static_cast<uint64_t>(number->lane[0]);
        set(m, i, m.domain_.constant(bits == 0 ? UINT32_MAX : static_cast<uint32_t>(std::countr_zero(bits))));
    }

    template <bool Zero>
    static void bitcmp(Machine& m, const Instruction& i) {
        const Value a = m.source(i, 0), b = m.source(i, 1);
        const Domain& d = m.domain_;
        const bool is_plain = d.is_plain(a, 1) && d.is_plain(b, 1);
        const bool is_set = is_plain && (a.lane[0] >> (b.lane[0] & 31) & 1) != 0;
        m.write_scc(is_plain ? is_set != Zero : -1, d.reason_of({&a, &b}, 1));
    }

    static const std::unordered_map<std::string_view, Handler>& table();
};

const std::unordered_map<std::string_view, Operations::Handler>& Operations::table() {
    static const std::unordered_map<std::string_view, Handler> kTable = {
        // vector: moves
        {"v_mov_b32", unary<copy>},
        {"v_accvgpr_read_b32", unary<copy>},
        {"v_accvgpr_write_b32", unary<copy>},
        {"v_accvgpr_mov_b32", unary<copy>},
        {"v_accvgpr_read", unary<copy>},
        {"v_accvgpr_write", unary<copy>},
        {"v_mov_b64", mov_b64},
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
        // vector: 32 bits
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
        {"v_cndmask_b32", cndmask},
        {"v_bcnt_u32_b32", binary<bit_count_add>},
        {"v_mul_hi_i32_i24", binary<plain<int32_t, high_i24>>},
        // floats
        {"v_cvt_f32_u32", unary<plain_unary<float_of_unsigned>>},
        {"v_cvt_f32_i32", unary<plain_unary<float_of_signed>>},
        {"v_cvt_f32_ubyte0", unary<plain_unary<float_of_byte>>},
        {"v_cvt_u32_f32", unary<plain_unary<unsigned_of_float>>},
        {"v_cvt_i32_f32", unary<plain_unary<signed_of_float>>},
        {"v_trunc_f32", unary<plain_unary<truncated>>},
        {"v_mul_f32", binary<plain<uint32_t, float_product>>},
        {"v_fma_f32", ternary<float_fma>},
        {"v_mad_f32", ternary<float_mad>},
        {"v_rcp_iflag_f32", reciprocal},
        {"v_rcp_f32", reciprocal},
        {"s_cvt_f32_u32", unary<plain_unary<float_of_unsigned>>},
        {"s_cvt_f32_i32", unary<plain_unary<float_of_signed>>},
        {"s_cvt_u32_f32", unary<plain_unary<unsigned_of_float>>},
        {"s_mul_f32", s_plain<plain<uint32_t, float_product>>},
        {"v_s_rcp_f32", reciprocal},
        // vector: 16 bits
        {"v_mov_b16", unary<copy>},
        {"v_add_u16", half<half_sum, 2>},
        {"v_add_nc_u16", half<half_sum, 2>},
        {"v_sub_u16", half<half_difference, 2>},
        {"v_sub_nc_u16", half<half_difference, 2>},
        {"v_subrev_u16", half<half_reverse, 2>},
        {"v_mul_lo_u16", half<half_product, 2>},
        {"v_mad_u16", half<half_mad, 3>},
        {"v_mad_legacy_u16", half<half_mad, 3>},
        {"v_lshlrev_b16", half<half_shlrev, 2>},
        {"v_lshrrev_b16", half<half_shrrev, 2>},
        {"v_and_b16", half<half_and, 2>},
        {"v_or_b16", half<half_or, 2>},
        {"v_xor_b16", half<half_xor, 2>},
        {"v_min_u16", half<half_min, 2>},
        {"v_max_u16", half<half_max, 2>},
        {"v_pk_mad_u16", packed_mad},
        {"v_pk_mov_b32", packed_mov},
        // vector: 16 bits, both halves
        {"v_pk_add_u16", packed<half_sum>},
        {"v_pk_sub_u16", packed<half_difference>},
        {"v_pk_mul_lo_u16", packed<half_product>},
        {"v_pk_lshlrev_b16", packed<half_shlrev>},
        {"v_pk_lshrrev_b16", packed<half_shrrev>},
        // vector: carries and 64 bits
        {"v_add_co_u32", add_co<false>},
        {"v_sub_co_u32", add_co<true>},
        {"v_subrev_co_u32", add_co<true, true>},
        {"v_addc_co_u32", add_ci<false>},
        {"v_add_co_ci_u32", add_ci<false>},
        {"v_subb_co_u32", add_ci<true>},
        {"v_sub_co_ci_u32", add_ci<true>},
        {"v_subbrev_co_u32", add_ci<true, true>},
        {"v_subrev_co_ci_u32", add_ci<true, true>},
        {"v_lshlrev_b64", lshlrev_b64},
        {"v_lshrrev_b64", lshrrev_b64},
        {"v_ashrrev_i64", ashrrev_i64},
        {"v_lshl_add_u64", lshl_add_u64},
        {"v_add_nc_u64", add_u64},
        {"v_sub_nc_u64", sub_u64},
        {"v_mul_u64", mul_u64},
        {"v_mad_u64_u32", mad_64_32<false>},
        {"v_mad_co_u64_u32", mad_64_32<false>},
        {"v_mad_i64_i32", mad_64_32<true>},
        {"v_mad_co_i64_i32", mad_64_32<true>},
        // scalar
        {"s_mov_b32", unary<copy>},
        {"s_mov_b64", mov_b64},
        {"s_movk_i32", movk},
        {"s_cmov_b32", cmov_b32},
        {"s_addk_i32", addk},
        {"s_addk_co_i32", addk},
        {"s_mulk_i32", mulk},
        {"s_not_b32", scalar_unary<not_>},
        {"s_not_b64", not_b64},
        {"s_brev_b32", unary<plain_unary<reversed>>},
        {"s_ff1_i32_b32", unary<plain_unary<first_one_low>>},
        {"s_ctz_i32_b32", unary<plain_unary<first_one_low>>},
        {"s_flbit_i32_b32", unary<plain_unary<first_one_high>>},
        {"s_clz_i32_u32", unary<plain_unary<first_one_high>>},
        {"s_bcnt1_i32_b32", scalar_unary<plain_unary<bit_count>>},
        {"s_bcnt1_i32_b64", bcnt1_b64},
        {"s_ff1_i32_b64", ctz_b64},
        {"s_ctz_i32_b64", ctz_b64},
        {"s_bitcmp0_b32", bitcmp<true>},
        {"s_bitcmp1_b32", bitcmp<false>},
        {"s_sext_i32_i8", unary<plain_unary<sext8>>},
        {"s_sext_i32_i16", unary<plain_unary<sext16>>},
        {"s_abs_i32", scalar_unary<plain_unary<absolute>>},
        {"s_absdiff_i32", scalar_binary<plain<uint32_t, distance>>},
        {"s_bitset0_b32", bitset<false>},
        {"s_bitset1_b32", bitset<true>},
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
        {"s_add_nc_u64", add_u64},
        {"s_add_u64", add_u64},
        {"s_sub_nc_u64", sub_u64},
        {"s_sub_u64", sub_u64},
        {"s_mul_u64", mul_u64},
        {"s_mul_i32", s_plain<mul>},
        {"s_mul_hi_u32", s_plain<plain<uint32_t, high_u>>},
        {"s_mul_hi_i32", s_plain<plain<int32_t, high_i>>},
        {"s_bfm_b32", s_plain<plain<uint32_t, field_mask>>},
        {"s_pack_ll_b32_b16", s_plain<plain<uint32_t, pack_ll>>},
        {"s_pack_lh_b32_b16", s_plain<plain<uint32_t, pack_lh>>},
        {"s_pack_hh_b32_b16", s_plain<plain<uint32_t, pack_hh>>},
        {"s_pack_hl_b32_b16", s_plain<plain<uint32_t, pack_hl>>},
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
        {"s_and_b64", logic_b64<and_>},
        {"s_or_b64", logic_b64<or_>},
        {"s_xor_b64", logic_b64<xor_>},
        {"s_andn2_b64", logic_b64<andn2>},
        {"s_and_not1_b64", logic_b64<andn2>},
        {"s_orn2_b64", logic_b64<orn2>},
        {"s_or_not1_b64", logic_b64<orn2>},
        {"s_nand_b64", logic_b64<nand>},
        {"s_nor_b64", logic_b64<nor>},
        {"s_xnor_b64", logic_b64<xnor>},
        {"s_lshl_b64", lshl_b64},
        {"s_lshr_b64", lshr_b64},
        {"s_ashr_i64", ashr_i64},
        {"s_cselect_b32", cselect_b32},
        {"s_cselect_b64", cselect_b64},
        {"s_and_saveexec_b64", saveexec<and_, true>},
        {"s_or_saveexec_b64", saveexec<or_, true>},
        {"s_xor_saveexec_b64", saveexec<xor_, true>},
        {"s_andn2_saveexec_b64", saveexec<andn2, true>},
        {"s_and_not1_saveexec_b64", saveexec<andn2, true>},
        {"s_andn1_saveexec_b64", saveexec<n2and, true>},
        {"s_and_not0_saveexec_b64", saveexec<n2and, true>},
        {"s_and_saveexec_b32", saveexec<and_, false>},
        {"s_or_saveexec_b32", saveexec<or_, false>},
        {"s_xor_saveexec_b32", saveexec<xor_, false>},
        {"s_andn2_saveexec_b32", saveexec<andn2, false>},
        {"s_and_not1_saveexec_b32", saveexec<andn2, false>},
        {"s_andn1_saveexec_b32", saveexec<n2and, false>},
        {"s_and_not0_saveexec_b32", saveexec<n2and, false>},
        {"s_set_gpr_idx_on", indexing_on},
        {"s_set_gpr_idx_off", indexing_off},
    };
    return kTable;
}

bool has_handler(std::string_view mnemonic) {
    return Operations::table().contains(mnemonic) ||
           ((mnemonic.starts_with("v_cmp_") || mnemonic.starts_with("v_cmpx_")) &&
            Operations::comparison(mnemonic.substr(mnemonic.starts_with("v_cmpx_") ? 7 : 6))) ||
           ((mnemonic.starts_with("s_cmp_") || mnemonic.starts_with("s_cmpk_")) &&
            Operations::comparison(mnemonic.substr(mnemonic.starts_with("s_cmpk_") ? 7 : 6)));
}

// Takes the first source from other lanes; lanes that have none keep their old result, or get 0.
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

void prepare(Instruction& instruction) {
    const std::string_view name = instruction.mnemonic;
    instruction.is_scalar = (instruction.facts & isa::is_valu) == 0 && !name.starts_with("ds_");
    instruction.chooses_registers = name.find("movrel") != std::string_view::npos;
    const bool is_packed = name.starts_with("v_pk_");
    instruction.is_float = name.find("_f32") != std::string_view::npos;
    const bool names_halves = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                          [](const Operand& each) { return each.half != 0; });
    // Carries and masks have their sources elsewhere.
    const bool is_odd =
        (instruction.move.is_there || instruction.has_sdwa) &&
        (name.find("_co_") != std::string_view::npos || (instruction.move.is_there && name.starts_with("v_cmp")));
    if (instruction.operands.empty() || is_odd || instruction.has("byte_sel") || instruction.has("mul") ||
        instruction.has("div") || (instruction.has("op_sel") && !is_packed && !names_halves))
        return;
    if (instruction.has("clamp")) {
        if (name == "v_sub_u32" || name == "v_sub_nc_u32") instruction.handler = &Operations::clamped<true>;
        if (name == "v_add_u32" || name == "v_add_nc_u32") instruction.handler = &Operations::clamped<false>;
        return;
    }
    if (const auto entry = Operations::table().find(name); entry != Operations::table().end())
        instruction.handler = entry->second;
    else if (has_handler(name))
        instruction.handler = name.starts_with("v_") ? &Operations::v_cmp : &Operations::s_cmp;
}

void Machine::run(const Instruction& instruction, int32_t row) {
    begin(row);
    const Reason reason{ReasonKind::not_evaluated, row};
    if (!instruction.is_understood) return write_all(instruction, reason);
    if (instruction.chooses_registers) return write_all({}, reason);
    domain_.set_scope(instruction.is_scalar ? domain_.all() : active().maybe);
    if (instruction.handler == nullptr || (instruction.move.is_there && !move_lanes(instruction))) {
        write_all(instruction, reason);
    } else {
        if (narrowed_) domain_.set_scope(narrowed_->maybe);
        instruction.handler(*this, instruction);
    }
    moved_.reset();
    narrowed_.reset();
    domain_.set_scope(domain_.all());
}

void Machine::run_both(const Instruction& one, const Instruction& other, int32_t row) {
    if (one.operands.empty() || one.operands.front().kind != Operand::Kind::register_) {
        run(one, row);
        return run(other, row);
    }
    const uint16_t number = one.operands.front().number;
    const Value before = registers_[number];
    run(one, row);
    Value after = registers_[number];
    registers_[number] = before;
    run(other, row);
    registers_[number] = std::move(after);
}

}  // namespace wavewright::evaluate
