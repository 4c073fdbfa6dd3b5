"""The native pass that follows registers, against its definition and against runs of small programs."""

from __future__ import annotations

import random
import time

import polars as pl
import pytest
from hypothesis import given as example
from hypothesis import strategies as st

from tests.unit.analysis.spelled_out_liveness import (
    BRANCH,
    END,
    JUMP,
    MASKS,
    MAY_NOT_WRITE,
    NEXT,
    READS_ALL,
    VECTOR,
    WRITES_ALL,
    SmallRow,
    followers,
    live_before,
    live_counts,
    reached_rows,
)
from wavewright import _core

READS, WRITES, LOW, HIGH = 1, 2, 16, 32
CALL, BACK, ANYWHERE = 4, 5, 6
V = VECTOR
A = 1280


def followed(
    rows: list[SmallRow],
    given: set[int],
    starts: dict[int, int] | None = None,
    roles: dict[tuple[int, int], int] | None = None,
) -> tuple[pl.DataFrame, list[set[int]]]:
    """Counts of every row, and the registers that are live (and written before) before every row."""
    operands = [
        (row, register, 1, (roles or {}).get((row, register), 0) | role)
        for row, here in enumerate(rows)
        for role, registers in ((READS, here.reads), (WRITES, here.writes))
        for register in sorted(registers)
    ]
    schema = {"row": pl.UInt32, "register": pl.UInt16, "count": pl.UInt8, "role": pl.UInt8}
    columns = {
        "flow": pl.Series([row.flow for row in rows], dtype=pl.UInt8),
        "target_row": pl.Series([row.target for row in rows], dtype=pl.Int32),
        "mask_change": pl.Series([row.mask_change for row in rows], dtype=pl.UInt8),
        "habits": pl.Series([row.habits for row in rows], dtype=pl.UInt8),
        "starts": pl.Series([(starts or {0: 1}).get(row, 0) for row in range(len(rows))], dtype=pl.UInt8),
    }
    answer = _core.live_registers(
        columns,
        pl.DataFrame(operands, schema=schema, orient="row").to_dict(),
        pl.Series(sorted(given), dtype=pl.UInt16),
        pl.Series(range(len(rows)), dtype=pl.Int32),
    )
    assert answer is not None
    counts, at = map(pl.DataFrame, answer)
    live: list[set[int]] = [set() for _ in rows]
    for row, register in at.filter(pl.col("is_given") == 1).select("row", "register").iter_rows():
        live[row].add(register)
    return counts, live


def test_straight_code() -> None:
    """v0 is an argument; v1 = v0 + v0; v2 = v1 + v0; store v2: worked out by hand."""
    rows = [
        SmallRow(reads=frozenset({V}), writes=frozenset({V + 1})),
        SmallRow(reads=frozenset({V, V + 1}), writes=frozenset({V + 2})),
        SmallRow(reads=frozenset({V + 2})),
        SmallRow(END),
    ]
    counts, live = followed(rows, {V})
    assert live == [{V}, {V, V + 1}, {V + 2}, set()]
    assert counts["live_vgprs"].to_list() == [2, 2, 1, 0]


def test_a_value_is_live_around_a_loop() -> None:
    """The counter s0 goes round; s1 is needed behind the loop only, and stays."""
    rows = [
        SmallRow(writes=frozenset({0})),
        SmallRow(writes=frozenset({1})),
        SmallRow(reads=frozenset({0}), writes=frozenset({0})),
        SmallRow(BRANCH, target=2),
        SmallRow(reads=frozenset({1})),
        SmallRow(END),
    ]
    counts, live = followed(rows, set())
    assert live[2] == live[3] == {0, 1}
    assert live[4] == {1}
    assert counts["live_sgprs"].to_list() == [1, 2, 2, 2, 1, 0]


def test_masked_lanes_keep_their_value() -> None:
    """v1 is written in some lanes only, then read in all: the old value is needed. Without a mask it is not."""
    narrowed, widened = 1, 2

    def rows(first: int, second: int) -> list[SmallRow]:
        return [
            SmallRow(writes=frozenset({V + 1})),
            SmallRow(mask_change=first),
            SmallRow(writes=frozenset({V + 1})),
            SmallRow(mask_change=second),
            SmallRow(reads=frozenset({V + 1})),
            SmallRow(END),
        ]

    assert followed(rows(narrowed, widened), set())[1][2] == {V + 1}
    assert followed(rows(0, 0), set())[1][2] == set()
    assert followed(rows(narrowed, 0), set())[1][2] == set()


def test_matrix_instructions_write_all_lanes() -> None:
    """As before, but the write in the middle takes no notice of the mask."""
    rows = [
        SmallRow(writes=frozenset({V + 1})),
        SmallRow(mask_change=1),
        SmallRow(writes=frozenset({V + 1}), habits=WRITES_ALL),
        SmallRow(mask_change=2),
        SmallRow(reads=frozenset({V + 1})),
        SmallRow(END),
    ]
    assert followed(rows, set())[1][2] == set()


def test_halves_of_a_register() -> None:
    """v1.l and v1.h live apart; the register counts while one of them lives."""
    rows = [
        SmallRow(writes=frozenset({V + 1})),
        SmallRow(writes=frozenset({V + 1})),
        SmallRow(reads=frozenset({V + 1})),
        SmallRow(writes=frozenset({V + 1})),
        SmallRow(reads=frozenset({V + 1})),
        SmallRow(END),
    ]
    roles = {(0, V + 1): LOW, (1, V + 1): HIGH, (2, V + 1): LOW, (3, V + 1): LOW, (4, V + 1): HIGH}
    counts, live = followed(rows, set(), roles=roles)
    assert [bool(registers) for registers in live] == [False, True, True, True, True, False]
    assert counts["live_vgprs"].to_list() == [1, 1, 1, 1, 1, 0]


def test_values_of_the_caller_live_in_the_called_function() -> None:
    """v5 is needed behind the call, so it is live in the function; v6 is written there for the caller."""
    rows = [
        SmallRow(writes=frozenset({V + 5})),
        SmallRow(CALL, target=4),
        SmallRow(reads=frozenset({V + 5, V + 6})),
        SmallRow(END),
        SmallRow(writes=frozenset({V + 6})),
        SmallRow(BACK),
    ]
    counts, live = followed(rows, set(), starts={0: 1, 4: 2})
    assert live[4] == {V + 5}
    assert live[5] == {V + 5, V + 6}
    assert counts["live_vgprs"].to_list() == [1, 1, 2, 0, 2, 2]
    unresolved = [*rows[:1], SmallRow(CALL), *rows[2:]]
    assert followed(unresolved, set(), starts={0: 1, 4: 2})[1][4] == {V + 5}


def test_a_jump_to_anywhere_keeps_all_that_is_read() -> None:
    rows = [
        SmallRow(writes=frozenset({V + 1, V + 2})),
        SmallRow(ANYWHERE),
        SmallRow(reads=frozenset({V + 1})),
        SmallRow(END),
    ]
    counts, live = followed(rows, set())
    assert live[1] == {V + 1}
    assert counts["is_reached"].to_list() == [1, 1, 0, 0]


def test_vectors_are_counted_at_the_same_time() -> None:
    """Two vgprs early, two agprs late, never more than three together."""
    rows = [
        SmallRow(writes=frozenset({V, V + 1})),
        SmallRow(reads=frozenset({V}), writes=frozenset({A})),
        SmallRow(reads=frozenset({V + 1}), writes=frozenset({A + 1})),
        SmallRow(reads=frozenset({A, A + 1})),
        SmallRow(END),
    ]
    counts = followed(rows, set())[0]
    assert counts["live_agprs"].to_list() == [0, 1, 2, 2, 0]
    assert counts["live_vectors"].to_list() == [2, 2, 2, 2, 0]


NUMBERS = st.frozensets(st.sampled_from([0, 1, 5, V, V + 1, V + 64, A]), max_size=2)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[SmallRow], set[int]]:
    """Up to nine rows with any branches."""
    count = draw(st.integers(2, 8))
    rows = []
    for _ in range(count):
        flow = draw(st.sampled_from([NEXT, NEXT, NEXT, BRANCH, BRANCH, JUMP, END]))
        rows.append(
            SmallRow(
                flow,
                draw(st.integers(0, count - 1)) if flow in (BRANCH, JUMP) else -1,
                draw(NUMBERS),
                draw(NUMBERS),
                draw(st.sampled_from([0, 0, 0, 1, 2, 3])),
                draw(st.sampled_from([0, 0, 0, WRITES_ALL, READS_ALL, MAY_NOT_WRITE])),
            )
        )
    return [*rows, SmallRow(END)], set(draw(NUMBERS))


@example(programs())
def test_equal_to_the_definition(program: tuple[list[SmallRow], set[int]]) -> None:
    """Sets before every row, and counts, of programs with any control flow."""
    rows, given = program
    counts, live = followed(rows, given)
    reached = reached_rows(rows)
    assert [row for row, is_reached in enumerate(counts["is_reached"]) if is_reached] == sorted(reached)
    spelled_out = live_before(rows, given)
    assert [live[row] for row in sorted(reached)] == [spelled_out[row] for row in sorted(reached)]
    sums = [(row["live_vectors"], row["live_sgprs"]) for row in counts.iter_rows(named=True)]
    assert sums == live_counts(rows, given)


LANES = 3


@example(programs(), st.integers(0, 2**32 - 1))
def test_no_run_reads_a_dead_value(program: tuple[list[SmallRow], set[int]], seed: int) -> None:
    """Run with a real mask and real lanes: when a value is read, its register was live ever since it was written."""
    rows, given = program
    live = followed(rows, given)[1]
    dice = random.Random(seed)
    written_at: dict[tuple[int, int], int] = dict.fromkeys(((r, lane) for r in given for lane in range(LANES)), -1)
    way: list[int] = []
    row, mask = 0, [True] * LANES
    for step in range(40):
        here = rows[row]
        way.append(row)
        for register in here.reads:
            for lane in range(LANES):
                if (mask[lane] or here.habits & READS_ALL or register < V) and (register, lane) in written_at:
                    since = written_at[register, lane]
                    assert all(register in live[passed] for passed in way[since + 1 :])
        for register in here.writes:
            for lane in range(LANES):
                if mask[lane] or register < V or here.habits & WRITES_ALL:
                    if here.habits & MAY_NOT_WRITE and dice.random() < 0.5:
                        continue
                    written_at[register, lane] = step
        mask = [dice.choice(sorted(MASKS[here.mask_change][active])) for active in mask]
        after = sorted(followers(rows, row))
        if not after:
            break
        row = dice.choice(after)


def _columns(flow: list[int], target: list[int]) -> dict[str, pl.Series]:
    nothing = pl.repeat(0, len(flow), dtype=pl.UInt8, eager=True)
    starts = pl.Series([1] + [0] * (len(flow) - 1), dtype=pl.UInt8)
    return {
        "flow": pl.Series(flow, dtype=pl.UInt8),
        "target_row": pl.Series(target, dtype=pl.Int32),
        "mask_change": nothing,
        "habits": nothing,
        "starts": starts,
    }


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("shape", ["ladder", "random", "one block", "back and forth"])
def test_many_rows_of_any_shape_are_bounded(shape: str) -> None:
    """Every row a branch, to the worst places: an answer or None, in seconds."""
    count = 300_000
    dice = random.Random(17)
    if shape == "one block":
        flow, target = [NEXT] * (count - 1) + [END], [-1] * count
    elif shape == "ladder":
        flow, target = [BRANCH] * (count - 1) + [END], [max(0, row - 1) for row in range(count)]
    elif shape == "random":
        flow, target = [BRANCH] * (count - 1) + [END], [dice.randrange(count) for _ in range(count)]
    else:
        flow, target = [BRANCH] * (count - 1) + [END], [count - 1 - row for row in range(count)]
    operands = {
        "row": pl.int_range(count, dtype=pl.UInt32, eager=True),
        "register": (pl.int_range(count, eager=True) * 7919 % 1000 + V).cast(pl.UInt16),
        "count": pl.repeat(4, count, dtype=pl.UInt8, eager=True),
        "role": (pl.int_range(count, eager=True) % 3 % 2 + 1).cast(pl.UInt8),
    }
    begin = time.process_time()
    given, wanted = pl.Series([V], dtype=pl.UInt16), pl.Series([0], dtype=pl.Int32)
    answer = _core.live_registers(_columns(flow, target), operands, given, wanted)
    assert time.process_time() - begin < 10
    if answer is not None:
        assert pl.DataFrame(answer[0]).height == count
    assert answer is not None or shape != "one block"
