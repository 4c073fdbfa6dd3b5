"""Comparisons of thread traces in words: verdicts, then the units whose cycles per wave differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.compare import Comparison
from wavewright.analysis.trace.compare.verdict import RELABELLED
from wavewright.base.words import counted, percent, short, truncation
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import hexadecimal

_CLASSES = 6  #: Classes of stalls, and of idle cycles, whose changes are named.


def compare_report(answer: Comparison, *, limit: int, everything: bool = False) -> Iterator[AnyBlock]:
    """A verdict for every trace, the traces, then what differs, largest difference first.

    `everything` shows differences within noise too, grey.
    """
    others = range(1, answer.traces.height)
    yield from (headline(answer.verdict(number)) for number in others)
    if answer.different_kernels:
        yield sentence(("these are different kernels: what is matched may not correspond", "bold yellow"))
    elif answer.matched_share < 0.5:
        share = f"{100 * answer.matched_share:.0f} %"
        warning = f"only {share} of the first trace's cost is on code that the others have too"
        yield sentence((warning, "bold yellow"))
    yield from table_below(
        "trace/trace_changes/traces",
        answer.traces,
        limit=limit,
        change=lambda row: percent(row["duration_delta_share"], none="", sign=True) if row["trace"] else "",
        noise=_spread(answer),
        has_runs=answer.traces["kernel_ns_median"].count() > 0,
    )
    yield _noise(answer)
    for number in others:
        yield GAP
        yield from _differences(answer, number, limit, everything=everything)


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


def _differences(answer: Comparison, number: int, limit: int, *, everything: bool) -> Iterator[AnyBlock]:
    """The units of one trace that differ, a sentence about the others, and the classes of cycles that changed."""
    units = answer.units.filter(pl.col("trace") == number)
    differing = answer.standing_out(number)
    names = answer.traces["label"].to_list()
    unknown = units.filter(pl.col("stands_out").is_null())
    chosen = units if everything or unknown.height == units.height else differing
    title = f"{names[number]} against {names[0]}"
    bound = "the noise" if answer.noise_from == "repeats" else "the spread between waves"
    what = f"{answer.by}s" if chosen.height == units.height else f"{answer.by}s that differ by more than {bound}"
    if chosen.height:
        cells = _unit_cells(answer, names[0], names[number])
        yield declared_table("trace/trace_changes/units", chosen, limit=limit, rows=what, title=title, **cells)
    if chosen.height != units.height:
        rest = units.filter(~pl.col("stands_out").fill_null(value=False))
        yield sentence((_rest(answer, number, rest, has_more=bool(differing.height), bound=bound), "dim"))
    for title, frame in (("stalls", answer.stall_classes), ("idle", answer.idle_parts)):
        classes = frame.filter((pl.col("trace") == number) & (pl.col("delta_cycles_per_wave") != 0))
        if classes.height:
            extent = truncation(min(classes.height, _CLASSES), classes.height, "classes")
            changes = ", ".join(  # columns: trace, class or part, cycles of the first trace, of this one, difference
                f"{name} {_signed(delta)} (of {short(base)})"
                for _, name, base, _, delta in classes.head(_CLASSES).iter_rows()
            )
            kind = " (not a change)" if answer.traces["is_same_code"][number] else ""
            yield sentence((f"{title}{kind}, {extent}: ", "bold"), changes)


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


def _unit_cells(answer: Comparison, base: str, other: str) -> dict[str, Any]:
    """Cells, headings and conditions of the table of units."""

    def toned(row: dict[str, Any], text: str) -> Cell:
        if not row["stands_out"] and row["stands_out"] is not None:
            return Cell(text, "dim")
        return Cell(text, "red" if row["delta_cycles_per_wave"] > 0 else "green")

    def place(row: dict[str, Any]) -> str:
        return hexadecimal(row["address"] if row["address"] is not None else row["base_address"])

    changed = {"same": "", "registers": "registers", "text": RELABELLED[answer.by], "new": "added", "gone": "removed"}
    return {
        "delta": lambda row: toned(row, _signed(row["delta_cycles_per_wave"])),
        "of_all": lambda row: toned(row, percent(row["delta_share"], none="", sign=True)),
        "noise": _spread(answer),
        "speed": lambda row: _signed(row["speed_cycles_per_wave"]),
        "base": base,
        "other": other,
        "base_hits": lambda row: _count(row["base_hit_count_per_wave"]),
        "other_hits": lambda row: _count(row["hit_count_per_wave"]),
        "address": place,
        "has_addresses": answer.by in ("instruction", "block"),
        "change": lambda row: changed[row["change"]],
        "by": answer.by,
        "label": _label,
    }


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else short(value)


def _label(row: dict[str, Any]) -> str:
    label, base = row["label"], row["base_label"]
    if label is None or base is None or label == base:
        return label or base or ""
    return f"{label}  was: {base}"
