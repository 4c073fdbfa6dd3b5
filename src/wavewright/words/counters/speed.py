"""Speed of light for the terminal: how near each unit is to its limit, in all and of the longest kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.model.blocks import AnyBlock, Table, sentence
from wavewright.words.counters.panels import peak_cell
from wavewright.words.counters.words import figure, folded_names, sentence_list
from wavewright.words.kit.tables import one_line, plain_table
from wavewright.writers.terminal.fitted_table import WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from wavewright.analysis.counters.engine.answer import CounterPanels

_GROUPS = ("compute", "caches", "memory")
_MOST_KERNELS = 3
_LEAST_SHARE = 0.01  #: Of the time; kernels with less have no column of their own.
_HIGHEST = 3
_REASONS = 2


def shown_kernels(kernels: pl.DataFrame) -> list[int]:
    """Ranks of the chosen kernels that get a column of their own: none for one kernel.

    Examples
    --------
    >>> import polars as pl
    >>> shown_kernels(pl.DataFrame({"kernel": [0, 1], "is_chosen": [True, True], "duration_share": [0.9, 0.1]}))
    [0, 1]
    """
    chosen = kernels.filter(kernels["is_chosen"])
    if chosen.height < 2:
        return []
    large = chosen.filter(chosen["duration_share"].is_null() | (chosen["duration_share"] >= _LEAST_SHARE))
    return large["kernel"].head(_MOST_KERNELS).to_list()


def speed_of_light(
    answer: CounterPanels,
    rows: pl.DataFrame,
    by_kernel: Sequence[tuple[int, CounterPanels]],
    *,
    width: int,
    decimals: int | None,
) -> Iterator[AnyBlock]:
    """The table of `rows`, what is nearest to its peak, and what is zero or blank; `by_kernel`: as of the summary."""
    nonzero = rows.filter(rows["average"] != 0)
    if nonzero.height:
        yield _speed_table(answer, nonzero, by_kernel, width=width, decimals=decimals)
        for whose, kernel_rows in [(f"#{rank} is", part.rows) for rank, part in by_kernel] or [("", rows)]:
            sentence = nearest_to_peak(kernel_rows)
            if sentence:
                yield sentence((f"{whose} {sentence}".strip(), "bold"))
    zero = rows.filter(rows["average"] == 0)
    if zero.height:
        yield sentence((f"zero: {', '.join(folded_names(zero['name']))}", "dim"))
    blank = rows.filter(rows["average"].is_null())
    if blank.height:
        blank_metrics = [
            f"{printable(name)} ({printable(why)})" for name, why in blank.select("name", "reason").iter_rows()
        ]
        listing = sentence_list(blank_metrics, _REASONS)
        yield sentence(
            (
                f"blank: {listing}" + (f"; --panel {SPEED_OF_LIGHT} has all" if len(blank_metrics) > _REASONS else ""),
                "dim",
            )
        )


def _speed_table(
    answer: CounterPanels,
    rows: pl.DataFrame,
    by_kernel: Sequence[tuple[int, CounterPanels]],
    *,
    width: int,
    decimals: int | None,
) -> Table:
    """One table with a line for each group, so that all columns stand below each other."""
    shares = [
        (
            rank,
            dict(
                panels.rows.filter(panels.rows["table_id"] == SPEED_OF_LIGHT)
                .select("metric_id", "peak_share")
                .iter_rows()
            ),
        )
        for rank, panels in by_kernel[: _MOST_KERNELS if width >= WIDE else 2]
    ]
    is_wide = width >= WIDE
    is_tight = bool(shares) and not is_wide
    table = plain_table(f"speed of light of {counted(answer.dispatch_count, 'dispatches')}")
    table.add_column("", overflow="ellipsis")  # may wrap: rich narrows such columns only, never a number
    table.add_column("average", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    if not is_tight:
        table.add_column("peak", justify="right", no_wrap=True)
    table.add_column("of peak", no_wrap=True)
    for rank, _ in shares:
        table.add_column(f"#{rank}", justify="right", no_wrap=True)
    cells = (20 - 3 * len(shares) if is_wide else 8) if not is_tight else 0
    for group in _GROUPS:
        members = [row for row in rows.iter_rows(named=True) if unit_group(row["name"]) == group]
        if members:
            table.add_row(sentence((group, "bold cyan")))
        for row in members:
            peak = "" if row["peak"] is None else figure(row["peak"], decimals)
            table.add_row(
                one_line(f"  {row['name']}"),
                figure(row["average"], decimals),
                one_line(row["unit"]),
                *([] if is_tight else [peak]),
                peak_cell(row, cells),
                *(_share(by_metric.get(row["metric_id"])) for _, by_metric in shares),
            )
    return table


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1f} %"


def unit_group(name: str) -> str:
    """Which part of the GPU a metric is about: compute, caches or memory.

    Examples
    --------
    >>> unit_group("L2-Fabric Read BW"), unit_group("VALU FLOPs")
    ('memory', 'compute')
    """
    if "fabric" in name.lower() or "HBM" in name:
        return "memory"
    return "caches" if any(word in name for word in ("L0", "L1", "L2", "LDS", "Cache")) else "compute"


def is_limit(row: dict[str, Any]) -> bool:
    """Whether a high share of the peak means that a unit is near its limit: not so of hit rates and active lanes."""
    name, unit = str(row["name"]), str(row["unit"])
    return unit.endswith("/s") or name.endswith("Utilization") or name == "IPC"


def nearest_to_peak(rows: pl.DataFrame) -> str:
    """Which units are nearest to their limits, in words; empty = none is known."""
    limits = [row for row in rows.iter_rows(named=True) if row["peak_share"] is not None and is_limit(row)]
    highest = sorted(limits, key=lambda row: -row["peak_share"])[:_HIGHEST]
    if not highest or not highest[0]["peak_share"]:
        return ""
    named = ", ".join(f"{printable(row['name'])} {row['peak_share']:.1f} %" for row in highest)
    return f"nearest to the peak of: {named}"
