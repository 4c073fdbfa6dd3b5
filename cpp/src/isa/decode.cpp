#include "decode.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wavewright::isa {
namespace {

Word first_word(std::span<const uint8_t> bytes) {
    uint8_t padded[16] = {};
    std::memcpy(padded, bytes.data(), bytes.size() < sizeof padded ? bytes.size() : sizeof padded);
    uint64_t words[2];
    std::memcpy(words, padded, sizeof padded);
    if constexpr (std::endian::native == std::endian::big) {
        for (uint64_t& word : words) word = __builtin_bswap64(word);
    }
    return {words[0], words[1]};
}

uint64_t field_value(const Word& word, const Field& field) {
    const FieldPart* part = &tables.field_parts[field.first_part];
    uint64_t value = word.bits(part->word_low, part->width) << part->low;
    for (const FieldPart* end = part + field.part_count; ++part != end;)
        value |= word.bits(part->word_low, part->width) << part->low;
    return value;
}

void begin(const Candidate& candidate, std::span<const uint8_t> bytes, const Word& word, Instruction& instruction) {
    begin_record(tables.records[candidate.record], instruction);
    instruction.bytes = bytes;
    instruction.word = word;
    instruction.size = candidate.literal_at;
}

bool decode_operands(const Target& target, Instruction& instruction) {
    const uint16_t* sources = tables.sources.data() + tables.forms[instruction.record->form].first_source;
    const size_t count = instruction.operand_count();
    bool has_more = false;
    for (size_t operand = 0; operand < count; ++operand) {
        if (sources[operand] < kTied) {
            const uint64_t value = field_value(instruction.word, tables.fields[sources[operand]]);
            if (!decode_operand(target, instruction, operand, value)) return false;
        } else if (sources[operand] == kZero) {
            instruction.values[operand] = Value::of(Value::Kind::number, 0);
        } else {
            instruction.values[operand] = Value();
            has_more = true;
        }
    }
    for (size_t operand = 0; has_more && operand < count; ++operand) {
        if (is_tied(sources[operand])) instruction.values[operand] = instruction.values[sources[operand] - kTied];
        if (sources[operand] == kLiteral)
            instruction.values[operand] = Value::of(Value::Kind::number, static_cast<int64_t>(instruction.literal));
    }
    return true;
}

bool take_needed_literal(Instruction& instruction) {
    for (size_t operand = 0; operand < instruction.operand_count(); ++operand) {
        const Value& value = instruction.values[operand];
        if (value.kind == Value::Kind::constant && value.number == kLiteralCode) return take_literal(instruction);
    }
    return true;
}

// Bits of a modifiers operand.
constexpr int64_t kOpSelSource = 4, kOpSelResult = 8;

void choose_half(Instruction& instruction, Name operand, Name modifiers, int64_t bit) {
    Value* value = instruction.value(operand);
    if (value == nullptr || !value->is_reg() || value->half == Half::whole) return;
    if (instruction.number(modifiers) & bit) value->half = Half::high;
}

// Registers of a source by its number format: FP8, BF8, FP6, BF6, FP4.
// The others are reserved; LLVM counts them as 8.
constexpr unsigned kFormatDwords[] = {8, 8, 6, 6, 4, 8, 8, 8};
constexpr int64_t kLastFormat = 4;

void narrow(Value* value, int64_t format) {
    if (value == nullptr || !value->is_reg() || value->bank == Bank::special || value->dwords == 1) return;
    const unsigned dwords = kFormatDwords[format & 7] * (value->dwords == 16 ? 2 : 1);
    if (value->bank == Bank::ttmp && dwords == 8) return;  // LLVM has no half of ttmp[0:15]
    value->dwords = static_cast<uint8_t>(dwords);
}

// 16-bit operands of VOP3 have the bit that chooses the half in their modifiers.
void choose_halves(Instruction& instruction) {
    if (!instruction.encoded_as(encoding::vop3)) return;
    choose_half(instruction, Name::src0, Name::src0_modifiers, kOpSelSource);
    choose_half(instruction, Name::src1, Name::src1_modifiers, kOpSelSource);
    choose_half(instruction, Name::src2, Name::src2_modifiers, kOpSelSource);
    choose_half(instruction, Name::vdst, Name::src0_modifiers, kOpSelResult);
}

// Matrix instructions whose sources have as many registers as their formats need.
void narrow_matrix_sources(Instruction& instruction) {
    int64_t a_format = 0, b_format = 0;
    if (instruction.is(flag::is_mai) && instruction.is(flag::f8f6f4) && instruction.has(Name::blgp)) {
        a_format = instruction.number(Name::cbsz);
        b_format = instruction.number(Name::blgp);
    } else if (instruction.is(flag::is_wmma) && instruction.has(Name::matrix_a_fmt)) {
        a_format = instruction.number(Name::matrix_a_fmt);
        b_format = instruction.number(Name::matrix_b_fmt);
        if (a_format > kLastFormat || b_format > kLastFormat) return;
    } else {
        return;
    }
    narrow(instruction.value(Name::src0), a_format);
    narrow(instruction.value(Name::src1), b_format);
}

// Instructions that LLVM finds and then refuses.
bool is_refused(const Target& target, const Instruction& instruction) {
    const bool is_buffer = instruction.encoded_as(encoding::mubuf | encoding::mtbuf) ||
                           (instruction.encoded_as(encoding::smrd) && instruction.is(flag::named_buffer));
    if (target.generation() >= 12 && is_buffer && (instruction.number(Name::offset) >> 23 & 1)) return true;
    constexpr uint8_t kExecCode = 126;
    return instruction.encoded_as(encoding::vop3) && instruction.shape->result_count == 0 &&
           (instruction.traits->defs & implicit_bit::exec) != 0 && instruction.bytes[0] != kExecCode;
}

}  // namespace

void begin_record(const Record& record, Instruction& instruction) {
    const Template& shape = tables.templates[tables.forms[record.form].template_number];
    instruction.record = &record;
    instruction.traits = &traits_of(record);
    instruction.shape = &shape;
    instruction.names = tables.operand_names.data() + shape.first_operand;
    instruction.kinds = tables.operand_kinds.data() + shape.first_operand;
    instruction.has_literal = false;
    instruction.literal = 0;
    instruction.address_count = 0;
}

bool take_literal(Instruction& instruction) {
    if (instruction.has_literal) return true;
    if (instruction.bytes.size() < instruction.size + 4) return false;
    instruction.literal = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
        instruction.literal |= uint64_t{instruction.bytes[instruction.size + byte]} << 8 * byte;
    instruction.has_literal = true;
    instruction.size += 4;
    return true;
}

bool decode(const Target& target, const Index& index, std::span<const uint8_t> bytes, Instruction& instruction) {
    // LLVM looks at so many bytes: a 12-byte form of gfx1250 with a literal of 8 finds it nowhere.
    if (target.column->family == Family::gfx125) bytes = bytes.first(std::min<size_t>(bytes.size(), 16));
    const Word word = first_word(bytes);
    int failed_step = -1;
    for (const Candidate& candidate : index.candidates(static_cast<uint32_t>(word.low))) {
        if (!candidate.pattern.matches(word) || candidate.size > bytes.size()) continue;
        if (!(target.wave32 ? candidate.for_wave32 : candidate.for_wave64)) continue;
        if (candidate.step == failed_step) continue;
        begin(candidate, bytes, word, instruction);
        failed_step = candidate.step;
        if (!decode_operands(target, instruction)) continue;
        if (target.generation() >= 11) choose_halves(instruction);
        narrow_matrix_sources(instruction);
        if (!decode_image(target, instruction) || !take_needed_literal(instruction)) continue;
        return !is_refused(target, instruction);
    }
    return false;
}

}  // namespace wavewright::isa
