"""Tracks of a Perfetto trace: whose events they show, and the values of counter tracks."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import polars as pl

from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.run.rocprofv3.agents import add_agents

_NO_NUMBER = -(1 << 63)  #: The core writes it for numbers that the trace does not have.
_PROCESS, _THREAD = 1, 2  #: Kinds of tracks, as the core numbers them.
_DEEPEST = 16  #: From a track, at most so many parents are followed.
_GPU = re.compile(r"(?i)\b(?:gpu|device)\b[^\[\d]*\[?(\d{1,4})\b|\bagent\W*(\d{1,4})\b")
_LABEL = re.compile(r"(GPU|CPU|NIC|Agent) (\d{1,4})(?: (gfx[0-9a-f]+))?")
#: Counter tracks that follow from slices -> the table that says the same.
_TABLES_BY_START = {"COPY BYTES to ": "copies", "PMC ": "counters"}
_FIRST_SYNTHETIC_TID = 1 << 40  #: Tracks without a thread get ids from here on, which no operating system uses.


class TrackPlaces:
    """The process and the thread of every track, and the values of counter tracks.

    A track belongs to the thread that it or the nearest track above it names. Slices on a track of no thread get a
    thread of their own, without a number, named like the track; tracks below one with slices share its thread.
    """

    def __init__(self, tracks: pl.DataFrame, words: pl.Series) -> None:
        self.frame = tracks
        self._rows = tracks.to_dicts()
        for row in self._rows:
            row["label"] = words[row["name"]]
        self._index = {row["uuid"]: at for at, row in enumerate(self._rows)}
        self._above = [self._chain(at) for at in range(len(self._rows))]
        self._processes: dict[int | None, dict[str, Any]] = {}  #: Process id -> row of `processes`.
        for row in self._rows:
            if row["kind"] == _PROCESS:
                start = row["start_ns"] if row["start_ns"] > 0 else None
                command = words[row["command"]] or words[row["process_name"]] or None
                self._number_of(row["pid"] if row["pid"] != _NO_NUMBER else None, start_ns=start, command=command)
        self._process_of = [self._owner(at) for at in range(len(self._rows))]
        self._names: dict[tuple[int, int], str] = {}

    @property
    def processes(self) -> pl.DataFrame:
        """One row per process; at least one."""
        return frame_of(RUN["processes"], [*self._processes.values()] or [{"process": 0, "source": 0, "guid": ""}])

    def _chain(self, at: int) -> list[int]:
        """The track and those above it, nearest first."""
        chain = [at]
        while len(chain) < _DEEPEST:
            above = self._index.get(self._rows[chain[-1]]["parent"])
            if above is None or above in chain:
                break
            chain.append(above)
        return chain

    def _number_of(self, pid: int | None, **facts: Any) -> int:
        """The number of the process with this id, which is added with these columns of `processes` if it is new."""
        row = {"process": len(self._processes), "source": 0, "guid": "", "pid": pid, **facts}
        return int(self._processes.setdefault(pid, row)["process"])

    def _owner(self, at: int) -> int:
        """The process of a track; the only one, or the first, where none is named."""
        for above in self._above[at]:
            row = self._rows[above]
            if row["kind"] in (_PROCESS, _THREAD) and row["pid"] != _NO_NUMBER:
                return self._number_of(row["pid"])
        return 0

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with `process`, the `tid` of their track (above 2^40 where it has none) and its `label`."""
        track_set = set(rows["track"].unique())
        places = []
        for at in sorted(track_set):
            chain = self._above[at]
            thread = next((above for above in chain if self._rows[above]["kind"] == _THREAD), None)
            if thread is None:
                top = [above for above in chain if above in track_set and self._rows[above]["kind"] != _PROCESS]
                thread = top[-1] if top else at
            row = self._rows[thread]
            has_tid = row["kind"] == _THREAD and row["tid"] != _NO_NUMBER
            tid = row["tid"] if has_tid else _FIRST_SYNTHETIC_TID + thread
            process = self._process_of[at]
            self._names.setdefault((process, tid), row["label"])
            labels = " / ".join(self._rows[above]["label"] for above in chain[:4])
            places.append((at, process, tid, row["kind"] == _THREAD, self._rows[at]["label"], labels))
        schema = {"track": pl.UInt32, "process": pl.UInt32, "tid": pl.Int64, "is_thread": pl.Boolean,
                  "label": pl.String, "labels": pl.String}  # fmt: skip
        table = pl.DataFrame(places, schema=schema, orient="row")
        return rows.join(table, on="track", how="left", maintain_order="left")

    def with_thread_names(self, threads: pl.DataFrame) -> pl.DataFrame:
        """The threads with names, and without the synthetic ids."""
        keys = zip(threads["process"], threads["tid"], strict=True)
        names = pl.Series("name", [self._names.get(key) or None for key in keys], pl.String)
        tid = pl.when(pl.col("tid") < _FIRST_SYNTHETIC_TID).then("tid")
        return threads.with_columns(names, tid.alias("tid"))

    def monitors(self, points: pl.DataFrame, words: pl.Series, table_names: Collection[str]) -> pl.DataFrame:
        """Values of counter tracks as intervals: each lasts until the next of its track; the last has no length.

        Tracks that repeat what one of these tables says are left out.
        """
        places = []
        for at in points["track"].unique().sort():
            row = self._rows[at]
            table = next((table for start, table in _TABLES_BY_START.items() if row["label"].startswith(start)), None)
            if table in table_names:
                continue
            labels = " / ".join(self._rows[above]["label"] for above in self._above[at][:4])
            category = words[row["category"]]
            name = category if category.startswith("device_") else row["label"]
            places.append((at, self._process_of[at], labels, name or "counter"))
        schema = {"track": pl.UInt32, "process": pl.UInt32, "labels": pl.String, "name": pl.String}
        rows = points.join(pl.DataFrame(places, schema=schema, orient="row"), on="track")
        rows = rows.filter(pl.col("value").is_finite()).sort("track", "time_ns", maintain_order=True)
        next_ns = pl.col("time_ns").shift(-1).over("track")
        is_end = next_ns.is_null() & (pl.len().over("track") > 1)
        rows = rows.with_columns(start_ns="time_ns", end_ns=next_ns.fill_null(pl.col("time_ns")), is_end=is_end)
        return rows.filter(~pl.col("is_end")).drop("is_end", "time_ns", "track")


def gpu_of(labels: str) -> int | None:
    """The number of the GPU that names of tracks tell.

    >>> gpu_of("GPU Current Power [2] (S)"), gpu_of("HIP Activity Device 1, Queue 0"), gpu_of("Thread 7")
    (2, 1, None)
    """
    match = _GPU.search(labels)
    return int(match[1] or match[2]) if match else None


def agent_text(label: str) -> tuple[str, str] | None:
    """The name of an agent as rocprofv3 writes it, and its target.

    >>> agent_text("GPU 0 gfx942")
    ('GPU 0', 'gfx942')
    """
    match = _LABEL.search(label)
    return (f"{match[1]} {match[2]}", match[3] or "") if match else None


# --- GPUs, streams and queues of GPU work: as annotated, else as the names of tracks say ---


_NUMBER_AFTER = r"(?i)\b{}\W{{0,3}}(\d{{1,18}})\b"


def with_gpus(kinds: dict[str, pl.DataFrame], tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The events with the numbers of their agents, streams and queues; agents become a table."""
    targets: dict[str, str] = {}
    for name in ("dispatches", "copies"):  # streams and queues that only the name of a track tells
        numbers = {line: pl.col("label").str.extract(_NUMBER_AFTER.format(line)) for line in ("stream", "queue")}
        kinds[name] = kinds[name].with_columns(
            pl.coalesce(f"{line}_id", number.cast(pl.Int64, strict=False)) for line, number in numbers.items()
        )
    work = {name: _with_agent_text(kinds[name], targets) for name in ("dispatches", "copies", "monitors")}
    work["copies"] = _with_sides(work["copies"])
    agents, events = add_agents(None, work, tables["processes"])
    index = pl.coalesce("type_index", "logical_index")
    text = pl.concat_str(pl.coalesce("kind", pl.lit("Agent")), pl.lit(" "), index)
    target = text.replace_strict(targets, default=None, return_dtype=pl.String) if targets else pl.lit(None, pl.String)
    tables["agents"] = agents.with_columns(pl.coalesce(target, "target").alias("target"))
    return kinds | events


def _with_agent_text(events: pl.DataFrame, targets: dict[str, str]) -> pl.DataFrame:
    """Names of agents as rocprofv3 writes them (`GPU 0`, `Agent 4`); the targets that names tell go to `targets`."""
    by_track: dict[str, str | None] = {}
    for labels in events["labels"].unique().drop_nulls():
        name, number = agent_text(labels), gpu_of(labels)
        by_track[labels] = name[0] if name else None if number is None else f"GPU {number}"
        if name and name[1]:
            targets[name[0]] = name[1]
    candidates = [pl.col("labels").replace_strict(by_track, default=None, return_dtype=pl.String)]
    if "device" in events.columns:
        annotations = (pl.col("agent_text").cast(pl.String), pl.concat_str(pl.lit("GPU "), pl.col("device")))
        candidates = [*annotations, *candidates]
    events = events.with_columns(pl.coalesce(candidates).alias("agent_text"))
    for column in {"agent_text", "src_text", "dst_text"} & set(events.columns):
        names: dict[str, str] = {}
        for label in events[column].cast(pl.String).unique().drop_nulls():
            name = agent_text(label)
            names[label] = name[0] if name else f"Agent {label}" if label.isdecimal() else label
            if name and name[1]:
                targets[name[0]] = name[1]
        texts = pl.col(column).cast(pl.String).replace_strict(names, default=None, return_dtype=pl.String)
        events = events.with_columns(texts.alias(column))
    return events


def _with_sides(copies: pl.DataFrame) -> pl.DataFrame:
    """Agents of copies; where only the track names a GPU, it is the side which is a device."""
    is_bare = pl.col("src_text").is_null() & pl.col("dst_text").is_null()
    name = pl.col("name").cast(pl.String)
    sides = {"src_text": ~name.str.contains("HOST_TO"), "dst_text": ~name.str.contains("TO_HOST")}
    return copies.with_columns(
        pl.when(is_bare & is_device).then("agent_text").otherwise(side).alias(side) for side, is_device in sides.items()
    ).drop("agent_text")
