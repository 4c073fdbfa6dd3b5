"""Tables with one row per counter and dispatch (rocprofv3, ROCpd), split into passes with one column per counter.

Such a table does not say which pass a row is of. Executions of dispatches that have the same set of counters are one
pass; a dispatch that has the same set again was executed again, in another pass.
"""

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

_KEY = " execution"  #: Column of executions beside columns of counters, of which no name starts with a space.
_PASSES_MAX = 1000  #: No capture has as many: more are columns that were mixed up.
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
    first_rows = rows.drop("counter", "value").unique(_EXECUTION, keep="first", maintain_order=True)
    executions = first_rows.with_row_index("execution")
    key = executions.select("execution", *_EXECUTION)
    counts = rows.select(*_EXECUTION, "counter", "value")
    values = counts.join(key, on=_EXECUTION, how="left", nulls_equal=True, maintain_order="left")
    values = values.select("execution", "counter", "value")
    single = values.unique(["execution", "counter"], keep="first", maintain_order=True)
    if single.height < values.height:
        losses.append(Loss("counter_twice", values.height - single.height, detail=file.name))
    executions = executions.with_columns(pl.col("agent", "kernel_name", "kernel_name_spelled").cast(pl.String))
    numbered_rows = executions.with_columns(_pass_numbers(executions, single, file))
    passes = []
    for pass_rows in numbered_rows.partition_by("pass", maintain_order=True):
        pass_values = single.join(pass_rows.select("execution"), on="execution", how="semi", maintain_order="left")
        passes.append(_widened(pass_values, pass_rows.drop("pass"), name, file, form))
    return passes


def _widened(values: pl.DataFrame, rows: pl.DataFrame, name: str, file: Path, form: str) -> Pass:
    """The pass of some executions (`rows`) with one column per counter, named after its level counter if it has one."""
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
    """The number of the pass that each execution belongs to; see above. A set of counters stands as a hash of it."""
    hashes = values.group_by("execution").agg(set_hash=pl.col("counter").hash().bitwise_xor())
    sets = executions.join(hashes, on="execution", how="left", maintain_order="left")["set_hash"].to_list()
    keys = executions.select(_DISPATCH).rows()
    dispatches: dict[int, set[tuple[object, ...]]] = {}  # set of counters -> the dispatches that have it
    for counter_set, key in zip(sets, keys, strict=True):
        dispatches.setdefault(counter_set, set()).add(key)
    if len(dispatches) > _PASSES_MAX:
        raise _too_many(file, f"{len(dispatches):,} sets of counters")
    complete_sets = _complete_sets(values, sets, dispatches)
    pass_numbers: dict[tuple[int, int], int] = {}
    repeats: dict[tuple[int, tuple[object, ...]], int] = {}
    numbers = []
    for counter_set, key in zip((complete_sets.get(own_set, own_set) for own_set in sets), keys, strict=True):
        repeat = repeats.get((counter_set, key), 0)
        repeats[counter_set, key] = repeat + 1
        numbers.append(pass_numbers.setdefault((counter_set, repeat), len(pass_numbers)))
    if len(pass_numbers) > _PASSES_MAX:
        raise _too_many(file, f"{len(pass_numbers):,} executions of a dispatch")
    return pl.Series("pass", numbers, dtype=pl.UInt32)


def _too_many(file: Path, amount: str) -> NotATraceError:
    advice = "no capture has that many passes: are dispatch ids and counters in the right columns?"
    return NotATraceError(f"{amount} in one file", where=str(file), advice=advice)


def _complete_sets(
    values: pl.DataFrame, sets: Sequence[int], dispatches: dict[int, set[tuple[object, ...]]]
) -> dict[int, int]:
    """Set of counters -> the larger set that it is a part of, of whose pass it therefore is.

    Rows were lost where no dispatch has both sets: a dispatch that has both was executed in two passes.
    """
    if len(dispatches) < 2:
        return {}
    executions = {counter_set: sets.index(counter_set) for counter_set in dispatches}  # the first that has it
    rows_of = {counter_set: values.filter(values["execution"] == row) for counter_set, row in executions.items()}
    names = {counter_set: frozenset(rows["counter"]) for counter_set, rows in rows_of.items()}
    by_size = sorted(dispatches, key=lambda counter_set: -len(names[counter_set]))
    complete_sets: dict[int, int] = {}
    for part, part_names in names.items():
        for larger in by_size:
            if part_names < names[larger] and not dispatches[part] & dispatches[larger]:
                complete_sets[part] = larger
                dispatches[larger] |= dispatches[part]
                break
    return complete_sets
