"""Plant small defects, one at a time, and see whether the tests notice.

    tools/plant_defects.py list                              the defects that the seed gives
    tools/plant_defects.py plant NUMBER --checkout FOLDER    write one of them into a checkout
    tools/plant_defects.py run --checkout FOLDER --coverage FILE [--every] -o results.json

Defects are drawn from the whole tree by a fixed seed, so that the same commit gives the same ones: a comparison, an
operator or a number is changed. `run` plants each into a checkout that was set up by `make ready` (not the one you work
in), runs the tests until one fails, and takes the defect out again. For Python it runs the tests that execute the
changed line, which FILE tells: tools/coverage.sh writes it. With --every, tests that are marked slow count, too.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
SEED = 31


@dataclass(frozen=True)
class Area:
    """A part of the program and how many defects it gets."""

    name: str
    count: int
    folders: tuple[str, ...]
    suffixes: tuple[str, ...] = (".py",)


AREAS = (
    Area("readers", 8, ("src/wavewright/readers", "src/wavewright/codeobj")),
    Area("analyses", 10, ("src/wavewright/analysis",)),
    Area("reports", 7, ("src/wavewright/report", "src/wavewright/export")),
    Area("page", 3, ("src/wavewright/page", "src/wavewright/server")),
    Area("page's program", 4, ("web/src",), (".ts", ".tsx")),
    Area("core", 8, ("cpp/src", "cpp/bind"), (".cpp", ".hpp")),
)


@dataclass(frozen=True)
class Defect:
    """`before` at `column` of `line` becomes `after`; lines count from 1, columns from 0."""

    number: int
    area: str
    path: str
    line: int
    column: int
    before: str
    after: str

    def planted(self, text: str) -> str:
        """The text of the file with the defect."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        end = self.column + len(self.before)
        if line[self.column : end] != self.before:
            raise SystemExit(f"{self.path}:{self.line} is not as it was when the defects were drawn: same commit?")
        lines[self.line - 1] = line[: self.column] + self.after + line[end:]
        return "".join(lines)

    def __str__(self) -> str:
        return (
            f"{self.number:2}  {self.area:<15} {self.path}:{self.line}: {self.before.strip()} -> {self.after.strip()}"
        )


# What may be changed into what. Spaces around operators keep templates and generics of C++ and TypeScript out.
_OPERATORS = {
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " + ": " - ",
    " - ": " + ",
    " * ": " + ",
    " // ": " * ",
    " / ": " * ",
    " % ": " + ",
    " << ": " >> ",
    " >> ": " << ",
    " && ": " || ",
    " || ": " && ",
    " === ": " !== ",
    " !== ": " === ",
    " and ": " or ",
    " or ": " and ",
    " is not ": " is ",
    " not in ": " in ",
    " += ": " -= ",
    " -= ": " += ",
    "True": "False",
    "False": "True",
    "true": "false",
    "false": "true",
}
_SITE = re.compile(
    "|".join(re.escape(key) for key in sorted(_OPERATORS, key=len, reverse=True) if key.startswith(" "))
    + r"|\b(?:True|False|true|false)\b|(?<![\w.#\"'])\d+(?![\w.\"'])"
)
_NOT_CODE = re.compile(r"^\s*(//|/?\*|#|import |from |static_assert|using |template|export (type|interface)|type |@)")
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|//.*$|(?<!\w)#.*$")


def defects(root: Path) -> list[Defect]:
    """The defects of the tree that `root` holds."""
    draw = random.Random(SEED)  # noqa: S311  nothing secret
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    chosen: list[Defect] = []
    for area in AREAS:
        paths = [p for p in listed if p.startswith(tuple(f"{f}/" for f in area.folders)) and p.endswith(area.suffixes)]
        paths = [path for path in paths if ".test." not in path and ".gen." not in path]
        sites = [(path, *site) for path in paths for site in _sites(root / path)]
        for path, line, column, before in draw.sample(sites, area.count):
            after = _OPERATORS.get(before) or str(int(before) + 1)
            chosen.append(Defect(len(chosen) + 1, area.name, path, line, column, before, after))
    return chosen


def _sites(path: Path) -> Iterator[tuple[int, int, str]]:
    text = path.read_text()
    left_out = _lines_without_behaviour(text) if path.suffix == ".py" else set()
    for number, line in enumerate(text.splitlines(), start=1):
        if number in left_out or _NOT_CODE.match(line):
            continue
        bare = _TEXT.sub(lambda match: "\0" * len(match.group()), line)
        for match in _SITE.finditer(bare):
            yield number, match.start(), match.group()


def _lines_without_behaviour(text: str) -> set[int]:
    """Lines of texts that span lines, of annotations and of imports for annotations only."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno != node.lineno
        is_typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if is_text or is_typing:
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


_MOST_NAMED = 60  #: Tests that are named one by one.
_MOST_S = 1800  #: Of one step: tests that wait for ever noticed the defect, too.


class Judge:
    """Runs the tests of one checkout."""

    def __init__(self, checkout: Path, coverage: Path | None, *, is_every: bool) -> None:
        self._checkout = checkout
        self._data = self._contexts(coverage) if coverage else None
        self._markers = [] if is_every else ["-m", "not slow"]

    def _contexts(self, coverage: Path) -> Callable[[str], dict[int, list[str]]]:
        from coverage import CoverageData

        data = CoverageData(str(coverage))
        data.read()
        measured = {str(path).split("/src/", 1)[-1]: path for path in data.measured_files()}
        return lambda path: data.contexts_by_lineno(measured.get(path.removeprefix("src/"), path))

    def tests(self, defect: Defect) -> list[str]:
        """The tests that execute the line of a defect, or their files where they are many; the most specific first."""
        by_line = self._data(defect.path) if self._data else {}
        known = [name for name in by_line.get(defect.line, []) if (self._checkout / name.partition("::")[0]).is_file()]
        names = known if len(known) <= _MOST_NAMED else {name.partition("::")[0] for name in known}
        stem = Path(defect.path).stem
        return sorted(names, key=lambda name: (stem not in name, name))

    def catches(self, defect: Defect) -> str:
        """The first test that fails, or an empty text."""
        if defect.path.startswith("web/"):
            steps = [["npm", "--prefix", "web", "test"], ["make", "page"], self._pytest(["tests/e2e"])]
        elif defect.path.startswith("cpp/"):
            broad = [
                "tests/golden",
                "tests/property",
                "tests/unit/codeobj",
                "tests/unit/analysis",
                "tests/unit/readers",
            ]
            steps = [["make", "test-core"], ["make", ".venv/stamps/package"], self._pytest([*broad, "tests/damage"])]
        else:
            files = self.tests(defect) or ["tests/cli", "tests/unit/test_docstrings.py"]
            steps = [self._pytest(files)]
        for step in steps:
            status, output = self._ran(step)
            if status not in (0, 5):  # 5: no test was selected
                failed = re.search(r"^(FAILED|ERROR) (\S+)", output, re.MULTILINE)
                return failed.group(2) if failed else " ".join(step[:3])
        return ""

    def _ran(self, step: Sequence[str]) -> tuple[int, str]:
        """Status and output of a step; it has a session of its own, so that all that it started ends with it."""
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                step,
                cwd=self._checkout,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(),
                start_new_session=True,
            )
            try:
                status = process.wait(_MOST_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = process.wait()
            output.seek(0)
            return status, output.read()

    def _pytest(self, paths: Sequence[str]) -> list[str]:
        python = str(self._checkout / ".venv/bin/python")
        return [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *self._markers, *paths]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1"}


def _run(arguments: argparse.Namespace) -> None:
    checkout = arguments.checkout.resolve()
    if checkout == ROOT:
        raise SystemExit("name another checkout than this one: defects are written into it")
    judge = Judge(checkout, arguments.coverage, is_every=arguments.every)
    results = []
    for defect in defects(checkout):
        if arguments.only and defect.number not in arguments.only:
            continue
        path = checkout / defect.path
        whole = path.read_text()
        path.write_text(defect.planted(whole))
        began_s = time.monotonic()
        try:
            caught = judge.catches(defect)
        finally:
            path.write_text(whole)
        results.append({**asdict(defect), "caught_by": caught})
        print(
            f"{defect}  {'caught by ' + caught if caught else 'NOT CAUGHT'} ({time.monotonic() - began_s:.0f} s)",
            flush=True,
        )
        arguments.output.write_text(json.dumps(results, indent=1))
    print(f"{sum(bool(result['caught_by']) for result in results)} of {len(results)} caught")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list")
    plant = verbs.add_parser("plant")
    plant.add_argument("number", type=int)
    run = verbs.add_parser("run")
    run.add_argument("--coverage", type=Path, help="data of tools/coverage.sh")
    run.add_argument("--every", action="store_true", help="tests that are marked slow, too")
    run.add_argument("--only", type=int, nargs="*", help="numbers of defects")
    run.add_argument("-o", "--output", type=Path, required=True)
    for verb in (plant, run):
        verb.add_argument("--checkout", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.verb == "list":
        print(*defects(ROOT), sep="\n")
    elif arguments.verb == "plant":
        defect = defects(arguments.checkout)[arguments.number - 1]
        path = arguments.checkout / defect.path
        path.write_text(defect.planted(path.read_text()))
        print(defect)
    else:
        _run(arguments)


if __name__ == "__main__":
    sys.exit(main())
