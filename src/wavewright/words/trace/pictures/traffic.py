"""Workgroups of a dispatch by the XCD that runs them, and by what they read together with others."""

from __future__ import annotations

from typing import Any

from wavewright.analysis.trace.fabric import FabricTraffic
from wavewright.base.words import counted, percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.writers.svg.plot_frame import MARGIN, SMALL, WIDTH, Frame, Key
from wavewright.writers.svg.plot_words import headline

_XCD_COLOURS = ("blue", "orange", "green", "red", "sky", "pink", "grey", "pale")
_REUSE = {"away": "red", "shared": "green", "alone": "pale"}
_KEYS = [
    Key("red", "most lines are read by other XCDs only: replicated"),
    Key("green", "most are shared on the XCD"),
    Key("pale", "most are its own"),
]
_MOST, _MOST_COLUMNS = 2_048, 64  #: Workgroups of a picture, and of a row of it.
#: In pixels: between the panels; largest side of a cell; height of a panel's name; of both panels and the gap.
_GAP, _LARGEST, _HEAD, _WIDTH = 24, 22, 22, WIDTH - 2 * MARGIN
_NOTE = (
    "Each cell is a workgroup, in the order in which they are launched: rows from left to right, x first. Left: its XCD"
)


def traffic_picture(answer: FabricTraffic, theme: str = "auto") -> Picture:
    """Two panels of the same workgroups. Raises `UsageError`: nothing is known, or there are too many workgroups."""
    from wavewright.words.trace.fabric_traffic import traffic_report

    rows = answer.workgroups.head(_MOST).to_dicts()
    if not rows:
        raise UsageError(answer.problem or "there are too many workgroups, or lines, for a picture")
    columns = _columns(answer.counts, len(rows))
    cell = min(_LARGEST, (_WIDTH - _GAP) / 2 / columns)
    undrawn = answer.workgroups.height - len(rows)
    note = _NOTE + (f"; {counted(undrawn, 'workgroups')} more are not drawn" if undrawn else "")
    sentence = headline(traffic_report(answer, limit=1))
    frame = Frame(
        "traffic", "Workgroups by XCD, and what they share", sentence,
        height=_HEAD + -(-len(rows) // columns) * cell, theme=theme, legend=_KEYS, note=note,
    )  # fmt: skip
    for side, (name, colour) in enumerate(
        (("by XCD, a colour for each", _xcd), ("by reuse, colours as above", _reuse))
    ):
        left_x = frame.left + side * (columns * cell + _GAP)
        frame.svg.label("p-ink", left_x, frame.top + 12, name, size=SMALL)
        for at, row in enumerate(rows):
            frame.svg.add(
                "rect",
                f"p-{colour(row)}",
                title=_words(row),
                x=left_x + at % columns * cell,
                y=frame.top + _HEAD + at // columns * cell,
                width=cell * 0.9,
                height=cell * 0.9,
            )
    return frame.picture()


def _columns(counts: tuple[int, int, int], total: int) -> int:
    """Workgroups in a row of the picture: a multiple of those along x, such that it is about as wide as high.

    Where that is above 64 or above `total`, these limits decide, and a row may end in the middle of the grid's x.
    """
    columns = counts[0]
    while columns < _MOST_COLUMNS and columns * columns < total:
        columns += counts[0]
    return min(columns, _MOST_COLUMNS, total)


def _xcd(row: dict[str, Any]) -> str:
    return _XCD_COLOURS[row["xcd"] % len(_XCD_COLOURS)]


def _reuse(row: dict[str, Any]) -> str:
    shares = {"shared": row["shared_share"], "away": row["away_share"]}
    shares["alone"] = 1 - sum(shares.values())
    return _REUSE[max(("away", "shared", "alone"), key=lambda name: shares[name])]


def _words(row: dict[str, Any]) -> str:
    return (
        f"workgroup {row['x']}, {row['y']}, {row['z']} on XCD {row['xcd']}: reads {row['lines_count']:,} lines, "
        f"{percent(row['shared_share'], 0)} shared on its XCD, {percent(row['away_share'], 0)} with other XCDs only"
    )
