"""Where data come from: the program's hash, versions, and variables that matter."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import shown
from wavewright.capture.jobs.stored import wanted_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.plans.planning import Planned
    from wavewright.capture.rocprofv3.installation import Installation

_HASH_SECONDS = 60.0
#: Beginnings of names of variables that change what a GPU does, or what is compiled for it. Others are not stored:
#: an environment holds secrets.
_TELLING = (
    *("AMD_", "FLYDSL_", "GPU_", "HIP_", "HSA_", "LD_PRELOAD", "MIOPEN_", "NCCL_", "OMP_", "PYTORCH_", "RCCL_"),
    *("ROCM_", "ROCP", "ROCR_", "ROCTX_", "TORCHINDUCTOR_", "TRITON_", "VLLM_"),
)


def program_facts(machine: Machine, program: tuple[str, ...]) -> dict[str, Any]:
    """The first word of a program, where it is on the machine, its size, and its hash where `sha256sum` tells it."""
    path = machine.program(program[0]) if program else None
    if path is None:
        return {"name": shown(program[0]) if program else "", "path": None}
    facts = machine.facts(path)
    answer = machine.run(["sha256sum", "--", path], seconds=_HASH_SECONDS)
    words = answer.stdout.split()
    return {
        "name": shown(program[0]),
        "path": shown(machine.real_path(path)),
        "size_bytes": facts.size_bytes if facts else None,
        "sha256": words[0].lstrip("\\") if answer.status == 0 and words else None,
    }


def telling_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Those variables of the caller that change what is measured.

    Examples
    --------
    >>> telling_variables({"HSA_XNACK": "1", "API_TOKEN": "secret"})
    {'HSA_XNACK': '1'}
    """
    return {name: value for name, value in sorted(variables.items()) if name.startswith(_TELLING)}


def versions(installation: Installation | None) -> dict[str, Any]:
    """Versions of wavewright and of the profiler."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        ours = version("wavewright")
    except PackageNotFoundError:
        ours = "unknown"
    if installation is None:
        return {"wavewright": ours}
    return {
        "wavewright": ours,
        "rocprofv3": installation.rocprofv3,
        "rocm": installation.rocm_version,
        "rocprofiler_sdk": installation.sdk_version,
        "decoder_folder": installation.decoder_folder,
    }


def command_record(
    plan: Planned, machine: Machine, installation: Installation | None, gpu: Gpu | None
) -> dict[str, Any]:
    """What command.json says of an attempt: what is run, where, by which versions, and on which program."""
    commands = [
        {
            "words": command.words,
            "variables": command.variables,
            "removed": command.removed,
            "cwd": command.cwd,
            "line": command.line,
            "notes": command.notes,
        }
        for command in plan.commands
    ]
    return {
        "wanted": wanted_values(plan.wanted),
        "commands": commands,
        "notes": plan.notes,
        "gpu": None if gpu is None else asdict(gpu),
        "versions": versions(installation),
        "program": program_facts(machine, plan.wanted.program),
        "variables": telling_variables(machine.variables),
    }
