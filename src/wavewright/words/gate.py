"""The verdict of a gate, as blocks and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.gate import GateAnswer, measured_text, title_of
from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL, NOT_JUDGED, PASS, SUBJECTS
from wavewright.analysis.common.gate.loop import LoopAnswer
from wavewright.analysis.run.compare.compare import change_text
from wavewright.base.words import counted, percent
from wavewright.model.blocks import GAP, AnyBlock, Block, Cell, Labelled, Sentence, Table, headline, labelled, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.writers.markdown.blocks import markdown_of

_STYLES = {FAIL: "bold red", CANNOT_TELL: "bold yellow", PASS: "bold green", NOT_JUDGED: "dim"}
_GROWN, _SAME = "where it grew", "the same capture"  #: Reasons of checks that do not decide.
SUMMARY_BYTES = 900_000  #: GitHub shows a summary of up to 1 MiB.


def gate_report(answer: GateAnswer, *, limit: int = 20, everything: bool = False) -> Iterator[AnyBlock]:
    """Blocks of the verdict; `everything` shows what was not judged, too."""
    yield headline((answer.headline(), _STYLES[answer.verdict]))
    for words in sentences(answer):
        yield sentence((words, "dim"))
    rest = shown_checks(answer, everything=True).height - shown_checks(answer).height
    if rest and not everything:
        yield sentence((f"{counted(rest, 'quantities')} not judged: --all shows them", "dim"))
    for rows, table in (
        (shown_checks(answer, everything=everything), _check_table),
        (grown_lines(answer), _grown_table),
    ):
        if rows.height:
            yield GAP
            yield table(rows, limit)


def loop_report(answer: LoopAnswer) -> Iterator[AnyBlock]:
    """Blocks of one turn of tuning."""
    style = {"better": "bold green", "worse": "bold red", "equal": "bold"}.get(answer.outcome, "bold yellow")
    yield headline((answer.headline(), style))
    for reason in answer.reasons:
        yield sentence((reason, "dim"))
    if answer.explained_by:
        yield labelled("why", answer.explained_by, indent=0)
    yield from table_below("gate/findings", answer.findings, limit=None)
    yield GAP
    for command in answer.next_commands:
        yield sentence(("next: ", "dim"), command)


def shown_checks(answer: GateAnswer, *, everything: bool = False) -> pl.DataFrame:
    """The checks of a table: those that decide, or all but the lines that only show where cycles grew."""
    rows = answer.checks.filter(pl.col("reason") != _GROWN)
    return rows if everything else rows.filter(pl.col("status") != NOT_JUDGED)


def grown_lines(answer: GateAnswer) -> pl.DataFrame:
    """The lines whose exposed cycles grew, the most first."""
    return answer.checks.filter(pl.col("reason") == _GROWN)


def sentences(answer: GateAnswer) -> Iterator[str]:
    """Facts about a verdict: what it is based on, what it can see, notes."""
    if answer.base_capture_count:
        captures = f"{counted(answer.capture_count, 'captures')} against {answer.base_capture_count:,}"
        limit = f"threshold {100 * answer.threshold:g} %"
        yield f"{captures}; {limit}; smallest change that can be told: {_smallest(answer)}"
    else:
        yield f"{counted(answer.capture_count, 'captures')} against a budget"
    if answer.verdict == FAIL and answer.reasons:
        yield from answer.reasons
    yield from answer.notes


def _smallest(answer: GateAnswer) -> str:
    """For each subject, the least and the largest of the changes from which on its checks can tell one."""
    is_judged = (pl.col("status") != NOT_JUDGED) & (pl.col("limit_text") == "") & (pl.col("reason") != _SAME)
    rows = answer.checks.filter(is_judged).group_by("subject", maintain_order=True)
    words = []
    for (subject,), group in rows:
        bounds = group["seen_from"].drop_nulls().sort().to_list()
        ends = dict.fromkeys(percent(bounds[at]) for at in (0, -1)) if bounds else {"not known": None}
        words.append(f"{SUBJECTS[str(subject)].title} {' to '.join(ends)}")
    return ", ".join(words) or "any"


def gate_markdown(answer: GateAnswer, *, most_bytes: int | None = None) -> str:
    """The verdict as Markdown, cut at `most_bytes` of UTF-8, which is said aloud."""
    rows, grown = shown_checks(answer, everything=True), grown_lines(answer)
    parts: tuple[Block, ...] = (
        headline(answer.headline()),
        *map(Sentence, sentences(answer)),
        *([_grown_table(grown)] if grown.height else []),
        *([_check_table(rows)] if rows.height else []),
        Labelled("how", answer.definition),
    )
    text = f"## wavewright gate: {answer.verdict}\n\n{markdown_of(parts)}\n"
    return text if most_bytes is None else cut_lines(text, most_bytes)


def cut_lines(text: str, most_bytes: int) -> str:
    """The first lines of a text that fit, and a line that says how many are missing.

    >>> cut_lines("a" * 150 + chr(10) + "b" * 150 + chr(10), 260).splitlines()[-1]
    '**Cut here: 1 of 2 lines shown, the whole is larger than 260 bytes.**'
    """
    if len(text.encode()) <= most_bytes:
        return text
    lines, size, shown = text.splitlines(), 0, 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > most_bytes - 100:  # what the last line takes
            break
        shown += 1
    note = f"**Cut here: {shown:,} of {len(lines):,} lines shown, the whole is larger than {most_bytes:,} bytes.**"
    return "\n".join([*lines[:shown], "", note, ""])


def _check_table(rows: pl.DataFrame, limit: int | None = None) -> Table:
    return declared_table(
        "gate/checks",
        rows,
        limit=limit,
        status=lambda row: Cell(row["status"], _STYLES[row["status"]]),
        quantity=lambda row: title_of(row, 100),
        before=lambda row: row["limit_text"] or _base(row),
        now=_now,
        change=lambda row: change_text(row["change"]),
    )


def _grown_table(rows: pl.DataFrame, limit: int | None = None) -> Table:
    return declared_table("gate/grown", rows, limit=limit, before=_base, now=_now)


def _base(row: dict[str, Any]) -> str:
    return "-" if row["base"] is None else measured_text(row["base"], row["unit"])


def _now(row: dict[str, Any]) -> str:
    return "-" if row["value"] is None else measured_text(row["value"], row["unit"])
