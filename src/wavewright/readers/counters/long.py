"""A table with one row per counter and dispatch, split into passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wavewright.errors import NotATraceError
from wavewright.model.counters import ACCUMULATED
from wavewright.model.losses import Loss
from wavewright.readers.counters.execution import Pass, Spelled, bounded, described
from wavewright.readers.counters.names import Named, counter_named, level_of
from wavewright.readers.counters.table import Table

_KEY = " execution"  #: Of a pivot: no counter is called so.
_PASSES_MAX = 1000
_DISPATCH = ("process_id", "agent", "dispatch_id", "kernel_name", "grid_size", "workgroup_size", "lds_bytes")
_EXECUTION = (*_DISPATCH, "start_ns", "end_ns")
_TEXTS = ("agent", "kernel_name", "kernel_name_spelled", "counter")


def is_long(table: Table) -> bool:
    """True if a table has one row per counter and dispatch."""
    return table.index("counter_name") is not None and table.index("counter_value") is not None


def long_rows(table: Table) -> pl.DataFrame:
    """The rows of a long table in our columns, texts that repeat as categories; other tables as they are."""
    if not is_long(table):
        return table.frame
    counter = table.frame[str(table.index("counter_name"))].str.strip_chars()
    value = table.frame[str(table.index("counter_value"))]
    rows = described(table).with_columns(counter.alias("counter"), value.alias("value"))
    if (counter == "").any():
        rows = rows.with_columns(pl.when(pl.col("counter") != "").then("counter").alias("counter"))
    return bounded(rows, "counter").with_columns(pl.col(_TEXTS).cast(pl.Categorical))


def long_passes(table: Table, name: str, losses: list[Loss]) -> list[Pass]:
    """The passes of a table read by `long_rows`: the same dispatch with other times is another execution of it."""
    rows = table.frame
    sound = rows.select("kernel_name", "dispatch_id", "counter", "value").null_count().sum_horizontal().item() == 0
    if not sound:
        complete_rows = rows.drop_nulls(["kernel_name", "dispatch_id", "counter", "value"])
        losses.append(Loss("counter_rows", rows.height - complete_rows.height, detail=table.file.name))
        rows = complete_rows
    return passes_of_values(rows, name, table.file, "long", losses)


def passes_of_values(rows: pl.DataFrame, name: str, file: Path, form: str, losses: list[Loss]) -> list[Pass]:
    """Passes of rows with the columns of `described`, `counter` and `value`; first values win."""
    executions = (
        rows.drop("counter", "value").unique(_EXECUTION, keep="first", maintain_order=True).with_row_index("execution")
    )
    key = executions.select("execution", *_EXECUTION)
    values = rows.select(*_EXECUTION, "counter", "value").join(
        key, on=_EXECUTION, how="left", nulls_equal=True, maintain_order="left"
    )
    values = values.select("execution", "counter", "value")
    single = values.unique(["execution", "counter"], keep="first", maintain_order=True)
    if single.height < values.height:
        losses.append(Loss("counter_twice", values.height - single.height, detail=file.name))
    executions = executions.with_columns(pl.col("agent", "kernel_name", "kernel_name_spelled").cast(pl.String))
    numbered_rows = executions.with_columns(_pass_numbers(executions, single, file))
    passes = []
    for pass_rows in numbered_rows.partition_by("pass", maintain_order=True):
        pass_values = single.join(pass_rows.select("execution"), on="execution", how="semi", maintain_order="left")
        passes.append(_one(pass_values, pass_rows.drop("pass"), name, file, form))
    return passes


def _one(values: pl.DataFrame, rows: pl.DataFrame, name: str, file: Path, form: str) -> Pass:
    values = values.rename({"execution": _KEY})
    wide = values.pivot(on="counter", index=_KEY, values="value")
    executions = rows.select(pl.col("execution").alias(_KEY))
    wide = executions.join(wide, on=_KEY, how="left", maintain_order="left").drop(_KEY)
    columns_by_counter: dict[str, tuple[Spelled, pl.Series]] = {}
    level = None
    for header in wide.columns:
        own_level = level_of(header)
        counter = counter_named(header)
        if own_level and level is None:
            level, counter = own_level, Named(ACCUMULATED, None, ACCUMULATED)
        columns_by_counter.setdefault(counter.column, (Spelled(counter, header), wide[header].alias(counter.column)))
    frame = pl.DataFrame([column for _, column in columns_by_counter.values()])
    counters = [header for header, _ in columns_by_counter.values()]
    return Pass(level or name, file, form, rows.drop("execution"), frame, counters)


def _pass_numbers(executions: pl.DataFrame, values: pl.DataFrame, file: Path) -> pl.Series:
    """Executions with the same counters are one pass; the same dispatch again with the same counters is another one."""
    of_execution = values.group_by("execution").agg(sign=pl.col("counter").hash().bitwise_xor())
    signs = executions.join(of_execution, on="execution", how="left", maintain_order="left")["sign"].to_list()
    keys = executions.select(_DISPATCH).rows()
    dispatches: dict[int, set[tuple[object, ...]]] = {}
    for sign, key in zip(signs, keys, strict=True):
        dispatches.setdefault(sign, set()).add(key)
    if len(dispatches) > _PASSES_MAX:
        raise _too_many(file, f"{len(dispatches):,} sets of counters")
    instead = _incomplete(values, signs, dispatches)
    pass_numbers: dict[tuple[int, int], int] = {}
    repeats: dict[tuple[int, tuple[object, ...]], int] = {}
    numbers = []
    for sign, key in zip((instead.get(sign, sign) for sign in signs), keys, strict=True):
        repeat = repeats.get((sign, key), 0)
        repeats[sign, key] = repeat + 1
        numbers.append(pass_numbers.setdefault((sign, repeat), len(pass_numbers)))
    if len(pass_numbers) > _PASSES_MAX:
        raise _too_many(file, f"{len(pass_numbers):,} executions of a dispatch")
    return pl.Series("pass", numbers, dtype=pl.UInt32)


def _too_many(file: Path, amount: str) -> NotATraceError:
    advice = "no capture has that many passes: are dispatch ids and counters in the right columns?"
    return NotATraceError(f"{amount} in one file", where=str(file), advice=advice)


def _incomplete(
    values: pl.DataFrame, signs: Sequence[int], dispatches: dict[int, set[tuple[object, ...]]]
) -> dict[int, int]:
    """Sets of counters that are part of a larger set, of dispatches that the larger one lacks: rows were lost."""
    if len(dispatches) < 2:
        return {}
    first = {sign: signs.index(sign) for sign in dispatches}
    names = {sign: frozenset(values.filter(values["execution"] == row)["counter"]) for sign, row in first.items()}
    larger = sorted(dispatches, key=lambda sign: -len(names[sign]))
    by_pass: dict[int, int] = {}
    for sign, pass_names in names.items():
        for other in larger:
            if pass_names < names[other] and not dispatches[sign] & dispatches[other]:
                by_pass[sign] = other
                dispatches[other] |= dispatches[sign]
                break
    return by_pass
