"""Run the commands of how-to pages and write what they print below them. `--check` only compares.

In a page, the lines of a `console` block that begin with `$ ` are commands; they run one after the other in one empty
folder, by bash, 100 columns wide. What stands below a command is replaced with its output.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["PAGES", "commands", "with_outputs"]

_HOW_TO = Path(__file__).resolve().parent.parent / "docs" / "how-to"
PAGES = tuple(
    _HOW_TO / f"{name}.md"
    for name in (
        "from-trace-to-line",
        "first-look-at-a-run",
        "compare-two-runs",
        "many-ranks",
        "why-is-it-slow",
        "gate-in-ci",
    )
)
_FENCE = "```"


def commands(page: str) -> list[str]:
    """The commands of a page, in order."""
    lines, is_console = [], False
    for line in page.splitlines():
        if line.startswith(_FENCE):
            is_console = line == f"{_FENCE}console"
        elif is_console and line.startswith("$ "):
            lines.append(line[2:])
    return lines


def with_outputs(page: str, folder: Path) -> str:
    """The page with what its commands print now; raises CalledProcessError when one of them fails."""
    lines: list[str] = []
    is_console = False
    for line in page.splitlines():
        if line.startswith(_FENCE):
            is_console = line == f"{_FENCE}console"
        elif is_console:
            if line.startswith("$ "):
                lines += [line, *run(line[2:], folder)]
            continue
        lines.append(line)
    return "\n".join(lines) + "\n"


def run(command: str, folder: Path) -> list[str]:
    """The lines that a command prints."""
    here = {"COLUMNS": "100", "NO_COLOR": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, **here},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 141):  # 141: the reader of a pipe had seen enough
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return [line.rstrip() for line in done.stdout.splitlines()]


def main() -> int:
    """Write or check the pages; 1 when one is out of date."""
    stale = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            made = with_outputs(text, Path(folder))
        if made != text:
            stale += 1
            if "--check" not in sys.argv:
                page.write_text(made, encoding="utf-8")
    return int("--check" in sys.argv and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
