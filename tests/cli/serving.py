"""A verb that serves the page, run as a user would run it, and asked over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import urlopen

SCREENLESS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION", "SSH_TTY")


class Program:
    """A running `wavewright`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.first_line = process.stdout.readline().strip() if process.stdout else ""

    @property
    def url(self) -> str:
        return json.loads(self.first_line)["url"] if self.first_line.startswith("{") else self.first_line

    def ask(self, path: str) -> Any:
        with urlopen(f"{self.url.partition('#')[0]}api/{path}") as reply:  # noqa: S310 - its own address
            return json.loads(reply.read())

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C: the exit status, and what it said on stderr."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate()
        return self.process.returncode, said


@contextmanager
def running(*arguments: object, environment: dict[str, str] | None = None) -> Iterator[Program]:
    """`wavewright` with these arguments on a machine without a screen, until the block ends."""
    variables = {name: value for name, value in os.environ.items() if name not in SCREENLESS} | (environment or {})
    command = [sys.executable, "-m", "wavewright", *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, text=True, env=variables)
    try:
        yield Program(process)
    finally:
        process.kill()
        process.communicate()
