"""Kernels of a code object with their resources, and how many waves of each fit on a SIMD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.limits import Limits, Resources, limits, resources_of
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.names import demangle_all
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.gpus.facts import Arch
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of
from wavewright.readers.code import ObjectPlace


@dataclass(frozen=True)
class CodeOverview(Answer, package=__package__):
    """Code objects and kernels of a file."""

    objects: pl.DataFrame  #: One row per code object; columns in `tables.toml`.
    kernels: pl.DataFrame  #: One row per kernel of a code object.
    notes: tuple[str, ...]  #: What to know before trusting the numbers.


def code_overview(places: Sequence[ObjectPlace], *, override: Resources | None = None) -> CodeOverview:
    """The code objects of a file and their kernels; `override` are resources that are better than the metadata's."""
    objects: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    names = demangle_all(kernel.name for place in places if place.code_object for kernel in place.code_object.kernels)
    for place in places:
        opened = place.code_object
        row = {name: getattr(place, name) or None for name in ("entry", "place", "packing")}
        row |= {"object": place.number, "target": place.target or None, "size": place.size}
        if opened:
            row |= {"target": place.target or opened.target, "size": place.size or len(opened.elf.data)}
            row |= {"kernel_count": len(opened.kernels), "code_bytes": sum(size for _, size in opened.text_ranges)}
        objects.append(row)
        target = opened.target if opened else None
        for number, kernel in enumerate(opened.kernels if opened else ()):
            identity = {"object": place.number, "kernel": number, "demangled": names[kernel.name]}
            rows.append(identity | _kernel_row(target, kernel, override or Resources(), notes))
    return CodeOverview(
        objects=frame_of(CodeOverview.tables["objects"], objects),
        kernels=frame_of(CodeOverview.tables["kernels"], rows),
        notes=tuple(dict.fromkeys(notes)),
    )


def _kernel_row(target: str | None, kernel: Kernel, override: Resources, notes: list[str]) -> dict[str, Any]:
    row = {name: getattr(kernel, name) for name in CodeOverview.tables["kernels"].names if hasattr(kernel, name)}
    required = kernel.workgroup_size_required
    fitting = fitting_waves(facts_of(target), kernel, override, notes)
    return row | {
        "target": target,
        "code_bytes": kernel.size,
        "workgroup_size_required": "x".join(map(str, required)) if required else None,
        "waves_per_simd_limit": fitting.waves_per_simd if fitting else None,
        "bound_by": fitting.bound_by if fitting else None,
        "next_waves_per_simd": fitting.next_waves_per_simd if fitting else None,
    }


def facts_of(target: str | None) -> Arch | None:
    """Facts about the GPU that code was compiled for; None where there are none."""
    try:
        return gpus.of(target) if target else None
    except UsageError:
        return None


def fitting_waves(arch: Arch | None, kernel: Kernel, override: Resources, notes: list[str]) -> Limits | None:
    """The limits of a kernel; None, and a note, where they cannot be computed."""
    if arch is None:
        notes.append("waves per SIMD are not known: there are no facts about this GPU")
        return None
    if kernel.vgprs is None and override.vgprs is None:
        notes.append("waves per SIMD are not known where a kernel has no descriptor")
        return None
    try:
        return limits(arch, resources_of(kernel, override), wgp_mode=uses_wgp_mode(kernel))
    except UsageError as error:
        notes.append(f"{error.what}: this descriptor cannot be right for {arch.target}")
        return None


def uses_wgp_mode(kernel: Kernel) -> bool:
    """True if the workgroups of a kernel spread over the CUs of a WGP; no matter where GPUs have none."""
    return kernel.descriptor is None or kernel.descriptor.fields.get("wgp_mode", 1) == 1
