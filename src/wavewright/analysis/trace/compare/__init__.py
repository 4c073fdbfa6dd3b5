"""Changes between traces of the same kernel, and whether they are more than noise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import polars as pl

from wavewright.analysis.trace.compare.alignment import SERIAL, align_rows, align_traces
from wavewright.analysis.trace.compare.spread import batch_costs, traced_waves
from wavewright.analysis.trace.compare.totals import TRACES, compared_totals, lines_of, work_and_speed
from wavewright.analysis.trace.compare.units import UNITS, Side, compared_units, measured, with_noise_of, with_repeats
from wavewright.analysis.trace.compare.verdict import sentences
from wavewright.analysis.trace.costs.row_costs import entered_rows
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.trust.mapping import mapping
from wavewright.base.shown import quoted
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec
from wavewright.model.trace import ThreadTrace

FEWEST_REPEATS = 2  #: Repeats from which on noise is measured: with one, Student's t is 13 standard deviations.
_MAPPED_SHARE = 0.5  #: Lines are worth comparing where more than this share of the instructions has one.
_FINE_LINES = 3  #: Fewer effective lines (`mapping`) are too coarse to compare.
KINDS = ("instruction", "line", "block", "function")  #: What can be compared.


@dataclass(frozen=True)
class Comparison(Answer, package=__package__):
    """Traces against the first of them."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"traces": TRACES, "units": UNITS}

    by: str
    noise_from: str  #: `repeats` or `waves`: where the noise of cycles was measured.
    repeat_count: int  #: Further dispatches that the noise was measured from.
    unused_repeat_count: int  #: Repeats of sides that have only one: two values show no noise.
    same_code: bool  #: Whether all traces ran the same instructions.
    matched_share: float  #: Cost of the first trace on units that every other trace has too.
    different_kernels: bool
    is_part: bool  #: Whether only chosen code rows were compared; `traces` is about all of them all the same.
    traces: pl.DataFrame
    units: pl.DataFrame
    stall_classes: pl.DataFrame
    idle_parts: pl.DataFrame

    def verdict(self, trace: int = 1) -> str:
        """Differences of a trace from the first one, in a few sentences."""
        return " ".join(sentences(self, trace))

    def standing_out(self, trace: int = 1) -> pl.DataFrame:
        """The units of a trace whose difference is more than noise, the largest first."""
        return self.units.filter((pl.col("trace") == trace) & pl.col("stands_out").fill_null(value=False))


def compare(
    traces: Sequence[ThreadTrace],
    *,
    by: str | None = "instruction",
    labels: Sequence[str] = (),
    repeats: Sequence[Sequence[ThreadTrace]] = (),
    rows: Sequence[pl.Series | None] = (),
    force: bool = False,
) -> Comparison:
    """Compare traces of the same kernel with the first one.

    Raises `UsageError`: fewer than two traces, an unknown kind, a trace without instructions, or different kernels.

    `by` is what to match and compare: instruction, line, block or function; None = lines, if every trace has them for
    most of its instructions and they are not too coarse, else instructions. `labels` are names of the traces. `repeats`
    are, for each trace, further dispatches of the same kernel and code, to measure the noise; fewer than
    `FEWEST_REPEATS` are not used. `rows` are, for each trace, the only code rows to compare. `force` compares traces of
    different kernels too.

    >>> compare([])
    Traceback (most recent call last):
    wavewright.errors.UsageError: two traces or more can be compared, not 0
    """
    by = by or _finest_unit(traces)
    different = _checked(traces, by, force=force)
    # A family is a trace with its repeats. `repeats` and `rows` may be too short, so they are filled up (strict=False).
    with_all_repeats = [[trace, *again] for trace, again in zip(traces, [*repeats, *[()] * len(traces)], strict=False)]
    families = [family if len(family) > FEWEST_REPEATS else family[:1] for family in with_all_repeats]
    members = [trace for family in families for trace in family]
    firsts = list(accumulate(map(len, families[:-1]), initial=0))  # places of `traces` among the members
    spans = [slice(first, first + len(family)) for first, family in zip(firsts, families, strict=True)]
    chosen_rows = [only for only, family in zip([*rows, *[None] * len(traces)], families, strict=False) for _ in family]
    instructions = align_rows(members)
    units = align_traces(members, by, instructions)
    instruction_of_row, unit_of_row = (
        [_restricted(of_row, chosen) for of_row, chosen in zip(alignment.unit_of_row, chosen_rows, strict=True)]
        for alignment in (instructions, units)
    )
    costs_by_batch = [batch_costs(*member) for member in zip(members, unit_of_row, strict=True)]
    costs_of_members = [measured(*member) for member in zip(members, unit_of_row, costs_by_batch, strict=True)]
    costs = [with_repeats(costs_of_members[span]) for span in spans]
    if len(families[0]) > 1 == max(map(len, families[1:])):  # only the first one was repeated
        costs[1:] = [with_noise_of(costs[0], other) for other in costs[1:]]
    same = [units.same_as_first[at] for at in firsts]
    sides = [
        Side(cost, units.labels[at], unit_of_row[at], members[at].code["address"], is_same, by == "instruction")
        for cost, at, is_same in zip(costs, firsts, same, strict=True)
    ]
    table = compared_units(sides)
    shares = work_and_speed(traces, [instruction_of_row[at] for at in firsts])
    lines = lines_of(traces, [instructions.unit_of_row[at] for at in firsts], same)
    return Comparison(
        by=by,
        noise_from="repeats" if len(members) > len(traces) else "waves",
        repeat_count=len(members) - len(traces),
        unused_repeat_count=sum(map(len, with_all_repeats)) - len(members),
        same_code=all(same),
        matched_share=_matched_share(table),
        different_kernels=different,
        is_part=any(only is not None for only in rows),
        traces=compared_totals(families, labels, [costs_by_batch[span] for span in spans], same, shares, lines),
        units=table,
        stall_classes=_against_first(traces, [stalls(trace).classes for trace in traces], "class", "stall"),
        idle_parts=_against_first(traces, [stalls(trace).idle for trace in traces], "part", "idle"),
    )


def main_kernel(trace: ThreadTrace) -> str:
    """The function in which most instructions were executed, without template arguments and serial number."""
    hits = entered_rows(trace).group_by("function").agg(pl.col("hit_count").sum()).sort("hit_count", "function")
    name = hits["function"].to_list()[-1] if hits.height else ""
    demangled = dict(trace.kernels.select("name", "demangled").iter_rows())
    return SERIAL.sub("", re.split(r"[<(]", demangled.get(name) or name or "")[0].strip().rsplit(" ", 1)[-1])


def _finest_unit(traces: Sequence[ThreadTrace]) -> str:
    """Lines, where every trace has them for most of its instructions and they are not too coarse; else instructions."""
    mappings = [mapping(trace) for trace in traces]
    is_fine = all(m.mapped_share > _MAPPED_SHARE and m.effective_line_count >= _FINE_LINES for m in mappings)
    return "line" if is_fine else "instruction"


def _checked(traces: Sequence[ThreadTrace], by: str, *, force: bool) -> bool:
    """True if the kernels differ; an error when that was not wanted, or when nothing can be compared."""
    if len(traces) < 2:
        raise UsageError(f"two traces or more can be compared, not {len(traces)}")
    if by not in KINDS:
        raise UsageError(f"cannot compare by {by!r}", advice=f"one of {', '.join(KINDS)}")
    for trace in traces:
        if not trace.instructions.height:
            where = trace.source.path
            if trace.samples.height:
                what = "these are PC samples: there are no costs to compare"
                raise UsageError(what, where=where, advice=f"wavewright hotspots {quoted(where)}")
            what = "no instruction was traced here, so there is nothing to compare"
            raise UsageError(what, where=where, advice=f"wavewright coverage {quoted(where)} tells why")
    kernels = list(dict.fromkeys(main_kernel(trace) for trace in traces))
    if len(kernels) > 1 and not force:
        what = f"these are traces of different kernels: {' and '.join(kernels)}"
        raise UsageError(what, advice="compare them all the same with force=True (--force)")
    return len(kernels) > 1


def _restricted(unit_of_row: Sequence[int], rows: pl.Series | None) -> list[int]:
    """The unit of each code row, -1 (no unit) for rows that were not chosen."""
    if rows is None:
        return list(unit_of_row)
    chosen = set(rows.to_list())
    return [unit if row in chosen else -1 for row, unit in enumerate(unit_of_row)]


def _matched_share(units: pl.DataFrame) -> float:
    """Cost of the first trace on units that all others have, of its cost on all units."""
    per_unit = units.group_by("unit", maintain_order=True).agg(
        cost=pl.col("base_cost_cycles_per_wave").first(), in_all=(pl.col("change") != "gone").all()
    )
    total = float(per_unit["cost"].sum())
    return float(per_unit.filter("in_all")["cost"].sum()) / total if total else 0.0


def _against_first(traces: Sequence[ThreadTrace], tables: Sequence[pl.DataFrame], key: str, kind: str) -> pl.DataFrame:
    """Cycles per wave of every stall class, or cause of idle cycles, against those of the first trace."""
    cycles = f"{kind}_cycles_per_wave"
    per_wave = [
        table.select(key, (pl.col(f"{kind}_cycles_total") / max(traced_waves(trace).height, 1)).alias(cycles))
        for trace, table in zip(traces, tables, strict=True)
    ]
    base = per_wave[0].rename({cycles: f"base_{cycles}"})
    delta = pl.col(cycles) - pl.col(f"base_{cycles}")
    sides = []
    for number, other in enumerate(per_wave[1:], start=1):
        both = base.join(other, on=key, how="full", coalesce=True).with_columns(pl.exclude(key).fill_null(0.0))
        both = both.with_columns(trace=pl.lit(number, pl.UInt32), delta_cycles_per_wave=delta)
        sides.append(both.sort(pl.col("delta_cycles_per_wave").abs(), key, descending=[True, False]))
    return pl.concat(sides).select(Comparison.tables["stall_classes" if kind == "stall" else "idle_parts"].names)
