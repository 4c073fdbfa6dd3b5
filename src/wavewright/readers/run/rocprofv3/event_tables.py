"""Records of rocprofv3, from CSV or JSON, as tables of a run: dispatches, counters, memory, calls."""

from __future__ import annotations

import polars as pl

from wavewright.model.losses import Loss
from wavewright.readers.run.event_rows import link, numbered

_REGISTERS = ("sgpr_count", "vgpr_count", "accum_vgpr_count")


def add_events(tables: dict[str, pl.DataFrame], events: dict[str, pl.DataFrame], losses: list[Loss]) -> None:
    """Put events (dispatches, counters, copies, allocations, scratch, regions) into `tables`."""
    if "dispatches" in events or "counters" in events:
        _add_dispatches(tables, events, losses)
    if "copies" in events:
        tables["copies"] = events["copies"]
    _add_allocations(tables, events)
    if "regions" in events:
        _add_regions(tables, events["regions"])


def _add_dispatches(tables: dict[str, pl.DataFrame], events: dict[str, pl.DataFrame], losses: list[Loss]) -> None:
    """Dispatches numbered as events, kernel symbols where none are recorded, and values of counters."""
    dispatches = events.get("dispatches")
    counter_rows = events.get("counters")
    if counter_rows is not None:
        dispatches = _with_counted(dispatches, counter_rows, losses)
    if dispatches is None:
        return
    dispatches = dispatches.with_row_index("event")
    if "symbol_id" in dispatches.columns and "symbols" not in tables:
        registers = [name for name in _REGISTERS if name in dispatches.columns]
        by_symbol = dispatches.drop_nulls("symbol_id").group_by("process", "symbol_id")
        symbols = by_symbol.agg(pl.col("name", *registers).first()).sort("process", "symbol_id")
        tables["symbols"] = symbols.with_row_index("symbol")
    if "symbols" in tables:
        dispatches = link(dispatches, tables["symbols"], ["process", "symbol_id"], "symbol")
    tables["dispatches"] = dispatches
    if counter_rows is not None:
        values = counter_rows.drop("agent", "name", "counter", strict=False)
        values = values.with_columns(name=counter_rows["counter"].cast(pl.String))
        info = numbered([values], ["process", "name"], "counter")
        values = link(values, info, ["process", "name"], "counter")
        keys = ["process", "dispatch_id"]
        values = link(values, dispatches.unique(keys, keep="first", maintain_order=True), keys, "event")
        tables["counter_info"], tables["counters"] = info, values


def _with_counted(dispatches: pl.DataFrame | None, counted: pl.DataFrame, losses: list[Loss]) -> pl.DataFrame:
    """The dispatches, and dispatches that only counter rows record; a dispatch has many counter rows."""
    keys = ["process", "dispatch_id"]
    single = counted.drop("counter", "value").unique(keys, keep="first", maintain_order=True)
    if dispatches is not None and "dispatch_id" not in dispatches.columns:
        dispatches = _with_ids(dispatches, single)
    if dispatches is not None and "dispatch_id" in dispatches.columns:
        single = single.join(dispatches.select(keys).unique(), on=keys, how="anti", maintain_order="left")
    if "start_ns" not in single.columns and single.height:
        losses.append(Loss("no_times", single.height, detail="the file of counters has no times"))
    return pl.concat([dispatches, single], how="diagonal_relaxed") if dispatches is not None else single


def _with_ids(dispatches: pl.DataFrame, rows_of_counters: pl.DataFrame) -> pl.DataFrame:
    """Dispatches of ROCm 6.2, which the kernel trace does not number, with the ids of those that their call counted."""
    call = ["process", "correlation", "name"]
    if not set(call) <= set(dispatches.columns) & set(rows_of_counters.columns):
        return dispatches
    # The nth dispatch of a call is the nth counted one, where both files have the same number of them.
    turn = [pl.int_range(pl.len()).over(call).alias("turn"), pl.len().over(call).alias("turns")]
    ids = rows_of_counters.sort("dispatch_id").select(*call, "dispatch_id", *turn)
    rows = dispatches.with_row_index("row").sort("start_ns").with_columns(turn)
    rows = rows.join(ids, on=[*call, "turn", "turns"], how="left", maintain_order="left")
    return rows.sort("row").drop("row", "turn", "turns")


def _add_allocations(tables: dict[str, pl.DataFrame], events: dict[str, pl.DataFrame]) -> None:
    """Allocations and releases of memory, scratch memory included, in ROCpd's words."""
    parts = []
    for kind in ("allocations", "scratch"):
        if kind not in events:
            continue
        frame, operation = events[kind], pl.col("operation").cast(pl.String).str.to_uppercase()
        level = pl.when(operation.str.contains("VMEM|VIRTUAL")).then(pl.lit("VIRTUAL")).otherwise(pl.lit("REAL"))
        kind_name = operation.str.extract("(ALLOC|FREE|RECLAIM)(?:ATE)?$").fill_null(operation)
        columns = [kind_name.alias("type"), (pl.lit("SCRATCH") if kind == "scratch" else level).alias("level")]
        if "address" in frame.columns:
            address = pl.col("address")
            as_hex = address.str.strip_prefix("0x").str.to_integer(base=16, strict=False)
            number = address.cast(pl.Int64, strict=False)
            columns.append(pl.when(address.str.starts_with("0x")).then(as_hex).otherwise(number).alias("address"))
        if "flags" in frame.columns:
            flags = pl.col("flags").str.extract(r"(-?\d+)")
            columns.append(pl.concat_str(pl.lit('{"flags": "'), flags, pl.lit('"}')).alias("properties"))
        parts.append(frame.with_columns(columns))
    if parts:
        tables["allocations"] = pl.concat(parts, how="diagonal_relaxed")


def _add_regions(tables: dict[str, pl.DataFrame], calls: pl.DataFrame) -> None:
    """Calls and marker ranges as regions; those without duration as samples, as in ROCpd."""
    category = pl.col("category").cast(pl.String) if "category" in calls.columns else pl.lit("")
    calls = calls.with_columns(category.str.splitn("_", 2).struct.field("field_0").alias("domain"))
    if "function" not in calls.columns:
        is_marker = pl.col("domain") == "MARKER"  # its name is in the column of the function of other calls
        calls = calls.with_columns(pl.when(~is_marker).then(pl.col("name")).alias("function"))
    lasts = pl.col("start_ns") != pl.col("end_ns")
    tables["regions"] = calls.filter(lasts)
    tables["samples"] = calls.filter(~lasts).with_columns(time_ns="start_ns")
