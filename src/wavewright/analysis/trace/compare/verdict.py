"""A comparison of traces in words: what may be called a change, and what is only a run-to-run difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.about.overview import microseconds
from wavewright.analysis.trace.trust.caveats import COLD_SHARE
from wavewright.base.words import counted, percent

if TYPE_CHECKING:
    from wavewright.analysis.trace.compare import Comparison

_NOTICEABLE_SHARE = 0.0005  #: Smaller shares would be printed as 0.0 %.
_FAR_SHARE = 0.05  #: A traced call this far from the median call is worth a sentence.
#: By kind of unit, the word for a matched unit whose label differs: a line has another number, a function a new name.
RELABELLED = {"instruction": "changed", "line": "moved", "block": "changed", "function": "renamed"}
RENAMED = "with other registers"  #: Of instructions that are the same otherwise.


def sentences(comparison: Comparison, number: int) -> Iterator[str]:
    """Differences of a trace from the first one."""
    base, other = comparison.traces.row(0, named=True), comparison.traces.row(number, named=True)
    if other["is_same_code"]:
        yield f"{_same_code(comparison, number, base, other)}."
        if other["moved_row_count"]:
            moved_rows = counted(other["moved_row_count"], "executed instructions")
            lines = f"{counted(base['line_count'], 'lines')} in {base['label']}, {other['line_count']:,} in"
            lines += f" {other['label']}"
            yield f"Only source lines changed: {moved_rows} have another line than in {base['label']} ({lines})."
    else:
        has_call_times = other["kernel_ns_noise_share"] is not None
        if has_call_times:
            yield f"{_kernel_times(base, other)}."
        yield f"{_waves(comparison, number, base, other)}{_parts(comparison, number)}{_largest(comparison, number)}."
        if has_call_times and not comparison.is_part:
            yield from _disagreement(base, other)
        yield f"{_code(comparison, number)}."
    if other["is_same_code"] and other["kernel_ns_delta_share"] is not None:
        change = percent(other["kernel_ns_delta_share"], sign=True)
        yield f"The median call takes {_medians(base, other)} ({change}), which is run-to-run difference, too."
    yield from _cold_sides(comparison, number)
    for row in (base, other):
        median = row["kernel_ns_median"]
        if median and row["call_count"] > 1 and abs(row["kernel_ns"] / median - 1) >= _FAR_SHARE:
            yield f"{row['label']}: {row['call']}."


def _same_code(comparison: Comparison, number: int, base: dict[str, Any], other: dict[str, Any]) -> str:
    names = f"{other['label']} runs the same code as {base['label']}"
    if comparison.is_part:
        delta = float(comparison.units.filter(pl.col("trace") == number)["delta_share"].sum())
        took = f"the chosen code costs {_more(delta)} per wave"
    else:
        delta = other["duration_delta_share"]
        took = f"its waves took {_more(delta, 'cycles')}"
    work, speed = other["work_share"], other["speed_share"]
    if max(abs(work), abs(delta)) < _NOTICEABLE_SHARE:
        return f"{names}: {took}, no change"
    if abs(work) < _NOTICEABLE_SHARE:
        return f"{names}: {took}, which is run-to-run difference, not a change"
    executed = "more" if work > 0 else "less"
    return (
        f"{names}: {took}, {percent(work, sign=True)} from executing {executed} (other waves or another input were "
        f"traced) and {percent(speed, sign=True)} run-to-run difference, not a change of the code"
    )


def _more(delta: float, unit: str = "") -> str:
    """Amount more or less; the same when it reads 0.0 %."""
    if abs(delta) < _NOTICEABLE_SHARE:
        return f"as many {unit}" if unit else "as much"
    if unit:
        return f"{percent(abs(delta))} {'more' if delta > 0 else 'fewer'} {unit}"
    return f"{percent(abs(delta))} {'more' if delta > 0 else 'less'}"


def _kernel_times(base: dict[str, Any], other: dict[str, Any]) -> str:
    delta, noise = other["kernel_ns_delta_share"], percent(other["kernel_ns_noise_share"])
    name, base_name = other["label"], base["label"]
    counts = f"{base['call_count']:,} and {counted(other['call_count'], 'calls')}"
    if other["outcome"] == "within noise":
        predicate = f"takes as long as {base_name} within noise ({percent(delta, sign=True)}, noise {noise})"
    else:
        predicate = f"is {percent(abs(delta))} {other['outcome']} than {base_name} (noise {noise})"
    return f"{name} {predicate}: the median call takes {_medians(base, other)} ({counts})"


def _medians(base: dict[str, Any], other: dict[str, Any]) -> str:
    return f"{microseconds(other['kernel_ns_median'])} against {microseconds(base['kernel_ns_median'])}"


def _waves(comparison: Comparison, number: int, base: dict[str, Any], other: dict[str, Any]) -> str:
    """The cycles of the waves in the traces, and what of it is noise."""
    name, base_name = other["label"], base["label"]
    if comparison.is_part:
        delta = float(comparison.units.filter(pl.col("trace") == number)["delta_share"].sum())
        return f"The chosen code costs {_more(delta)} per wave in {name} than in {base_name}"
    delta, noise = other["duration_delta_share"], other["duration_noise_share"]
    than = "than" if abs(delta) >= _NOTICEABLE_SHARE else "as"
    took = f"{name}'s waves took {_more(delta, 'cycles')} {than} {base_name}'s"
    if comparison.noise_from == "waves" or noise is None:
        alone = "" if other["kernel_ns_noise_share"] is not None else " (one run on each side: noise is not known)"
        return f"{took}{alone}"
    return f"{took} ({'within' if abs(delta) <= noise else 'beyond'} noise of {percent(noise)})"


def _parts(comparison: Comparison, number: int) -> str:
    """Parts of the difference: more or fewer executions, time between instructions, and slower or faster ones."""
    other = comparison.traces.row(number, named=True)
    work, idle = other["work_share"], other["speed_idle_share"]
    speed = other["speed_share"] - idle
    parts = []
    if abs(work) >= _NOTICEABLE_SHARE:
        parts.append(f"{percent(work, sign=True)} from executing {'more' if work > 0 else 'less'}")
    if abs(idle) >= _NOTICEABLE_SHARE:
        word = "longer" if idle > 0 else "shorter"
        parts.append(
            f"{percent(idle, sign=True)} from {word} gaps between instructions{_gap(comparison, number, idle)}"
        )
    if abs(speed) >= _NOTICEABLE_SHARE:
        word = "slower" if speed > 0 else "faster"
        parts.append(f"{percent(speed, sign=True)} from the same instructions running {word}")
    return f": {', '.join(parts)}" if parts else ""


def _gap(comparison: Comparison, number: int, idle: float) -> str:
    """The cause with most of the difference of gaps, where it goes the same way."""
    causes = comparison.idle_parts.filter(pl.col("trace") == number)
    base = comparison.traces.row(0, named=True)
    cost = base["latency_cycles_per_wave"] + base["idle_cycles_per_wave"]
    if comparison.is_part or not causes.height or not cost:
        return ""
    share = causes["delta_cycles_per_wave"][0] / cost
    is_most = share * idle > 0 and abs(share) >= abs(idle) / 2
    return f" (mostly {causes['part'][0]}, {percent(share, sign=True)})" if is_most else ""


def _cold_sides(comparison: Comparison, number: int) -> Iterator[str]:
    """A sentence where one of two traces is of a cold launch."""
    sides = [comparison.traces.row(at, named=True) for at in (0, number)]
    if any(row["cold_share"] >= COLD_SHARE for row in sides):
        shares = ", ".join(f"{percent(row['cold_share'])} in {row['label']}" for row in sides)
        yield f"A cold launch: waves wait for code that never ran before ({shares} of all cycles); trace a later one."


def _largest(comparison: Comparison, number: int) -> str:
    """The unit with the largest difference, of those that stand out."""
    by = comparison.by
    units_beyond_noise = comparison.standing_out(number)
    if not units_beyond_noise.height:
        noise = "the spread between waves" if comparison.noise_from == "waves" else "noise"
        units = comparison.units.filter(pl.col("trace") == number)
        return "" if units["stands_out"].null_count() == units.height else f"; no {by} differs by more than {noise}"
    row = units_beyond_noise.row(0, named=True)  # the largest difference is first, whichever way it goes
    address = row["address"] if row["address"] is not None else row["base_address"]
    place = f" ({address:#x})" if by in ("instruction", "block") and address is not None else ""
    change = percent(row["delta_share"], sign=True)
    return f"; the largest difference is at {row['label'] or row['base_label']}{place}: {change}"


def _disagreement(base: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """A sentence where the traced waves tell another story than the durations of all calls."""
    in_trace, of_calls = other["duration_delta_share"], other["kernel_ns_delta_share"]
    spread = other["duration_noise_share"] or 0.0
    trace_outcome = "within noise" if abs(in_trace) <= spread else "slower" if in_trace > 0 else "faster"
    if trace_outcome != other["outcome"]:
        yield (
            f"The traces do not show what the durations show ({percent(in_trace, sign=True)} against "
            f"{percent(of_calls, sign=True)}): trust the durations, which are of {base['call_count']:,} and "
            f"{counted(other['call_count'], 'calls')}; each trace is of one."
        )


def _code(comparison: Comparison, number: int) -> str:
    counts = dict(comparison.units.filter(pl.col("trace") == number)["change"].value_counts().iter_rows())
    kinds = (("text", RELABELLED[comparison.by]), ("new", "added"), ("gone", "removed"), ("registers", RENAMED))
    changes = [(counts[kind], word) for kind, word in kinds if counts.get(kind)]
    if not changes:
        return f"The code changed, but not its {comparison.by}s"
    (count, word), *others = changes
    return ", ".join(
        [f"{counted(count, f'{comparison.by}s')} {word}", *(f"{count:,} {word}" for count, word in others)]
    )
