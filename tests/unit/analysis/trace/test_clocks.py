"""Clock frequency and alignment of shader engines."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.made_traces import made
from tests.kit.together import together
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.about.overview import overview
from wavewright.analysis.trace.clocks import alignment
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz


def traced(pairs: list[tuple[int, int, int]], engines: int = 2, hz: int = 100_000_000) -> ThreadTrace:
    """A trace with one short wave per shader engine."""
    waves = [{"begin": 0, "end": 4, "se": se} for se in range(engines)]
    columns = [list(column) for column in zip(*pairs, strict=True)] if pairs else [[], [], []]
    clocks = frame("realtime", dict(zip(("se", "shader_clock_cycles", "realtime_ticks"), columns, strict=True)))
    shaders = frame("shader_engines", {"se": range(engines)}, gfxip=9, realtime_hz=hz)
    return made(waves, realtime=clocks, shader_engines=shaders)


def test_the_worked_example_of_the_format_document() -> None:
    # 400 cycles apart; in 64-bit floats the offset is a hair less, and AMD cuts it towards zero
    trace = traced([(0, 900, 5_000_000), (0, 3100, 5_000_100), (1, 500, 5_000_000), (1, 2700, 5_000_100)])
    found = alignment(trace)
    assert found.is_aligned and found.reason is None
    assert found.offsets == {0: 0, 1: 399}
    assert found.clock_mhz == pytest.approx(2200)


@pytest.mark.parametrize(
    ("first", "last", "offsets", "mhz"),
    [  # the pairs of the real flash_attn_func (after the fix) and softmax directories
        (218242547406253, 218242547420997, (0, 751, 1503, 2211), 2077.9),
        (236563257764766, 236563257786046, (0, 755, 1507, 2211), 2036.1),
    ],
)
def test_offsets_of_real_pairs_equal_those_of_amds_viewer(
    first: int, last: int, offsets: tuple[int, ...], mhz: float
) -> None:
    clocks = {
        751: [(6496, 312856), (5744, 312104), (4992, 311352), (4284, 310644)],
        755: [(7584, 440864), (6828, 440112), (6076, 439360), (5372, 438652)],
    }[offsets[1]]
    pairs = [
        (se, clock, ticks) for se, ends in enumerate(clocks) for clock, ticks in zip(ends, (first, last), strict=True)
    ]
    found = alignment(traced(pairs, engines=4))
    assert tuple(found.offsets.values()) == offsets
    assert found.clock_mhz == pytest.approx(mhz, abs=0.05)


def test_an_engine_without_pairs_stops_the_alignment_and_is_named() -> None:
    found = alignment(traced([(0, 900, 5_000_000), (0, 3100, 5_000_100)]))
    assert not found.is_aligned
    assert found.offsets == {0: 0, 1: 0}
    assert found.reason == "no realtime pairs of SE 1"
    assert found.clock_mhz == pytest.approx(2200)


def test_no_pairs_at_all() -> None:
    found = alignment(traced([]))
    assert (found.clock_mhz, found.is_aligned, found.reason) == (None, False, "no realtime pairs of any shader engine")


def test_one_engine_needs_no_alignment() -> None:
    found = alignment(traced([(0, 900, 5_000_000), (0, 3100, 5_000_100)], engines=1))
    assert (found.is_aligned, found.reason) == (False, None)


@together(
    "pairs",
    [
        [(0, 100, 5), (0, 100, 5), (1, 100, 5), (1, 100, 5)],  # clocks that stand still
        [(0, 100, 9), (0, 200, 5), (1, 100, 9), (1, 200, 5)],  # a wall clock that runs backwards
        [(0, 100, 0), (0, 200, 1), (1, 100, (1 << 64) - 2), (1, 200, (1 << 64) - 1)],  # five millennia apart
        [(0, 100, 0), (0, 200, 1), (1, 100, 50), (1, 200, 51)],  # one ended before the other began
    ],
)
def test_pairs_that_make_no_sense_move_nothing(pairs: list[tuple[int, int, int]]) -> None:
    found = alignment(traced(pairs))
    assert found.offsets == {0: 0, 1: 0}
    assert found.reason == "the realtime pairs contradict each other"


def test_unknown_wall_clock_counts_as_100_mhz_and_the_overview_says_the_same() -> None:
    trace = traced([(0, 1000, 10), (0, 3000, 110)], engines=1, hz=0)
    assert clock_mhz(trace) == pytest.approx(2000)
    assert overview(trace.__class__({"realtime": trace.realtime}, trace.source)).clock_mhz == pytest.approx(2000)


def test_pairs_may_come_in_any_order() -> None:
    pairs = [(0, 3100, 5_000_100), (1, 2700, 5_000_100), (0, 900, 5_000_000), (1, 500, 5_000_000), (0, 2000, 5_000_050)]
    assert alignment(traced(pairs)).offsets == {0: 0, 1: 399}
    assert traced(pairs).realtime.schema["realtime_ticks"] == pl.UInt64
