// AMDGPU machine code as text and as data, by tables made from LLVM's instruction records (tools/isa). Total: any bytes
// give rows, every row is 4 to 20 bytes long, and what is no instruction is a row of `.long`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright::isa {

// Registers as numbers, one dword each. Scalars below 128 have the numbers of gfx11's source operands; every generation
// is mapped to them.
enum Register : uint16_t {
    sgpr0 = 0,  // s0 .. s105
    vcc_lo = 106,
    vcc_hi = 107,
    ttmp0 = 108,  // ttmp0 .. ttmp15
    m0 = 124,
    null_register = 125,
    exec_lo = 126,
    exec_hi = 127,
    scc = 128,
    flat_scratch_lo = 129,
    flat_scratch_hi = 130,
    xnack_mask_lo = 131,
    xnack_mask_hi = 132,
    mode = 133,
    vgpr0 = 256,   // v0 .. v1023
    agpr0 = 1280,  // a0 .. a255
    register_end = 1536,
};

// What an instruction does with the registers of one operand. An operand can be read and written.
enum Role : uint8_t {
    reads = 1,
    writes = 2,
    implicit = 4,  // not in the text
    tied = 8,      // read because the result is merged into the old value
    low_half = 16,
    high_half = 32,
};

// What all instructions of a record have in common.
enum Fact : uint32_t {
    loads = 1 << 0,
    stores = 1 << 1,
    is_atomic = 1 << 2,
    returns_old = 1 << 3,  // an atomic that gives back the old value
    is_branch = 1 << 4,
    is_call = 1 << 5,
    ends_block = 1 << 6,  // nothing falls through: s_branch, s_setpc, s_endpgm
    is_valu = 1 << 7,
    is_salu = 1 << 8,
    is_matrix = 1 << 9,  // MFMA, WMMA and their sparse forms
    is_transcendental = 1 << 10,
    to_lds = 1 << 11,     // a load that goes to LDS
    counts_vm = 1 << 12,  // which counters it adds to, in LLVM's words
    counts_lgkm = 1 << 13,
    counts_exp = 1 << 14,
    counts_tensor = 1 << 15,
    counts_async = 1 << 16,
};

// Code at an address. The first byte starts an instruction.
struct Chunk {
    uint64_t address = 0;
    std::span<const uint8_t> code;
    bool wave64 = false;  // of gfx10 and later; gfx9 has nothing else
};

constexpr uint16_t kNoRecord = 0xFFFF;

// Rows in the order of the chunks and of their addresses.
struct Disassembly {
    Column<uint64_t> address;
    Column<uint8_t> size;
    Column<uint16_t> record;   // number in the tables; kNoRecord: the row is a word that is no instruction
    Column<uint32_t> facts;    // Fact bits; of the instruction, so that bits of its own (return) count
    Column<int64_t> text_end;  // in `texts`, which holds them without separators; one more than rows, the first is 0
    std::string texts;
    // Operands that are registers, by row.
    Column<uint32_t> operand_row;
    Column<uint16_t> operand_register;  // Register, the first of `operand_count`
    Column<uint8_t> operand_count;      // dwords; 1 for a half
    Column<uint8_t> operand_role;       // Role bits
};

// The names of the table columns: gfx900, gfx906, ...
std::span<const std::string_view> targets();

// The column that has the records of `target` (a name without features), or the nearest one of its generation; empty
// where there is none. `exact` says whether the column has all records of the target.
struct Nearest {
    std::string_view column;
    bool exact = false;
};
Nearest nearest(std::string_view target);

// Disassembles chunks for a table column. Throws std::invalid_argument for a name that is none.
Disassembly disassemble(std::span<const Chunk> chunks, std::string_view column, bool with_operands);

// Lines `address TAB size TAB text`, as listings have them.
std::string listing_of(const Disassembly& disassembly);

// The operands of texts that somebody else disassembled, from the same tables by mnemonic; rows whose mnemonic no
// record has have no operands and kNoRecord. `size` and `address` stay empty.
Disassembly read_texts(std::span<const std::string_view> texts, std::string_view column, bool wave64);

}  // namespace wavewright::isa
