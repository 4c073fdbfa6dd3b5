"""Stalls and diagnoses of PC samples in words."""

from __future__ import annotations

from collections.abc import Iterator

from wavewright.analysis.trace.samples.causes import SampleScope
from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis, SampleFinding, SamplePlace, SampleStalls
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, shortened
from wavewright.model.blocks import GAP, AnyBlock, Finding, Named, Sentence, headline, labelled, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import hexadecimal, place
from wavewright.words.kit.handles import handle

#: What PC sampling of the given kind leaves open; the first is true of every method.
_WAVES_NOT_TIME = (
    "a share of samples is a share of the time of waves, not of the kernel: while one wave waits, others may work. "
    "How much time a change can save does not follow from it"
)
_HOST_TRAP = (
    "host-trap samples do not tell why a wave is where it is, and may be up to two instructions late: look at the "
    "instructions before and after, too"
)
STOCHASTIC = (
    "rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit cycles "
    "--pc-sampling-interval 1048576 --output-format json"
)
_REASONS_ADVICE = f"reasons: {STOCHASTIC} (MI300 and later; `rocprofv3-avail info --pc-sampling` lists the methods)"
_TRACE_ADVICE = "times and what waits wait for: a thread trace (rocprofv3 --att), then wavewright diagnose"


def scope_words(scope: SampleScope) -> str:
    """The samples that an answer is about."""
    text = counted(scope.all_sample_count, "samples")
    if scope.sample_count < scope.all_sample_count:
        text = f"{scope.sample_count:,} of {text}"
    if scope.dispatch_count is not None:
        text += f", {counted(scope.dispatch_count, 'dispatches')}"
    if scope.moment_count is not None:
        text += f", {counted(scope.moment_count, 'sampling moments')}"
    if scope.kernel_name is not None:
        text = f"{shortened(printable(scope.kernel_name))}: {text}"
    elif scope.kernel_count > 1:
        text = f"{counted(scope.kernel_count, 'kernels')}: {text}"
    if scope.cu_wave_count_mean is not None:
        text += f", {scope.cu_wave_count_mean:.1f} waves on the CU on average"
    return text


def sample_stalls_report(answer: SampleStalls, *, limit: int) -> Iterator[AnyBlock]:
    """The shares of issue and stall, the causes, and the rows with most of them."""
    scope = answer.scope
    informative = scope.issued_count + scope.stalled_count
    yield headline(f"{scope_words(scope)}; {percent(scope.stalled_count / (informative or 1))} did not issue")
    if not answer.causes.height:
        return
    tops = answer.by_row.select("row", "cause", "text", "file", "line")
    causes = answer.causes.join(tops, left_on=["top_row", "cause"], right_on=["row", "cause"], maintain_order="left")
    yield GAP
    interval = lambda row: _interval(row["share_min"], row["share_max"])  # noqa: E731
    yield declared_table("trace/samples/causes", causes, limit=limit, interval=interval)
    yield from table_below("trace/samples/places", answer.by_row, limit=limit, interval=interval)


def sample_diagnosis_report(answer: SampleDiagnosis, *, limit: int) -> Iterator[AnyBlock]:
    """The findings in order, then what samples leave open and what would tell it."""
    yield headline(scope_words(answer.scope))
    yield Sentence(verdict_words(answer))
    yield from (_finding(number, finding) for number, finding in enumerate(answer.findings[:limit], 1))
    if len(answer.findings) > limit:
        yield sentence((f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all", "bold yellow"))
    yield GAP
    for line in open_questions(answer):
        yield labelled("note", line, tone="bold cyan")
    for line in next_recordings(answer):
        yield labelled("next", line)


def verdict_words(answer: SampleDiagnosis) -> str:
    """The diagnosis in one sentence."""
    scope = answer.scope
    if not scope.sample_count:
        return "nothing to diagnose: there is no sample"
    if not answer.is_enough:
        return f"too few samples for findings: {counted(scope.independent_count, 'independent observations')}"
    if not answer.findings:
        return "no cause has a share of samples that stands out"
    first = answer.findings[0]
    words = f"most frequent: {first.name}, {percent(first.share)} of the samples"
    if answer.issuing_share is not None and answer.issuing_share > first.share:
        return f"{percent(answer.issuing_share)} of the samples issue, or lose to another wave that does; {words}"
    return words


def _finding(number: int, finding: SampleFinding) -> Finding:
    paragraphs = [labelled("why", finding.verdict)]
    if finding.remedy:
        paragraphs.append(labelled("do", finding.remedy))
    paragraphs += [labelled("see", sample_place(item)) for item in finding.places]
    if finding.row_count > len(finding.places):
        more = f"showing {len(finding.places)} of {finding.row_count:,} rows; `wavewright hotspots` lists more"
        paragraphs.append(labelled("more", more))
    share = f"{percent(finding.share)} of the samples, 95 % interval {_interval(finding.share_min, finding.share_max)}"
    return Finding(number, finding.name, share, tuple(paragraphs), handle("f", number), finding.share)


def open_questions(answer: SampleDiagnosis) -> list[str]:
    """Sentences about what the samples do not tell."""
    if not answer.scope.sample_count:
        return []
    return [_WAVES_NOT_TIME, *([] if answer.has_reasons else [_HOST_TRAP])]


def next_recordings(answer: SampleDiagnosis) -> list[str]:
    """Advice what to record to know more."""
    return [*([] if answer.has_reasons else [_REASONS_ADVICE]), _TRACE_ADVICE]


def sample_place(item: SamplePlace) -> Sentence:
    """An instruction with its source line and samples."""
    source = place(item.file, item.line)
    words = f"{item.text or '?'}{f' ({source})' if source else ''}: {counted(item.sample_count, 'samples')}"
    gap = "" if item.address is None else " "
    return sentence(Named(hexadecimal(item.address), "i"), f"{gap}{words}, {percent(item.share)}")


def _interval(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"
