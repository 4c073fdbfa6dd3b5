"""Can the cycles of a trace be used? Every caveat with its numbers, what it means and what to do."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.common.caveats import SEVERITIES, Caveat
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.selection import whole_of
from wavewright.analysis.trace.trust.coverage import FEW_ROWS_SHARE, Coverage, coverage
from wavewright.analysis.trace.waits.wait_producers import IDLE_COLUMNS, resolve
from wavewright.base.words import counted, percent
from wavewright.model.answer import once_per_trace
from wavewright.model.losses import LOSSES
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace

_PARTIAL_ROWS_SHARE = 0.5
_FEW_WAVES = 8
_FEW_INSTRUCTIONS = 2000
_SOME_UNRESOLVED_SHARE = 0.01
_MANY_INCOMPLETE_SHARE = 0.5
_UNLIKE_RATIO = 1.25
_UNEVEN_RATIO = 2.0
_SLIGHTLY_UNEVEN_RATIO = 1.1
_UNEVEN_WORK_RATIO = 1.5
_MANY_OUTLIERS_SHARE = 0.1
#: With fewer instructions per wave in a small part of the code, a kernel did not work.
_SHORT_WAVE_INSTRUCTIONS = 100
#: Share of the cycles of all waves that wait for code which no wave of their CU executed before, from which on a launch
#: is cold. Of 45 captures, the warm ones spend at most 2.2 % there, the first launches of a process 10.5 % or more.
COLD_SHARE = 0.05
MANY_UNRESOLVED_SHARE = 0.2  #: With more instructions without a PC, the code of a trace is not known.


@once_per_trace
def caveats_of_cycles(trace: ThreadTrace) -> tuple[Caveat, ...]:
    """Everything that speaks against using the cycles of a trace, worst first.

    That a part of a trace (`selection.select`) has few waves or instructions was wanted, and is no caveat; that the
    whole trace has few is one about its parts too.
    """
    scope = coverage(trace)
    caveats = [*_of_losses(trace), *_of_waves(trace, scope), *_of_code(trace, scope), *_of_place(trace, scope)]
    if trace.part_of is not None:
        caveats = [caveat for caveat in caveats if caveat.name not in _WANTED_IN_PARTS]
        caveats += [caveat for caveat in caveats_of_cycles(trace.part_of[0]) if caveat.name in _WANTED_IN_PARTS]
    return tuple(sorted(caveats, key=lambda caveat: SEVERITIES.index(caveat.severity)))


def _of_losses(trace: ThreadTrace) -> Iterator[Caveat]:
    kinds = trace.losses.group_by("kind", maintain_order=True).agg(
        pl.col("count").sum(), pl.col("message").first(), pl.col("advice").first()
    )
    for kind, count, message, advice in kinds.iter_rows():
        loss = LOSSES.get(kind)
        if (loss is None or loss.is_damage) and kind not in _TOLD_BY_COVERAGE:
            yield Caveat(f"loss_{kind}", "care", message, advice, {"count": count})
        elif kind == "launch_of_another_run":
            yield Caveat(f"loss_{kind}", "note", message, advice, {"count": count})


_WANTED_IN_PARTS = ("few_waves", "too_short", "uneven_engines", "uneven_work")
#: Losses that other caveats report with their share.
_TOLD_BY_COVERAGE = ("wave_incomplete", "stitch_incomplete", "no_waves")


def _of_waves(trace: ThreadTrace, scope: Coverage) -> Iterator[Caveat]:
    if trace.samples.height and not scope.wave_count:
        return
    if not scope.instruction_count and trace.stored_totals["hit_count"].sum():
        what = "the instructions are missing: only the sums that code.json stores are there"
        yield Caveat("no_waves", "fatal", what, "copy the whole directory; hotspots and stalls --classic use the sums")
        return
    if not scope.instruction_count:
        elsewhere = f"; {scope.all_wave_count:,} waves ran on other CUs" if scope.all_wave_count else ""
        what = "no instruction was traced" + elsewhere
        advice = "trace another CU or shader engine, or a larger grid; an empty slot of a capture looks like this too"
        yield Caveat("no_waves", "fatal", what, advice, {"all_wave_count": scope.all_wave_count})
        return
    if scope.incomplete_wave_count:
        share = scope.incomplete_wave_count / scope.wave_count
        yield Caveat(
            "incomplete_waves",
            "fatal" if share > _MANY_INCOMPLETE_SHARE else "care",
            f"{scope.incomplete_wave_count:,} of {scope.wave_count:,} waves have no end: their last part is missing",
            "enlarge the trace buffer, or trace fewer waves or a shorter kernel",
            {"incomplete_wave_count": scope.incomplete_wave_count, "share": share},
        )
    if scope.untraced_wave_count:
        yield _untraced(scope)
    if scope.traced_wave_count < _FEW_WAVES:
        yield Caveat(
            "few_waves",
            "care",
            f"only {_counted(scope.traced_wave_count, 'wave was', 'waves were')} traced: their spread says little "
            "about others",
            "trace more shader engines (--att-shader-engine-mask), or a larger problem",
            {"wave_count": scope.traced_wave_count},
        )
    if scope.instruction_count < _FEW_INSTRUCTIONS:
        yield Caveat(
            "too_short",
            "care",
            f"only {scope.instruction_count:,} instructions: start-up (argument loads, cold instruction cache) weighs "
            "as much as the work",
            "trace a larger problem or more waves",
            {"instruction_count": scope.instruction_count},
        )
    if (cold := cold_share(trace)) >= COLD_SHARE:
        yield Caveat(
            "cold_launch",
            "care",
            f"a cold launch: waves wait {percent(cold)} of their cycles for code that their CU never ran before",
            "trace a later launch (rocprofv3 --kernel-iteration-range), unless the kernel runs only once",
            {"share": cold},
        )
    yield from _of_paths(scope)


@once_per_trace
def cold_share(trace: ThreadTrace) -> float:
    """Share of the cycles of all waves that wait for the first fetch of code."""
    idle, latency = resolve(trace).idle, int(resolve(trace).groups["latency_cycles_total"].sum())
    total = latency + int(idle.select(pl.sum_horizontal(IDLE_COLUMNS)).to_series().sum())
    return int(idle["cold_fetch_cycles_total"].sum()) / total if total else 0.0


def _untraced(scope: Coverage) -> Caveat:
    engines = scope.engines.filter((pl.col("wave_count") > 0) & (pl.col("instruction_count") == 0))["se"].to_list()
    within = scope.engines.filter(pl.col("instruction_count") > 0)["untraced_wave_count"].sum() > 0
    where = "" if within or not engines else f" (SE {', '.join(map(str, engines))})"
    return Caveat(
        "untraced_waves",
        "note",
        f"{scope.untraced_wave_count:,} of {counted(scope.wave_count, 'waves')} have no traced instructions{where}",
        "costs per instruction are those of the other waves; to see these too, trace the instructions of their CU",
        {"untraced_wave_count": scope.untraced_wave_count, "engines": engines},
    )


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}"


def _of_paths(scope: Coverage) -> Iterator[Caveat]:
    if scope.early_exit_wave_count:
        early = scope.paths.filter("early_exit")
        traced = scope.traced_wave_count
        rows = int(early["distinct_row_count"].max() or 0)  # type: ignore[arg-type]
        full = int(scope.paths["distinct_row_count"].max() or 0)  # type: ignore[arg-type]
        chosen = scope.paths.filter(~pl.col("early_exit"))["first_wave"].head(1).to_list()
        yield Caveat(
            "early_exits",
            "care",
            f"{scope.early_exit_wave_count:,} of {counted(traced, 'waves')} left early, after at most {rows:,} of "
            f"{full:,} different instructions: means per wave mix two kinds of waves",
            f"look at the waves that did the work, e.g. --wave {chosen[0]}" if chosen else "trace a wave with work",
            {
                "early_exit_wave_count": scope.early_exit_wave_count,
                "share": scope.early_exit_wave_count / traced,
                "rows": rows,
                "full_rows": full,
            },
        )
    working = scope.paths.filter(~pl.col("early_exit") & (pl.col("distinct_row_count") > 0)).head(1)
    for least, most in working.select("instruction_count_min", "instruction_count_max").iter_rows():
        if least and most > least * _UNEVEN_WORK_RATIO:
            yield Caveat(
                "uneven_work",
                "note",
                f"waves on the same path ran from {least:,} to {most:,} instructions: loops differ in trips",
                "compare cycles per execution, not per wave; --wave looks at one of them",
                {"instruction_count_min": least, "instruction_count_max": most},
            )
    if scope.outliers.height:
        share = scope.outliers.height / scope.wave_count
        yield Caveat(
            "outlier_waves",
            "care" if share > _MANY_OUTLIERS_SHARE else "note",
            f"{_counted(scope.outliers.height, 'wave needs', 'waves need')} far more or fewer cycles per instruction "
            "than others on the same path",
            "`wavewright waves` tells where; the first waves on a CU often pay for cold caches",
            {"outlier_count": scope.outliers.height, "share": share},
        )


def _of_code(trace: ThreadTrace, scope: Coverage) -> Iterator[Caveat]:
    if scope.instruction_count and scope.unresolved_count:
        share = scope.unresolved_count / scope.instruction_count
        many, some = share > MANY_UNRESOLVED_SHARE, share > _SOME_UNRESOLVED_SHARE
        yield Caveat(
            "unresolved",
            "fatal" if many else "care" if some else "note",
            f"{scope.unresolved_count:,} of {scope.instruction_count:,} instructions have no known PC",
            _advice_for_code(trace),
            {"unresolved_count": scope.unresolved_count, "share": share},
        )
    if scope.entered_row_count and scope.executed_share < _PARTIAL_ROWS_SHARE:
        longest = int(scope.paths["instruction_count_max"].max() or 0)  # type: ignore[arg-type]
        few = scope.executed_share < FEW_ROWS_SHARE and longest < _SHORT_WAVE_INSTRUCTIONS
        meaning = _short_path(scope) if few else "the rest did not run in these waves"
        yield Caveat(
            "few_rows",
            "fatal" if few else "note",
            f"only {scope.executed_row_count:,} of {scope.entered_row_count:,} instructions of the kernel were executed"
            f": {meaning}",
            "trace a dispatch, CU or problem whose waves take the main path"
            if few
            else "check that the path you care about ran",
            {"executed_row_count": scope.executed_row_count, "share": scope.executed_share},
        )


def _advice_for_code(trace: ThreadTrace) -> str:
    """Advice when the code is missing: that of the loss which explains it. Decoded directories have it in code.json."""
    causes = ("code_of_other_gpu", "no_disassembler", *(() if trace.code.height else ("missing_files",)))
    for cause in causes:
        if cause in trace.losses["kind"]:
            return LOSSES[cause].advice
    return "put every code object of the capture beside the trace"


def _short_path(scope: Coverage) -> str:
    undone = "the work of the kernel did not run in these waves"
    return f"{undone}: all {scope.wave_count:,} took the same short path" if scope.is_same_short_path else undone


def _of_place(trace: ThreadTrace, scope: Coverage) -> Iterator[Caveat]:
    target, other = scope.target_duration_cycles_mean, scope.other_duration_cycles_mean
    if target and other and max(target / other, other / target) > _UNLIKE_RATIO:
        yield Caveat(
            "unlike_other_cus",
            "care",
            f"waves of the traced CUs lived {target / other:.2f} times as long as those of the other CUs "
            f"({target:,.0f} and {other:,.0f} cycles)",
            "the traced CU may not stand for the kernel: trace another CU (--att-target-cu) and compare",
            {"target_duration_cycles_mean": target, "other_duration_cycles_mean": other},
        )
    counts = scope.engines.filter(pl.col("instruction_count") > 0)["wave_count"].to_list()
    if counts and max(counts) > _SLIGHTLY_UNEVEN_RATIO * min(counts):
        yield Caveat(
            "uneven_engines",
            "care" if max(counts) > _UNEVEN_RATIO * min(counts) else "note",
            f"the traced CUs had {', '.join(map(str, counts))} waves: sums lean towards the fuller ones",
            "--se looks at one shader engine",
            {"wave_counts": counts},
        )
    differing = differing_row_count(trace)
    if differing:
        yield Caveat(
            "stored_totals_differ",
            "care",
            f"totals stored in the directory differ from its wave files in {differing:,} rows",
            "the directory is mixed or incomplete; all numbers here come from the wave files",
            {"row_count": differing},
        )


_TOTALS = [column.name for column in THREAD_TRACE["stored_totals"].columns if column.name != "row"]


@once_per_trace
def differing_row_count(trace: ThreadTrace) -> int:
    """Code rows whose stored totals are not those of the instructions; raw captures and PC samples store none."""
    whole_trace, _ = whole_of(trace)
    recorded_totals = whole_trace.stored_totals.rename({name: f"stored_{name}" for name in _TOTALS})
    if not (recorded_totals.height and whole_trace.instructions.height):
        return 0
    # writers count the two records of a gfx9 barrier as one execution, as we do, or as two
    records = whole_trace.instructions.group_by("row").agg(hit_count_of_records=pl.len())
    totals = row_totals(whole_trace).join(records, on="row", how="left")
    rows = totals.join(recorded_totals, on="row", how="full", coalesce=True).sort("row")
    both = rows.with_columns(pl.exclude("row").fill_null(0).cast(pl.Int64))
    stored_count, *cycles = (pl.col(f"stored_{name}") for name in _TOTALS)
    differs = (stored_count != pl.col(_TOTALS[0])) & (stored_count != pl.col("hit_count_of_records"))
    differs |= pl.any_horizontal(pl.col(name) != column for name, column in zip(_TOTALS[1:], cycles, strict=True))
    return both.filter(differs).height
