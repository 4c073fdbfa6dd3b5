"""Lanes by banks of LDS, or by cache segments, as a picture: what collides, and the layout that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from wavewright.analysis.trace.lanes.pattern import RowPattern
from wavewright.words.kit.frame_tables import place
from wavewright.writers.svg.markup import Svg, fitting

#: In pixels: size of a cell, which is a bank or segment of a lane; room left of a panel, above all and between two.
_CELL, _ROW = 11, 8
_LEFT, _TOP, _GAP, _MARGIN = 72, 76, 32, 16
_HEAD, _FOOT, _PHASE_GAP = 32, 44, 8  #: Above the cells of a panel, below all panels, between two phases.
_LEAST_WIDTH, _LEAST_COLUMNS = 560, 24  #: Of a picture, in pixels; of a panel of segments.
_SEGMENTS_MAX: Final = 64  #: Columns; segments beyond are left out, which is said.
_DWORD_BYTES: Final = 4
_LIGHT: Final = {
    "back": "fill:#ffffff",
    "ink": "fill:#1c2430",
    "soft": "fill:#5c6675",
    "grid": "fill:#eef1f5",
    "fine": "fill:#3f86c9",
    "hit": "fill:#d9483b",
}
_DARK: Final = {
    "back": "fill:#14181f",
    "ink": "fill:#e6eaf0",
    "soft": "fill:#97a2b3",
    "grid": "fill:#222935",
    "fine": "fill:#5aa2e6",
    "hit": "fill:#f0695c",
}


@dataclass(frozen=True)
class _Cell:
    lane: int
    group: int
    unit: int  #: Bank or segment, from 0.
    style: str
    words: str


@dataclass(frozen=True)
class _Panel:
    title: str
    columns: int
    cells: Sequence[_Cell]
    marks: dict[int, tuple[str, str]]  #: Group -> what it costs, and the style of these words.


def lane_svg(answer: RowPattern, *, theme: str = "auto") -> str:
    """A panel for each access, one below the other, and beside it the same lanes in the proposed layout."""
    rows = _lds_panels(answer) if answer.bank_count else _memory_panels(answer)
    heights = [max(_panel_height(panel) for panel in panels) for panels in rows]
    width = max(_MARGIN + sum(_LEFT + panel.columns * _CELL + _GAP for panel in panels) for panels in rows)
    width = max(width, _LEAST_WIDTH)
    height = _TOP + sum(heights) + _FOOT
    where = place(answer.file, answer.line)
    title = f"row {answer.row}: {answer.text}{f' ({where})' if where else ''}"
    svg = Svg(width, height, title=title, light=_LIGHT, dark=_DARK, theme=theme, about=answer.definition)
    svg.add("rect", "back", x=0, y=0, width=width, height=height)
    room = width - 2 * _MARGIN
    svg.label("ink", _MARGIN, 26, fitting(title, 15, room), size=15, font_weight="bold")
    svg.label("soft", _MARGIN, 45, fitting(_facts(answer), 12, room), size=12)
    if answer.fix:
        svg.label("soft", _MARGIN, 62, fitting(f"proposed: {answer.fix}", 12, room), size=12, title=answer.fix)
    y = float(_TOP)
    for panels, panel_height in zip(rows, heights, strict=True):
        x = float(_MARGIN)
        for panel in panels:
            _draw(svg, panel, x, y, answer)
            x += _LEFT + panel.columns * _CELL + _GAP
        y += panel_height
    legend = (
        "red: dwords that wait for another dword of the same bank in the same phase"
        if answer.bank_count
        else "red: segments of groups that touch more of them than their bytes fill"
    )
    svg.label("soft", _MARGIN, height - _MARGIN, legend, size=11)
    return svg.text()


def _panel_height(panel: _Panel) -> float:
    lanes = {(cell.group, cell.lane) for cell in panel.cells}
    groups = {group for group, _ in lanes}
    return _HEAD + len(lanes) * _ROW + len(groups) * _PHASE_GAP


def _facts(answer: RowPattern) -> str:
    total, least = int(answer.groups["count"].sum()), int(answer.groups["least_count"].sum())
    unit = "LDS cycles" if answer.bank_count else f"segments of {answer.segment_bytes} bytes"
    lane = f"{answer.target}, {answer.width_bytes} bytes per lane"
    return f"{lane}: {total} {unit}, {least} at best; rule: {answer.confidence}"


def _lds_panels(answer: RowPattern) -> list[list[_Panel]]:
    banks = answer.bank_count or 1
    rows = []
    has_two = answer.groups["access"].n_unique() > 1
    for (access,), lanes in answer.lanes.group_by("access", maintain_order=True):
        groups = answer.groups.filter(pl.col("access") == access)
        name = f"access {access + 1}: " if has_two else ""
        words = f"{name}{int(groups['count'].sum())} cycles, by bank"
        panels = [_Panel(words, banks, _bank_cells(lanes, banks, "address_bytes"), _cycle_marks(groups, "count"))]
        if answer.fix:
            words = f"{name}{int(groups['fixed_count'].sum())} cycles in the proposed layout"
            cells = _bank_cells(lanes, banks, "fixed_bytes")
            panels.append(_Panel(words, banks, cells, _cycle_marks(groups, "fixed_count")))
        rows.append(panels)
    return rows


def _bank_cells(lanes: pl.DataFrame, banks: int, name: str) -> list[_Cell]:
    """A cell for each dword of each lane; of the different dwords of a bank the first is served at once."""
    cells = []
    first_of: dict[tuple[int, int], int] = {}
    for lane in lanes.sort("lane").iter_rows(named=True):
        first = lane[name] // _DWORD_BYTES
        for dword in range(first, first + lane["unit_count"]):
            bank = dword % banks
            is_late = first_of.setdefault((lane["group"], bank), dword) != dword
            words = f"lane {lane['lane']}, phase {lane['group'] + 1}, byte {dword * _DWORD_BYTES:,}, bank {bank}"
            cells.append(_Cell(lane["lane"], lane["group"], bank, "hit" if is_late else "fine", words))
    return cells


def _cycle_marks(groups: pl.DataFrame, name: str) -> dict[int, tuple[str, str]]:
    return {
        group: (f"{count} cycle{'s' if count > 1 else ''}", "hit" if count > 1 else "soft")
        for group, count in groups.select("group", name).iter_rows()
    }


def _memory_panels(answer: RowPattern) -> list[list[_Panel]]:
    rows = []
    for (access,), lanes in answer.lanes.group_by("access", maintain_order=True):
        groups = answer.groups.filter(pl.col("access") == access)
        above = set(groups.filter(pl.col("count") > pl.col("least_count"))["group"].to_list())
        touched = sorted(
            {
                lane["first_unit"] + offset
                for lane in lanes.iter_rows(named=True)
                for offset in range(lane["unit_count"])
            }
        )  # fmt: skip
        column_of = {segment: number for number, segment in enumerate(touched[:_SEGMENTS_MAX])}
        cells = [
            _Cell(
                lane["lane"],
                lane["group"],
                column_of[segment],
                "hit" if lane["group"] in above else "fine",
                f"lane {lane['lane']}, byte {lane['address_bytes']:,}, segment {segment}",
            )
            for lane in lanes.iter_rows(named=True)
            for segment in range(lane["first_unit"], lane["first_unit"] + lane["unit_count"])
            if segment in column_of
        ]
        left_out = len(touched) - len(column_of)
        shown = f", the first {len(column_of)} shown" if left_out else ""
        count = int(groups["count"].sum())
        marks = {
            group: (f"{count}, least {least}", "hit" if count > least else "soft")
            for group, count, least in groups.select("group", "count", "least_count").iter_rows()
        }
        title = f"{count} segments in groups of lanes{shown}"
        rows.append([_Panel(title, max(len(column_of), _LEAST_COLUMNS), cells, marks)])
    return rows


def _draw(svg: Svg, panel: _Panel, x: float, top: float, answer: RowPattern) -> None:
    width = panel.columns * _CELL
    room = _LEFT + width + _GAP - 8
    svg.label("ink", x, top + 12, fitting(panel.title, 12, room), size=12, font_weight="bold", title=panel.title)
    left = x + _LEFT
    for column in range(0, panel.columns, 8):
        svg.label("soft", left + column * _CELL, top + _HEAD - 6, str(column), size=9)
    by_group: dict[int, list[int]] = {}
    for cell in panel.cells:
        members = by_group.setdefault(cell.group, [])
        if cell.lane not in members:
            members.append(cell.lane)
    y = top + _HEAD
    place_of: dict[tuple[int, int], float] = {}
    for group in sorted(by_group):
        members = by_group[group]
        height = len(members) * _ROW
        svg.add("rect", "grid", x=left, y=y, width=width, height=height)
        words, style = panel.marks[group]
        kind = "phase" if answer.bank_count else "group"
        svg.label("ink", x, y + 9, f"{kind} {group + 1}", size=10)
        svg.label(style, x, y + 20, words, size=10)
        for number, lane in enumerate(sorted(members)):
            place_of[group, lane] = y + number * _ROW
        first, last = min(members), max(members)
        svg.label("soft", left - 4, y + 7, str(first), size=7, anchor="end")
        if last != first:
            svg.label("soft", left - 4, y + height - 1, str(last), size=7, anchor="end")
        y += height + _PHASE_GAP
    for cell in panel.cells:
        svg.add(
            "rect",
            cell.style,
            title=cell.words,
            x=left + cell.unit * _CELL + 0.5,
            y=place_of[cell.group, cell.lane] + 0.5,
            width=_CELL - 1,
            height=_ROW - 1,
        )
