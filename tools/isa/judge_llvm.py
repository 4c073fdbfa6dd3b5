"""Ask LLVM 22 what instructions are: the judge of the disassembler in the core.

LLVM runs in a program of its own (judge_llvm.cpp), which is compiled at the first use and goes on when LLVM dies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[1] / "build" / "isa"
#: The longest instruction has 16 bytes and a literal.
WINDOW_BYTES = 20
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1",
    "/usr/lib/aarch64-linux-gnu/libLLVM.so.22.1",
    "/usr/lib/llvm-22/lib/libLLVM.so.22.1",
)
DEATH, NONE, SOFT = "!", "-", "~"


class UnavailableError(Exception):
    """LLVM 22 or a compiler is missing here; the sentence says which."""


@dataclass(frozen=True)
class Answer:
    """The instruction at the front of a window; size 0 and a sign (`DEATH`, `NONE`, `SOFT`) where there is none."""

    size: int
    text: str
    record: str = ""
    #: Words as judge_operands.cpp prints them.
    operands: str = ""


def library() -> str:
    """Path of LLVM 22; `LLVM_22` in the environment says it, too."""
    for path in (os.environ.get("LLVM_22", ""), *LIBRARIES):
        if path and Path(path).is_file():
            return path
    raise UnavailableError("no libLLVM.so.22.1 here (apt-get install llvm-22)")


def wave_sizes(column: str) -> tuple[bool, ...]:
    """Sizes of waves to try, True = 64 threads: gfx9 has no others, gfx1250 none of them."""
    return (True,) if column.startswith("gfx9") else (False,) if column.startswith("gfx125") else (False, True)


def features(column: str, *, wave64: bool) -> str:
    """LLVM's features for a wave size; gfx9 has waves of 64 only."""
    return "+wavefrontsize64" if wave64 and not column.startswith("gfx9") else ""


def ask(column: str, windows: bytes, *, wave64: bool = False) -> list[Answer]:
    """Answers of LLVM about windows of `WINDOW_BYTES` each: size and text."""
    program = _compiled("judge_llvm", ("-ldl",))
    return _answers([str(program), library(), column, features(column, wave64=wave64)], windows)


def ask_operands(column: str, windows: bytes, *, wave64: bool = False) -> list[Answer]:
    """The same with records and operands; needs LLVM's headers (llvm-22-dev), in /usr or in `LLVM_22_DEV`."""
    root = Path(os.environ.get("LLVM_22_DEV", "/usr"))
    headers = (root / "include/llvm-22", root / "lib/llvm-22/include")
    if not any((folder / "llvm/MC/MCInst.h").is_file() for folder in headers):
        raise UnavailableError("no headers of LLVM 22 here (apt-get install llvm-22-dev, or set LLVM_22_DEV)")
    program = _compiled("judge_operands", ("-fno-rtti", *(f"-I{folder}" for folder in headers), library()))
    return _answers([str(program), column, features(column, wave64=wave64)], windows)


def _compiled(name: str, options: tuple[str, ...]) -> Path:
    """A program from its source beside this file; compiled again when the source is another."""
    source = HERE / f"{name}.cpp"
    compiler = shutil.which("g++") or shutil.which("clang++-22") or shutil.which("c++")
    if compiler is None:
        raise UnavailableError("no C++ compiler here")
    digest = hashlib.sha256(source.read_bytes() + repr((options, compiler)).encode()).hexdigest()[:12]
    program = BUILT / f"{name}-{digest}"
    if not program.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        part = program.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-std=c++20", "-O2", "-o", str(part), str(source), *options], check=True)
        part.replace(program)
    return program


def _answers(command: list[str], windows: bytes) -> list[Answer]:
    done = subprocess.run(command, input=windows, capture_output=True, check=False)
    lines = done.stdout.decode("ascii", "backslashreplace").split("\n")[:-1]
    if done.returncode != 0 or len(lines) * WINDOW_BYTES != len(windows):
        raise UnavailableError(f"the judge ended early: {done.stderr.decode(errors='replace').strip()}")
    return [_answer(line.split("\t")) for line in lines]


def _answer(parts: list[str]) -> Answer:
    if len(parts) == 2:
        return Answer(int(parts[0]), parts[1])
    size, record, text, operands = parts
    return Answer(int(size), text, record, operands)
