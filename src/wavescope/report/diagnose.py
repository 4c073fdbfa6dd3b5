"""A diagnosis for the terminal and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.model.words import percent
from wavescope.report.bars import bar
from wavescope.report.tables import place, printable, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavescope.analysis.diagnose import Diagnosis, Evidence, Finding, Remedy
    from wavescope.analysis.doubts import Doubt

__all__ = ["diagnosis_markdown", "diagnosis_report", "finding_lines", "headline"]

_TRUST_STYLES = {"good": "bold green", "with care": "bold yellow", "do not": "bold red"}
_TRUST_WORDS = {"good": "trust it", "with care": "take it with care", "do not": "do not trust it"}
_SEVERITY_STYLES = {"fatal": "bold red", "care": "bold yellow", "note": "bold cyan"}


def headline(answer: Diagnosis) -> str:
    """The diagnosis in one sentence.

    Examples
    --------
    >>> from wavescope.analysis.diagnose import diagnose
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> headline(diagnose(ThreadTrace({}, TraceSource(path="nothing"))))
    'nothing to diagnose: the trace has no instructions'
    """
    if not answer.wave_cycles_total:
        return "nothing to diagnose: the trace has no instructions"
    exposed = answer.exposed_cycles_total / answer.wave_cycles_total
    first = next(iter(answer.findings), None)
    if first is None or not first.exposed_cycles_total:
        return f"{percent(exposed)} of the waves' cycles are exposed; nothing stands out"
    return (
        f"{percent(exposed)} of the waves' cycles are exposed stall or idle; the largest part, "
        f"{percent(first.exposed_share)} of them: {first.name}"
    )


def diagnosis_report(answer: Diagnosis, *, limit: int) -> Iterator[RenderableType]:
    """The plan for the terminal: how far to trust it, then the findings in order.

    Examples
    --------
    >>> from wavescope.analysis.diagnose import diagnose
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> len(list(diagnosis_report(diagnose(ThreadTrace({}, TraceSource(path="nothing"))), limit=3))) > 1
    True
    """
    from rich.text import Text

    yield Text(headline(answer), "bold")
    yield Text.assemble("trust: ", (_TRUST_WORDS[answer.trust], _TRUST_STYLES[answer.trust]))
    for doubt in answer.doubts:
        yield _labelled(
            doubt.severity, f"{printable(doubt.sentence)}; {doubt.advice}", _SEVERITY_STYLES[doubt.severity]
        )
    for number, finding in enumerate(answer.findings[:limit], 1):
        yield Text()
        yield from finding_lines(number, finding)
    if len(answer.findings) > limit:
        yield Text(f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all", "bold yellow")


def diagnosis_markdown(answer: Diagnosis, *, name: str) -> str:
    """The plan as a Markdown page.

    Examples
    --------
    >>> from wavescope.analysis.diagnose import diagnose
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> diagnosis_markdown(diagnose(ThreadTrace({}, TraceSource(path="x"))), name="x").splitlines()[0]
    '# Diagnosis of x'
    """
    lines = [f"# Diagnosis of {_md(name)}", "", headline(answer)[:1].upper() + headline(answer)[1:] + ".", ""]
    lines += [f"**Trust:** {_TRUST_WORDS[answer.trust]}.", ""]
    lines += _md_doubts(answer.doubts)
    lines += ["| # | finding | exposed cycles | of all exposed | gain at most | confidence |"]
    lines += ["|---|---|---:|---:|---:|---|"]
    lines += [
        f"| {number} | {_md(f.title)} | {f.exposed_cycles_total:,} | {percent(f.exposed_share)} | "
        f"{percent(f.gain_share_max)} | {f.confidence} |"
        for number, f in enumerate(answer.findings, 1)
    ]
    for number, finding in enumerate(answer.findings, 1):
        lines += ["", *_md_finding(number, finding)]
    lines += ["", "## How the numbers are made", "", answer.definition]
    return "\n".join(lines) + "\n"


def finding_lines(number: int, finding: Finding) -> Iterator[RenderableType]:
    """One finding for the terminal.

    Examples
    --------
    >>> lines = finding_lines(1, answer.findings[0])  # doctest: +SKIP
    """
    from rich.text import Text

    gain = f"gain at most {percent(finding.gain_share_max)}" if finding.gain_share_max else "no gain of its own"
    head = f"{number}. {finding.title}"
    yield Text.assemble((head, "bold"), f"  {bar(finding.exposed_share)} ", (gain, "bold"))
    cycles = []
    if finding.stall_cycles_total:
        cycles.append(f"{short(finding.stall_cycles_total)} stall cycles ({percent(finding.stall_share)} of all stall)")
    if finding.exposed_cycles_total:
        cycles.append(
            f"{short(finding.exposed_cycles_total)} exposed ({percent(finding.exposed_share)} of all exposed)"
        )
    if finding.row_count:
        cycles.append(f"{finding.row_count:,} {'row' if finding.row_count == 1 else 'rows'}")
    if cycles:
        yield Text("   " + ", ".join(cycles), "dim")
    yield _labelled("why", printable(finding.cause))
    for remedy in finding.remedies[:3]:
        yield _labelled("do", _remedy(remedy))
    if len(finding.remedies) > 3:
        yield Text(f"   showing 3 of {len(finding.remedies)} remedies; --json has all", "bold yellow")
    for item in finding.evidence[:3]:
        yield _labelled("see", _evidence(item))
    if finding.row_count > 3:
        yield Text(f"   showing 3 of {finding.row_count:,} rows; `wavescope stalls` lists more", "dim")
    yield _labelled("sure", f"{finding.confidence}: {finding.confidence_reason}")


def _remedy(remedy: Remedy) -> str:
    text = f"{remedy.name}: {remedy.text}" if remedy.name else remedy.text
    if not remedy.rows:
        return text
    rows = "1 row" if len(remedy.rows) == 1 else f"{len(remedy.rows):,} rows"
    return f"{text} ({rows}, {short(remedy.exposed_cycles_total)} cycles exposed)"


def _labelled(label: str, text: str, style: str = "cyan") -> RenderableType:
    """A paragraph whose lines hang behind its label."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(style=style, min_width=4)
    grid.add_column(ratio=1)
    grid.add_row(label, Text(text))
    return Padding(grid, (0, 0, 0, 3))


def _evidence(item: Evidence) -> str:
    where = place(item.file, item.line)
    if item.row < 0:
        return printable(where)
    text = f"{item.address:#x} {item.text}"
    text += f"  ({where})" if where else ""
    text += f"  {item.execution_count:,} times, {short(item.exposed_cycles_total)} cycles exposed"
    if item.producers:
        text += "\n  <- " + "; ".join(item.producers)
    return "\n".join(printable(line) for line in text.split("\n"))


def _md_doubts(doubts: Sequence[Doubt]) -> list[str]:
    lines = [f"- **{doubt.severity}**: {_md(doubt.sentence)}. {_md(doubt.advice)}." for doubt in doubts]
    return [*lines, ""] if lines else []


def _md_finding(number: int, finding: Finding) -> list[str]:
    lines = [f"## {number}. {_md(finding.title)}", ""]
    if finding.stall_cycles_total or finding.exposed_cycles_total:
        lines += [
            (
                f"{finding.stall_cycles_total:,} stall cycles ({percent(finding.stall_share)} of all stall), "
                f"{finding.exposed_cycles_total:,} exposed ({percent(finding.exposed_share)} of all exposed); "
                f"gain at most **{percent(finding.gain_share_max)}**."
            ),
            "",
        ]
    lines += [f"**Why.** {_md(finding.cause)}.", ""]
    for remedy in finding.remedies:
        name = f"**{_md(remedy.name[:1].upper() + remedy.name[1:])}.** " if remedy.name else "**Do.** "
        lines.append(f"- {name}{_md(remedy.text)}.")
    rows = [item for item in finding.evidence if item.row >= 0]
    if rows:
        lines += ["", "| row | address | instruction | source | executions | stall cycles | exposed cycles |"]
        lines += ["|---:|---|---|---|---:|---:|---:|"]
        lines += [
            f"| {i.row} | `{i.address:#x}` | `{_code(i.text)}` | {_md(place(i.file, i.line))} | "
            f"{i.execution_count:,} | {i.stall_cycles_total:,} | {i.exposed_cycles_total:,} |"
            for i in rows
        ]
        if finding.row_count > len(rows):
            lines += ["", f"Showing {len(rows)} of {finding.row_count:,} rows."]
    lines += ["", f"Confidence: {finding.confidence} ({_md(finding.confidence_reason)})."]
    return lines


def _md(text: str) -> str:
    """Text from a trace, so that it cannot become Markdown or HTML."""
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return printable(text).replace("\n", " ")


def _code(text: str) -> str:
    return printable(text).replace("`", "'").replace("|", "\\|").replace("\n", " ")
