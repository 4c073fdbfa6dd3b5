"""The diagnosis of a run in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from wavewright.analysis.run.diagnose import RunDiagnosis
from wavewright.analysis.run.diagnose.budget import TimeBudget
from wavewright.analysis.run.diagnose.finding import RunFinding
from wavewright.base.words import counted, duration, percent, some_of
from wavewright.model.blocks import AnyBlock, Block, Finding, Labelled, Sentence, headline, sentence
from wavewright.model.findings import PlaceEvidence
from wavewright.words.kit.brief_names import brief, brief_kernel
from wavewright.words.kit.declared_tables import table_below
from wavewright.words.kit.handles import handle
from wavewright.words.run.place_names import gpu_cell

_NAME = 48  #: Characters of a name.
_FRAMES = 3  #: Innermost frames of a stack that are named.
_FIRST = 3  #: Kernels of a sequence that are named.
NOTHING = "nothing above its threshold"


def _paragraphs(finding: RunFinding, answer: RunDiagnosis) -> Iterator[Labelled]:
    """The paragraphs below a finding; texts may hold names from the file."""
    yield Labelled("why", finding.reason)
    if finding.evidence and (where := _where(finding.evidence[0], with_gpu=answer.gpus.height > 1)):
        yield Labelled("where", where)
    for remedy in finding.remedies:
        yield Labelled("do", remedy)
    yield Labelled("false alarm", f"if {finding.false_if}")
    if finding.confidence != "high":
        yield Labelled("confidence", f"{finding.confidence} ({finding.confidence_reason})")


def _remarks(answer: RunDiagnosis, limit: int) -> Iterator[str]:
    """Sentences below the findings: some are not shown, or there are none."""
    if len(answer.findings) > limit:
        yield f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all"
    if not answer.findings and answer.gpus.height:
        beside = "; not everything could be checked, see below" if answer.skipped else ""
        yield f"{NOTHING} ({counted(len(answer.checked), 'rules')} checked{beside})"


def _notes(answer: RunDiagnosis) -> Iterator[Labelled]:
    """Notes, and what was not looked at."""
    yield from (Labelled("note", note.text) for note in answer.notes)
    beside = {"not a finding": answer.not_findings, "skipped": answer.skipped, "caveats": answer.caveats}
    for kind, rows in beside.items():
        if rows:
            yield Labelled(kind, "; ".join(dict.fromkeys(row.text for row in rows)))


def gain_text(finding: RunFinding, answer: RunDiagnosis) -> str:
    """The largest gain of a finding, in words."""
    if finding.within:
        parent = next((n for n, other in enumerate(answer.findings, 1) if other.rule == finding.within), 0)
        return f"at most {percent(finding.gain_share_max)} of the time, within {parent}"
    return f"at most {percent(finding.bound_share)} of the time"


def _where(evidence: PlaceEvidence, *, with_gpu: bool) -> str:
    """The worst case: what was open, what it was, how long, when."""
    stack = " > ".join(brief(name, _NAME) for name in evidence.stack[-_FRAMES:])
    parts = [f"in {stack}"] if stack else []
    what = _sequence(evidence.sequence or (evidence.what,))
    parts.append(f"after {what}, before {brief_kernel(evidence.next_work, _NAME)}" if evidence.next_work else what)
    if evidence.call:
        parts.append(f"host {duration(evidence.call_ns)} in {brief(evidence.call, _NAME)}")
    place = ""
    if with_gpu and evidence.rank is not None:
        place = f"rank {evidence.rank} "
    elif with_gpu and evidence.gpu is not None:
        place = f"GPU {evidence.gpu} "
    when = f" at --time {evidence.window}" if evidence.window else ""
    longest = "longest" if evidence.count == 1 else counted(evidence.count, "calls")
    parts.append(f"{longest} {place}{duration(evidence.time_ns)}{when}")
    return "; ".join(parts)


def _sequence(names: Sequence[str]) -> str:
    """A kernel, or the first ones of a sequence."""
    return some_of(names, _FIRST, lambda name: brief_kernel(name, _NAME))


def diagnosis_report(answer: RunDiagnosis, *, limit: int = 20) -> Iterator[Block]:
    """The headline, the findings, and what was not looked at; what to ask next is not among them."""
    yield Sentence(f"{answer.subject}; trust: {answer.trust}")
    yield Sentence(answer.headline, "headline")
    for number, finding in enumerate(answer.findings[:limit], 1):
        paragraphs = tuple(_paragraphs(finding, answer))
        yield Finding(number, finding.verdict, gain_text(finding, answer), paragraphs, handle("f", number))
    yield from map(Sentence, _remarks(answer, limit))
    yield from _notes(answer)


def budget_report(answer: TimeBudget, *, limit: int = 20) -> Iterator[AnyBlock]:
    """The parts of the time, which add up to all of it, and the same for each GPU."""
    if not answer.parts.height:
        yield headline("no GPU work was recorded")
        return
    shares = dict(answer.parts.select("part", "share").iter_rows())
    inside = ", ".join(f"{part} {percent(share)}" for part, share in shares.items() if part != "idle" and share)
    who = f"{counted(answer.gpus.height, 'GPUs')} busy" if answer.gpus.height > 1 else "GPU busy"
    busy = f"{who} {percent(1 - shares['idle'])} of {duration(answer.window_ns)} ({inside or 'nothing'})"
    yield sentence((f"{busy}, idle {percent(shares['idle'])}", "bold"))
    yield from table_below("run/diagnose/budget", answer.parts)
    if answer.gpus.height > 1:
        window = pl.when(pl.col("window_ns") > 0).then("window_ns")
        parts = ("computation_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        gpus = answer.gpus.with_columns(pl.col(name) / window for name in parts)
        several = answer.gpus["node"].n_unique() > 1
        yield from table_below("run/diagnose/gpu", gpus, limit=limit, gpu=gpu_cell(several=several))
