"""Kernels of a code object with their resources, and how many waves of each fit on a SIMD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wavewright.analysis.common.occupancy.kernel_resources import resources_of
from wavewright.analysis.common.occupancy.limits import Resources, limits
from wavewright.codeobj.names import demangle_all
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec, frame_of, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from wavewright.analysis.common.occupancy.limits import Limits
    from wavewright.codeobj.code_object import Kernel
    from wavewright.facts.gpus.facts import Arch
    from wavewright.readers.code import ObjectPlace

_OBJECTS = table_spec(
    "objects",
    "one code object of the file",
    """
    object         UInt32   -      | its number, which --object takes
    target         String   -      | GPU that it was compiled for; null = not said
    entry          String   -      | its name in the bundle; null = not in a bundle
    place          String?  -      | where in the file it stands
    size           UInt64   bytes  | size of the code object, unpacked
    packing        String   -      | how it is compressed: zlib or zstd; null = it is not
    kernel_count   UInt32   -      | kernels in it; null = it could not be read
    code_bytes     UInt64?  bytes  | size of its code
    """,
)
_KERNELS = table_spec(
    "kernels",
    "one kernel",
    """
    object                   UInt32   -      | objects.object
    kernel                   UInt32   -      | its number in the code object, by address
    name                     String   -      | symbol
    demangled                String   -      | C++ signature; equal to name where the name is not mangled
    target                   String   -      | GPU that it was compiled for; null = not said
    address                  UInt64   -      | ELF address of its code; null = it has none
    code_bytes               UInt64   bytes  | size of its code
    vgprs                    UInt32   -      | vector registers allocated per lane; null = not known, here and below
    agprs                    UInt32?  -      | accumulation registers allocated per lane
    sgprs                    UInt32?  -      | scalar registers allocated per wave
    vgprs_used               UInt32?  -      | vector registers as the compiler counts them, from gfx90a on both kinds
    agprs_used               UInt32?  -      | accumulation registers as the compiler counts them
    sgprs_used               UInt32?  -      | scalar registers as the compiler counts them, vcc and others included
    vgpr_spills              UInt32?  -      | vector registers that the compiler spilled
    sgpr_spills              UInt32?  -      | scalar registers that the compiler spilled
    lds_bytes                UInt32?  bytes  | LDS per workgroup that the code declares
    scratch_bytes            UInt32?  bytes  | private segment per lane
    kernarg_bytes            UInt32?  bytes  | kernel argument segment
    dynamic_stack            Boolean  -      | whether the private segment may grow while it runs
    wave_size                UInt8?   lanes  | 32 or 64
    workgroup_size_max       UInt32?  lanes  | largest flat workgroup size that it was compiled for
    workgroup_size_required  String   -      | size that it requires, as XxYxZ; null = none
    waves_per_simd_limit     UInt32   waves  | waves that fit on a SIMD with these resources; null = not known
    bound_by                 String?  -      | what limits them: VGPR, LDS, SGPR, workgroup or hardware
    next_waves_per_simd      UInt32   waves  | what fewer resources would reach next; null = nothing more
    """,
)


@dataclass(frozen=True)
class CodeOverview(Answer):
    """Code objects and kernels of a file."""

    definition: ClassVar[str] = (
        "Registers, LDS and scratch are those of the kernel descriptors; used registers and spills are what the "
        "compiler wrote into the metadata. Waves per SIMD are the least of what these resources allow "
        "(docs/explanation/occupancy.md), for workgroups of the size that the kernel requires, else the largest that "
        "it was compiled for, without LDS that a launch adds."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {"objects": _OBJECTS, "kernels": _KERNELS}

    objects: pl.DataFrame
    kernels: pl.DataFrame
    notes: tuple[str, ...]  #: What to know before trusting the numbers.


def code_overview(places: Sequence[ObjectPlace], *, override: Resources | None = None) -> CodeOverview:
    """The code objects of a file and their kernels; `override` are resources that are better than the metadata's."""
    objects: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    names = demangle_all(each.name for place in places if place.code_object for each in place.code_object.kernels)
    for place in places:
        opened = place.code_object
        objects.append(
            {
                "object": place.number,
                "target": place.target or (opened.target if opened else None),
                "entry": place.entry or None,
                "place": place.place or None,
                "size": place.size or (len(opened.elf.data) if opened else 0),
                "packing": place.packing or None,
                "kernel_count": len(opened.kernels) if opened else None,
                "code_bytes": sum(size for _, size in opened.text_ranges) if opened else None,
            }
        )
        for number, kernel in enumerate(opened.kernels if opened else ()):
            row = {"object": place.number, "kernel": number, "demangled": names[kernel.name]}
            rows.append(row | _kernel_row(opened.target if opened else None, kernel, override or Resources(), notes))
    return CodeOverview(frame_of(_OBJECTS, objects), frame_of(_KERNELS, rows), tuple(dict.fromkeys(notes)))


def _kernel_row(target: str | None, kernel: Kernel, override: Resources, notes: list[str]) -> dict[str, Any]:
    row = {name: getattr(kernel, name) for name in _KERNELS.names if hasattr(kernel, name)}
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
