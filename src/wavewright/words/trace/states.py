"""Wave states, pipes and residency over time, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

from wavewright.analysis.trace.clocks import ClockAlignment
from wavewright.analysis.trace.pipes.utilization import Utilization
from wavewright.analysis.trace.waves.resident import KernelResidency
from wavewright.analysis.trace.waves.states import States
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, Table, chart, headline, sentence
from wavewright.words.kit.charts import SHADES, dense, legend, resampled, share_line, stacked_chart, time_axis
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.frame_tables import Column
from wavewright.writers.terminal.bars import sparkline

_CHART_LINES = 24  #: Lines of the terminal for the charts of all shader engines together.
_MAX_ENGINES = 8  #: Shader engines that get columns or charts of their own.


def states_report(
    states: States,
    pipes: Utilization,
    residency: KernelResidency,
    *,
    issue_share: float | None = None,
    width: int = 100,
    limit: int = 20,
) -> Iterator[AnyBlock]:
    """Blocks of the answer of `wavewright states`, with charts of `width` characters.

    `issue_share`: cycles in which instructions other than `s_endpgm` issue, of all cycles of their waves.
    """
    yield headline(_verdict(states, pipes))
    yield Sentence(_clocks(states.clocks))
    if states.total.height:
        yield GAP
        yield _share_table(states, width=width, limit=limit)
        executing = dict(states.total.select("state", "share").rows()).get("EXEC", 0.0)
        if issue_share is not None and issue_share < executing:
            yield Sentence("  EXEC counts the gaps between instructions, too;")
            share = percent(issue_share)
            yield Sentence(f"  instructions issue in {share} of the waves' cycles (s_endpgm not counted)")
        yield GAP
        yield from _charts(states, width=width)
    if pipes.pipes.height:
        yield GAP
        yield _pipe_table(pipes, width=width)
        yield Sentence("  issue: an instruction goes to the pipe; busy: it occupies it (all passes)")
        yield from _matrix_lines(pipes)
    for (se,), rows in _parts(pipes.neighbours, "se"):
        shares = ", ".join(f"{pipe} {percent(share)}" for pipe, share in rows.select("pipe", "issue_share").rows())
        yield Sentence(f"  neighbour SIMD of SE {se}, memory instructions only: {shares}")
    if residency.kernels.height:
        yield GAP
        yield _residency_table(residency, width=width, limit=limit)


def _matrix_lines(pipes: Utilization) -> Iterator[AnyBlock]:
    """Utilization of the matrix pipe in words, where matrix instructions ran."""
    for row in pipes.pipes.filter(pl.col("pipe") == "MATRIX").iter_rows(named=True):
        instructions = counted(row["issue_count"], "matrix instructions")
        yield Sentence(f"  matrix pipe: busy {percent(row['busy_share'])} of the span")
        share = percent(row["phase_busy_share"])
        yield Sentence(f"    {share} between the first and the last matrix instruction of a wave")
        yield Sentence(f"    {instructions}, {pipes.valu_per_matrix or 0.0:,.1f} VALU instructions for each")


def _verdict(states: States, pipes: Utilization) -> str:
    if not states.total.height:
        return "no wave was traced"
    shares = dict(states.total.select("state", "share").rows())
    parts = [f"{percent(shares.get(name, 0.0))} {name}" for name in ("EXEC", "WAIT", "STALL", "IDLE")]
    bubbles = pipes.bubble_share
    idle = "" if bubbles is None else f"; in {percent(bubbles)} of the cycles with waves a SIMD issues nothing"
    return f"waves spend {', '.join(parts)} of their cycles{idle}"


def _clocks(clocks: ClockAlignment) -> str:
    clock = f"shader clock {clocks.clock_mhz:,.1f} MHz" if clocks.clock_mhz else "shader clock not recorded"
    if clocks.is_aligned:
        moved = ", ".join(f"SE {se} +{offset:,}" for se, offset in clocks.offsets.items())
        return f"{clock}; clocks aligned (cycles): {moved}"
    if clocks.reason:
        return f"{clock}; clocks not aligned, every shader engine is on its own: {clocks.reason}"
    return clock


def _share_table(states: States, *, width: int, limit: int) -> Table:
    """One row for all waves, then one per shader engine and per kernel, where there are several."""
    groups = [("all waves", states.total)]
    for column, name in (("se", "se"), ("kernel", "name")):
        table = states.by_engine if column == "se" else states.by_kernel
        parts = list(_parts(table, column))
        label = "SE {}" if column == "se" else "{}"
        labels = (label.format(rows[name][0] if column == "se" else _kernel(rows[name][0])) for _, rows in parts)
        groups += [(text, rows) for text, (_, rows) in zip(labels, parts, strict=True) if len(parts) > 1]
    names = [name for name in SHADES if name in states.total["state"]]
    rows = pl.DataFrame(
        [{"group": printable(label)} | dict(part.select("state", "share").rows()) for label, part in groups],
        schema={"group": pl.String} | dict.fromkeys(names, pl.Float64),
    ).fill_null(0.0)
    cells = max(8, min(60, width - 24 - 10 * len(names)))
    return declared_table(
        "trace/states/shares",
        rows,
        limit=limit,
        group=lambda row: row["group"][:22],
        states=[Column(name, partial(_share, name)) for name in names],
        bar=lambda row: Cell.of(share_line({name: row[name] for name in names}, cells)),
    )


def _share(column: str, row: dict[str, Any]) -> str:
    return percent(row[column])


def _charts(states: States, *, width: int) -> Iterator[AnyBlock]:
    """A stacked chart per shader engine, all with the same scales."""
    engines = list(_parts(states.over_time, "se"))
    sums = states.over_time.group_by("se", "bin").agg(pl.col("wave_count_mean").sum())
    top = max(sums["wave_count_mean"].to_list(), default=0.0)
    height = max(2, min(6, _CHART_LINES // max(1, min(len(engines), _MAX_ENGINES))))
    label_width = max(6, len(f"{top:.1f}") + 2)
    columns = min(states.bin_count, width - label_width)
    names = states.total["state"].to_list()
    column_cycles = states.bin_cycles * states.bin_count // columns
    lines = [sentence(" " * label_width, legend(names), f"   a column is {column_cycles:,} cycles")]
    for (se,), rows in engines[:_MAX_ENGINES]:
        series = {
            str(state): resampled(dense(part, "wave_count_mean", states.bin_count), columns)
            for (state,), part in _parts(rows, "state")
        }
        for at, line in enumerate(stacked_chart(series, height=height, top=top)):
            label = f"{top:.1f}" if at == 0 else f"SE {se}" if at == height - 1 else ""
            lines.append(sentence(label.rjust(label_width - 1) + " ", line))
    axis = time_axis(states.start_cycles, states.end_cycles, columns, clock_mhz=states.clocks.clock_mhz)
    yield chart([*lines, " " * label_width + axis], "waves per state over time")
    if len(engines) > _MAX_ENGINES:
        yield sentence((f"showing {_MAX_ENGINES} of {len(engines)} shader engines; choose with --se", "bold"))


def _pipe_table(pipes: Utilization, *, width: int) -> Table:
    """Issue and busy share per pipe: in total, busy per shader engine, and busy over time."""
    engines = pipes.bubbles["se"].to_list()
    room = (width - 70) // 8  # columns of engines next to a curve that can still be read
    shown = engines if 1 < len(engines) <= min(room, _MAX_ENGINES) else []
    by_engine = {(row["se"], row["pipe"]): row["busy_share"] for row in pipes.by_engine.iter_rows(named=True)}
    # the mean over shader engines, each with the weight of its traced SIMDs
    with_counts = pipes.over_time.join(pipes.bubbles.select("se", "simd_count"), on="se")
    weight = pl.col("simd_count").cast(pl.Float64)
    curve = with_counts.group_by("pipe", "bin").agg(share=(pl.col("busy_share") * weight).sum())
    all_simds = max(1, int(pipes.bubbles["simd_count"].sum()))
    spark_width = max(8, min(pipes.bin_count, width - 50 - 8 * len(shown)))
    curves = {
        str(pipe): [share / all_simds for share in resampled(dense(part, "share", pipes.bin_count), spark_width)]
        for (pipe,), part in _parts(curve.sort("bin"), "pipe")
    }
    return declared_table(
        "trace/states/pipe",
        pipes.pipes,
        engines=[Column(f"SE {engine}", _engine_cell(by_engine, engine)) for engine in shown],
        peak=lambda row: percent(max(curves.get(row["pipe"], [0.0]))),
        curve=lambda row: sparkline(curves.get(row["pipe"], [])),
    )


def _engine_cell(shares: Mapping[tuple[int, str], float], engine: int) -> Callable[[dict[str, Any]], str]:
    """The cell with the busy share of a pipe on one shader engine."""
    return lambda row: percent(shares.get((engine, row["pipe"]), 0.0))


def _residency_table(residency: KernelResidency, *, width: int, limit: int) -> Table:
    spark_width = max(8, min(residency.bin_count, width - 52))
    curves = {
        kernel: resampled(dense(part, "wave_count_mean", residency.bin_count), spark_width)
        for (kernel,), part in _parts(residency.kernel_curves, "kernel")
    }
    return declared_table(
        "trace/states/residency",
        residency.kernels.sort("start_count", descending=True),
        limit=limit,
        kernel=lambda row: _kernel(row["name"])[:30],
        curve=lambda row: sparkline(curves[row["kernel"]]),
    )


def _kernel(name: str | None) -> str:
    """The name of a kernel without its return type and parameters."""
    return printable(name or "not known").removeprefix("void ").split("(")[0]


def _parts(frame: pl.DataFrame, column: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    """((value,), rows) for each value of a column, in order."""
    yield from frame.partition_by(column, as_dict=True, maintain_order=True).items()
