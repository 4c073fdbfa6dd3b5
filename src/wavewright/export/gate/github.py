"""A gate's result as annotations of GitHub: workflow commands, at most ten of a step, with escaped data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wavewright.analysis.common.gate import GateAnswer, sentence, title_of
from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL
from wavewright.base.shown import printable
from wavewright.words.gate import grown_lines, shown_checks

MOST_ANNOTATIONS = 10  #: GitHub shows no more of one step; the last one then says how many more there are.
_LONGEST = 4000  #: Characters of a message; GitHub cuts at 64 KiB.
_LEVELS = {FAIL: "error", CANNOT_TELL: "warning"}


def annotation_lines(answer: GateAnswer, place: Callable[[str], str] = str) -> str:
    """One line per annotation: reasons why nothing can be told, failed and undecided checks, lines that grew.

    `place` gives the path of a source file in the repository.
    """
    commands: list[str] = []
    if answer.reasons:
        commands.append(command("warning", "; ".join(answer.reasons), title="wavewright gate cannot tell"))
    checks = [row for row in shown_checks(answer).to_dicts() if row["status"] in _LEVELS]
    commands += [_at_row(row, _LEVELS[row["status"]], sentence(row), place) for row in checks]
    if answer.verdict == FAIL:
        for row in grown_lines(answer).to_dicts():
            text = f"exposed cycles of this line grew by {100 * row['change']:.1f} % of the cycles of a wave"
            commands.append(_at_row(row, "warning", text, place))
    if len(commands) > MOST_ANNOTATIONS:
        text = f"{len(commands) - MOST_ANNOTATIONS + 1:,} more are in the summary of this step"
        commands = [*commands[: MOST_ANNOTATIONS - 1], command("notice", text, title="wavewright gate")]
    return "".join(f"{line}\n" for line in commands)


def command(level: str, text: str, **properties: str | int) -> str:
    """One workflow command.

    >>> command("error", "50 %\\nworse", file="a,b:c.hip", line=3)
    '::error file=a%2Cb%3Ac.hip,line=3::50 %25\\\\nworse'
    """
    property_list = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{level} {property_list}::{_data(text)}" if property_list else f"::{level}::{_data(text)}"


def _at_row(row: dict[str, Any], level: str, text: str, place: Callable[[str], str]) -> str:
    position = {"file": place(row["file"]), "line": row["line"]} if row["file"] and row["line"] else {}
    return command(level, text, **position, title=f"wavewright gate: {title_of(row, 60)}")


def _data(text: str) -> str:
    return printable(text)[:_LONGEST].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
