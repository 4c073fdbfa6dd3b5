"""Write docs/reference/doctor.md from the declared table of checks. `--check` compares."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.base.words import counted
from wavewright.capture.doctor import RULES, Area

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "doctor.md"
_OPTIONS = {
    "`--all`": "says of every check why it matters, and cuts no line",
    "`--json`": "one object: `counts` by status, `checks` (fields below), `changes`, and `machine`, the facts that "
    "captures store as `machine.json`",
    "`--host [USER@]MACHINE`, `--container NAME`": "looks at another machine over ssh, or into a running container; "
    "the same version of wavewright must be there (`--remote PATH` says where)",
    "`--gpu`": "also asks the GPUs what they can count and sample (`rocprofv3-avail`), which opens them",
    "`--full`": "also compiles a tiny HIP program and takes a kernel trace, a counter and a thread trace of it; "
    "implies `--gpu`",
    "`-o`, `--output FOLDER`": "where captures would go, for the room on the disk; default: the current folder",
}
_STATUSES = {
    "ok": "healthy; a hint says what could be better",
    "warning": "a capture works, but is spoilt, or one kind of capture does not work",
    "error": "no capture can be taken",
    "not checked": "another check explains why it could not be made, or it is only made on request",
}
_HEAD = """# Checks of `wavewright doctor`

<!-- made by tools/make_doctor_docs.py from src/wavewright/capture/doctor/checks.toml -->

`wavewright doctor` looks at everything between a machine and a good capture. It never needs root, and changes nothing.
It needs neither a GPU nor ROCm: where they are missing it says so once, and what depends on them is
"not checked", with the reason.
"""
_TAIL = """\
The exit status is 0 when no check is an error, and 5 otherwise. A machine without an AMD GPU is such an error, because
nothing can be captured on it; reading, analysing and showing data needs nothing of what is checked here.

A check in JSON has `number`, `name`, `title`, `area`, `level` (what it means when it is not healthy: error or
warning), `status`, `finding` (what was seen, or why it was not checked), `why`, `remedy`, `commands` (lines for a shell
that apply the remedy, with the numbers of groups and addresses of this machine) and `details` (one line per GPU).

What this was tested with: real topologies of four machines, AMD's own rocprofv3 scripts of six releases, and made
machines with one fault each. `--gpu` and `--full` were tested with stand-ins for the GPU, never with one.
"""


def page() -> str:
    """The page as Markdown."""
    lines = [
        _HEAD,
        "| option | meaning |",
        "|---|---|",
        *(f"| {name} | {text} |" for name, text in _OPTIONS.items()),
        "",
    ]
    lines += ["| status | meaning |", "|---|---|", *(f"| {name} | {text} |" for name, text in _STATUSES.items()), ""]
    lines += [_TAIL, f"## The {counted(len(RULES), 'checks')}", ""]
    lines += ["Checks are made in this order within an area; those that explain others come first.", ""]
    for area in Area:
        lines += [f"### {area.value}", ""]
        lines += ["| check | reads | healthy | otherwise | why it matters | remedy |", "|---|---|---|---|---|---|"]
        for rule in RULES:
            if rule.area is area:
                cells = (f"`{rule.name}`: {rule.title}", rule.reads, rule.healthy, rule.level, rule.why, rule.remedy)
                lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text("utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
