"""Measurements of an RPD file: clocks and power of devices, hardware counters of ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import polars as pl

from wavewright.readers.run.event_rows import shaped
from wavewright.readers.run.rpd.entities import Entities, Keyed
from wavewright.readers.run.rpd.ops import Ops


class Measurements:
    """Chunks of `monitors`, `counters` and `counter_info`."""

    def __init__(self, entities: Entities, ops: Ops) -> None:
        self._entities, self._ops = entities, ops
        self._database = entities.database

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of a table, with these columns."""
        pieces = {"monitors": self._monitors, "counters": self._counters}.get(table, lambda: iter([self._info]))()
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
        """The process that launched each op; else the first one."""
        return self._entities.process_of(self._entities.thread_of(self._entities.launch_of(ops))).fill_null(0)

    @cached_property
    def _info(self) -> pl.DataFrame:
        """One row per process and name."""
        parts = [
            pl.DataFrame({"process": self._processes(piece["op_id"]), "name_id": piece["name_id"]}).unique()
            for piece in self._database.chunks("rocpd_counter", {"op_id": pl.Int64, "name_id": pl.Int64})
        ]
        empty = pl.DataFrame(schema={"process": pl.UInt32, "name_id": pl.Int64})
        pairs = pl.concat([empty, *parts]).unique().sort("process", "name_id").with_row_index("counter")
        name = self._entities.strings.take("string", pairs["name_id"]).cast(pl.String).alias("name")
        return pairs.with_columns(name, counter_id=pl.col("name_id"))

    def _counters(self) -> Iterator[pl.DataFrame]:
        types = {"op_id": pl.Int64, "name_id": pl.Int64, "value": pl.Float64}
        info = self._info.select("process", "name_id", "counter")
        for piece in self._database.chunks("rocpd_counter", types):
            rows = piece.with_columns(
                process=self._processes(piece["op_id"]), event=piece["op_id"] + self._ops.first_event
            )
            yield rows.join(info, on=["process", "name_id"], how="left", maintain_order="left", nulls_equal=True)
