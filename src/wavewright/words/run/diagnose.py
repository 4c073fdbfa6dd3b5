"""The diagnosis of a run for the terminal, for the page and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Grid, GridColumn, labelled, sentence
from wavewright.words.kit.brief_names import brief, brief_kernel
from wavewright.writers.markdown.escapes import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.diagnose import RunDiagnosis
    from wavewright.analysis.run.diagnose.finding import RunFinding
    from wavewright.model.findings import PlaceEvidence

_NAME = 48
_FRAMES = 3
NOTHING = "nothing above its threshold"


class Block(NamedTuple):
    """A line of a diagnosis: what it is (subject, headline, finding, why, where, do, false, next, ...) and its text.

    A finding also has what it gains at most, and its number.
    """

    kind: str
    text: str
    gain: str = ""
    number: int = 0


def diagnosis_blocks(answer: RunDiagnosis, *, limit: int = 20) -> Iterator[Block]:
    """The diagnosis line by line, in the order in which it is read; texts may hold names from the file."""
    yield Block("subject", answer.subject, f"trust: {answer.trust}")
    yield Block("headline", answer.headline)
    for number, finding in enumerate(answer.findings[:limit], 1):
        yield from _finding_blocks(number, finding, answer)
    if len(answer.findings) > limit:
        yield Block("cut", f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all")
    if not answer.findings and answer.gpus.height:
        beside = "; not everything could be checked, see below" if answer.skipped else ""
        yield Block("nothing", f"{NOTHING} ({counted(len(answer.checked), 'rules')} checked{beside})")
    for note in answer.notes:
        yield Block("note", note.text)
    for kind, rows in (
        ("not a finding", answer.not_findings),
        ("skipped", answer.skipped),
        ("caveats", answer.caveats),
    ):
        if rows:
            yield Block(kind, "; ".join(dict.fromkeys(row.text for row in rows)))
    yield Block("next", answer.next_command)


def _finding_blocks(number: int, finding: RunFinding, answer: RunDiagnosis) -> Iterator[Block]:
    yield Block("finding", finding.verdict, gain_text(finding, answer), number)
    yield Block("why", finding.reason)
    if finding.evidence and (where := _where(finding.evidence[0], with_gpu=answer.gpus.height > 1)):
        yield Block("where", where)
    for remedy in finding.remedies:
        yield Block("do", remedy)
    yield Block("false", f"if {finding.false_if}")
    if finding.confidence != "high":
        yield Block("sure", f"{finding.confidence} ({finding.confidence_reason})")


def gain_text(finding: RunFinding, answer: RunDiagnosis) -> str:
    """The largest gain of a finding, in words."""
    if finding.within:
        parent = next((n for n, each in enumerate(answer.findings, 1) if each.rule == finding.within), 0)
        return f"at most {percent(finding.gain_share_max)}, within {parent}"
    return f"at most {percent(finding.bound_share)}"


def _where(evidence: PlaceEvidence, *, with_gpu: bool) -> str:
    """The worst case: what was open, what it was, how long, when."""
    stack = " > ".join(brief(name, _NAME) for name in evidence.stack[-_FRAMES:])
    what = " -> ".join(brief_kernel(part, _NAME) for part in evidence.what.split(" -> "))
    parts = [f"in {stack}"] if stack else []
    parts.append(f"after {what.replace(' -> ', ', before ')}" if " -> " in evidence.what else what)
    if evidence.call:
        parts.append(f"host in {brief(evidence.call, _NAME)}")
    who = (
        f"rank {evidence.rank} "
        if evidence.rank is not None
        else f"GPU {evidence.gpu} "
        if evidence.gpu is not None
        else ""
    )
    when = f" at --time {evidence.window}" if evidence.window else ""
    longest = "longest" if evidence.count == 1 else counted(evidence.count, "calls")
    parts.append(f"{longest} {who if with_gpu else ''}{duration(evidence.time_ns)}{when}")
    return "; ".join(parts)


def diagnosis_report(answer: RunDiagnosis, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The report of `wavewright diagnose` about a run."""
    for block in diagnosis_blocks(answer, limit=limit):
        text = printable(block.text)
        if block.kind in ("subject", "finding"):
            if block.kind == "finding":
                yield GAP
            head = f"{block.number}  {text}" if block.number else text
            yield Grid(((head, block.gain),), _TWO_SIDED, is_expanded=True)
        elif block.kind == "headline":
            yield sentence((text, "bold"))
        elif block.kind in ("nothing", "cut"):
            yield GAP
            yield sentence((text, "bold"))
        elif block.kind in ("why",):
            yield labelled("", text)
        elif block.kind in ("where", "do", "false", "sure"):
            yield labelled(f"{block.kind:5}", text)
        else:
            yield Grid((("-", text if block.kind == "note" else f"{block.kind}: {text}"),), _BULLET)


#: A line with something at its right end; the left part wraps first.
_TWO_SIDED = (GridColumn("bold", takes_rest=True), GridColumn("bold", is_number=True))
_BULLET = (GridColumn(), GridColumn(takes_rest=True))


def diagnosis_markdown(answer: RunDiagnosis, *, name: str) -> str:
    """The diagnosis as a Markdown page."""
    lines = [f"# Diagnosis of {escaped(name)}", "", f"{escaped(answer.subject)}. Trust: {answer.trust}.", ""]
    lines += [f"**{escaped(answer.headline)}**", ""]
    if answer.findings:
        lines += ["| # | finding | share | alone at most | after those above at most | confidence |"]
        lines += ["|---:|---|---:|---:|---:|---|"]
        lines += [
            f"| {number} | {escaped(each.verdict)} ({'+'.join(each.rules)}) | {percent(each.share)} | "
            f"{percent(each.gain_share_max)} | {percent(each.bound_share)} | {each.confidence} |"
            for number, each in enumerate(answer.findings, 1)
        ]
    else:
        lines += [f"{NOTHING[:1].upper()}{NOTHING[1:]}."]
    for number, finding in enumerate(answer.findings, 1):
        lines += ["", *_md_finding(number, finding, answer)]
    beside = [
        ("Notes", answer.notes),
        ("Not a finding", answer.not_findings),
        ("Skipped", answer.skipped),
        ("Caveats", answer.caveats),
    ]
    for title, rows in beside:
        if rows:
            lines += ["", f"## {title}", "", *(f"- {escaped(row.text)} ({row.rule})" for row in rows)]
    lines += ["", "## Next", "", f"`{printable(answer.next_command).replace('`', chr(39))}`"]
    lines += ["", "## How the numbers are made", "", answer.definition]
    return "\n".join(lines) + "\n"


def _md_finding(number: int, finding: RunFinding, answer: RunDiagnosis) -> list[str]:
    lines = [f"## {number}. {escaped(finding.verdict)}: {gain_text(finding, answer)}", ""]
    lines += [f"{escaped(finding.reason[:1].upper() + finding.reason[1:])}.", ""]
    lines += [f"- **Do.** {escaped(remedy)}" for remedy in finding.remedies]
    lines += [f"- **False alarm** if {escaped(finding.false_if)}."]
    lines += [f"- **Threshold.** {escaped(_threshold(finding))}"]
    lines += [f"- **Confidence.** {finding.confidence} ({escaped(finding.confidence_reason)})."]
    if finding.evidence:
        lines += ["", "| what | where | time | --time |", "|---|---|---:|---|"]
        lines += [
            f"| {escaped(brief(each.what, 120))} | {escaped(' > '.join(each.stack[-_FRAMES:]))} | "
            f"{duration(each.time_ns)} | {each.window} |"
            for each in finding.evidence
        ]
        if finding.case_count > len(finding.evidence):
            lines += ["", f"Showing {len(finding.evidence)} of {counted(finding.case_count, 'cases')}."]
    return lines


def _threshold(finding: RunFinding) -> str:
    threshold = finding.threshold
    is_share = threshold.unit == "share"
    value, say = (
        "-" if number is None else percent(number) if is_share else f"{number:.1f} {threshold.unit}"
        for number in (threshold.value, threshold.say)
    )
    return f"{threshold.quantity}: {value}, said from {say} ({threshold.source})"
