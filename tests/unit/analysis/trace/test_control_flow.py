"""Branch targets, blocks and loops of code and of what waves did in it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.ui_directories import frame, load
from wavewright.analysis.code.control_flow import blocks, branch_targets
from wavewright.analysis.trace.code.control_flow import loop_of_rows, loops, taken_jumps
from wavewright.model.trace import ThreadTrace

TEXTS = [
    "s_mov_b32 s0, 0",  # 0
    "s_nop 0",  # 1: outer loop
    "s_nop 1",  # 2: inner loop
    "s_cbranch_scc1 65534",  # 3: to 2
    "s_cbranch_scc0 0xfffc",  # 4: to 1
    "s_cbranch_execz 1",  # 5: to 7
    "s_branch somewhere",  # 6: not told
    "s_swappc_b64 s[30:31], s[0:1]",  # 7
    "s_endpgm",  # 8
    "s_nop 3",  # 9: another function
    "s_setpc_b64 s[30:31]",  # 10
]


def code(texts: list[str] | None = None) -> pl.DataFrame:
    texts = texts or TEXTS
    count = len(texts)
    functions = ["kernel" if row < 9 else "helper" for row in range(count)]
    addresses = [256 + 4 * row for row in range(count)]
    columns = {"row": range(count), "code_object": [3] * count, "address": addresses, "text": texts}
    return frame("code", columns | {"function": functions})


def running(*waves: list[int], texts: list[str] | None = None) -> ThreadTrace:
    tokens = [[(10 * at, 0, 4, 2, row) for at, row in enumerate(rows)] for rows in waves]
    return made([{"begin": 0, "end": 999, "instructions": rows} for rows in tokens], code=code(texts))


def spans(trace: ThreadTrace) -> list[tuple[int | None, ...]]:
    return loops(trace).select("first_row", "last_row", "parent", "depth", "taken_count").rows()


def test_targets_from_texts() -> None:
    assert dict(branch_targets(code()).rows()) == {3: 2, 4: 1, 5: 7, 6: None}
    forms = [
        "s_branch -1",
        "s_branch 0x1",
        "s_branch 5 ",
        "s_branch 99999999999999999999",
        "s_branch",
        "s_cbranch_x L2",
    ]
    assert [target for _, target in branch_targets(code(forms)).rows()] == [0, 3, None, None, None, None]


def test_blocks_begin_at_targets_and_behind_jumps() -> None:
    found = blocks(code())
    assert found.blocks.select("first_row", "last_row", "row_count").rows() == [
        (0, 0, 1), (1, 1, 1), (2, 3, 2), (4, 4, 1), (5, 5, 1), (6, 6, 1), (7, 7, 1), (8, 8, 1), (9, 10, 2)
    ]  # fmt: skip
    assert found.by_row["block"].to_list() == [0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 8]
    with_jump = blocks(code(), taken_jumps(running([6, 10])))
    assert with_jump.blocks["first_row"].to_list() == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]
    assert blocks(code()[:0]).blocks.height == 0


def test_nested_loops() -> None:
    trace = running([0, 1, 2, 3, 2, 3, 4, 1, 2, 3, 4, 5, 7, 8], [0, 1, 2, 3, 4, 5])
    assert spans(trace) == [(1, 4, None, 0, 1), (2, 3, 0, 1, 1)]


def test_calls_returns_and_blocks_out_of_line_are_no_loops() -> None:
    assert spans(running([7, 9, 10, 8])) == []
    texts = [*TEXTS[:7], "s_swappc_b64 s[30:31], s[0:1]", "s_endpgm", "s_nop 0", "s_swappc_b64 s[30:31], s[0:1]"]
    assert spans(running([10, 1, 2, 10, 1], texts=texts)) == []
    out_of_line = ["s_nop 0", "s_nop 0", "s_cbranch_scc1 2", "s_nop 0", "s_cbranch_scc1 65532", "s_branch 65533"]
    assert spans(running([1, 2, 5, 3, 4, 1, 2, 5, 3, 4], texts=out_of_line)) == [(1, 4, None, 0, 1)]


def test_overlapping_loops_have_no_parent() -> None:
    trace = running([1, 2, 3, 1, 2, 3, 4, 2, 3, 4], texts=["s_nop 0", "s_nop 0", "s_nop 0", "s_branch x", "s_branch y"])
    assert spans(trace) == [(1, 3, None, 0, 1), (2, 4, None, 0, 1)]


def test_without_instructions_the_branches_of_the_code_count() -> None:
    assert spans(made([], code=code())) == [(1, 4, None, 0, None), (2, 3, 0, 1, None)]


def test_the_loop_of_a_real_kernel(shared: Path) -> None:
    directory = shared / "data" / "att-mi300x-bmm" / "c03" / "ui_output_agent_47531_dispatch_3"
    trace = load(directory)
    assert spans(trace) == [(83, 117, None, 0, 420)]
    known = dict(branch_targets(trace.code).rows())
    for source, target, *_ in taken_jumps(trace).rows():
        assert known[source] == target


@pytest.mark.parametrize("rows", [[-1, 3, 2, -1, 3], [3, -1, 2, 3]])
def test_unknown_rows_hide_jumps(rows: list[int]) -> None:
    assert taken_jumps(running(rows))["taken_count"].sum() == rows.count(2) - (rows[1] == -1)


def spelled_out(rows: list[int]) -> dict[tuple[int, int], list[int]]:
    """(from, to) -> [taken, looped] of one wave without calls, with a look back at every jump."""
    found: dict[tuple[int, int], list[int]] = {}
    for at in range(1, len(rows)):
        source, target = rows[at - 1], rows[at]
        if source < 0 or target < 0 or target == source + 1:
            continue
        earlier = [place for place in range(at) if rows[place] == target]
        since = [row for row in rows[earlier[-1] : at] if row >= 0] if earlier else []
        counts = found.setdefault((source, target), [0, 0])
        counts[0] += 1
        counts[1] += bool(since) and min(since) >= target
    return found


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.integers(-1, 5), max_size=30))
def test_jumps_follow_the_rule(rows: list[int]) -> None:
    trace = running(rows, texts=["s_branch somewhere"] * 6)
    found = {(source, target): [*counts] for source, target, *counts in taken_jumps(trace).rows()}
    assert found == spelled_out(rows)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.integers(0, 5), max_size=30))
def test_every_row_is_in_the_shortest_loop_around_it(rows: list[int]) -> None:
    trace = running(rows, texts=["s_branch somewhere"] * 6)
    spans = loops(trace).select("loop", "first_row", "last_row", "parent").rows()
    around = loop_of_rows(trace).to_list()
    for row, loop in enumerate(around):
        holding = [(last - first, number) for number, first, last, _ in spans if first <= row <= last]
        assert loop == (min(holding)[1] if holding else None)
    for loop, first, last, parent in spans:
        holding = [(end - begin, number) for number, begin, end, _ in spans if begin <= first and last <= end]
        shortest = min((length for length, number in holding if number != loop), default=None)
        assert (None if parent is None else spans[parent][2] - spans[parent][1]) == shortest
