"""The listing of instructions as text."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.together import together
from wavewright.analysis.trace.listing import IsaListing, SampleListing
from wavewright.model.schema import empty_frame
from wavewright.words.trace.listing import isa_report, samples_report
from wavewright.words.trace.listing.lines import IsaView, contexts, focus, isa_lines, pairs_of
from wavewright.words.trace.listing.measures import CYCLES
from wavewright.writers.terminal.blocks import plain_text


def listing(count: int = 40, **columns: list[object]) -> IsaListing:
    """Rows that cost 10 cycles each, except where `columns` say otherwise; row 30 waits for row 5."""
    tables = IsaListing.tables
    ten, zero = [10] * count, [0] * count
    values: dict[str, list[object]] = {
        "row": list(range(count)),
        "address": [0x1000 + 4 * row for row in range(count)],
        "text": [f"v_add_u32 v{row}, v0, v1" for row in range(count)],
        "function": ["kernel"] * count,
        "hit_count": [2] * count,
        "latency_cycles_total": ten,
        "latency_cycles_max": [7] * count,
        "stall_cycles_total": zero,
        "stall_cycles_max": zero,
        "idle_cycles_total": zero,
        "exposed_stall_cycles_total": zero,
        "exposed_issue_cycles_total": ten,
        "exposed_idle_cycles_total": zero,
        "exposed_cycles_total": ten,
        **columns,
    }
    rows = empty_frame(tables["rows"])
    data = {name: values.get(name, [None] * count) for name in rows.columns}
    arrows = pl.DataFrame([(30, 5, "vmcnt", 2)], schema=empty_frame(tables["arrows"]).schema, orient="row")
    branches = pl.DataFrame([(38, 2, 1)], schema=empty_frame(tables["branches"]).schema, orient="row")
    loops = pl.DataFrame([(0, 2, 38, None, 0, 1)], schema=empty_frame(tables["loops"]).schema, orient="row")
    return IsaListing(None, None, pl.DataFrame(data, schema=rows.schema), arrows, branches, loops)


def hot_listing() -> IsaListing:
    stalls: list[object] = [0] * 40
    stalls[30] = 990
    latency: list[object] = [10] * 40
    latency[30] = 1000
    texts: list[object] = ["v_nop"] * 40
    texts[5], texts[30] = "global_load_dword v1, v2, off", "s_waitcnt vmcnt(0)"
    return listing(
        latency_cycles_total=latency,
        stall_cycles_total=stalls,
        exposed_stall_cycles_total=stalls,
        exposed_cycles_total=latency,
        text=texts,
    )


def printed(answer: IsaListing, view: IsaView) -> list[str]:
    return plain_text(isa_report(answer, view), view.width).splitlines()


def test_the_hot_row_its_producer_and_the_arrow_between_them() -> None:
    lines = printed(hot_listing(), IsaView(top=1, context=1))
    assert "s_waitcnt vmcnt(0) at 0x1078" in lines[1]
    (load,) = [line for line in lines if "global_load" in line]
    (wait,) = [line for line in lines[2:] if "s_waitcnt" in line]
    assert load.startswith("╭─")
    assert wait.startswith("╰▶ ██████████")
    assert [line.split("…")[1].strip() for line in lines if line.count("…") == 2] == [
        "5 rows, 3.6 % of the cycles",
        "23 rows, 16.5 % of the cycles",
        "8 rows, 5.8 % of the cycles",
    ]
    assert lines[-1] == "showing 4 of 40 rows; --all shows every row"


def test_every_row_on_request() -> None:
    lines = printed(hot_listing(), IsaView(show_all=True))
    assert sum("v_nop" in line for line in lines) == 38
    assert "showing" not in lines[-1]


def test_around_a_row_instead_of_the_hottest() -> None:
    lines = printed(hot_listing(), IsaView(context=1, around=frozenset({20})))
    assert [line.split()[-2] for line in lines if "v_nop" in line] == ["0x104c", "0x1050", "0x1054"]


def test_branches_point_back() -> None:
    lines = printed(hot_listing(), IsaView(arrows="branches", context=0, top=0))
    (target,) = [line for line in lines if "0x1008" in line]
    (branch,) = [line for line in lines if "0x1098" in line and "back from" not in line]
    assert target.startswith("╭▶")
    assert branch.startswith("╰─")


@pytest.mark.parametrize(("cost", "number"), [("sum", " 10 "), ("mean", " 5.0 "), ("max", " 7 ")])
def test_costs(cost: str, number: str) -> None:
    lines = printed(listing(), IsaView(cost=cost, show_all=True))
    assert number in next(line for line in lines[2:] if "0x1000" in line)


def test_a_terminal_without_unicode() -> None:
    lines = printed(hot_listing(), IsaView(top=1, context=1, ascii_only=True))
    assert any(line.startswith("`> ##########") for line in lines)
    assert any("# stall" in line for line in lines)


@together("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    texts: list[object] = ["v_mfma_f32_32x32x8_f16 " + "a[0:15], " * 9] * 40
    files: list[object] = ["/a/very/long/path/to/some/kernel/of/mine.py"] * 40
    lines = printed(listing(text=texts, file=files, function=["name" * 80] * 40), IsaView(show_all=True, width=width))
    assert max(map(len, lines)) <= width


def test_hostile_texts_are_shown_as_escapes() -> None:
    texts: list[object] = ["s_nop\x1b[2J\r\n"] * 40
    shown = "\n".join(printed(listing(text=texts, function=["k\x1b]0;x\x07"] * 40), IsaView(show_all=True)))
    assert "\x1b" not in shown
    assert r"s_nop\x1b[2J\r\n" in shown
    assert r"k\x1b]0;x\x07" in shown


def test_rows_that_were_not_chosen_are_counted() -> None:
    numbers: list[object] = [*range(20), *range(35, 55)]
    rows = listing(row=numbers).rows.to_dicts()
    assert [line.heading for line in isa_lines(rows, {0: 99}) if line.heading] == ["kernel", "… 15 rows not chosen …"]


def test_a_wait_for_many_rows_shows_some_of_them() -> None:
    answer = hot_listing()
    many = pl.DataFrame([(30, row, "vmcnt", row) for row in range(20)], schema=answer.arrows.schema, orient="row")
    answer = IsaListing(None, None, answer.rows, many, answer.branches, answer.loops)
    rows = answer.rows.to_dicts()
    view = IsaView(top=1)
    windows = contexts(pairs_of(answer, view), view, rows, focus(view, rows, CYCLES))
    assert windows == {30: 3} | dict.fromkeys(range(12, 20), 0)


def test_nothing_executed() -> None:
    zero: list[object] = [0] * 40
    empty = listing(
        hit_count=zero, latency_cycles_total=zero, exposed_cycles_total=zero, exposed_issue_cycles_total=zero
    )
    lines = printed(empty, IsaView())
    assert "0 executed" in lines[0]
    assert printed(listing(0), IsaView()) == ["0 rows, 0 executed: 0 cycles"]


def test_samples() -> None:
    table = empty_frame(SampleListing.tables["rows"])
    values = {"row": [0, 1], "address": [16, 20], "text": ["s_barrier", "s_nop 0"], "function": ["k", "k"]}
    counts = {"issued_count": [1, 0], "stalled_count": [9, 0], "unknown_count": [0, 0]}
    counts |= {"reason": ["barrier", None], "reason_share": [1.0, None]}
    data = {name: (values | counts).get(name, [None, None]) for name in table.columns}
    answer = SampleListing(10, 9, pl.DataFrame(data, schema=table.schema))
    lines = plain_text(samples_report(answer, IsaView("none")), 120).splitlines()
    assert lines[0] == "2 rows, 1 sampled: 10 samples, 90.0 % of them stalled"
    assert lines[1].endswith("stalled mostly by: barrier")
    (barrier,) = [line for line in lines[2:] if "s_barrier" in line]
    assert barrier.split() == ["█████████▓", "10", "1", "9", "barrier", "0x10", "s_barrier"]


def test_loops_and_blocks_are_marked() -> None:
    numbers: list[object] = [0] * 10 + [1] * 30
    lines = printed(listing(block=numbers), IsaView(show_all=True))
    headings = ("loop 0: 1 time back from 0x1098", "end of loop 0", "block 1")
    begin, end, block = (next(n for n, line in enumerate(lines) if line.endswith(text)) for text in headings)
    assert "0x1008" in lines[begin + 1]
    assert "0x1098" in lines[end - 1]
    assert "0x1028" in lines[block + 1]
