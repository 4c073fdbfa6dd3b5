"""RPD files (rocmProfileData, schema 2 and 3) as a run.

The file has a list of CPU calls, a list of GPU work, and links between them. Calls become regions (marks without
duration: samples), GPU work becomes dispatches and copies. The id of a call is its correlation, shared by all the work
it launched. A call and an op may have the same id, so the event of an op is its id above the highest id of a call;
`dispatch_id` is the id itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.event_rows import shaped
from wavewright.readers.run.rpd.calls import Calls
from wavewright.readers.run.rpd.entities import Entities
from wavewright.readers.run.rpd.extras import extras_of, note_missing_in_file
from wavewright.readers.run.rpd.measurements import Measurements
from wavewright.readers.run.rpd.ops import Ops


def read_rpd(database: Database) -> RpdSource:
    """The run in an RPD file; its tables are read when they are asked for.

    Raises
    ------
    NotATraceError
        When the file has no GPU work at all to offer: its table of ops is missing.
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
    """The numbered rows of a table, with what is told about them."""
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
        return entities.agents.with_columns(
            agent_id=pl.col("gpuId"), kind=pl.lit("GPU"), absolute_index=number, properties=_json("gpuId")
        )
    if table == "queues":
        return entities.queues.with_columns(queue_id=pl.col("queueId"), properties=_json("gpuId"))
    return entities.streams.with_columns(name=pl.col("text").cast(pl.String))


_NUMBERED = ("nodes", "processes", "threads", "agents", "queues", "streams")


def _json(column: str) -> pl.Expr:
    return pl.struct(column).struct.json_encode()
