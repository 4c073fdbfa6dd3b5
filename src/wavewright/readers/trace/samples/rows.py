"""Recorded samples into the tables of a trace: code rows, counts per row, reasons, dispatches and kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.files import not_read, open_regular
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.errors import WavewrightError
from wavewright.model.losses import Loss
from wavewright.model.schema import THREAD_TRACE, frame_of
from wavewright.readers.files.rocprofv3_columns import header_of, layout_of, layouts, read_table, run_of
from wavewright.readers.trace.chains import innermost_place
from wavewright.readers.trace.samples.records import NO_ENTRIES, NO_KERNELS, RECORD, SampleRecords, reason_named

_PLACE = ["code_object", "address"]
_KEYS = ["function", "text", "comment", *_PLACE]
_TEXTS = pl.col("function", "text", "comment")


def with_functions(records: SampleRecords) -> pl.DataFrame:
    """The samples with `function`, the kernel that each belongs to: that of its dispatch, else by the entries.

    A sample behind the last entry of a kernel is taken to be in that kernel; null = neither is known.
    """
    frame = records.frame.with_columns(pl.col("text", "comment").fill_null(pl.lit("", pl.Categorical)))
    launch = ["dispatch", "correlation"]  # both, because dispatches of another run have the same numbers
    kernels = records.kernels.select(*launch, of_dispatch=pl.col("name").cast(pl.Categorical))
    with_names = frame.join(kernels, on=launch, how="left", maintain_order="left")
    if not records.entries.height:
        return with_names.rename({"of_dispatch": "function"})
    entries = records.entries.select(*_PLACE, at_place=pl.col("name").cast(pl.Categorical)).sort("address")
    places = with_names.with_row_index("order").sort("address", nulls_last=True)
    places = places.join_asof(entries, on="address", by="code_object", strategy="backward", check_sortedness=False)
    return places.sort("order").with_columns(function=pl.coalesce("of_dispatch", "at_place"))


def sampled_code(samples: pl.DataFrame, *, has_addresses: bool) -> pl.DataFrame:
    """One row per sampled instruction, in the order of the code as far as it is known: `row`, `function`, `text`,
    `inline_chain`, `code_object` and `address`.

    Without addresses, instructions of one kernel with the same text and debug line are one row.
    """
    if has_addresses:
        of_place = samples.group_by(_PLACE).agg(pl.col("text").first(), pl.col("comment").first(), _main_kernel())
        code = of_place.with_columns(_TEXTS.cast(pl.String)).sort(_PLACE)
    else:
        code = samples.select(_KEYS).unique().with_columns(_TEXTS.cast(pl.String))
        code = code.sort("function", "comment", *_PLACE, "text", nulls_last=True)
    chain = pl.when(pl.col("comment") != "").then("comment").alias("inline_chain")
    return code.select(pl.int_range(pl.len(), dtype=pl.Int32).alias("row"), "function", "text", chain, *_PLACE)


def described(code: pl.DataFrame, target: str | None) -> pl.DataFrame:
    """The `code` table; sizes are not known, because neighbours of a sampled instruction may not be sampled."""
    frame = code.with_columns(
        pl.lit(None, pl.UInt16).alias("size"),
        pl.col("text").str.split(" ").list.first().alias("mnemonic"),
        *innermost_place(),
    )
    frame = with_operands(classify_frame(frame, target), target)
    return frame.select(THREAD_TRACE["code"].casts)


def with_rows(samples: pl.DataFrame, code: pl.DataFrame, *, has_addresses: bool) -> pl.DataFrame:
    """The samples with the code row of each."""
    keys = _PLACE if has_addresses else _KEYS
    rows = code.with_columns(pl.col("inline_chain").fill_null("").alias("comment"))
    rows = rows.with_columns(_TEXTS.cast(pl.Categorical))
    return samples.join(rows.select("row", *keys), on=keys, how="left", nulls_equal=True, maintain_order="left")


def count_tables(samples: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """`samples`, `sample_reasons` and `sampled_dispatches` from samples with rows."""
    issue_flag = pl.col("issued")
    counts = samples.group_by("row").agg(
        issued_count=(issue_flag > 0).sum(),
        stalled_count=(issue_flag == 0).sum(),
        unknown_count=issue_flag.null_count(),
    )
    reason_text = pl.col("reason").cast(pl.String).fill_null("")
    stall_counts = samples.filter(issue_flag == 0).group_by("row", reason_text).agg(count=pl.len())
    names = stall_counts["reason"].unique().to_list()
    reason = pl.col("reason").replace_strict(names, list(map(reason_named, names)), return_dtype=pl.String)
    by_reason = stall_counts.with_columns(reason).filter(pl.col("reason") != "").group_by("row", "reason")
    reasons = by_reason.agg(pl.col("count").sum()).sort("row", "count", "reason", descending=[False, True, False])
    return {
        "samples": counts.sort("row").select(THREAD_TRACE["samples"].casts),
        "sample_reasons": reasons.select(THREAD_TRACE["sample_reasons"].casts),
        "sampled_dispatches": _dispatches(samples),
    }


def _dispatches(samples: pl.DataFrame) -> pl.DataFrame:
    time = pl.col("time_ns")
    rows = samples.group_by("dispatch").agg(
        kernel_name=_main_kernel(),
        sample_count=pl.len(),
        moment_count=time.n_unique(),
        first_ns=time.min(),
        last_ns=time.max(),
        cu_wave_count_mean=pl.col("cu_wave_count").mean(),
    )
    return rows.sort("dispatch", nulls_last=True).select(THREAD_TRACE["sampled_dispatches"].casts)


def kernel_table(records: SampleRecords, samples: pl.DataFrame) -> pl.DataFrame:
    """The `kernels` table: kernels with samples, in the order of their samples."""
    names = pl.concat([records.kernels.select("name", "demangled"), records.entries.select("name", "demangled")])
    readable = dict(names.unique("name", keep="first").iter_rows())
    places = {name: place for *place, name in records.entries.select(*_PLACE, "name").iter_rows()}
    counts = samples["function"].drop_nulls().cast(pl.String).value_counts()
    kernels = counts.sort("count", "function", descending=[True, False])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(kernels["function"].to_list()):
        place = dict(zip(_PLACE, places.get(name, ()), strict=False))
        rows.append({"kernel": number, "name": name, "demangled": readable.get(name, name), **place})
    return frame_of(THREAD_TRACE["kernels"], rows)


def _main_kernel() -> pl.Expr:
    """The kernel with the most samples of a group."""
    return pl.col("function").drop_nulls().cast(pl.String).mode().sort().first()


# --- `*_pc_sampling_host_trap.csv` and `*_pc_sampling_stochastic.csv` of rocprofv3 (docs/formats/pc-samples.md) ---
_HEAD = 1 << 16
_INT64_MAX = (1 << 63) - 1
_CLOCKS_NS = 3_600_000_000_000  #: The clocks of samples and dispatches may differ by up to an hour.
#: How the comment of a sample ends whose code the profiler could not read.
_UNKNOWN_PLACE = r"address of PC:\s*(\d+)$"


def read_sample_table(file: Path) -> SampleRecords:
    """The samples of a CSV file; rows that do not fit the format become a loss.

    The kernels come from the kernel trace of the same run in the same folder. Raises `UsageError, NotATraceError` when
    the file cannot be read.
    """
    losses: list[Loss] = []
    rows = read_table(file, next(layout for layout in layouts() if layout.name == "samples"), losses)
    blanks = [pl.lit(None, dtype).alias(name) for name, dtype in RECORD.items() if name not in rows.columns]
    rows = rows.with_columns(blanks)
    comment = pl.col("comment").cast(pl.String)
    places = rows.select("comment").unique().drop_nulls()  # few, whatever the number of samples
    places = places.with_columns(place=comment.str.extract(_UNKNOWN_PLACE).cast(pl.UInt64, strict=False))
    unread = pl.col("text").is_null() | (pl.col("text") == "")
    frame = rows.join(places, on="comment", how="left", maintain_order="left").with_columns(
        address=pl.when(unread).then("place"),
        code_object=pl.when(unread).then(pl.lit(0, pl.UInt64)),
        comment=pl.when(~unread).then("comment"),
    )
    kernels = _kernels_beside(file, frame, losses)
    return SampleRecords(frame.select(*RECORD), has_addresses=False, kernels=kernels, entries=NO_ENTRIES, losses=losses)


def _kernels_beside(file: Path, samples: pl.DataFrame, losses: list[Loss]) -> pl.DataFrame:
    """The kernels of dispatches, from the kernel traces of the same run: called alike, and of the same time."""
    frames = [NO_KERNELS]
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
        return NO_KERNELS
    rows = read_table(file, layout, losses)
    if "dispatch_id" not in rows.columns or "correlation" not in rows.columns:
        return NO_KERNELS
    first, last = times_ns.min(), times_ns.max()
    if not isinstance(first, int) or not isinstance(last, int):
        return NO_KERNELS  # no sample
    first, last = max(first - _CLOCKS_NS, -_INT64_MAX), min(last + _CLOCKS_NS, _INT64_MAX)
    is_same_time = (pl.col("start_ns") <= last) & (pl.col("end_ns") >= first)
    name = pl.col("name").cast(pl.String)
    kernels = rows.filter(is_same_time).select("correlation", dispatch="dispatch_id", name=name, demangled=name)
    return kernels.select(NO_KERNELS.columns)
