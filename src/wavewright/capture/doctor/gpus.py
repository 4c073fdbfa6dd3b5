"""Checks of the GPUs themselves: which, how they are set, who uses them."""

from __future__ import annotations

import re
from typing import Any

from wavewright.base.words import amount, counted
from wavewright.capture.doctor.check import Outcome, bad, ok, skipped
from wavewright.capture.doctor.view import MachineView, printable
from wavewright.capture.gpus.topology import TOPOLOGY_VARIABLES, Gpu, busy_percent, topology_folder

BUSY_PERCENT = 10  #: A GPU without work may show a few percent for a desktop.
_WATT = 1_000_000
#: Targets of which ROCm's profiler records thread traces.
_THREAD_TRACES = re.compile(r"gfx(90a|94\d|950|10\d\d|11\d\d|12\d\d)")
#: Target -> the first release of ROCm whose profiler knows it. Source: its CHANGELOG.
_FIRST_RELEASES = {"gfx1150": (7, 2), "gfx1151": (7, 2)}
_RADEON = re.compile(r"gfx1[12]\d\d")  #: Their counters stand still unless the clock is steady.
_FIRMWARE_LINE = re.compile(r"(?m)^(\w+) feature version: \d+, firmware version: 0x([0-9a-fA-F]{1,8})$")
_STEADY_LEVELS = ("profile_standard", "profile_peak", "profile_min_sclk", "profile_min_mclk")


def gpus(view: MachineView) -> Outcome:
    """Look for GPUs in the driver's topology."""
    if view.is_wsl:
        return skipped("wsl")
    problems = "; ".join(f"node {node.number}: {node.problem}" for node in view.nodes if node.problem)
    wrong = f"; figures that cannot be right: {printable(problems)}" if problems else ""
    if view.gpus:
        lines = tuple(map(_described, view.gpus))
        names = [name for name in TOPOLOGY_VARIABLES if view.variables.get(name)]
        finding = f"{counted(len(lines), 'GPUs')}{f', as {names[0]} says' if names else ''}{wrong}"
        if wrong:
            return bad("wrong figures", details=lines, finding=finding)
        return ok("seen", details=lines, gpus=finding)
    folder = topology_folder(view.machine)
    if not folder:
        return bad("no topology")
    hidden = len([name for name in view.machine.names(folder) if name.isdigit()]) - len(view.nodes)
    if hidden > 0:
        if view.container:
            return bad("hidden in container", view.device_line(), nodes=counted(hidden, "nodes"))
        return bad("hidden", nodes=counted(hidden, "nodes"))
    return bad("none", wrong=wrong)


def _described(gpu: Gpu) -> str:
    """A GPU in one line."""
    name = f"{gpu.index}: {printable(gpu.product or 'GPU', 40)} {gpu.target or '(target unknown)'}"
    xccs = f"{gpu.xcc_count} XCCs" if gpu.xcc_count > 1 else ""
    memory = f"{gpu.memory_bytes / (1 << 30):.0f} GiB" if gpu.memory_bytes else ""
    parts = (name, f"{gpu.cu_count} CUs", f"{gpu.se_count} SEs", xccs, gpu.partition, memory, gpu.pci)
    return ", ".join(filter(None, parts))


def architecture(view: MachineView) -> Outcome:
    """List the captures that these GPUs allow."""
    from wavewright.facts.gpus import TARGETS

    lines = []
    problems = []
    for target in dict.fromkeys(gpu.target for gpu in view.gpus):
        first = _FIRST_RELEASES.get(target)
        if not target:
            problems.append("the driver does not tell the target: it is too old for rocprofv3")
        elif target not in TARGETS:
            problems.append(f"{target}: wavewright has no facts about it; traces of it may not be decoded")
        elif first and view.version and view.version[:2] < first:
            problems.append(f"{target}: the profiler knows it from ROCm {'.'.join(map(str, first))} on")
        elif not _THREAD_TRACES.fullmatch(target):
            without = "counters and runs, but no thread traces, which gfx90a and newer and gfx10 and newer have"
            problems.append(f"{target}: {without}")
        else:
            lines.append(f"{target}: thread traces, counters, runs")
    return (bad if problems else ok)("limited" if problems else "all", lines="; ".join(problems + lines))


def performance_level(view: MachineView) -> Outcome:
    """Compare the performance levels: Radeons count only with a steady clock."""
    texts = {gpu: view.machine.text(f"{gpu.card}/power_dpm_force_performance_level") for gpu in _cards(view)}
    levels = {gpu: printable(level, 20) for gpu, level in texts.items() if level}
    if not levels:
        return skipped("not shown")
    summary = _by_value(levels)
    gated = [gpu for gpu, level in levels.items() if _RADEON.fullmatch(gpu.target) and level not in _STEADY_LEVELS]
    if gated:
        return bad("gated", *(_level_line(gpu, "STABLE_STD") for gpu in gated), levels=summary)
    slow = [gpu for gpu, level in levels.items() if level == "low"]
    if slow:
        return bad("low", *(_level_line(gpu, "AUTO") for gpu in slow), levels=summary)
    return ok("steady", levels=summary)


def _level_line(gpu: Gpu, level: str) -> str:
    """The command that sets a performance level; GPUs by address, because amd-smi numbers them in its own order."""
    return f"sudo amd-smi set --gpu {gpu.pci or gpu.index} --perf-level {level}"


def power_cap(view: MachineView) -> Outcome:
    """Compare the power caps with those of the product: a lowered cap lowers the clocks."""
    caps: dict[Gpu, str] = {}
    lowered = []
    for gpu in _cards(view):
        for name in view.machine.names(f"{gpu.card}/hwmon"):
            cap = view.number(f"{gpu.card}/hwmon/{name}/power1_cap")
            usual = view.number(f"{gpu.card}/hwmon/{name}/power1_cap_default")
            if cap is None or cap <= 0:
                continue
            caps[gpu] = f"{cap / _WATT:.0f} W"
            if usual and 0 < cap < usual:
                caps[gpu] = f"{cap / _WATT:.0f} of {usual / _WATT:.0f} W"
                lowered.append(f"sudo amd-smi set --gpu {gpu.pci or gpu.index} --power-cap {usual // _WATT}")
    if not caps:
        return skipped("not shown")
    return bad("lowered", *lowered, caps=_by_value(caps)) if lowered else ok("usual", caps=_by_value(caps))


def users(view: MachineView) -> Outcome:
    """Look for others who use the GPUs."""
    lines = []
    for gpu in view.gpus:
        processes = view.users.get(gpu.key, ())
        for user in processes[:3]:
            memory = f", {amount(user.memory_bytes)}" if user.memory_bytes else ""
            lines.append(f"GPU {gpu.index}: process {user.pid} {user.name or '(not visible here)'}{memory}")
        if len(processes) > 3:
            lines.append(f"GPU {gpu.index}: {len(processes) - 3} more processes")
    used = {gpu.index for gpu in view.gpus if view.users.get(gpu.key)}
    for gpu in _cards(view):
        percent = busy_percent(view.machine, gpu) or 0
        if gpu.index not in used and percent > BUSY_PERCENT:
            lines.append(f"GPU {gpu.index}: {percent} % busy, nobody computes: graphics?")
            used.add(gpu.index)
    if not lines:
        return ok("nobody")
    free = [str(gpu.index) for gpu in view.gpus if gpu.index not in used]
    values: dict[str, Any] = {"count": len(used), "gpus": counted(len(view.gpus), "GPUs"), "free": ", ".join(free)}
    return bad("some" if free else "all", details=tuple(lines), **values)


def firmware_versions(view: MachineView, gpu: Gpu) -> dict[str, int]:
    """Versions of all firmware of a GPU by name; only root may read them."""
    match = re.search(r"/card(\d{1,4})/", gpu.card)
    text = view.machine.text(f"/sys/kernel/debug/dri/{match[1]}/amdgpu_firmware_info") if match else None
    return {name: int(value, 16) for name, value in _FIRMWARE_LINE.findall(text or "")}


def _cards(view: MachineView) -> list[Gpu]:
    """GPUs whose sensors and settings can be read; of the partitions of one product, the first."""
    return list({gpu.card: gpu for gpu in reversed(view.gpus) if gpu.card}.values())[::-1]


def _by_value(texts: dict[Gpu, str]) -> str:
    """The values, each with its GPUs unless all have the same."""
    values: dict[str, list[int]] = {}
    for gpu, value in texts.items():
        values.setdefault(value, []).append(gpu.index)
    if len(values) == 1:
        return next(iter(values))
    return "; ".join(f"GPU {', '.join(map(str, indexes))}: {value}" for value, indexes in values.items())
