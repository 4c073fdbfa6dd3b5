"""Arguments of a kernel among alternatives: those that its grid, and counters of the same kernel, do not contradict."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Final

import polars as pl

from wavewright.analysis.counters.closure import IMPOSSIBLE, OTHER_RUN
from wavewright.analysis.trace.diagnose.balance import balance
from wavewright.analysis.trace.fabric import FabricTraffic, TrafficOptions, fabric_traffic
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.model.trace import ThreadTrace

_MOST_SETS: Final = 64  #: Sets of arguments that are tried at most.
_OF_FABRIC: Final = ("TCC_EA0_RDREQ", "TCC_WRITE")  #: Counters that the traffic predicts.
_FITS: Final = "fits"  #: Verdict of a set that nothing contradicts.
_GAPS: Final = "with gaps"  #: A note of `fabric_traffic` with these words means that a stride or size may be wrong.


def argument_sets(arguments: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All combinations of alternatives: `N=256|512` is one of two. Raises `UsageError` if there are too many.

    >>> argument_sets(("N=256|512", "K=128"))
    [('N=256', 'K=128'), ('N=512', 'K=128')]
    """
    names = [argument.partition("=") for argument in arguments]
    choices = [[f"{name}{sign}{value}" for value in values.split("|")] for name, sign, values in names]
    count = prod(map(len, choices))
    if count > _MOST_SETS:
        what = f"{count:,} sets of arguments, and {_MOST_SETS} at most are tried"
        raise UsageError(what, advice="fewer alternatives")
    return list(product(*choices))


def fitted_traffic(
    trace: ThreadTrace, options: TrafficOptions, *, rows: pl.Series | None = None, counters: CounterSet | None = None
) -> FabricTraffic:
    """The traffic with the one set of arguments that nothing contradicts; without numbers where several are left.

    Raises `UsageError`: an argument, a size or an order does not fit the kernel.
    """
    sets = argument_sets(options.lanes.arguments)
    if len(sets) == 1 and counters is None:
        return fabric_traffic(trace, options, rows=rows)
    options_of_sets = [replace(options, lanes=replace(options.lanes, arguments=chosen)) for chosen in sets]
    verdicts = [_verdict(trace, own_options, counters) for own_options in options_of_sets]
    common = set(sets[0]).intersection(*sets)  # arguments without alternatives: a set is named by the others
    names = [" ".join(argument for argument in chosen if argument not in common) for chosen in sets]
    table = pl.DataFrame([names, verdicts], schema=FabricTraffic.tables["fits"].dtypes, orient="col")
    fitting = [number for number, verdict in enumerate(verdicts) if verdict == _FITS]
    if len(sets) == 1 or len(fitting) == 1:
        number = fitting[0] if fitting else 0
        answer = fabric_traffic(trace, options_of_sets[number], rows=rows)
        sources = "grid and counters do" if counters is not None else "the grid does"
        note = f"fitted: {names[number]}, the only one of {len(sets)} sets of arguments that {sources} not contradict"
        notes = (*answer.notes, note) if len(sets) > 1 else answer.notes
        return replace(answer, fits=table, notes=notes)
    remaining = f"{len(fitting)} of {len(sets)} sets of arguments fit" if fitting else f"none of {len(sets)} sets fits"
    advice = "" if counters is not None or not fitting else ": --counters of the same kernel may tell them apart"
    nothing = fabric_traffic(trace, replace(options_of_sets[0], only_today=True))
    return replace(nothing.without_numbers(f"{remaining}{advice}"), fits=table)


def _verdict(trace: ThreadTrace, options: TrafficOptions, counters: CounterSet | None) -> str:
    """`fits`, or the reason why the set of arguments in `options` cannot be."""
    answer = fabric_traffic(trace, replace(options, only_today=True))
    if answer.problem:
        return answer.problem
    gaps = next((note for note in answer.notes if _GAPS in note), "")
    if gaps or counters is None:
        return gaps or _FITS
    compared = balance(counters, trace, lanes=options.lanes).counters.filter(pl.col("counter").is_in(_OF_FABRIC))
    if compared.is_empty():
        return f"the counters have neither {' nor '.join(_OF_FABRIC)} of this kernel"
    wrong = compared.filter(pl.col("verdict").is_in([IMPOSSIBLE, OTHER_RUN]))
    for row in wrong.iter_rows(named=True):
        bounds = f"{row['expected_min']:,.0f} to {row['expected_max']:,.0f}"
        return f"{row['counter']}: {bounds} expected, {row['measured']:,.0f} counted"
    return _FITS
