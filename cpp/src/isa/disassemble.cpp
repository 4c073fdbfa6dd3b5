// The way of a chunk of code: decode one instruction, print it, list its operands, go on behind it.
#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "decode.hpp"
#include "operands.hpp"
#include "print.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::isa {
namespace {

constexpr size_t kNoColumn = SIZE_MAX;

size_t column_number(std::string_view name) {
    for (size_t number = 0; number < tables.columns.size(); ++number)
        if (text(tables.columns[number].name) == name) return number;
    return kNoColumn;
}

void put_no_instruction(std::span<const uint8_t> bytes, Text& out) {
    constexpr char kDigits[] = "0123456789abcdef";
    out << std::string_view(".long 0x");
    for (size_t byte = 4; byte-- > 0;) out << kDigits[bytes[byte] >> 4] << kDigits[bytes[byte] & 15];
}

// Writes the rows of chunks for one column.
class Writer {
  public:
    Writer(size_t column, bool with_operands, Disassembly& out)
        : index_(index_of(column)), with_operands_(with_operands), out_(out) {
        target_.column = &tables.columns[column];
        out_.text_end.push_back(0);
    }

    void write(const Chunk& chunk) {
        target_.wave32 = target_.generation() >= 10 && !chunk.wave64;
        high_bits_.reset();
        for (size_t at = 0; chunk.code.size() - at >= 4;) at += write_row(chunk.address + at, chunk.code.subspan(at));
    }

  private:
    size_t write_row(uint64_t address, std::span<const uint8_t> bytes) {
        const auto row = static_cast<uint32_t>(out_.address.size());
        text_.clear();
        size_t size = 4;
        if (decode(target_, index_, bytes, instruction_)) {
            if (target_.column->family == Family::gfx125) high_bits_.apply(instruction_);
            Printer(target_, instruction_, text_).print();
            size = instruction_.size;
            out_.record.push_back(static_cast<uint16_t>(instruction_.record - tables.records.data()));
            out_.facts.push_back(facts_of(*instruction_.record));
            if (with_operands_) add_operands(target_, instruction_, row, out_);
        } else {
            high_bits_.reset();
            put_no_instruction(bytes, text_);
            out_.record.push_back(kNoRecord);
            out_.facts.push_back(0);
        }
        text_.append_to(out_.texts);
        out_.address.push_back(address);
        out_.size.push_back(static_cast<uint8_t>(size));
        out_.text_end.push_back(static_cast<int64_t>(out_.texts.size()));
        return size;
    }

    const Index& index_;
    Target target_;
    bool with_operands_;
    Disassembly& out_;
    HighBits high_bits_;
    Instruction instruction_;
    Text text_;
};

}  // namespace

std::span<const std::string_view> targets() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> all;
        for (const TargetColumn& column : tables.columns) all.push_back(text(column.name));
        return all;
    }();
    return names;
}

// An unlisted target is served by the listed one whose name is most alike, if they share the generation ("gfx11").
Nearest nearest(std::string_view target) {
    constexpr size_t kGenerationLength = 5;
    const TargetName* best = nullptr;
    size_t best_length = kGenerationLength - 1;
    for (const TargetName& listed : tables.target_names) {
        const std::string_view name = text(listed.name);
        if (name == target) return {text(tables.columns[listed.column].name), listed.is_exact};
        const auto differs = std::ranges::mismatch(name, target);
        const auto length = static_cast<size_t>(differs.in1 - name.begin());
        if (length > best_length) {
            best_length = length;
            best = &listed;
        }
    }
    if (best == nullptr) return {};
    return {text(tables.columns[best->column].name), false};
}

Disassembly disassemble(std::span<const Chunk> chunks, std::string_view column, bool with_operands) {
    const size_t number = column_number(column);
    if (number == kNoColumn) throw std::invalid_argument("no tables for target " + std::string(column));
    Disassembly out;
    Writer writer(number, with_operands, out);
    for (const Chunk& chunk : chunks) writer.write(chunk);
    return out;
}

std::string listing_of(const Disassembly& disassembly) {
    std::string lines;
    lines.reserve(disassembly.texts.size() + disassembly.address.size() * 16);
    char number[24];
    for (size_t row = 0; row < disassembly.address.size(); ++row) {
        const auto begin = static_cast<size_t>(disassembly.text_end[row]);
        const auto end = static_cast<size_t>(disassembly.text_end[row + 1]);
        lines.append(number, std::to_chars(number, std::end(number), disassembly.address[row]).ptr);
        lines += '\t';
        lines.append(number, std::to_chars(number, std::end(number), unsigned{disassembly.size[row]}).ptr);
        lines += '\t';
        lines.append(disassembly.texts, begin, end - begin);
        lines += '\n';
    }
    return lines;
}

}  // namespace wavewright::isa
