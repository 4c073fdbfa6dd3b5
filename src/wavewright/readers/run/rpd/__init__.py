"""RPD files (rocmProfileData, schema 2 and 3) as a run.

The file has a list of CPU calls, a list of GPU work, and links between them. Calls become regions (marks without
duration: samples), GPU work becomes dispatches and copies. The id of a call is its correlation, shared by all the work
it launched. A call and an op may have the same id, so the event of an op is its id above the highest id of a call;
`dispatch_id` is the id itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import polars as pl

from wavewright.base.toml import packaged
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.model.stored_tables import TablesByName
from wavewright.readers.files.sqlite import Database, note_missing
from wavewright.readers.run.event_rows import shaped
from wavewright.readers.run.rpd.calls import Calls
from wavewright.readers.run.rpd.entities import Entities, Keyed, keyed
from wavewright.readers.run.rpd.ops import Ops


class Measurements:
    """Chunks of `monitors`, `counters` and `counter_info`."""

    def __init__(self, entities: Entities, ops: Ops) -> None:
        self._entities, self._ops = entities, ops
        self._database = entities.database

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of a table, with these columns."""
        pieces: Iterable[pl.DataFrame] = (self._info,)
        if table != "counter_info":
            pieces = self._monitors() if table == "monitors" else self._counters()
        yield from (shaped(piece, table, columns) for piece in pieces if piece.height)

    def _monitors(self) -> Iterator[pl.DataFrame]:
        types: dict[str, type[pl.DataType]] = dict.fromkeys(("deviceId", "start", "end"), pl.Int64)
        types |= {"deviceType": pl.String, "monitorType": pl.Categorical, "value": pl.String}
        agents = Keyed(self._entities.agents, "gpuId")
        for piece in self._database.chunks("rocpd_monitor", types):
            is_gpu = pl.col("deviceType").str.to_lowercase() == "gpu"
            row = agents.rows(piece["deviceId"])
            agent = pl.when(is_gpu).then(agents.frame["agent"].gather(row))
            process = pl.when(is_gpu).then(agents.frame["process"].gather(row)).fill_null(0)
            yield piece.select(
                process.alias("process"),
                agent.alias("agent"),
                pl.col("monitorType").alias("name"),
                pl.col("start").alias("start_ns"),
                pl.max_horizontal("start", "end").alias("end_ns"),
                pl.col("value").cast(pl.Float64, strict=False),
            )

    def _processes(self, ops: pl.Series) -> pl.Series:
        """The process of each op, that of its dispatch, because views join both by it; 0 of ops that are not there."""
        if self._entities.processes.height == 1:
            return pl.zeros(ops.len(), pl.UInt32, eager=True)
        threads = self._entities.thread_of(self._entities.launch_of(ops))
        return self._entities.process_of_work(threads, self._gpus_of_ops.take("gpuId", ops)).fill_null(0)

    @cached_property
    def _gpus_of_ops(self) -> Keyed:
        """op id -> `gpuId`."""
        return keyed(self._database, "rocpd_op", "id", {"gpuId": pl.Int64})

    @cached_property
    def _info(self) -> pl.DataFrame:
        """One row per process and name."""
        pieces = self._database.chunks("rocpd_counter", {"op_id": pl.Int64, "name_id": pl.Int64})
        pairs_of = ({"process": self._processes(piece["op_id"]), "name_id": piece["name_id"]} for piece in pieces)
        parts = [pl.DataFrame(columns).unique() for columns in pairs_of]
        empty = pl.DataFrame(schema={"process": pl.UInt32, "name_id": pl.Int64})
        pairs = pl.concat([empty, *parts]).unique().sort("process", "name_id").with_row_index("counter")
        name = self._entities.strings.take("string", pairs["name_id"]).cast(pl.String).alias("name")
        return pairs.with_columns(name, counter_id=pl.col("name_id"))

    def _counters(self) -> Iterator[pl.DataFrame]:
        types = {"op_id": pl.Int64, "name_id": pl.Int64, "value": pl.Float64}
        info = self._info.select("process", "name_id", "counter")
        for piece in self._database.chunks("rocpd_counter", types):
            event = piece["op_id"] + self._ops.event_offset
            rows = piece.with_columns(process=self._processes(piece["op_id"]), event=event)
            yield rows.join(info, on=["process", "name_id"], how="left", maintain_order="left", nulls_equal=True)


def read_rpd(database: Database) -> RpdSource:
    """The run in an RPD file; its tables are read when they are asked for.

    Raises `NotATraceError` when the file has no GPU work at all to offer: its table of ops is missing.
    """
    if "rocpd_op" not in database.tables:
        raise NotATraceError("not an RPD file: it has no table rocpd_op", where=str(database.path))
    return RpdSource(database)


class RpdSource:
    """An RPD file as a `RunSource`."""

    format = "RPD"

    def __init__(self, database: Database) -> None:
        self.path = str(database.path)
        self.losses: list[Loss] = database.losses
        self.database = database
        self._entities = Entities(database)
        self._ops = Ops(self._entities)
        self._calls = Calls(self._entities)
        self._measured = Measurements(self._entities, self._ops)
        self.version = self._entities.metadata.get("schema_version", "")
        self.extras: Mapping[str, pl.DataFrame] = extras_of(database)
        note_missing_in_file(database, self.version)

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of a table in pieces."""
        if table in ("dispatches", "copies"):
            yield from self._ops.chunks(table, columns)
        elif table in ("regions", "samples", "arguments", "frames"):
            yield from self._calls.chunks(table, columns)
        elif table in ("monitors", "counters", "counter_info"):
            yield from self._measured.chunks(table, columns)
        elif table in _NUMBERED and (frame := _numbered(self._entities, table)).height:
            yield shaped(frame, table, columns)


def _numbered(entities: Entities, table: str) -> pl.DataFrame:
    """The numbered rows of a table of `_NUMBERED`; ids of node n are n times the stride above its own."""
    if table == "nodes":
        return entities.nodes
    if table == "processes":
        rows = entities.processes.join(entities.nodes, on="node_id", how="left", maintain_order="left")
        return rows.with_columns(source=pl.lit(0, pl.UInt32), guid=pl.lit(""))
    if table == "threads":
        stride = entities.pid_stride
        return entities.threads.with_columns(pl.col("tid") % stride) if stride else entities.threads
    if table == "agents":
        number = pl.col("gpuId") % entities.gpu_stride if entities.gpu_stride else pl.col("gpuId")
        columns = {"agent_id": pl.col("gpuId"), "kind": pl.lit("GPU"), "absolute_index": number}
        return entities.agents.with_columns(properties=_json("gpuId"), **columns)
    if table == "queues":
        return entities.queues.with_columns(queue_id=pl.col("queueId"), properties=_json("gpuId"))
    return entities.streams.with_columns(name=pl.col("text").cast(pl.String))


_NUMBERED = ("nodes", "processes", "threads", "agents", "queues", "streams")


def _json(column: str) -> pl.Expr:
    return pl.struct(column).struct.json_encode()


# --- tables that no run has ---


def extras_of(database: Database) -> TablesByName:
    """Every other table, as stored: ext_callstack, ext_autogradapi, ext_graph, rocpd_hsaApi, ...

    Ids of strings stay numbers.
    """

    def read(name: str) -> pl.DataFrame:
        # In columns of numbers an empty string means null, so types depend on the strings.
        texts = database.frame(name, dict.fromkeys(database.tables[name], pl.String))
        return texts.select(_narrowed(texts[column]) for column in texts.columns)

    run_tables = REQUIRED.keys() - {"rocpd_metadata"}  # became tables of the run
    names = [name for name in database.tables if name not in run_tables and not name.startswith(("sqlite_", "temp_"))]
    return TablesByName(names, read)


def _narrowed(texts: pl.Series) -> pl.Series:
    """Integers or floating-point numbers where all strings are numbers; empty strings are null then."""
    values = texts.set(texts == "", None)
    for dtype in (pl.Int64, pl.Float64):
        numbers = values.cast(dtype, strict=False)
        if values.null_count() < values.len() and numbers.null_count() == values.null_count():
            return numbers
    return texts


# --- the tables and columns that an RPD file of a schema must have, because the reader needs them ---


_SCHEMA = packaged("schema.toml", __package__)
REQUIRED: dict[str, list[str]] = _SCHEMA["columns"]  #: Of tables that a file has, whatever its schema.
_MORE: dict[str, dict[str, list[str]]] = _SCHEMA["more"]  #: Schema -> columns that others lack.


def required(version: str) -> dict[str, tuple[str, ...]]:
    """Table -> columns of a schema.

    >>> required("2")["rocpd_op"][-1]
    'completionSignal'
    """
    more = _MORE.get(version, {})
    return {table: (*names, *more.get(table, ())) for table, names in REQUIRED.items()}


def note_missing_in_file(database: Database, version: str) -> None:
    """Record as losses the parts that a file lacks."""
    tables = [*_SCHEMA["tables"], *(_SCHEMA["of_schemas"] if version in _MORE else ())]
    note_missing(database, required(version), tables)
