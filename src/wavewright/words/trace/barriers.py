"""Barriers in words: what waiting for the last wave costs, which wave is last, and where it spends longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.barriers import Barriers
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Named, Part, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, legend, table_below
from wavewright.words.kit.frame_tables import bar_cell, hexadecimal, place

_SYSTEMATIC = 1.5  #: A place is systematically last if it is so more than 1.5 times as often as by chance (1 / places).
_FEW_PLACES = 4  #: Up to so many places have their shares side by side; of more only the most frequent is shown.
_BARRIERS, _PER_BARRIER = 2, 3  #: Barriers for which rows are shown that made the last wave late, and rows of each.


def barriers_report(answer: Barriers, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, then every barrier with its meetings."""
    if not answer.rows.height:
        yield headline("no barrier was executed")
        return
    yield _verdict(answer)
    yield _workgroups(answer)
    yield GAP
    lost_cycles = max(answer.lost_cycles_total, 1)
    shares = _shares(answer)
    yield legend("trace/barriers/barriers")
    yield declared_table(
        "trace/barriers/barriers",
        answer.rows,
        limit=limit,
        bar=lambda row: bar_cell(row["lost_cycles_total"] / lost_cycles, 5),
        last=_last_heading(answer),
        shares=lambda row: shares.get(row["row"], ""),
        at=lambda row: place(row["file"], row["line"]) or row["text"],
    )
    yield from _causes(answer, limit)


def _causes(answer: Barriers, limit: int) -> Iterator[AnyBlock]:
    """Rows at which the last waves lose time on their way to the costliest barriers."""
    costliest = answer.rows.filter(pl.col("meeting_count") > 0).select("row", "address").head(min(limit, _BARRIERS))
    has_lines, row_limit = answer.causes["file"].count() > 0, min(limit, _PER_BARRIER)
    for barrier, address in costliest.iter_rows():
        causes = answer.causes.filter(pl.col("row") == barrier)
        title = f"on the way to the barrier at {address:#x}, the last wave spends longer at"
        yield from table_below("trace/barriers/causes", causes, limit=row_limit, title=title, has_lines=has_lines)


def _place_column(answer: Barriers) -> str:
    """The column that distinguishes waves of a workgroup: SIMD, or slot where all are on one SIMD (RDNA)."""
    return "simd" if answer.last_waves["simd"].n_unique() > 1 else "slot"


def _last_heading(answer: Barriers) -> str:
    places = _places(answer)
    heading = f"last {_place_name(answer)}"
    return f"{heading} {'/'.join(map(str, places))}" if len(places) <= _FEW_PLACES else heading


def _place_name(answer: Barriers) -> str:
    return "SIMD" if _place_column(answer) == "simd" else "slot"


def _places(answer: Barriers) -> list[int]:
    """The places whose waves were last somewhere, in order."""
    return sorted(answer.last_waves[_place_column(answer)].unique().to_list())


def _shares(answer: Barriers) -> dict[int, str]:
    """Row -> in percent, how often the wave of each place was last; of many places, only the most frequent."""
    shares_of: dict[int, dict[int, float]] = {}  # row -> place -> share
    last_shares = answer.last_waves.group_by("row", _place_column(answer)).agg(pl.col("last_share").sum())
    for row, last_place, share in last_shares.sort(_place_column(answer)).iter_rows():
        shares_of.setdefault(row, {})[last_place] = share
    places = _places(answer)
    texts = {}
    for row, shares in shares_of.items():
        if len(places) <= _FEW_PLACES:
            texts[row] = "/".join(f"{100 * shares.get(last_place, 0):.0f}" for last_place in places) + " %"
        else:
            most_frequent = max(shares, key=shares.__getitem__)
            texts[row] = f"{most_frequent}: {percent(shares[most_frequent], 0)}"
    return texts


def _verdict(answer: Barriers) -> Sentence:
    if not answer.workgroup_count:
        return headline("no two waves of a workgroup are in this trace or part of it: who is last cannot be told")
    verdict = f"waiting for the last wave at barriers costs {percent(answer.lost_share)} of all wave cycles"
    parts: list[Part] = [(verdict, "bold"), f" ({short(answer.lost_cycles_total)} cycles)"]
    worst: dict[str, Any] = answer.rows.row(0, named=True)
    column, name = _place_column(answer), _place_name(answer)
    last_share, place_count = worst[f"last_{column}_share"], answer.last_waves[column].n_unique()
    if worst["meeting_count"] and place_count > 1:
        last = f" no {name} is systematically last"
        if last_share > _SYSTEMATIC / place_count:
            last = f" the wave of {name} {worst[f'last_{column}']} is last in {percent(last_share, 0)} of the cases"
        parts += ["; at ", Named(hexadecimal(worst["address"]), "i"), last]
    return sentence(*parts)


def _workgroups(answer: Barriers) -> Sentence:
    each = " each" if answer.workgroup_count != 1 else ""
    text = f"{counted(answer.workgroup_count, 'workgroups')} of {answer.waves_per_workgroup:.1f} traced waves{each} met"
    if not answer.workgroup_count:
        text = "0 workgroups met"
    if answer.alone_wave_count:
        text += f"; {answer.alone_wave_count:,} waves met no other traced wave"
    return sentence((text, "dim"))
