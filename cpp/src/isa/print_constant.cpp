// Inline constants and literals. A literal that an inline constant could have said is written as lit(...), so that an
// assembler gives the same bytes again.
#include <algorithm>
#include <iterator>

#include "print.hpp"

namespace wavewright::isa {
namespace {

// The constants with codes from code::first_float on; the last one is 1 / (2 * pi).
constexpr std::string_view kFloatTexts[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"};
constexpr std::string_view kInversePi64 = "0.15915494309189532";
constexpr uint16_t kFloats16[] = {0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118};
constexpr uint16_t kBfloats16[] = {0x3F00, 0xBF00, 0x3F80, 0xBF80, 0x4000, 0xC000, 0x4080, 0xC080, 0x3E22};
constexpr uint32_t kFloats32[] = {0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000,
                                  0xC0000000, 0x40800000, 0xC0800000, 0x3E22F983};
constexpr uint64_t kFloats64[] = {0x3FE0000000000000, 0xBFE0000000000000, 0x3FF0000000000000,
                                  0xBFF0000000000000, 0x4000000000000000, 0xC000000000000000,
                                  0x4010000000000000, 0xC010000000000000, 0x3FC45F306DC9C882};

constexpr int kNoPlace = -1, kInversePi = 8;

// The place of a value among the nine, or kNoPlace.
template <class T, size_t Count>
int place_in(const T (&values)[Count], uint64_t value) {
    const auto at = std::ranges::find(values, value);
    return at == std::end(values) ? kNoPlace : static_cast<int>(at - std::begin(values));
}

constexpr int64_t kLargestSmall = 64;
constexpr uint32_t kSplat = 0x10001;  // times a number is a pair of it

bool is_small(int64_t value) {
    return value >= -16 && value <= kLargestSmall;
}

template <class T, size_t Count>
bool is_inline_16(uint64_t literal, const T (&floats)[Count]) {
    return is_small(static_cast<int16_t>(literal)) || place_in(floats, literal & 0xFFFF) >= 0;
}

// The place of a pair of equal floats; before gfx11 the upper one is 0.
int place_of_splat(uint32_t pair, unsigned generation) {
    const uint32_t low = pair & 0xFFFF;
    return pair >> 16 == (generation >= 11 ? low : 0) ? place_in(kFloats16, low) : kNoPlace;
}

// Whether an inline constant could have said a literal of an operand.
bool is_inlinable(uint64_t whole, Constant kind, unsigned generation) {
    const auto literal = static_cast<uint32_t>(whole);
    const bool is_integer = is_small(static_cast<int32_t>(literal));
    switch (kind) {
        case Constant::no_constant:
        case Constant::float_64:
        case Constant::pair_float_16_literal: return false;
        case Constant::integer_64: return is_small(static_cast<int64_t>(whole)) || place_in(kFloats64, whole) >= 0;
        case Constant::pair_float_16_splat:
            return is_integer || place_of_splat(literal, generation) >= 0 ||
                   (generation >= 11 && literal % kSplat == 0 && literal / kSplat <= kLargestSmall);
        case Constant::pair_bfloat_16: return is_integer || place_in(kBfloats16, literal) >= 0;
        case Constant::pair_float_16: return is_integer || place_in(kFloats16, literal) >= 0;
        case Constant::bfloat_16:
        case Constant::inline_pair_bfloat_16: return is_inline_16(literal, kBfloats16);
        case Constant::float_16:
        case Constant::inline_pair_float_16: return is_inline_16(literal, kFloats16);
        default: return is_integer || place_in(kFloats32, literal) >= 0;
    }
}

bool is_64_bits_wide(Constant kind) {
    return kind == Constant::float_64 || kind == Constant::integer_64;
}

}  // namespace

void Printer::number_or_hex(int64_t integer, int place, uint64_t bits) {
    if (is_small(integer)) {
        out_ << integer;
    } else if (place >= 0) {
        out_ << kFloatTexts[place];
    } else {
        out_.hex(bits);
    }
}

void Printer::plain_32(uint32_t value) {
    number_or_hex(static_cast<int32_t>(value), place_in(kFloats32, value), value);
}

void Printer::plain_64(uint64_t value, bool is_float) {
    const int place = place_in(kFloats64, value);
    if (place == kInversePi) {
        out_ << kInversePi64;
    } else {
        number_or_hex(static_cast<int64_t>(value), place, is_float && value << 32 == 0 ? value >> 32 : value);
    }
}

// As the printers of AMDGPUInstPrinter.cpp do it, each for one type of operands.
void Printer::immediate(uint32_t value, Constant kind) {
    const auto integer = static_cast<int32_t>(value);
    const uint32_t low = value & 0xFFFF;
    switch (kind) {
        case Constant::integer_16: return number_or_hex(integer, place_in(kFloats32, value), low);
        case Constant::float_16: return number_or_hex(static_cast<int16_t>(value), place_in(kFloats16, low), low);
        case Constant::bfloat_16: return number_or_hex(static_cast<int16_t>(value), place_in(kBfloats16, low), value);
        case Constant::pair_float_16:
        case Constant::inline_pair_float_16: return number_or_hex(integer, place_in(kFloats16, value), value);
        case Constant::pair_float_16_splat:
            return number_or_hex(integer, place_of_splat(value, target_.generation()), value);
        case Constant::pair_bfloat_16:
        case Constant::inline_pair_bfloat_16: return number_or_hex(integer, place_in(kBfloats16, value), value);
        case Constant::pair_float_16_literal: return number_or_hex(integer, kNoPlace, value);
        default: plain_32(value);
    }
    if (kind == Constant::no_constant) out_ << std::string_view("/*Invalid immediate*/");
}

void Printer::constant(const Value& value, Constant kind) {
    if (value.number == kLiteralCode) return literal(kind);
    if (value.number >= code::first_integer && value.number <= code::last_integer) {
        out_ << (value.number <= code::last_positive ? value.number - code::first_integer
                                                     : code::last_positive - value.number);
    } else {
        const auto place = static_cast<size_t>(value.number - code::first_float);
        if (kind == Constant::integer_16 || kind == Constant::pair_float_16_literal) {
            out_.hex(kind == Constant::integer_16 ? kFloats16[place] : kFloats32[place]);
        } else {
            out_ << (place == kInversePi && is_64_bits_wide(kind) ? kInversePi64 : kFloatTexts[place]);
        }
    }
    if (kind == Constant::no_constant) out_ << std::string_view("/*Invalid immediate*/");
}

// A literal of 32 bits; where another operand has one of 64 bits, that is shown.
void Printer::literal(Constant kind) {
    const uint64_t whole = instruction_.literal;
    if (is_inlinable(whole, kind, target_.generation())) {
        out_ << std::string_view("lit(");
        out_.hex(whole) << ')';
    } else if (is_64_bits_wide(kind)) {  // the upper half of a float, the lower of an integer
        plain_64(kind == Constant::float_64 ? whole << 32 : whole, kind == Constant::float_64);
    } else {
        immediate(static_cast<uint32_t>(whole), kind);
    }
}

// A literal of 64 bits as a source. Narrower operands take its lower half.
void Printer::literal_64(uint64_t value, Constant kind) {
    if (value >> 32 == 0) {
        out_ << std::string_view("lit64(");
        out_.hex(value) << ')';
    } else if (is_64_bits_wide(kind)) {
        plain_64(value, kind == Constant::float_64);
    } else {
        immediate(static_cast<uint32_t>(value), kind);
    }
}

void Printer::literal_field_64(uint64_t value) {
    if (value >> 32 == 0) {
        out_ << std::string_view("lit64(");
        out_.hex(value) << ')';
    } else {
        out_.hex((value & 0xFFFFFFFF) == 0 ? value >> 32 : value);
    }
}

bool Printer::is_expression(const Value& value, Constant kind) const {
    if (value.kind == Value::Kind::literal_64) return static_cast<uint64_t>(value.number) >> 32 == 0;
    return value.number == kLiteralCode && is_inlinable(instruction_.literal, kind, target_.generation());
}

}  // namespace wavewright::isa
