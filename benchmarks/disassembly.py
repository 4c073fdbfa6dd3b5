"""How fast machine code becomes text and operands, against LLVM in a child process.

Prints rows per second of processor time of the core, without and with operands, and how many times slower LLVM's C
interface is, driven as `wavewright.codeobj` drives it (child and parent together), on the same bytes. The code is that
of our own kernels, repeated, and of files that are named: libraries, executables, code objects.

usage: python -m benchmarks.disassembly [--repeats N] [--mb SIZE] [FILE ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from synth.kernels import KERNELS, TARGETS, kernel_path
from tools.isa.judge_library import texts_in
from tools.isa.judge_llvm import UnavailableError, library
from wavewright import _core
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.libllvm import child as llvm_child

LEAST_ROWS_PER_SECOND = 2e6
"""The goal, on one core."""
KERNEL_BYTES = 2 << 20
LLVM_BYTES = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mb", type=float, default=8, help="code of each target that is taken from the files")
    parser.add_argument("files", nargs="*", type=Path)
    asked = parser.parse_args()
    for target in TARGETS:
        code = b"".join(_text(CodeObject.read(kernel_path(kernel, target))) for kernel in KERNELS)
        measure(f"{target} kernels", target, code * (KERNEL_BYTES // len(code) + 1), asked.repeats)
    for target, code in library_code(asked.files, round(asked.mb * 1e6)).items():
        measure(f"{target} library", target, code, asked.repeats)


def library_code(files: list[Path], most_bytes: int) -> dict[str, bytes]:
    """Code of each target, up to a size."""
    parts: dict[str, bytearray] = {}
    for file in files:
        for text in texts_in(file):
            part = parts.setdefault(text.target, bytearray())
            part += text.code[: max(0, most_bytes - len(part)) // 4 * 4]
    return {target: bytes(part) for target, part in sorted(parts.items())}


def measure(name: str, target: str, code: bytes, repeats: int) -> None:
    nearest = _core.isa_nearest(target)
    if nearest is None:
        return
    chunk = [(0, 0, len(code), False)]
    rows = len(_core.disassemble(code, chunk, nearest[0], operands=False).rows)
    text_only = rows / _best(lambda: _core.disassemble(code, chunk, nearest[0], operands=False), repeats)
    operands = rows / _best(lambda: _core.disassemble(code, chunk, nearest[0], operands=True), repeats)
    verdict = "" if text_only >= LEAST_ROWS_PER_SECOND else "  BELOW what is asked for"
    line = f"{name:20} {rows:9,} rows  {text_only / 1e6:5.2f} M rows/s  with operands {operands / 1e6:5.2f} M rows/s"
    print(f"{line}  {_against_llvm(target, code[:LLVM_BYTES], text_only)}{verdict}", flush=True)


def _against_llvm(target: str, code: bytes, ours: float) -> str:
    try:
        path = library()
    except UnavailableError as error:
        return f"({error})"
    request = {"library": path, "cpu": target, "flush_rows": 1000, "chunks": [[0, len(code), False]]}
    before = os.times()
    command = [sys.executable, "-I", "-S", llvm_child.__file__]
    done = subprocess.run(command, input=json.dumps(request).encode() + b"\n" + code, capture_output=True, check=False)
    after = os.times()
    if not done.stdout.endswith(b"end\n"):
        return "(LLVM died)"
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    rows = done.stdout.count(b"\n")
    return f"{ours * seconds / rows:5.1f} x LLVM"


def _best(call: Callable[[], object], repeats: int) -> float:
    """Processor seconds of the fastest run."""
    spent = []
    for _ in range(repeats):
        begin = time.process_time()
        result = call()
        spent.append(time.process_time() - begin)
        del result
    return min(spent)


def _text(code: CodeObject) -> bytes:
    return b"".join(code.bytes_at(address, size) for address, size in code.text_ranges)


if __name__ == "__main__":
    main()
