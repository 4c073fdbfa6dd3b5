"""A pool of jobs of several kinds behind AMD's own rocprofv3, with a retry on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.profiler_output import KERNEL, make_templates
from synth.rocm_tree import make_rocm_tree, steered
from tests.unit.capture.pool.stand_in import StandIn
from wavewright import capture
from wavewright.capture.machines.runner import Limits
from wavewright.capture.pool.folder import status_of


@pytest.mark.slow
def test_kinds_and_a_retry(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One job finds its kernel and doubles its buffer; another lists the kernels. Both on a GPU of their own."""
    machine = StandIn(tmp_path / "machine", gpu_count=2)
    for name, value in machine.variables.items():
        monkeypatch.setenv(name, value)
    tree = make_rocm_tree(tmp_path / "rocm", shared=shared)
    program, variables = steered(
        tmp_path,
        record=str(tmp_path / "record"),
        templates=str(make_templates(tmp_path / "templates")),
        kernels=[[KERNEL, 10, 20_000, 608]],
        launches={KERNEL: 10},
        needed_bytes=48 << 20,
    )
    plans = [
        capture.att(program, variables=variables, buffer_bytes=32 << 20, se_mask=1),
        capture.discover(program, variables=variables),
    ]
    jobs = [plan.job for plan in plans]
    assert all(job.limits == Limits() for job in jobs)
    status = capture.Pool(jobs, gpus="0-1", rocprofv3=tree.rocprofv3).run(machine.folder)
    rows = {job.kind: job for job in status.jobs}
    assert rows["att"].verdict == "good", rows["att"]
    assert rows["att"].attempt_count > 1
    assert rows["discover"].verdict == "good"
    runs = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    gpus = [run["env"].get("ROCR_VISIBLE_DEVICES") for run in runs]
    assert set(gpus) == {"0", "1"}
    assert len(gpus) >= 4  # a discovery, two attempts, and the other job
    assert status_of(machine.folder).exit_code == 0
    assert machine.wait_for_none() == {}
