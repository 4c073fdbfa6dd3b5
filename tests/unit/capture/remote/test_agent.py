"""The agent is one program for every Python from 3.6 on, with nothing but the standard library."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.capture.made_connections import OLD_PYTHON
from wavewright.capture.machines import left_behind
from wavewright.capture.machines import machine as machines
from wavewright.capture.remote import agent, connection
from wavewright.capture.remote.agent import looking, programs

#: Of the standard library of 3.6.
MODULES = {
    *("contextlib", "errno", "glob", "grp", "hashlib", "json", "os", "platform", "re", "selectors", "shutil", "signal"),
    *("stat", "struct", "subprocess", "sys", "threading", "time", "typing"),
}
FILES = sorted(Path(agent.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_its_syntax_and_imports_are_those_of_python_3_6(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name in MODULES or name.startswith(agent.__name__), name


def test_every_module_is_sent_after_those_that_it_imports() -> None:
    sent: set[str] = set()
    for name in connection._PIECES:
        text = (Path(agent.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(agent.__name__):
                imported = (node.module or "").removeprefix(agent.__name__).lstrip(".")
                assert {imported} <= sent if imported else {alias.name for alias in node.names} <= sent
        sent.add(name)
    assert {f"{name}.py" for name in (*sent, "__init__")} == {path.name for path in FILES}


@pytest.mark.parametrize("python", [sys.executable, OLD_PYTHON])
def test_it_starts_where_nothing_of_wavewright_is(python: str | None, tmp_path: Path) -> None:
    if python is None:
        pytest.skip("no Python 3.6 here")
    source = connection.agent_source()
    words = [python, "-I", "-S", "-u", "-c", connection._BOOTSTRAP, "mark"]
    given = b"%d\n" % len(source) + source
    done = subprocess.run(words, input=given, capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\nmark\n", b"")


def test_numbers_that_both_ends_have_are_the_same() -> None:
    from wavewright.capture.machines import local_runner

    assert looking.READ_BYTES_MAX == machines.READ_BYTES_MAX
    assert programs.MARK.decode() == left_behind.MARK
    for name in ("TERM_SECONDS", "DEATH_SECONDS", "REMAINS_SECONDS", "DRAIN_SECONDS", "TAIL_BYTES_MAX"):
        assert getattr(programs, name) == getattr(local_runner, f"_{name}"), name


def test_group_zero_is_nobody() -> None:
    """Processes that were started from outside of a container have group 0, and so have threads of the kernel."""
    assert programs.members(0, "") == set()
    assert programs.members(0, "no such mark") == set()


def test_signals_never_go_to_the_first_process_nor_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    monkeypatch.setattr(os, "killpg", lambda pid, number: sent.append((pid, number)))
    programs.signal_all([0, 1, os.getpid(), -1], 15)
    programs.send_signal(0, 15)
    programs.send_signal(1, 15)
    assert sent == []
