"""Variables of the caller that would change what a capture records: which are taken out, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Numbers of GPUs within what ROCR_VISIBLE_DEVICES leaves: with one GPU left, only 0 or nothing is right.
VISIBILITY = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


class Leftover(NamedTuple):
    """Variables that another profiler, or an earlier run, leaves behind."""

    pattern: str
    reason: str


LEFTOVERS: tuple[Leftover, ...] = (
    Leftover(r"ROCPROF_(?!TMPDIR$)\w+", "rocprofv3 adds to it, or takes it for a default"),
    Leftover(r"ROCPROFILER_(METRICS_PATH|LIBRARY_CTOR|\w+_BETA_ENABLED|LOG_LEVEL)", "it changes the profiler"),
    Leftover(r"ROCTX_LOG_LEVEL", "it changes the profiler"),
    Leftover(r"ROCP_TOOL_LIBRARIES|ROCP_TOOL_ATTACH|HSA_TOOLS_LIB", "another tool would be loaded first"),
    Leftover(r"KOKKOS_TOOLS_LIBS", "another tool would be loaded"),
    Leftover(r"RPDT_\w+", "the RPD tracer would be steered by it"),
)
#: Libraries in LD_PRELOAD that record by themselves; others, such as memory allocators, stay.
_PRELOADED = re.compile(
    r"roctracer|rocprofiler|rocprofv3|libroctx|rpd_tracer|rocprof-?sys|omnitrace|libTAU|kokkosp|libscorep",
    re.IGNORECASE,
)


class Changes(NamedTuple):
    """What is done to the caller's environment."""

    variables: dict[str, str]  #: Set.
    removed: tuple[str, ...]  #: Taken out, sorted.
    notes: tuple[str, ...]


def cleared(environment: Mapping[str, str], given: Mapping[str, str], *, hides_gpus: bool = False) -> Changes:
    """What must change in the caller's environment so that a capture is not disturbed.

    Parameters
    ----------
    environment
        Of the caller, on the machine where it will run.
    given
        Variables that the user set for the program; they stay.
    hides_gpus
        Whether the program shall see one GPU only.

    Examples
    --------
    >>> cleared({"HSA_TOOLS_LIB": "x.so", "LD_PRELOAD": "libjemalloc.so:librpd_tracer.so"}, {})[:2]
    ({'LD_PRELOAD': 'libjemalloc.so'}, ('HSA_TOOLS_LIB',))
    """
    removed: dict[str, str] = {}
    for name in environment:
        for leftover in LEFTOVERS:
            if name not in given and re.fullmatch(leftover.pattern, name):
                removed.setdefault(name, leftover.reason)
        if hides_gpus and name in VISIBILITY and name not in given:
            removed[name] = "it counts within the one GPU that the program sees"
    variables = {}
    preloaded = [each for each in re.split(r"[:\s]+", environment.get("LD_PRELOAD", "")) if each]
    others = [each for each in preloaded if not _PRELOADED.search(each)]
    if len(others) < len(preloaded) and "LD_PRELOAD" not in given:
        if others:
            variables["LD_PRELOAD"] = ":".join(others)
        else:
            removed["LD_PRELOAD"] = "another tool would be loaded first"
    notes = tuple(f"{name} is not passed on: {reason}" for name, reason in sorted(removed.items()))
    if variables:
        notes += ("LD_PRELOAD is passed on without other profilers",)
    return Changes(variables, tuple(sorted(removed)), notes)
