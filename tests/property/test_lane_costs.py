"""Costs of lane addresses, against slow functions that say what they mean."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright import _core

_DWORDS_MAX = (1 << 32) - 1


def _slow_lds_cost(dwords: list[int], active: int, width: int, banks: int, phases: list[set[int]]) -> tuple[int, int]:
    ideal = extra = 0
    for phase in phases:
        lanes = [lane for lane in phase if active >> lane & 1]
        if not lanes:
            continue
        wanted = {(dwords[lane] + step) % (1 << 32) for lane in lanes for step in range(width)}
        ideal += 1
        extra += max(sum(dword % banks == bank for dword in wanted) for bank in range(banks)) - 1
    return ideal, extra


def _slow_segment_count(addresses: list[int], active: int, width: int, group_lanes: int, segment: int) -> int:
    touched = {
        (lane // group_lanes, byte // segment)
        for lane, address in enumerate(addresses)
        if active >> lane & 1
        for byte in range(address, address + width)
    }
    return len(touched)


@st.composite
def _values(draw: st.DrawFn, lanes: int, largest: int) -> list[int]:
    """Strides with a few lanes that go their own way, or values that have nothing to do with each other."""
    if draw(st.booleans()):
        return draw(st.lists(st.integers(0, draw(st.sampled_from([3, 200, largest]))), min_size=lanes, max_size=lanes))
    first, stride = draw(st.integers(0, 500)), draw(st.integers(0, 300))
    values = [first + lane * stride for lane in range(lanes)]
    for lane, value in draw(st.dictionaries(st.integers(0, lanes - 1), st.integers(0, 5000), max_size=4)).items():
        values[lane] = value
    return values


@st.composite
def _phases(draw: st.DrawFn, lanes: int) -> list[set[int]]:
    phase_count = draw(st.sampled_from([1, 2, 4, 8]))
    order = draw(st.sampled_from([list(range(lanes)), draw(st.permutations(range(lanes)))]))
    return [set(order[phase::phase_count]) for phase in range(phase_count)]


@given(st.data())
def test_lds_cycles_are_those_of_the_definition(data: st.DataObject) -> None:
    lanes = data.draw(st.sampled_from([32, 64]))
    phases = data.draw(_phases(lanes))
    width = data.draw(st.integers(1, 4))
    banks = data.draw(st.sampled_from([1, 2, 4, 32, 64, 128]))
    dwords = data.draw(_values(lanes, _DWORDS_MAX))
    if data.draw(st.booleans()):
        dwords = [dword // width * width for dword in dwords]
    active = data.draw(st.one_of(st.just((1 << lanes) - 1), st.integers(0, (1 << lanes) - 1)))
    masks = [sum(1 << lane for lane in phase) for phase in phases]
    costs = _core.lds_costs(
        pl.Series(dwords, dtype=pl.UInt32), pl.Series([active], dtype=pl.UInt64), width, banks, masks
    )
    assert pl.DataFrame(costs).row(0) == _slow_lds_cost(dwords, active, width, banks, phases)


@given(st.data())
def test_segments_are_those_of_the_definition(data: st.DataObject) -> None:
    lanes = data.draw(st.sampled_from([1, 32, 64]))
    addresses = data.draw(_values(lanes, (1 << 64) - 200))
    active = data.draw(st.one_of(st.just((1 << lanes) - 1), st.integers(0, (1 << lanes) - 1)))
    width = data.draw(st.sampled_from([1, 2, 4, 8, 12, 16, 150]))
    group_lanes = data.draw(st.sampled_from([1, 4, 16, 24, 64, 1000]))
    segment = data.draw(st.sampled_from([1, 32, 64, 128]))
    counts = pl.DataFrame(
        _core.segment_counts(
            pl.Series(addresses, dtype=pl.UInt64), pl.Series([active], dtype=pl.UInt64), width, group_lanes, segment
        )
    )
    side_by_side = [lane % group_lanes for lane in range(lanes)]
    # The least: active lanes of each group side by side from the start of a segment.
    places = [
        (active & ((1 << lane) - 1) & ~((1 << lane - place) - 1)).bit_count() for lane, place in enumerate(side_by_side)
    ]
    least = _slow_segment_count([width * place for place in places], active, width, group_lanes, segment)
    assert counts.row(0) == (_slow_segment_count(addresses, active, width, group_lanes, segment), least)


def _lds(dwords: list[int], active: list[int], width: int = 1, banks: int = 32, phases: tuple[int, ...] = (3,)) -> None:
    _core.lds_costs(pl.Series(dwords, dtype=pl.UInt32), pl.Series(active, dtype=pl.UInt64), width, banks, phases)


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        ("same number of lanes", ([1, 2, 3], [1, 1])),
        ("same number of lanes", ([], [1])),
        ("same number of lanes", ([1], [])),
        ("same number of lanes", ([0] * 65, [1])),
        ("active lane has no address", ([1, 2], [4])),
        ("1 to 4 dwords", ([1], [1], 0)),
        ("1 to 4 dwords", ([1], [1], 5)),
        ("power of two", ([1], [1], 1, 0)),
        ("power of two", ([1], [1], 1, 24)),
        ("power of two", ([1], [1], 1, 256)),
        ("in two phases", ([1], [1], 1, 32, (3, 1))),
        ("in no phase", ([1, 2], [2], 1, 32, (1,))),
    ],
)
def test_lds_costs_refuses_what_makes_no_sense(what: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=what):
        _lds(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "sizes"),
    [
        ("at least a byte", (0, 16, 64)),
        ("at least a lane", (4, 0, 64)),
        ("power of two", (4, 16, 0)),
        ("power", (4, 16, 48)),
    ],
)
def test_segment_counts_refuses_what_makes_no_sense(what: str, sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=what):
        _core.segment_counts(pl.Series([1], dtype=pl.UInt64), pl.Series([1], dtype=pl.UInt64), *sizes)


def test_no_patterns_cost_nothing() -> None:
    nothing = pl.Series([], dtype=pl.UInt64)
    assert len(_core.lds_costs(nothing.cast(pl.UInt32), nothing, 1, 32, [1])) == 0
    assert len(_core.segment_counts(nothing, nothing, 4, 16, 64)) == 0
