"""The numbers below the picture of a roofline: one row per kernel or dispatch, and what the signs mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavewright.analysis.counters.roofline import Roofline
from wavewright.analysis.counters.roofline.geometry import RooflinePicture
from wavewright.analysis.counters.roofline.kinds import SHOWN_LEVELS
from wavewright.analysis.counters.roofline.points import NEAR
from wavewright.base.words import percent
from wavewright.words.counters.roofline.roof_labels import bound_words, intensity, letter, points_at, rate, work_done
from wavewright.writers.svg.markup import Svg, fitting

_ROW = 20
_HEAD, _FOOT = 44, 34
_LETTER_X, _NAME_X, _BOUND_X, _END_X = 40, 66, 1030, 1160
#: Column -> where its numbers end.
_COLUMNS = {"time": 560, "rate": 672, "HBM": 740, "L2": 806, "L1": 872, "LDS": 938, "of roof": 1012}


def table_height(row_count: int) -> float:
    """Height of the table with that many rows."""
    return _HEAD + _ROW * row_count + _FOOT


def draw_table(
    svg: Svg, answer: Roofline, picture: RooflinePicture, rows: Sequence[dict[str, Any]], top: float
) -> None:
    """Draw the rows below `top`, in a picture 1200 wide."""
    unit = picture.unit[1:]
    line = top + 30
    middle = (_COLUMNS["HBM"] + _COLUMNS["LDS"]) / 2 - 22
    svg.label("soft", middle, line - 17, f"{unit.split('/')[0]} per byte at", anchor="middle")
    svg.label("soft", _NAME_X, line, answer.by)
    for name, x in _COLUMNS.items():
        svg.label("soft", x, line, unit if name == "rate" else name, anchor="end")
    svg.label("soft", _BOUND_X, line, "bound by")
    svg.line("rule", [(_LETTER_X, line + 6), (_END_X, line + 6)])
    done = work_done(answer)
    work = "iop" if unit == "IOP/s" else "flop"
    points = points_at(answer, work)
    for number, row in enumerate(rows):
        point_by_level = {level: points.get((row["kernel"], row["dispatch"], level), {}) for level in SHOWN_LEVELS}
        _draw_row(
            svg,
            number,
            row,
            point_by_level,
            done.get((row["kernel"], row["dispatch"]), ""),
            line + _ROW * (number + 1) + 2,
        )
    svg.label("soft", _LETTER_X, line + _ROW * len(rows) + 28, _signs(picture, rows))


def _draw_row(
    svg: Svg, number: int, row: dict[str, Any], point_by_level: dict[str, dict[str, Any]], done: str, y: float
) -> None:
    name = row["kernel_name"] or ""
    if row["dispatch"] is not None:
        name = f"{row['dispatch_id']}: {name}"
    svg.label("ink strong", _LETTER_X, y, letter(number), size=13)
    short = fitting(name, 13, _COLUMNS["time"] - _NAME_X - 44)
    svg.label("ink", _NAME_X, y, short, size=13, title=f"{name}: {done or 'no operations'}")
    cells = {"time": percent(row["duration_share"]), "of roof": percent(row["share"])}
    speeds = [point.get("gops_per_second") for point in point_by_level.values()]
    speed = next((speed for speed in speeds if speed is not None), None)
    cells["rate"] = rate(speed, "").rstrip()
    moved = [
        f"{rate(point['gb_per_second'], 'B/s')} at {name}"
        for name, point in point_by_level.items()
        if point.get("gb_per_second")
    ]
    if speed == 0 and moved:
        svg.label("soft", _COLUMNS["LDS"], y, f"only bytes: {moved[0]}", size=13, anchor="end", title=", ".join(moved))
    else:
        cells |= {level: intensity(point.get("intensity")) for level, point in point_by_level.items()}
    for column, text in cells.items():
        why = point_by_level.get(column, {}).get("reason", "")
        svg.label("ink number", _COLUMNS[column], y, text, size=13, anchor="end", title=why)
    bound = fitting(bound_words(row), 13, _END_X + 20 - _BOUND_X)
    svg.label("ink", _BOUND_X, y, bound, size=13, title=row["verdict"])


def _signs(picture: RooflinePicture, rows: Sequence[dict[str, Any]]) -> str:
    bounds = [bound_words(row) for row in rows]
    notes = []
    if any(bound.startswith("(") for bound in bounds):
        notes.append(f"( ) the nearest roof, though below {percent(NEAR, 0)} of it: none binds")
    if any(bound.endswith("?") for bound in bounds):
        notes.append("? this roof is too low to judge the kernel by")
    if any(roof.used_from == "theoretical" for roof in picture.roofs):
        notes.append("* theoretical, at the highest clock")
    return " · ".join(notes)
