"""Work of the GPUs of a run: kernels that compute, kernels that communicate, copies; each with its launching call."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.launches import Launches
from wavewright.analysis.run.collectives.collectives import is_communication
from wavewright.analysis.run.diagnose.host import Host
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.analysis.run.measures.intervals import intervals
from wavewright.analysis.run.select.gpus import GpuIndex, gpu_work
from wavewright.model.run import Run

COMPUTE, COMMUNICATE, COPY = 0, 1, 2  #: Values of `kind`.
SMALL_BYTES = 64 << 10  #: Copies of at most this size are small.
_SHORT_NS = 20_000  #: A copy whose size is not recorded counts as small if it takes at most this long.
#: Direction of a copy -> names of copies in this direction.
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
    work = work.with_columns(_kinds(work))
    length = pl.col("end_ns") - pl.col("start_ns")
    is_known = pl.col("size_bytes").is_not_null()
    is_small = pl.when(is_known).then(pl.col("size_bytes") <= SMALL_BYTES).otherwise(length <= _SHORT_NS)
    is_new = pl.col("name").is_first_distinct()
    return _launched(work, host).with_columns(
        is_small=pl.col("is_copy") & is_small,
        is_new=~pl.col("is_copy") & (is_new.over("place") if work["place"].n_unique() > 1 else is_new),
    )


def _kinds(work: pl.DataFrame) -> list[pl.Expr]:
    """`kind`, and `direction` of copies, which their names tell."""
    kernel = pl.when(is_communication(work)).then(COMMUNICATE).otherwise(COMPUTE)
    kind = pl.when("is_copy").then(COPY).otherwise(kernel).cast(pl.UInt8)
    copy_names = work.filter("is_copy").select(pl.col("name").unique())["name"]
    labels = []
    for direction, pattern in _DIRECTIONS.items():
        names = copy_names.filter(copy_names.cast(pl.String).str.contains(pattern).fill_null(value=False))
        labels.append((direction, pl.col("name").is_in(names.implode())))
    direction_of_copy = pl.when("is_copy").then(first_label(*reversed(labels), otherwise="other"))
    return [kind.alias("kind"), direction_of_copy.cast(pl.Categorical).alias("direction")]


def _launched(work: pl.DataFrame, host: Host) -> pl.DataFrame:
    """The work with the call that launched it, the first of several, and whether it is the first of that call."""
    launches = Launches(work)
    launches.add(host.calls)
    slots = launches.slots_of(work)
    return work.hstack(launches.of(work)).with_columns(is_first=slots.is_null() | slots.is_first_distinct())
