"""Programs named ssh, docker and apptainer that run what they are given on this machine, as a folder of PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from wavewright.capture.remote import Connected, connect


def _old_python() -> str | None:
    """A Python 3.6 that runs: on PATH, or of pyenv, whose entries on PATH may be empty shells."""
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in (shutil.which("python3.6"), *map(str, folder.glob("versions/3.6.*/bin/python3.6"))):
        if path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    return None


OLD_PYTHON = _old_python()
_SSH = """#!/bin/sh
echo "$@" >> "$FAKE_LOG"
while [ "$1" != "--" ]; do shift; done
echo "Welcome to $2!"; printf 'no line end'; echo "Last login: never" >&2
shift 2
cd "$HOME"; exec sh -c "$*"
"""
_ENGINE = """#!/bin/sh
echo "$(basename $0) $@" >> "$FAKE_LOG"
case "$1 $2" in
"container inspect") shift 4; case "$1" in box) echo true;; off) echo false;; *) echo "Error: $1?" >&2; exit 1;; esac;;
"exec -i") shift 3; INSIDE=box exec "$@";;
"instance list") echo "INSTANCE NAME  PID"; echo "$3 1";;
exec\\ instance://*) shift 2; INSIDE=instance exec "$@";;
esac
"""


class Network:
    """Another machine, which is this one with another home folder."""

    def __init__(self, folder: Path, *, engines: tuple[str, ...] = ("docker",), python: str | None = None) -> None:
        self.home = folder / "home"
        programs = folder / "programs"
        for each in (self.home, programs):
            each.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log"
        for name, text in (("ssh", _SSH), *((engine, _ENGINE) for engine in engines)):
            self.program(programs / name, text)
        if python:
            self.program(programs / "python3", f'#!/bin/sh\nexec {python} "$@"\n')
        path = f"{programs}:{os.environ['PATH']}"
        self.variables = {"PATH": path, "HOME": str(self.home), "FAKE_LOG": str(self.log), "LANG": "C"}

    @staticmethod
    def program(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def connect(self, host: str | None = "gpu7", container: str | None = None) -> Connected:
        return connect(host, container, variables=self.variables)

    @property
    def data(self) -> list[Path]:
        """Folders of captures that are there."""
        return sorted((self.home / ".cache/wavewright/remote").glob("*/data"))
