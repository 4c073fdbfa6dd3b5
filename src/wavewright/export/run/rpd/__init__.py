"""A run as an RPD file (rocmProfileData, schema 3)."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from wavewright.base.sql import quoted
from wavewright.export.kit.sqlite_file import check_beside, new_database
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.rpd.file import RpdFile
from wavewright.export.run.rpd.process import ProcessWriter
from wavewright.export.run.rpd.sql_schema import METADATA, TABLES, VIEWS
from wavewright.model.losses import Loss

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from wavewright.model.run import Run

_FILE_BITS = 32  #: Ids of process n start at n << 32.
_RPD = "RPD"
_NOT_HELD = ("allocations",)


def write_rpd(run: Run, out: str | os.PathLike[str], *, force: bool = False) -> Written:
    """Write a run of any origin as one RPD file.

    Calls become rows of `rocpd_api`, dispatches and copies rows of `rocpd_op`, linked by their correlation. Markers are
    calls `UserMarker` with the text as arguments. GPUs and processes of several nodes are distinguished by strides.
    Rows that the format cannot store (allocations, registers, streamed counters) are losses.
    """
    target = Path(out)
    check_beside(target)
    counts: Counter[str] = Counter()
    losses: list[Loss] = []
    with staged([target], force=force) as (twin,), new_database(twin) as connection:
        file = RpdFile(connection)
        has_own_ids = len(run.origins) == 1 and run.origins[0].format == _RPD
        above = _highest_call(run) if has_own_ids else 0
        number_by_node: dict[object, int] = {}
        number = 0
        for part in run.parts:
            nodes = _node_numbers(part, number_by_node)
            for process in range(part.table("processes").height):
                first = 0 if has_own_ids else number << _FILE_BITS
                pieces = partial(_pieces, part, process)
                writer = ProcessWriter(part, process, file, pieces, nodes=nodes, first_id=first, above=above)
                writer.write()
                counts += writer.counts
                number += 1
        losses += _without_dangling(file, counts)
        if has_own_ids:
            losses += _write_extras(file, run)
        file.finish()
    losses += _not_in_format(run, with_extras=not has_own_ids)
    return Written(target, dict(counts), losses)


def _highest_call(run: Run) -> int:
    """The offset that the reader adds to ids of GPU work to get its events."""
    events = [piece["event"].max() for table in ("regions", "samples") for piece in run.chunks(table, ["event"])]
    return max((event for event in events if isinstance(event, int)), default=0)


def _node_numbers(part: Run, number_by_node: dict[object, int]) -> list[int]:
    """The number of each node in the file: the same for a node that several sources name."""
    numbers = []
    for node, machine, host in part.table("nodes").select("node", "machine_id", "hostname").iter_rows():
        identity = (machine, host) if machine or host else (id(part), node)
        numbers.append(number_by_node.setdefault(identity, len(number_by_node)))
    return numbers


def _pieces(run: Run, process: int, table: str) -> Iterator[pl.DataFrame]:
    """The rows of one process; rows without a process belong to the first."""
    for piece in run.chunks(table):
        rows = piece.filter(pl.col("process").fill_null(0) == process)
        if rows.height:
            yield rows


def _without_dangling(file: RpdFile, counts: Counter[str]) -> Iterator[Loss]:
    for table, column, owner, name in (
        ("rocpd_counter", "op_id", "rocpd_op", "counters"),
        ("rocpd_stackframe", "api_ptr_id", "rocpd_api", "frames"),
    ):
        lost = file.connection.execute(
            f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {owner})"  # noqa: S608 - our own names
        ).rowcount
        if lost:
            counts[name] -= lost
            yield Loss("dangling_rows", lost, table)


def _write_extras(file: RpdFile, run: Run) -> Iterator[Loss]:
    """Tables of extensions, unchanged; their ids are valid because ids of an RPD file are retained."""
    for name, frame in run.origins[0].extras.items():
        if name == "rocpd_metadata":
            rows = [row for row in frame.select("tag", "value").iter_rows() if row[0] not in METADATA]
            file.connection.executemany("INSERT INTO rocpd_metadata (tag, value) VALUES (?, ?)", rows)
        elif name.lower() in (*TABLES, *VIEWS) or name.lower().startswith("sqlite_") or not frame.width:
            yield Loss("not_in_format", frame.height, name)
        else:
            columns = ", ".join(map(quoted, frame.columns))
            file.connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
            places = ", ".join("?" * frame.width)
            file.connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", frame.iter_rows())  # noqa: S608


def _not_in_format(run: Run, *, with_extras: bool) -> Iterator[Loss]:
    yield from left_out(run, _NOT_HELD)
    streamed = sum(len(piece["time_ns"].drop_nulls()) for piece in run.chunks("counters", ["time_ns"]))
    counts = {"counters over time": streamed}
    if with_extras:
        counts |= {name: run.table(name).height for name in run.extra_names if not name.endswith("_metadata")}
    yield from (Loss("not_in_format", count, name) for name, count in counts.items() if count)
