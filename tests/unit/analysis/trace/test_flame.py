"""Trees of costs."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.made_markers import ENTER, FIRST, LEAVE, markers
from tests.kit.made_traces import CODE, made
from tests.kit.small_traces import small_trace
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.costs.flame import MOST_LINES, Flame, flame
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

CHAINS = ["/a.py:2", "/h.h:9 -> /a.py:2", "/m.h:3 -> /h.h:9 -> /a.py:2", "/h.h:9 -> /a.py:3", "/a.py:?", None]
STEPS = [(time, time // 10, 8, 2, row) for row, time in enumerate(range(0, 60, 10))]


def trace(**tables: pl.DataFrame) -> ThreadTrace:
    wave = {"begin": 0, "end": 99, "instructions": STEPS}
    return made([wave], code=frame("code", {**CODE, "inline_chain": CHAINS}), **tables)


def paths(answer: Flame) -> dict[str, float]:
    """Latency of every frame by its path."""
    names: dict[int, str] = {-1: ""}
    found = {}
    for number, parent, name, latency in answer.frames.select("frame", "parent", "name", "latency_cycles_total").rows():
        names[number] = f"{names[parent]}|{name}" if parent >= 0 else ""
        found[names[number]] = latency
    return found


def test_files_lines_and_instructions_from_the_outside_in() -> None:
    found = paths(flame(trace()))
    assert found[""] == 48
    assert found["|/a.py"] == 40
    assert found["|/a.py|/a.py:2"] == 24
    assert found["|/a.py|/a.py:2|/h.h:9"] == 16
    assert found["|/a.py|/a.py:2|/h.h:9|/m.h:3|s_endpgm"] == 8
    assert found["|[no source location]|s_nop 1"] == 8


def test_functions_loops_blocks_and_instructions() -> None:
    texts = ["s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_scc1 65532", "s_endpgm"]
    rows = [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4]
    looped = small_trace(texts, [(row, "SALU", 10 * at, 1, 4) for at, row in enumerate(rows)])
    found = paths(flame(looped, "code"))
    assert found["|[no function]"] == 44
    assert found["|[no function]|rows 0 to 0|s_nop 0"] == 4
    assert found["|[no function]|loop 0: rows 1 to 3"] == 36
    assert found["|[no function]|loop 0: rows 1 to 3|rows 1 to 3|s_nop 2"] == 12
    frames = flame(looped, "code").frames
    assert dict(frames.select("kind", "row").rows())["loop"] == 1


def test_totals_are_those_of_the_rows() -> None:
    whole = flame(trace()).frames.row(0, named=True)
    costs = row_costs(trace())
    assert whole["latency_cycles_total"] == costs["latency_cycles_total"].sum()
    assert whole["idle_cycles_total"] == costs["idle_cycles_total"].sum()
    assert (
        whole["exposed_latency_cycles_total"] + whole["exposed_idle_cycles_total"]
        == costs["exposed_cycles_total"].sum()
    )


def test_scopes_hold_the_instructions_that_began_inside_them() -> None:
    marks = markers([(10, ENTER | FIRST, "load"), (25, ENTER, "inner"), (35, LEAVE, ""), (45, LEAVE, "")])
    answer = flame(trace(markers=marks), "scope_source")
    found = paths(answer)
    assert (found["|load"], found["|load|inner"], found["|[no scope]"]) == (8 * 4, 8, 8 * 2)
    assert found["|load|inner|/a.py|/a.py:3|/h.h:9|s_nop 0"] == 8
    whole = answer.frames.row(0, named=True)
    assert whole["idle_cycles_total"] == row_costs(trace())["idle_cycles_total"].sum()
    assert whole["exposed_latency_cycles_total"] == pytest.approx(
        flame(trace()).frames["exposed_latency_cycles_total"][0]
    )


def test_scopes_alone_have_the_time_inside_and_how_often_they_were_entered() -> None:
    steps = [(10, ENTER | FIRST, "load"), (20, ENTER, "inner"), (25, LEAVE, ""), (30, ENTER, "inner"), (32, LEAVE, "")]
    answer = flame(trace(markers=markers([*steps, (50, LEAVE, "")])), "scopes")
    rows = answer.frames.select("name", "hit_count", "latency_cycles_total").rows()
    assert rows[1:] == [("load", 1, 40.0), ("inner", 2, 7.0)]


def test_small_siblings_are_put_together_and_nothing_is_lost() -> None:
    texts = [f"s_nop {number}" for number in range(200)]
    steps = [(0, "IMMED", 0, 0, 100_000_000)] + [
        (number, "IMMED", 100_000_000 + 10 * number, 0, 4) for number in range(1, 200)
    ]
    answer = flame(small_trace(texts, steps, places=["/a.hip:1"] * 200))
    assert answer.frames["name"].to_list()[-1] == "(199 smaller)"
    assert (answer.frames.height, answer.frame_count, answer.merged_count) == (5, 202, 199)
    leaves = answer.frames.filter(pl.col("depth") == 3)
    assert leaves["latency_cycles_total"].sum() == answer.frames["latency_cycles_total"][0]


def test_very_deep_chains_are_cut_but_keep_their_ends() -> None:
    chain = " -> ".join(f"/f.h:{line}" for line in range(1, 5001))
    answer = flame(small_trace(["s_nop 0"], [(0, "IMMED", 0, 0, 4)], places=[chain]))
    names = answer.frames["name"].to_list()
    assert len(names) == MOST_LINES + 3
    assert (names[2], names[-2]) == ("/f.h:5000", "/f.h:1")


def test_trees_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="no tree 'x'"):
        flame(trace(), "x")
