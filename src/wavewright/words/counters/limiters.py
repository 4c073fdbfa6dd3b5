"""Limits of the kernels of a counter capture in words: one finding for each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.analysis.counters.limiters import KernelLimit, Limiters
from wavewright.analysis.counters.limiters.evidence import Limiter
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Cell, Finding, Grid, GridColumn, Labelled, Sentence, Table
from wavewright.model.findings import NumberEvidence
from wavewright.words.counters.access import access_lines, value_words
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import block_columns
from wavewright.words.kit.handles import handle

_STYLES = {"at limit": "bold red", "likely": "yellow", "undecided": "cyan"}
_NAME = 100  #: Characters of the name of a kernel.
_REMEDIES, _UNDECIDED = 3, 6  #: Remedies in a finding, and undecided limiters in the table.
_NAMED_COUNTERS = 8  #: Missing counters that a reason names.
_COLUMNS = block_columns("counters/limiters/limiters")


def limiters_report(answer: Limiters) -> Iterator[AnyBlock]:
    """The limiter of each kernel, the longest first, with its numbers."""
    yield Sentence(_headline(answer), "headline")
    yield Sentence(limits_headline(answer))
    for caveat in answer.caveats:
        yield Labelled(caveat.severity, f"{caveat.sentence}; {caveat.advice}" if caveat.advice else caveat.sentence)
    for number, kernel in enumerate(answer.kernels, 1):
        yield _finding(number, kernel)
    rows = tuple(row for kernel in answer.kernels for row in _rows(kernel))
    if rows:
        yield GAP
        table = Table("limiters and their numbers", _COLUMNS, rows)
        yield table if len(answer.kernels) > 1 else table.with_columns(range(1, len(_COLUMNS)))
    if len(answer.kernels) < answer.kernel_count:
        yield Sentence(f"showing {len(answer.kernels):,} of {answer.kernel_count:,} kernels; --top 0 shows all")


def _headline(answer: Limiters) -> str:
    if not answer.kernels:
        return limits_headline(answer)
    first = answer.kernels[0]
    share = f"{percent(first.duration_share)} of the time, " if first.duration_share is not None else ""
    return f"{brief(first.kernel_name, _NAME)}: {share}{first.summary}"


def _finding(number: int, kernel: KernelLimit) -> Finding:
    active = kernel.of("at limit", "likely")
    paragraphs = [Labelled("why", kernel.summary), Labelled("time", times_words(kernel))]
    paragraphs += [Labelled("access", line) for line in access_lines(kernel.limiters)]
    remedies = actionable(active)
    for limiter in remedies[:_REMEDIES]:
        paragraphs.append(Labelled("do", f"{limiter.name}: {limiter.remedy}{gain_words(limiter)}"))
    if len(remedies) > _REMEDIES:
        paragraphs.append(Labelled("more", f"showing {_REMEDIES} of {len(remedies)} remedies; --json has all"))
    undecided = [limiter.name for limiter in kernel.of("undecided") if limiter.is_measurable]
    if len(undecided) > _UNDECIDED:
        paragraphs.append(Labelled("also", f"undecided: {', '.join(undecided[_UNDECIDED:])}"))
    absent = [limiter for limiter in kernel.of("undecided") if not limiter.is_measurable]
    if absent:
        names = ", ".join(limiter.name for limiter in absent)
        paragraphs.append(Labelled("not measurable here", f"{absent[0].reason}: {names}"))
    if excluded := kernel.of("excluded"):
        paragraphs.append(Labelled("excluded", excluded_words(excluded)))
    if kernel.plan:
        paragraphs.append(Labelled("to know more", f"the missing counters: {kernel.plan}"))
    if kernel.limits:
        paragraphs.append(Labelled("confidence", f"{kernel.confidence} ({kernel.confidence_reason})"))
    gains = [limiter.gain_share_max for limiter in active if limiter.gain_share_max is not None]
    gain = f"gain at most {percent(max(gains), 0)} of its time" if gains else ""
    return Finding(number, brief(kernel.kernel_name, _NAME), gain, tuple(paragraphs), handle("k", kernel.kernel))


def _rows(kernel: KernelLimit) -> Iterator[tuple[str, ...]]:
    undecided = [limiter for limiter in kernel.of("undecided") if limiter.is_measurable]
    for limiter in (*kernel.of("at limit", "likely"), *undecided[:_UNDECIDED]):
        verdict = Cell(limiter.verdict, _STYLES[limiter.verdict])
        confidence = "" if limiter.verdict == "undecided" else limiter.confidence
        yield brief(kernel.kernel_name, 40), verdict, limiter.name, numbers_words(limiter), confidence


def verdict_lines(answer: Limiters) -> Grid:
    """One line per kernel: which limit it is at."""
    lines = [f"{brief(kernel.kernel_name, _NAME)}: {kernel.summary}" for kernel in answer.kernels]
    return Grid(tuple((line,) for line in lines), (GridColumn(takes_rest=True),))


def limits_headline(answer: Limiters) -> str:
    """The capture in a line."""
    if not answer.kernel_count:
        return "nothing to diagnose: the capture has no dispatches"
    gpu = " ".join(word for word in (answer.target, answer.product) if word) or "an unknown GPU"
    return f"{counted(answer.kernel_count, 'kernels')}, {counted(answer.dispatch_count, 'dispatches')} on {gpu}"


def numbers_words(limiter: Limiter) -> str:
    """The numbers behind a verdict, or what is missing for one."""
    if limiter.verdict == "undecided":
        is_named = not limiter.missing_counters or "needs " in limiter.reason
        return limiter.reason if is_named else f"{limiter.reason}; collect {_counters(limiter)}"
    if limiter.verdict == "excluded":
        return limiter.reason
    shown = [number_words(item) for item in limiter.evidence if item.role == "number" and item.value is not None]
    return "; ".join([limiter.reason, *shown[:4]])


def number_words(item: NumberEvidence) -> str:
    """One number of the evidence with its unit and the metric that it is."""
    text = f"{item.label} {value_words(item)}"
    return f"{text} [{item.metric_id}]" if item.metric_id else text


def _counters(limiter: Limiter) -> str:
    named = ", ".join(limiter.missing_counters[:_NAMED_COUNTERS])
    more = len(limiter.missing_counters) - _NAMED_COUNTERS
    return f"{named} and {more} more" if more > 0 else named


def excluded_words(excluded: Sequence[Limiter]) -> str:
    """Units with how busy they are; of the rest, how many there are, and what lists them."""
    units = [_brief(limiter) for limiter in excluded if limiter.kind == "throughput"]
    rest = len(excluded) - len(units)
    more = f"{rest:,} {'others' if units else 'limiters'} (--json lists them)"
    return ", ".join([*units, *([more] if rest else [])])


def _brief(limiter: Limiter) -> str:
    """The limiter with the number that excludes it."""
    item = next((item for item in limiter.evidence if item.role == "decides" and item.level == 0), None)
    if item is None or item.value is None:
        return limiter.name
    of_peak = " of peak" if item.label.endswith(" of peak") else ""
    return f"{limiter.name} ({value_words(item)}{of_peak})"


def times_words(kernel: KernelLimit) -> str:
    """The time of the kernel."""
    of_what = "kernel time of the run; counted in" if kernel.is_time_of_run else "time,"
    share = f"{percent(kernel.duration_share)} of the {of_what} " if kernel.duration_share is not None else ""
    mean = f", {duration(kernel.duration_ns_mean)} each" if kernel.duration_ns_mean else ", no sound timestamps"
    return f"{share}{counted(kernel.dispatch_count, 'dispatches')}{mean}"


def actionable(limiters: Sequence[Limiter]) -> list[Limiter]:
    """Waste of a unit comes before the unit itself: it is the part that can be changed.

    What to do about latency in general is left out where something says which latency it is.
    """
    order = {"at limit": 0, "likely": 1}
    if any(limiter.kind == "latency" and limiter.name != "latency" for limiter in limiters):
        limiters = [limiter for limiter in limiters if limiter.name != "latency"]
    return sorted(limiters, key=lambda limiter: (order[limiter.verdict], limiter.kind != "waste"))


def gain_words(limiter: Limiter) -> str:
    """The largest possible gain, in brackets; empty = not known."""
    if limiter.gain_share_max is None:
        return ""
    bound = f" (gain at most {percent(limiter.gain_share_max, 0)} of its time"
    return f"{bound} with the same work)" if limiter.kind == "throughput" else f"{bound})"
