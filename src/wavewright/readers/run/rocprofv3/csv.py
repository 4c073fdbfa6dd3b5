"""Runs that rocprofv3 or a converter of ROCpd wrote as CSV files: all files of a folder with the same prefix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.base.files import open_regular
from wavewright.errors import NotATraceError, UsageError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.files.rocprofv3_columns import header_of, layout_of, read_table, run_of
from wavewright.readers.files.text import text_bytes
from wavewright.readers.run.event_rows import RECORDING_PREFIX, finished, link, with_numbers
from wavewright.readers.run.rocprofv3.agents import add_agents
from wavewright.readers.run.rocprofv3.event_tables import add_events

_EVENTS = ("dispatches", "counters", "copies", "allocations", "scratch", "regions")
_HEAD_BYTES = 1 << 16  #: The header of a file is within so many bytes.
_MAX_AGENT_BYTES = 1 << 24
#: A run of a file without process ids ends before a pause of ten minutes that is ten times as long as all work.
_PAUSE_NS_MIN, _PAUSE_PER_WORK_MIN = 600 * 10**9, 10
_START_NS_MIN = 10**6  #: No process has loaded the runtime and launched a kernel so soon after the last one ended.


def read_rocprofv3_csv(path: Path, files: Sequence[Path]) -> MemorySource:
    """The tables of one run; files without events (statistics) are ignored.

    A call that ends when it begins is a sample, as in ROCpd. `dispatches.event` numbers the dispatches; counters refer
    to it. Dispatches that only the counter file knows are dispatches like the others. Raises `UsageError,
    NotATraceError` when a file cannot be read.
    """
    losses: list[Loss] = []
    raw = _raw_tables(files, losses)
    if not raw:
        advice = "rocprofv3 --kernel-trace -f csv writes *_kernel_trace.csv"
        raise NotATraceError("no trace of a run in these CSV files", where=str(path), advice=advice)
    if "dispatches" in raw and not raw.keys() - {"dispatches", "agents"}:
        raw["dispatches"] = _in_recordings(raw["dispatches"], losses)
    return _assembled(path, raw, run_of(files[0].name), losses)


def _in_recordings(rows: pl.DataFrame, losses: list[Loss]) -> pl.DataFrame:
    """Dispatches of several runs in one file that names no process, with a `guid` for each run.

    A run ends in two cases: where the numbers of dispatches start again, and the times with the new numbers are after
    all earlier ones; and where nothing is recorded for ten minutes and for ten times as long as all work takes.
    """
    if {"guid", "pid"} & set(rows.columns):
        return rows
    # The second dispatch of a number, and all that follow it in the file, are of the second numbering, and so on.
    occurrence = pl.col("dispatch_id").cum_count().over("dispatch_id")
    number = occurrence.cum_max() if "dispatch_id" in rows.columns else pl.lit(1)
    dispatches = rows.with_row_index("row").with_columns(numbering=number).sort("start_ns", nulls_last=True)
    previous_end_ns = pl.col("end_ns").cum_max().shift(1)
    spans = dispatches.group_by("numbering").agg(pl.col("start_ns").min(), pl.col("end_ns").max()).sort("start_ns")
    is_apart = (pl.col("start_ns") >= previous_end_ns + _START_NS_MIN).fill_null(value=False)
    groups = spans.select("numbering", group=is_apart.cum_sum())  # numberings that overlap in time are one run
    dispatches = dispatches.join(groups, on="numbering", maintain_order="left")
    work_ns = (pl.col("end_ns") - pl.col("start_ns")).clip(0).sum()
    is_paused = pl.col("start_ns") - previous_end_ns >= pl.max_horizontal(_PAUSE_NS_MIN, _PAUSE_PER_WORK_MIN * work_ns)
    is_first_of_run = ((pl.col("group").diff() > 0) | is_paused).fill_null(value=False)
    dispatches = dispatches.with_columns(run=is_first_of_run.cum_sum() + 1)
    count = int(dispatches["run"].max() or 1)  # type: ignore[arg-type]
    if count == 1:
        return rows
    losses.append(Loss("several_recordings", count))
    dispatches = dispatches.with_columns(guid=pl.format(f"{RECORDING_PREFIX}{{}}", "run"))
    return dispatches.sort("row").drop("row", "numbering", "group", "run")


def _raw_tables(files: Sequence[Path], losses: list[Loss]) -> dict[str, pl.DataFrame]:
    """The rows of the files by kind."""
    by_kind: dict[str, list[pl.DataFrame]] = {}
    for file in files:
        try:
            with open_regular(file) as stream:
                head = stream.read(_HEAD_BYTES)
                layout = layout_of(header_of(head))
        except OSError as error:
            raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from error
        if layout is None:
            if head and b"\n" not in head:
                losses.append(Loss("cut_file", detail=file.name))
            continue
        frame = _agent_rows(file, losses) if layout.name == "agents" else read_table(file, layout, losses)
        by_kind.setdefault(layout.name, []).append(frame)
    return {name: pl.concat(frames, how="diagonal_relaxed") for name, frames in by_kind.items()}


def _agent_rows(file: Path, losses: list[Loss]) -> pl.DataFrame:
    """The list of agents as strings; of a file that was cut, without the cell in which it ends."""
    text = text_bytes(file, _MAX_AGENT_BYTES)
    if not text.endswith(b"\n"):
        losses.append(Loss("cut_file", detail=file.name))
        text = text[: max(text.rfind(b","), text.rfind(b"\n"))] + b"\n"
    try:
        raw = pl.read_csv(text, infer_schema=False, truncate_ragged_lines=True, encoding="utf8-lossy")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        problem = f"cannot be read as CSV ({str(error).splitlines()[0][:120]})"
        raise NotATraceError(problem, where=str(file), advice="record again, or leave it out") from error
    return raw.rename(str.lower)


def _assembled(path: Path, raw: dict[str, pl.DataFrame], prefix: str, losses: list[Loss]) -> MemorySource:
    tables: dict[str, pl.DataFrame] = {}
    events = {name: raw[name] for name in _EVENTS if name in raw}
    processes = _processes([*events.values(), *([raw["agents"]] if "agents" in raw else [])], prefix)
    tables["processes"] = processes
    events = {name: _with_process(frame, processes, events) for name, frame in events.items()}
    events = with_numbers(events, tables)
    tables["agents"], events = add_agents(raw.get("agents"), events, processes)
    add_events(tables, events, losses)
    return MemorySource(str(path), "rocprofv3 CSV", tables=finished(tables, losses), losses=losses)


def _processes(frames: Sequence[pl.DataFrame], prefix: str) -> pl.DataFrame:
    """One row per recording (guid) and process id; a run without either is one process."""
    parts = []
    for frame in frames:
        pid = pl.col("pid").cast(pl.Int64) if "pid" in frame.columns else pl.lit(None, pl.Int64).alias("pid")
        # Literals alone would make a row of a frame without rows.
        parts.append(frame.with_columns(_guid(frame), pid).select("guid", "pid").unique())
    pairs = pl.concat(parts).unique().sort("guid", "pid", nulls_last=True)
    # Rows without a process id belong to one of the processes that their recording names, if it names any.
    processes = pairs.filter(pl.col("pid").is_not_null() | pl.col("pid").is_null().all().over("guid"))
    if not processes.height:
        processes = pl.DataFrame({"guid": [""], "pid": [None]}, schema={"guid": pl.String, "pid": pl.Int64})
    if processes.height == 1 and processes["pid"][0] is None:
        processes = processes.with_columns(pid=pl.lit(integer_of(prefix, below=10**10), pl.Int64))
    return processes.with_row_index("process").with_columns(source=pl.lit(0, pl.UInt32))


def _with_process(frame: pl.DataFrame, processes: pl.DataFrame, events: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """`frame` with the number of the process of each row.

    If the file has no process ids, it is the process of the same thread in other files; if those have none either, the
    first process of the recording.
    """
    if processes.height == 1:
        return frame.with_columns(process=pl.lit(0, pl.UInt32))
    rows = frame.with_columns(_guid(frame))
    candidates = []  # the first that is not null counts
    if "pid" in frame.columns:
        candidates.append(link(rows, processes, ["guid", "pid"], "process")["process"])
    if "tid" in frame.columns:
        threads = _threads_with_pids(events).join(processes, on=["guid", "pid"]).unique(["guid", "tid"], keep="none")
        candidates.append(link(rows, threads, ["guid", "tid"], "process")["process"])
    first = processes.group_by("guid", maintain_order=True).agg(pl.col("process").first())
    candidates.append(rows.join(first, on="guid", how="left", maintain_order="left")["process"])
    return frame.with_columns(pl.coalesce(candidates).fill_null(0).cast(pl.UInt32).alias("process"))


def _threads_with_pids(events: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The threads of which a file tells the process: `guid`, `pid`, `tid`."""
    frames = [frame for frame in events.values() if {"pid", "tid"} <= set(frame.columns)]
    empty = pl.DataFrame(schema={"guid": pl.String, "pid": pl.Int64, "tid": pl.Int64})
    return pl.concat([empty, *(frame.select(_guid(frame), "pid", "tid") for frame in frames)]).drop_nulls().unique()


def _guid(frame: pl.DataFrame) -> pl.Expr:
    """The recording of each row; empty = the file does not tell."""
    return pl.col("guid").cast(pl.String).fill_null("") if "guid" in frame.columns else pl.lit("").alias("guid")
