"""Checks of a machine for the terminal: the worst in one line, then problems with what fixes them, then all by area."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wavewright.base.words import counted
from wavewright.capture.doctor import Area, Status
from wavewright.report.capture.shell import ShellText
from wavewright.report.kit.tables import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavewright.capture.doctor import Check

_STYLES = {Status.OK: "green", Status.WARNING: "bold yellow", Status.ERROR: "bold red", Status.NOT_CHECKED: "dim"}
_ORDER = (Status.ERROR, Status.WARNING, Status.OK)
_LABEL_WIDTH = 7  #: As long as "warning".
_TITLE_WIDTH = 24
_LISTED = 4  #: Names of checks that were not made, per reason, unless all are asked for.


def doctor_report(
    checks: Sequence[Check],
    *,
    width: int,
    is_complete: bool = False,
) -> Iterator[RenderableType]:
    """The results of the checks; `is_complete` cuts nothing, and says why each of them matters."""
    yield Text(verdict(checks), style=_STYLES[_worst(checks)])
    for status in (Status.ERROR, Status.WARNING):
        for check in checks:
            if check.status is status:
                yield Text()
                yield from _problem(check, width)
    for area in Area:
        healthy = [check for check in checks if check.area is area and check.status is Status.OK]
        if healthy:
            yield Text()
            yield Text(area.value, style="bold")
            for check in healthy:
                yield from _healthy(check, width, is_complete=is_complete)
    yield from _not_checked(checks, is_complete=is_complete)


def verdict(checks: Sequence[Check]) -> str:
    """The verdict about a machine in one sentence.

    Examples
    --------
    >>> verdict([])
    'captures can be taken here: 0 checks are ok'
    """
    counts = {status: sum(check.status is status for check in checks) for status in Status}
    rest = f"{counted(counts[Status.OK], 'checks')} {'is' if counts[Status.OK] == 1 else 'are'} ok"
    if counts[Status.NOT_CHECKED]:
        rest += f", {counts[Status.NOT_CHECKED]} not made"
    names = {Status.ERROR: "errors", Status.WARNING: "warnings"}
    problems = [counted(counts[status], name) for status, name in names.items() if counts[status]]
    can = "cannot" if counts[Status.ERROR] else "can"
    return f"captures {can} be taken here: {', '.join([*problems, rest])}"


def _worst(checks: Sequence[Check]) -> Status:
    return next((status for status in _ORDER if any(check.status is status for check in checks)), Status.OK)


def _problem(check: Check, width: int) -> Iterator[RenderableType]:
    headline = Text.assemble((check.title, "bold"), f": {printable(check.finding)}")
    yield _labelled(str(check.status), headline, _STYLES[check.status])
    for detail in check.details:
        yield _labelled("", Text(printable(detail)))
    yield _labelled("why", Text(check.why))
    yield _labelled("fix", Text(printable(check.remedy)))
    for command in check.commands:
        yield _command(command, width)


def _healthy(check: Check, width: int, *, is_complete: bool) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=2, style=_STYLES[check.status])
    grid.add_column(width=_TITLE_WIDTH, no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row("ok", check.title, Text(printable(check.finding)) if is_complete else one_line(check.finding))
    yield Padding(grid, (0, 0, 0, 2))
    for detail in check.details:
        yield Padding(Text(printable(detail)) if is_complete else one_line(detail), (0, 0, 0, _LABEL_WIDTH + 1))
    if is_complete:
        yield _labelled("why", Text(check.why, style="dim"))
    if check.has_hint:
        yield _labelled("hint", Text(printable(check.remedy), style="dim"))
        for command in check.commands:
            yield _command(command, width)


def _labelled(label: str, text: Text, style: str = "cyan") -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style=style, width=_LABEL_WIDTH, justify="right")
    grid.add_column(ratio=1)
    grid.add_row(label, text)
    return grid


def _command(command: str, width: int) -> ShellText:
    """A line for a shell that can be copied: continued at spaces outside of quotes, or as long as it is.

    Examples
    --------
    >>> print(_command("docker run --device /dev/kfd 'a b'", 30))
            docker run --device \\
              /dev/kfd 'a b'
    """
    indent = " " * (_LABEL_WIDTH + 1)
    try:
        words = shlex.split(command, posix=False) if "#" not in command else [command]  # a comment ends with its line
    except ValueError:
        words = [command]
    lines = [indent + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > width:  # a space before it, and a space and a backslash behind
            lines.append(f"{indent}  {word}")
        else:
            lines[-1] += f" {word}"
    return ShellText(" \\\n".join(map(printable, lines)))


def _not_checked(checks: Sequence[Check], *, is_complete: bool) -> Iterator[RenderableType]:
    reasons: dict[str, list[str]] = {}
    for check in checks:
        if check.status is Status.NOT_CHECKED:
            reasons.setdefault(check.finding, []).append(check.title)
    if reasons:
        yield Text()
        yield Text("Not checked", style="bold")
    for reason, titles in reasons.items():
        is_listed = is_complete or len(titles) <= _LISTED
        names = ", ".join(titles) if is_listed else f"{', '.join(titles[:_LISTED])} and {len(titles) - _LISTED} more"
        yield Padding(Text.assemble((f"{names}: ", "dim"), printable(reason)), (0, 0, 0, 2))
