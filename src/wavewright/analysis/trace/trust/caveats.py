"""Can the cycles of a trace be used? Every caveat with its numbers, what it means and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.common.caveats import SEVERITIES, Caveat
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.selection import whole_of
from wavewright.analysis.trace.trust.coverage import FEW_ROWS_SHARE, Coverage, coverage
from wavewright.analysis.trace.waits.wait_producers import IDLE_COLUMNS, resolve
from wavewright.base.toml import packaged
from wavewright.base.words import counted, percent
from wavewright.model.answer import once_per_trace
from wavewright.model.losses import LOSSES
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace

_TEXTS = packaged("caveats.toml", __package__)
_PARTIAL_ROWS_SHARE = 0.5  #: With a smaller share of the rows of entered functions executed, most code did not run.
_FEW_WAVES = 8  #: Fewer traced waves say little about others.
_FEW_INSTRUCTIONS = 2000  #: A trace with fewer instructions of all its waves is too short.
_SOME_UNRESOLVED_SHARE = 0.01  #: With a larger share of instructions without a PC, care is needed.
_MANY_INCOMPLETE_SHARE = 0.5  #: With a larger share of waves without their end, the cycles cannot be used.
_UNLIKE_RATIO = 1.25  #: Above this ratio of mean wave durations, the traced CUs and the others are unlike.
_SLIGHTLY_UNEVEN_RATIO, _UNEVEN_RATIO = 1.1, 2.0  #: Waves of the fullest shader engine over the emptiest: note, care.
_UNEVEN_WORK_RATIO = 1.5  #: Work is uneven above this ratio of instructions of the longest and shortest wave of a path.
_MANY_OUTLIERS_SHARE = 0.1  #: With a larger share of outliers among the waves, care is needed.
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


_WANTED_IN_PARTS = ("few_waves", "too_short", "uneven_engines", "uneven_work")  #: A part is small on purpose.
#: Losses that other caveats report with their share.
_TOLD_BY_COVERAGE = ("wave_incomplete", "stitch_incomplete", "no_waves")


def _caveat(
    name: str, numbers: dict[str, Any] | None = None, *, severity: str = "", advice: str = "", **words: object
) -> Caveat:
    """A caveat of `caveats.toml` with numbers and words filled in; `severity` and `advice` where they vary."""
    text, numbers = _TEXTS[name], numbers or {}
    sentence = text["sentence"].format(**numbers, **words)
    return Caveat(text.get("name", name), severity or text["severity"], sentence, advice or text["advice"], numbers)


def _of_waves(trace: ThreadTrace, scope: Coverage) -> Iterator[Caveat]:
    if trace.samples.height and not scope.wave_count:
        return
    if not scope.instruction_count and trace.stored_totals["hit_count"].sum():
        yield _caveat("instructions_missing")
        return
    if not scope.instruction_count:
        elsewhere = f"; {scope.all_wave_count:,} waves ran on other CUs" if scope.all_wave_count else ""
        yield _caveat("no_waves", {"all_wave_count": scope.all_wave_count}, elsewhere=elsewhere)
        return
    if scope.incomplete_wave_count:
        share = scope.incomplete_wave_count / scope.wave_count
        severity = "fatal" if share > _MANY_INCOMPLETE_SHARE else "care"
        numbers = {"incomplete_wave_count": scope.incomplete_wave_count, "share": share}
        yield _caveat("incomplete_waves", numbers, severity=severity, wave_count=scope.wave_count)
    if scope.untraced_wave_count:
        yield _untraced(scope)
    if scope.traced_wave_count < _FEW_WAVES:
        waves = _counted(scope.traced_wave_count, "wave was", "waves were")
        yield _caveat("few_waves", {"wave_count": scope.traced_wave_count}, waves=waves)
    if scope.instruction_count < _FEW_INSTRUCTIONS:
        yield _caveat("too_short", {"instruction_count": scope.instruction_count})
    if (cold := cold_share(trace)) >= COLD_SHARE:
        yield _caveat("cold_launch", {"share": cold}, percent=percent(cold))
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
    numbers = {"untraced_wave_count": scope.untraced_wave_count, "engines": engines}
    return _caveat("untraced_waves", numbers, waves=counted(scope.wave_count, "waves"), where=where)


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}"


def _of_paths(scope: Coverage) -> Iterator[Caveat]:
    works = scope.paths.filter(~pl.col("early_exit"))
    if scope.early_exit_wave_count:
        advice = f"look at the waves that did the work, e.g. --wave {works['first_wave'][0]}" if works.height else ""
        numbers = {
            "early_exit_wave_count": scope.early_exit_wave_count,
            "share": scope.early_exit_wave_count / scope.traced_wave_count,
            "rows": max(scope.paths.filter("early_exit")["distinct_row_count"], default=0),
            "full_rows": max(scope.paths["distinct_row_count"], default=0),
        }
        yield _caveat("early_exits", numbers, advice=advice, waves=counted(scope.traced_wave_count, "waves"))
    main = works.filter(pl.col("distinct_row_count") > 0).head(1)
    for least, most in main.select("instruction_count_min", "instruction_count_max").iter_rows():
        if least and most > least * _UNEVEN_WORK_RATIO:
            yield _caveat("uneven_work", {"instruction_count_min": least, "instruction_count_max": most})
    if outlier_count := scope.outliers.height:
        share = outlier_count / scope.wave_count
        severity = "care" if share > _MANY_OUTLIERS_SHARE else "note"
        waves = _counted(outlier_count, "wave needs", "waves need")
        yield _caveat("outlier_waves", {"outlier_count": outlier_count, "share": share}, severity=severity, waves=waves)


def _of_code(trace: ThreadTrace, scope: Coverage) -> Iterator[Caveat]:
    if scope.instruction_count and scope.unresolved_count:
        share = scope.unresolved_count / scope.instruction_count
        bounds = (("fatal", MANY_UNRESOLVED_SHARE), ("care", _SOME_UNRESOLVED_SHARE))
        severity = next((word for word, bound in bounds if share > bound), "note")
        # the advice of the loss that explains why code is missing; decoded directories have it in code.json
        causes = ("code_of_other_gpu", "no_disassembler", *(() if trace.code.height else ("missing_files",)))
        advice = next((LOSSES[cause].advice for cause in causes if cause in trace.losses["kind"]), "")
        numbers = {"unresolved_count": scope.unresolved_count, "share": share}
        yield _caveat(
            "unresolved", numbers, severity=severity, advice=advice, instruction_count=scope.instruction_count
        )
    if scope.entered_row_count and scope.executed_share < _PARTIAL_ROWS_SHARE:
        longest = max(scope.paths["instruction_count_max"], default=0)
        is_short = scope.executed_share < FEW_ROWS_SHARE and longest < _SHORT_WAVE_INSTRUCTIONS
        severity, advice, meaning = "note", "", "the rest did not run in these waves"
        if is_short:
            severity, advice = "fatal", "trace a dispatch, CU or problem whose waves take the main path"
            meaning = "the work of the kernel did not run in these waves"
            meaning += f": all {scope.wave_count:,} took the same short path" if scope.is_same_short_path else ""
        words = {"entered_row_count": scope.entered_row_count, "meaning": meaning}
        numbers = {"executed_row_count": scope.executed_row_count, "share": scope.executed_share}
        yield _caveat("few_rows", numbers, severity=severity, advice=advice, **words)


def _of_place(trace: ThreadTrace, scope: Coverage) -> Iterator[Caveat]:
    target, other = scope.target_duration_cycles_mean, scope.other_duration_cycles_mean
    if target and other and max(target / other, other / target) > _UNLIKE_RATIO:
        numbers = {"target_duration_cycles_mean": target, "other_duration_cycles_mean": other}
        yield _caveat("unlike_other_cus", numbers, ratio=target / other)
    counts = scope.engines.filter(pl.col("instruction_count") > 0)["wave_count"].to_list()
    if counts and max(counts) > _SLIGHTLY_UNEVEN_RATIO * min(counts):
        severity = "care" if max(counts) > _UNEVEN_RATIO * min(counts) else "note"
        yield _caveat("uneven_engines", {"wave_counts": counts}, severity=severity, counts=", ".join(map(str, counts)))
    if row_count := differing_row_count(trace):
        yield _caveat("stored_totals_differ", {"row_count": row_count})


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
