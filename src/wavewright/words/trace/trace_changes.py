"""Comparisons in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.compare.verdict import RELABELLED
from wavewright.base.words import counted, grouped, percent, short, truncation
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, headline, sentence
from wavewright.words.kit.frame_tables import Column, frame_table, hexadecimal

if TYPE_CHECKING:
    from wavewright.analysis.trace.compare import Comparison

_CLASSES = 6


def compare_report(answer: Comparison, *, limit: int, everything: bool = False) -> list[AnyBlock]:
    """A verdict for every trace, the traces, then what differs, largest difference first.

    `everything` shows differences within noise too, grey.
    """
    others = range(1, answer.traces.height)
    parts: list[AnyBlock] = [headline(answer.verdict(number)) for number in others]
    if answer.different_kernels:
        parts.append(sentence(("these are different kernels: what is matched may not correspond", "bold yellow")))
    elif answer.matched_share < 0.5:
        share = f"{100 * answer.matched_share:.0f} %"
        warning = f"only {share} of the first trace's cost is on code that the others have too"
        parts.append(sentence((warning, "bold yellow")))
    parts += [GAP, frame_table(answer.traces, _traces(answer), limit=limit, what="traces")]
    parts.append(_noise(answer))
    for number in others:
        parts += [GAP, *_differences(answer, number, limit, everything=everything)]
    return parts


def _noise(answer: Comparison) -> Sentence:
    if answer.noise_from == "repeats":
        source = f"noise from {counted(answer.repeat_count, 'repeated dispatches')}"
    elif answer.unused_repeat_count:
        source = "one repetition cannot measure noise: give two or more --repeat PATH; spread between waves of one run"
    else:
        source = "spread between waves of one run, other runs differ more; two or more --repeat PATH measure the noise"
    untraced = int(answer.traces["untraced_wave_count"].sum())
    left_out = f"; {counted(untraced, 'waves')} without traced instructions left out" if untraced else ""
    return sentence((f"{source}; all values are cycles per wave{left_out}", "dim"))


def _spread(answer: Comparison) -> str:
    """The heading of the column of noise: what it bounds."""
    return "noise" if answer.noise_from == "repeats" else "spread"


def _differences(answer: Comparison, number: int, limit: int, *, everything: bool) -> list[AnyBlock]:
    units = answer.units.filter(pl.col("trace") == number)
    apart = answer.standing_out(number)
    names = answer.traces["label"].to_list()
    unknown = units.filter(pl.col("stands_out").is_null())
    chosen = units if everything or unknown.height == units.height else apart
    title = f"{names[number]} against {names[0]}"
    bound = "the noise" if answer.noise_from == "repeats" else "the spread between waves"
    what = f"{answer.by}s" if chosen.height == units.height else f"{answer.by}s that differ by more than {bound}"
    parts: list[AnyBlock] = []
    if chosen.height:
        columns = _units(answer, names[0], names[number])
        parts.append(frame_table(chosen, columns, limit=limit, what=what, title=title))
    if chosen.height != units.height:
        rest = units.filter(~pl.col("stands_out").fill_null(value=False))
        parts.append(sentence((_rest(answer, number, rest, has_more=bool(apart.height), bound=bound), "dim")))
    for title, frame in (("stalls", answer.stall_classes), ("idle", answer.idle_parts)):
        classes = frame.filter((pl.col("trace") == number) & (pl.col("delta_cycles_per_wave") != 0))
        if classes.height:
            extent = truncation(min(classes.height, _CLASSES), classes.height, "classes")
            changes = ", ".join(
                f"{name} {_signed(delta)} (of {short(base)})"
                for _, name, base, _, delta in classes.head(_CLASSES).iter_rows()
            )
            kind = " (not a change)" if answer.traces["is_same_code"][number] else ""
            parts.append(sentence((f"{title}{kind}, {extent}: ", "bold"), changes))
    return parts


def _rest(answer: Comparison, number: int, rest: pl.DataFrame, *, has_more: bool, bound: str) -> str:
    """The units that are not listed."""
    total = f"{100 * float(rest['delta_share'].sum()):+.1f} % in sum"
    count = counted(rest.height, f"{answer.by}s")
    if answer.traces["is_same_code"][number]:
        return f"the same {count}: {total}, not a change; --all shows them"
    if has_more:
        count = f"the other {count}"
    verb = "differs" if rest.height == 1 else "differ"
    return f"{count} {verb} by less than {bound} ({total}); --all shows them"


def _signed(cycles: float) -> str:
    return f"{'+' if cycles > 0 else '-' if cycles < 0 else ''}{short(abs(cycles))}"


def _traces(answer: Comparison) -> tuple[Column, ...]:
    calls = _CALLS if answer.traces["kernel_ns_median"].count() else ()
    spread = Column(_spread(answer), lambda row: percent(row["duration_noise_share"], none="?"))
    return (*_TOTALS, spread, *_COSTS, *calls, _PATH)


_TOTALS = (
    Column("", lambda row: row["label"], is_text=True),
    Column("waves", lambda row: f"{row['wave_count']:,}"),
    Column("instructions", lambda row: short(row["instructions_per_wave"]), is_wide=True),
    Column("cycles mean", lambda row: short(row["duration_cycles_mean"])),
    Column("change", lambda row: percent(row["duration_delta_share"], none="", sign=True) if row["trace"] else ""),
)

_COSTS = (
    Column("stall", lambda row: short(row["stall_cycles_per_wave"]), is_wide=True),
    Column("idle", lambda row: short(row["idle_cycles_per_wave"] or 0), is_wide=True),
    Column("per SIMD", lambda row: grouped(row["waves_per_simd_mean"], 2, none=""), is_wide=True),
)

#: From the runs beside the traces.
_CALLS = (
    Column("calls", lambda row: grouped(row["call_count"])),
    Column("median µs", lambda row: grouped(row["kernel_ns_median"], 1, unit=1e3)),
    Column("traced µs", lambda row: grouped(row["kernel_ns"], 1, unit=1e3)),
)

_PATH = Column("path", lambda row: "/".join(row["path"].rstrip("/").rsplit("/", 2)[-2:]), takes_rest=True)


def _units(answer: Comparison, base: str, other: str) -> tuple[Column, ...]:
    def toned(row: dict[str, Any], text: str) -> Cell:
        if not row["stands_out"] and row["stands_out"] is not None:
            return Cell(text, "dim")
        return Cell(text, "red" if row["delta_cycles_per_wave"] > 0 else "green")

    def place(row: dict[str, Any]) -> str:
        return hexadecimal(row["address"] if row["address"] is not None else row["base_address"])

    changed = {"same": "", "registers": "registers", "text": RELABELLED[answer.by], "new": "added", "gone": "removed"}
    named = [Column("address", place, handle="i")] if answer.by in ("instruction", "block") else []
    return (
        Column("delta", lambda row: toned(row, _signed(row["delta_cycles_per_wave"]))),
        Column(f"of {base}", lambda row: toned(row, percent(row["delta_share"], none="", sign=True))),
        Column(_spread(answer), lambda row: short(row["noise_cycles_per_wave"], none="?"), is_wide=True),
        Column("speed", lambda row: _signed(row["speed_cycles_per_wave"]), is_wide=True),
        Column(base, lambda row: short(row["base_cost_cycles_per_wave"])),
        Column(other, lambda row: short(row["cost_cycles_per_wave"])),
        Column(f"hits {base}", lambda row: _count(row["base_hit_count_per_wave"]), is_wide=True),
        Column(f"hits {other}", lambda row: _count(row["hit_count_per_wave"]), is_wide=True),
        *named,
        Column("", lambda row: changed[row["change"]], is_text=True, is_fixed=True),
        Column(answer.by, _label, takes_rest=True),
    )


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else short(value)


def _label(row: dict[str, Any]) -> str:
    label, base = row["label"], row["base_label"]
    if label is None or base is None or label == base:
        return label or base or ""
    return f"{label}  was: {base}"
