"""Results of captures: the verdict with its reasons, what was traced, and what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.shown import printable, quoted
from wavewright.base.words import counted, percent, some_of
from wavewright.capture.jobs.folder import DISCOVERIES
from wavewright.capture.jobs.result import Attempt, Result
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Preformatted, Sentence, headline, sentence
from wavewright.words.capture.events import STYLES
from wavewright.words.capture.plan import labelled_row, title_of
from wavewright.words.kit.declared_tables import table_below

#: Kind of capture -> verbs that answer the first questions about it, with what they tell.
NEXT: dict[str, list[tuple[str, str]]] = packaged("texts.toml", __package__)["next"]
_NOISE = "launches differ by"  #: Words of the reason that is about noise.
_SHOWN_DISPATCHES, _SHOWN_CAUSES, _SHOWN_NAMES = 10, 5, 12  #: Causes: messages in the log that explain a verdict.
_row = partial(labelled_row, label_width=7)


def next_commands(result: Result) -> list[tuple[str, str]]:
    """Commands that read what there is, with what they tell; none if it is not worth reading."""
    if result.best is None or not result.best.judgement.is_kept:
        return []
    folder = quoted(result.folder)
    return [(f"wavewright {verb} {folder}", what) for verb, what in NEXT[result.job.kind]]


def result_report(result: Result, *, width: int) -> Iterator[AnyBlock]:
    """Blocks of the verdict, why, what is there, how far it can be trusted, and what to do next."""
    yield _headline(result)
    best = result.best
    if best is None:
        yield _row("note", "no attempt was judged; --resume goes on")
        return
    judgement = best.judgement
    for reason in judgement.reasons:
        if _NOISE not in reason or judgement.noise_share is None:  # it has a line of its own
            yield _row("why", reason)
    if judgement.advice:
        yield _row("try", judgement.advice)
    for cause in judgement.causes[:_SHOWN_CAUSES]:
        yield _row("log", f"{cause.line}: {cause.cause}; {cause.remedy}")
    if len(judgement.causes) > _SHOWN_CAUSES:
        yield _row("log", f"{len(judgement.causes) - _SHOWN_CAUSES} more messages of AMD's tools")
    for label, names in (("missing", judgement.missing), ("zero", judgement.silent)):
        if names:
            yield _row(label, _names(names))
    yield from _traced(result, best)
    if not judgement.is_kept:
        for log in _logs(result, best):
            yield _row("log", f"{log} has what was printed")
    yield from _next(result, width)


def _logs(result: Result, best: Attempt) -> list[Path]:
    """The log of the best attempt, else that of the last discovery; none if nothing was printed."""
    folders = [best.folder, *sorted((result.folder / DISCOVERIES).glob("*"))[-1:]]
    logs = [log for folder in folders for log in sorted(folder.glob("stderr*.txt"))[:1]]
    return logs[:1]


def _headline(result: Result) -> Sentence:
    verdict = result.verdict.value
    attempts = f" after {counted(len(result.attempts), 'attempts')}" if len(result.attempts) > 1 else ""
    return headline(
        f"{title_of(result.job.recording)} of {result.job.name or 'the program'}: ",
        (verdict, STYLES.get(verdict, "red")),
        (f"{attempts}, in {result.folder}", "not bold"),
    )


def _names(names: Sequence[str]) -> str:
    return printable(some_of(names, _SHOWN_NAMES))


def _traced(result: Result, best: Attempt) -> Iterator[AnyBlock]:
    dispatches = pl.DataFrame([asdict(traced) for traced in best.judgement.dispatches if not traced.is_placeholder])
    yield from table_below("capture/result/dispatches", dispatches, limit=_SHOWN_DISPATCHES, caveats=_caveats)
    if result.placeholders:
        numbers = _names([str(empty.dispatch) for empty in result.placeholders])
        what = counted(len(result.placeholders), "dispatches")
        yield _row("empty", f"{what} without a wave: {numbers}; --clean removes such folders")
    if best.judgement.noise_share is not None:
        apart = f"waves of two launches differ by {percent(best.judgement.noise_share)} in their mean duration"
        yield _row("noise", f"{apart}: less than that is noise")


def _caveats(row: dict[str, Any]) -> str:
    return " ".join(caveat for caveat in ("truncated", "lossy") if row[f"is_{caveat}"])


def _next(result: Result, width: int) -> Iterator[AnyBlock]:
    commands = next_commands(result)
    if not commands:
        return
    yield GAP
    yield sentence(("what to look at", "bold"))
    longest = max(len(command) for command, _ in commands)
    for command, what in commands:
        remark = f"  # {what}" if longest + len(what) + 6 <= width else ""
        yield Preformatted(printable(f"  {command.ljust(longest) if remark else command}{remark}"))


def result_json(result: Result) -> dict[str, Any]:
    """The end of a capture as plain values."""
    return {
        "event": "result",
        "job": result.job.id,
        "folder": str(result.folder),
        "verdict": result.verdict.value,
        "is_good": result.is_good,
        "attempts": len(result.attempts),
        "reasons": result.best.judgement.reasons if result.best else (),
        "advice": result.best.judgement.advice if result.best else "",
        "raw": str(result.raw) if result.best else None,
        "placeholders": [empty.dispatch for empty in result.placeholders],
        "noise": result.best.judgement.noise_share if result.best else None,
        "next": [command for command, _ in next_commands(result)],
    }
