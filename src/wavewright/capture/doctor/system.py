"""Checks of the system around the GPU: operating system, variables and libraries, rights, and room for the data."""

from __future__ import annotations

import re
from typing import Any

from wavewright.base.shown import quoted
from wavewright.base.words import amount
from wavewright.capture.doctor.check import Level, Outcome, bad, ok, skipped
from wavewright.capture.doctor.view import MachineView, assignment, printable
from wavewright.capture.plans.command import cleared
from wavewright.capture.rocprofv3.installation import site_packages
from wavewright.capture.rocprofv3.options import version_of

#: Variables that captures take out as well, but that do no harm, or of which another check speaks.
_HARMLESS = ("ROCPROF_ATT_LIBRARY_PATH", "ROCPROF_LIST_AVAIL_TOOL_LIBRARY", "ROCPROFILER_METRICS_PATH")
#: Variables that change how programs run on the GPU; they belong into the description of a capture.
TUNING = (
    *("HSA_ENABLE_SDMA", "HSA_CU_MASK", "HSA_XNACK", "HSA_OVERRIDE_GFX_VERSION", "HSA_NO_SCRATCH_RECLAIM"),
    *("AMD_SERIALIZE_KERNEL", "AMD_SERIALIZE_COPY", "AMD_LOG_LEVEL", "GPU_MAX_HW_QUEUES", "HIP_LAUNCH_BLOCKING"),
)
_CAPABILITIES = {"PERFMON": 38, "SYS_ADMIN": 21}  #: Capability that gives the right -> its bit.
_PARANOID_MAX = 2  #: Up to this value of perf_event_paranoid no capability is needed.
#: Raw data of one attempt at most: two launches, each a buffer of the largest default in use (256 MiB).
RAW_BYTES = 2 * (256 << 20)
#: With what rocprofv3 itself decodes from them as JSON, about ten times as much.
EXPECTED_BYTES = 11 * RAW_BYTES


def operating_system(view: MachineView) -> Outcome:
    """Look whether this is Linux, and which."""
    identity = view.machine.identity
    if identity.system != "Linux":
        return bad("other", system=printable(identity.system) or "unknown")
    lines = (view.machine.text("/etc/os-release") or "").splitlines()
    names = [line.partition("=")[2].strip("\"'") for line in lines if line.startswith("PRETTY_NAME=")]
    name = printable(names[0], 60) if names else "Linux"
    return ok("linux", name=name, kernel=printable(identity.kernel, 60), processor=printable(identity.processor, 20))


def windows_subsystem(view: MachineView) -> Outcome:
    """Look whether this is Linux inside Windows, which has no /dev/kfd."""
    return bad("yes") if view.is_wsl else ok("no")


def hardware(view: MachineView) -> Outcome:
    """Look for an AMD GPU."""
    if view.machine.identity.system != "Linux":
        return skipped("other")
    if view.is_wsl:
        return ok("windows")
    if view.has_gpu:
        return ok("pci", count=len(view.pci_gpus)) if view.pci_gpus else ok("driver")
    return bad("none")


def leftovers(view: MachineView) -> Outcome:
    """Look for variables of other profilers."""
    names = leftover_names(view)
    if names:
        texts = ", ".join(assignment(name, view.variables[name], 40) for name in names)
        return bad("some", texts=texts, names=" ".join(names))
    preload = view.variables.get("LD_PRELOAD", "")
    return ok("preload", value=printable(preload, 60)) if preload else ok("none")


def leftover_names(view: MachineView) -> tuple[str, ...]:
    """Names of variables of the caller that would interfere with a capture."""
    changes = cleared(view.variables, {})
    names = [name for name in (*changes.variables, *changes.removed) if name not in _HARMLESS]
    return tuple(name for name in names if re.fullmatch(r"\w{1,80}", name))


def torch(view: MachineView) -> Outcome:
    """Look for PyTorch, which brings libraries of ROCm of its own."""
    for folder in site_packages(view.machine):
        text = view.machine.text(f"{folder}/torch/version.py")
        if text is None:
            continue
        match = re.search(r"(?m)^hip\b[^=\n]*=\s*['\"](\d{1,3}(?:\.\d{1,9}){1,3})", text)
        if not match:
            return ok("without ROCm")
        numbers = version_of(match[1])[:2]
        release, used = ".".join(map(str, numbers)), ".".join(map(str, view.version))
        if view.version and view.version[:2] != numbers:
            return bad("other release", release=release, used=used, index=used.rpartition(".")[0])
        libraries = view.machine.names(f"{folder}/torch/lib")
        names = [name for name in libraries if name.startswith("librocprofiler-sdk.so")]
        copy = f", with a rocprofiler-sdk of its own ({names[0]})" if names else ""
        return ok("same release", release=release, copy=copy)
    return ok("none")


def permission_to_count(view: MachineView) -> Outcome:
    """Look for the right to lock a GPU for a profiler."""
    bits = view.capabilities()
    paranoid = view.number("/proc/sys/kernel/perf_event_paranoid")
    if bits is None and paranoid is None:
        return skipped("not told")
    names = [name for name, bit in _CAPABILITIES.items() if bits is not None and bits >> bit & 1]
    if names:
        return ok("capability", names=" and ".join(names))
    if paranoid is not None and paranoid <= _PARANOID_MAX:
        return ok("paranoid", paranoid=paranoid)
    value = "unknown" if paranoid is None else paranoid
    if view.is_run_by_flags:
        return bad("container", view.start_line("--cap-add PERFMON"), paranoid=value)
    return bad("none", paranoid=value)


def disk(view: MachineView) -> Outcome:
    """Look for room for what a capture writes."""
    home = view.variables.get("HOME", "")
    folder = view.output or (home if home.startswith("/") else "/tmp")  # noqa: S108 - nothing is written there
    values: dict[str, Any] = {"where": printable(folder, 60)}
    free = view.machine.free_bytes(folder)
    if free is None:
        return skipped("not told", **values)
    values |= {"free": amount(free), "raw": amount(RAW_BYTES), "all": amount(EXPECTED_BYTES), "folder": quoted(folder)}
    if free < RAW_BYTES:
        return bad("full", **values)
    if free < EXPECTED_BYTES:
        return bad("small", **values, level=Level.WARNING)
    return ok("enough", **values)
