"""Checks of variables and libraries around the program that would disturb a capture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.capture.doctor.check import Answer, unhealthy
from wavewright.capture.doctor.sight import assignment, printable, version_numbers
from wavewright.capture.plans.environment import cleared
from wavewright.capture.rocprofv3.installed import site_packages

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight

#: Variables that captures take out as well, but that do no harm, or of which another check speaks.
_HARMLESS = ("ROCPROF_ATT_LIBRARY_PATH", "ROCPROF_LIST_AVAIL_TOOL_LIBRARY", "ROCPROFILER_METRICS_PATH")
#: Variables that change how programs run on the GPU; they belong into the description of a capture.
TUNING = (
    "HSA_ENABLE_SDMA",
    "HSA_CU_MASK",
    "HSA_XNACK",
    "HSA_OVERRIDE_GFX_VERSION",
    "HSA_NO_SCRATCH_RECLAIM",
    "AMD_SERIALIZE_KERNEL",
    "AMD_SERIALIZE_COPY",
    "AMD_LOG_LEVEL",
    "GPU_MAX_HW_QUEUES",
    "HIP_LAUNCH_BLOCKING",
)


def leftovers(sight: Sight) -> Answer:
    """Variables of other profilers."""
    names = leftover_names(sight)
    if not names:
        preload = sight.variables.get("LD_PRELOAD", "")
        return Answer(f"none; LD_PRELOAD={printable(preload, 60)} goes into every program" if preload else "none")
    shown = ", ".join(assignment(name, sight.variables[name], 40) for name in names)
    remedy = "they are merged into what rocprofv3 is asked for; `wavewright capture` takes them out, for other runs:"
    return unhealthy(shown, remedy, f"unset {' '.join(names)}")


def leftover_names(sight: Sight) -> tuple[str, ...]:
    """Names of variables of the caller that would interfere with a capture."""
    changes = cleared(sight.variables, {})
    names = [name for name in (*changes.variables, *changes.removed) if name not in _HARMLESS]
    return tuple(name for name in names if re.fullmatch(r"\w{1,80}", name))


def torch(sight: Sight) -> Answer:
    """PyTorch brings libraries of ROCm of its own."""
    for folder in site_packages(sight.machine):
        text = sight.machine.text(f"{folder}/torch/version.py")
        if text is None:
            continue
        match = re.search(r"(?m)^hip\b[^=\n]*=\s*['\"](\d{1,3}(?:\.\d{1,9}){1,3})", text)
        if not match:
            return Answer("PyTorch is installed without ROCm: it uses no AMD GPU")
        return _torch_of(sight, f"{folder}/torch", match[1])
    return Answer("no PyTorch in the Python on PATH")


def _torch_of(sight: Sight, folder: str, hip: str) -> Answer:
    numbers = version_numbers(hip)[:2]
    release = ".".join(map(str, numbers))
    if sight.version and sight.version[:2] != numbers:
        used = ".".join(map(str, sight.version))
        remedy = (
            "two copies of ROCm's libraries meet in one process, which ends in CONFIGURATION_LOCKED or `registered "
            "more than once`: use the rocprofv3 of the same release (capture --rocprofv3 PATH)"
        )
        command = (
            f"pip install --upgrade torch --index-url https://download.pytorch.org/whl/rocm{used.rpartition('.')[0]}"
        )
        return unhealthy(f"PyTorch is built for ROCm {release}, rocprofv3 is of {used}", remedy, command)
    names = [name for name in sight.machine.names(f"{folder}/lib") if name.startswith("librocprofiler-sdk.so")]
    copy = f", with a rocprofiler-sdk of its own ({names[0]})" if names else ""
    return Answer(f"built for ROCm {release}{copy}")
