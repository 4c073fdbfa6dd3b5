"""Inputs of the rules of a diagnosis: one view per stalling code row, from the other analyses."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.control_flow import loops
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.row_code import CodeFacts, RowCode, is_narrow_load
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.waits import waits
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Producer:
    """An instruction that a wait waited for."""

    row: int
    text: str
    instruction_class: str
    counter: str
    count: int  #: Executions in which the wait waited for it, or may have.
    distance_cycles_mean: float  #: From its issue to the wait.
    distance_instructions_mean: float
    #: How much earlier it would have had to be issued; 0 = it was never what the wait waited for last.
    missing_cycles_mean: float

    @property
    def is_narrow_load(self) -> bool:
        """True if it loads at most four bytes per lane."""
        return is_narrow_load(self.text)


@dataclass(frozen=True)
class RowView:
    """One code row and one class of its stalls."""

    row: int
    stall_class: str
    text: str
    file: str | None
    line: int | None
    address: int
    execution_count: int
    stall_cycles_total: int
    exposed_cycles_total: int
    in_loop: bool
    loop_has_matrix: bool
    loop_has_wide_loads: bool  #: Whether vector loads of more than four bytes per lane run in its loop.
    matrix_between: int  #: Matrix instructions in the code between its first producer and itself.
    producers: tuple[Producer, ...]
    code: RowCode  #: What the code around it says.

    @property
    def stall_cycles_mean(self) -> float:
        """Stall per execution."""
        return self.stall_cycles_total / self.execution_count if self.execution_count else 0.0


@dataclass(frozen=True)
class Facts:
    """The costs of a trace, ready for rules."""

    views: dict[str, list[RowView]]  #: Stall class -> its rows, most exposed first.
    kinds: dict[str, str]  #: Stall class -> kind.
    stall_cycles_total: int
    exposed_cycles_total: int  #: Exposed stall and idle cycles of all rows: what remedies can be about.
    issue_cycles_total: int
    wave_cycles_total: int  #: Latency and idle cycles of all waves.
    gaps: dict[str, int]  #: Cause of gaps -> cycles; of store drain with those of `s_endpgm`.


def facts(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Facts:
    """Everything that rules need; `rows` = only the costs of these code rows, against the cycles of all."""
    all_costs, all_stalls = row_costs(trace), stalls(trace)
    stalled = all_stalls if rows is None else stalls(trace, rows=rows)
    costs = at_rows(all_costs, rows)
    producers = _producers_of(trace)
    matrix, wide = _executed_rows(trace, all_costs)
    spans = [(row["first_row"], row["last_row"]) for row in loops(trace).iter_rows(named=True)]
    code = CodeFacts(trace, spans)
    views: dict[str, list[RowView]] = {}
    kinds: dict[str, str] = {}
    order = ("exposed_stall_cycles_total", "stall_cycles_total", "row")
    stalled_rows = stalled.by_row.filter(pl.col("stall_cycles_total") > 0)
    for row in stalled_rows.sort(order, descending=[True, True, False]).iter_rows(named=True):
        around = [span for span in spans if span[0] <= row["row"] <= span[1]]
        inner = min(around, key=lambda span: span[1] - span[0], default=None)
        own_producers = tuple(producers.get(row["row"], ()))
        first = min((p.row for p in own_producers if 0 <= p.row < row["row"]), default=row["row"])
        view = RowView(
            row=row["row"],
            stall_class=row["class"],
            text=row["text"] or "",
            file=row["file"],
            line=row["line"],
            address=row["address"] or 0,
            execution_count=row["execution_count"],
            stall_cycles_total=row["stall_cycles_total"],
            exposed_cycles_total=row["exposed_stall_cycles_total"],
            in_loop=inner is not None,
            loop_has_matrix=inner is not None and _any_within(matrix, inner),
            loop_has_wide_loads=inner is not None and _any_within(wide, inner),
            matrix_between=bisect_left(matrix, row["row"]) - bisect_left(matrix, first),
            producers=own_producers,
            code=code.of_row(row["row"], [producer.row for producer in own_producers]),
        )
        views.setdefault(row["class"], []).append(view)
        kinds[row["class"]] = row["kind"]
    latency = all_stalls.latency_cycles_total
    gaps = dict(stalled.idle.select("part", "idle_cycles_total").iter_rows())
    exposed_idle = int(costs["exposed_idle_cycles_total"].sum())
    return Facts(
        views=views,
        kinds=kinds,
        stall_cycles_total=stalled.stall_cycles_total,
        exposed_cycles_total=stalled.exposed_stall_cycles_total + exposed_idle,
        issue_cycles_total=latency - all_stalls.stall_cycles_total,
        wave_cycles_total=latency + int(all_costs["idle_cycles_total"].sum()),
        gaps=gaps | {"store drain": gaps["store drain"] + stalled.ending_cycles_total},
    )


def _producers_of(trace: ThreadTrace) -> dict[int, list[Producer]]:
    """Wait row -> the instructions that it waits for, as `waits` has them."""
    code = trace.code.select("text", "class", producer_row="row")
    edges = waits(trace).producers.join(code, on="producer_row", how="left")
    columns = edges.select(
        "row",
        "producer_row",
        pl.col("text").replace("", None).fill_null("an unknown instruction"),
        pl.col("class").fill_null("unknown"),
        "counter",
        pl.col("count") + pl.col("candidate_count"),
        pl.col("distance_cycles_mean", "distance_instructions_mean", "last_stall_cycles_mean").fill_null(0.0),
    )
    by_row: dict[int, list[Producer]] = {}
    for row, *producer in columns.iter_rows():
        by_row.setdefault(row, []).append(Producer(*producer))
    return by_row


def _executed_rows(trace: ThreadTrace, costs: pl.DataFrame) -> tuple[list[int], list[int]]:
    """Executed rows with matrix instructions, and with wide vector loads; in order."""
    code = trace.code.filter(pl.col("row").is_in(costs["row"].implode())).sort("row")
    matrix = code.filter(pl.col("class") == "matrix")["row"].to_list()
    loads = code.filter(pl.col("class").is_in(["vmem_load", "vmem_lds_load"])).select("row", "text")
    return matrix, [row for row, text in loads.iter_rows() if not is_narrow_load(text or "")]


def _any_within(rows: list[int], span: tuple[int, int]) -> bool:
    return bisect_left(rows, span[0]) < bisect_left(rows, span[1] + 1)
