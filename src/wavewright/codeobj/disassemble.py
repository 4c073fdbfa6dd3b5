"""Disassembly: the core's own tables, and LLVM for what they do not know or where WAVEWRIGHT_LLVM asks for it.

The order is that of ADR 0023. A GPU whose instructions the tables have needs no LLVM and no process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from wavewright import _core
from wavewright.codeobj.chunks import Chunk, cut
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.libllvm.disassembler import run_llvm
from wavewright.codeobj.libllvm.libraries import find_libraries
from wavewright.codeobj.listing import Listing
from wavewright.model.losses import Loss

_MAX_LOSSES = 8
_MAX_REASONS = 3


def disassemble(code_object: CodeObject, *, ranges: Iterable[tuple[int, int]] | None = None) -> Listing:
    """Disassemble the code of a code object, all of it or only `ranges` of (ELF address, size in bytes).

    Every function begins a row of its own. Words that are no instruction are rows of `.long`. Branch operands are
    displacements in dwords, as AMD's decoder writes them. Where nobody knows the GPU, the listing is empty and its
    losses say so; no input makes this raise or hang.
    """
    chunks, code = cut(code_object, ranges)
    target = (code_object.target or "").partition(":")[0]  # without features: "gfx90a:xnack+"
    if not chunks or not target:
        return Listing(b"", "none", code_object.losses)
    column, is_exact = _core.isa_nearest(target) or ("", False)
    if is_exact and not os.environ.get("WAVEWRIGHT_LLVM"):
        return Listing(_by_tables(code, chunks, column), f"tables of {column}")
    return _with_llvm(target, code, chunks, column, is_exact=is_exact)


def _with_llvm(target: str, code: bytes, chunks: Sequence[Chunk], column: str, *, is_exact: bool) -> Listing:
    """LLVM as far as there is one that can, and the tables for what it leaves."""
    libraries = find_libraries()
    run = run_llvm(libraries, target, code, chunks)
    losses = [Loss("disassembly_incomplete", detail=note) for note in run.notes[:_MAX_LOSSES]]
    if not run.pending:
        return Listing(b"".join(run.lines), " + ".join(run.versions), tuple(losses))
    if column:
        if os.environ.get("WAVEWRIGHT_LLVM"):
            losses.append(Loss("llvm_not_used", detail=_why_not(libraries, run.rejections) or run.notes[-1]))
        if not is_exact:
            losses.append(Loss("nearest_table", detail=f"{target}, so that of {column} was used"))
        tsv = b"".join([*run.lines, _by_tables(code, run.pending, column)])
        return Listing(tsv, " + ".join([*run.versions, f"tables of {column}"]), tuple(losses))
    if not run.versions:
        reason = _why_not(libraries, run.rejections) or "no libLLVM is here"
        return Listing(b"", "none", (*losses, Loss("no_disassembler", detail=f"{target}: {reason}")))
    missing_bytes = sum(chunk.end - chunk.start for chunk in run.pending)
    problem = f"{missing_bytes:,} bytes of code from {run.pending[0].address:#x} on have no text"
    losses.append(Loss("disassembly_incomplete", detail=problem))
    return Listing(b"".join(run.lines), " + ".join(run.versions), tuple(losses))


def _by_tables(code: bytes, chunks: Sequence[Chunk], column: str) -> bytes:
    return _core.disassemble(code, chunks, column, operands=False).tsv


def _why_not(libraries: Sequence[str], rejections: Sequence[str]) -> str:
    """Reason for not using LLVM; empty = nobody asked for one that cannot be used."""
    variable = os.environ.get("WAVEWRIGHT_LLVM")
    if rejections:
        return "; ".join(rejections[:_MAX_REASONS])
    return f"WAVEWRIGHT_LLVM names {variable}, where there is no libLLVM" if variable and not libraries else ""
