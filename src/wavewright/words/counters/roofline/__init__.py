"""A roofline: the conclusion, the numbers of every kernel and roof, and the plot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.counters.roofline.geometry import RooflinePicture, picture_of
from wavewright.analysis.counters.roofline.kinds import SHOWN_LEVELS
from wavewright.analysis.counters.roofline.points import NEAR
from wavewright.base.shown import printable
from wavewright.base.words import percent, some_of
from wavewright.model.blocks import AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.counters.roofline.plot import roofline_chart
from wavewright.words.counters.roofline.roof_labels import (
    bound_words,
    intensity,
    letter,
    level_marks,
    points_at,
    rate,
    source,
    subject,
    work_done,
)
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.frame_tables import Column

_MAX_NAME = 60  #: Characters of the name of a kernel.
_MAX_LETTERS = 10  #: Kernels that a line about what is not drawn names, and such lines about bytes only.
_VERY_WIDE = 160  #: Characters from which on there is room for operations by kind.


def roofline_report(
    answer: Roofline,
    *,
    levels: Sequence[str] = (),
    precisions: Sequence[str] = (),
    limit: int,
    width: int,
    ascii_only: bool = False,
) -> Iterator[AnyBlock]:
    """Blocks of the answer in order; `limit` rows and marks are shown."""
    picture = picture_of(answer, levels=levels, precisions=precisions, limit=limit)
    if answer.kernels.height:
        first = answer.kernels.row(0, named=True)
        yield headline(f"{brief(first['kernel_name'], _MAX_NAME)}: {first['verdict']}")
    yield Sentence(f"{subject(answer)}; {source(picture.roofs)}")
    yield _kernel_table(answer, picture, limit, width)
    if any(bound_words(row).startswith("(") for row in answer.kernels.head(limit).iter_rows(named=True)):
        yield sentence((f"(in brackets) the nearest roof, though below {percent(NEAR, 0)} of it: none binds", "dim"))
    yield _ceiling_table(answer, picture)
    if picture.roofs or picture.marks:
        yield roofline_chart(picture, width, ascii_only=ascii_only)
        if picture.marks:
            marks = level_marks([mark.level for mark in picture.marks])
            yield Sentence(f"a mark is a letter of the table and a level: {marks}")
    if picture.unit == "GIOP/s" and not precisions:
        yield Sentence("no kernel has floating-point operations: integer operations are plotted")
    yield from _not_drawn(answer, picture, levels, limit)
    if answer.target and any("not measured" in reason for reason in answer.points["reason"]):
        target = answer.target.split(":", 1)[0]
        plan = f"try: wavewright counters --plan --panel sol --target {printable(target)} plans all that is needed"
        yield Sentence(plan)
    for caveat in answer.caveats:
        yield sentence(("caveat: ", "bold yellow"), caveat)


def _not_drawn(answer: Roofline, picture: RooflinePicture, levels: Sequence[str], limit: int) -> Iterator[AnyBlock]:
    """Reasons why kernels, or levels of them, are not plotted; one that all levels of a kernel have is said once."""
    works = {"GIOP/s": ("iop",), "GFLOP/s": ("flop",)}.get(picture.unit, ("flop", "iop"))
    letters = {_key(row): letter(number) for number, row in enumerate(answer.kernels.head(limit).iter_rows(named=True))}
    reasons: dict[str, dict[str, list[str]]] = {}  # reason -> letter of a kernel -> levels
    moved: dict[tuple[str, str], list[str]] = {}  # (letter of a kernel, reason) -> bytes moved at each level
    noun = "integer" if works == ("iop",) else "floating-point"
    for point in answer.points.iter_rows(named=True):
        is_asked = _key(point) in letters and point["work"] in works and point["level"] in (levels or SHOWN_LEVELS)
        if is_asked and (point["intensity"] is None or point["gops_per_second"] is None):
            if not point["operations"] and point["gb_per_second"]:
                lead = point["reason"] if point["operations"] is None else f"no {noun} operations"
                phrase = (
                    f"{point['level']} {rate(point['gb_per_second'], 'B/s')} ({percent(point['share'])} of the roof)"
                )
                moved.setdefault((letters[_key(point)], lead), []).append(phrase)
                continue
            reasons.setdefault(point["reason"], {}).setdefault(letters[_key(point)], []).append(point["level"])
    for number, ((one_letter, lead), phrases) in enumerate(moved.items()):
        if number == _MAX_LETTERS:
            yield sentence((f"not drawn: {len(moved) - _MAX_LETTERS:,} more without operations", "bold"))
            break
        yield sentence((f"not drawn: {one_letter}: ", "bold"), f"{lead}, only bytes: {', '.join(phrases)}")
    for reason, kernels in reasons.items():
        same = {tuple(dict.fromkeys(where)) for where in kernels.values()}
        where = f" at {', '.join(same.pop())}" if len(same) == 1 else ""
        named = list(kernels)
        yield sentence((f"not drawn: {some_of(named, _MAX_LETTERS)}{where}: ", "bold"), reason)


def _key(row: dict[str, Any]) -> tuple[Any, Any]:
    return row["kernel"], row["dispatch"]


def _kernel_table(answer: Roofline, picture: RooflinePicture, limit: int, width: int) -> Table:
    is_integer = picture.unit == "GIOP/s"
    work, speed, missing = (
        ("iop", "giops_per_second", "iops_missing") if is_integer else ("flop", "gflops_per_second", "flops_missing")
    )
    points = points_at(answer, work)
    shown = answer.kernels.with_row_index("row")
    done = work_done(answer)

    def at_level(level: str) -> Column:
        return Column(
            level, lambda row: intensity(points.get((row["kernel"], row["dispatch"], level), {}).get("intensity"))
        )

    what = "kernels" if answer.by == "kernel" else "dispatches"
    per = f"{picture.unit[1:].split('/')[0]} per byte at each level"
    return replace(
        declared_table(
            "counters/roofline/kernel",
            shown,
            limit=limit,
            rows=what,
            letter=lambda row: letter(row["row"]),
            with_dispatch=answer.by == "dispatch",
            with_calls=answer.by == "kernel",
            unit=picture.unit[1:],
            speed=lambda row: ("≥ " if row[missing] and row[speed] is not None else "") + rate(row[speed], "").rstrip(),
            intensities=[at_level(level) for level in SHOWN_LEVELS],
            bound_by=bound_words,
            operations=lambda row: done.get(_key(row), ""),
            with_operations=width >= _VERY_WIDE,
        ),
        row_count=answer.total_count,
        note=per,
    )


def _ceiling_table(answer: Roofline, picture: RooflinePicture) -> Table:
    names = [roof.name for roof in picture.roofs]
    rows = answer.ceilings.filter(answer.ceilings["name"].is_in(names) | (answer.ceilings["kind"] == "bandwidth"))
    return declared_table(
        "counters/roofline/ceiling",
        rows,
        used=lambda row: rate(row["used"], row["unit"][1:]),
        benchmark=lambda row: rate(row["empirical"], row["unit"][1:]),
        interval=_interval,
        theoretical=lambda row: rate(row["theoretical"], row["unit"][1:]),
    )


def _interval(row: dict[str, Any]) -> str:
    if row["empirical_low"] is None or row["empirical_high"] is None:
        return "-"
    half = (row["empirical_high"] - row["empirical_low"]) / 2
    return f"± {percent(half / row['empirical'], 2)}"
