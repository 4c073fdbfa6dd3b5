"""The same goldens through `wavewright.decode`: files in, tables out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wavewright
from tests.golden import oracle
from tests.kit.together import try_all
from wavewright.errors import WavewrightError

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
TABLES = (
    *("waves", "instructions", "states", "occupancy", "sampled_counters"),
    *("events", "dispatches", "shader_data", "realtime", "other_simd"),
)


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_tables_equal_the_reference(family: str) -> None:
    try_all(_check, [(case,) for case in oracle.synthetic_cases(family)[::4]])


def test_tables_of_real_traces_equal_the_reference(shared: Path) -> None:
    assert shared.is_dir()
    cases = [(case,) for gpu in ("gfx950", "gfx1100", "gfx1200") for case in oracle.real_cases(gpu)]
    try_all(_check, cases[::5])


def _check(case: oracle.Case) -> None:
    golden = case.expected()
    specs = [f"{path}@{load}:{number}" for number, load, path in case.listings]
    if golden["status"] == 4:
        with pytest.raises(WavewrightError):
            wavewright.decode(case.trace, code_objects=specs, amd=True)
        return
    trace = wavewright.decode(case.trace, code_objects=specs, amd=True)
    ours, theirs = _tables(trace), oracle.golden_as_oracle(golden)
    if golden["status"] == 99:
        assert "stopped" in trace.shader_engines["status"].to_list()
        assert trace.losses.height
        ours["waves"] = ours["waves"][: len(theirs["waves"])]
        ours = {key: value for key, value in ours.items() if theirs[key] or key in ("waves", "events")}
    assert ours == {key: theirs[key] for key in ours}


def _tables(trace: wavewright.ThreadTrace) -> dict[str, Any]:
    place = trace.code.select("code_object", "address").rows()
    return oracle.tables_as_oracle({name: trace.table(name) for name in TABLES}, place)


def test_several_shader_engines_share_one_numbering(shared: Path) -> None:
    folder = shared / "golden" / "gfx1200" / "profile_gemm_run_0"
    whole = wavewright.open(folder)
    assert whole.waves["wave"].to_list() == list(range(whole.waves.height))
    for se in whole.waves["se"].unique():
        part = wavewright.decode(folder, shader_engines=[se])
        waves = whole.waves.filter(whole.waves["se"] == se)
        first, count = waves["first_instruction"].min(), waves["instruction_count"].sum()
        mine = whole.instructions.slice(first, count).drop("wave")  # type: ignore[arg-type]
        assert mine.equals(part.instructions.drop("wave"))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_matter(threads: int, shared: Path) -> None:
    folder = shared / "golden" / "gfx1100" / "profile_gemm_run_0"
    assert wavewright.decode(folder, threads=threads).instructions.equals(wavewright.decode(folder).instructions)
