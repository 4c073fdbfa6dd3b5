"""Comparisons for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.report.kit.tables import Column, frame_table, printable, short, truncation

if TYPE_CHECKING:
    from rich.console import RenderableType

    from wavescope.analysis.trace.compare import Comparison

_CLASSES = 6


def compare_report(answer: Comparison, *, limit: int, everything: bool = False) -> list[RenderableType]:
    """A verdict for every trace, the traces, then what differs, largest difference first.

    `everything` shows differences within noise too, grey.
    """
    others = range(1, answer.traces.height)
    parts: list[RenderableType] = [Text(printable(answer.verdict(number)), "bold") for number in others]
    if answer.different_kernels:
        parts.append(Text("these are different kernels: what is matched may not correspond", "bold yellow"))
    elif answer.matched_share < 0.5:
        share = f"{100 * answer.matched_share:.0f} %"
        warning = f"only {share} of the first trace's cost is on code that the others have too"
        parts.append(Text(warning, "bold yellow"))
    parts += [Text(), frame_table(answer.traces, _TRACES, limit=limit, what="traces"), _noise(answer)]
    for number in others:
        parts += [Text(), *_differences(answer, number, limit, everything=everything)]
    return parts


def _noise(answer: Comparison) -> Text:
    if answer.noise_from == "repeats":
        source = f"{answer.repeat_count} repeated dispatches"
    else:
        source = "the spread between waves (other runs may differ more; --repeat PATH measures it)"
    return Text(f"noise from {source}; all values are cycles per wave", "dim")


def _differences(answer: Comparison, number: int, limit: int, *, everything: bool) -> list[RenderableType]:
    units = answer.units.filter(pl.col("trace") == number)
    beyond = answer.beyond(number)
    names = answer.traces["label"].to_list()
    unknown = units.filter(pl.col("beyond_noise").is_null())
    chosen = units if everything or unknown.height == units.height else beyond
    within = units.height - beyond.height
    title = f"{names[number]} against {names[0]}"
    what = f"{answer.by}s" if chosen.height == units.height else f"{answer.by}s that differ beyond noise"
    parts: list[RenderableType] = []
    if chosen.height:
        columns = _units(answer, names[0], names[number])
        parts.append(frame_table(chosen, columns, limit=limit, what=what, title=title))
    if within and chosen.height != units.height:
        rest = float(units.filter(~pl.col("beyond_noise").fill_null(value=False))["delta_share"].sum())
        hidden = f"{within:,} {answer.by}s differ within noise, together {100 * rest:+.1f} %; --all shows them"
        parts.append(Text(hidden, "dim"))
    classes = answer.stall_classes.filter((pl.col("trace") == number) & (pl.col("delta_cycles_per_wave") != 0))
    if classes.height:
        extent = truncation(min(classes.height, _CLASSES), classes.height, "classes")
        changes = ", ".join(
            f"{row['class']} {_signed(row['delta_cycles_per_wave'])} (of {short(row['base_stall_cycles_per_wave'])})"
            for row in classes.head(_CLASSES).iter_rows(named=True)
        )
        parts.append(Text.assemble((f"stalls, {extent}: ", "bold"), printable(changes)))
    return parts


def _signed(cycles: float) -> str:
    return f"{'+' if cycles > 0 else '-' if cycles < 0 else ''}{short(abs(cycles))}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f} %"


def _bound(value: float | None) -> str:
    return "?" if value is None else f"{100 * value:.1f} %"


_TRACES = (
    Column("", lambda row: row["label"], is_text=True),
    Column("waves", lambda row: f"{row['wave_count']:,}"),
    Column("instructions", lambda row: short(row["instructions_per_wave"])),
    Column("cycles mean", lambda row: short(row["duration_cycles_mean"])),
    Column("change", lambda row: _share(row["duration_delta_share"]) if row["trace"] else ""),
    Column("noise", lambda row: _bound(row["duration_noise_share"])),
    Column("stall", lambda row: short(row["stall_cycles_per_wave"])),
    Column("idle", lambda row: short(row["idle_cycles_per_wave"] or 0)),
    Column("per SIMD", lambda row: "" if row["waves_per_simd_mean"] is None else f"{row['waves_per_simd_mean']:.2f}"),
    Column("path", lambda row: "/".join(row["path"].rstrip("/").rsplit("/", 2)[-2:]), takes_rest=True),
)


def _units(answer: Comparison, base: str, other: str) -> tuple[Column, ...]:
    def toned(row: dict[str, Any], text: str) -> Text:
        if not row["beyond_noise"] and row["beyond_noise"] is not None:
            return Text(text, "dim")
        return Text(text, "red" if row["delta_cycles_per_wave"] > 0 else "green")

    def place(row: dict[str, Any]) -> str:
        address = row["address"] if row["address"] is not None else row["base_address"]
        return "" if address is None else f"{address:#x}"

    named = [Column("address", place)] if answer.by == "instruction" else []
    return (
        Column("delta", lambda row: toned(row, _signed(row["delta_cycles_per_wave"]))),
        Column("of all", lambda row: toned(row, _share(row["delta_share"]))),
        Column("noise", lambda row: _cycles(row["noise_cycles_per_wave"])),
        Column("speed", lambda row: _signed(row["speed_cycles_per_wave"])),
        Column(base, lambda row: short(row["base_cost_cycles_per_wave"])),
        Column(other, lambda row: short(row["cost_cycles_per_wave"])),
        Column(f"hits {base}", lambda row: _count(row["base_hit_count_per_wave"])),
        Column(f"hits {other}", lambda row: _count(row["hit_count_per_wave"])),
        *named,
        Column("", lambda row: "" if row["change"] == "same" else row["change"], is_text=True),
        Column(answer.by, _label, takes_rest=True),
    )


def _cycles(value: float | None) -> str:
    return "?" if value is None else short(value)


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else short(value)


def _label(row: dict[str, Any]) -> str:
    label, base = row["label"], row["base_label"]
    if label is None or base is None or label == base:
        return label or base or ""
    return f"{label}  was: {base}"
