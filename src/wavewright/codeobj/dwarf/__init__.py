"""The parts of DWARF 2 to 5 that lead from an address to source lines and inlined calls.

Written for untrusted input and for size: line programs run straight into sorted arrays, entries that do not
matter are skipped without being built, every count has a ceiling. (pyelftools, the usual reader, builds an object
per entry and has no ceilings.)
"""
