"""Source lines with their costs as text."""

from __future__ import annotations

from typing import Any

import polars as pl

from tests.kit.together import together
from wavewright.analysis.trace.listing.source_lines import SourceListing
from wavewright.model.schema import empty_frame
from wavewright.words.trace.listing.source import SourceView, source_report
from wavewright.writers.terminal.blocks import plain_text

COSTS = {
    "row_count": 0,
    "hit_count": 0,
    "latency_cycles_total": 0,
    "stall_cycles_total": 0,
    "idle_cycles_total": 0,
    "exposed_stall_cycles_total": 0,
    "exposed_issue_cycles_total": 0,
    "exposed_idle_cycles_total": 0,
    "exposed_cycles_total": 0,
}


def cost(cycles: int, **more: Any) -> dict[str, Any]:
    parts = {"row_count": 2, "hit_count": 4, "stall_class": "vector load"}
    names = ("latency_cycles_total", "stall_cycles_total", "exposed_stall_cycles_total", "exposed_cycles_total")
    return {**COSTS, **parts, **dict.fromkeys(names, cycles), **more}


def frame(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    empty = empty_frame(SourceListing.tables[table])
    return pl.DataFrame([{name: row.get(name) for name in empty.columns} for row in rows], schema=empty.schema)


def listing(*, has_text: bool = True, text: str = "line") -> SourceListing:
    """40 lines; 20 costs 900 cycles, of which 600 are inlined (500 of them deeper), 30 costs 100."""
    lines = [{"file": "/src/a.py", "line": n, "text": f"{text} {n}" if has_text else None} for n in range(1, 41)]
    costs = {20: cost(900), 30: cost(100)}
    lines = [line | costs.get(line["line"], COSTS) for line in lines]
    if not has_text:
        lines = [line for line in lines if line["row_count"]]
    place = {"file": "/src/a.py", "line": 20}
    inlined = [
        place | {"path": "/h.h:7", "depth": 1, "inlined_file": "/h.h", "inlined_line": 7} | cost(600),
        place | {"path": "/h.h:8", "depth": 1, "inlined_file": "/h.h", "inlined_line": 8} | cost(2),
        place | {"path": "/h.h:7 -> /m.h:5", "depth": 2, "inlined_file": "/m.h", "inlined_line": 5} | cost(500),
    ]
    files = [{"file": "/src/a.py", "has_text": has_text} | cost(1000)]
    return SourceListing("outermost", frame("files", files), frame("lines", lines), frame("inlined", inlined), 3, 250)


def printed(answer: SourceListing, view: SourceView) -> list[str]:
    return plain_text(source_report(answer, view), view.width).splitlines()


def test_windows_around_the_hot_lines() -> None:
    lines = printed(listing(), SourceView(context=1))
    assert lines[0] == "hottest: a.py:20: 900 cycles that nothing hides, 72.0 % of all cycles"  # of 1,000 and 250
    assert "/src/a.py  80.0 % of the cycles" in lines
    numbers = [line.split()[0] for line in lines if line.endswith(tuple(f"line {n}" for n in range(41)))]
    assert numbers == ["19", "20", "21", "29", "30", "31"]
    assert "  …  18 lines, 0.0 % of the cycles …" in lines
    (hot,) = [line for line in lines if line.endswith("line 20")]
    assert hot.split()[:6] == ["20", "██████████", "4", "900", "900", "vector"]
    assert "3 rows without a debug line have 20.0 % of the cycles" in lines


def test_inlined_lines_stand_below_their_line_as_a_tree() -> None:
    lines = printed(listing(), SourceView(context=0))
    at = next(number for number, line in enumerate(lines) if line.endswith("line 20"))
    assert [line.split("↳")[1].strip() for line in lines[at + 1 : at + 4]] == [
        "h.h:7",
        "m.h:5",
        "1 inlined line costs less than 1 %",
    ]
    assert lines[at + 2].index("↳") == lines[at + 1].index("↳") + 2


def test_a_text_that_is_not_here_says_what_to_do() -> None:
    lines = printed(listing(has_text=False), SourceView(advice="--source-root DIR"))
    assert any("its text is not here; --source-root DIR" in line for line in lines)
    assert [line.split()[0] for line in lines if "██" in line] == ["20", "30"] or "900" in "".join(lines)


def test_everything_on_request() -> None:
    lines = printed(listing(), SourceView(show_all=True))
    assert sum(" line " in line for line in lines) >= 40
    assert not any("…" in line for line in lines)


@together("width", [50, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(listing(text="x" * 300), SourceView(width=width)))) <= width


def test_hostile_sources_are_shown_as_escapes() -> None:
    shown = "\n".join(printed(listing(text="\tif x:\x1b[2J"), SourceView()))
    assert "\x1b" not in shown
    assert r"    if x:\x1b[2J" in shown


def test_a_terminal_without_unicode() -> None:
    assert any("` h.h:7" in line for line in printed(listing(), SourceView(ascii_only=True)))


def test_no_debug_lines() -> None:
    nothing = {name: empty_frame(table) for name, table in SourceListing.tables.items()}
    lines = printed(SourceListing("outermost", **nothing, unmapped_row_count=9, unmapped_cycles_total=9), SourceView())
    assert "compile with -g" in lines[0]
