"""Derived counters of a trace: expressions over its sampled counters, the built-in ones or those of the user."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wavewright.analysis.trace.derived_counters.evaluation import evaluate
from wavewright.analysis.trace.derived_counters.parser import parse
from wavewright.analysis.trace.derived_counters.syntax import Definition, SyntaxProblem, to_text
from wavewright.analysis.trace.derived_counters.tensors import RawTensors, Tensor, raw_tensors
from wavewright.base.bounds import BINS, ENGINE, bounded
from wavewright.base.toml import packaged
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

MAX_CURVES = 10  #: Most curves of one counter, where it keeps an axis besides time.
BUILTIN: str = packaged("builtin.toml", __package__)["definitions"]


@dataclass(frozen=True)
class DerivedCounters(Answer, package=__package__):
    """Values of derived counters."""

    summary: pl.DataFrame
    curves: pl.DataFrame
    problems: pl.DataFrame
    step_cycles: int
    sample_count: int


@dataclass(frozen=True)
class DerivedValues:
    """Definitions and their values."""

    definitions: tuple[Definition, ...]  #: Those that have a value and are to be shown.
    values: Mapping[str, Tensor]
    raw: RawTensors
    mistakes: tuple[SyntaxProblem, ...]  #: Definitions that cannot be read.
    problems: tuple[SyntaxProblem, ...]  #: Definitions of the user without a value.


@bounded(bins=BINS)
def derived_counters(
    trace: ThreadTrace, *, definitions: str | None = None, names: Sequence[str] = (), bins: int = 60
) -> DerivedCounters:
    """Values of the built-in derived counters, or of the user's `definitions`, which may use the built-in ones.

    `names` are those of the counters, where the trace does not hold them. A built-in counter whose counters are not in
    the trace is left out; a definition of the user is a row of `problems` then. Raises `UsageError` when a definition
    cannot be read; says line and column of every one.
    """
    evaluated = derived_values(trace, definitions=definitions, names=names)
    if mistakes := evaluated.mistakes:
        examples = "; ".join(map(str, mistakes[:5])) + (f"; {len(mistakes) - 5} more" if len(mistakes) > 5 else "")
        what = f"{len(mistakes)} definition{'s' if len(mistakes) > 1 else ''} cannot be read: {examples}"
        raise UsageError(what, advice="the language: docs/reference/derived-counters.md")
    tables = DerivedCounters.tables
    problems = [(*problem.position, problem.name, problem.message) for problem in evaluated.problems]
    return DerivedCounters(
        summary=summary_of(evaluated),
        curves=_curves(evaluated, bins),
        problems=pl.DataFrame(problems, schema=tables["problems"].dtypes, orient="row").sort("line", "column"),
        step_cycles=evaluated.raw.step_cycles,
        sample_count=evaluated.raw.sample_count,
    )


@bounded(se=ENGINE)
def derived_values(
    trace: ThreadTrace, *, definitions: str | None = None, names: Sequence[str] = (), se: int | None = None
) -> DerivedValues:
    """Tensors of the built-in derived counters, or of the user's `definitions`, which may use the built-in ones.

    Definitions that cannot be read are in `mistakes`, the others are evaluated. `se`: only its samples count.
    """
    builtin, _ = parse(BUILTIN)
    parsed, mistakes = parse(definitions) if definitions is not None else (builtin, [])
    raw = raw_tensors(trace, names, se=se)
    by_name = {definition.name: definition for definition in parsed}
    others = [definition for definition in builtin if definition.name not in by_name]
    has_counters = bool(raw.counters) or definitions is not None
    values, failed = evaluate([*parsed, *others], raw.values, wanted=list(by_name) if has_counters else [])
    public = [by_name[name] for name in by_name if name in values and not name.startswith("_")]
    user_problems = [problem for problem in failed if definitions is not None and problem.name in by_name]
    return DerivedValues(tuple(public), values, raw, tuple(mistakes), tuple(user_problems))


def indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Indices of the axes XCC, SE and CU of a tensor, at most `MAX_CURVES` of them."""
    return itertools.islice(np.ndindex(shape[:3]), MAX_CURVES)


def summary_of(evaluated: DerivedValues) -> pl.DataFrame:
    """The table `summary` of `DerivedCounters`."""
    rows = []
    for definition in evaluated.definitions:
        tensor = evaluated.values[definition.name]
        finite = tensor[np.isfinite(tensor)].astype(np.float64)
        numbers = (finite.mean(), finite.min(), finite.max()) if finite.size else (None, None, None)
        shape = " x ".join(map(str, tensor.shape))
        rows.append((definition.name, to_text(definition.expression), shape, *numbers, finite.size / tensor.size))
    return pl.DataFrame(rows, schema=DerivedCounters.tables["summary"].dtypes, orient="row")


def _curves(evaluated: DerivedValues, bins: int) -> pl.DataFrame:
    """The table `curves`: means of the finite values over bins of equally many steps."""
    raw, rows = evaluated.raw, []
    for definition in evaluated.definitions:
        tensor = evaluated.values[definition.name]
        steps = tensor.shape[3]
        per_bin = -(-steps // max(1, bins))
        count = -(-steps // per_bin)
        starts = [raw.start_cycles + number * per_bin * raw.step_cycles for number in range(count)]
        for place in indices(tensor.shape):
            values = np.full(count * per_bin, np.nan)
            values[:steps] = tensor[place]
            is_finite = np.isfinite(values).reshape(count, per_bin)
            sums = np.where(is_finite, values.reshape(count, per_bin), 0.0).sum(axis=1)
            for number, (total, finite_count) in enumerate(zip(sums, is_finite.sum(axis=1), strict=True)):
                start = starts[number] if steps == raw.sample_count else None
                mean = total / finite_count if finite_count else None
                rows.append((definition.name, *place, number, start, mean))
    return pl.DataFrame(rows, schema=DerivedCounters.tables["curves"].dtypes, orient="row")
