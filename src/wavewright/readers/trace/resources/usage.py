"""Facts of files next to a trace: resources of kernels, and the GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Columns of `kernels` that a code object records.
CODE_OBJECT_FIELDS = (
    "vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "kernarg_bytes", "wave_size", "workgroup_size_max",
)  # fmt: skip
LARGEST = (1 << 32) - 1  # counts and sizes are 32 bits wide in code objects; larger ones are damage


@dataclass(frozen=True)
class TraceKernels:
    """The kernels of a trace: names as `plain_name` gives them, code objects, and the dispatch."""

    names: frozenset[str]
    code_objects: frozenset[int]
    dispatch: int | None


@dataclass(frozen=True)
class Usage:
    """Resources of a kernel as one file records them; lower ranks count more: 0 code object, 1 JSON result, 2 CSV."""

    kernel: str
    origin: str
    rank: int
    values: Mapping[str, int]
    dispatch: int | None = None
    agent: str | None = None


@dataclass(frozen=True)
class Gpu:
    """A GPU that a file lists, with the ids by which others name it."""

    target: str
    origin: str
    ids: frozenset[str] = frozenset()


@dataclass
class SidecarFacts:
    """Everything that the files say."""

    usages: list[Usage] = field(default_factory=list)
    gpus: list[Gpu] = field(default_factory=list)
    #: Origin -> kernels that the file has under the trace's dispatch number.
    dispatched: dict[str, set[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, other: SidecarFacts) -> None:
        """Take in what other files say."""
        self.usages += other.usages
        self.gpus += other.gpus
        self.problems += other.problems
        for origin, names in other.dispatched.items():
            self.dispatched.setdefault(origin, set()).update(names)


def plain_name(name: str) -> str:
    """A kernel's name without what tools add to it, for comparing."""
    return name.removesuffix(".kd").removesuffix(" [clone .kd]").replace(" ", "")
