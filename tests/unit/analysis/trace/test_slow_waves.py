"""Slow waves and where they lose time, worked out by hand on small traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wavewright
from tests.kit.made_traces import made
from wavewright.analysis.trace.compare.slow_waves import SlowWaves, slow_waves


def wave(wait: int, *, start: int = 0, se: int = 0, hits: int = 1) -> dict[str, Any]:
    """A wave that loads, waits for so many cycles (`hits` times) and ends; it lasts 20 + hits * (wait + 10) cycles."""
    instructions, time = [(start + 10, 0, 4, 1, 0)], start + 20
    for _ in range(hits):
        instructions.append((time, wait, wait + 4, 9, 1))
        time += wait + 10
    return {"begin": start, "end": time, "se": se, "instructions": [*instructions, (time - 4, 0, 4, 11, 2)]}


def usual() -> list[dict[str, Any]]:
    return [wave(100 + number, start=1000 * number) for number in range(9)]


def test_the_slow_wave_is_first_and_explained() -> None:
    answer = slow_waves(made([*usual(), wave(900, start=20_000)]))
    first = answer.waves.row(0, named=True)
    assert (first["wave"], first["cycles"], first["stall_cycles"], first["instruction_count"]) == (9, 930, 900, 3)
    assert (first["offset_cycles"], first["path"], first["is_outlier"]) == (20_000, 0, True)
    assert first["cycles_ratio"] == pytest.approx(930 / 134.5)  # the others last 130 to 138 cycles
    assert answer.waves["cycles"].to_list()[1:] == list(range(138, 129, -1))
    assert (answer.outlier_count, answer.untraced_wave_count, answer.cycles_median) == (1, 0, 134.5)
    (cause,) = answer.causes.to_dicts()
    # eight reference waves: 100 to 108 without the one that is farthest from 134.5, the first; each row 4 more + gap 6
    assert (cause["wave"], cause["row"], cause["text"]) == (9, 1, "s_waitcnt lgkmcnt(0)")
    assert (cause["cycles"], cause["hit_count"], cause["reference_hit_count"]) == (910, 1, 1.0)
    assert cause["reference_cycles_mean"] == 10 + sum(range(101, 109)) / 8
    assert cause["excess_cycles"] == 910 - 114.5


def test_a_wave_that_ran_more_often_says_so() -> None:
    answer = slow_waves(made([*usual(), wave(100, start=20_000, hits=3)]))
    cause = answer.causes.row(0, named=True)
    assert (cause["wave"], cause["row"], cause["hit_count"], cause["reference_hit_count"]) == (9, 1, 3, 1.0)


def test_waves_without_instructions_are_not_early() -> None:
    untraced = {"begin": 500, "end": 5000, "se": 2}
    answer = slow_waves(made([wave(100), wave(101, start=10), untraced]))
    last = answer.waves.row(-1, named=True)
    assert (last["wave"], last["instruction_count"], last["path"], last["cycles_ratio"]) == (2, 0, None, None)
    assert (last["is_early_exit"], last["is_outlier"], last["cycles"]) == (False, False, 4500)
    assert (answer.untraced_wave_count, answer.causes.height) == (1, 0)
    assert answer.cycles_median == 130.5


def test_alike_waves_have_no_causes() -> None:
    assert slow_waves(made(usual())).causes.height == 0


def test_only_waves_that_ran_the_rows() -> None:
    other = {"begin": 0, "end": 50, "instructions": [(5, 0, 4, 1, 3)]}
    trace = made([*usual(), wave(900, start=20_000), other])
    assert slow_waves(trace, rows=pl.Series([3], dtype=pl.Int32)).waves["wave"].to_list() == [10]
    assert slow_waves(trace, rows=pl.Series([0], dtype=pl.Int32)).causes.height == 0


def test_the_tables_are_as_declared() -> None:
    for waves in ([], [{"begin": 0, "end": 9}], [*usual(), wave(900)]):
        answer = slow_waves(made(waves))
        for name, spec in SlowWaves.tables.items():
            found = getattr(answer, name).schema
            assert [(name, str(dtype)) for name, dtype in found.items()] == [(c.name, c.dtype) for c in spec.columns]


def test_a_real_trace_without_instructions_of_two_engines(shared: Path) -> None:
    answer = slow_waves(wavewright.decode(shared / "golden" / "gfx1200" / "profile_gemm_run_0"))
    assert answer.untraced_wave_count == 16
    assert set(answer.waves.filter(pl.col("path").is_null())["se"]) == {2, 3}
    assert not answer.waves["is_early_exit"].any()
