"""Whole captures without a GPU: a ROCm of AMD's script or a stand-in, a driver's topology, a program that obeys."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from synth.profiler_output import KERNEL
from synth.rocm_tree import RocmTree, steered
from wavewright.capture.jobs.capture_run import take
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.result import Result
from wavewright.capture.kinds import ThreadTraces
from wavewright.capture.machines import guard
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Limits
from wavewright.capture.rocprofv3.installation import find_installation
from wavewright.capture.rocprofv3.releases import Installation

NOISE = "__amd_rocclr_fillBufferAligned"
#: An MI300X as the driver describes it: eight XCCs of four shader engines.
GPU_NODE = """cpu_cores_count 0
simd_count 1216
mem_banks_count 1
max_waves_per_simd 8
lds_size_in_kb 64
wave_front_size 64
array_count 32
simd_arrays_per_engine 1
cu_per_simd_array 10
simd_per_cu 4
gfx_target_version 90402
vendor_id 4098
device_id 29857
location_id 256
domain 0
drm_render_minor 128
unique_id {unique_id}
num_xcc 8
max_engine_clk_fcompute 2100
"""


@cache
def installation_of(tree: RocmTree) -> Installation:
    """Asked for once: --version and --help of AMD's script take a while."""
    return find_installation(Machine(), tree.rocprofv3)


@dataclass
class Bench:
    """A folder with everything that a capture needs."""

    folder: Path
    tree: RocmTree
    templates: Path
    gpu_count: int = 1
    steering: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        nodes = self.folder / "nodes"
        (nodes / "0").mkdir(parents=True)
        (nodes / "0" / "properties").write_text("cpu_cores_count 64\nsimd_count 0\n")
        for number in range(1, self.gpu_count + 1):
            (nodes / str(number)).mkdir()
            (nodes / str(number) / "properties").write_text(GPU_NODE.format(unique_id=0xABC0 + number))
            (nodes / str(number) / "gpu_id").write_text(f"{number * 1000}\n")
        self.variables = {
            "PATH": f"{self.tree.root}/bin:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "WAVEWRIGHT_LOCK_DIR": str(self.folder / "locks"),
            "ROCPROFILER_KFD_TOPOLOGY": str(nodes),
            **self.variables,
        }
        self.steering = {
            "templates": str(self.templates),
            "record": str(self.folder / "runs.jsonl"),
            "kernels": [[NOISE, 3, 1000, 1], [KERNEL, 12, 20_000, 4]],
            **self.steering,
        }

    @property
    def machine(self) -> Machine:
        return Machine(variables=self.variables)

    def recording(self, kind: type = ThreadTraces, **fields: Any) -> Any:
        program, variables = steered(self.folder, **self.steering)
        return kind(program=program, variables={**variables, **fields.pop("variables", {})}, **fields)

    def job(self, kind: type = ThreadTraces, *, limits: Limits | None = None, attempts: int = 4, **fields: Any) -> Job:
        limits = limits or Limits(seconds=1000, grace_seconds=3)
        return Job(recording=self.recording(kind, **fields), limits=limits, attempts=attempts)

    def take(self, job: Job, name: str = "out", **how: Any) -> Result:
        self.events.clear()
        try:
            return take(
                job,
                self.folder / name,
                machine=self.machine,
                installation=installation_of(self.tree),
                say=self.events.append,
                pause=self.pauses.append,
                **how,
            )
        finally:
            assert not running(self.folder), "something is left running"

    @property
    def runs(self) -> list[dict[str, Any]]:
        """What the program was given, run by run."""
        path = self.folder / "runs.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def stored_names(self) -> list[str]:
        """Names of the events but for those that are only shown."""
        return [each["event"] for each in self.events if each["event"] not in ("running", "note")]

    def named(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self.events if each["event"] == event]


def running(folder: Path) -> set[int]:
    """Processes of captures below a folder, whoever started them: by their marks."""
    alive = set()
    for path in folder.rglob("command.json"):
        alive |= guard.processes_of(None, json.loads(path.read_text())["mark"])
    return alive
