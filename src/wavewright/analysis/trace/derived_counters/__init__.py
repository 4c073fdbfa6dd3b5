"""Derived counters of a trace: utilization, rates, and the user's definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from wavewright.analysis.trace.derived_counters.syntax import to_text
from wavewright.analysis.trace.derived_counters.values import derived_values, indices
from wavewright.base.bounds import BINS, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import empty_frame, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.analysis.trace.derived_counters.syntax import Definition, SyntaxProblem
    from wavewright.analysis.trace.derived_counters.tensors import RawTensors, Tensor
    from wavewright.analysis.trace.derived_counters.values import DerivedValues
    from wavewright.model.schema import TableSpec
    from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class DerivedCounters(Answer):
    """Values of derived counters."""

    definition: ClassVar[str] = (
        "Expressions over tensors of 32-bit floats with the axes XCC, SE, CU and TIME; the language is described in "
        "docs/reference/derived-counters.md. A time step is the sampling step of the counters. Curves are means over "
        "equal numbers of steps, one per index of the other axes."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "summary": table_spec(
            "summary",
            "one derived counter",
            """
            name          String   -  | name; names that start with _ are not shown
            expression    String   -  | its definition
            shape         String   -  | XCC x SE x CU x steps
            value_mean    Float64  -  | mean of its finite values; null = there is none
            value_min     Float64  -  | smallest finite value
            value_max     Float64  -  | largest finite value
            finite_share  Float64  -  | share of values that are numbers: a division by zero gives none
            """,
        ),
        "curves": table_spec(
            "curves",
            "one derived counter at one index of the other axes in one time bin",
            """
            name          String   -       | name
            xcc           UInt32   -       | index on the axis XCC
            se            UInt32   -       | index on the axis SE
            cu            UInt32   -       | index on the axis CU
            bin           UInt32   -       | number of the bin
            start_cycles  Int64    cycles  | its start, aligned; null = its steps are not the steps of the counters
            value_mean    Float64  -       | mean of the finite values
            """,
        ),
        "problems": table_spec(
            "problems",
            "one definition of the user without a value",
            """
            line     UInt32  -  | line in the definitions
            column   UInt32  -  | column in the line
            name     String  -  | name of the definition
            message  String  -  | why
            """,
        ),
    }

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

    `names` are those of the counters, where the trace does not hold them. A built-in counter whose counters are not
    in the trace is left out; a definition of the user is a row of `problems` then.

    Raises
    ------
    UsageError
        When a definition cannot be read; says line and column of every one.
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
