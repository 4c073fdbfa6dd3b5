// The packed records (tables.inc, made by tools/make_isa_tables.py) and what their numbers mean.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wavewright::isa {

#include "kinds.inc"

// `count` elements of an array from `first` on.
struct Range {
    uint16_t first, count;
};

struct NamedNumber {
    uint16_t number, text;
};

// A target that the tables have records for.
struct TargetColumn {
    uint16_t name;
    uint8_t generation;  // 9, 10, 11, 12
    Family family;
    uint16_t features;
    Range hardware_registers, messages, formats, versions;  // in named_numbers
};

// A decoder table of a family; steps are tried in order.
struct SearchStep {
    Family family;
    uint8_t table;
    uint8_t literal_at;  // where a literal begins: behind the record but for one table of gfx1250
};

// One encoded form of an instruction.
struct Record {
    uint32_t value;  // fixed bits 0 to 31
    uint8_t upper;   // fixed bits 32 to 127, in upper_values and top_values
    uint8_t table;
    uint16_t mask;
    uint16_t mnemonic;  // text
    uint16_t form;
    uint16_t traits;
    uint16_t columns;  // a bit per column that has it
};

struct Mask {
    uint32_t low, top;
    uint64_t upper;  // bits 32 to 95
};

// What records that behave alike have in common.
struct Traits {
    uint64_t flags;     // flag::
    uint32_t encoding;  // encoding::
    uint8_t uses;       // implicit_bit::
    uint8_t defs;
};

// Text behind the mnemonic, in which a byte from kFirstOperandByte on stands for an operand, and its operands, results
// first.
constexpr unsigned kFirstOperandByte = 0x80;
struct Template {
    uint16_t text;
    uint16_t first_operand;
    uint8_t operand_count;
    uint8_t result_count;
};

// A template and where the values of its operands come from.
struct Form {
    uint16_t template_number;
    uint16_t first_source;
};

// The source of an operand is the number of a field, or one of these.
constexpr uint16_t kTied = 0x100;  // plus the number of the operand whose value it has
constexpr uint16_t kZero = 0x200;
constexpr uint16_t kLiteral = 0x201;
constexpr uint16_t kAbsent = 0x202;

// Whether an operand has no field: it has the value of the operand whose number is `source - kTied`.
constexpr bool is_tied(uint16_t source) {
    return source >= kTied && source < kZero;
}

struct Field {
    uint16_t first_part;
    uint8_t part_count;
};

// Bits of a field from bit `low` on, which stand in the word from bit `word_low` on.
struct FieldPart {
    uint8_t width, low, word_low;
};

struct OperandKind {
    Decode decode;
    Print print;
    Constant constant;
    bool is_register;
    uint16_t width_bits;
    uint16_t text;  // of named bits and numbers
};

struct Image {
    uint16_t record;
    uint8_t sizes;
    uint8_t data_dwords, address_dwords;  // as the record has them
    bool has_separate_addresses;
    uint8_t extra_arguments, gradients, is_g16, coordinates, lod_or_clamp, is_bvh, is_a16;
};

// Of 1 to 10 data dwords: a bit per number of address dwords that there is.
struct ImageSizes {
    uint16_t address_bits[10];
};

struct ImageDim {
    uint16_t name;
    uint8_t coordinates, gradients;
};

struct TargetName {
    uint16_t name;
    uint8_t column;
    bool is_exact;
};

struct Tables {
    std::span<const TargetColumn> columns;
    std::span<const SearchStep> search_order;
    std::span<const uint8_t> table_sizes;  // bytes of a table's records
    std::span<const Record> records;
    std::span<const Traits> traits;
    std::span<const Template> templates;
    std::span<const Form> forms;
    std::span<const Name> operand_names;
    std::span<const uint8_t> operand_kinds;
    std::span<const uint16_t> sources;
    std::span<const Field> fields;
    std::span<const FieldPart> field_parts;
    std::span<const OperandKind> kinds;
    std::span<const Image> images;
    std::span<const ImageSizes> image_sizes;
    std::span<const ImageDim> image_dims;
    std::span<const TargetName> target_names;
    std::span<const NamedNumber> named_numbers;
};

extern const Tables tables;

std::string_view text(uint16_t number);

// The text of a number in a part of named_numbers, or null where it has none.
const NamedNumber* find_named(Range range, uint32_t number);

// 16 bytes of an instruction, little-endian.
struct Word {
    uint64_t low = 0, high = 0;

    uint64_t bits(unsigned first, unsigned count) const {
        const uint64_t shifted = first == 0   ? low
                                 : first < 64 ? low >> first | high << (64 - first)
                                              : high >> (first - 64);
        return count >= 64 ? shifted : shifted & ((uint64_t{1} << count) - 1);
    }
};

// The fixed bits of a record.
struct Pattern {
    Word mask, value;

    bool matches(const Word& word) const {
        return (word.low & mask.low) == value.low && (word.high & mask.high) == value.high;
    }
};

Pattern pattern_of(const Record& record);

inline const Traits& traits_of(const Record& record) {
    return tables.traits[record.traits];
}
inline uint8_t size_of(const Record& record) {
    return tables.table_sizes[record.table];
}

}  // namespace wavewright::isa
