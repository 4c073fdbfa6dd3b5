"""The verb closure: a synthesized trace and counters that its plan tells, and the same with planted faults."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, truth, write_capture
from tests.cli.conftest import Run
from tests.cli.in_process import call
from tests.unit.readers.counters.test_counters import long_row, write

WAVES_TRACED, WAVES = 16, 4096
#: Categories of the planned instructions, and the counter of each.
COUNTERS = {
    "SQ_INSTS_VALU": (truth.VALU,),
    "SQ_INSTS_SMEM": (truth.SMEM,),
    "SQ_INSTS_LDS": (truth.LDS,),
    "SQ_INSTS_VMEM": (truth.VMEM, truth.FLAT),
    "SQ_INSTS_BRANCH": (truth.JUMP, truth.NEXT),
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    write_capture(synthesize(_scenario()), folder)
    return folder


def _scenario() -> Scenario:
    return Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), workgroups=4, waves_per_workgroup=4, loop_trips=6)


def _counters(folder: Path, *, grid: int = 64 * WAVES, **factors: float) -> Path:
    """Counters of the planned instructions, scaled from the traced waves to the grid."""
    planned: Counter[int] = Counter()
    waves = 0
    capture = synthesize(_scenario())
    for each in capture.traces:
        waves += each.truth.wave_count
        planned.update(row[4] for row in each.truth.rows["instructions"])
    values = {name: sum(planned[one] for one in kinds) * WAVES // waves for name, kinds in COUNTERS.items()}
    kernel = "tiled_gemm"
    rows = [
        long_row(1, name, factors.get(name, 1.0) * value, kernel=kernel).replace(",1024,3,", f",{grid},3,")
        for name, value in ({"SQ_WAVES": WAVES} | values).items()
    ]
    return write(folder / "a_counter_collection.csv", *rows)


def _verdicts(*words: object) -> dict[str, str]:
    done = call("closure", *words, "--target", "gfx942", "--csv")
    assert done.status == 0, done.stderr
    return {row["counter"]: row["verdict"] for row in csv.DictReader(done.stdout.splitlines())}


def test_planned_instructions_close_exactly_in_any_order_of_the_paths(trace: Path, tmp_path: Path) -> None:
    counters = _counters(tmp_path)
    verdicts = _verdicts(trace, counters)
    assert verdicts == dict.fromkeys(("SQ_WAVES", *COUNTERS), "closes exactly")
    assert _verdicts(counters, trace) == verdicts


@pytest.mark.first_case
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("counter", ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_LDS", "SQ_INSTS_VMEM"])
def test_planted_faults_are_named(counter: str, factor: float, trace: Path, tmp_path: Path) -> None:
    verdicts = _verdicts(trace, _counters(tmp_path, **{counter: factor}))
    assert {name for name, verdict in verdicts.items() if verdict != "closes exactly"} == {counter}
    assert verdicts[counter] == "impossible"


def test_the_words_json_and_brief_say_the_same(run: Run, trace: Path, tmp_path: Path) -> None:
    counters = _counters(tmp_path, SQ_INSTS_LDS=2.0)
    asked = ("closure", trace, counters, "--target", "gfx942")
    text = run(*asked).stdout
    assert text.startswith("impossible: SQ_INSTS_LDS: double: ")
    assert "16 whole waves traced of the 4,096 of a dispatch (0.4 %): each stands for 256.0" in text
    answer = json.loads(run(*asked, "--json").stdout)
    assert answer["traced_wave_count"] == WAVES_TRACED
    assert "SQ_INSTS_LDS: double" in run(*asked, "--brief").stdout.replace("`", "")


def test_two_traces_are_refused(trace: Path) -> None:
    done = call("closure", trace, trace)
    assert done.status == 2
    assert "give one counter capture" in done.stderr
