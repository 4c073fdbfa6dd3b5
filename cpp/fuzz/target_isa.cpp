#include <algorithm>
#include <string>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::fuzz {
namespace {

constexpr uint64_t kAddress = 0x1000;
constexpr size_t kMaxBytes = 20;  // of an instruction

void check_texts(const isa::Disassembly& listing, size_t rows) {
    require(listing.text_end.size() == rows + 1 && listing.text_end[0] == 0, "every row has a text");
    for (size_t i = 0; i < rows; ++i) require(listing.text_end[i] < listing.text_end[i + 1], "no text is empty");
    require(listing.text_end[rows] == static_cast<int64_t>(listing.texts.size()), "the last text ends where all do");
    for (const char c : listing.texts) require(c >= ' ' && c <= '~', "a text is printable ASCII");
}

void check_operands(const isa::Disassembly& listing, size_t rows) {
    const size_t count = listing.operand_row.size();
    require(listing.operand_register.size() == count && listing.operand_count.size() == count &&
                listing.operand_role.size() == count,
            "columns of operands have one length");
    for (size_t i = 0; i < count; ++i) {
        const uint32_t first = listing.operand_register[i], last = first + listing.operand_count[i] - 1;
        require(listing.operand_row[i] < rows, "an operand belongs to a row");
        require(i == 0 || listing.operand_row[i - 1] <= listing.operand_row[i], "operands are in the order of rows");
        require(listing.record[listing.operand_row[i]] != isa::kNoRecord, "what is no instruction has no operands");
        require(listing.operand_count[i] >= 1 && last < isa::register_end, "an operand is in the register file");
        require((first >= isa::vgpr0) == (last >= isa::vgpr0) && (first >= isa::agpr0) == (last >= isa::agpr0),
                "an operand is of one kind of registers");
        require((listing.operand_role[i] & (isa::reads | isa::writes)) != 0, "an operand is read or written");
        require((listing.operand_role[i] & ~0x3F) == 0, "roles are named");
    }
}

// Rows of every chunk begin where the last one ended; fewer than four bytes at the end of a chunk are no row.
void check_rows(const isa::Disassembly& listing, std::span<const isa::Chunk> chunks) {
    const size_t rows = listing.address.size();
    require(listing.size.size() == rows && listing.record.size() == rows && listing.facts.size() == rows,
            "columns of rows have one length");
    size_t row = 0;
    for (const isa::Chunk& chunk : chunks) {
        uint64_t at = chunk.address;
        const uint64_t end = chunk.address + chunk.code.size();
        while (end - at >= 4) {
            require(row < rows && listing.address[row] == at, "rows follow each other");
            const size_t size = listing.size[row];
            require(size >= 4 && size <= kMaxBytes && size % 4 == 0 && size <= end - at, "a row has a size");
            require(listing.record[row] != isa::kNoRecord || size == 4, "what is no instruction is one word");
            at += size;
            ++row;
        }
    }
    require(row == rows, "rows are in chunks");
}

void check_code(Bytes code, std::string_view column, bool wave64, size_t chunk_bytes) {
    std::vector<isa::Chunk> chunks;
    uint64_t address = kAddress;
    for (size_t at = 0; at < code.size(); at += chunk_bytes) {
        chunks.push_back({address, code.subspan(at, std::min(chunk_bytes, code.size() - at)), wave64});
        address += chunk_bytes;
    }
    const isa::Disassembly with = isa::disassemble(chunks, column, true);
    check_rows(with, chunks);
    check_texts(with, with.address.size());
    check_operands(with, with.address.size());
    const isa::Disassembly without = isa::disassemble(chunks, column, false);
    require(without.texts == with.texts && without.operand_row.size() == 0, "operands change no text");
}

void check_read_texts(Bytes input, std::string_view column, bool wave64) {
    const std::string_view all(reinterpret_cast<const char*>(input.data()), input.size());
    std::vector<std::string_view> texts;
    for (size_t at = 0; at <= all.size();) {
        const size_t end = std::min(all.find('\n', at), all.size());
        texts.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    const isa::Disassembly listing = isa::read_texts(texts, column, wave64);
    require(listing.record.size() == texts.size() && listing.facts.size() == texts.size(), "every text has a row");
    check_operands(listing, texts.size());
}

}  // namespace

void fuzz_isa(Bytes input) {
    const std::span<const std::string_view> columns = isa::targets();
    const std::string_view column = columns[take<uint8_t>(input) % columns.size()];
    const auto flags = take<uint8_t>(input);
    const bool wave64 = (flags & 1) != 0;
    if ((flags & 2) != 0) {
        check_read_texts(input, column, wave64);
    } else {
        check_code(input, column, wave64, (flags & 4) != 0 ? size_t{1} << 20 : size_t{1} + flags / 8);
    }
}

}  // namespace wavewright::fuzz
