"""A gain of a kernel, carried to the run and to a step, against the same program simulated with a faster kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from synth.runs import planted, scaled, simulate
from tests.kit.made_runs import run as made_run
from tests.kit.made_runs import spans
from tests.kit.planted_runs import opened, simulated
from wavewright.analysis.run.graph import event_graph
from wavewright.analysis.run.graph.kernel_gain import run_gains
from wavewright.analysis.run.graph.scenarios import what_if
from wavewright.analysis.run.steps import steps

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = "attn_fwd"


def span_with(cause: str, percent: int) -> int:
    """The span of the program whose kernel takes so many percent of its time."""
    return simulate(scaled(planted(cause, 0, 2).program, KERNEL, percent)).span_ns


@pytest.mark.slow
@pytest.mark.parametrize("cause", ["straggler", "unoverlapped all-reduce"])
def test_interval_of_the_kernel_becomes_that_of_the_run(tmp_path: Path, cause: str) -> None:
    before, _ = simulated(cause, 0, 2)
    run = opened(before, tmp_path / "rocpd", "rocpd")
    name = next(name for name in run.dispatches["name"].cast(str).unique() if KERNEL in name)
    (gain,) = run_gains(run, name, [(0.1, 0.3)])
    assert gain.span_ns == before.span_ns
    assert (gain.gain_ns_min, gain.gain_ns_max) == tuple(before.span_ns - span_with(cause, share) for share in (90, 70))
    assert gain.gain_ns_min < gain.gain_ns_max
    assert gain.call_count == run.dispatches.filter(run.dispatches["name"].cast(str) == name).height
    (scenario,) = what_if(event_graph(run), (f"kernel={name}:-30%",))
    assert scenario.predictions[0].gain_ns_max == gain.gain_ns_max  # the same number as `path --what-if`
    found = steps(run).steps
    assert gain.step_count == found["step"].n_unique()
    assert gain.step_gain_ns_max == gain.gain_ns_max / gain.step_count  # all calls are in steps


@pytest.mark.slow
def test_only_calls_of_the_size_become_faster(tmp_path: Path) -> None:
    before, _ = simulated("straggler", 0, 2)
    run = opened(before, tmp_path / "rocpd", "rocpd")
    name = next(name for name in run.dispatches["name"].cast(str).unique() if KERNEL in name)
    rows = run.dispatches.filter(run.dispatches["name"].cast(str) == name)
    grid = tuple(rows.row(0, named=True)[f"grid_{axis}"] for axis in "xyz")
    (whole,) = run_gains(run, name, [(0.2, 0.2)])
    assert run_gains(run, name, [(0.2, 0.2)], grid=grid)[0] == whole
    (none,) = run_gains(run, name, [(0.2, 0.2)], grid=(grid[0] + 1, grid[1], grid[2]))
    assert none.call_count == 0
    assert none.unknown == "the run has no call of the kernel with this size"


@pytest.mark.slow
def test_slower_kernel_is_a_negative_gain_and_an_unexplained_run_has_none(tmp_path: Path) -> None:
    before, _ = simulated("straggler", 0, 2)
    run = opened(before, tmp_path / "rocpd", "rocpd")
    name = next(name for name in run.dispatches["name"].cast(str).unique() if KERNEL in name)
    (slower,) = run_gains(run, name, [(-0.3, -0.3)])
    assert slower.gain_ns_min == slower.gain_ns_max == before.span_ns - span_with("straggler", 130) < 0
    alone = made_run(dispatches=[row | {"name": "k"} for row in spans((0, 10), (1000, 1010))])
    (gain,) = run_gains(alone, "k", [(0.1, 0.2)])
    assert "a prediction needs 50.0 %" in gain.unknown
    assert gain.step_gain_ns_max is None
