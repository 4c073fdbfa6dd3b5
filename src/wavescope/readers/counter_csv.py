"""Hardware counters per dispatch from CSV files: rocprofv3's long form and the wide form of ROCm Compute Profiler."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UsageError
from wavescope.model.counter_set import COUNTER_SET, CounterSet
from wavescope.model.losses import Loss
from wavescope.model.schema import empty_frame
from wavescope.readers._assemble import loss_frame
from wavescope.readers.sniff import THREAD_TRACES, sniff

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import polars as pl

__all__ = ["read_counters"]

MAX_BYTES = 1 << 31
"""Of one file, unpacked."""
_MAX_FILES, _MAX_DEPTH = 1000, 4
_NAMES = ("*counter_collection.csv", "*counter_collection.csv.gz", "pmc_perf.csv", "pmc_perf.csv.gz")
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""gzip, zstd and zlib: polars would unpack them itself, without a bound."""
_MAX_BESIDE_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"

# Ours -> theirs, of all generations of tools; compared without case.
_COLUMNS = {
    "dispatch_id": ("dispatch_id", "index"),
    "process_id": ("process_id", "pid"),
    "agent": ("agent_id", "gpu_id", "gpu-id"),
    "kernel_name": ("kernel_name", "kernelname"),
    "begin_ns": ("start_timestamp", "beginns"),
    "end_ns": ("end_timestamp", "endns"),
    "grid_size": ("grid_size", "grd"),
    "workgroup_size": ("workgroup_size", "wgr"),
}
_NUMBERS = ("dispatch_id", "process_id", "begin_ns", "end_ns", "grid_size", "workgroup_size")
_COUNTER = re.compile(
    r"^(SQC?|SP|SPI|T[ACD]|TC[PC]|TC[AP]|GRBM|CP[CFG]|GL[12][AC]|GCEA|GCR|EA|MC|GUS|CHA?|CHC|RLC)_[A-Z0-9]"
)
_DERIVED = ("FETCH_SIZE", "WRITE_SIZE", "L2CacheHit", "Wavefronts", "MemUnitBusy", "GPUBusy")
_CHANNEL = r"^(.*)\[(\d{1,4})\]$"
_SUFFIX = r"( \[clone \.kd\]| \(\.kd\)|\.kd)$"


def read_counters(paths: Sequence[str | os.PathLike[str]]) -> CounterSet:
    """Counters of all files, each a run of its own; of a folder, all files below it that look like counters.

    Rows without a dispatch, a counter or a number become losses, and so does a counter that a dispatch has twice.

    Raises
    ------
    UsageError
        When a path does not exist, or a folder has no counters.
    NotATraceError
        When a file is not a table of counters.

    Examples
    --------
    >>> read_counters(["/nowhere.csv"])
    Traceback (most recent call last):
    wavescope.errors.UsageError: /nowhere.csv: no such file or folder
    """
    import polars as pl

    files = list(dict.fromkeys(file for path in paths for file in _files(Path(path))))
    losses: list[Loss] = []
    parts: dict[str, list[pl.DataFrame]] = {"runs": [], "dispatches": [], "values": []}
    for run, file in enumerate(files):
        offset = sum(part.height for part in parts["dispatches"])
        for name, frame in _read(file, run, offset, losses).items():
            parts[name].append(frame)
    tables = {name: pl.concat([empty_frame(COUNTER_SET[name]), *frames]) for name, frames in parts.items()}
    tables["losses"] = loss_frame(losses)
    return CounterSet(tables)


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        what = "no such file or folder"
        raise UsageError(what, where=str(path))
    if not path.is_dir():
        _refuse_thread_traces(path)
        yield path
        return
    found = sorted(
        file
        for pattern in _NAMES
        for depth in range(_MAX_DEPTH)
        for file in path.glob("/".join(["*"] * depth + [pattern]))
        if file.is_file()
    )
    if not found:
        _refuse_thread_traces(path)
        what = "no counters in this folder"
        raise UsageError(what, where=str(path), advice="rocprofv3 --pmc writes *_counter_collection.csv")
    if len(found) > _MAX_FILES:
        what = f"{len(found):,} files of counters are too many at once"
        raise UsageError(what, where=str(path), advice="name a folder below it")
    yield from found


def _refuse_thread_traces(path: Path) -> None:
    kind = sniff(path)
    if kind in THREAD_TRACES:
        what = f"{kind.value}: no counters of dispatches"
        raise NotATraceError(what, where=str(path), advice=f"wavescope hotspots {path}")


def _read(file: Path, run: int, offset: int, losses: list[Loss]) -> dict[str, pl.DataFrame]:
    """The tables of one file."""
    import polars as pl

    raw = _frame(file)
    names = {column.lower(): column for column in raw.columns}
    is_long = "counter_name" in names and "counter_value" in names
    counters = [] if is_long else [column for column in raw.columns if _is_counter(column)]
    if not is_long and not counters:
        what = "not a table of counters"
        raise NotATraceError(what, where=str(file), advice="give *_counter_collection.csv of rocprofv3 or pmc_perf.csv")
    known = _renamed(raw, names)
    sound = known["dispatch_id"].is_not_null() & known["kernel_name"].is_not_null()
    if is_long:
        sound &= raw[names["counter_name"]].is_not_null()
        sound &= raw[names["counter_value"]].cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    if not sound.all():
        losses.append(Loss("counter_rows", count=int((~sound).sum()), detail=file.name))
    raw, known = raw.filter(sound), known.filter(sound)
    dispatches, number = _dispatches(known, run, offset)
    if is_long:
        columns = {"counter": raw[names["counter_name"]], "value": raw[names["counter_value"]].cast(pl.Float64)}
        values = pl.DataFrame({"dispatch": number, **columns})
    else:
        wide = raw.select(pl.col(counters).cast(pl.Float64, strict=False)).with_columns(dispatch=number)
        values = wide.unpivot(counters, index="dispatch", variable_name="counter")
        values = values.filter(pl.col("value").is_finite())  # an empty field: not measured
    return {
        "runs": _run(file, run, is_joined=not is_long),
        "dispatches": dispatches,
        "values": _values(values, file, losses),
    }


def _dispatches(known: pl.DataFrame, run: int, offset: int) -> tuple[pl.DataFrame, pl.Series]:
    """The dispatches of a file, and the number of the one that each of its rows belongs to."""
    import polars as pl

    key = ("process_id", "agent", "dispatch_id", "kernel_name", "begin_ns", "end_ns")
    dispatches = (
        known.group_by(key, maintain_order=True)
        .agg(pl.col("grid_size").first(), pl.col("workgroup_size").first())
        .with_columns(
            # The same dispatch with another start is another pass over it.
            pl.col("begin_ns").rank("dense").over(key[:4]).fill_null(1).sub(1).alias("pass"),
            run=pl.lit(run, pl.UInt32),
        )
        .with_row_index("dispatch", offset=offset)
    )
    numbered = known.join(
        dispatches.select("dispatch", *key), on=key, how="left", nulls_equal=True, maintain_order="left"
    )
    schema = empty_frame(COUNTER_SET["dispatches"]).schema
    return dispatches.select(pl.col(name).cast(dtype) for name, dtype in schema.items()), numbered["dispatch"]


def _values(values: pl.DataFrame, file: Path, losses: list[Loss]) -> pl.DataFrame:
    """Values with channels apart from names; a value given twice is a loss."""
    import polars as pl

    names = values.select(pl.col("counter").unique()).with_columns(
        channel=pl.col("counter").str.extract(_CHANNEL, 2).cast(pl.UInt16, strict=False),
        plain=pl.col("counter").str.replace(_CHANNEL, "$1"),
    )
    columns = empty_frame(COUNTER_SET["values"]).columns
    split = values.join(names, on="counter", how="left", maintain_order="left")
    split = split.with_columns(counter="plain").select(columns)
    single = split.unique(columns[:3], keep="first", maintain_order=True)
    if single.height < split.height:
        losses.append(Loss("counter_twice", count=split.height - single.height, detail=file.name))
    return single


def _run(file: Path, run: int, *, is_joined: bool) -> pl.DataFrame:
    import polars as pl

    target, product = _gpu(file)
    row = {
        "run": run,
        "file": str(file),
        "form": "wide" if is_joined else "long",
        "is_joined": is_joined,
        "target": target,
        "product": product,
    }
    return pl.DataFrame([row], schema=dict(empty_frame(COUNTER_SET["runs"]).schema))


def _renamed(raw: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """The columns about the dispatch, in our names and types; absent ones are null."""
    import polars as pl

    columns = []
    for ours, theirs in _COLUMNS.items():
        found = next((names[name] for name in theirs if name in names), None)
        column = pl.col(found) if found else pl.lit(None, pl.String)
        if ours in _NUMBERS:  # timestamps may be means of several passes, with a fraction
            exact = column.cast(pl.Int64, strict=False)
            column = pl.coalesce(exact, column.cast(pl.Float64, strict=False).round().cast(pl.Int64, strict=False))
        columns.append(column.alias(ours))
    frame = raw.select(columns)
    return frame.with_columns(pl.col("kernel_name").str.replace(_SUFFIX, ""))


def _is_counter(column: str) -> bool:
    return bool(_COUNTER.match(column)) or column in _DERIVED


def _frame(file: Path) -> pl.DataFrame:
    """A CSV with all fields as text, so that quoted numbers and odd rows do not matter."""
    import polars as pl

    data = _bytes(file)
    if not data.strip():
        what = "this file is empty"
        raise NotATraceError(what, where=str(file), advice="collect the counters again")
    if b"\0" in data[:4096] or data.startswith(_COMPRESSED):
        what = "not a table of counters"
        raise NotATraceError(what, where=str(file), advice="give *_counter_collection.csv of rocprofv3 or pmc_perf.csv")
    try:
        return pl.read_csv(data, infer_schema=False, truncate_ragged_lines=True, encoding="utf8-lossy")
    except (OSError, pl.exceptions.PolarsError, ValueError) as error:
        what = f"cannot be read as CSV ({str(error).splitlines()[0][:120]})"
        raise NotATraceError(what, where=str(file), advice="collect the counters again") from error


def _bytes(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        data = file.read_bytes() if size <= MAX_BYTES else None
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise UsageError(what, where=str(file)) from error
    if data is not None and data.startswith(_GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            unpacked = unpacker.decompress(data, MAX_BYTES)
        except zlib.error:
            unpacked = b""
        if not unpacker.eof and not unpacker.unconsumed_tail:
            what = "a damaged gzip file"
            raise NotATraceError(what, where=str(file), advice="copy it again")
        data = unpacked if unpacker.eof else None
    if data is None:
        what = f"more than {MAX_BYTES >> 30} GiB of CSV"
        raise NotATraceError(what, where=str(file), advice="filter the rows of one kernel first")
    return data


def _gpu(file: Path) -> tuple[str | None, str | None]:
    """Target and product of the GPU, from `*_agent_info.csv` or `sysinfo.csv` beside the file, if they agree on one."""
    import polars as pl

    beside = [
        file.with_name(file.name.split("counter_collection.csv")[0] + "agent_info.csv"),
        file.with_name("sysinfo.csv"),
    ]
    for path in beside:
        try:
            with path.open("rb") as stream:
                head = stream.read(_MAX_BESIDE_BYTES)
            if head.startswith(_COMPRESSED):
                continue
            frame = pl.read_csv(head, infer_schema=False, truncate_ragged_lines=True, n_rows=1000)
        except (OSError, pl.exceptions.PolarsError, ValueError):
            continue
        for target, product in (("Name", "Product_Name"), ("gpu_arch", "gpu_model")):
            if target not in frame.columns or product not in frame.columns:
                continue
            found = frame.select(target, product).unique().filter(pl.col(target).str.starts_with("gfx"))
            if found[target].n_unique() == 1:
                products = found[product].drop_nulls().unique().to_list()
                return found[target][0], products[0] if len(products) == 1 else None
    return None, None
