"""Code objects: ELF, kernel descriptors, source lines, disassembly, names and instruction classes."""
