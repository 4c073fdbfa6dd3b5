"""The work of the GPUs of a run: kernels that compute, kernels that communicate, copies; and what launched them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.collectives import is_collective
from wavescope.analysis.run.gpus import gpu_work
from wavescope.analysis.run.intervals import intervals

if TYPE_CHECKING:
    from wavescope.analysis.run.diagnose.host import Host
    from wavescope.analysis.run.gpus import GpuIndex
    from wavescope.model.run import Run

COMPUTE, COMMUNICATE, COPY = 0, 1, 2  #: Values of `kind`.
SMALL_BYTES = 64 << 10
#: Up to this, a copy whose size is not recorded counts as small.
_SHORT_NS = 20_000
_DIRECTIONS = {
    "H2D": r"(?i)host_?to_?device|htod|h2d",
    "D2H": r"(?i)device_?to_?host|dtoh|d2h",
    "D2D": r"(?i)device_?to_?device|dtod|d2d|ptop|p2p|peer",
}
_SHAPE = ["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"]
_COMMON = ["thread", "correlation", "name", "graph_exec"]


def work_of(run: Run, gpu_index: GpuIndex, host: Host) -> pl.DataFrame:
    """Kernels and copies sorted by `place` and time, numbered by `row`, with `kind`, `direction`, `is_small` and the
    call that launched them: `launch_start_ns`, `launch_end_ns`, `launch_thread`; `is_first` of its launch, `is_new` if
    its kernel did not run before."""
    work = gpu_work(run, gpu_index, [*_COMMON, *_SHAPE, "scratch_bytes"], [*_COMMON, "size_bytes"])
    work = intervals(work, ["place"]).with_row_index("row")
    names = work.select("is_copy", "name").unique().with_columns(text=pl.col("name").cast(pl.String))
    direction = pl.lit("other")
    for name, pattern in _DIRECTIONS.items():
        direction = pl.when(pl.col("text").str.contains(pattern)).then(pl.lit(name)).otherwise(direction)
    kind = (
        pl.when("is_copy")
        .then(COPY)
        .when(is_collective("text").fill_null(value=False))
        .then(COMMUNICATE)
        .otherwise(COMPUTE)
    )
    facts = names.select(
        "is_copy", "name", kind=kind.cast(pl.UInt8), direction=pl.when("is_copy").then(direction).cast(pl.Categorical)
    )
    work = work.join(facts, on=["is_copy", "name"], how="left", nulls_equal=True, maintain_order="left")
    keys = ["process", "correlation"]
    length = pl.col("end_ns") - pl.col("start_ns")
    is_small = (
        pl.when(pl.col("size_bytes").is_null()).then(length <= _SHORT_NS).otherwise(pl.col("size_bytes") <= SMALL_BYTES)
    )
    calls = host.calls.select(
        *keys, launch_start_ns="start_ns", launch_end_ns="end_ns", launch_thread="thread"
    ).drop_nulls(keys)
    needed = work.select(keys).drop_nulls()
    launching = calls.join(needed, on=keys, how="semi").unique(keys, keep="first", maintain_order=True)
    work = work.join(launching, on=keys, how="left", maintain_order="left")
    is_first = pl.lit(value=True)
    if needed.height > launching.height:
        is_first = pl.col("correlation").is_null() | (pl.int_range(pl.len()).over(keys) == 0)
    is_new = ~pl.col("is_copy") & (pl.int_range(pl.len()).over("place", "name") == 0)
    return work.with_columns(is_small=pl.col("is_copy") & is_small, is_first=is_first, is_new=is_new)
