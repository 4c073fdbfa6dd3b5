"""The page of promises: each command of it runs, each test that it names exists, its sums are right."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.in_process import call

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/explanation/promises.md"
STATES = ("works", "dry run", "partly", "missing", "not tried", "not applicable")
ROW = re.compile(r"^\| (\d{3}\.\d+) \| (.*?) \| (.*?) ?\| (" + "|".join(STATES) + r")(?:: (.*))? \|$")


def rows() -> list[tuple[str, str, str, str]]:
    """Number, how to try it, state, remark."""
    found = [match for line in PAGE.read_text(encoding="utf-8").splitlines() if (match := ROW.match(line))]
    return [(match[1], match[3].replace("\\|", "|"), match[4], match[5] or "") for match in found]


def commands() -> list[str]:
    named = (re.search(r"`wavewright ((?!capture pool|capture -i)[^`.]\S* [^`]*)`", each) for _, each, _, _ in rows())
    return list(dict.fromkeys(match[1] for match in named if match))


def test_every_promise_is_there_once_and_the_sums_are_theirs() -> None:
    numbers = [number for number, *_ in rows()]
    assert len(numbers) == len(set(numbers)) == 267
    count = Counter(state for _, _, state, _ in rows())
    last = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| all | "))
    assert [int(cell) for cell in last.strip("| ").split(" | ")[1:]] == [*(count[state] for state in STATES), 267]


def test_what_is_not_there_has_a_reason_and_what_is_named_exists() -> None:
    for number, way, state, remark in rows():
        assert remark or state not in ("partly", "missing", "not tried"), number
        assert way or remark or state == "not applicable", number
        for path in re.findall(r"tests/[\w/.]+", way):
            assert (ROOT / path).exists(), (number, path)
        for path in re.findall(r"\]\(([^)]+)\)", way + remark):
            assert (PAGE.parent / path).exists(), (number, path)


def tried(command: str, shared: Path, out: Path) -> None:
    words = [str(out / word) if word.startswith("OUT") else word for word in shlex.split(command)]
    data = shared / "data"
    words = [str(data / word) if "/" in word and (data / word).exists() else word for word in words]
    words = [str(data / word) if word in ("pcsampling-rcv", "pmc-mi300x-bmm") else word for word in words]
    done = call(*words)
    is_refused = command.startswith("decode") and command.endswith(".out")
    assert done.status == (3 if is_refused else 0), (command, done.stderr[-500:])
    assert "Traceback" not in done.stderr
    assert done.stdout or list(out.iterdir()) or is_refused, command


@pytest.mark.slow
def test_queries_of_the_tutorials_run(shared: Path, tmp_path: Path) -> None:
    queries = [command for command in commands() if command.startswith("query")]
    assert len(queries) > 25
    for command in queries:
        tried(command, shared, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("command", [each for each in commands() if not each.startswith("query")])
def test_every_command_runs(command: str, shared: Path, tmp_path: Path) -> None:
    tried(command, shared, tmp_path)


@pytest.mark.slow
def test_dry_runs_against_six_releases(shared: Path, tmp_path: Path) -> None:
    """With the script of each recorded release: a command that it takes, or the first release that can."""
    maker = shared / "data/rocprofv3-tree/make_tree.py"
    if not maker.is_file():
        pytest.skip("../shared/data/rocprofv3-tree is not here")
    scripts = sorted(folder.name for folder in (maker.parent / "scripts").iterdir())
    dry = [command for command in commands() if "--dry-run" in command and "--tool" not in command]
    assert (len(scripts), len(dry) >= 18) == (6, True)
    for script in scripts:
        root, rocm = tmp_path / script / "opt/rocm", re.search(r"\d+\.\d+$", script)
        options = ["--rocm", rocm[0]] if rocm else []
        subprocess.run([sys.executable, maker, root, "--version", script, *options], check=True, capture_output=True)
        for command in dry:
            words = shlex.split(re.sub(r"--rocm-version \S+", f"--rocprofv3 {root}/bin/rocprofv3", command))
            done = call(*words)
            assert "Traceback" not in done.stderr
            if done.status == 0:
                assert f"{root}/bin/rocprofv3 -" in re.sub(r"[\\\\\s]+", " ", done.stdout), (script, command)
            else:
                assert "cannot record" in done.stderr or "the first release" in done.stderr, (
                    script,
                    command,
                    done.stderr,
                )
