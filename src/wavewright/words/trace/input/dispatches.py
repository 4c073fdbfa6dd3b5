"""All dispatches of an input, one row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.base.words import counted, percent
from wavewright.model.blocks import AnyBlock, Cell, Named, Sentence, Table
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table

_OPTIONAL = ("kernel", "agent", "shader_engines", "instructions", "unresolved", "span_cycles", "byte_count", "folder")


def dispatch_table(rows: pl.DataFrame) -> Table:
    """One row per dispatch, `>` at the one that verbs show.

    The columns are declared in `trace/input_dispatches.toml`; `has_NAME` are their conditions.
    """
    conditions = {f"has_{name}": name in rows.columns and _is_worth_a_column(rows, name) for name in _OPTIONAL}
    empty = int(rows["is_placeholder"].sum()) if "is_placeholder" in rows.columns else 0
    note = f", {counted(empty, 'of them empty placeholders')}" if empty else ""
    return declared_table(
        "trace/input_dispatches/dispatches",
        rows,
        rows=f"dispatches{note}",
        **conditions,  # type: ignore[arg-type]
        mark=lambda row: ">" if row["is_chosen"] else "",
        key=lambda row: _key(row["key"]),
        kernel=_kernel,
        waves=_waves,
        unresolved=lambda row: percent(row["unresolved"] / (row["instructions"] or 1)),
    )


def chosen_line(rows: pl.DataFrame) -> Iterator[AnyBlock]:
    """The dispatch that verbs show of several, and the way to choose another; nothing where that could not be read."""
    row = next((row for row in rows.iter_rows(named=True) if row["is_chosen"]), None)
    if row is None or rows.height < 2:
        return
    kernel = f" ({brief_kernel(row['kernel'], 40)})" if row["kernel"] else ""
    yield Sentence(
        f"Showing dispatch {row['key']}{kernel}. {counted(rows.height - 1, 'more dispatches')} here; "
        "use --dispatch or --kernel"
    )


def _is_worth_a_column(rows: pl.DataFrame, name: str) -> bool:
    """Agents and folders are shown where they differ, unresolved instructions where there are any, the rest always."""
    if name in ("agent", "folder"):
        return rows[name].n_unique() > 1
    return name != "unresolved" or bool(rows[name].sum())


def _key(key: str) -> str:
    return Cell.of(Named(key, handle="d")) if key.isdigit() else key or "-"  # a handle d7 needs a number


def _kernel(row: dict[str, Any]) -> str:
    if row.get("is_placeholder"):
        return "empty placeholder"
    more = f" and {row['kernel_count'] - 1:,} more" if row.get("kernel_count", 0) > 1 else ""
    return (brief_kernel(row["kernel"], 1 << 16) if row["kernel"] else "not known") + more


def _waves(row: dict[str, Any]) -> str:
    cut = row["waves"] - row.get("waves_complete", row["waves"])
    return f"{row['waves']:,}" + (f" ({cut:,} cut)" if cut else "")
