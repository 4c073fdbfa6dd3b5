"""Theoretical and achieved occupancy of a trace, and its limiters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.architecture import Architecture, architecture
from wavewright.analysis.common.occupancy.limits import Limits, Resources, limits
from wavewright.analysis.common.occupancy.limits import amounts as amounts_of
from wavewright.analysis.trace.occupancy.resident_waves import Achieved, achieved, chosen_waves
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

_EMPTY_BELOW = 0.8  #: A note says that SIMDs ran empty if their mean of waves is below this share of the most.


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


def theoretical(gpu: str, resources: Resources, *, wgp_mode: bool = True) -> Occupancy:
    """The theoretical occupancy of `resources` on a GPU, without a trace.

    Raises `UsageError` when the GPU is not known, or no wave can have these resources.
    """
    kernel = KernelResources(None, "", resources, "options", ())
    architecture = Architecture(gpus.of(gpu), "given with --target")
    limit = limits(architecture.facts, resources, wgp_mode=wgp_mode)
    return _limits_only(architecture, [(kernel, limit)], (), wgp_mode=wgp_mode)


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

    `gpu` is a target or product (None = what the code object was compiled for), `kernel` a part of the names of the
    kernels to show, `override` resources that are known better, such as LDS with its dynamic part.
    """
    target = gpu or code_object.target
    if target is None:
        raise UsageError("the code object does not name its GPU", where=code_object.where, advice="name it: --target")
    compiled = [
        (entry.name, compiled_resources(number, entry, override or Resources()))
        for number, entry in enumerate(code_object.kernels)
    ]
    kernels = [one for name, one in compiled if kernel is None or kernel in name or kernel in one.name]
    if not kernels:
        names = ", ".join(shortened(resources.name) for _, resources in compiled[:4])
        what = "no kernel of the code object has this name" if code_object.kernels else "the code object has no kernels"
        raise UsageError(what, where=code_object.where, advice=f"kernels: {names}" if names else "")
    origin = "given with --target" if gpu else "said by the code object"
    gpu_facts = Architecture(gpus.of(target), origin)
    notes = compiled_notes(code_object.kernels, override or Resources())
    fitting = [(entry, _limits_of(gpu_facts, entry, wgp_mode=wgp_mode, notes=notes)) for entry in kernels]
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
    tables = _Tables(architecture.facts, wgp_mode=wgp_mode)
    tables.notes += notes
    for kernel, limit in fitting:
        tables.add(kernel, limit)
    return tables.answer(architecture.origin, is_certain=True, engines=empty_frame(Occupancy.tables["engines"]))


class _Tables:
    """Rows of the tables and notes of an answer, kernel by kernel."""

    def __init__(self, facts: Arch, *, wgp_mode: bool) -> None:
        self.facts, self.wgp_mode = facts, wgp_mode
        self.kernels: list[dict[str, Any]] = []
        self.limiters: list[dict[str, Any]] = []
        self.amounts: list[dict[str, Any]] = []
        self.notes: list[str] = []

    def add(self, kernel: KernelResources, limit: Limits | None, reached: Achieved | None = None) -> None:
        """Add a kernel with its limits (None = they cannot be told), and with what its waves reached."""
        resources = asdict(limit.resources if limit else kernel.resources)
        row = resources | {"kernel": kernel.kernel, "name": kernel.name, "registers_from": kernel.registers_from}
        self.kernels.append(row | (asdict(reached) if reached else {}))
        if limit is None:
            return
        self.kernels[-1] |= {"waves_per_simd_limit": limit.waves_per_simd, "bound_by": limit.bound_by}
        self.kernels[-1] |= {"next_waves_per_simd": limit.next_waves_per_simd}
        steps = {step.resource: step.at_most for step in limit.steps}
        for limiter in limit.limiters:
            # several may bind together; where the hardware does, nothing else matters
            is_binding = limiter.waves_per_simd == limit.waves_per_simd
            if "hardware" in (limit.bound_by, limiter.name):
                is_binding = limiter.name == limit.bound_by
            facts = {"is_binding": is_binding, "next_at_most": steps.get(limiter.name)}
            self.limiters.append(asdict(limiter) | facts | {"kernel": kernel.kernel, "limiter": limiter.name})
        for amount in amounts_of(self.facts, limit.resources, wgp_mode=self.wgp_mode):
            self.amounts.append(asdict(amount) | {"kernel": kernel.kernel, "limiter": amount.resource})
        if self.facts.has_wgp_mode and self.wgp_mode:
            self.notes.append("WGP mode is assumed, the default of HIP; kernels built with -mcumode need --cu-mode")
        if limit.unknown:
            self.notes.append(f"not known, so not counted: {', '.join(limit.unknown)}")

    def answer(self, target_origin: str, *, is_certain: bool, engines: pl.DataFrame) -> Occupancy:
        """The answer, kernels that most waves ran first; no `limit_share` where the hardware exceeds the limit."""
        specs = Occupancy.tables
        kernels = frame_of(specs["kernels"], self.kernels).sort("wave_count", descending=True, maintain_order=True)
        limit = pl.col("waves_per_simd_limit")
        is_sound = (limit > 0) & (pl.col("waves_per_simd_max") <= limit)
        share = pl.when(is_sound).then(pl.col("waves_per_simd_mean") / limit)
        return Occupancy(
            target=self.facts.target,
            target_origin=target_origin,
            target_is_certain=is_certain,
            lds_shared_by="WGP" if self.facts.has_wgp_mode and self.wgp_mode else "CU",
            kernels=kernels.with_columns(limit_share=share),
            limiters=frame_of(specs["limiters"], self.limiters),
            amounts=frame_of(specs["amounts"], self.amounts),
            engines=engines,
            notes=tuple(dict.fromkeys(self.notes)),
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

    `gpu` is a target or product (None = what the capture says, or what its code implies), `override` resources that are
    known better than the trace knows them, `selection` the kernel, shader engines, SIMDs and time to look at; waves and
    source lines do not matter here.
    """
    gpu_facts = architecture(trace, gpu)
    waves = _waves(trace, selection)
    tables = _Tables(gpu_facts.facts, wgp_mode=wgp_mode)
    tables.notes += _architecture_notes(gpu_facts)
    engines = waves.partition_by("se", as_dict=True, maintain_order=True)
    waves_of = {kernel: part for (kernel,), part in waves.partition_by("kernel", as_dict=True).items()}
    for kernel in kernel_resources(trace, gpu_facts.facts, override or Resources()):
        nameless = kernel.kernel is None and (trace.kernels.height > 0 or kernel.resources.vgprs is None)
        if kernel.kernel not in waves_of and (waves_of or nameless):
            continue
        limit = _limits_of(gpu_facts, kernel, wgp_mode=wgp_mode, notes=tables.notes)
        reached = achieved(waves_of[kernel.kernel]) if waves_of else None
        tables.notes += [f"{shortened(kernel.name)}: {note}" for note in kernel.notes]
        if reached:
            tables.notes += _agreement(kernel.name, reached, limit) or _emptying(kernel.name, reached)
        tables.add(kernel, limit, reached)
    by_engine = [{"se": se} | asdict(achieved(part)) for (se,), part in engines.items()]
    frame = frame_of(Occupancy.tables["engines"], by_engine)
    return tables.answer(gpu_facts.origin, is_certain=gpu_facts.is_certain, engines=frame)


def _waves(trace: ThreadTrace, selection: Selection | None) -> pl.DataFrame:
    """The chosen waves; a choice that leaves none is an error, a trace that has none is not."""
    resident = resident_waves(trace)
    waves = chosen_waves(resident, trace, selection)
    if resident.height and not waves.height:
        engines = ", ".join(map(str, resident["se"].unique().sort().to_list()))
        kernels = ", ".join(shortened(name) for name in trace.kernels["demangled"].head(4).to_list())
        what = "no wave matches these filters"
        whole = achieved(resident)
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
        question = f"is {architecture.facts.target} right ({architecture.origin})?"
        notes.append(f"{shortened(kernel.name)}: {error.what}; {question}")
        return None


def _architecture_notes(architecture: Architecture) -> list[str]:
    if architecture.contradicts:
        return [f"the capture says {architecture.contradicts}, but {architecture.facts.target} was asked for"]
    if architecture.origin.startswith(("given", "from")):
        return []
    caveat = "" if architecture.is_certain else "; registers, LDS and granules of other targets differ: give --target"
    return [f"the capture does not name its GPU: {architecture.facts.target}, {architecture.origin}{caveat}"]


def _agreement(name: str, reached: Achieved, limit: Limits | None) -> list[str]:
    """A warning where more waves ran on a SIMD than the limits allow; empty = they agree, or there are no limits."""
    if limit is None or reached.waves_per_simd_max <= limit.waves_per_simd_peak:
        return []
    ran, fit = reached.waves_per_simd_max, limit.waves_per_simd_peak
    advice = f"do not trust the limit ({limit.bound_by}): wrong GPU or wrong resources"
    return [f"WRONG: {shortened(name)}: {ran} waves ran on one SIMD where at most {fit} should fit; {advice}"]


def _emptying(name: str, reached: Achieved) -> list[str]:
    """Words about SIMDs that ran empty although all waves were there from the start."""
    mean, most = reached.waves_per_simd_mean, reached.waves_per_simd_max
    if not reached.all_at_once or mean > _EMPTY_BELOW * most:
        return []
    what = f"all waves were there at once, and SIMDs emptied while the longest ran ({mean:.2f} of {most} on average)"
    return [f"{shortened(name)}: {what}: even out the work of the waves, or give the grid more of them"]
