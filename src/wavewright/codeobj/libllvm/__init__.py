"""Disassembly by a libLLVM of the machine, in a process of its own."""
