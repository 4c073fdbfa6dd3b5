"""Theoretical and achieved occupancy of a trace, and its limiters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.architecture import Architecture, architecture
from wavewright.analysis.common.occupancy.limits import Limiter, Limits, Resources, limits
from wavewright.analysis.common.occupancy.limits import amounts as amounts_of
from wavewright.analysis.trace.occupancy.resident_waves import achieved, chosen_waves
from wavewright.analysis.trace.occupancy.resources import (
    KernelResources,
    compiled_notes,
    compiled_resources,
    kernel_resources,
)
from wavewright.analysis.trace.selection import Selection
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.base.words import shortened
from wavewright.codeobj.code_object import CodeObject
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.gpus.facts import Arch
from wavewright.model.answer import Answer
from wavewright.model.schema import empty_frame, frame_of
from wavewright.model.trace import ThreadTrace

_EMPTY_BELOW = 0.8  #: Share of the peak below which the mean is worth a word.


@dataclass(frozen=True)
class Occupancy(Answer, package=__package__):
    """Theoretical and achieved occupancy of the kernels of a trace."""

    target: str
    target_origin: str
    target_is_certain: bool
    lds_shared_by: str  #: CU or WGP: whose SIMDs share the LDS and run a workgroup.
    kernels: pl.DataFrame
    limiters: pl.DataFrame
    amounts: pl.DataFrame
    engines: pl.DataFrame
    notes: tuple[str, ...]  #: What to know before trusting the numbers.


_TABLES = Occupancy.tables


def theoretical(gpu: str, resources: Resources, *, wgp_mode: bool = True) -> Occupancy:
    """The theoretical occupancy of `resources` on a GPU, without a trace.

    Raises `UsageError` when the GPU is not known, or no wave can have these resources.
    """
    kernel = KernelResources(None, "", resources, "options", ())
    architecture = Architecture(gpus.of(gpu), "given with --target")
    return _limits_only(
        architecture, [(kernel, limits(architecture.facts, resources, wgp_mode=wgp_mode))], (), wgp_mode=wgp_mode
    )


def occupancy_of_code_object(
    code_object: CodeObject,
    *,
    gpu: str | None = None,
    kernel: str | None = None,
    override: Resources | None = None,
    wgp_mode: bool = True,
) -> Occupancy:
    """The theoretical occupancy of the kernels of a code object, from its metadata; fewest waves per SIMD first.

    Raises `UsageError` when the GPU is not known, no kernel is left, or no wave can have these resources.

    Parameters
    ----------
    gpu
        Target or product; None = what the code object was compiled for.
    kernel
        Only kernels whose name contains it.
    override
        Resources that are known better, such as LDS with its dynamic part.
    """
    target = gpu or code_object.target
    if target is None:
        raise UsageError("the code object does not name its GPU", where=code_object.where, advice="name it: --target")
    compiled = [
        (each.name, compiled_resources(number, each, override or Resources()))
        for number, each in enumerate(code_object.kernels)
    ]
    kernels = [
        resources for name, resources in compiled if kernel is None or kernel in name or kernel in resources.name
    ]
    if not kernels:
        names = ", ".join(shortened(resources.name) for _, resources in compiled[:4])
        what = "no kernel of the code object has this name" if code_object.kernels else "the code object has no kernels"
        raise UsageError(what, where=code_object.where, advice=f"kernels: {names}" if names else "")
    origin = "given with --target" if gpu else "said by the code object"
    gpu_facts = Architecture(gpus.of(target), origin)
    notes = compiled_notes(code_object.kernels, override or Resources())
    fitting = [(each, _limits_of(gpu_facts, each, wgp_mode=wgp_mode, notes=notes)) for each in kernels]
    answer = _limits_only(gpu_facts, fitting, notes, wgp_mode=wgp_mode)
    return replace(answer, kernels=answer.kernels.sort("waves_per_simd_limit", nulls_last=True, maintain_order=True))


def _limits_only(
    architecture: Architecture,
    fitting: Sequence[tuple[KernelResources, Limits | None]],
    notes: Sequence[str],
    *,
    wgp_mode: bool,
) -> Occupancy:
    """Limits of these kernels, without a trace."""
    facts = architecture.facts
    modes = [_mode_notes(limit, wgp_mode=wgp_mode, has_modes=facts.has_wgp_mode) for _, limit in fitting if limit]
    return Occupancy(
        target=facts.target,
        target_origin=architecture.origin,
        target_is_certain=True,
        lds_shared_by="WGP" if facts.has_wgp_mode and wgp_mode else "CU",
        kernels=frame_of(_TABLES["kernels"], [_theoretical_row(*member) for member in fitting]),
        limiters=frame_of(_TABLES["limiters"], [row for member in fitting for row in _limiter_rows(*member)]),
        amounts=frame_of(
            _TABLES["amounts"],
            [row for member in fitting for row in _amount_rows(facts, *member, wgp_mode=wgp_mode)],
        ),
        engines=empty_frame(_TABLES["engines"]),
        notes=tuple(dict.fromkeys([*notes, *(note for mode in modes for note in mode)])),
    )


def occupancy(
    trace: ThreadTrace,
    *,
    gpu: str | None = None,
    override: Resources | None = None,
    wgp_mode: bool = True,
    selection: Selection | None = None,
) -> Occupancy:
    """Theoretical and achieved occupancy of each kernel whose waves were seen.

    In a trace without occupancy events (PC samples), the limits of all kernels. Raises `UsageError` when the GPU is not
    known, or no wave is left by the selection.

    Parameters
    ----------
    gpu
        Target or product; None = what the capture says, or what its code implies.
    override
        Resources that are known better than the trace knows them.
    selection
        Kernel, shader engines, SIMDs and time to look at; waves and source lines do not matter here.
    """
    gpu_facts = architecture(trace, gpu)
    waves = _waves(trace, selection)
    rows: list[dict[str, Any]] = []
    limiters: list[dict[str, Any]] = []
    amounts: list[dict[str, Any]] = []
    notes = list(_architecture_notes(gpu_facts))
    engines = waves.partition_by("se", as_dict=True, maintain_order=True)
    waves_of = {kernel: part for (kernel,), part in waves.partition_by("kernel", as_dict=True).items()}
    for kernel in kernel_resources(trace, gpu_facts.facts, override or Resources()):
        nameless = kernel.kernel is None and (trace.kernels.height > 0 or kernel.resources.vgprs is None)
        if kernel.kernel not in waves_of and (waves_of or nameless):
            continue
        limit = _limits_of(gpu_facts, kernel, wgp_mode=wgp_mode, notes=notes)
        rows.append(_theoretical_row(kernel, limit))
        limiters += _limiter_rows(kernel, limit)
        amounts += _amount_rows(gpu_facts.facts, kernel, limit, wgp_mode=wgp_mode)
        notes += [f"{shortened(kernel.name)}: {note}" for note in kernel.notes]
        if waves_of:
            rows[-1] |= asdict(achieved(waves_of[kernel.kernel]))
            notes += _agreement(rows[-1], limit) or _emptying(rows[-1])
        if limit is not None:
            notes += _mode_notes(limit, wgp_mode=wgp_mode, has_modes=gpu_facts.facts.has_wgp_mode)
    kernels = frame_of(_TABLES["kernels"], rows).sort("wave_count", descending=True, maintain_order=True)
    return Occupancy(
        target=gpu_facts.facts.target,
        target_origin=gpu_facts.origin,
        target_is_certain=gpu_facts.is_certain,
        lds_shared_by="WGP" if gpu_facts.facts.has_wgp_mode and wgp_mode else "CU",
        kernels=_with_share(kernels),
        limiters=frame_of(_TABLES["limiters"], limiters),
        amounts=frame_of(_TABLES["amounts"], amounts),
        engines=frame_of(_TABLES["engines"], [{"se": se} | asdict(achieved(part)) for (se,), part in engines.items()]),
        notes=tuple(dict.fromkeys(notes)),
    )


def _waves(trace: ThreadTrace, selection: Selection | None) -> pl.DataFrame:
    """The chosen waves; a choice that leaves none is an error, a trace that has none is not."""
    everything = resident_waves(trace)
    waves = chosen_waves(everything, trace, selection)
    if everything.height and not waves.height:
        engines = ", ".join(map(str, everything["se"].unique().sort().to_list()))
        kernels = ", ".join(shortened(name) for name in trace.kernels["demangled"].head(4).to_list())
        what = "no wave matches these filters"
        whole = achieved(everything)
        cycles = f"{whole.start_cycles:,} to {whole.end_cycles:,}"
        advice = f"shader engines: {engines}; cycles: {cycles}; kernels: {kernels}"
        raise UsageError(what, where=trace.source.path, advice=advice)
    return waves


def _limits_of(
    architecture: Architecture, kernel: KernelResources, *, wgp_mode: bool, notes: list[str]
) -> Limits | None:
    """The limits of a kernel; None, and a note, when they cannot be computed."""
    if kernel.resources.vgprs is None:
        notes.append(f"{shortened(kernel.name)}: its registers are not known, so neither is what fits")
        return None
    try:
        return limits(architecture.facts, kernel.resources, wgp_mode=wgp_mode)
    except UsageError as error:
        notes.append(
            f"{shortened(kernel.name)}: {error.what}; is {architecture.facts.target} right ({architecture.origin})?"
        )
        return None


def _theoretical_row(kernel: KernelResources, limit: Limits | None) -> dict[str, Any]:
    resources = limit.resources if limit else kernel.resources
    return {
        "kernel": kernel.kernel,
        "name": kernel.name,
        "vgprs": resources.vgprs,
        "agprs": resources.agprs,
        "sgprs": resources.sgprs,
        "lds_bytes": resources.lds_bytes,
        "workgroup_size": resources.workgroup_size,
        "wave_size": resources.wave_size,
        "registers_from": kernel.registers_from,
        "waves_per_simd_limit": limit.waves_per_simd if limit else None,
        "bound_by": limit.bound_by if limit else None,
        "next_waves_per_simd": limit.next_waves_per_simd if limit else None,
    }


def _limiter_rows(kernel: KernelResources, limit: Limits | None) -> list[dict[str, Any]]:
    if limit is None:
        return []
    steps = {step.resource: step.at_most for step in limit.steps}
    return [
        {
            "kernel": kernel.kernel,
            "limiter": limiter.name,
            "waves_per_simd": limiter.waves_per_simd,
            "used": limiter.used,
            "allocated": limiter.allocated,
            "available": limiter.available,
            "unit": limiter.unit,
            "is_binding": _is_binding(limiter, limit),
            "next_at_most": steps.get(limiter.name),
        }
        for limiter in limit.limiters
    ]


def _amount_rows(facts: Arch, kernel: KernelResources, limit: Limits | None, *, wgp_mode: bool) -> list[dict[str, Any]]:
    if limit is None:
        return []
    return [
        {
            "kernel": kernel.kernel,
            "limiter": amount.resource,
            "at_most": amount.at_most,
            "waves_per_simd": amount.waves_per_simd,
        }
        for amount in amounts_of(facts, limit.resources, wgp_mode=wgp_mode)
    ]


def _is_binding(limiter: Limiter, limit: Limits) -> bool:
    """True if a limiter binds: alone or together with others; where the hardware does, nothing else matters."""
    if limit.bound_by == "hardware" or limiter.name == "hardware":
        return limiter.name == limit.bound_by
    return limiter.waves_per_simd == limit.waves_per_simd


def _architecture_notes(architecture: Architecture) -> list[str]:
    if architecture.contradicts:
        return [f"the capture says {architecture.contradicts}, but {architecture.facts.target} was asked for"]
    if architecture.origin.startswith(("given", "from")):
        return []
    caveat = "" if architecture.is_certain else "; registers, LDS and granules of other targets differ: give --target"
    return [f"the capture does not name its GPU: {architecture.facts.target}, {architecture.origin}{caveat}"]


def _mode_notes(limit: Limits, *, wgp_mode: bool, has_modes: bool) -> tuple[str, ...]:
    notes = []
    if has_modes and wgp_mode:
        notes.append("WGP mode is assumed, the default of HIP; kernels built with -mcumode need --cu-mode")
    if limit.unknown:
        notes.append(f"not known, so not counted: {', '.join(limit.unknown)}")
    return tuple(notes)


def _agreement(row: dict[str, Any], limit: Limits | None) -> list[str]:
    """Loud words when the hardware did what the model calls impossible."""
    if limit is None or row["waves_per_simd_max"] <= limit.waves_per_simd_peak:
        return []
    ran, fit = row["waves_per_simd_max"], limit.waves_per_simd_peak
    advice = f"do not trust the limit ({limit.bound_by}): wrong GPU or wrong resources"
    return [f"WRONG: {shortened(row['name'])}: {ran} waves ran on one SIMD where at most {fit} should fit; {advice}"]


def _emptying(row: dict[str, Any]) -> list[str]:
    """Words about SIMDs that ran empty although all waves were there from the start."""
    if not row["all_at_once"] or row["waves_per_simd_mean"] > _EMPTY_BELOW * row["waves_per_simd_max"]:
        return []
    mean, most = row["waves_per_simd_mean"], row["waves_per_simd_max"]
    what = f"all waves were there at once, and SIMDs emptied while the longest ran ({mean:.2f} of {most} on average)"
    return [f"{shortened(row['name'])}: {what}: even out the work of the waves, or give the grid more of them"]


def _with_share(kernels: pl.DataFrame) -> pl.DataFrame:
    limit = pl.col("waves_per_simd_limit")
    is_sound = (limit > 0) & (pl.col("waves_per_simd_max") <= limit)  # of a limit that the hardware exceeds: no share
    return kernels.with_columns(limit_share=pl.when(is_sound).then(pl.col("waves_per_simd_mean") / limit))
