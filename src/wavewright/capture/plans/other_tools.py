"""Runs recorded by other tools where they are what is installed: RPD's runTracer.sh, and ROCm Compute Profiler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.capture.plans.command import Command
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.plans.environment import Changes
    from wavewright.capture.wanted import RunTrace

#: Tools that record runs, the preferred one first, and the program of each.
TOOLS = {"rocprofv3": "rocprofv3", "rpd": "runTracer.sh", "rocprof-compute": "rocprof-compute"}
RPD_FILE = "run.rpd"
COMPUTE_FOLDER = "compute"


def installed_tool(machine: Machine) -> str:
    """The first of `TOOLS` that a machine has; the preferred one where it has none."""
    from wavewright.capture.rocprofv3.installed import find_installations

    preferred, *others = TOOLS
    if find_installations(machine):
        return preferred
    return next((tool for tool in others if machine.program(TOOLS[tool])), preferred)


def rpd_commands(
    wanted: RunTrace, variables: Mapping[str, str], changes: Changes, *, folder: str
) -> tuple[Command, ...]:
    """`runTracer.sh -o FILE PROGRAM`; all processes write into one file, and an existing one is deleted."""
    if wanted.extra:
        raise UsageError("runTracer.sh takes no options but -o", advice="leave the options for the profiler away")
    if wanted.program[0].startswith("-"):
        raise UsageError(f"{wanted.program[0][:60]!r} is not a program", advice="its name must not start with a hyphen")
    words = (TOOLS["rpd"], "-o", f"{folder.rstrip('/')}/{RPD_FILE}", *wanted.program)
    return (_command(wanted, words, variables, changes),)


def compute_commands(
    wanted: RunTrace, variables: Mapping[str, str], changes: Changes, *, folder: str
) -> tuple[Command, ...]:
    """`rocprof-compute profile -n NAME ... -- PROGRAM`; the program runs once per group of counters."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", wanted.program[0].rsplit("/", 1)[-1])[:40] or "run"
    output = ("--output-directory", f"{folder.rstrip('/')}/{COMPUTE_FOLDER}")
    words = (TOOLS["rocprof-compute"], "profile", "-n", name, *output, *wanted.extra, "--", *wanted.program)
    return (_command(wanted, words, variables, changes),)


def _command(wanted: RunTrace, words: tuple[str, ...], variables: Mapping[str, str], changes: Changes) -> Command:
    return Command(words=words, variables=dict(variables), removed=changes.removed, cwd=wanted.cwd, notes=changes.notes)
