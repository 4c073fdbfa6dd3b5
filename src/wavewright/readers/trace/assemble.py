"""Records of the native core, one set per shader engine, into the tables of one `ThreadTrace`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright import _core
from wavewright.base.shown import shown
from wavewright.model.losses import CORE_LOSSES, Loss, loss_frame
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace

CAPTURED = "code object of the capture"  #: kernels.resource_origin of values from the code objects of the capture.
STATUS = ("ok", "empty", "too_short", "no_payload", "unknown_header", "stopped")  #: wavewright::Status by number.
_FLAGS = {"start", "is_ext", "complete"}  #: Columns that the core delivers as bytes and that mean yes or no.
_RENAMED = {"counters": "sampled_counters"}  #: Tables of the core that have another name in the model.
_WITHOUT_ENGINE = ("instructions", "states", "info", "losses")
_ENTERING = ("waves", "occupancy", "dispatches")  #: Tables that name kernel entries.
_LONG = ("instructions", "states")  #: Tables that take most of the memory of a trace.


def tables_of(records: Sequence[_core.Records], shader_engines: Sequence[int]) -> dict[str, pl.DataFrame]:
    """Every table of the core over all shader engines; `se` added, flags as booleans. The long ones leave `records`."""
    shorter = short_tables_of(records, shader_engines)
    return shorter | {name: pl.DataFrame(table) for name, table in _core.joined_rows(records).items()}


def short_tables_of(records: Sequence[_core.Records], shader_engines: Sequence[int]) -> dict[str, pl.DataFrame]:
    """Every table of the core but instructions and states, over all shader engines; see `tables_of`."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for record, se in zip(records, shader_engines, strict=True):
        for name, table in _core.tables(record).items():
            if name in _LONG:
                continue
            frame = pl.DataFrame(table)
            if name not in _WITHOUT_ENGINE:
                frame = frame.select(pl.lit(se, pl.UInt16).alias("se"), pl.all())
                frame = frame.with_columns(pl.col(c).cast(pl.Boolean) for c in frame.columns if c in _FLAGS)
            parts.setdefault(_RENAMED.get(name, name), []).append(frame)
    # One chunk each: polars (2.1) panics on some expressions over columns with an empty chunk, which filters make.
    return {name: pl.concat(frames, rechunk=True) for name, frames in parts.items()}


def entries_of(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The distinct kernel entries that waves, occupancy and dispatches name, numbered by place in `kernel`."""
    places = [_entry_columns(tables[name], name) for name in _ENTERING]
    return pl.DataFrame(_core.distinct_entries(places)).with_row_index("kernel")


def with_kernel_numbers(tables: dict[str, pl.DataFrame], entries: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The tables of the model: kernel numbers joined in, columns selected and ordered as in the schema."""
    result = dict(tables)
    entry_columns = (entries["code_object"], entries["address"])
    for name in _ENTERING:
        numbers = pl.DataFrame(_core.entry_numbers(_entry_columns(tables[name], name), entry_columns))
        result[name] = tables[name].with_columns(numbers["kernel"])
    slot = pl.int_range(pl.len(), dtype=pl.UInt32).over("se", "simd", "slot").alias("slot_wave")
    result["waves"] = result["waves"].with_row_index("wave").with_columns(slot)
    return {
        name: frame.select(THREAD_TRACE[name].names)
        for name, frame in result.items()
        if name in THREAD_TRACE and name not in ("markers", "losses")
    }


def _entry_columns(table: pl.DataFrame, name: str) -> tuple[pl.Series, pl.Series]:
    """The two columns of a table of the core that name a kernel entry."""
    before = "entry_" if name == "waves" else ""
    return table[f"{before}code_object"], table[f"{before}address"]


def shader_engine_frame(records: Sequence[_core.Records], engines: Sequence[int], names: Sequence[str]) -> pl.DataFrame:
    """The `shader_engines` table: one row per raw buffer."""
    spec = THREAD_TRACE["shader_engines"]
    rows = []
    for record, se, name in zip(records, engines, names, strict=True):
        row = {c.name: getattr(record, c.name, None) for c in spec.columns}
        rows.append(row | {"se": se, "file": shown(name), "status": STATUS[record.status]})
    return pl.DataFrame(rows, schema=spec.dtypes)


def losses_of_core(record: _core.Records, se: int) -> list[Loss]:
    """The core's losses of one buffer; many of one kind become one row, at the place of the first (0 = no place)."""
    frame = pl.DataFrame(_core.tables(record)["losses"])
    place = pl.col("time_cycles", "byte_offset").first()
    groups = frame.group_by("kind", maintain_order=True).agg(pl.col("count").sum(), place)
    losses = []
    for kind, count, time, offset in groups.select("kind", "count", "time_cycles", "byte_offset").iter_rows():
        losses.append(Loss(CORE_LOSSES[kind], count, se=se, time_cycles=time, byte_offset=offset))
    return losses


def add_losses(trace: ThreadTrace, losses: Sequence[Loss]) -> None:
    """Append losses to a trace."""
    if losses:
        losses_so_far = trace.tables.get("losses")  # `trace.losses` would read tables that add losses
        if losses_so_far is None:
            losses_so_far = trace.losses
        trace.tables["losses"] = pl.concat([losses_so_far, loss_frame(losses)])
