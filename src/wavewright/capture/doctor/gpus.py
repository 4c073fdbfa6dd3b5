"""Checks of the GPUs themselves: which, how they are set, who uses them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.base.words import amount, counted
from wavewright.capture.doctor.check import Answer, not_checked, unhealthy
from wavewright.capture.doctor.containers import device_flags, start_line
from wavewright.capture.doctor.sight import assignment, printable
from wavewright.capture.gpus.topology import TOPOLOGY_VARIABLES, topology_folder
from wavewright.capture.gpus.users import busy_percent

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight
    from wavewright.capture.gpus.gpu import Gpu

BUSY_PERCENT = 10  #: A GPU without work may show a few percent for a desktop.
_WATT = 1_000_000
#: Targets of which ROCm's profiler records thread traces.
_THREAD_TRACES = re.compile(r"gfx(90a|94\d|950|10\d\d|11\d\d|12\d\d)")
#: Target -> the first release of ROCm whose profiler knows it. Source: its CHANGELOG.
_FIRST_RELEASES = {"gfx1150": (7, 2), "gfx1151": (7, 2)}
_RADEON = re.compile(r"gfx1[12]\d\d")  #: Their counters stand still unless the clock is steady.
#: Firmware from which on an MI300X samples PCs. Source: rocprofiler-sdk, firmware_restrictions.cpp.
_MEC_MIN, _SOS_MIN = 0x1A, 0x00360259
_FIRMWARE_LINE = re.compile(r"(?m)^(\w+) feature version: \d+, firmware version: 0x([0-9a-fA-F]{1,8})$")
STEADY_LEVELS = ("profile_standard", "profile_peak", "profile_min_sclk", "profile_min_mclk")


def gpus(sight: Sight) -> Answer:
    """The driver's topology lists GPUs."""
    if sight.is_wsl:
        return not_checked("Linux inside Windows has no topology of the driver")
    if sight.gpus:
        problems = [f"node {node.number}: {node.problem}" for node in sight.nodes if node.problem]
        lines = tuple(describe(gpu) for gpu in sight.gpus)
        names = [name for name in TOPOLOGY_VARIABLES if sight.variables.get(name)]
        source = f", as {names[0]} says" if names else ""
        finding = f"{counted(len(lines), 'GPUs')}{source}"
        if problems:
            finding += f"; figures that cannot be right: {printable('; '.join(problems))}"
            return unhealthy(finding, "the driver is broken or far too old for this GPU: update it", details=lines)
        return Answer(finding, details=lines)
    folder = topology_folder(sight.machine)
    if not folder:
        return unhealthy("the driver has no topology", "the kernel was built without HSA_AMD, or /sys is hidden")
    hidden = len([name for name in sight.machine.names(folder) if name.isdigit()]) - len(sight.nodes)
    if hidden > 0:
        what = f"no GPU may be seen: {counted(hidden, 'nodes')} of the topology are hidden by a device cgroup"
        if sight.container:
            line = start_line(sight, *device_flags(sight))
            return unhealthy(what, "start the container with the devices of the GPUs", line)
        return unhealthy(
            what, "the job was started without a GPU: ask the batch system for one", "srun --gres=gpu:1 COMMAND"
        )
    what = "the topology of the driver lists no GPU"
    if problems := [f"node {node.number}: {node.problem}" for node in sight.nodes if node.problem]:
        what += f"; figures that cannot be right: {printable('; '.join(problems))}"
    remedy = "the driver does not support this GPU for computing, or failed to start it: its messages tell"
    return unhealthy(what, remedy, "sudo dmesg | grep -iE 'amdgpu|kfd' | tail -30")


def describe(gpu: Gpu) -> str:
    """A GPU in one line."""
    name = gpu.product or "GPU"
    parts = [f"{gpu.index}: {printable(name, 40)} {gpu.target or '(target unknown)'}", f"{gpu.cu_count} CUs"]
    parts.append(f"{gpu.se_count} SEs")
    if gpu.xcc_count > 1:
        parts.append(f"{gpu.xcc_count} XCCs")
    if gpu.partition:
        parts.append(gpu.partition)
    if gpu.memory_bytes:
        parts.append(f"{gpu.memory_bytes / (1 << 30):.0f} GiB")
    if gpu.pci:
        parts.append(gpu.pci)
    return ", ".join(parts)


def visibility(sight: Sight) -> Answer:
    """Variables that hide GPUs agree with each other and with the GPUs."""
    given = {name: sight.variables[name] for name in _VISIBILITY if name in sight.variables}
    if not given:
        return Answer("no variable hides a GPU")
    texts = ", ".join(assignment(name, value, 40) for name, value in given.items())
    what = _invisible(sight, given)
    unset = f"unset {' '.join(given)}"
    if what:
        return unhealthy(
            f"{texts}: {what}", "take them out, or name GPUs that exist by ROCR_VISIBLE_DEVICES alone", unset
        )
    if "ROCR_VISIBLE_DEVICES" not in given and len(sight.gpus) > 1:
        hint = (
            "the profiler sets itself up on all GPUs that HSA sees; ROCR_VISIBLE_DEVICES hides the others from it too"
        )
        return Answer(texts, remedy=hint)
    return Answer(texts)


_VISIBILITY = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def _invisible(sight: Sight, given: dict[str, str]) -> str:
    """What is wrong with the variables; empty = nothing. Rules: rocprofiler-sdk 1.3.2, agent.cpp."""
    seen = len(sight.gpus)
    rocr = given.get("ROCR_VISIBLE_DEVICES")
    if rocr is not None:
        if not rocr.strip():
            return "ROCR_VISIBLE_DEVICES is empty, which hides every GPU"
        problem, seen = _chosen(sight, rocr, seen)
        if problem:
            return f"ROCR_VISIBLE_DEVICES: {problem}"
    hips = [(name, given[name]) for name in _VISIBILITY[1:] if given.get(name, "").strip()]
    if len({value.replace(" ", "") for _, value in hips}) > 1:
        return f"{' and '.join(name for name, _ in hips)} differ; only the first counts"
    if hips:
        problem, _ = _chosen(sight, hips[0][1], seen)
        if problem:
            return f"{hips[0][0]}: {problem}" + (", counted within ROCR_VISIBLE_DEVICES" if rocr else "")
    return ""


def _chosen(sight: Sight, value: str, seen: int) -> tuple[str, int]:
    """What is wrong with a list of GPUs, and how many it chooses of the `seen` ones."""
    words = [word.strip() for word in value.split(",") if word.strip()]
    ids = {gpu.unique_id.lower() for gpu in sight.gpus if gpu.unique_id}
    for word in words:
        if re.fullmatch(r"\d{1,6}", word):
            if int(word) >= seen:
                return f"there is no GPU {word} among {seen}", 0
        elif word.lower().startswith("gpu-"):
            if ids and not any(each.startswith(word.lower()) for each in ids):
                return f"there is no GPU with the id {printable(word, 24)}", 0
        elif word == "-1":
            return "-1 hides every GPU", 0
        else:
            return f"{printable(word, 24)!r} is neither a number nor GPU-..., and is ignored", 0
    return "", len(words)


def architecture(sight: Sight) -> Answer:
    """Which captures these GPUs allow."""
    from wavewright.facts.gpus import TARGETS

    lines = []
    problems = []
    for target in dict.fromkeys(gpu.target for gpu in sight.gpus):
        if not target:
            problems.append("the driver does not tell the target: it is too old for rocprofv3")
            continue
        first = _FIRST_RELEASES.get(target)
        if target not in TARGETS:
            problems.append(f"{target}: wavewright has no facts about it; traces of it may not be decoded")
        elif first and sight.version and sight.version[:2] < first:
            problems.append(f"{target}: the profiler knows it from ROCm {'.'.join(map(str, first))} on")
        elif not _THREAD_TRACES.fullmatch(target):
            problems.append(
                f"{target}: counters and runs, but no thread traces, which gfx90a and newer and gfx10 and newer have"
            )
        else:
            lines.append(f"{target}: thread traces, counters, runs")
    if problems:
        remedy = "what is not named works; for the rest use another GPU, or a newer driver and ROCm"
        return unhealthy("; ".join(problems + lines), remedy)
    return Answer("; ".join(lines))


def performance_levels(sight: Sight) -> dict[Gpu, str]:
    """The levels that the driver shows, by GPU."""
    levels = {gpu: sight.machine.text(f"{gpu.card}/power_dpm_force_performance_level") for gpu in _cards(sight)}
    return {gpu: printable(level, 20) for gpu, level in levels.items() if level}


def gated_gpus(sight: Sight) -> dict[Gpu, str]:
    """GPUs whose counters stand still at their performance level."""
    levels = performance_levels(sight)
    return {gpu: level for gpu, level in levels.items() if _RADEON.fullmatch(gpu.target) and level not in STEADY_LEVELS}


def performance_level(sight: Sight) -> Answer:
    """Radeons count only with a steady clock."""
    levels = performance_levels(sight)
    if not levels:
        return not_checked("the driver shows no performance level here")
    summary = _by_value(levels)
    gated = gated_gpus(sight)
    if gated:
        remedy = "for counters set a steady clock, and afterwards auto again; thread traces and runs do not need it"
        commands = [f"sudo {' '.join(steady_words(gpu))}" for gpu in gated]
        return unhealthy(f"{summary}: counters of gfx11 and gfx12 stay 0", remedy, *commands)
    slow = [gpu for gpu, level in levels.items() if level == "low"]
    if slow:
        words = [f"sudo {' '.join(steady_words(gpu, level='AUTO'))}" for gpu in slow]
        return unhealthy(f"{summary}: the clocks are held at their lowest", "let the driver choose", *words)
    return Answer(summary)


def steady_words(gpu: Gpu, level: str = "STABLE_STD") -> tuple[str, ...]:
    """The command that sets a performance level; GPUs by address, because amd-smi numbers them in its own order."""
    return ("amd-smi", "set", "--gpu", gpu.pci or str(gpu.index), "--perf-level", level)


def power_cap(sight: Sight) -> Answer:
    """A lowered cap lowers the clocks."""
    shown: dict[Gpu, str] = {}
    lowered = []
    for gpu in _cards(sight):
        for name in sight.machine.names(f"{gpu.card}/hwmon"):
            cap = sight.number(f"{gpu.card}/hwmon/{name}/power1_cap")
            usual = sight.number(f"{gpu.card}/hwmon/{name}/power1_cap_default")
            if cap is None or cap <= 0:
                continue
            shown[gpu] = f"{cap / _WATT:.0f} W"
            if usual and 0 < cap < usual:
                shown[gpu] = f"{cap / _WATT:.0f} of {usual / _WATT:.0f} W"
                lowered.append(f"sudo amd-smi set --gpu {gpu.pci or gpu.index} --power-cap {usual // _WATT}")
    if not shown:
        return not_checked("the driver shows no power cap here")
    if lowered:
        what = f"{_by_value(shown)}: lower than the product's own"
        return unhealthy(what, "times are not those of this product; back to its own cap:", *lowered)
    return Answer(_by_value(shown))


def users(sight: Sight) -> Answer:
    """Nobody else uses the GPUs."""
    lines = []
    for gpu in sight.gpus:
        processes = sight.users.get(gpu.key, ())
        for user in processes[:3]:
            memory = f", {amount(user.memory_bytes)}" if user.memory_bytes else ""
            lines.append(f"GPU {gpu.index}: process {user.pid} {user.name or '(not visible here)'}{memory}")
        if len(processes) > 3:
            lines.append(f"GPU {gpu.index}: {len(processes) - 3} more processes")
    used = [gpu.index for gpu in sight.gpus if sight.users.get(gpu.key)]
    busy = [
        gpu
        for gpu in _cards(sight)
        if not sight.users.get(gpu.key) and (busy_percent(sight.machine, gpu) or 0) > BUSY_PERCENT
    ]
    lines += [f"GPU {gpu.index}: {busy_percent(sight.machine, gpu)} % busy, nobody computes: graphics?" for gpu in busy]
    if not lines:
        return Answer("nobody")
    free = [str(gpu.index) for gpu in sight.gpus if gpu.index not in used and gpu not in busy]
    remedy = (
        f"use a free GPU: {', '.join(free)} (capture --gpu auto does)" if free else "wait: capture --wait SECONDS does"
    )
    what = f"{len(sight.gpus) - len(free)} of {counted(len(sight.gpus), 'GPUs')} in use"
    return unhealthy(what, remedy, details=tuple(lines))


def firmware(sight: Sight) -> Answer:
    """PC sampling of MI300 needs firmware of some age."""
    wanted = [gpu for gpu in sight.gpus if gpu.target == "gfx942"]
    if not wanted:
        return Answer("no GPU here has a known least version")
    old = []
    seen = []
    for gpu in wanted:
        versions = firmware_versions(sight, gpu)
        mec = versions.get("MEC", gpu.firmware)
        sos = versions.get("SOS")
        if mec is not None:
            seen.append(f"MEC {mec:#x}" + (f", SOS {sos:#x}" if sos is not None else ""))
        if mec is not None and mec < _MEC_MIN:
            old.append(f"GPU {gpu.index}: MEC {mec:#x}, needed {_MEC_MIN:#x}")
        if sos is not None and sos < _SOS_MIN:
            old.append(f"GPU {gpu.index}: SOS {sos:#x}, needed {_SOS_MIN:#x}")
    if old:
        return unhealthy("; ".join(old), "PC sampling does not work before the firmware of the board is updated")
    if not seen:
        return not_checked("the driver does not tell the version of the firmware")
    return Answer("; ".join(dict.fromkeys(seen)))


def firmware_versions(sight: Sight, gpu: Gpu) -> dict[str, int]:
    """Versions of all firmware of a GPU by name; only root may read them."""
    match = re.search(r"/card(\d{1,4})/", gpu.card)
    text = sight.machine.text(f"/sys/kernel/debug/dri/{match[1]}/amdgpu_firmware_info") if match else None
    return {name: int(value, 16) for name, value in _FIRMWARE_LINE.findall(text or "")}


def _cards(sight: Sight) -> list[Gpu]:
    """GPUs whose sensors and settings can be read, each product once."""
    return list({gpu.card: gpu for gpu in reversed(sight.gpus) if gpu.card}.values())[::-1]


def _by_value(shown: dict[Gpu, str]) -> str:
    """The values, each with its GPUs unless all have the same."""
    values: dict[str, list[int]] = {}
    for gpu, value in shown.items():
        values.setdefault(value, []).append(gpu.index)
    if len(values) == 1:
        return next(iter(values))
    return "; ".join(f"GPU {', '.join(map(str, indexes))}: {value}" for value, indexes in values.items())
