"""The two disassemblers: a libLLVM in a child process, and the llvm-objdump program."""

from __future__ import annotations

import json
import re
import struct
import sys
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wavescope.codeobj.process import Outcome, run_bounded
from wavescope.codeobj.targets import TARGET_OF_MACH

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterable, Iterator

_CHILD = Path(__file__).with_name("llvm_child.py")
_IDLE_S = 20.0  # LLVM answers within milliseconds; loading it from a cold disk takes seconds
_BYTES_PER_S = 50_000  # a tenth of what was measured on a slow machine
_OUTPUT_PER_CODE_BYTE = 64
_OUTPUT_FLOOR_BYTES = 1 << 16
_FLUSH_ROWS = 512
_MAX_RESTARTS = 8
_MAX_HANGS = 2
_WORD_BYTES = 4
_OBJDUMP_CHUNKS = 4096  # sections of the ELF file that is made for one run; ELF ends at 65,279
_MACH_OF_TARGET = {target: mach for mach, target in TARGET_OF_MACH.items()}
_OBJDUMP_ROW = re.compile(rb"\t(.*\S)\s*// ([0-9A-F]+): ([0-9A-F]{8}(?: [0-9A-F]{8})*)")
_UNKNOWN_CPU = b"is not a recognized processor"


class Chunk(NamedTuple):
    """Code at an ELF address, [start, end) in the bytes of the attempt; its first byte starts an instruction."""

    address: int
    start: int
    end: int


@dataclass
class Attempt:
    """Code, the chunks of it that nobody has disassembled yet, and the rows so far."""

    code: bytes
    pending: deque[Chunk]
    rows: list[tuple[int, bytes]] = field(default_factory=list)

    def take(self, address: int, size: int, line: bytes) -> bool:
        """Take a row when it lies at the front of the first pending chunk."""
        if not self.pending:
            return False
        chunk = self.pending[0]
        if address != chunk.address or not 0 < size <= chunk.end - chunk.start:
            return False
        self.rows.append((address, line))
        if chunk.end - chunk.start - size < _WORD_BYTES:
            self.pending.popleft()
        else:
            self.pending[0] = Chunk(address + size, chunk.start + size, chunk.end)
        return True

    def skip_word(self) -> int:
        """Give up the first pending word; its address."""
        chunk = self.pending[0]
        word = int.from_bytes(self.code[chunk.start : chunk.start + _WORD_BYTES], "little")
        self.take(chunk.address, _WORD_BYTES, b"%d\t%d\t.long 0x%08x\n" % (chunk.address, _WORD_BYTES, word))
        return chunk.address


@dataclass
class Result:
    """How a disassembler did. `unusable` is set where it cannot work for this target at all."""

    name: str = ""
    notes: list[str] = field(default_factory=list)
    unusable: str = ""


def run_library(path: str, target: str, attempt: Attempt) -> Result:
    """Disassemble with the libLLVM at `path`. A death of the child costs the word it died on."""
    result = Result()
    flush_rows, hangs = _FLUSH_ROWS, 0
    for _ in range(_MAX_RESTARTS + 1):
        outcome = _run_child(path, target, attempt, flush_rows)
        header, *lines = outcome.stdout.split(b"\n")[:-1] or [b""]
        if not header.startswith(b"llvm "):
            result.unusable = _why_unusable(header, outcome)
            return result
        result.name = f"libLLVM {header[5:].decode('ascii', 'replace')}"
        taken = sum(1 for _ in _take_all(attempt, lines))
        if not attempt.pending:
            return result
        hangs += "no answer" in outcome.failure
        if taken == 0 and flush_rows == 1:
            failure = outcome.failure or "garbage"
            result.notes.append(f"{result.name} failed on the word at {attempt.skip_word():#x} ({failure})")
            flush_rows = _FLUSH_ROWS
        else:
            flush_rows = 1  # row by row now, to see on which word it dies
        if hangs >= _MAX_HANGS:
            break
    result.notes.append(f"{result.name} failed too often and was given up ({outcome.failure or 'garbage'})")
    return result


def _run_child(path: str, target: str, attempt: Attempt, flush_rows: int) -> Outcome:
    chunks = list(attempt.pending)
    code = b"".join(attempt.code[chunk.start : chunk.end] for chunk in chunks)
    request = {
        "library": path,
        "cpu": target,
        "flush_rows": flush_rows,
        "chunks": [[chunk.address, chunk.end - chunk.start] for chunk in chunks],
    }
    argv = [sys.executable or "python3", "-I", "-S", str(_CHILD)]
    return _run(argv, json.dumps(request).encode() + b"\n" + code, len(code))


def _run(argv: list[str], stdin: bytes, code_bytes: int) -> Outcome:
    limit = _OUTPUT_FLOOR_BYTES + _OUTPUT_PER_CODE_BYTE * code_bytes
    total_s = 2 * _IDLE_S + code_bytes / _BYTES_PER_S
    return run_bounded(argv, stdin, idle_s=_IDLE_S, total_s=total_s, output_limit_bytes=limit)


def _why_unusable(header: bytes, outcome: Outcome) -> str:
    if header.startswith(b"unusable: "):
        return header[10:].decode("utf-8", "replace")
    stderr_lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return (
        stderr_lines[0]
        if _UNKNOWN_CPU in outcome.stderr
        else outcome.failure or (stderr_lines[-1] if stderr_lines else "no answer")
    )


def _take_all(attempt: Attempt, lines: Iterable[bytes]) -> Iterator[int]:
    """Take rows as long as they fit the code; yields the address of each."""
    for line in lines:
        fields = line.split(b"\t", 2)
        if len(fields) != 3 or not (fields[0].isdigit() and fields[1].isdigit()):
            return
        address = int(fields[0])
        if not attempt.take(address, int(fields[1]), line + b"\n"):
            return
        yield address


def run_objdump(path: str, target: str, attempt: Attempt) -> Result:
    """Disassemble with the llvm-objdump at `path`, from an ELF file made for it that holds nothing but the code."""
    result = Result("llvm-objdump")
    if target not in _MACH_OF_TARGET:
        result.unusable = f"no ELF number is known for {target}"
        return result
    argv = [path, "--disassemble", "--disassemble-zeroes", f"--mcpu={target}", "-"]
    worked, restarts = False, 0
    while attempt.pending:
        chunks = list(islice(attempt.pending, _OBJDUMP_CHUNKS))
        outcome = _run(argv, _make_elf(attempt.code, chunks, target), sum(c.end - c.start for c in chunks))
        taken = sum(1 for _ in _take_all(attempt, _objdump_rows(outcome.stdout)))
        worked = worked or taken > 0
        if not attempt.pending or attempt.pending[0].start >= chunks[-1].end:
            continue
        failure = outcome.failure or "its output is not a disassembly"
        if not worked:
            result.unusable = _why_unusable(b"", outcome) if outcome.failure else failure
            return result
        if restarts == _MAX_RESTARTS or "no answer" in failure:
            result.notes.append(f"llvm-objdump stopped at {attempt.pending[0].address:#x} ({failure})")
            return result
        restarts += 1
        if taken == 0:
            result.notes.append(f"llvm-objdump failed on the word at {attempt.skip_word():#x} ({failure})")
    return result


def _objdump_rows(stdout: bytes) -> Iterator[bytes]:
    for line in stdout.split(b"\n")[:-1]:  # a line without its end was cut
        match = _OBJDUMP_ROW.match(line)
        if match:
            size = _WORD_BYTES * (match[3].count(b" ") + 1)
            yield b"%d\t%d\t%b" % (int(match[2], 16), size, b" ".join(match[1].split()))


def _make_elf(code: bytes, chunks: list[Chunk], target: str) -> bytes:
    """An ELF file with one section per chunk and no symbols: objdump has nothing to put in place of displacements."""
    section = struct.Struct("<IIQQQQIIQQ")
    names = b"\0.text\0"
    body_at = 64 + len(names)
    headers, bodies, at = [bytes(section.size)], [], body_at
    for chunk in chunks:
        bodies.append(code[chunk.start : chunk.end])
        headers.append(section.pack(1, 1, 6, chunk.address, at, len(bodies[-1]), 0, 0, 4, 0))
        at += len(bodies[-1])
    headers.append(section.pack(0, 3, 0, 0, 64, len(names), 0, 0, 1, 0))
    ident = b"\x7fELF\x02\x01\x01\x40\x04" + bytes(7)
    flags = _MACH_OF_TARGET[target]
    header = struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, at, flags, 64, 0, 0, 64, len(headers), len(headers) - 1)
    return ident + header + names + b"".join(bodies) + b"".join(headers)
