"""`wavewright demo` in a terminal: a short story, then the viewer until Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.in_process import call
from tests.cli.serving import SCREENLESS
from wavewright.errors import MissingToolError
from wavewright.page.assets import page_folder

try:
    page_folder()
except MissingToolError as error:
    pytestmark = pytest.mark.skip(reason=str(error))


class Terminal:
    """A program whose output goes to a terminal."""

    def __init__(self, *arguments: object, environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        variables = {name: value for name, value in os.environ.items() if name not in SCREENLESS}
        variables |= {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"} | environment
        command = [sys.executable, "-m", "wavewright", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=variables)
        os.close(slave)
        self.shown = ""

    def until(self, pattern: str) -> re.Match[str]:
        while not (found := re.search(pattern, self.shown)):
            try:
                self.shown += os.read(self.master, 4096).decode()
            except OSError:  # the program has ended
                pytest.fail(self.shown)
        return found

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()


@contextmanager
def terminal(*arguments: object, scratch: Path) -> Iterator[Terminal]:
    shown = Terminal(*arguments, environment={"TMPDIR": str(scratch)})
    try:
        yield shown
    finally:
        shown.process.kill()
        shown.process.wait()
        os.close(shown.master)


def _ask(url: str, path: str):
    with urlopen(f"{url}api/{path}") as reply:  # noqa: S310 - its own address
        return json.loads(reply.read())


@pytest.mark.slow
def test_the_capture_is_told_in_short_and_shown_until_ctrl_c(tmp_path):
    with terminal("demo", "--no-browser", scratch=tmp_path) as shown:
        url = shown.until(r"http://127\.0\.0\.1:\d+/[\w-]+/")[0]
        assert "What to change first" in shown.shown
        (line,) = _ask(url, "documents")
        assert (line["label"], line["kind"]) == ("tiled_gemm on gfx942", "trace")
        overview = _ask(url, "0/overview")
        assert overview["holds"]["sources"] > 0  # its source is shown, too
        assert _ask(url, "0/notes")["can_save"] is False  # the capture goes when the viewer does
        assert shown.interrupt() == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_both_runs_are_shown(tmp_path):
    with terminal("demo", "--run", "--no-browser", "--keep", tmp_path / "runs", scratch=tmp_path) as shown:
        url = shown.until(r"http://127\.0\.0\.1:\d+/[\w-]+/")[0]
        assert [line["label"] for line in _ask(url, "documents")] == ["before", "after"]
        assert _ask(url, "1/overview")["kind"] == "run"
        assert _ask(url, "1/notes")["can_save"] is True
        assert shown.interrupt() == 0


def test_without_a_terminal_the_whole_story_is_printed_and_the_demo_ends():
    done = call("demo")
    assert done.status == 0
    assert "For what it waits" in done.stdout
    assert "http://" not in done.stdout
