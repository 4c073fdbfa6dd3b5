"""Writes one source of a run into a ROCpd file: the reader's mapping (`readers.run.rocpd.mapping`) in reverse."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any
from zlib import crc32

import polars as pl

from wavewright.export.run.event_ids import EVENT_TABLES, EventIds
from wavewright.export.run.labels import per_distinct_row
from wavewright.export.run.rocpd.call_rows import track_ids, with_messages
from wavewright.export.run.rocpd.run import RunWriter
from wavewright.facts.loader import packaged
from wavewright.model.run import Run
from wavewright.readers.run.rocpd.environment import rank_of
from wavewright.readers.run.rocpd.mapping import TABLES, End, First, Json, MappedRow, Stored, Text

#: Table of numbered rows -> the column whose value becomes the stored id.
_IDS: dict[str, str] = packaged("rows.toml", __package__)["ids"]
_RUN_TABLES = {mapped.stored: table for table, mapped in TABLES.items()}  #: Stored table -> table of a run.
_REGISTERS = ("sgpr_count", "vgpr_count", "accum_vgpr_count")


class PartWriter:
    """Writes the tables of one source; `runs` has the run of each of its processes (None = it is left out)."""

    def __init__(self, part: Run, runs: list[RunWriter | None]) -> None:
        self._part = part
        self._runs = runs
        self._tables = {table: part.table(table) for table in _IDS}
        self._ids = {table: self._stored_ids(table) for table in _IDS}
        self.counts: Counter[str] = Counter()

    def write(self) -> None:
        """Write all tables."""
        self._write_places()
        self._number_events()
        for table in EVENT_TABLES:
            for run, piece in self._pieces(table):
                self._write_events(run, table, piece)
        for run, piece in self._pieces("arguments"):
            self._write_rows(run, "arguments", piece, {"event_id": run.events.referred("arguments", piece["event"])})
        self._write_counters()

    def _stored_ids(self, table: str) -> pl.Series:
        """The stored id of each row: the recorded one if it is unique in its run, else a new one."""
        frame = self._tables[table]
        owners = self._owners(table)
        runs = [None if table == "nodes" and owner is None else self._run_of(owner) for owner in owners]
        used_ids: set[tuple[Any, int]] = set()  # Python's id() of the run, and a stored id in it
        ids: list[int | None] = []
        for run, stored_id in zip(runs, frame[_IDS[table]].to_list(), strict=True):
            is_free = stored_id is not None and (id(run), stored_id) not in used_ids
            ids.append(stored_id if is_free else None)
            used_ids.add((id(run), stored_id))
        fresh = max([0, *(number for number in ids if number is not None)])
        for place, number in enumerate(ids):
            if number is None:
                fresh += 1
                ids[place] = fresh
        return pl.Series(ids, dtype=pl.Int64)

    def _owners(self, table: str) -> list[int | None]:
        """The process of each row; of a node, the first process that ran on it."""
        frame = self._tables[table]
        if table != "nodes":
            return frame["process"].to_list()
        nodes = self._tables["processes"]["node"].to_list()
        return [nodes.index(node) if node in nodes else None for node in range(frame.height)]

    def _run_of(self, process: int | None) -> RunWriter | None:
        return self._runs[process] if process is not None else next((run for run in self._runs if run), None)

    def _pieces(self, table: str, columns: list[str] | None = None) -> Iterator[tuple[RunWriter, pl.DataFrame]]:
        """The rows of each run, in chunks; rows without a process belong to the first run."""
        runs = list(dict.fromkeys(run for run in self._runs if run))
        owner = pl.Series([runs.index(run) if run else None for run in self._runs], dtype=pl.Int64)
        first = next((process for process, run in enumerate(self._runs) if run), None)
        for piece in self._part.chunks(table, columns):
            number = owner.gather(piece["process"].fill_null(first))
            for value in number.drop_nulls().unique().sort():
                is_whole = len(runs) == 1 and not number.null_count()
                yield runs[value], piece if is_whole else piece.filter(number == value)

    def _number_events(self) -> None:
        by_writer: dict[int, dict[str, list[pl.Series]]] = {}
        for table in EVENT_TABLES:
            for run, piece in self._pieces(table, ["process", "event"]):
                by_writer.setdefault(id(run), {}).setdefault(table, []).append(piece["event"])
        for writer in filter(None, self._runs):
            writer.events = EventIds(
                {name: pl.concat(pieces) for name, pieces in by_writer.get(id(writer), {}).items()}
            )

    def _write_places(self) -> None:
        written_pairs: set[tuple[int, int]] = set()
        for process, run in enumerate(self._runs):
            if run is None:
                continue
            node = self._tables["processes"]["node"][process]
            if node is not None and (id(run), node) not in written_pairs:
                written_pairs.add((id(run), node))
                self._write_node(run, node)
            nid = self._ids["nodes"][node] if node is not None else run.stand_in("info_node")
            pid = self._ids["processes"][process]
            run.place = run.place or {"nid": nid, "pid": pid}
            row = self._tables["processes"].slice(process, 1)
            environment = json.dumps(self._environment(process, row["rank"][0]))
            overrides = {"id": pl.Series([pid]), "nid": pl.Series([nid]), "environment": pl.Series([environment])}
            self._write_rows(run, "processes", row, overrides)
        for table in list(_IDS)[2:]:  # the first two, nodes and processes, are written above
            frame = self._tables[table].with_columns(self._ids[table].alias("_id"))
            for run, piece in self._split(frame):
                overrides = {"id": piece["_id"]}
                if table == "agents":
                    overrides |= {"extdata": _agent_json(piece), "user_name": piece["product"]}
                if table == "counter_info":
                    overrides["target_arch"] = self._tables["agents"]["kind"].gather(piece["agent"])
                run.highest[TABLES[table].stored] = max(run.highest[TABLES[table].stored], *piece["_id"])
                self._write_rows(run, table, piece, overrides)

    def _split(self, frame: pl.DataFrame) -> Iterator[tuple[RunWriter, pl.DataFrame]]:
        runs = [self._run_of(process) for process in frame["process"]]
        for run in dict.fromkeys(run for run in runs if run):
            yield run, frame.filter(pl.Series([other is run for other in runs], dtype=pl.Boolean))

    def _write_node(self, run: RunWriter, node: int) -> None:
        row = self._tables["nodes"].row(node, named=True)
        number = self._ids["nodes"][node]
        machine = row["machine_id"] or row["hostname"] or "unknown"
        machine_hash = row["hash"] if row["hash"] is not None else crc32(machine.encode())
        run.highest["info_node"] = max(run.highest["info_node"], number)
        overrides = {"id": number, "machine_id": machine, "hash": machine_hash}
        frame = self._tables["nodes"].slice(node, 1)
        self._write_rows(run, "nodes", frame, {name: pl.Series([value]) for name, value in overrides.items()})

    def _environment(self, process: int, rank: int | None) -> dict[str, str]:
        """The environment of a process; its rank is added if the (masked) variables do not tell it."""
        rows = self._part.table("environment").filter(pl.col("process") == process)
        environment = dict(rows.select("name", "value").iter_rows())
        if rank is not None and rank_of(environment) != rank:
            name = next((name for name in environment if rank_of({name: str(rank)}) == rank), "RANK")
            environment[name] = str(rank)
        return environment

    def _sample_numbers(self, run: RunWriter, piece: pl.DataFrame) -> pl.Series:
        first = run.highest["sample"] + 1
        run.highest["sample"] += piece.height
        ids = pl.int_range(first, first + piece.height, eager=True)
        if self._has_streamed_counters:
            run.sample_times.append(pl.DataFrame({"time_ns": piece["time_ns"], "sample": ids}))
        return ids

    @cached_property
    def _has_streamed_counters(self) -> bool:
        return any(len(piece["time_ns"].drop_nulls()) for piece in self._part.chunks("counters", ["time_ns"]))

    def _write_events(self, run: RunWriter, table: str, piece: pl.DataFrame) -> None:
        ids = run.events.of(table, piece["event"])
        event = {
            "id": ids,
            "stack_id": piece["correlation"],
            "parent_stack_id": piece["parent_correlation"],
            "correlation_id": piece["external_correlation"],
        }
        overrides = {"event_id": ids}
        if table in ("regions", "samples"):
            category, function, extdata = with_messages(piece, is_sample=table == "samples")
            event |= {"call_stack": piece["call_stack"], "line_info": piece["line_info"], "extdata": extdata}
            if table == "samples":
                threads = self._ids["threads"].gather(piece["thread"])
                overrides["track_id"] = track_ids(run, threads, function)
                overrides["id"] = self._sample_numbers(run, piece)
            else:
                overrides["name_id"] = run.text_ids(function)
        else:
            category = _work_category(table, piece)
        if table == "dispatches":
            overrides["kernel_id"] = self._kernel_ids(run, piece)
        if table == "copies":
            overrides |= self._ends(run, piece)
        event["category_id"] = run.text_ids(category)
        run.insert("event", run.filled("event", event, piece.height))
        self._write_rows(run, table, piece, overrides)

    def _ends(self, run: RunWriter, piece: pl.DataFrame) -> dict[str, pl.Series]:
        """Source and destination of copies; AMD's views need both, so a missing one becomes the host."""
        ends = {f"{name}_id": self._ids["agents"].gather(piece[name]) for name in ("src_agent", "dst_agent")}
        frame = pl.DataFrame(ends)
        is_unknown = pl.all_horizontal(pl.all().is_null())
        if frame.select(is_unknown.any()).item():
            unknown = run.stand_in("info_agent")
            frame = frame.with_columns(pl.when(is_unknown).then(unknown).otherwise(pl.all()).name.keep())
        if any(frame.null_count().row(0)):
            frame = frame.fill_null(run.stand_in("info_agent", type="CPU", name="host"))
        return {name: frame[name] for name in ends}

    def _kernel_ids(self, run: RunWriter, piece: pl.DataFrame) -> pl.Series:
        """The stored symbol of each dispatch if its name and registers are the same, else a new one."""
        symbols = self._tables["symbols"]
        same = piece["name"].cast(pl.String).eq_missing(symbols["name"].gather(piece["symbol"]))
        for column in _REGISTERS:
            same &= piece[column].is_null() | piece[column].eq_missing(symbols[column].gather(piece["symbol"]))
        ids = self._ids["symbols"].gather(piece["symbol"])
        same &= piece["symbol"].is_not_null()
        if same.all():
            return ids
        new_keys = piece.select("name", *_REGISTERS).filter(~same)
        new_ids = per_distinct_row(new_keys, partial(self._new_symbol, run), pl.Int64)
        return ids.set(~same, None).scatter((~same).arg_true(), new_ids)

    def _new_symbol(self, run: RunWriter, *row: Any) -> int:
        """A symbol for dispatches with this name and these registers, in a stand-in code object."""
        if row not in run.symbols:
            name, sgprs, vgprs, accum_vgprs = row
            run.symbols[row] = run.insert_row(
                "info_kernel_symbol",
                **run.place,
                code_object_id=run.stand_in("info_code_object"),
                kernel_name=name or "",
                display_name=name or "",
                sgpr_count=sgprs,
                arch_vgpr_count=vgprs,
                accum_vgpr_count=accum_vgprs,
            )
        return run.symbols[row]

    def _write_counters(self) -> None:
        for run, piece in self._pieces("counters"):
            overrides = {"event_id": run.events.referred("counters", piece["event"])}
            if piece["time_ns"].null_count() < piece.height:
                overrides["sample_id"] = run.sample_ids(piece["time_ns"])
            self._write_rows(run, "counters", piece, overrides)

    def _write_rows(self, run: RunWriter, table: str, piece: pl.DataFrame, overrides: dict[str, pl.Series]) -> None:
        """Write rows to their stored table: columns by the reader's mapping; `overrides` replace and complete them."""
        stored, origins = TABLES[table].stored, TABLES[table].columns
        values: dict[str, pl.Series] = {}
        for name, origin in origins.items():
            values |= self._stored_column(run, piece, name, origin)
        if "process" in piece.columns and table not in ("processes", "arguments", "counters"):
            nodes = self._tables["processes"]["node"]
            values["nid"] = self._ids["nodes"].gather(nodes.gather(piece["process"]))
        frame = run.filled(stored, values | overrides, piece.height)
        run.insert(stored, frame)
        self.counts[table] += piece.height

    def _stored_column(self, run: RunWriter, piece: pl.DataFrame, name: str, origin: Any) -> dict[str, pl.Series]:
        series = piece[name] if name in piece.columns else None
        if isinstance(origin, First):
            origin = origin.origin
        if series is None or isinstance(origin, Json) or "." in getattr(origin, "column", ""):
            return {}
        if isinstance(origin, End):
            return {origin.end: series}
        if isinstance(origin, MappedRow):
            return {origin.column: self._ids[_RUN_TABLES[origin.table]].gather(series)}
        if isinstance(origin, Text):
            return {origin.column: run.text_ids(series)}
        if isinstance(origin, Stored):
            return {origin.column: series.cast(pl.Int64) if series.dtype == pl.Boolean else series}
        return {}


def _work_category(table: str, piece: pl.DataFrame) -> pl.Series:
    if table == "allocations":
        is_scratch = piece["level"].cast(pl.String).eq_missing(pl.Series(["SCRATCH"]).new_from_index(0, piece.height))
        return pl.select(
            pl.when(is_scratch).then(pl.lit("SCRATCH_MEMORY")).otherwise(pl.lit("MEMORY_ALLOCATION"))
        ).to_series()
    name = {"dispatches": "KERNEL_DISPATCH", "copies": "MEMORY_COPY"}[table]
    return pl.Series([name]).new_from_index(0, piece.height)


def _agent_json(agents: pl.DataFrame) -> pl.Series:
    """The recorded properties of agents as JSON, completed by columns of the run."""
    origins = {name: origin for name, origin in TABLES["agents"].columns.items() if isinstance(origin, Json)}
    texts = []
    for row in agents.iter_rows(named=True):
        try:
            stored = json.loads(row["properties"] or "{}")
        except ValueError:
            stored = None
        missing = {
            origin.key: row[name] // origin.factor
            for name, origin in origins.items()
            if isinstance(stored, dict) and row[name] is not None and origin.key not in stored
        }
        texts.append(json.dumps(stored | missing) if missing else row["properties"])
    return pl.Series(texts, dtype=pl.String)
