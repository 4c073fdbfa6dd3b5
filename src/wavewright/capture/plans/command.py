"""Commands, and the variables with which they run: one GPU, and nothing that an earlier profiler left behind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wavewright.base.shown import command_line
from wavewright.capture.kinds import Recording
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

#: Numbers of GPUs within what ROCR_VISIBLE_DEVICES leaves: with one GPU left, only 0 or nothing is right.
VISIBILITY = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
#: Variables that another profiler, or an earlier run, leaves behind: pattern -> reason to take them out.
LEFTOVERS: dict[str, str] = packaged("commands.toml", __package__)["leftovers"]
#: Libraries in LD_PRELOAD that record by themselves; others, such as memory allocators, stay.
_PRELOADED = re.compile(
    r"roctracer|rocprofiler|rocprofv3|libroctx|rpd_tracer|rocprof-?sys|omnitrace|libTAU|kokkosp|libscorep",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Command:
    """One run of a profiler around a program."""

    words: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict, hash=False)  #: Set in addition to the caller's.
    removed: tuple[str, ...] = ()  #: Variables of the caller that would interfere, taken out.
    cwd: str = ""  #: Empty = the current folder.
    notes: tuple[str, ...] = ()  #: What was chosen for the user, and why.
    #: Files that must be there before it runs: path on the machine -> content.
    files: dict[str, bytes] = field(default_factory=dict, hash=False)

    @property
    def line(self) -> str:
        """The command as one line for a shell: variables and words, quoted.

        >>> one_gpu = {"ROCR_VISIBLE_DEVICES": "3"}
        >>> Command(words=("rocprofv3", "--", "a b"), variables=one_gpu, removed=("LD_PRELOAD",)).line
        "env -u LD_PRELOAD ROCR_VISIBLE_DEVICES=3 rocprofv3 -- 'a b'"
        """
        changes = [*(word for name in self.removed for word in ("-u", name)), *map("=".join, self.variables.items())]
        return command_line(["env", *changes, *self.words] if changes else self.words)

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """All variables with which it runs: those of the machine, less what interferes, and what it sets.

        >>> Command(words=("x",), variables={"A": "1"}, removed=("B",)).environment({"A": "0", "B": "2", "C": "3"})
        {'A': '1', 'C': '3'}
        """
        return {name: value for name, value in variables.items() if name not in self.removed} | self.variables

    def as_json(self) -> dict[str, Any]:
        """The command as command.json and events hold it: without the content of files."""
        names = ("words", "variables", "removed", "cwd", "line", "notes")
        return {name: getattr(self, name) for name in names}


class Changes(NamedTuple):
    """The changes of the caller's environment."""

    variables: dict[str, str]  #: Set.
    removed: tuple[str, ...]  #: Taken out, sorted.
    notes: tuple[str, ...]


def cleared(environment: Mapping[str, str], given: Mapping[str, str], *, hides_gpus: bool = False) -> Changes:
    """The changes that the caller's environment needs, so that a capture is not disturbed.

    `environment` is the caller's, on the machine where it will run; variables that the user gave stay. With
    `hides_gpus` the program shall see one GPU only.

    >>> cleared({"HSA_TOOLS_LIB": "x.so", "LD_PRELOAD": "libjemalloc.so:librpd_tracer.so"}, {})[:2]
    ({'LD_PRELOAD': 'libjemalloc.so'}, ('HSA_TOOLS_LIB',))
    """
    removals: dict[str, str] = {}
    for name in environment:
        for pattern, reason in LEFTOVERS.items():
            if name not in given and re.fullmatch(pattern, name):
                removals.setdefault(name, reason)
        if hides_gpus and name in VISIBILITY and name not in given:
            removals[name] = "it counts within the one GPU that the program sees"
    variables = {}
    preloads = [path for path in re.split(r"[:\s]+", environment.get("LD_PRELOAD", "")) if path]
    others = [path for path in preloads if not _PRELOADED.search(path)]
    if len(others) < len(preloads) and "LD_PRELOAD" not in given:
        if others:
            variables["LD_PRELOAD"] = ":".join(others)
        else:
            removals["LD_PRELOAD"] = "another tool would be loaded first"
    notes = tuple(f"{name} is not passed on: {reason}" for name, reason in sorted(removals.items()))
    if variables:
        notes += ("LD_PRELOAD is passed on without other profilers",)
    return Changes(variables, tuple(sorted(removals)), notes)


def surroundings(request: Recording, environment: Mapping[str, str]) -> Changes:
    """The changes of the caller's environment for a request: with the user's variables, and its GPU alone."""
    changes = cleared(environment, request.variables, hides_gpus=request.gpu_index is not None)
    variables = {**changes.variables, **request.variables}
    if request.gpu_index is not None:
        for name in ("ROCR_VISIBLE_DEVICES", *VISIBILITY):
            if name in request.variables:
                advice = "leave the variable away, or choose with --gpu any"
                raise UsageError(f"{name} is given, and a GPU is chosen too", advice=advice)
        # Alone: HIP's variables would count within it. It hides the other GPUs from the profiler as well, which
        # would else put a buffer and a queue on each. --att-gpu-index adds nothing then, and counts nodes.
        variables["ROCR_VISIBLE_DEVICES"] = str(request.gpu_index)
    return changes._replace(variables=variables)
