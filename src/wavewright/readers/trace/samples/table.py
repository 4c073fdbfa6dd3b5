"""`*_pc_sampling_host_trap.csv` and `*_pc_sampling_stochastic.csv` of rocprofv3 (docs/formats/pc-samples.md)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from wavewright.base.files import not_read, open_regular
from wavewright.errors import WavewrightError
from wavewright.model.losses import Loss
from wavewright.readers.files.rocprofv3_columns import header_of, layout_of, layouts, read_table, run_of
from wavewright.readers.trace.samples.records import RECORD, SampleRecords, no_entries, no_kernels

_HEAD = 1 << 16
_LARGEST = (1 << 63) - 1
_CLOCKS_NS = 3_600_000_000_000  #: What the clocks of samples and dispatches may differ by.
#: How the comment of a sample ends whose code the profiler could not read.
_UNKNOWN_PLACE = r"address of PC:\s*(\d+)$"


def read_sample_table(file: Path) -> SampleRecords:
    """The samples of a CSV file; rows that do not fit the format become a loss.

    The kernels come from the kernel trace of the same run in the same folder.

    Raises
    ------
    UsageError, NotATraceError
        When the file cannot be read.
    """
    losses: list[Loss] = []
    rows = read_table(file, next(layout for layout in layouts() if layout.name == "samples"), losses)
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in RECORD.items() if name not in rows.columns]
    rows = rows.with_columns(missing)
    comment = pl.col("comment").cast(pl.String)
    places = rows.select("comment").unique().drop_nulls()  # few, whatever the number of samples
    places = places.with_columns(place=comment.str.extract(_UNKNOWN_PLACE).cast(pl.UInt64, strict=False))
    unread = pl.col("text").is_null() | (pl.col("text") == "")
    frame = rows.join(places, on="comment", how="left", maintain_order="left").with_columns(
        address=pl.when(unread).then("place"),
        code_object=pl.when(unread).then(pl.lit(0, pl.UInt64)),
        comment=pl.when(~unread).then("comment"),
    )
    return SampleRecords(
        frame.select(*RECORD),
        has_addresses=False,
        kernels=_kernels_beside(file, frame, losses),
        entries=no_entries(),
        losses=losses,
    )


def _kernels_beside(file: Path, samples: pl.DataFrame, losses: list[Loss]) -> pl.DataFrame:
    """The kernels of dispatches, from the kernel traces of the same run: called alike, and of the same time."""
    frames = [no_kernels()]
    run = run_of(file.name)
    for beside in sorted(file.absolute().parent.glob("*kernel_trace.csv*")):
        if run_of(beside.name) != run or not_read(beside, beside.parent):
            continue
        try:
            frames.append(_kernels_in(beside, samples["time_ns"], losses))
        except (WavewrightError, OSError) as error:
            losses.append(Loss("unreadable_source", detail=str(error)))
    return pl.concat(frames).drop_nulls().unique("dispatch", keep="first", maintain_order=True)


def _kernels_in(file: Path, times_ns: pl.Series, losses: list[Loss]) -> pl.DataFrame:
    with open_regular(file) as stream:
        layout = layout_of(header_of(stream.read(_HEAD)))
    if layout is None or layout.name != "dispatches":
        return no_kernels()
    rows = read_table(file, layout, losses)
    if "dispatch_id" not in rows.columns or "correlation" not in rows.columns:
        return no_kernels()
    first, last = times_ns.min(), times_ns.max()
    if not isinstance(first, int) or not isinstance(last, int):
        return no_kernels()  # no sample
    first, last = max(first - _CLOCKS_NS, -_LARGEST), min(last + _CLOCKS_NS, _LARGEST)
    is_same_time = (pl.col("start_ns") <= last) & (pl.col("end_ns") >= first)
    name = pl.col("name").cast(pl.String)
    return (
        rows.filter(is_same_time)
        .select("correlation", dispatch="dispatch_id", name=name, demangled=name)
        .select(no_kernels().columns)
    )
