"""Edits of a block in words: what they gain, what they need, and how the listing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.common.run_gain import RunGain
from wavewright.base.words import counted, duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.run_gain import calls_words, run_gain_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.trace.what_if import WhatIf


def what_if_report(answer: WhatIf, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, the edits, and how the first of them changes the listing."""
    yield headline(verdict(answer))
    yield sentence((_subject(answer), "dim"))
    for text in (*_measured(answer), *_in_run(answer)):
        yield Sentence(text)
    yield GAP
    yield declared_table(
        "trace/what_if/edits",
        answer.edits,
        limit=limit,
        gain=_gain_cell,
        about=lambda row: "" if row["gain_about_share"] is None else _points(row["gain_about_share"]),
        registers=_registers_cell,
        note=_note,
    )
    first = answer.edits.filter(pl.col("vgprs").is_not_null()).head(1)
    if first.height:
        yield GAP
        yield from _changes(answer, first["edit"][0], limit)
    for text in _notes(answer):
        yield Sentence(text, "note")


def verdict(answer: WhatIf) -> str:
    """The best edit in one sentence."""
    best = answer.edits.row(0, named=True) if answer.edits.height else None
    if best is None:
        return "No order could be tried"
    name = best["name"] if answer.searched_count else f"{best['name']}:"
    if best["verdict"] == "refused":
        return f"{name} refused: {best['reason']}"
    if best["verdict"] == "not timed":
        return f"{name} legal, but not timed: {best['reason']}"
    if best["verdict"] == "bound only":
        return (
            f"{name} gains no more than {_points(best['gain_high_share'])} of the time; whether anything is not known"
        )
    if best["gain_low_share"] == best["gain_high_share"] == 0:
        return f"{name} leaves the code as it is"
    if best["verdict"] == "certain gain":
        return f"{name} gains {_interval(best)} of the time"
    if best["verdict"] == "certain loss":
        return f"{name} loses {_interval(best, sign=-1)} of the time"
    if answer.searched_count:
        orders = counted(answer.searched_count, "orders")
        return f"None of {orders} gains 1 % of the time for certain; the best one {_interval(best)} of it"
    return f"{name} no certain gain, {_interval(best)} of the time"


def _measured(answer: WhatIf) -> Iterator[str]:
    """The measured time beside the interval."""
    for row in answer.measured.iter_rows(named=True):
        edit = answer.edits.filter(edit=row["edit"]).row(0, named=True)
        prediction = _gain_cell(edit)
        noise = "" if row["is_noise_known"] else ", its noise is not known"
        change = "less" if row["gain_share"] >= 0 else "more"
        yield (
            f"measured: {duration(row['after_ns'])} instead of {duration(row['before_ns'])},"
            f" {_points(abs(row['gain_share']))} {change} (+- {percent(row['noise_share'])}{noise}):"
            f" {row['verdict']} ({prediction})"
        )


def _in_run(answer: WhatIf) -> Iterator[str]:
    """A certain gain, carried to the run beside the trace and to its steps."""
    certain = answer.edits.filter(pl.col("verdict") == "certain gain")["edit"]
    for row in answer.runs.filter(pl.col("edit").is_in(certain)).head(1).iter_rows(named=True):
        edit, unknown = row.pop("edit"), row.pop("unknown") or ""  # all other columns are fields of `RunGain`
        times = {name: row.pop(name) or 0 for name in ("gain_ns_min", "gain_ns_max")}
        gain = RunGain(**row, **times, unknown=unknown)
        words = run_gain_words(gain)
        yield f"edit {edit} in the run beside the trace: {calls_words(gain)}{f'; {words}' if words else ''}"


def _interval(row: dict[str, Any], sign: int = 1) -> str:
    low, high = sorted((sign * row["gain_low_share"], sign * row["gain_high_share"]))
    return f"{_points(low)} to {_points(high)}"


def _points(share: float) -> str:
    return percent(share) if abs(share) >= 0.0005 else "0 %"  # no -0.0 %


def _subject(answer: WhatIf) -> str:
    kind = "loop" if answer.is_loop else "block"
    waves = "" if answer.waves_per_simd_limit is None else f", {counted(answer.waves_per_simd_limit, 'waves')} per SIMD"
    times = f", executed {answer.execution_count:,} times" if answer.execution_count else ""
    return (
        f"{kind} of rows {answer.first_row} to {answer.last_row}{times}; without all"
        f" of its stalls {percent(max(0.0, answer.bound_share))} of the time would be saved: no order gains more."
        f" {answer.vgprs} vector registers{waves}"
    )


def _gain_cell(row: dict[str, Any]) -> str:
    if row["verdict"] == "bound only":
        return f"at most {_points(row['gain_high_share'])}"
    return row["verdict"] if row["gain_low_share"] is None else _interval(row)


def _registers_cell(row: dict[str, Any]) -> str:
    if row["vgprs"] is None:
        return ""
    return f"{row['vgprs']} ({row['vgprs_more']:+d})" if row["vgprs_more"] else str(row["vgprs"])


def _note(row: dict[str, Any]) -> str:
    if row["reason"] or row["needs"]:
        return "; ".join(str(row[name]) for name in ("needs", "reason") if row[name])
    parts = ["certain"] if row["verdict"] == "certain gain" else []
    if row["is_extrapolated"]:
        parts.append("extrapolated: fewer operations are in flight at a wait than in any recorded execution")
    if row["moved_value_count"]:
        parts.append(f"{counted(row['moved_value_count'], 'values')} in other registers")
    return "; ".join(parts)


def _changes(answer: WhatIf, edit: int, limit: int) -> Iterator[AnyBlock]:
    """Rows of the new listing that moved, differ or are new, with the waits that were derived."""
    listing = answer.listing.filter(edit=edit)
    differing_rows = listing.filter((pl.col("moved_by").abs() > 1) | pl.col("is_changed"))
    needs: dict[int, list[str]] = {}
    for row, needed in answer.waits.filter(edit=edit).select("row", "needed_row").rows():
        needs.setdefault(row, []).append(str(needed))
    next_rows = listing["row"].fill_null(strategy="backward")  # a row that was put in has none of its own
    row_from = dict(zip(listing["place"], next_rows, strict=True))
    if not differing_rows.height:
        yield Sentence(f"edit {edit} leaves the listing as it is")
        return
    yield declared_table(
        "trace/what_if/changes",
        differing_rows,
        limit=limit,
        title=f"edit {edit}, rows that differ",
        mark=_mark,
        why=lambda row: _why(row, needs.get(row_from[row["place"]], [])),
    )


def _why(row: dict[str, Any], needed_rows: list[str]) -> str:
    """Reason of a row that was put in."""
    if row["row"] is not None:
        return ""
    return "wait states" if row["text"].startswith("s_nop") else f"for row {', '.join(needed_rows)}"


def _mark(row: dict[str, Any]) -> str:
    if row["part"] != "block":
        return f"+ {row['part']}"
    if row["row"] is None:
        return "+ derived"
    if row["moved_by"]:
        return f"~ {abs(row['moved_by'])} {'earlier' if row['moved_by'] < 0 else 'later'}"
    return "~ operands"


def _notes(answer: WhatIf) -> list[str]:
    notes = []
    if answer.disjoint_pair_count:
        pairs = counted(answer.disjoint_pair_count, "pairs of LDS rows")
        notes.append(f"{pairs} never touch the same bytes on the executed path, by evaluated lane addresses")
    queues = [
        f"{row['unit']} {row['cycles_per_dword']:.1f} cycles per dword"
        f" ({'believed' if row['is_identified'] else 'not identified'})"
        for row in answer.queues.iter_rows(named=True)
        if row["cycles_per_dword"]
    ]
    if queues:
        notes.append(f"queues fitted to this trace: {', '.join(queues)}")
    if answer.assumptions:
        notes.append(f"assumed, not proven: {', '.join(answer.assumptions)}")
    notes.append(
        "an interval is about the traced dispatch in another order, with its caches, clock and instruction fetch."
        " It does not cover how dispatches differ (of one kernel on MI300X two traced ones by 28 %, medians of 150 by"
        " 3 to 5 %): compare medians of many launches with it"
    )
    return notes
