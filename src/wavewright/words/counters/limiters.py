"""Limiters of the kernels of a counter capture, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.analysis.counters.limiters import KernelLimit, Limiters
from wavewright.analysis.counters.limiters.evidence import Limiter
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import (
    GAP,
    AnyBlock,
    Cell,
    Grid,
    GridColumn,
    Sentence,
    Table,
    headline,
    labelled,
    sentence,
)
from wavewright.model.findings import NumberEvidence
from wavewright.words.counters.access import access_lines, value_words
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import block_columns

_STYLES = {"at limit": "bold red", "likely": "yellow", "undecided": "cyan", "excluded": "dim"}
_SEVERITY_STYLES = {"fatal": "bold red", "care": "bold yellow", "note": "bold cyan"}
_REMEDIES = 3
_UNDECIDED = 6
_NAMED_COUNTERS = 8
_MAX_NAME = 100
_INDENT = 3
_COLUMNS = block_columns("counters/limiters/limiters")


def limiters_report(answer: Limiters) -> Iterator[AnyBlock]:
    """Blocks of the kernels in order: verdict, remedies, limiters and their numbers."""
    yield headline(limits_headline(answer))
    for caveat in answer.caveats:
        words = f"{printable(caveat.sentence)}; {caveat.advice}"
        yield labelled(caveat.severity, words, tone=_SEVERITY_STYLES[caveat.severity])
    for number, kernel in enumerate(answer.kernels, 1):
        yield GAP
        yield from _kernel(number, kernel)
    if len(answer.kernels) < answer.kernel_count:
        note = f"showing {len(answer.kernels):,} of {answer.kernel_count:,} kernels; --top 0 shows all"
        yield sentence((note, "bold yellow"))


def verdict_lines(answer: Limiters) -> Grid:
    """One line per kernel: which limit it is at."""
    lines = [f"{brief(kernel.kernel_name, _MAX_NAME)}: {_sentence(kernel.summary)}" for kernel in answer.kernels]
    return Grid(tuple((line,) for line in lines), (GridColumn(takes_rest=True),))


def limits_headline(answer: Limiters) -> str:
    """The capture in a line."""
    if not answer.kernel_count:
        return "nothing to diagnose: the capture has no dispatches"
    gpu = " ".join(word for word in (answer.target, answer.product) if word) or "an unknown GPU"
    return f"{counted(answer.kernel_count, 'kernels')}, {counted(answer.dispatch_count, 'dispatches')} on {gpu}"


def _kernel(number: int, kernel: KernelLimit) -> Iterator[AnyBlock]:
    yield sentence((f"{number}. {brief(kernel.kernel_name, _MAX_NAME)}", "bold"), f"  {times_words(kernel)}")
    yield labelled("is", _sentence(kernel.summary), tone=_style_of(kernel))
    if kernel.limits:
        yield Sentence(_confidence(kernel), indent=_INDENT)
    for line in access_lines(kernel.limiters):
        yield Sentence(_sentence(line), indent=_INDENT)
    active = kernel.of("at limit", "likely")
    remedies = actionable(active)
    for limiter in remedies[:_REMEDIES]:
        yield labelled("do", f"{limiter.name}: {limiter.remedy}{gain_words(limiter)}")
    if len(remedies) > _REMEDIES:
        words = f"showing {_REMEDIES} of {len(remedies)} remedies; --json has all"
        yield sentence((words, "bold yellow"), indent=_INDENT)
    yield from _tables(kernel)
    if kernel.plan:
        yield labelled("next", f"the missing counters: {kernel.plan}")


def _confidence(kernel: KernelLimit) -> str:
    return f"Confidence: {kernel.confidence} ({printable(kernel.confidence_reason)})"


def _tables(kernel: KernelLimit) -> Iterator[AnyBlock]:
    open_ones = [limiter for limiter in kernel.of("undecided") if limiter.is_measurable]
    absent = [limiter for limiter in kernel.of("undecided") if not limiter.is_measurable]
    rows = [*kernel.of("at limit", "likely"), *open_ones[:_UNDECIDED]]
    if rows:
        yield _table(rows)
    if len(open_ones) > _UNDECIDED:
        rest = ", ".join(limiter.name for limiter in open_ones[_UNDECIDED:])
        yield labelled("also", f"undecided: {rest}")
    if absent:
        words = f"{absent[0].reason}: {', '.join(limiter.name for limiter in absent)}"
        yield sentence((f"not measurable here: {words}", "dim"), indent=_INDENT)
    excluded = kernel.of("excluded")
    if excluded:
        yield sentence((f"excluded: {excluded_words(excluded)}", "dim"), indent=_INDENT)


def _table(rows: Sequence[Limiter]) -> Table:
    lines = tuple(
        (
            Cell(each.verdict, _STYLES[each.verdict]),
            each.name,
            numbers_words(each),
            "" if each.verdict == "undecided" else each.confidence,
        )
        for each in rows
    )
    return Table("", _COLUMNS, lines, indent=_INDENT)


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


def excluded_words(excluded: Sequence[Limiter], *, with_hint: bool = True) -> str:
    """Units with how busy they are; of the rest, how many there are, and with a hint what lists them."""
    units = [_brief(limiter) for limiter in excluded if limiter.kind == "throughput"]
    rest = len(excluded) - len(units)
    more = f"{rest:,} {'others' if units else 'limiters'}{' (--json lists them)' if with_hint else ''}"
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
    each = f", {duration(kernel.duration_ns_mean)} each" if kernel.duration_ns_mean else ", no sound timestamps"
    return f"{share}{counted(kernel.dispatch_count, 'dispatches')}{each}"


def _style_of(kernel: KernelLimit) -> str:
    return _STYLES[kernel.limiters[0].verdict] if kernel.limiters else "dim"


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


def _sentence(text: str) -> str:
    return printable(text[:1].upper() + text[1:])
