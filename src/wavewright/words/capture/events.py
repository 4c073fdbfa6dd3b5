"""Events of a capture as lines, while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wavewright.base.shown import printable
from wavewright.model.blocks import Sentence, sentence

STYLES = {"good": "green", "lossy": "yellow", "truncated": "yellow", "incomplete": "yellow"}  #: Of verdicts; else red.


def event_lines(event: Mapping[str, Any]) -> list[Sentence]:
    """An event as a line for somebody who watches."""
    name = str(event.get("event"))
    if name == "discovered":
        return _discovered(event)
    words = _LINES[name](event) if name in _LINES else None
    return [] if words is None else [words]


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


def _judged(event: Mapping[str, Any]) -> Sentence:
    verdict = str(event.get("verdict"))
    reasons = [str(reason) for reason in event.get("reasons", ())]
    why = printable(f": {reasons[0].rstrip('.')}") if reasons else ""
    return sentence(f"attempt {event.get('attempt')}: ", (verdict, STYLES.get(verdict, "red")), why)


def _retry(event: Mapping[str, Any]) -> Sentence:
    pause = event.get("pause_seconds")
    waits = f", after {pause:g} s" if isinstance(pause, int | float) and pause else ""
    return Sentence(f"attempt {event.get('attempt')}: {event.get('why', '')}{waits}")


def _ended(event: Mapping[str, Any]) -> Sentence | None:
    stopped = str(event.get("stopped") or "")
    if stopped == "timeout":
        return sentence((f"{_what(event)} did not end in {event.get('seconds', 0):.0f} s and was stopped", "yellow"))
    problem = str(event.get("problem") or "")
    return sentence((f"{_what(event)} could not be started: {problem}", "red")) if problem else None


def _discovered(event: Mapping[str, Any]) -> list[Sentence]:
    notes = [printable(str(note)) for note in event.get("notes", ())]
    first = [Sentence(f"discovery: {note}") for note in notes[:1]]
    return [*first, *(sentence((f"  {note}", "dim")) for note in notes[1:])]


_LINES: dict[str, Callable[[Mapping[str, Any]], Sentence | None]] = {
    "judged": _judged,
    "retry": _retry,
    "ended": _ended,
    "discovery ended": _ended,
    "interrupted": lambda event: sentence((f"attempt {event.get('attempt')} was interrupted", "yellow")),
    "note": lambda event: sentence((str(event.get("text", "")), "dim")),
}
