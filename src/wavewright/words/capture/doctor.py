"""Checks of a machine: the worst in one line, then problems with what fixes them, then all by area."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from wavewright.base.shown import printable
from wavewright.base.words import counted, some_of
from wavewright.capture.doctor import Area, Check, Status
from wavewright.model.blocks import GAP, AnyBlock, Cell, Grid, GridColumn, Preformatted, headline, sentence
from wavewright.words.capture.shell import shell_text

_STYLES = {Status.OK: "green", Status.WARNING: "bold yellow", Status.ERROR: "bold red", Status.NOT_CHECKED: "dim"}
_ORDER = (Status.ERROR, Status.WARNING, Status.OK)  #: The worst first.
_LABEL_WIDTH = 7  #: As long as "warning".
_TITLE_WIDTH = 24  #: Characters of the title of a check that is ok.
_LISTED = 4  #: Names of checks that were not made, per reason, unless all are asked for.


def doctor_report(checks: Sequence[Check], *, width: int, is_complete: bool = False) -> Iterator[AnyBlock]:
    """Blocks of what came out of the checks; `is_complete` cuts nothing, and says why each of them matters."""
    yield headline((verdict(checks), _STYLES[_worst(checks)]))
    for status in (Status.ERROR, Status.WARNING):
        for check in checks:
            if check.status is status:
                yield GAP
                yield from _problem(check, width)
    for area in Area:
        healthy = [check for check in checks if check.area is area and check.status is Status.OK]
        if healthy:
            yield GAP
            yield sentence((area.value, "bold"))
            for check in healthy:
                yield from _healthy(check, width, is_complete=is_complete)
    yield from _not_checked(checks, is_complete=is_complete)


def verdict(checks: Sequence[Check]) -> str:
    """The verdict about a machine in one sentence."""
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


def _problem(check: Check, width: int) -> Iterator[AnyBlock]:
    problem = Cell.of((check.title, "bold"), f": {printable(check.finding)}")
    yield _labelled(str(check.status), problem, _STYLES[check.status])
    for detail in check.details:
        yield _labelled("", printable(detail))
    yield _labelled("why", check.why)
    yield _labelled("fix", printable(check.remedy))
    for command in check.commands:
        yield _command(command, width)


def _healthy(check: Check, width: int, *, is_complete: bool) -> Iterator[AnyBlock]:
    words = GridColumn(takes_rest=True, is_cut=not is_complete)
    columns = (GridColumn(_STYLES[check.status], 2), GridColumn(least_width=_TITLE_WIDTH, is_cut=True), words)
    yield Grid((("ok", check.title, printable(check.finding)),), columns, indent=2)
    for detail in check.details:
        yield Grid(((printable(detail),),), (words,), indent=_LABEL_WIDTH + 1)
    if is_complete:
        yield _labelled("why", Cell(check.why, "dim"))
    if check.has_hint:
        yield _labelled("hint", Cell(printable(check.remedy), "dim"))
        for command in check.commands:
            yield _command(command, width)


def _labelled(label: str, text: str, tone: str = "cyan") -> Grid:
    columns = (GridColumn(tone, _LABEL_WIDTH, is_number=True), GridColumn(takes_rest=True))
    return Grid(((label, text),), columns)


def _command(command: str, width: int) -> Preformatted:
    """A line for a shell that can be copied; one with a comment, which ends with its line, stays as long as it is."""
    try:
        words = shlex.split(command, posix=False) if "#" not in command else [command]
    except ValueError:
        words = [command]
    return shell_text(words, width, indent=" " * (_LABEL_WIDTH + 1))


def _not_checked(checks: Sequence[Check], *, is_complete: bool) -> Iterator[AnyBlock]:
    reasons: dict[str, list[str]] = {}
    for check in checks:
        if check.status is Status.NOT_CHECKED:
            reasons.setdefault(check.finding, []).append(check.title)
    if reasons:
        yield GAP
        yield sentence(("Not checked", "bold"))
    for reason, titles in reasons.items():
        names = some_of(titles, len(titles) if is_complete else _LISTED)
        yield sentence((f"{names}: ", "dim"), reason, indent=2)
