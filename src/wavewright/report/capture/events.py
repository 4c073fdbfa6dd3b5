"""Events of a capture as lines, while it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from wavewright.report.kit.tables import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STYLES = {"good": "green", "lossy": "yellow", "truncated": "yellow", "incomplete": "yellow"}  #: Of verdicts; else red.


def event_line(event: Mapping[str, Any]) -> Text | None:
    """An event as a line for somebody who watches; None = nothing."""
    line = _LINES.get(str(event.get("event")))
    return line(event) if line else None


def progress_line(event: Mapping[str, Any]) -> str | None:
    """A line about this moment, for a display that changes in place; None = as before."""
    name, seconds = event.get("event"), event.get("seconds")
    if name in ("started", "discovery started"):
        return f"{_what(event)} runs"
    if name == "running":
        return f"{_what(event)} runs, {seconds:.0f} s" if isinstance(seconds, int | float) else f"{_what(event)} runs"
    return f"{_what(event)} is judged" if name in ("ended", "discovery ended") else None


def _what(event: Mapping[str, Any]) -> str:
    number, passes = event.get("attempt"), event.get("passes", 1)
    what = "the discovery" if number is None else f"attempt {number}"
    return f"{what}, pass {event.get('pass')} of {passes}" if isinstance(passes, int) and passes > 1 else what


def _judged(event: Mapping[str, Any]) -> Text:
    verdict = str(event.get("verdict"))
    reasons = [str(reason) for reason in event.get("reasons", ())]
    text = Text(f"attempt {event.get('attempt')}: ")
    text.append(verdict, style=STYLES.get(verdict, "red"))
    if reasons:
        text.append(printable(f": {reasons[0].rstrip('.')}"))
    return text


def _retry(event: Mapping[str, Any]) -> Text:
    pause = event.get("pause_seconds")
    waits = f", after {pause:g} s" if isinstance(pause, int | float) and pause else ""
    return Text(printable(f"attempt {event.get('attempt')}: {event.get('why', '')}{waits}"))


def _ended(event: Mapping[str, Any]) -> Text | None:
    stopped = str(event.get("stopped") or "")
    if stopped == "timeout":
        return Text(f"{_what(event)} did not end in {event.get('seconds', 0):.0f} s and was stopped", style="yellow")
    problem = str(event.get("problem") or "")
    return Text(printable(f"{_what(event)} could not be started: {problem}"), style="red") if problem else None


def _discovered(event: Mapping[str, Any]) -> Text | None:
    notes = [str(note) for note in event.get("notes", ())]
    if not notes:
        return None
    text = Text(printable(f"discovery: {notes[0]}"))
    for note in notes[1:]:
        text.append(f"\n  {printable(note)}", style="dim")
    return text


_LINES: dict[str, Callable[[Mapping[str, Any]], Text | None]] = {
    "judged": _judged,
    "retry": _retry,
    "ended": _ended,
    "discovery ended": _ended,
    "discovered": _discovered,
    "interrupted": lambda event: Text(f"attempt {event.get('attempt')} was interrupted", style="yellow"),
    "note": lambda event: Text(printable(str(event.get("text", ""))), style="dim"),
}
