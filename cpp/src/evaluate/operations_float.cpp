// The float instructions that compilers divide integers with. Other floats hardly ever reach an address.
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "operations.hpp"

namespace wavewright::evaluate::operations {
namespace {

float as_float(uint32_t bits) {
    return std::bit_cast<float>(bits);
}
uint32_t bits_of(float number) {
    return std::bit_cast<uint32_t>(number);
}
uint32_t float_of_unsigned(uint32_t a) {
    return bits_of(static_cast<float>(a));
}
uint32_t float_of_signed(uint32_t a) {
    return bits_of(static_cast<float>(static_cast<int32_t>(a)));
}
uint32_t float_of_byte(uint32_t a) {
    return bits_of(static_cast<float>(a & 0xFF));
}
uint32_t unsigned_of_float(uint32_t a) {
    const float number = as_float(a);
    if (!(number > 0.0F)) return 0;
    return number >= 4294967296.0F ? UINT32_MAX : static_cast<uint32_t>(number);
}

uint32_t signed_of_float(uint32_t a) {
    const float number = as_float(a);
    if (std::isnan(number)) return 0;
    if (number >= 2147483648.0F) return INT32_MAX;
    if (number < -2147483648.0F) return static_cast<uint32_t>(INT32_MIN);
    return static_cast<uint32_t>(static_cast<int32_t>(number));
}

uint32_t truncated(uint32_t a) {
    return bits_of(std::trunc(as_float(a)));
}
uint32_t float_product(uint32_t a, uint32_t b) {
    return bits_of(as_float(a) * as_float(b));
}
Value float_fma(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.lanewise(
        [&](unsigned lane) {
            return bits_of(std::fma(as_float(a.lane[lane]), as_float(b.lane[lane]), as_float(c.lane[lane])));
        },
        {&a, &b, &c});
}

Value float_mad(Domain& domain, const Value& a, const Value& b, const Value& c) {
    return domain.lanewise(
        [&](unsigned lane) {
            const float product = as_float(a.lane[lane]) * as_float(b.lane[lane]);
            return bits_of(product + as_float(c.lane[lane]));
        },
        {&a, &b, &c});
}

// The hardware's reciprocal is less than one unit in the last place off: it is one of the two floats around the true
// quotient. `rounding` says which: -1 the lower, 1 the higher in magnitude, 0 the nearer one.
void reciprocal(Machine& machine, const Instruction& instruction) {
    const Value a = machine.source(instruction, 1);
    Value result = machine.domain().lanewise(
        [&](unsigned lane) {
            const float number = as_float(a.lane[lane]), nearest = 1.0F / number;
            const double exact = 1.0 / static_cast<double>(number);
            if (machine.rounding() == 0 || !std::isnormal(nearest) || nearest == exact) return bits_of(nearest);
            const bool is_above = std::fabs(nearest) > std::fabs(exact), wants_above = machine.rounding() > 0;
            if (is_above == wants_above) return bits_of(nearest);
            return bits_of(std::nextafter(nearest, wants_above ? std::copysign(INFINITY, nearest) : 0.0F));
        },
        {&a});
    if (result.base == 0 && result.lanes != 0) machine.note_reciprocal();
    set(machine, instruction, std::move(result));
}

}  // namespace

std::span<const Operation> float_operations() {
    static constexpr Operation kOperations[] = {
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
        {"s_mul_f32", binary<plain<uint32_t, float_product>>},
        {"v_s_rcp_f32", reciprocal},
    };
    return kOperations;
}

}  // namespace wavewright::evaluate::operations
