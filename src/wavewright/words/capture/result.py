"""Results of captures: the verdict with its reasons, what was traced, and what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wavewright.base.shown import printable, quoted
from wavewright.base.words import counted, percent, short, size, some_of
from wavewright.capture.jobs.folder import DISCOVERIES
from wavewright.capture.jobs.result import Attempt, Result
from wavewright.capture.judgement import TracedDispatch
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Preformatted, Sentence, Table, headline, sentence
from wavewright.words.capture.events import STYLES
from wavewright.words.capture.labelled_row import row
from wavewright.words.capture.plan import title_of
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.frame_tables import Column, table_of

#: Kind of capture -> verbs that answer the first questions about it, with what they tell.
NEXT: dict[str, list[tuple[str, str]]] = packaged("texts.toml", __package__)["next"]
_NOISE = "launches differ by"  #: How the judgement speaks of the noise.
_LABEL_WIDTH = 7
_SHOWN_DISPATCHES, _SHOWN_CAUSES, _SHOWN_NAMES = 10, 5, 12


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
        yield row("note", "no attempt was judged; --resume goes on", _LABEL_WIDTH)
        return
    judgement = best.judgement
    for reason in judgement.reasons:
        if _NOISE not in reason or judgement.noise_share is None:  # it has a line of its own
            yield row("why", reason, _LABEL_WIDTH)
    if judgement.advice:
        yield row("try", judgement.advice, _LABEL_WIDTH)
    for cause in judgement.causes[:_SHOWN_CAUSES]:
        yield row("log", f"{cause.line}: {cause.cause}; {cause.remedy}", _LABEL_WIDTH)
    if len(judgement.causes) > _SHOWN_CAUSES:
        yield row("log", f"{len(judgement.causes) - _SHOWN_CAUSES} more messages of AMD's tools", _LABEL_WIDTH)
    for label, names in (("missing", judgement.missing), ("zero", judgement.silent)):
        if names:
            yield row(label, _names(names), _LABEL_WIDTH)
    yield from _traced(result, best)
    if not judgement.is_kept:
        for log in _logs(result, best):
            yield row("log", f"{log} has what was printed", _LABEL_WIDTH)
    yield from _next(result, width)


def _logs(result: Result, best: Attempt) -> list[Path]:
    """The logs of the best attempt, or the discovery before it."""
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
    dispatches = [each for each in best.judgement.dispatches if not each.is_placeholder]
    if dispatches:
        yield GAP
        yield _table(dispatches)
    if result.placeholders:
        numbers = _names([str(each.dispatch) for each in result.placeholders])
        what = counted(len(result.placeholders), "dispatches")
        yield row("empty", f"{what} without a wave: {numbers}; --clean removes such folders", _LABEL_WIDTH)
    if best.judgement.noise_share is not None:
        apart = f"waves of two launches differ by {percent(best.judgement.noise_share)} in their mean duration"
        yield row("noise", f"{apart}: less than that is noise", _LABEL_WIDTH)


def _table(dispatches: Sequence[TracedDispatch]) -> Table:
    rows = [{"dispatch": each} for each in dispatches[:_SHOWN_DISPATCHES]]
    table = table_of((column, [column.cell(row) for row in rows]) for column in _COLUMNS)
    return replace(table, row_count=len(dispatches), row_name="traced dispatches")


def _doubts(dispatch: TracedDispatch) -> str:
    words = [("truncated", dispatch.is_truncated), ("lossy", dispatch.is_lossy)]
    return " ".join(word for word, applies in words if applies)


_COLUMNS = (
    Column("dispatch", lambda row: str(row["dispatch"].dispatch)),
    Column("launch", lambda row: "-" if row["dispatch"].launch is None else str(row["dispatch"].launch)),
    Column("waves", lambda row: f"{row['dispatch'].wave_count:,}"),
    Column("instructions", lambda row: short(row["dispatch"].instruction_count)),
    Column("with lines", lambda row: percent(row["dispatch"].mapped_share, 0)),
    Column("size", lambda row: size(row["dispatch"].size_bytes)),
    Column("", lambda row: _doubts(row["dispatch"]), is_text=True, is_fixed=True),
    Column("kernel", lambda row: brief_kernel(row["dispatch"].kernel, 200), takes_rest=True),
)


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
        "placeholders": [each.dispatch for each in result.placeholders],
        "noise": result.best.judgement.noise_share if result.best else None,
        "next": [command for command, _ in next_commands(result)],
    }
