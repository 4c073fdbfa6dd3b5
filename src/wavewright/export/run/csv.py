"""A run as the CSV files of rocprofv3: one for each kind of record."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.csv import harmless, harmless_rows
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.labels import category_of
from wavewright.facts.loader import packaged
from wavewright.model.losses import Loss
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN

PREFIX = "out"  #: Prefix of the file names, as in AMD's converter.

_PIECE_ROWS = 1 << 18
_MARK = "_agent_info.csv"  #: The file that every output has, so that `force` knows one.
_API_FILES = ("hip", "hsa", "marker", "rccl", "rocdecode", "rocjpeg", "ompt", "kfd")
_LEFT_OUT = ("arguments", "monitors", "frames")  #: Tables that no file can hold.

#: File -> column in the file -> column of the run, or a name that `_expressions` makes (csv.toml).
_COLUMNS: dict[str, Any] = packaged("csv.toml", __package__)
_AGENT: list[str] = _COLUMNS["agent_info"]["columns"]
AGENT_FACTS: dict[str, str] = _COLUMNS["agent_info"]["facts"]


def write_csv(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write the CSV files of rocprofv3 into a folder: `out_kernel_trace.csv`, `out_hip_api_trace.csv`, ...

    Names, columns and their order are those of AMD's converter from ROCpd, with what it leaves out behind them (the
    size of copies, the process). All processes are in the same files, each in the order of begin times; a file is
    written when it has rows. Texts that a spreadsheet would run as formulas get an apostrophe in front.
    """
    target = Path(out)
    with staged([target], force=force, mark=PREFIX + _MARK) as (twin,):
        twin.mkdir()
        counts: Counter[str] = Counter()
        losses: list[Loss] = []
        header = ["Guid", *_AGENT, "Process_Id"]
        _append_rows(twin, [header])
        for part in run.parts:
            _Files(part, twin, counts, losses).write()
    return Written(target, dict(counts), losses)


class _Files:
    """Appends the rows of one source to the files of a folder."""

    def __init__(self, run: Run, folder: Path, counts: Counter[str], losses: list[Loss]) -> None:
        self._run = run
        self._folder = folder
        self.counts = counts
        self.losses = losses
        self._agents = run.read("agents")
        self._agent_texts = self._agents.select(
            pl.when(pl.col("absolute_index").is_not_null())
            .then(pl.format("Agent {}", "absolute_index"))
            .otherwise(pl.format("{} {}", pl.col("kind").fill_null("GPU"), pl.coalesce("type_index", "agent_id")))
        ).to_series()
        processes = run.read("processes", ["pid", "guid"])
        self._lookups = {  # name in csv.toml -> column with a row number, and the values by row number
            "guid": ("process", processes["guid"].fill_null("")),
            "pid": ("process", processes["pid"]),
            "tid": ("thread", run.read("threads", ["tid"])["tid"]),
            "queue_id": ("queue", run.read("queues", ["queue_id"])["queue_id"]),
            "stream_id": ("stream", run.read("streams", ["stream_id"])["stream_id"]),
            "symbol_id": ("symbol", run.read("symbols", ["symbol_id"])["symbol_id"]),
            "agent_text": ("agent", self._agent_texts),
            "src_text": ("src_agent", self._agent_texts),
            "dst_text": ("dst_agent", self._agent_texts),
        }

    def write(self) -> None:
        """Append to all files."""
        self._write_agents()
        self._write("dispatches", "kernel_trace", kind="KERNEL_DISPATCH")
        self._write("copies", "memory_copy_trace", kind="MEMORY_COPY")
        is_scratch = pl.col("level").cast(pl.String).eq_missing("SCRATCH")
        self._write("allocations", "memory_allocation_trace", kind="MEMORY_ALLOCATION", where=~is_scratch)
        self._write("allocations", "scratch_memory_trace", kind="SCRATCH_MEMORY", where=is_scratch)
        self._write_calls()
        self._write_counters()
        self.losses += left_out(self._run, _LEFT_OUT)

    def _write(self, table: str, file: str, *, kind: str, where: pl.Expr | None = None) -> None:
        columns = _COLUMNS[file]
        needed = {self._lookups[name][0] if name in self._lookups else name for name in columns.values()}
        needed |= {"process", "start_ns", "end_ns"}
        if table == "allocations":  # columns that `_expressions` reads
            needed |= {"type", "level", "address", "properties"}
        frame = self._run.read(table, [name for name in RUN[table].names if name in needed])
        if where is not None:
            frame = frame.filter(where)
        self._write_frame(frame, file, columns, kind=kind)
        self.counts[table] += frame.height

    def _write_calls(self) -> None:
        """Write calls, ranges and, as calls without duration, marks: one file for each kind of API."""
        columns = ["process", "thread", "category", "domain", "name", "correlation"]
        calls = self._run.read("regions", [*columns, "start_ns", "end_ns"])
        self.counts["regions"] += calls.height
        marks = self._run.read("samples", [*columns, "time_ns"]).rename({"time_ns": "start_ns"})
        self.counts["samples"] += marks.height
        calls = pl.concat([calls, marks.with_columns(end_ns=pl.col("start_ns"))])
        domain = pl.col("domain").cast(pl.String).str.to_lowercase()
        calls = calls.with_columns(
            category=category_of("MARKER_CORE_RANGE_API"),
            file=pl.when(domain.is_in(_API_FILES)).then(domain + "_api_trace").otherwise(pl.lit("regions_trace")),
        )
        for file in calls["file"].unique().sort():
            self._write_frame(calls.filter(pl.col("file") == file).drop("file", "domain"), file, _COLUMNS["calls"])

    def _write_counters(self) -> None:
        """Write one row for each dispatch and counter, with the sum over its instances."""
        values = self._run.read("counters", ["process", "event", "time_ns", "counter", "value"])
        of_dispatches = values.filter(pl.col("event").is_not_null() & pl.col("time_ns").is_null())
        sampled_count = values.height - of_dispatches.height
        if sampled_count:
            loss = Loss("not_in_format", count=sampled_count, detail="counters that were sampled over time")
            self.losses.append(loss)
        names = self._run.read("counter_info", ["counter", "name"]).rename({"name": "counter_name"})
        keys = ["process", "event", "counter_name"]
        sums = of_dispatches.join(names, on="counter").group_by(keys).agg(pl.col("value").sum())
        if sums.is_empty():
            return
        columns = _COLUMNS["counter_collection"]
        stored = [name for name in columns.values() if name in RUN["dispatches"].names]
        stored += ["process", "thread", "agent", "queue", "symbol", "event"]
        stored += [f"{size}_{axis}" for size in ("grid", "workgroup") for axis in "xyz"]
        rows = [piece.join(sums, on=["process", "event"]) for piece in self._run.chunks("dispatches", stored)]
        frame = pl.concat(rows).with_columns(
            (pl.col(f"{size}_x") * pl.col(f"{size}_y") * pl.col(f"{size}_z")).alias(f"{size}_size")
            for size in ("grid", "workgroup")
        )
        self._write_frame(frame, "counter_collection", columns, keys=["counter_name"])
        self.counts["counters"] += frame.height

    def _write_frame(
        self, frame: pl.DataFrame, file: str, columns: dict[str, str], *, kind: str = "", keys: Sequence[str] = ()
    ) -> None:
        """Append rows in the order of processes and starts; of equal starts, the longest first; then by `keys`."""
        if frame.is_empty():
            return
        order = frame.select(
            pl.arg_sort_by("process", "start_ns", -pl.col("end_ns"), *keys, maintain_order=True)
        ).to_series()
        path = self._folder / f"{PREFIX}_{file}.csv"
        is_new = not path.exists()
        with path.open("ab") as stream:
            for start in range(0, frame.height, _PIECE_ROWS):
                piece = self._translated(frame[order.slice(start, _PIECE_ROWS)], columns, kind)
                piece.write_csv(stream, include_header=is_new and start == 0, quote_style="non_numeric")

    def _translated(self, piece: pl.DataFrame, columns: dict[str, str], kind: str) -> pl.DataFrame:
        outputs: list[pl.Series | pl.Expr] = []
        for header, name in columns.items():
            if name in self._lookups:
                key, values = self._lookups[name]
                outputs.append(values.gather(piece[key]).alias(header))
            else:
                outputs.append(_expressions(kind).get(name, pl.col(name)).alias(header))
        return harmless(piece.select(outputs))

    def _write_agents(self) -> None:
        processes = dict(enumerate(self._run.read("processes", ["guid", "pid"]).iter_rows()))
        rows = []
        for agent in self._agents.iter_rows(named=True):
            guid, pid = processes.get(agent["process"], (None, None))
            rows.append([guid or "", *_agent_values(agent), pid])
        _append_rows(self._folder, rows)
        self.counts["agents"] += len(rows)


def _append_rows(folder: Path, rows: list[list[Any]]) -> None:
    """Add rows to the file of agents."""
    with (folder / (PREFIX + _MARK)).open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerows(harmless_rows(rows))


def _expressions(kind: str) -> dict[str, pl.Expr]:
    """The columns of the files that no table of the run has."""
    level = pl.when(pl.col("level").cast(pl.String) == "VIRTUAL").then(pl.lit("VMEM_")).otherwise(pl.lit(""))
    operation = pl.col("type").cast(pl.String).replace("ALLOC", "ALLOCATE" if kind == "MEMORY_ALLOCATION" else "ALLOC")
    digits = pl.col("address").map_elements(lambda value: f"0x{value & (1 << 64) - 1:016x}", return_dtype=pl.String)
    return {
        "kind": pl.lit(kind),
        "operation": pl.lit(kind + "_") + level + operation,
        "address_text": digits,
        "flags": pl.col("properties").str.extract(r'"flags"\s*:\s*"?(-?\d+)').cast(pl.Int64),
    }


def _agent_values(agent: dict[str, Any]) -> Iterator[Any]:
    """The values of `_AGENT`: from the table of agents, else from the recorded properties."""
    try:
        properties = json.loads(agent["properties"] or "{}")
    except ValueError:
        properties = {}
    facts = {name: agent[column] for name, column in AGENT_FACTS.items() if agent[column] is not None}
    keys_of_parts = {"sdma_fw_version": "uCodeSDMA", "fw_version": "uCode"}
    for column in _AGENT:
        name = column.lower()
        value = facts.get(name, properties.get(name))
        if name in keys_of_parts and isinstance(value, dict):
            value = value.get(keys_of_parts[name])
        if "_max_dim_" in name:  # `grid_max_dim_x` is the member x of `grid_max_dim`
            sizes = properties.get(name[:-2])
            value = sizes.get(name[-1]) if isinstance(sizes, dict) else None
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
            value = f"'{value}"
        yield value if isinstance(value, (int, str)) and not isinstance(value, bool) else None
