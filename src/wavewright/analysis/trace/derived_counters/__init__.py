"""Derived counters of a trace: utilization, rates, and the user's definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wavewright.analysis.trace.derived_counters.syntax import Definition, SyntaxProblem, to_text
from wavewright.analysis.trace.derived_counters.tensors import RawTensors, Tensor
from wavewright.analysis.trace.derived_counters.values import DerivedValues, derived_values, indices
from wavewright.base.bounds import BINS, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import empty_frame
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class DerivedCounters(Answer, package=__package__):
    """Values of derived counters."""

    summary: pl.DataFrame
    curves: pl.DataFrame
    problems: pl.DataFrame
    step_cycles: int
    sample_count: int


@bounded(bins=BINS)
def derived_counters(
    trace: ThreadTrace, *, definitions: str | None = None, names: Sequence[str] = (), bins: int = 60
) -> DerivedCounters:
    """Values of the built-in derived counters, or of the user's `definitions`, which may use the built-in ones.

    `names` are those of the counters, where the trace does not hold them. A built-in counter whose counters are not in
    the trace is left out; a definition of the user is a row of `problems` then. Raises `UsageError` when a definition
    cannot be read; says line and column of every one.
    """
    got = derived_values(trace, definitions=definitions, names=names)
    if got.mistakes:
        examples = "; ".join(map(str, got.mistakes[:5]))
        more = f"; {len(got.mistakes) - 5} more" if len(got.mistakes) > 5 else ""
        what = f"{len(got.mistakes)} definition{'s' if len(got.mistakes) > 1 else ''} cannot be read: {examples}{more}"
        raise UsageError(what, advice="the language: docs/reference/derived-counters.md")
    return DerivedCounters(
        summary=summary_of(got),
        curves=_curves(got.definitions, got.values, got.raw, bins),
        problems=_problems(got.problems),
        step_cycles=got.raw.step_cycles,
        sample_count=got.raw.sample_count,
    )


def summary_of(got: DerivedValues) -> pl.DataFrame:
    """The table `summary` of `DerivedCounters`."""
    rows = []
    for definition in got.definitions:
        tensor = got.values[definition.name]
        finite = tensor[np.isfinite(tensor)].astype(np.float64)
        numbers = (finite.mean(), finite.min(), finite.max()) if finite.size else (None, None, None)
        shape = " x ".join(map(str, tensor.shape))
        rows.append((definition.name, to_text(definition.expression), shape, *numbers, finite.size / tensor.size))
    return pl.DataFrame(rows, schema=_schema("summary"), orient="row")


def _curves(
    definitions: Sequence[Definition], values: Mapping[str, Tensor], raw: RawTensors, bins: int
) -> pl.DataFrame:
    frames = [pl.DataFrame(schema=_schema("curves"))]
    for definition in definitions:
        tensor = values[definition.name]
        steps = tensor.shape[3]
        per_bin = -(-steps // max(1, bins))
        count = -(-steps // per_bin)
        is_timed = steps == raw.sample_count
        for xcc, se, cu in indices(tensor.shape):
            line = np.full(count * per_bin, np.nan)
            line[:steps] = tensor[xcc, se, cu]
            parts = np.where(np.isfinite(line), line, np.nan).reshape(count, per_bin)
            is_finite = np.isfinite(parts)
            sums = np.where(is_finite, parts, 0.0).sum(axis=1)
            means = [float(total) / int(n) if n else None for total, n in zip(sums, is_finite.sum(axis=1), strict=True)]
            begins = [raw.start_cycles + at * per_bin * raw.step_cycles if is_timed else None for at in range(count)]
            columns = {"name": [definition.name] * count, "xcc": [xcc] * count, "se": [se] * count, "cu": [cu] * count}
            more = {"bin": list(range(count)), "start_cycles": begins, "value_mean": means}
            frames.append(pl.DataFrame(columns | more, schema=_schema("curves")))
    return pl.concat(frames)


def _problems(problems: Sequence[SyntaxProblem]) -> pl.DataFrame:
    rows = [(problem.position.line, problem.position.column, problem.name, problem.message) for problem in problems]
    return pl.DataFrame(rows, schema=_schema("problems"), orient="row").sort("line", "column")


def _schema(table: str) -> pl.Schema:
    return empty_frame(DerivedCounters.tables[table]).schema
