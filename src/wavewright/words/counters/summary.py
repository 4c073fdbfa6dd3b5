"""The first look at a counter capture: what was measured, which kernels, how near each unit is to its limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.raw import RawCounters
from wavewright.base.shown import printable, quoted
from wavewright.base.words import counted
from wavewright.facts.metrics.metric import SPEED_OF_LIGHT
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline, sentence
from wavewright.model.counters import CounterSet
from wavewright.words.counters.panels import panel_parts
from wavewright.words.counters.speed import speed_of_light
from wavewright.words.counters.system import raw_table
from wavewright.words.kit.declared_tables import declared_table

_CAVEATS, _RAW_COUNTERS = 4, 20  #: Caveats, and counters that no metric uses, that are shown.


def summary_parts(
    answer: CounterPanels,
    counters: CounterSet,
    by_kernel: Sequence[tuple[int, CounterPanels]] = (),
    *,
    path: str = "PATH",
    words: Sequence[str] = (),
    raw: RawCounters | None = None,
    width: int,
    limit: int = 5,
    decimals: int | None = None,
) -> Iterator[AnyBlock]:
    """Blocks of the summary in order; `by_kernel`: rank and speed of light of the longest kernels,
    `words`: those of the panels that something was measured for, `raw`: counters that no metric tells of.
    """
    yield from capture_lines(answer, counters)
    if not counters.dispatches.height and not counters.stored_metrics.height:
        yield sentence(("no dispatch was measured: what the capture was limited to did not run", "bold yellow"))
        return
    yield GAP
    yield kernel_table(answer.kernels, limit=limit)
    yield GAP
    rows = answer.rows.filter(answer.rows["table_id"] == SPEED_OF_LIGHT)
    if rows.height:
        yield from speed_of_light(answer, rows, by_kernel, decimals=decimals)
    other_panels = [panel for panel in answer.panels if all(table.id != SPEED_OF_LIGHT for table in panel.tables)]
    if other_panels:
        yield from panel_parts(replace(answer, panels=tuple(other_panels)), width=width, decimals=decimals)
        yield GAP
    if raw is not None:
        yield GAP
        title = "derived by the profiler, per dispatch" if words else "amounts per dispatch"
        yield raw_table(raw, limit=_RAW_COUNTERS, decimals=decimals, title=title)
        yield GAP
    yield from caveat_lines(answer.caveats)
    yield from next_lines(path, words)


def capture_lines(answer: CounterPanels, counters: CounterSet) -> Iterator[Sentence]:
    """The capture in two lines."""
    yield sentence((_machine(answer, counters), "bold"))
    passes, dispatches = counters.passes.height, counters.dispatches.height
    names = counters.counters["counter"].n_unique()
    gpus = counters.dispatches["gpu"].drop_nulls().n_unique()
    contents = f"{counted(dispatches, 'dispatches')} of {counted(answer.kernels.height, 'kernels')}"
    contents += f" on {counted(gpus, 'GPUs')}" if gpus > 1 else ""
    contents += f"; {counted(names, 'counters')} in {counted(passes, 'passes')}" if names else ""
    if counters.stored_metrics.height:
        contents += f"; {counted(counters.stored_metrics.height, 'values')} that another tool computed"
    if answer.dispatch_count != dispatches:
        contents += f"; chosen: {counted(answer.dispatch_count, 'dispatches')}"
    if answer.rules not in ("corrected", "stored"):
        contents += f"; rules of {answer.rules}"
    if answer.normalization != "kernel":
        contents += f"; amounts per {answer.normalization}"
    yield Sentence(contents)


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


def kernel_table(kernels: pl.DataFrame, *, limit: int) -> Table:
    """The kernels, the longest first, with their shares of the time; `*` marks the chosen ones, if not all are."""
    is_partly = kernels.height > 0 and not kernels["is_chosen"].all()
    chosen = kernels.with_columns(mark=pl.when("is_chosen").then(pl.lit("*")).otherwise(pl.lit("")))
    return declared_table("counters/summary/kernels", chosen, limit=limit, is_partly=is_partly)


def caveat_lines(caveats: Sequence[str]) -> Iterator[Sentence]:
    """Caveats about the numbers; says how many are not shown."""
    for caveat in caveats[:_CAVEATS]:
        yield Sentence(caveat, "note")
    if len(caveats) > _CAVEATS:
        yield sentence((f"showing {_CAVEATS} of {len(caveats):,} notes; --json has all", "bold cyan"))


def next_lines(path: str, words: Sequence[str] = ()) -> Iterator[Sentence]:
    """Advice what to ask next; `words` are those of the panels that the capture suffices for.

    >>> next(next_lines("run", ["sol", "l2 (3 of 9)"])).text
    'next: wavewright counters run --panel l2; panels: sol, l2 (3 of 9); or --all, --by kernel, --by dispatch'
    """
    names = [word.split(" ", 1)[0] for word in words]
    if not names:
        plan = "wavewright counters --plan --panel sol plans a capture for metrics"
        yield sentence(("next: ", "bold"), plan, style="advice")
        return
    panel = "l2" if "l2" in names else names[-1]
    more = f"--panel {panel}; panels: {', '.join(words)}; or --all, --by kernel, --by dispatch"
    yield sentence(("next: ", "bold"), f"wavewright counters {quoted(path)} {more}", style="advice")
    yield Sentence("      wavewright roofline, memory-chart or diagnose of the same path", "advice")


def speed_answer(
    panels: CounterPanels, by_kernel: Sequence[tuple[int, CounterPanels]], *, width: int
) -> Iterator[AnyBlock]:
    """Blocks of what is nearest to its peak, then the table."""
    rows = panels.rows.filter(panels.rows["table_id"] == SPEED_OF_LIGHT)
    if rows.height:
        yield from speed_of_light(panels, rows, by_kernel, is_verdict_first=True)
    else:
        yield headline("no speed of light is known of this GPU: the panels that it has")
        yield from panel_parts(panels, width=width)
    yield from caveat_lines(panels.caveats)


def panels_answer(answer: CounterPanels, *, width: int) -> Iterator[AnyBlock]:
    """Blocks of the tables of the panels."""
    titles = ", ".join(f"{panel.number} {panel.title}" for panel in answer.panels)
    yield headline(f"{titles or 'no panel'}: {counted(answer.dispatch_count, 'dispatches')}")
    yield from panel_parts(answer, width=width)
    yield from caveat_lines(answer.caveats)
