"""Theoretical occupancy of kernels as they were launched."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.limits import Resources, limits
from wavewright.errors import UsageError
from wavewright.facts import gpus


def with_occupancy(shapes: pl.DataFrame) -> pl.DataFrame:
    """Ways in which kernels were launched, with `waves_per_simd`, `waves_per_simd_max` and `bound_by`.

    Null = not known: without target or vector registers, or with more than the target has.
    """
    columns = ["target", "vgpr_count", "accum_vgpr_count", "sgpr_count", "lds_bytes"]
    sizes = [f"workgroup_{axis}" for axis in "xyz"]
    limits = [_of(*row) for row in shapes.select(*columns, *sizes).iter_rows()]
    schema = {"waves_per_simd": pl.Int64, "waves_per_simd_max": pl.Int64, "bound_by": pl.String}
    return shapes.hstack(pl.DataFrame(limits, schema=schema, orient="row"))


@cache
def _of(
    target: str | None, vgprs: int | None, agprs: int | None, sgprs: int | None, lds: int | None, *size: int | None
) -> tuple[Any, ...]:
    if not target or not vgprs:
        return None, None, None
    work_items: int | None = 1
    for side in size:
        work_items = None if side is None or work_items is None else work_items * max(side, 1)
    try:
        facts = gpus.of(target)
        resources = Resources(vgprs=vgprs, agprs=agprs or 0, sgprs=sgprs, lds_bytes=lds, workgroup_size=work_items)
        answer = limits(facts, resources)
    except UsageError:
        return None, None, None
    return answer.waves_per_simd, facts.waves_per_simd_max, answer.bound_by
