"""From LLVM's instruction records to the tables of the disassembler (cpp/src/isa/tables.inc)."""
