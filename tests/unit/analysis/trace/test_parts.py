"""Instructions read some whole waves at a time."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from wavewright.analysis.trace import parts
from wavewright.analysis.trace.lanes.evaluated import paths_of
from wavewright.analysis.trace.parts import pieces_of_waves
from wavewright.model.trace import ThreadTrace

#: The rows that each of five waves executes: waves 0 and 3 go the same way, 1 and 4 the same rows in another order.
PATHS = {0: (0, 1, 2), 1: (0, 2, 1, 1), 2: (2,), 3: (0, 1, 2), 4: (0, 1, 2, 1)}
STEPS = [(wave, row) for wave, rows in PATHS.items() for row in rows]


def trace_of(steps: list[tuple[int, int]]) -> ThreadTrace:
    return small_trace(
        ["v_nop", "v_mov_b32_e32 v0, v1", "s_endpgm"],
        [(row, "VALU", 10 * at, 0, 4, wave) for at, (wave, row) in enumerate(steps)],
    )


def interleaved() -> list[tuple[int, int]]:
    """The same executions, those of the waves mixed."""
    return sorted(STEPS, key=lambda step: (sum(step) % 3, step[0] % 2))


@pytest.mark.parametrize("most_rows", [1, 4, 5, 1_000])
def test_pieces_are_whole_waves_in_order(most_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PIECE_ROWS", most_rows)
    trace = trace_of(STEPS)
    pieces = list(pieces_of_waves(trace, "wave", "row"))
    assert pl.concat(pieces).equals(trace.instructions.select("wave", "row"))
    waves = [wave for piece in pieces for wave in piece["wave"].unique().to_list()]
    assert len(waves) == len(PATHS)  # none is in two pieces
    assert all(piece.height < most_rows + 4 for piece in pieces)
    assert len(pieces) == {1: 5, 4: 3, 5: 2, 1_000: 1}[most_rows]


def test_mixed_waves_are_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PIECE_ROWS", 1)
    assert len(list(pieces_of_waves(trace_of(interleaved()), "wave", "row"))) == 1


@pytest.mark.parametrize("most_rows", [1, 4, 1_000])
def test_paths_are_told_apart_by_the_order_of_rows(most_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PIECE_ROWS", most_rows)
    paths = paths_of(trace_of(STEPS)).select("wave_count", "rows").rows()
    assert paths == [(2, [0, 1, 2]), (1, [0, 2, 1, 1]), (1, [2]), (1, [0, 1, 2, 1])]


def test_paths_of_mixed_waves() -> None:
    steps = interleaved()
    taken = {wave: [row for each, row in steps if each == wave] for wave, _ in steps}
    paths = paths_of(trace_of(steps)).select("wave_count", "rows").rows()
    distinct = [rows for _, rows in paths]
    assert {tuple(rows) for rows in taken.values()} == {tuple(rows) for rows in distinct}
    assert [count for count, _ in paths] == [list(taken.values()).count(rows) for rows in distinct]
