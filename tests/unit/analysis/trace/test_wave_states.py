"""State curves: per shader engine, and added up as AMD does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tests.kit.made_traces import made, one_wave
from tests.kit.ui_directories import load, read_json
from wavewright.analysis.trace.waves.states import state_curves

if TYPE_CHECKING:
    from pathlib import Path


def test_each_shader_engine_has_its_own_curve() -> None:
    first = {"begin": 0, "end": 8, "states": [(1, 4), (2, 4)]}
    second = {"begin": 4, "end": 12, "states": [(1, 4), (2, 4)], "simd": 1}
    other = {"begin": 6, "end": 8, "states": [(1, 2)], "se": 3}
    curves = state_curves(made([first, second, other]))
    assert curves.rows() == [
        (0, 1, 0, 1),
        (0, 1, 4, 1),
        (0, 1, 8, 0),
        (0, 2, 4, 1),
        (0, 2, 8, 1),
        (0, 2, 12, 0),
        (3, 1, 6, 1),
        (3, 1, 8, 0),
    ]


def test_added_up_over_shader_engines() -> None:
    waves = [one_wave(), one_wave() | {"se": 2}]
    idle = state_curves(made(waves), per_se=False).filter(pl.col("state") == 1)
    assert idle.rows() == [(1, 1000, 2), (1, 1032, 0)]


def test_curves_equal_those_of_an_official_directory(shared: Path) -> None:
    directory = shared / "data" / "uiout-mi350x-flydsl" / "moe_gemm" / "big" / "ui_output_agent_56573_dispatch_87"
    curves = state_curves(load(directory), per_se=False)
    for state in (1, 2, 3, 4):
        official = read_json(directory / f"wstates{state}.json")
        curve = curves.filter(pl.col("state") == state)
        assert curve["time_cycles"].to_list() == official["time"]
        assert curve["wave_count"].to_list() == official["state"]
