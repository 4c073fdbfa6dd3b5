"""Values of the kernel's arguments that reproduce the hardware counters of the same kernel.

Where several layouts do, the counters cannot tell them apart, and no number that depends on it is certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from wavewright.analysis.trace.lanes import LaneAccesses, lane_accesses
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

#: Counter -> the space it is about, and the sums of `LaneAccesses.rows` that it counts.
COUNTERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "SQ_LDS_BANK_CONFLICT": ("lds", ("extra_cycles_total",)),
    "SQ_LDS_IDX_ACTIVE": ("lds", ("ideal_cycles_total", "extra_cycles_total")),
    "TCP_TOTAL_CACHE_ACCESSES": ("memory", ("segment_count_total",)),
}
FITS, DIFFERS, NOT_KNOWN = "fits", "differs", "not known"
_TOLERANCE: Final = 0.005  #: Counters are of a whole dispatch: a few waves at its edges may do less.


@dataclass(frozen=True)
class ArgumentFit(Answer, package=__package__):
    """Sets of arguments, and whether they reproduce counters."""

    candidates: pl.DataFrame
    fitting: tuple[int, ...]  #: Sets that reproduce every counter.
    undecided: tuple[int, ...]  #: Sets that no counter contradicts, with lane addresses that remain unknown.
    #: Whether exactly one set fits, none is undecided, and the counters tell the sets apart.
    is_unique: bool
    verdict: str  #: In words.


def fit_arguments(
    trace: ThreadTrace,
    options: LaneOptions | None,
    candidates: Sequence[tuple[str, ...]],
    measured: Mapping[str, float],
) -> ArgumentFit:
    """Evaluate each set of arguments (`NAME=VALUE`), beside those of `options`, against counters per wave.

    Raises
    ------
    UsageError
        There is no set, no counter or an unknown one, or an argument does not fit the kernel.
    """
    _check(candidates, measured)
    base_options = options or LaneOptions()
    rows = []
    for place, arguments in enumerate(candidates):
        answer = lane_accesses(trace, replace(base_options, arguments=(*base_options.arguments, *arguments)))
        for counter, value in measured.items():
            predicted = _predicted(answer, counter)
            rows.append((place, " ".join(arguments), counter, float(value), predicted, _verdict(predicted, value)))
    table = pl.DataFrame(rows, schema=ArgumentFit.tables["candidates"].dtypes, orient="row")
    verdicts = {place: set(table.filter(candidate=place)["verdict"]) for place in range(len(candidates))}
    fitting = tuple(place for place, names in verdicts.items() if names == {FITS})
    undecided = tuple(place for place, names in verdicts.items() if NOT_KNOWN in names and DIFFERS not in names)
    return ArgumentFit(
        candidates=table,
        fitting=fitting,
        undecided=undecided,
        is_unique=len(fitting) == 1 and not undecided,
        verdict=_words(candidates, fitting, undecided),
    )


def _check(candidates: Sequence[tuple[str, ...]], measured: Mapping[str, float]) -> None:
    if not candidates:
        raise UsageError("no arguments to compare", advice="give at least one set of NAME=VALUE")
    unknown = [name for name in measured if name not in COUNTERS]
    if unknown or not measured:
        what = f"lanes say nothing about {unknown[0][:60]!r}" if unknown else "no counter to compare with"
        raise UsageError(what, advice=f"counters: {', '.join(COUNTERS)}")
    for name, value in measured.items():
        if not 0 <= value < float("inf"):
            raise UsageError(f"{name} is {value}", advice="give the counter of a dispatch divided by its waves")


def _predicted(answer: LaneAccesses, counter: str) -> float | None:
    """The counter per wave; None where a cost of an execution is not known."""
    space, names = COUNTERS[counter]
    rows = answer.rows.filter((pl.col("space") == "lds") == (space == "lds"))
    if not answer.wave_count or (rows["cost_known_count"] < rows["execution_count"]).any():
        return None
    return float(sum(rows[name].sum() for name in names)) / answer.wave_count


def _verdict(predicted: float | None, value: float) -> str:
    if predicted is None:
        return NOT_KNOWN
    return FITS if abs(predicted - value) <= _TOLERANCE * max(value, 1.0) else DIFFERS


def _words(candidates: Sequence[tuple[str, ...]], fitting: tuple[int, ...], undecided: tuple[int, ...]) -> str:
    if len(fitting) > 1:
        return f"{len(fitting)} of {len(candidates)} sets of arguments fit: these counters do not tell them apart"
    if undecided:
        also = "; one fits" if fitting else ""
        return f"of {len(undecided)} of {len(candidates)} sets lane addresses remain unknown{also}"
    if fitting:
        return f"one of {len(candidates)} sets of arguments fits: {' '.join(candidates[fitting[0]])}"
    return f"none of {len(candidates)} sets of arguments fits"
