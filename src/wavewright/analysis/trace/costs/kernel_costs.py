"""Cost of each code row in the waves of each kernel."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.trace.costs.exposure import row_costs
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

_MOST_PAIRS = 1 << 24


def kernel_costs(trace: ThreadTrace, *, amd: bool | None = None) -> pl.DataFrame:
    """The columns of `row_costs` for every pair of kernel and code row, with `kernel` in front; null = unknown.

    Kernels can share code (functions they call), so the rows of a kernel are told by its waves.

    Raises
    ------
    UsageError
        When there are too many kernels for so much code.
    """
    kernels = trace.waves["kernel"].unique().sort()
    if kernels.len() <= 1:
        only = pl.lit(kernels[0] if kernels.len() else None, pl.UInt32)
        return row_costs(trace, amd=amd).select(only.alias("kernel"), pl.all())
    rows = max(trace.code.height, 1)
    if kernels.len() * rows > _MOST_PAIRS:
        what = f"{kernels.len():,} kernels with {rows:,} rows of code are too many to tell apart"
        raise UsageError(what, where=trace.source.path, advice="choose some of them with --kernel")
    costs = row_costs(_one_code_per_kernel(trace, kernels, rows), amd=amd)
    place = (pl.col("row") // rows).cast(pl.UInt32)
    return costs.select(kernels.gather(costs.select(place).to_series()).alias("kernel"), pl.all()).with_columns(
        pl.col("row") % rows
    )


def _one_code_per_kernel(trace: ThreadTrace, kernels: pl.Series, rows: int) -> ThreadTrace:
    """The trace as if every kernel had its own copy of the code: the n-th one's rows start at n times `rows`."""
    numbers = pl.DataFrame(
        {"kernel": kernels, "first": pl.Series(range(0, kernels.len() * rows, rows), dtype=pl.Int32)}
    )
    waves = trace.waves.join(numbers, on="kernel", how="left", nulls_equal=True, maintain_order="left")
    first = waves.select("wave", "first")
    code = pl.concat([trace.code.select("row", "text")] * kernels.len())
    tables = {"waves": trace.waves, "code": code, "other_simd": trace.other_simd}
    if trace.parts is not None:
        return ThreadTrace(tables, trace.source, parts=lambda: _parts_with_own_code(trace, kernels, rows))
    ran = trace.instructions.join(first, on="wave", how="left", maintain_order="left")
    moved = ran.with_columns(row=pl.when(pl.col("row") < 0).then(-1).otherwise(pl.col("row") + pl.col("first")))
    tables["instructions"] = moved.drop("first")
    part_of = None
    if trace.part_of is not None:
        whole, is_selected = trace.part_of
        every = pl.concat([kernels, whole.waves["kernel"]]).unique(maintain_order=True)
        part_of = _one_code_per_kernel(whole, every, rows), is_selected
    return ThreadTrace(tables, trace.source, part_of=part_of)


def _parts_with_own_code(trace: ThreadTrace, kernels: pl.Series, rows: int) -> Iterator[ThreadTrace]:
    for part in trace.each_part():
        yield _one_code_per_kernel(part, kernels, rows)
        del part  # before the next one is decoded
