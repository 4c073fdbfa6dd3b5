"""AMD's own rocprofv3 of six releases, run without ROCm: in a process of its own, or within the test where it is many.

Inside the test the script's `main` is called with the words; where it would become the program (`execvpe`) or start it
(`check_call`), the words and variables are recorded instead. Everything else is AMD's code as published.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

#: Release -> folder of its scripts in ../shared/data/rocprofv3-tree/scripts.
SCRIPTS = {
    "6.2": "0.4.0_rocm-6.2",
    "6.3": "0.5.0_rocm-6.3",
    "7.0": "1.0.0_rocm-7.0",
    "7.11": "1.1.0_2026-01-14",
    "7.13": "1.3.0_therock-7.13",
    "7.14": "1.3.2_2026-07-13",
}


def old_and_new(values: Iterable[Any]) -> list[Any]:
    """The first and the last, for tests that start processes; those between are marked slow."""
    every = list(values)
    ends = (every[0], every[-1])
    return [pytest.param(value, marks=() if value in ends else pytest.mark.slow) for value in every]


class _BecameProgramError(Exception):
    pass


@dataclass
class Outcome:
    """What the script did."""

    status: int
    stderr: str
    stdout: str
    runs: list[tuple[list[str], dict[str, str]]] = field(default_factory=list)  #: Words and variables of each program.

    @property
    def is_refused(self) -> bool:
        return self.status != 0 and not self.runs


class AmdScript:
    """The script of one release in a folder that looks like ROCm."""

    def __init__(self, shared: Path, folder: Path, rocm: str, *, decoder: bool = True) -> None:
        self.rocm = rocm
        self.root = folder
        self.path = folder / "bin" / "rocprofv3"
        maker = shared / "data" / "rocprofv3-tree" / "make_tree.py"
        words = [sys.executable, str(maker), str(folder), "--version", SCRIPTS[rocm], "--rocm", rocm]
        subprocess.run([*words, "--silent-preload", *([] if decoder else ["--no-decoder"])], check=True)
        self._main: Any = None

    def run(self, words: list[str], environment: dict[str, str] | None = None) -> Outcome:
        """Call it with words, without a process; programs are not run."""
        outcome = Outcome(0, "", "")

        def execvpe(file: str, words: list[str], env: dict[str, str]) -> None:
            outcome.runs.append((list(words), dict(env)))
            raise _BecameProgramError

        def check_call(words: list[str], env: dict[str, str]) -> int:
            outcome.runs.append((list(words), dict(env)))
            return 0

        stderr, stdout = io.StringIO(), io.StringIO()
        variables = {"PATH": "/usr/bin:/bin"} if environment is None else environment
        with (
            mock.patch.dict(os.environ, variables, clear=True),
            mock.patch.object(os, "execvpe", execvpe),
            mock.patch.object(sys, "argv", [str(self.path), *words]),
            contextlib.redirect_stderr(stderr),
            contextlib.redirect_stdout(stdout),
        ):
            if self._main is None:
                space = {"__name__": "rocprofv3", "__file__": str(self.path)}
                exec(compile(self.path.read_text(), str(self.path), "exec"), space)  # noqa: S102
                self._main = space
            self._main["subprocess"] = SimpleNamespace(check_call=check_call)
            try:
                outcome.status = int(self._main["main"](list(words)) or 0)
            except _BecameProgramError:
                outcome.status = 0
            except SystemExit as end:
                outcome.status = int(end.code or 0)
            except Exception:
                traceback.print_exc(file=stderr)
                outcome.status = 1
        outcome.stderr, outcome.stdout = stderr.getvalue(), stdout.getvalue()
        return outcome

    def variables(self, words: list[str], environment: dict[str, str] | None = None) -> dict[str, str]:
        """What the only program that it runs is handed."""
        outcome = self.run([*words, "--", "program"], environment)
        assert outcome.status == 0, outcome.stderr
        [(program, variables)] = outcome.runs
        assert program == ["program"]
        return variables


class Scripts(dict[str, AmdScript]):
    """By release, each made when it is first asked for: that takes a process."""

    def __init__(self, shared: Path, folder: Path) -> None:
        self._shared, self._folder = shared, folder

    def __missing__(self, rocm: str) -> AmdScript:
        self[rocm] = AmdScript(self._shared, self._folder / rocm, rocm)
        return self[rocm]
