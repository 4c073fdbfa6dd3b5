"""Facts that decide how a capture of this machine is read, as they are stored beside every capture (machine.json)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wavewright.capture.doctor.gpus import firmware_versions
from wavewright.capture.doctor.system import TUNING, leftover_names
from wavewright.capture.doctor.view import MachineView, assignment, printable
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.machines.machine import Machine
from wavewright.capture.plans.command import VISIBILITY
from wavewright.capture.rocprofv3.installation import DECODER
from wavewright.capture.rocprofv3.releases import Installation

SCHEMA_VERSION = 1
_LEVEL, _CLOCKS = "power_dpm_force_performance_level", "pp_dpm_sclk"  #: Files of the driver in the folder of a card.
#: Variables that say which GPUs, libraries and caches a program gets; no others are stored, as they may be secrets.
_VARIABLES = (
    *TUNING, "ROCR_VISIBLE_DEVICES", *VISIBILITY, "ROCM_PATH", "ROCPROFILER_METRICS_PATH", "SLURM_JOB_ID",
    "SLURM_JOB_GPUS",
)  # fmt: skip


def machine_facts(machine: Machine, installation: Installation | None = None) -> dict[str, Any]:
    """Plain values, nothing secret; `installation` is the rocprofv3 that was used, None = the one that would be."""
    view = MachineView(machine)
    identity = machine.identity
    used = installation or view.installation
    rocm = None
    if used is not None:
        rocm = {**asdict(used), "options": sorted(used.options)}
        decoder = rocm.pop("decoder_folder")
        rocm["decoder"] = machine.real_path(f"{decoder}/{DECODER}") if decoder else ""
    names = [*(name for name in _VARIABLES if name in machine.variables), *leftover_names(view)]
    return {
        "schema_version": SCHEMA_VERSION,
        "system": identity.system,
        "kernel": printable(identity.kernel),
        "processor": printable(identity.processor),
        "container": view.container,
        "driver": printable(machine.text("/sys/module/amdgpu/version") or ""),
        "gpus": [_gpu(view, gpu) for gpu in view.gpus],
        "rocm": rocm,
        "variables": {
            name: assignment(name, machine.variables[name], 400).partition("=")[2] for name in dict.fromkeys(names)
        },
    }


def _gpu(view: MachineView, gpu: Gpu) -> dict[str, Any]:
    texts = {name: view.machine.text(f"{gpu.card}/{name}") or "" if gpu.card else "" for name in (_LEVEL, _CLOCKS)}
    monitors = view.machine.names(f"{gpu.card}/hwmon") if gpu.card else ()
    caps = [view.number(f"{gpu.card}/hwmon/{name}/power1_cap") for name in monitors]
    cap = next((cap for cap in caps if cap is not None), None)
    return {
        **asdict(gpu),
        "performance_level": printable(texts[_LEVEL]),
        "clocks": [printable(line, 40) for line in texts[_CLOCKS].splitlines()[:32]],
        "power_cap_watts": None if cap is None else cap / 1e6,
        "firmware_versions": firmware_versions(view, gpu),
    }
