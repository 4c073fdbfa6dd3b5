"""Edits of a block of machine code: orders that are legal, with the waits and wait states that they need."""
