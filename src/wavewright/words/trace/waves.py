"""Waves in words: the slowest first, and the instructions at which they spend more than usual waves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.compare.slow_waves import SlowWaves
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import legend, table_below

_EXPLAINED = 3  #: Slow waves whose rows are shown.
_CAUSES_EACH = 3  #: Rows that are shown of each.
_USUAL_COUNT = pl.col("instruction_count").median()  #: Instructions of the usual wave of a path.
_MORE_WORK = 1.05  #: A wave that ran more than this many times the instructions of the usual one had more to do.


def waves_report(answer: SlowWaves, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, the waves, and where the slowest spent more than the usual wave."""
    if not answer.waves.height:
        yield Sentence("no wave executed these instructions")
        return
    yield _verdict(answer)
    if answer.untraced_wave_count:
        yield sentence((_untraced(answer), "dim"))
    yield from table_below(
        "trace/waves/waves",
        answer.waves,
        limit=limit,
        stall=lambda row: percent(row["stall_cycles"] / max(row["cycles"], 1), 0) if row["instruction_count"] else "-",
        several_kernels=answer.waves["kernel"].n_unique() > 1,
        note=_note,
    )
    yield legend("trace/waves/waves")
    yield from _causes(answer, limit=limit)


def _verdict(answer: SlowWaves) -> Sentence:
    traced = answer.waves.filter(pl.col("instruction_count") > 0)
    if not traced.height:
        return headline(f"{counted(answer.waves.height, 'waves')}, none of them with traced instructions")
    slowest = traced.row(0, named=True)
    least, most = short(min(traced["cycles"].to_list())), short(slowest["cycles"])
    text = f"{counted(traced.height, 'waves')} of {least} to {most} cycles, median {short(answer.cycles_median or 0)}; "
    text += f"{counted(answer.outlier_count, 'outliers')}; " if answer.outlier_count else "no outlier; "
    details = f" ({_place(slowest)})"
    if slowest["cycles_ratio"] is not None and traced.filter(pl.col("path") == slowest["path"]).height > 1:
        details += f", {slowest['cycles_ratio']:.2f} times the median of its path"
    return sentence(text, (f"slowest: wave {slowest['wave']}", "bold"), details)


def _untraced(answer: SlowWaves) -> str:
    waves = answer.waves.filter(pl.col("instruction_count") == 0)
    engines = ", ".join(str(se) for se in sorted(waves["se"].unique().to_list()))
    verb = "has" if waves.height == 1 else "have"
    return f"{counted(waves.height, 'waves')} {verb} no traced instructions (SE {engines}): only their times are known"


def _causes(answer: SlowWaves, *, limit: int) -> Iterator[AnyBlock]:
    """Places at which slow waves spent more than those near the median of their path; one of those that are alike."""
    waves = {row["wave"]: row for row in answer.waves.iter_rows(named=True)}
    usual = dict(answer.waves.group_by("path").agg(_USUAL_COUNT).iter_rows())
    alike: dict[int | None, list[int]] = {}  # costliest row -> waves; None = these ran more instructions
    for wave, row in answer.causes.unique("wave", keep="first", maintain_order=True).select("wave", "row").iter_rows():
        has_more_work = waves[wave]["instruction_count"] > _MORE_WORK * usual[waves[wave]["path"]]
        alike.setdefault(None if has_more_work else row, []).append(wave)
    for row, (wave, *others) in list(alike.items())[: min(limit, _EXPLAINED)]:
        causes, path = answer.causes.filter(pl.col("wave") == wave), waves[wave]["path"]
        title = f"wave {wave} ({_place(waves[wave])})"
        if row is None:
            title += f" ran {waves[wave]['instruction_count']:,} instructions, the usual wave {usual[path]:,.0f}; it"
        title += f" spends more than the usual wave of path {path} at"
        yield from table_below("trace/waves/cause", causes, limit=min(limit, _CAUSES_EACH), title=title, hits=_hits)
        if others:
            what = "more instructions than usual were run by" if row is None else "the first of these costs most in"
            yield sentence((f"{what} wave {', '.join(map(str, others))} too", "dim"))


def _place(row: dict[str, Any]) -> str:
    return f"SE {row['se']}, CU {row['cu']}, SIMD {row['simd']}, slot {row['slot']}"


def _note(row: dict[str, Any]) -> str:
    words = {
        "no instructions": not row["instruction_count"],
        "outlier": row["is_outlier"],
        "early exit": row["is_early_exit"],
        "end not seen": not row["is_complete"],
    }
    return ", ".join(word for word, applies in words.items() if applies)


def _hits(row: dict[str, Any]) -> str:
    usual = row["reference_hit_count"]
    return f"{row['hit_count']:,}" if row["hit_count"] == usual else f"{row['hit_count']:,} not {usual:,.1f}"
