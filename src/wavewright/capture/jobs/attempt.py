"""One attempt, or a discovery before it: its record, and its passes run one after the other, which end as one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from wavewright.base.shown import shown
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.jobs.folder import ENDING, RAW, STDERR, STDOUT, refused, write_json
from wavewright.capture.machines.guard import MARK
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Ending, Limits, run_program
from wavewright.capture.plans.command import Command
from wavewright.capture.plans.commands import Planned
from wavewright.capture.rocprofv3.releases import Installation
from wavewright.errors import WavewrightError

_USAGE_STATUS = 2  #: Of AMD's script for words that it does not know.
_HASH_SECONDS = 60.0  #: After which sha256sum of the program is killed.
#: Beginnings of names of variables that change what a GPU does, or what is compiled for it. Others are not stored:
#: an environment holds secrets.
_TELLING = (
    *("AMD_", "FLYDSL_", "GPU_", "HIP_", "HSA_", "LD_PRELOAD", "MIOPEN_", "NCCL_", "OMP_", "PYTORCH_", "RCCL_"),
    *("ROCM_", "ROCP", "ROCR_", "ROCTX_", "TORCHINDUCTOR_", "TRITON_", "VLLM_"),
)


def command_record(
    plan: Planned, machine: Machine, installation: Installation | None, gpu: Gpu | None
) -> dict[str, Any]:
    """The content of command.json of an attempt: what is run, where, by which versions, and on which program."""
    return {
        "wanted": msgspec.to_builtins(plan.recording),
        "commands": [command.as_json() for command in plan.commands],
        "notes": plan.notes,
        "gpu": None if gpu is None else asdict(gpu),
        "versions": versions(installation),
        "program": _program_facts(machine, plan.recording.program[0]),
        "variables": {name: value for name, value in sorted(machine.variables.items()) if name.startswith(_TELLING)},
    }


def versions(installation: Installation | None) -> dict[str, Any]:
    """Versions of wavewright and of the profiler."""
    by_name = {"wavewright": "unknown"}
    with suppress(PackageNotFoundError):
        by_name["wavewright"] = version("wavewright")
    if installation is not None:
        by_name |= {"rocprofv3": installation.rocprofv3, "rocm": installation.rocm_version}
        by_name |= {"rocprofiler_sdk": installation.sdk_version, "decoder_folder": installation.decoder_folder}
    return by_name


def _program_facts(machine: Machine, word: str) -> dict[str, Any]:
    """The first word of a program, where it is on the machine, its size, and its hash where `sha256sum` tells it."""
    path = machine.program(word)
    if path is None:
        return {"name": shown(word), "path": None}
    facts = machine.facts(path)
    answer = machine.run(["sha256sum", "--", path], seconds=_HASH_SECONDS)
    words = answer.stdout.split()
    return {
        "name": shown(word),
        "path": shown(machine.real_path(path)),
        "size_bytes": facts.size_bytes if facts else None,
        # sha256sum puts a backslash before the hash where the name has letters that it escapes.
        "sha256": words[0].lstrip("\\") if answer.status == 0 and words else None,
    }


def run_passes(
    commands: Sequence[Command],
    folder: Path,
    *,
    variables: Mapping[str, str],
    limits: Limits,
    mark: str,
    tell: Callable[..., None],
) -> Ending:
    """Run the commands of an attempt; what they print goes to stdout.txt and stderr.txt of its folder.

    `variables` are those of the machine, `mark` is by which processes of this attempt are recognised, and `tell` is
    called with started, ended or running, and facts about it.
    """
    endings: list[Ending] = []
    total = len(commands)
    for place, command in enumerate(commands, 1):
        _write_files(command, folder / RAW)
        number = {"pass": place, "passes": total}  # of every event
        tell("started", **number, command=command.line)
        ending = run_program(
            command.words,
            variables=command.environment(variables) | {MARK: mark},
            cwd=command.cwd,
            stdout=folder / (STDOUT if total == 1 else f"{place}.{STDOUT}"),
            stderr=folder / (STDERR if total == 1 else f"{place}.{STDERR}"),
            limits=limits,
            each_second=partial(_running, tell, number),
        )
        endings.append(ending)
        is_last = place == total or ending.status in (None, _USAGE_STATUS) or bool(ending.stopped)
        if is_last:  # or the other passes make no sense
            _join_outputs(folder)
            write_json(folder / ENDING, _together(endings))
        tell("ended", **number, **asdict(ending))
        if is_last:
            break
    return _together(endings)


def _running(tell: Callable[..., None], number: Mapping[str, int], seconds: float) -> None:
    tell("running", **number, seconds=round(seconds, 1))


def _together(endings: Sequence[Ending]) -> Ending:
    """Join the endings of passes: the first that did not end well gives status and reason, amounts are summed."""
    chosen = next((ending for ending in endings if ending.stopped or ending.status != 0), endings[-1])
    return replace(
        chosen,
        seconds=sum(ending.seconds for ending in endings),
        dropped_bytes=sum(ending.dropped_bytes for ending in endings),
        left_behind=sum(ending.left_behind for ending in endings),
    )


def _write_files(command: Command, raw: Path) -> None:
    """Files that a command names; they are in the folder of its data."""
    for name, content in command.files.items():
        path = Path(name)
        if not path.is_relative_to(raw.absolute()):
            raise WavewrightError(f"{shown(name)} is not in the folder of the data", where=shown(str(raw)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise refused("write a file of the capture", error, path) from None


def _join_outputs(folder: Path) -> None:
    """Write what several passes printed into one file each, pass by pass."""
    for name in (STDOUT, STDERR):
        parts = [part for part in folder.glob(f"*.{name}") if part.name.partition(".")[0].isdigit()]
        if not parts:
            continue
        try:
            with (folder / name).open("wb") as joined:
                for part in sorted(parts, key=lambda part: int(part.name.partition(".")[0])):
                    with suppress(FileNotFoundError), part.open("rb") as stream:
                        shutil.copyfileobj(stream, joined)
        except OSError as error:
            raise refused("write what the program printed", error, folder) from None
