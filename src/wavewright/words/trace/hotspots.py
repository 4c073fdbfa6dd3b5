"""Hotspots in words: a verdict, and the costliest lines, instructions, blocks, ... by cycles or by PC samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.trace.costs.hotspots import Hotspots, SampleHotspots
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Part, Sentence, Table, sentence
from wavewright.words.kit.declared_tables import declared_columns, declared_table
from wavewright.words.kit.frame_tables import Column, brief_place, place

_PLURALS: dict[str, str] = packaged("texts.toml", __package__)["units"]
#: Unit -> what rows that belong to none are called.
_WITHOUT_UNIT: dict[str, str] = packaged("texts.toml", __package__)["without_unit"]
_HOST_TRAP = "; host-trap samples tell where waves were, not whether they issued or stalled"
#: Share of a unit -> what it is a share of.
_WHOLES = {"exposed_share": "the exposed cycles", "stall_share": "the stall cycles", "cycles_share": "all cycles"}
_SORTED_SHARES = {"exposed": "exposed_share", "stall": "stall_share"}
_MARK = "*"  #: Behind lines that collect code of the compiler.
_COLLECTING_NOTE = (
    f"{_MARK} a quarter or more of the instructions of its file have this line: most often that of a decorator or of a "
    "function's head, which the compiler gave to what it made itself; look at the other lines, and at `coverage`"
)
_SORT_WORDS: dict[str, str] = packaged("texts.toml", __package__)["sorted_by"]


def hotspots_report(answer: Hotspots | SampleHotspots, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict and the costliest units, of instructions or of PC samples."""
    if isinstance(answer, SampleHotspots):
        yield from _sample_report(answer, limit=limit)
    elif not answer.units.height:
        yield Sentence("no instruction was executed")
    else:
        yield _verdict(answer)
        if answer.basis != "instructions":
            note = "the trace has no instructions; these are the sums that its files store, without exposed cycles"
            yield Sentence(note, "note")
        if answer.units["is_collecting"].head(limit).any():
            yield Sentence(_COLLECTING_NOTE, "note")
        yield GAP
        yield hotspot_table(answer, limit=limit)


def hotspot_table(answer: Hotspots, *, limit: int) -> Table:
    """The costliest units; the title has the number of hidden ones."""
    share = _share_of(answer)
    units = answer.units.with_columns(sorted_share=share)
    return declared_table(
        "trace/hotspots/units",
        units,
        limit=limit,
        rows=_unit_name(answer),
        title=f"by {_SORT_WORDS[answer.sort]}",
        has_exposed=answer.exposed_cycles_total is not None,
        is_single=answer.by in ("instruction", "kind"),
        has_lanes=answer.units["extra_lds_cycles_total"].null_count() == 0,
        names=_names(answer.by),
    )


def _sample_report(answer: SampleHotspots, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, the reasons of stalls and the most sampled units."""
    if not answer.sample_count:
        yield Sentence("no sample")
        return
    informative = answer.sample_count - answer.unknown_count
    verdict = counted(answer.sample_count, "samples")
    verdict += f", {percent(answer.stalled_count / informative)} stalled" if informative else _HOST_TRAP
    for row in answer.reasons.head(3).iter_rows(named=True):
        verdict += f"; {row['reason']} {percent(row['share'])}"
    has_addresses = answer.units["address"].drop_nulls().len() > 0
    names = [column for column in _names(answer.by) if column.heading != "address" or has_addresses]
    has_reasons = informative > 0
    yield Sentence(verdict)
    yield GAP
    yield declared_table(
        "trace/hotspots/samples",
        answer.units,
        limit=limit,
        rows=_unit_name(answer),
        has_reasons=has_reasons,
        names=names,
    )


def _share_of(answer: Hotspots) -> str:
    """The share that fits what the units are sorted by."""
    return _SORTED_SHARES.get(answer.sort, "cycles_share")


def _unit_name(answer: Hotspots | SampleHotspots) -> str:
    return _PLURALS[answer.by] if answer.units.height != 1 else answer.by


def _verdict(answer: Hotspots) -> Sentence:
    cycles = answer.latency_cycles_total + answer.idle_cycles_total
    text = f"{short(cycles)} cycles of waves ({short(answer.hit_count)} executions): "
    stall, idle = answer.stall_cycles_total, answer.idle_cycles_total
    parts = {"stall": stall, "issue": answer.latency_cycles_total - stall, "idle": idle}
    text += ", ".join(f"{name} {percent(amount / cycles if cycles else 0)}" for name, amount in parts.items())
    if answer.exposed_cycles_total is not None and cycles:
        text += f"; {percent(answer.exposed_cycles_total / cycles)} of them exposed"
    if answer.cycles_share < 1:
        text += f"; this choice is {percent(answer.cycles_share)} of the trace"
    return sentence(text, "; ", *_concentration(answer))


def _concentration(answer: Hotspots) -> Iterator[Part]:
    """The smallest number of units that make up most of the cost."""
    share = _share_of(answer)
    shares = [value or 0.0 for value in answer.units[share].to_list()]
    unit_count = 0  # of the costliest
    summed_share, most_of_it = 0.0, 0.8 * sum(shares)
    while summed_share < most_of_it:
        summed_share += shares[unit_count]
        unit_count += 1
    top = answer.units.row(0, named=True)
    name = top["unit"] if answer.by not in ("instruction", "line") else _where(top, answer.by)
    yield from ("hottest: ", (printable(name or _WITHOUT_UNIT.get(answer.by, "")), "bold"))
    if answer.units.height > 1:
        make = "makes" if unit_count == 1 else "make"
        yield f" ({percent(top[share])} of {_WHOLES[share]}); {unit_count:,} of {answer.units.height:,}"
        yield f" {_PLURALS[answer.by]} {make} up 80 % of that"


def _where(row: dict[str, Any], by: str) -> str:
    where = place(row["file"], row["line"])
    if by == "line":
        return where or _WITHOUT_UNIT["line"]
    return f"{row['text'] or '?'}{f' ({where})' if where else ''}"


def _names(by: str) -> list[Column]:
    """The columns that say which unit a row is."""
    table = by if by in ("instruction", "line") else "range" if by in ("block", "loop") else "other"
    return declared_columns(
        f"trace/hotspots/{table}",
        by=by,
        line=_line_cell,
        unit=lambda row: (row["unit"] or _WITHOUT_UNIT[by]).removeprefix(f"{by} "),
    )


def _line_cell(row: dict[str, Any]) -> str:
    mark = _MARK if row.get("is_collecting") else ""
    return (brief_place(row["file"], row["line"]) or _WITHOUT_UNIT["line"]) + mark
