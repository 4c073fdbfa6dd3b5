"""The first look at a counter capture: what was measured, which kernels, how near each unit is to its limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wavescope.model.words import counted, percent
from wavescope.report.bars import bar
from wavescope.report.counter_panels import panel_parts, peak_cell
from wavescope.report.counter_words import figure, sentence_list
from wavescope.report.profile._words import brief_kernel, duration
from wavescope.report.tables import WIDE, Column, frame_table, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from wavescope.analysis.metrics import CounterPanels
    from wavescope.model.counter_set import CounterSet

__all__ = [
    "SPEED_OF_LIGHT",
    "capture_lines",
    "doubt_lines",
    "folded_names",
    "kernel_table",
    "next_line",
    "shown_kernels",
    "summary_parts",
]

SPEED_OF_LIGHT = "2.1"
"""The table that the summary is about."""
_GROUPS = ("compute", "caches", "memory")
_MOST_KERNELS = 3
_LEAST_SHARE = 0.01
"""Of the time; kernels with less have no column of their own."""
_HIGHEST = 3
_DOUBTS = 4
_REASONS = 2


def summary_parts(
    answer: CounterPanels,
    counters: CounterSet,
    by_kernel: Sequence[tuple[int, CounterPanels]] = (),
    *,
    path: str = "PATH",
    words: Sequence[str] = (),
    width: int = WIDE,
    limit: int = 5,
    decimals: int | None = None,
) -> Iterator[RenderableType]:
    """The parts of the summary in order; `by_kernel`: rank and speed of light of the longest kernels,
    `words`: those of all panels.

    Examples
    --------
    >>> summary_parts.__name__
    'summary_parts'
    """
    from rich.text import Text

    yield from capture_lines(answer, counters)
    if not counters.dispatches.height and not counters.stored_metrics.height:
        yield Text("no dispatch was measured: what the capture was limited to did not run", "bold yellow")
        return
    yield Text()
    yield kernel_table(answer.kernels, width=width, limit=limit)
    yield Text()
    rows = answer.rows.filter(answer.rows["table_id"] == SPEED_OF_LIGHT)
    if rows.height:
        yield from _speed_of_light(answer, rows, by_kernel, width=width, decimals=decimals)
    own = [panel for panel in answer.panels if all(table.id != SPEED_OF_LIGHT for table in panel.tables)]
    if own:
        yield from panel_parts(replace(answer, panels=tuple(own)), width=width, decimals=decimals)
        yield Text()
    yield from doubt_lines(answer.doubts)
    yield next_line(path, words)


def capture_lines(answer: CounterPanels, counters: CounterSet) -> Iterator[Text]:
    """What was captured, in two lines.

    Examples
    --------
    >>> capture_lines.__name__
    'capture_lines'
    """
    from rich.text import Text

    yield Text(_machine(answer, counters), "bold")
    passes, dispatches = counters.passes.height, counters.dispatches.height
    names = counters.counters["counter"].n_unique()
    gpus = counters.dispatches["gpu"].drop_nulls().n_unique()
    said = f"{counted(dispatches, 'dispatches')} of {counted(answer.kernels.height, 'kernels')}"
    said += f" on {counted(gpus, 'GPUs')}" if gpus > 1 else ""
    said += f"; {counted(names, 'counters')} in {counted(passes, 'passes')}" if names else ""
    if counters.stored_metrics.height:
        said += f"; {counted(counters.stored_metrics.height, 'values')} that another tool computed"
    if answer.dispatch_count != dispatches:
        said += f"; chosen: {counted(answer.dispatch_count, 'dispatches')}"
    if answer.rules not in ("corrected", "stored"):
        said += f"; rules of {answer.rules}"
    if answer.normalization != "kernel":
        said += f"; amounts per {answer.normalization}"
    yield Text(said)


def _machine(answer: CounterPanels, counters: CounterSet) -> str:
    system = counters.system
    name = printable(answer.product or answer.target or "unknown GPU")
    if not answer.target and not system.cu_count:
        return name
    facts = [printable(answer.target)] if answer.target and answer.product else []
    for value, what in (
        (system.cu_count, "CUs"),
        (system.clock_mhz_max, "MHz"),
        (system.l2_channel_count, "L2 channels"),
        (system.memory_gb_per_second, "GB/s of memory"),
    ):
        facts.append(f"{value:,.0f} {what}" if value else f"{what} not known")
    return f"{name} ({', '.join(facts)})"


def folded_names(names: Iterable[str]) -> list[str]:
    """Names in order; those that differ in what stands in parentheses at their end only are put together.

    Examples
    --------
    >>> folded_names(["MFMA FLOPs (F16)", "IPC", "MFMA FLOPs (F32)"])
    ['MFMA FLOPs (F16, F32)', 'IPC']
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        front, bracket, rest = printable(name).partition(" (")
        groups.setdefault(front, []).extend([rest.removesuffix(")")] if bracket else [])
    return [f"{front} ({', '.join(kinds)})" if kinds else front for front, kinds in groups.items()]


def kernel_table(kernels: pl.DataFrame, *, width: int, limit: int) -> Table:
    """The kernels, the longest first, with their shares of the time; `*` marks the chosen ones, if not all are.

    Examples
    --------
    >>> from wavescope.analysis.metrics import CounterPanels
    >>> from wavescope.model.schema import empty_frame
    >>> kernel_table(empty_frame(CounterPanels.tables["kernels"]), width=80, limit=5).title
    '0 kernels'
    """
    is_partly = kernels.height > 0 and not kernels["is_chosen"].all()
    columns = {
        "kernel": Column("#", lambda row: str(row["kernel"])),
        "is_chosen": Column("", lambda row: "*" if row["is_chosen"] else "", is_text=True),
        "duration_share": Column("time", _share_of_time, is_text=True, is_fixed=True),
        "dispatch_count": Column("calls", lambda row: f"{row['dispatch_count']:,}"),
        "duration_ns_total": Column("total", lambda row: duration(row["duration_ns_total"])),
        "duration_ns_mean": Column("mean", lambda row: duration(row["duration_ns_mean"])),
        "duration_ns_median": Column("median", lambda row: duration(row["duration_ns_median"]), is_wide=True),
        "kernel_name": Column("kernel", lambda row: brief_kernel(row["kernel_name"], 2 * width), takes_rest=True),
    }
    known = [name for name in columns if kernels[name].null_count() < kernels.height or name == "kernel_name"]
    shown = [columns[name] for name in known if name != "is_chosen" or is_partly]
    return frame_table(kernels, shown, limit=limit, what="kernels", width=width)


def _share_of_time(row: dict[str, Any]) -> str:
    return f"{percent(row['duration_share']):>7} {bar(row['duration_share'] or 0.0, 10)}"


def _speed_of_light(
    answer: CounterPanels,
    rows: pl.DataFrame,
    by_kernel: Sequence[tuple[int, CounterPanels]],
    *,
    width: int,
    decimals: int | None,
) -> Iterator[RenderableType]:
    from rich.text import Text

    known = rows.filter(rows["average"] != 0)
    if known.height:
        yield _speed_table(answer, known, by_kernel, width=width, decimals=decimals)
        for whose, one in [(f"#{rank} is", part.rows) for rank, part in by_kernel] or [("", rows)]:
            sentence = _nearest(one)
            if sentence:
                yield Text(f"{whose} {sentence}".strip(), "bold")
    zero = rows.filter(rows["average"] == 0)
    if zero.height:
        yield Text(f"zero: {', '.join(folded_names(zero['name']))}", "dim")
    blank = rows.filter(rows["average"].is_null())
    if blank.height:
        told = [f"{printable(name)} ({printable(why)})" for name, why in blank.select("name", "reason").iter_rows()]
        said = sentence_list(told, _REASONS)
        yield Text(f"blank: {said}" + (f"; --panel {SPEED_OF_LIGHT} has all" if len(told) > _REASONS else ""), "dim")


def _speed_table(
    answer: CounterPanels,
    rows: pl.DataFrame,
    by_kernel: Sequence[tuple[int, CounterPanels]],
    *,
    width: int,
    decimals: int | None,
) -> Table:
    """One table with a line for each group, so that all columns stand below each other."""
    from rich.table import Table
    from rich.text import Text

    shares = [
        (
            rank,
            dict(one.rows.filter(one.rows["table_id"] == SPEED_OF_LIGHT).select("metric_id", "peak_share").iter_rows()),
        )
        for rank, one in by_kernel[: _MOST_KERNELS if width >= WIDE else 2]
    ]
    is_wide = width >= WIDE
    is_tight = bool(shares) and not is_wide
    table = Table(
        title=f"speed of light of {counted(answer.dispatch_count, 'dispatches')}",
        title_justify="left",
        title_style="bold",
        box=None,
        header_style="bold",
        pad_edge=False,
    )
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
        members = [row for row in rows.iter_rows(named=True) if _group_of(row["name"]) == group]
        if members:
            table.add_row(Text(group, "bold cyan"))
        for row in members:
            peak = "" if row["peak"] is None else figure(row["peak"], decimals)
            table.add_row(
                one_line(f"  {row['name']}"),
                figure(row["average"], decimals),
                one_line(row["unit"]),
                *([] if is_tight else [peak]),
                peak_cell(row, cells),
                *(_share(found.get(row["metric_id"])) for _, found in shares),
            )
    return table


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1f} %"


def _group_of(name: str) -> str:
    if "fabric" in name.lower() or "HBM" in name:
        return "memory"
    return "caches" if any(word in name for word in ("L1", "L2", "LDS", "Cache")) else "compute"


def _is_limit(row: dict[str, Any]) -> bool:
    """Whether a high share of the peak means that a unit is near its limit: not so of hit rates and active lanes."""
    name, unit = str(row["name"]), str(row["unit"])
    return unit.endswith("/s") or name.endswith("Utilization") or name == "IPC"


def _nearest(rows: pl.DataFrame) -> str:
    limits = [row for row in rows.iter_rows(named=True) if row["peak_share"] is not None and _is_limit(row)]
    highest = sorted(limits, key=lambda row: -row["peak_share"])[:_HIGHEST]
    if not highest or not highest[0]["peak_share"]:
        return ""
    named = ", ".join(f"{printable(row['name'])} {row['peak_share']:.1f} %" for row in highest)
    return f"nearest to the peak of: {named}"


def doubt_lines(doubts: Sequence[str]) -> Iterator[Text]:
    """What limits the trust in the numbers; says how many are not shown.

    Examples
    --------
    >>> [line.plain for line in doubt_lines(["no clock"])]
    ['note: no clock']
    """
    from rich.text import Text

    for doubt in doubts[:_DOUBTS]:
        yield Text.assemble(("note:", "bold cyan"), f" {printable(doubt)}")
    if len(doubts) > _DOUBTS:
        yield Text(f"showing {_DOUBTS} of {len(doubts):,} notes; --json has all", "bold cyan")


def next_line(path: str, words: Sequence[str] = ()) -> Text:
    """What to ask next; `words` are those of the panels that the capture suffices for.

    Examples
    --------
    >>> next_line("run", ["sol", "l2 (3 of 9)"]).plain.splitlines()[0]
    'next: wavescope counters run --panel l2; panels: sol, l2 (3 of 9); or --all, --by kernel, --by dispatch'
    """
    from rich.text import Text

    names = [word.split(" ", 1)[0] for word in words]
    panel = "l2" if "l2" in names or not names else names[-1]
    panels = f"; panels: {', '.join(words)}" if words else ""
    return Text.assemble(
        ("next: ", "bold"),
        f"wavescope counters {printable(path)} --panel {panel}{panels}; or --all, --by kernel, --by dispatch\n",
        "      wavescope roofline, memory-chart or diagnose of the same path",
    )


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
