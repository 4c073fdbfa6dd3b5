"""Compare the disassembler in the core with LLVM 22, by hand.

usage: python -m tools.isa.judge fill [--target gfx942] [--fills 20] [--seed 1]
       python -m tools.isa.judge edges [--target gfx942] [--fills 20] [--seed 1]
       python -m tools.isa.judge windows [--target gfx942] [--count 100000] [--seed 1]
       python -m tools.isa.judge library [--mb 16] PATH...   distinct instructions of the code objects in files, folders
       python -m tools.isa.judge tests FOLDER         LLVM's own vectors (llvm/test/MC/Disassembler/AMDGPU)

Differences that are allowed have names (judge_compare.ALLOWED); any other makes the command fail and is printed.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tools.isa import judge_cases, judge_library
from tools.isa.judge_compare import Verdict, compare
from tools.isa.judge_llvm import WINDOW_BYTES, wave_sizes
from wavewright import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

_BYTES = re.compile(r"(?:0x[0-9a-fA-F]{1,2}[, ]*)+")
_CPU = re.compile(r"-mcpu=(gfx\w+(?:-generic)?)")
_LIBRARY_BYTES = 16 << 20  # of a target that are disassembled at once


def columns(target: str | None) -> list[str]:
    """One table column, or all."""
    return [target] if target else _core.isa_targets()


class Report:
    """Prints verdicts; remembers whether all were right."""

    def __init__(self, most_shown: int) -> None:
        self.shown = most_shown
        self.failed = False
        self.allowed: Counter[str] = Counter()

    def add(self, name: str, verdict: Verdict) -> None:
        """Print a verdict and some of its differences."""
        print(f"{name}: {verdict}", flush=True)
        self.allowed.update(verdict.allowed)
        if verdict.differences:
            self.failed = True
            print("\n".join(verdict.examples().split("\n")[: self.shown]))


def fill(arguments: argparse.Namespace, report: Report) -> None:
    """Every record with random bits where it has none of its own."""
    for column in columns(arguments.target):
        for wave64 in wave_sizes(column):
            cases = judge_cases.fills(column, arguments.fills, arguments.seed)
            report.add(_name(column, wave64=wave64), compare(column, cases, wave64=wave64))


def edges(arguments: argparse.Namespace, report: Report) -> None:
    """Every record with few bits or many, and with literals like inline constants."""
    for column in columns(arguments.target):
        for wave64 in wave_sizes(column):
            cases = judge_cases.edges(column, arguments.fills, arguments.seed)
            report.add(_name(column, wave64=wave64), compare(column, cases, wave64=wave64))


def windows(arguments: argparse.Namespace, report: Report) -> None:
    """Random bytes."""
    for column in columns(arguments.target):
        for wave64 in wave_sizes(column):
            cases = judge_cases.windows(column, arguments.count, arguments.seed)
            report.add(_name(column, wave64=wave64), compare(column, cases, wave64=wave64))


def library(arguments: argparse.Namespace, report: Report) -> None:
    """Every distinct instruction once; the rows of ours say where they begin, so a wrong size shows as a difference."""
    rows: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    frames_by_family: dict[str, pl.DataFrame] = {}
    for path in _files(arguments.paths):
        for text in judge_library.texts_in(path):
            nearest = _core.isa_nearest(text.target)
            if nearest is None or arguments.target not in (None, text.target, nearest[0]):
                continue
            for start in range(0, len(text.code), _LIBRARY_BYTES):
                if sizes[text.target] >= arguments.mb * 1e6:
                    break
                code = text.code[start : start + _LIBRARY_BYTES]
                sizes[text.target] += len(code)
                table = pl.DataFrame(
                    _core.disassemble(code, [(0, 0, len(code), arguments.wave64)], nearest[0], operands=False).rows
                )
                at, size = table["address"].to_numpy().astype(np.int64), table["size"].to_numpy()
                rows[text.target] += len(at)
                instructions = judge_library.distinct(code, at, size)
                if text.target in frames_by_family:
                    instructions = instructions.join(frames_by_family[text.target], on=judge_library.KEY, how="anti")
                windows = judge_library.windows_at(code, instructions["at"].to_numpy())
                new = instructions.select(
                    *judge_library.KEY,
                    window=pl.Series([window.tobytes() for window in windows], dtype=pl.Binary),
                )
                frames_by_family[text.target] = (
                    pl.concat([frames_by_family[text.target], new]) if text.target in frames_by_family else new
                )
    for target, instructions in sorted(frames_by_family.items()):
        column = _core.isa_nearest(target)
        windows_of = instructions["window"].to_list()
        verdict = compare(target, windows_of, wave64=arguments.wave64, column=column[0] if column else target)
        report.add(f"{target}, {rows[target]} rows, {len(windows_of)} distinct", verdict)


def tests(arguments: argparse.Namespace, report: Report) -> None:
    """The bytes in LLVM's test files, for the targets that their RUN lines name."""
    cases: dict[tuple[str, bool], set[bytes]] = {}
    for path in sorted(Path(arguments.folder).rglob("*.txt")):
        text = path.read_text(errors="replace")
        codes = [_code(line) for line in text.splitlines()]
        for run in (line for line in text.splitlines() if "RUN:" in line):
            for target in _CPU.findall(run):
                if _core.isa_nearest(target):
                    cases.setdefault((target, "+wavefrontsize64" in run), set()).update(filter(None, codes))
    for (target, wave64), windows_of in sorted(cases.items()):
        column = _core.isa_nearest(target)
        verdict = compare(target, sorted(windows_of), wave64=wave64, column=column[0] if column else target)
        report.add(_name(target, wave64=wave64), verdict)


def _code(line: str) -> bytes | None:
    match = _BYTES.match(line.lstrip("[ "))
    code = bytes(int(word, 16) for word in re.findall(r"0x([0-9a-fA-F]{1,2})", match[0])) if match else b""
    return code.ljust(WINDOW_BYTES, b"\0") if 4 <= len(code) <= WINDOW_BYTES else None


def _files(paths: list[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from (
            (file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink())
            if (path.is_dir())
            else (path,)
        )


def _name(column: str, *, wave64: bool) -> str:
    return f"{column} wave64" if wave64 else column


def main() -> None:
    """Run a command of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shown", type=int, default=60, help="lines of differences that are printed")
    commands = parser.add_subparsers(required=True)
    for command, options in (
        (fill, [("--target", str, None), ("--fills", int, 20), ("--seed", int, 1)]),
        (edges, [("--target", str, None), ("--fills", int, 20), ("--seed", int, 1)]),
        (windows, [("--target", str, None), ("--count", int, 100_000), ("--seed", int, 1)]),
        (library, [("--target", str, None), ("--mb", float, math.inf)]),
        (tests, []),
    ):
        child = commands.add_parser(command.__name__)
        child.set_defaults(command=command)
        for name, kind, default in options:
            child.add_argument(name, type=kind, default=default)
        if command is library:
            child.add_argument("--wave64", action="store_true")
            child.add_argument("paths", nargs="+")
        if command is tests:
            child.add_argument("folder")
    arguments = parser.parse_args()
    report = Report(arguments.shown)
    arguments.command(arguments, report)
    print("allowed:", dict(report.allowed))
    sys.exit(report.failed)


if __name__ == "__main__":
    main()
