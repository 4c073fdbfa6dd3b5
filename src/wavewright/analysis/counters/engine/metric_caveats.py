"""Limits of the trust in metrics: times, clocks, channels, differences and passes that do not fit together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from wavewright.analysis.counters.engine.evaluation import Evaluation
from wavewright.base.words import some_of
from wavewright.facts.metrics.names import ASSUMED_FACTS, UNKNOWN_FACTS
from wavewright.model.counters import CounterSet, System

_SHOWN = 3  #: Metrics or formulas that a caveat names.
_OF_PEAKS = ("clock_mhz_max", "memory_gb_per_second")  #: Facts of the GPU that peaks are computed from.
_BELOW, _OVER = -0.5, 100.5  #: Percent that rounding and the edges of counting windows explain; beyond is a caveat.
_APART = 0.1  #: Passes repeat each other if a counter differs by at most this share of the larger value.
#: Counters of cycles, which are above 0 in every dispatch that ran.
_CLOCKS = ("GRBM_GUI_ACTIVE", "GRBM_COUNT", "SQ_BUSY_CYCLES", "TCC_CYCLE", "TCC_BUSY")
#: Counters that two passes over the same dispatches are compared by.
_COMPARED: Sequence[str] = ("SQ_WAVES", "GRBM_GUI_ACTIVE", "SQ_INSTS_VALU", "SQ_INSTS", "TCC_REQ")


def caveats_of(
    counters: CounterSet, dispatches: pl.DataFrame, evaluation: Evaluation, rows: pl.DataFrame, *, has_panels: bool
) -> tuple[str, ...]:
    """Sentences, the gravest first."""
    sentences = [
        *_of_gpu(counters, evaluation, has_panels=has_panels),
        *_of_times(dispatches),
        *_of_clocks(evaluation),
        *_of_channels(evaluation),
    ]
    for text, share in sorted(evaluation.negative.items(), key=lambda item: -item[1])[:_SHOWN]:
        sentences.append(f"{text} is negative by {share:.0%} of what it is taken from, and counts as 0")
    if "unit" in rows.columns:
        sentences += _of_shares(rows)
    return (*sentences, *_of_passes(counters, evaluation))


def _of_gpu(counters: CounterSet, evaluation: Evaluation, *, has_panels: bool) -> Iterator[str]:
    target = counters.system.target
    if not target:
        yield "the capture does not say which GPU was measured: --target"
    elif not has_panels:
        yield f"no panels are declared for {target}"
    missing = [UNKNOWN_FACTS[name] for name in _OF_PEAKS if not evaluation.facts[name] > 0]
    if target and missing:
        yield f"the capture does not say {' and '.join(missing)}: peaks that need it are empty"
    if not evaluation.is_reference:  # whose rules know nothing but the capture
        yield from assumed_facts(counters.system)


def assumed_facts(system: System) -> Iterator[str]:
    """Sentences about facts that peaks need, which are known of the product and not from the capture."""
    assumed: dict[str, list[str]] = {}
    for name, word in ASSUMED_FACTS.items():
        if (source := system.said_by.get(name, "")).startswith("facts of"):
            assumed.setdefault(source, []).append(word)
    for source, words in assumed.items():
        yield f"the capture does not say the {' and the '.join(words)}: taken from the {source}"


def _of_times(dispatches: pl.DataFrame) -> Iterator[str]:
    unsound = dispatches.height - (dispatches["end_ns"] - dispatches["start_ns"]).count()
    if unsound:
        some = f"{unsound:,} of {dispatches.height:,} dispatches have no"
        yield f"{'no dispatch has' if unsound == dispatches.height else some} sound timestamps: rates leave them out"


def _of_clocks(evaluation: Evaluation) -> Iterator[str]:
    for name in _CLOCKS:
        stopped: dict[int, int] = {}
        for number, pass_columns in evaluation.columns.passes.items():
            if name in pass_columns.names and (count := int((pass_columns.vector(name) == 0).sum())):
                stopped[number] = count
        if stopped:
            worst = max(stopped, key=lambda number: stopped[number])
            of = f"{evaluation.count:,} dispatches ({evaluation.columns.name_of[worst]})"
            yield f"{name} is 0 in {stopped[worst]:,} of {of}"


def _of_channels(evaluation: Evaluation) -> Iterator[str]:
    partial: dict[str, int] = {}
    for pass_columns in evaluation.columns.passes.values():
        for counter, channels in pass_columns.channels.items():
            partial[counter] = max(len(channels), partial.get(counter, 0))
    lacking = {name: count for name, count in partial.items() if count < evaluation.channel_count}
    if lacking:
        least, most = min(lacking.values()), max(lacking.values())
        span = f"{least}" if least == most else f"{least} to {most}"
        names = f"{len(lacking)} counters have" if len(lacking) > 1 else f"{next(iter(lacking))} has"
        yield f"{names} {span} of {evaluation.channel_count} L2 channels"


def _of_shares(rows: pl.DataFrame) -> Iterator[str]:
    shares = rows.filter(pl.col("channel").is_null() & pl.col("unit").str.starts_with("%"))
    for word, is_outside in (("over 100 %", pl.col("average") > _OVER), ("below 0 %", pl.col("average") < _BELOW)):
        metrics = shares.filter(is_outside).select("metric_id", "name", "average").rows()
        if metrics:
            shown = some_of(metrics, _SHOWN, lambda metric: f"{metric[1]} ({metric[0]}) {metric[2]:.1f}")
            yield f"{word}: {shown}"


def _of_passes(counters: CounterSet, evaluation: Evaluation) -> Iterator[str]:
    """Passes that meet in one formula, or in one file, and disagree or cannot be compared."""
    names = evaluation.columns.name_of
    durations = _pass_durations(counters, evaluation)
    worst: tuple[float, str, int, int] = (0.0, "", 0, 0)
    unlike: set[tuple[int, int]] = set()
    for first, other in sorted(_pass_pairs(evaluation)):
        differences = [*_differences(evaluation, first, other)]
        if not any(name in _CLOCKS for _, name in differences) and first in durations and other in durations:
            differences.append((_apart(durations[first], durations[other]), "the duration"))
        if not differences and not {first, other} & evaluation.columns.joined:
            unlike.add((first, other))
        for share, name in differences:
            worst = max(worst, (share, name, first, other))
    share, name, first, other = worst
    if share > _APART:
        yield (
            f"passes do not repeat each other: {name} differs by {share:.0%} between {names[first]} and "
            f"{names[other]}; ratios of their counters are that uncertain"
        )
    for first, other in sorted(unlike)[:1]:
        yield (
            f"some ratios divide counters of {names[first]} by those of {names[other]}, and nothing in the capture "
            "tells whether these passes ran alike"
        )


def _pass_pairs(evaluation: Evaluation) -> set[tuple[int, int]]:
    """Pairs of passes with counters in one formula; a file of joined passes is paired with every other pass."""
    pairs = {(min(group), other) for group in evaluation.spread for other in group if other != min(group)}
    joined = evaluation.columns.joined & set(evaluation.columns.passes)
    return pairs | {(mixed, other) for mixed in joined for other in evaluation.columns.passes if other != mixed}


def _pass_durations(counters: CounterSet, evaluation: Evaluation) -> dict[int, float]:
    """Pass -> duration of the chosen dispatches that it says, in ns."""
    is_chosen = pl.col("dispatch").is_in(evaluation.columns.numbers.tolist())
    spans = counters.executions.filter(is_chosen, pl.col("end_ns") > pl.col("start_ns"))
    totals = spans.group_by("pass").agg((pl.col("end_ns") - pl.col("start_ns")).sum(), pl.len())
    return {number: total for number, total, count in totals.iter_rows() if count == evaluation.count}


def _differences(evaluation: Evaluation, first: int, other: int) -> Iterator[tuple[float, str]]:
    passes = evaluation.columns.passes
    for name in _COMPARED:
        if name in passes[first].names and name in passes[other].names:
            first_sum, other_sum = (float(np.nansum(passes[number].vector(name))) for number in (first, other))
            if first_sum + other_sum > 0 and math.isfinite(first_sum + other_sum):
                yield _apart(first_sum, other_sum), name


def _apart(first: float, other: float) -> float:
    return abs(first - other) / max(first, other)
