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

_SYSTEMATIC = 1.5  #: A place is systematically last when it is so much more often than by chance.
_FEW_PLACES = 4  #: So many places have their shares side by side.
_BARRIERS, _PER_BARRIER = 2, 3  #: Barriers whose causes are shown, and causes of each.


def barriers_report(answer: Barriers, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, then every barrier with its meetings."""
    if not answer.rows.height:
        yield headline("no barrier was executed")
        return
    yield _verdict(answer)
    yield _workgroups(answer)
    yield GAP
    lost = max(answer.lost_cycles_total, 1)
    shares = _shares(answer)
    yield legend("trace/barriers/barriers")
    yield declared_table(
        "trace/barriers/barriers",
        answer.rows,
        limit=limit,
        bar=lambda row: bar_cell(row["lost_cycles_total"] / lost, 5),
        last=_last_heading(answer),
        shares=lambda row: shares.get(row["row"], ""),
        at=lambda row: place(row["file"], row["line"]) or row["text"],
    )
    yield from _causes(answer, limit)


def _causes(answer: Barriers, limit: int) -> Iterator[AnyBlock]:
    """Rows at which the last waves lose time on their way to the costliest barriers."""
    shown = answer.rows.filter(pl.col("meeting_count") > 0).select("row", "address").head(min(limit, _BARRIERS))
    has_lines, most = answer.causes["file"].count() > 0, min(limit, _PER_BARRIER)
    for barrier, address in shown.iter_rows():
        causes = answer.causes.filter(pl.col("row") == barrier)
        title = f"on the way to the barrier at {address:#x}, the last wave spends longer at"
        yield from table_below("trace/barriers/causes", causes, limit=most, title=title, has_lines=has_lines)


def _place(answer: Barriers) -> str:
    """The column that distinguishes waves of a workgroup: SIMD, or slot where all are on one SIMD (RDNA)."""
    return "simd" if answer.last_waves["simd"].n_unique() > 1 else "slot"


def _last_heading(answer: Barriers) -> str:
    name, places = "SIMD" if _place(answer) == "simd" else "slot", _places(answer)
    return f"last {name} {'/'.join(map(str, places))}" if len(places) <= _FEW_PLACES else f"last {name}"


def _places(answer: Barriers) -> list[int]:
    """The places whose waves were last somewhere, in order."""
    return sorted(answer.last_waves[_place(answer)].unique().to_list())


def _shares(answer: Barriers) -> dict[int, str]:
    """Row -> in percent, how often the wave of each place was last; of many places, only the most frequent."""
    shares: dict[int, dict[int, float]] = {}
    last_shares = answer.last_waves.group_by("row", _place(answer)).agg(pl.col("last_share").sum())
    for row, at, share in last_shares.sort(_place(answer)).iter_rows():
        shares.setdefault(row, {})[at] = share
    places = _places(answer)
    if len(places) > _FEW_PLACES:
        most = {row: max(of_row, key=of_row.__getitem__) for row, of_row in shares.items()}
        return {row: f"{at}: {percent(shares[row][at], 0)}" for row, at in most.items()}
    return {row: "/".join(f"{100 * of_row.get(at, 0):.0f}" for at in places) + " %" for row, of_row in shares.items()}


def _verdict(answer: Barriers) -> Sentence:
    if not answer.workgroup_count:
        return headline("no two waves of a workgroup are in this trace or part of it: who is last cannot be told")
    verdict = f"waiting for the last wave at barriers costs {percent(answer.lost_share)} of all wave cycles"
    parts: list[Part] = [(verdict, "bold"), f" ({short(answer.lost_cycles_total)} cycles)"]
    worst: dict[str, Any] = answer.rows.row(0, named=True)
    place = _place(answer)
    often, count = worst[f"last_{place}_share"], answer.last_waves[place].n_unique()
    if worst["meeting_count"] and count > 1:
        name = "SIMD" if place == "simd" else "slot"
        last = f" no {name} is systematically last"
        if often > _SYSTEMATIC / count:
            last = f" the wave of {name} {worst[f'last_{place}']} is last in {percent(often, 0)} of the cases"
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
