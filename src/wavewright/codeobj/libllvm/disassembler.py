"""LLVM's disassembler in a child process.

The code comes from strangers and LLVM's AMDGPU decoder can abort on malformed words, so it does not run in this
process, and it does not see the stranger's ELF file: only the bytes of the code are handed over.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from wavewright.codeobj.chunks import WORD_BYTES, Chunk
from wavewright.codeobj.process import Outcome, run_bounded

_CHILD = Path(__file__).with_name("child.py")
_IDLE_S = 20.0  # LLVM answers within milliseconds; loading it from a cold disk takes seconds
_BYTES_PER_S = 50_000  # a tenth of what was measured on a slow machine
_OUTPUT_PER_CODE_BYTE = 64
_OUTPUT_FLOOR_BYTES = 1 << 16
_FLUSH_ROWS = 512
_MAX_RESTARTS = 8
_MAX_HANGS = 2
_UNKNOWN_CPU = "is not a recognized processor"  # said before LLVM aborts, which says nothing


@dataclass
class Run:
    """Result of LLVM: lines of the listing, the chunks that it left, and what there is to say about it."""

    code: bytes
    pending: deque[Chunk]
    lines: list[bytes] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)  #: Of the libraries that gave lines.
    notes: list[str] = field(default_factory=list)  #: Where they failed.
    rejections: list[str] = field(default_factory=list)  #: Libraries that cannot work for this target at all.

    def take(self, lines: Iterable[bytes]) -> int:
        """Take lines as long as they continue the code; how many."""
        before = len(self.lines)
        for line in lines:
            fields = line.split(b"\t", 2)
            if len(fields) != 3 or not (fields[0].isdigit() and fields[1].isdigit() and self.pending):
                break
            size, chunk = int(fields[1]), self.pending[0]
            if int(fields[0]) != chunk.address or not 0 < size <= chunk.end - chunk.start:
                break
            self.lines.append(line + b"\n")
            if chunk.end - chunk.start - size < WORD_BYTES:
                self.pending.popleft()
            else:
                self.pending[0] = Chunk(chunk.address + size, chunk.start + size, chunk.end, chunk.wave64)
        return len(self.lines) - before

    def skip_word(self) -> int:
        """Give up the first pending word; its address."""
        chunk = self.pending[0]
        word = int.from_bytes(self.code[chunk.start : chunk.start + WORD_BYTES], "little")
        self.take([b"%d\t%d\t.long 0x%08x" % (chunk.address, WORD_BYTES, word)])
        return chunk.address


def run_llvm(libraries: Iterable[str], target: str, code: bytes, chunks: Iterable[Chunk]) -> Run:
    """Disassemble chunks of `code`, one library after the other, as long as something is left."""
    run = Run(code, deque(chunks))
    for path in libraries:
        if not run.pending:
            break
        _run_library(path, target, run)
    return run


def _run_library(path: str, target: str, run: Run) -> None:
    """Continue a run with the libLLVM at `path`. A death of the child costs the word it died on."""
    flush_rows, hangs, version = _FLUSH_ROWS, 0, ""
    for _ in range(_MAX_RESTARTS + 1):
        outcome = _run_child(path, target, run, flush_rows)
        header, *lines = outcome.stdout.split(b"\n")[:-1] or [b""]
        if not header.startswith(b"llvm "):
            run.rejections.append(f"{path}: {_why_unusable(header, outcome)}")
            return
        if not version:
            version = f"libLLVM {header[5:].decode('ascii', 'replace')}"
            run.versions.append(version)
        row_count = run.take(lines)
        if not run.pending:
            return
        hangs += "no answer" in outcome.failure
        if row_count == 0 and flush_rows == 1:
            failure = outcome.failure or "garbage"
            run.notes.append(f"{version} failed on the word at {run.skip_word():#x} ({failure})")
            flush_rows = _FLUSH_ROWS
        else:
            flush_rows = 1  # row by row now, to see on which word it dies
        if hangs >= _MAX_HANGS:
            break
    run.notes.append(f"{version} failed too often and was given up ({outcome.failure or 'garbage'})")


def _run_child(path: str, target: str, run: Run, flush_rows: int) -> Outcome:
    chunks = list(run.pending)
    code = b"".join(run.code[chunk.start : chunk.end] for chunk in chunks)
    request = {
        "library": path,
        "cpu": target,
        "flush_rows": flush_rows,
        "chunks": [[chunk.address, chunk.end - chunk.start, chunk.wave64] for chunk in chunks],
    }
    return run_bounded(
        [sys.executable or "python3", "-I", "-S", str(_CHILD)],
        json.dumps(request).encode() + b"\n" + code,
        idle_s=_IDLE_S,
        total_s=2 * _IDLE_S + len(code) / _BYTES_PER_S,
        output_limit_bytes=_OUTPUT_FLOOR_BYTES + _OUTPUT_PER_CODE_BYTE * len(code),
    )


def _why_unusable(header: bytes, outcome: Outcome) -> str:
    if header.startswith(b"unusable: "):
        return header[10:].decode("utf-8", "replace")
    stderr_lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    unknown = [line for line in stderr_lines if _UNKNOWN_CPU in line]
    return next(filter(None, [*unknown, outcome.failure, *stderr_lines[-1:], "no answer"]))
