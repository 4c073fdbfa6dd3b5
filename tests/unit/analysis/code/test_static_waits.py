"""Waits along the straight way, worked out by hand."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.static_waits import static_waits

NEXT, BRANCH, JUMP, END = 0, 1, 2, 3


def waits(
    texts: list[str], family: str = "gfx9", loops: tuple[tuple[int, int], ...] = (), **targets: int
) -> list[tuple[object, ...]]:
    """Row, counter, producers, latest, distance, around, certain of every wait; `rN=M`: row N branches to row M."""
    to = {int(name[1:]): row for name, row in targets.items()}
    flows = {"s_endpgm": END, "s_branch": JUMP}
    flow = pl.DataFrame(
        {
            "flow": [flows.get(text.split()[0], BRANCH if row in to else NEXT) for row, text in enumerate(texts)],
            "target_row": [to.get(row, -1) for row in range(len(texts))],
        }
    )
    spans = pl.DataFrame(
        [(number, first, last, None) for number, (first, last) in enumerate(loops)],
        schema={"loop": pl.UInt32, "first_row": pl.Int32, "last_row": pl.Int32, "parent": pl.UInt32},
        orient="row",
    )
    names = ("wait_row", "counter", "producer_count", "producer_row", "distance_rows", "is_around_loop", "is_certain")
    return static_waits(texts, flow, spans, family).select(names).rows()


LOAD = "global_load_dword v1, v2, s[0:1]"


def test_a_counter_comes_down_in_order() -> None:
    """Three loads, one may stay outstanding: it waits for the first two; the next wait for the third."""
    rows = [LOAD, LOAD, LOAD, "v_add_f32_e32 v0, v0, v0", "s_waitcnt vmcnt(1)", "s_nop 0", "s_waitcnt vmcnt(0)"]
    assert waits(rows) == [(4, "vmcnt", 2, 1, 2, False, True), (6, "vmcnt", 1, 2, 3, False, True)]


def test_nothing_to_wait_for() -> None:
    assert waits([LOAD, "s_waitcnt vmcnt(1)"]) == [(1, "vmcnt", 0, None, None, False, True)]


def test_scalar_loads_complete_in_any_order() -> None:
    """Which of two is done when one is left is not known; when none is left, both are."""
    load = "s_load_dword s0, s[4:5], 0x0"
    assert waits([load, load, "s_waitcnt lgkmcnt(1)"]) == [(2, "lgkmcnt", 1, 0, 1, False, False)]
    assert waits([load, load, "s_waitcnt lgkmcnt(0)"]) == [(2, "lgkmcnt", 2, 1, 0, False, True)]


def test_a_wait_in_a_loop_waits_for_the_iteration_before() -> None:
    """The load behind the wait is what the wait of the next iteration is for."""
    rows = [LOAD, "s_waitcnt vmcnt(0)", "v_add_f32_e32 v0, v0, v1", LOAD, "s_cbranch_scc1 65532", "s_endpgm"]
    answer = waits(rows, loops=((1, 4),), r4=1)
    assert answer == [(1, "vmcnt", 1, 3, 1, True, True)]


def test_what_is_outstanding_goes_along_a_jump() -> None:
    rows = [LOAD, "s_branch 1", "s_endpgm", "s_waitcnt vmcnt(0)"]
    assert waits(rows, r1=3) == [(3, "vmcnt", 1, 0, 1, False, True)]


def test_packed_waits_of_gfx12() -> None:
    rows = ["global_load_b32 v1, v2, s[0:1]", "ds_load_b32 v3, v4", "s_wait_loadcnt_dscnt 0x0"]
    assert waits(rows, "gfx12") == [
        (2, "loadcnt", 1, 0, 1, False, True),
        (2, "dscnt", 1, 1, 0, False, True),
    ]
