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
    names = [*(name for name in _VARIABLES if name in machine.variables), *leftover_names(view)]
    return {
        "schema_version": SCHEMA_VERSION,
        "system": identity.system,
        "kernel": printable(identity.kernel),
        "processor": printable(identity.processor),
        "container": view.container,
        "driver": printable(machine.text("/sys/module/amdgpu/version") or ""),
        "gpus": [_gpu(view, gpu) for gpu in view.gpus],
        "rocm": None if used is None else _installation(view, used),
        "variables": {
            name: assignment(name, machine.variables[name], 400).partition("=")[2] for name in dict.fromkeys(names)
        },
    }


def _gpu(view: MachineView, gpu: Gpu) -> dict[str, Any]:
    level = view.machine.text(f"{gpu.card}/power_dpm_force_performance_level") if gpu.card else None
    clocks = view.machine.text(f"{gpu.card}/pp_dpm_sclk") if gpu.card else None
    caps = [
        cap
        for name in (view.machine.names(f"{gpu.card}/hwmon") if gpu.card else ())
        if (cap := view.number(f"{gpu.card}/hwmon/{name}/power1_cap")) is not None
    ]
    return {
        **asdict(gpu),
        "performance_level": printable(level or ""),
        "clocks": [printable(line, 40) for line in (clocks or "").splitlines()[:32]],
        "power_cap_watts": caps[0] / 1e6 if caps else None,
        "firmware_versions": firmware_versions(view, gpu),
    }


def _installation(view: MachineView, installation: Installation) -> dict[str, Any]:
    decoder = installation.decoder_folder
    facts = {**asdict(installation), "options": sorted(installation.options)}
    del facts["decoder_folder"]
    return {**facts, "decoder": view.machine.real_path(f"{decoder}/{DECODER}") if decoder else ""}
