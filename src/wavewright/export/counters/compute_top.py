"""The tables before the metrics, as ROCm Compute Profiler lays them out: kernels, dispatches and system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.analysis.counters.choice import ranked_kernels
from wavewright.analysis.counters.engine.reference import reference_dispatches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.model.counters import CounterSet

_TOP_WIDTH = (40, 3)
_LIST_WIDTH = (80, 4)
_NOTHING = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null"),
        *("NaN", "-NaN", "nan", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    }
)
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def kernel_rows(
    answer: CounterPanels, counters: CounterSet, places: int, *, is_reference: bool
) -> Iterator[Sequence[str]]:
    """Kernels by total duration; under the reference's rules by the times of the joined table, however unsound."""
    kernels = answer.kernels
    if is_reference:
        kernels = ranked_kernels(reference_dispatches(counters).with_columns(kernel_name="kernel_name_spelled"))
    chosen_names = set(answer.kernels.filter("is_chosen")["kernel_name"])
    pairs = counters.dispatches.select("kernel_name", "kernel_name_spelled").unique(maintain_order=True)
    spelled = {written or name: name for name, written in pairs.iter_rows()}
    is_chosen = [spelled.get(name, name) in chosen_names for name in kernels["kernel_name"]]
    marks = [["S"], *(["*"] if mark else [""] for mark in is_chosen)] if not all(is_chosen) else None
    rows = [["Kernel_Name", "Count", "Sum(ns)", "Mean(ns)", "Median(ns)", "Pct"]]
    names = ("duration_ns_total", "duration_ns_mean", "duration_ns_median")
    for row in kernels.iter_rows(named=True):
        durations = [_number(row[name], places) for name in names]
        share = row["duration_share"]
        percent = _number(None if share is None else 100 * share, places)
        rows.append(
            [_wrapped(row["kernel_name"] or "", *_TOP_WIDTH), f"{row['dispatch_count']}.0", *durations, percent]
        )
    for number, row_cells in enumerate(rows):
        yield [*row_cells, *marks[number]] if marks else row_cells


def dispatch_rows(counters: CounterSet, *, is_reference: bool) -> Iterator[Sequence[str]]:
    """All dispatches of the capture."""
    yield ["Dispatch_ID", "Kernel_Name", "GPU_ID"]
    if not is_reference:
        columns: tuple[str, ...] = ("dispatch_id", "kernel_name", "agent")
        for identity, name, agent in counters.dispatches.select(columns).iter_rows():
            yield ["" if identity is None else str(identity), name or "", agent or ""]
        return
    is_long = "long" in counters.passes["form"].to_list()
    rows: pl.DataFrame = reference_dispatches(counters)
    identities = rows.select("dispatch_id", "kernel_name_spelled", "agent", "gpu")
    for number, (identity, name, agent, gpu) in enumerate(identities.iter_rows()):
        ids = (number, gpu) if is_long else (identity, agent)
        first, last = ("" if cell is None else str(cell) for cell in ids)
        yield [first, _wrapped(name or "", *_LIST_WIDTH), last]


def system_rows(facts: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """The recorded facts about the node, one per row, in recorded order.

    Examples
    --------
    >>> list(system_rows({"gpu_arch": "gfx942", "compute_partition": "NA", "max_sclk": "2100.0"}))
    [['Info'], ['gfx942'], [''], ['2100.0']]
    """
    yield ["Info"]
    for word in facts.values():
        yield [_retold(word)]


def _retold(word: str) -> str:
    """As a reader that guesses types writes it again: numbers are numbers, words for nothing are nothing."""
    plain = word.strip()
    if plain in _NOTHING:
        return ""
    if _WHOLE.fullmatch(plain):
        return str(int(plain))
    return repr(float(plain)) if _DECIMAL.fullmatch(plain) else word


def _number(value: float | None, places: int) -> str:
    return "" if value is None else repr(round(float(value), places))


def _wrapped(name: str, width: int, most: int) -> str:
    """A name cut into lines; what does not fit ends in three points."""
    lines = [name[start : start + width] for start in range(0, len(name), width)]
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][:-3] + "..."]
    return "\n".join(lines)
