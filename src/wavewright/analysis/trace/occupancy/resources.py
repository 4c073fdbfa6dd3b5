"""Resources of each kernel, combined from metadata, code and launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.limits import Resources, resources_of
from wavewright.analysis.trace.code.accesses import accesses
from wavewright.analysis.trace.costs.row_costs import entered_rows
from wavewright.base.words import counted
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.names import demangle
from wavewright.facts.gpus.facts import Arch
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

# What gfx9 allocates beyond the registers that the text names: vcc, flat_scratch, xnack_mask (LLVM's count).
_EXTRA_SGPRS = 6
_GFX9_LDS_GRANULE, _GFX950_LDS_GRANULE = 512, 1280
_HALF_TOLD = ("gfx950",)  #: Targets of whose vector registers rocprofv3 may report half.
_LETTERS = {"vgprs": "v", "agprs": "a", "sgprs": "s"}  #: Kind of register -> its letter in operands.
_CALLS = r"^s_(swappc|call)_b64"


@dataclass(frozen=True)
class KernelResources:
    """The resources of one kernel, where its registers were read, and the caveats about them."""

    kernel: int | None  #: `kernels.kernel`; None = waves of an unknown kernel.
    name: str
    resources: Resources
    #: code, metadata, code and metadata, metadata (doubled), dispatch, code and dispatch, options, or nothing.
    registers_from: str
    notes: tuple[str, ...]


def kernel_resources(trace: ThreadTrace, facts: Arch, override: Resources) -> tuple[KernelResources, ...]:
    """Resources of every kernel of a trace, and of waves without a known kernel.

    Registers are the larger of what the metadata says and what the code names: metadata may be wrong (rocprofv3 reports
    half of the vector registers on gfx950), and a listing may not show all code. A code that names no accumulation
    registers uses none: what metadata then calls so belongs to the same file. LDS and workgroup size come from the
    dispatch where it was recorded, else from the metadata; where there is no metadata, a recorded dispatch also tells
    the registers (gfx90a and later gfx9, whose granules it counts in). LDS of 0 bytes is not believed of a kernel whose
    executed code reads or writes LDS: the size is then not known. `override` wins.
    """
    scans = _scans(trace)
    lds_rows = _lds_rows(trace)
    launches = {row["kernel"]: row for row in _launches(trace).iter_rows(named=True)}
    unknown: dict[str, Any] = {"kernel": None, "demangled": "unknown kernel"}
    resources = []
    for row in [*trace.kernels.iter_rows(named=True), unknown]:
        kernel = row["kernel"]
        recorded = _resources_of(trace, facts, override, row, scans.get(kernel), launches.get(kernel))
        is_given = override.lds_bytes is not None
        resources.append(recorded if is_given else _with_lds(recorded, lds_rows.get(kernel, 0)))
    return tuple(resources)


def _lds_rows(trace: ThreadTrace) -> dict[int | None, int]:
    """kernels.kernel -> executed rows that read or write LDS; of a kernel that cannot be told apart, those of all."""
    of_lds = accesses(trace.code).filter((pl.col("space") == "lds") | (pl.col("direction") == "load to LDS"))
    lds_rows = entered_rows(trace).filter(pl.col("hit_count") > 0, pl.col("row").is_in(of_lds["row"].implode()))
    kernels = dict(trace.kernels.select("kernel", "name").iter_rows())
    by_function = dict(lds_rows.group_by("function").len().iter_rows())
    if len(kernels) < 2:
        return dict.fromkeys((*kernels, None), lds_rows.height)
    return {kernel: by_function.get(name, 0) for kernel, name in kernels.items()}


def _with_lds(kernel: KernelResources, lds_row_count: int) -> KernelResources:
    """The kernel without an LDS size of 0 that its code disproves."""
    if kernel.resources.lds_bytes != 0 or not lds_row_count:
        return kernel
    rows = counted(lds_row_count, "executed rows")
    note = f"LDS size not known: 0 bytes are recorded, but {rows} of its code use LDS; --lds gives the size"
    return replace(kernel, resources=replace(kernel.resources, lds_bytes=None), notes=(*kernel.notes, note))


def compiled_resources(number: int, kernel: Kernel, override: Resources) -> KernelResources:
    """Resources of a kernel of a code object, as its metadata has them; `override` wins."""
    origin = "options" if override.vgprs is not None else "nothing" if kernel.vgprs is None else "metadata"
    return KernelResources(number, demangle(kernel.name), resources_of(kernel, override), origin, ())


def compiled_notes(kernels: Sequence[Kernel], override: Resources) -> list[str]:
    """Facts that a code object does not tell about launches of its kernels."""
    notes = []
    if not override.workgroup_size and any(not kernel.workgroup_size_required for kernel in kernels):
        notes.append(
            "workgroups have the size that a kernel requires, else the largest that it was compiled for; "
            "--workgroup gives the true size"
        )
    if override.lds_bytes is None:
        notes.append("LDS is what the code declares; --lds gives it with what the launch adds")
    return notes


def _resources_of(
    trace: ThreadTrace,
    facts: Arch,
    override: Resources,
    metadata: dict[str, Any],
    scan: dict[str, int] | None,
    launch: dict[str, Any] | None,
) -> KernelResources:
    notes: list[str] = []
    launched = launch or {}
    metadata, is_programmed = _with_programmed(facts, metadata, launched)
    vgprs, agprs, origin = _vector_registers(facts, metadata, scan, notes)
    if is_programmed:
        origin, notes = origin.replace("metadata", "dispatch"), [note.replace("metadata", "dispatch") for note in notes]
    size = launched.get("workgroup_size") or metadata.get("workgroup_size")
    if not size and (size := metadata.get("workgroup_size_max")):
        notes.append(f"workgroup size not recorded: {size:,} is the largest that it was compiled for")
    sgprs = metadata.get("sgprs")
    if scan:
        sgprs = scan["sgprs"] + _EXTRA_SGPRS if sgprs is None else max(sgprs, scan["sgprs"])
    resources = Resources(
        vgprs=override.vgprs if override.vgprs is not None else vgprs,
        agprs=override.agprs or (agprs if override.vgprs is None else 0),
        sgprs=override.sgprs if override.sgprs is not None else sgprs,
        lds_bytes=override.lds_bytes
        if override.lds_bytes is not None
        else lds_of_launch(facts, metadata.get("lds_bytes"), launched.get("lds_bytes")),
        workgroup_size=override.workgroup_size or size,
        wave_size=override.wave_size or metadata.get("wave_size") or _wave_size(trace, facts),
    )
    if override.vgprs is not None:
        origin, notes = "options", []
    name = metadata.get("demangled") or metadata.get("name") or ""
    return KernelResources(metadata["kernel"], name, resources, origin, tuple(notes))


def _with_programmed(facts: Arch, metadata: dict[str, Any], launched: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Metadata, or where it lacks registers those that the dispatch programmed: the allocation of both kinds."""
    programmed = launched.get("vgprs")
    if metadata.get("vgprs") is not None or facts.accumulation != "unified" or not programmed:
        return metadata, False
    sgprs = metadata.get("sgprs") or launched.get("sgprs") or None
    return metadata | {"vgprs": programmed, "agprs": 0, "sgprs": sgprs}, True


def _vector_registers(
    facts: Arch, metadata: dict[str, Any], scan: dict[str, int] | None, notes: list[str]
) -> tuple[int | None, int, str]:
    """Vector and accumulation registers, and where they were read."""
    vgprs_recorded, agprs_recorded = metadata.get("vgprs"), metadata.get("agprs") or 0
    if not scan or not (scan["vgprs"] or scan["agprs"]):
        return vgprs_recorded, agprs_recorded, "metadata" if vgprs_recorded is not None else "nothing"
    if vgprs_recorded is None:
        return scan["vgprs"], scan["agprs"], "code"
    recorded = vgprs_recorded + agprs_recorded
    if _is_half(facts, recorded, scan["vgprs"] + scan["agprs"]):
        what = f"rocprofv3 reports half of the vector registers on {facts.target}"
        notes.append(f"{what}: {2 * recorded:,}, not {recorded:,}")
        return *_split(facts, 2 * recorded, scan), "metadata (doubled)"
    is_impossible = vgprs_recorded < scan["vgprs"] or agprs_recorded < scan["agprs"]
    if facts.accumulation == "unified" and (is_impossible or not scan["agprs"]):
        # The sum is right even where the split is not: rocprofv3 loses a bit of it (differences.md).
        vgprs_recorded, agprs_recorded = _split(facts, recorded, scan)
    if (named := scan["vgprs"] + scan["agprs"]) > recorded:
        notes.append(f"the metadata says {recorded:,} vector registers, the code names {named:,}")
    vgprs, agprs = max(vgprs_recorded, scan["vgprs"]), max(agprs_recorded, scan["agprs"])
    return vgprs, agprs, "metadata" if vgprs + agprs <= recorded else "code and metadata"


def _split(facts: Arch, total: int, scan: dict[str, int]) -> tuple[int, int]:
    """A sum of registers as vector registers and accumulation registers, by what the code names."""
    if not scan["agprs"]:
        return total, 0
    granule = facts.accumulation_offset_granule
    vgprs = -(-scan["vgprs"] // granule) * granule
    return vgprs, max(scan["agprs"], total - vgprs)


def _is_half(facts: Arch, recorded: int, named: int) -> bool:
    """True if metadata has half of the vector registers, as rocprofv3 writes on gfx950.

    It counts granules of 4 registers there instead of 8. The allocation is always a multiple of 8, and never less than
    what the code names; a number that is not gives itself away, if twice of it is possible.
    """
    impossible = recorded % facts.vgpr_granule[max(facts.wave_sizes)] != 0 or recorded < named
    return facts.target in _HALF_TOLD and impossible and named <= 2 * recorded <= facts.vgprs_per_wave_max


def lds_of_launch(facts: Arch, static: int | None, launch: int | None) -> int | None:
    """Static LDS from the metadata, or static and dynamic from the dispatch, whichever is larger.

    AMD's formula for dispatches counts granules of 1280 bytes on every gfx9, 2.5 times too many before gfx950
    (differences.md), and a trace does not say whether it was decoded with it.
    """
    if launch and facts.lds_granule_bytes == _GFX9_LDS_GRANULE and not facts.has_wgp_mode:
        exact = static is not None and -(-static // _GFX9_LDS_GRANULE) * _GFX9_LDS_GRANULE == launch
        if not exact and launch % _GFX950_LDS_GRANULE == 0:
            launch = launch * _GFX9_LDS_GRANULE // _GFX950_LDS_GRANULE
    return max([value for value in (static, launch) if value is not None], default=None)


def _scans(trace: ThreadTrace) -> dict[int | None, dict[str, int]]:
    """kernels.kernel -> registers that its code names, with those of functions that it may call."""
    functions = registers(trace)
    if not functions.height:
        return {}
    names = trace.kernels["name"].to_list()
    calling = trace.code.filter(pl.col("mnemonic").str.contains(_CALLS))["function"].unique().to_list()
    callees = functions.filter(~pl.col("function").is_in(names) | pl.col("function").is_null())
    scans: dict[int | None, dict[str, int]] = {} if names else {None: _most(functions)}
    for kernel, name in trace.kernels.select("kernel", "name").iter_rows():
        kernel_rows = functions.filter(pl.col("function") == name)
        if not kernel_rows.height and len(names) == 1:  # listings need not name their functions
            kernel_rows = functions
        elif name in calling:
            kernel_rows = pl.concat([kernel_rows, callees])
        if kernel_rows.height:
            scans[kernel] = _most(kernel_rows)
    return scans


def _most(functions: pl.DataFrame) -> dict[str, int]:
    row: dict[str, int] = functions.select("vgprs", "agprs", "sgprs").max().row(0, named=True)
    return row


def _launches(trace: ThreadTrace) -> pl.DataFrame:
    """Resources that the dispatches recorded, the largest where they differ; null = invalid (0, or too large)."""
    size = pl.col("workgroup_size_x").cast(pl.Int64) * pl.col("workgroup_size_y") * pl.col("workgroup_size_z")
    return trace.dispatches.group_by("kernel").agg(
        pl.col("lds_bytes", "sgprs").max(),
        workgroup_size=size.filter(size.is_between(1, 1024)).max(),
        vgprs=pl.col("vgprs").filter(pl.col("vgprs").is_between(8, 512)).max(),
    )


def _wave_size(trace: ThreadTrace, facts: Arch) -> int:
    """Lanes of a wave, from the code where both are possible: only waves of 32 use half of the lane mask registers."""
    if len(facts.wave_sizes) == 1:
        return facts.wave_sizes[0]
    texts = trace.code["text"].drop_nulls()
    halves, wholes = (texts.str.contains(pattern).sum() for pattern in (r"\b(vcc|exec)_lo\b", r"\b(vcc|exec)\b"))
    return 64 if wholes > halves else 32


REGISTERS = packaged_spec(__package__, "registers")


@once_per_trace
def registers(trace: ThreadTrace) -> pl.DataFrame:
    """Registers that the code names, per function: `v7` counts as 8, and so does `v[4:7]`.

    Code that has no text, and instructions that the tables do not know, use no registers here, so these are lower
    bounds. A kernel that calls functions needs at least what they need.
    """
    return (
        trace.code.lazy()
        .filter(pl.col("text").is_not_null())
        .with_columns(operands=pl.concat_str("writes", "reads", separator=" ", ignore_nulls=True))
        .with_columns(_highest(letter).alias(name) for name, letter in _LETTERS.items())
        .group_by("function", maintain_order=True)
        .agg(
            *(pl.col(name).max().fill_null(0).cast(pl.UInt32) for name in _LETTERS),
            row_first=pl.col("row").min().cast(pl.Int32),
            row_count=pl.len().cast(pl.UInt32),
        )
        .select("function", "row_first", "row_count", *_LETTERS)
        .collect()
    )


def _highest(letter: str) -> pl.Expr:
    """Highest register of one kind in the operands, plus one; 0 = none."""
    # The last number of `v12` and `v[12:15]`, as these columns spell them; `v12.h` is a half of v12.
    registers = pl.col("operands").str.extract_all(rf"\b{letter}(?:\d{{1,4}}\b|\[\d{{1,4}}:\d{{1,4}}\])")
    last = pl.element().str.extract(r"(\d+)\]?$").cast(pl.UInt32)
    return (registers.list.eval(last).list.max() + 1).fill_null(0)
