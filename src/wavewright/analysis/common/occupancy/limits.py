"""Waves that fit on a SIMD, what limits them, and what has to shrink for each wave more; computed without a trace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wavewright.errors import UsageError
from wavewright.facts.gpus.facts import Arch

if TYPE_CHECKING:
    from wavewright.codeobj.code_object import Kernel

_MOST_RUNGS = 64  #: No hardware holds more waves per SIMD.


@dataclass(frozen=True)
class Resources:
    """Resources of one wave, for LDS of one workgroup; None = unknown: no limit is computed from it."""

    vgprs: int | None = None
    agprs: int = 0
    sgprs: int | None = None
    lds_bytes: int | None = None
    workgroup_size: int | None = None
    wave_size: int | None = None  #: None = 64 on gfx9, 32 on RDNA.


@dataclass(frozen=True)
class Step:
    """A change that lets more waves fit: `resource` must come down from `now` to at most `at_most`."""

    resource: str
    now: int
    at_most: int
    unit: str


@dataclass(frozen=True)
class Limiter:
    """Waves that one resource allows; `waves_per_simd` is not above the hardware's maximum."""

    name: str  #: VGPR, SGPR, LDS, workgroup or hardware.
    waves_per_simd: int
    waves_per_group: int  #: Waves on the SIMDs that share one LDS: a CU, or a WGP in WGP mode.
    used: int  #: By one wave; of LDS by one workgroup.
    allocated: int  #: The same in whole granules.
    available: int
    unit: str


@dataclass(frozen=True)
class Amount:
    """Waves per SIMD that fit with at most `at_most` of one resource, all others as they are."""

    resource: str
    at_most: int
    waves_per_simd: int


@dataclass(frozen=True)
class Limits:
    """The theoretical occupancy: every limiter, the one that binds, and the step to the next wave."""

    limiters: tuple[Limiter, ...]  #: In the order in which they win ties.
    waves_per_simd: int  #: 0 = a workgroup does not fit.
    waves_per_simd_peak: int  #: On the fullest SIMD, where waves do not divide evenly.
    bound_by: str  #: Name of the limiter.
    #: What is reached when all steps are taken; None = already at the hardware's maximum.
    next_waves_per_simd: int | None
    steps: tuple[Step, ...]  #: That lead there, all of them together.
    simd_count: int  #: SIMDs that share one LDS.
    resources: Resources
    unknown: tuple[str, ...]  #: Unknown resources: they may limit more than is computed here.


def limits(arch: Arch, resources: Resources, *, wgp_mode: bool = True) -> Limits:
    """Limits of `resources` on `arch`; `wgp_mode` matters on RDNA only.

    Registers are rounded up to their granule and divided into the file of a SIMD: accumulation registers lie in the
    same file from gfx90a on and in one of their own on gfx908. LDS is rounded up to its granule and divided into that
    of the CU (or WGP); workgroups live as a whole on one CU or WGP, need a barrier each when they have several waves,
    and their waves are spread evenly over its SIMDs. Raises `UsageError` when no wave can have these resources.
    """
    model = _model(arch, resources, wgp_mode=wgp_mode)
    simds, most = model.simds, model.most
    limiters = model.limiters()
    least = min(limiters, key=lambda limiter: limiter.waves_per_group)  # the first of equals
    waves = min(limiter.waves_per_simd for limiter in limiters)
    binding = next(limiter for limiter in limiters if limiter.waves_per_simd == waves)
    bound_by = "hardware" if waves >= most else binding.name
    following, steps = model.steps(limiters, waves)
    amounts = {"VGPR": resources.vgprs, "SGPR": resources.sgprs if arch.sgprs_per_simd else 0}
    amounts |= {"LDS": resources.lds_bytes, "workgroup size": resources.workgroup_size}
    unknown = tuple(name for name, amount in amounts.items() if amount is None)
    peak = -(-least.waves_per_group // simds)
    return Limits(limiters, waves, peak, bound_by, following, steps, simds, model.resources, unknown)


def amounts(arch: Arch, resources: Resources, *, wgp_mode: bool = True) -> tuple[Amount, ...]:
    """Waves that fit with a number of vector registers, and with an amount of LDS: an amount for each number of waves.

    Vector registers count together with accumulation registers, as in `Limiter.used`. Fewest of a resource first.
    Raises `UsageError` when no wave can have these resources.
    """
    model = _model(arch, resources, wgp_mode=wgp_mode)
    largest: dict[tuple[str, int], int] = {}
    for name, at_most, changed in model.changes():
        waves = limits(arch, changed, wgp_mode=wgp_mode).waves_per_simd
        largest[name, waves] = max(at_most, largest.get((name, waves), 0))
    rows = [Amount(name, at_most, waves) for (name, waves), at_most in largest.items() if waves]
    return tuple(sorted(rows, key=lambda row: (row.resource != "VGPR", row.at_most)))


def _model(arch: Arch, resources: Resources, *, wgp_mode: bool) -> _Model:
    wave_size = resources.wave_size or min(arch.wave_sizes)
    _check(arch, resources, wave_size)
    simds = arch.simds_per_cu * (arch.cus_per_wgp if wgp_mode else 1)
    size = resources.workgroup_size
    group_waves = None if size is None else -(-size // wave_size)
    most = arch.waves_per_simd_max
    if arch.compute_waves_per_cu_max is not None:
        most = min(most, arch.compute_waves_per_cu_max // arch.simds_per_cu)
    return _Model(arch, replace(resources, wave_size=wave_size), simds, group_waves, most)


@dataclass(frozen=True)
class _Model:
    """One question, with what all of its limiters need."""

    arch: Arch
    resources: Resources
    simds: int  #: That share one LDS.
    group_waves: int | None  #: Waves of a workgroup; None = not known.
    most: int  #: Waves per SIMD that the hardware holds.

    def limiters(self) -> tuple[Limiter, ...]:
        """What limits the waves, in the order in which limiters win ties."""
        most = self.most
        hardware = Limiter(
            "hardware", most, waves_per_group=most * self.simds, used=most, allocated=most, available=most, unit="waves"
        )
        limiters = [limiter for limiter in (self._vgprs(), self._lds(), self._sgprs(), hardware) if limiter is not None]
        if self.group_waves is not None:
            limiters.insert(-1, self._workgroup(min(limiter.waves_per_group for limiter in limiters)))
        return tuple(limiters)

    def steps(self, limiters: tuple[Limiter, ...], waves: int) -> tuple[int | None, tuple[Step, ...]]:
        """The next number of waves per SIMD, and what has to shrink for it."""
        if waves >= self.most:
            return None, ()
        following, groups = waves + 1, None
        wave_count = following
        if self.group_waves is not None:
            groups = -(-following * self.simds // self.group_waves)
            following = groups * self.group_waves // self.simds
            wave_count = -(-groups * self.group_waves // self.simds)  # on the fullest SIMD
            if wave_count > self.most or groups > self._group_limit():
                return None, ()
        return following, tuple(
            Step(limiter.name, limiter.allocated, at_most, limiter.unit)
            for limiter in limiters
            if (at_most := self._at_most(limiter.name, wave_count, groups)) is not None and limiter.allocated > at_most
        )

    def _at_most(self, name: str, wave_count: int, groups: int | None) -> int | None:
        """Amount of a resource with which `wave_count` waves per SIMD (`groups` workgroups) fit."""
        if name == "VGPR":
            return self._vgprs_for(wave_count)
        if name == "SGPR":
            return _down((self.arch.sgprs_per_simd or 0) // wave_count, self.arch.sgpr_granule)
        if name == "LDS" and groups:
            return self._lds_bytes_for(groups)
        return None

    def _vgprs_for(self, waves: int) -> int:
        """The most vector registers of a wave with which `waves` of them fit on a SIMD."""
        return _down(self._vgpr_file // waves, self._vgpr_granule)

    def _lds_bytes_for(self, groups: int) -> int:
        """The most LDS of a workgroup with which `groups` of them fit."""
        return _down(self._lds_bytes // groups, self.arch.lds_granule_bytes)

    def changes(self) -> Iterator[tuple[str, int, Resources]]:
        """Each amount of a resource above which fewer waves or workgroups fit into it, and what a wave then has."""
        if self.resources.vgprs is not None:
            for waves in range(1, self.most + 1):
                registers = min(self._vgprs_for(waves), self.arch.vgprs_per_wave_max)
                yield "VGPR", registers, replace(self.resources, vgprs=registers, agprs=0)
        if self.resources.lds_bytes is not None and self.group_waves is not None:
            for groups in range(1, self._group_limit() + 1):
                lds_bytes = min(self._lds_bytes_for(groups), self.arch.lds_bytes_per_workgroup_max)
                yield "LDS", lds_bytes, replace(self.resources, lds_bytes=lds_bytes)

    @property
    def _vgpr_file(self) -> int:
        return self.arch.vgprs_per_simd[self.resources.wave_size or 64]

    @property
    def _vgpr_granule(self) -> int:
        return self.arch.vgpr_granule[self.resources.wave_size or 64]

    @property
    def _lds_bytes(self) -> int:
        return self.arch.lds_bytes_per_cu * self.simds // self.arch.simds_per_cu

    def _group_limit(self) -> int:
        """Workgroups that fit on the hardware."""
        waves = self.most * self.simds // (self.group_waves or 1)
        if self.group_waves == 1:
            return waves
        return min(waves, self.arch.workgroups_per_cu_max * self.simds // self.arch.simds_per_cu)

    def _vgprs(self) -> Limiter | None:
        if self.resources.vgprs is None:
            return None
        used = combined_vgprs(self.arch, self.resources.vgprs, self.resources.agprs)
        allocated = _up(max(used, 1), self._vgpr_granule)
        return self._per_simd("VGPR", used, allocated, self._vgpr_file, "registers")

    def _sgprs(self) -> Limiter | None:
        if self.resources.sgprs is None or self.arch.sgprs_per_simd is None:
            return None
        allocated = _up(max(self.resources.sgprs, 1), self.arch.sgpr_granule)
        return self._per_simd("SGPR", self.resources.sgprs, allocated, self.arch.sgprs_per_simd, "registers")

    def _per_simd(self, name: str, used: int, allocated: int, available: int, unit: str) -> Limiter:
        waves = min(self.most, available // allocated)
        return Limiter(name, waves, waves * self.simds, used, allocated, available, unit)

    def _lds(self) -> Limiter | None:
        if self.resources.lds_bytes is None or self.group_waves is None:
            return None
        allocated = _up(self.resources.lds_bytes, self.arch.lds_granule_bytes)
        groups = self._lds_bytes // allocated if allocated else self._group_limit()
        return self._per_group("LDS", groups, self.resources.lds_bytes, allocated, self._lds_bytes, "bytes")

    def _workgroup(self, fitting_waves: int) -> Limiter:
        """Waves of complete workgroups, limited by barriers; `fitting_waves` is the limit of other resources."""
        size = self.group_waves or 1
        limit = self._group_limit()
        groups = limit if fitting_waves % size == 0 else min(limit, fitting_waves // size)
        return self._per_group("workgroup", groups, size, size, limit, "waves")

    def _per_group(self, name: str, groups: int, used: int, allocated: int, available: int, unit: str) -> Limiter:
        waves = min(self.most * self.simds, groups * (self.group_waves or 1))
        per_simd = max(1, waves // self.simds) if waves else 0
        return Limiter(name, min(self.most, per_simd), waves, used, allocated, available, unit)


def combined_vgprs(arch: Arch, vgprs: int, agprs: int) -> int:
    """Vector registers that count against one file: the sum where the file is unified, the larger on gfx908."""
    if arch.accumulation == "unified" and agprs:
        return _up(vgprs, arch.accumulation_offset_granule) + agprs
    return max(vgprs, agprs)


def _check(arch: Arch, resources: Resources, wave_size: int) -> None:
    """Raise when no wave can have these resources, instead of computing nonsense from them."""
    amounts = (resources.vgprs, resources.agprs, resources.sgprs, resources.lds_bytes)
    if any(value is not None and value < 0 for value in amounts):
        raise UsageError("registers and LDS cannot be negative")
    if wave_size not in arch.wave_sizes:
        what = f"{arch.target} has no waves of {wave_size} lanes"
        raise UsageError(what, advice=f"its wave sizes: {', '.join(map(str, arch.wave_sizes))}")
    size = resources.workgroup_size
    if size is not None and not 1 <= size <= arch.workgroup_size_max:
        what = f"a workgroup of {size:,} work-items cannot run on {arch.target}"
        raise UsageError(what, advice=f"1 to {arch.workgroup_size_max:,}")
    combined = combined_vgprs(arch, resources.vgprs or 0, resources.agprs)
    for name, used, most in (
        ("vector registers", combined, arch.vgprs_per_wave_max),
        ("scalar registers", resources.sgprs or 0, max(128, arch.sgprs_per_wave_max)),
        ("bytes of LDS", resources.lds_bytes or 0, arch.lds_bytes_per_workgroup_max),
    ):
        if used > most:
            what = f"{used:,} {name} are more than {arch.target} can give ({most:,})"
            raise UsageError(what, advice="is this the right GPU? name it with --target")


def _up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def _down(value: int, granule: int) -> int:
    return value // granule * granule


def resources_of(kernel: Kernel, override: Resources) -> Resources:
    """Resources of a kernel of a code object, as its metadata has them; `override` wins."""
    group_extent = kernel.workgroup_size_required
    size = override.workgroup_size or (math.prod(group_extent) if group_extent else kernel.workgroup_size_max)
    return Resources(
        vgprs=override.vgprs if override.vgprs is not None else kernel.vgprs,
        agprs=override.agprs or (kernel.agprs or 0 if override.vgprs is None else 0),
        sgprs=override.sgprs if override.sgprs is not None else kernel.sgprs,
        lds_bytes=override.lds_bytes if override.lds_bytes is not None else kernel.lds_bytes,
        workgroup_size=size,
        wave_size=override.wave_size or kernel.wave_size,
    )


@dataclass(frozen=True)
class Rung:
    """A number of waves per SIMD, and the most that a wave or workgroup may have for it; None = no obstacle so far."""

    waves_per_simd: int
    vgprs_at_most: int | None = None  #: Of the file of a SIMD: with accumulation registers where the file is unified.
    sgprs_at_most: int | None = None
    lds_bytes_at_most: int | None = None


def ladder(arch: Arch, resources: Resources, *, wgp_mode: bool = True) -> tuple[Rung, ...]:
    """The rungs above what fits now, each after all steps of those below it.

    Raises `UsageError` when no wave can have these resources.

    >>> from wavewright.facts import gpus
    >>> [(rung.waves_per_simd, rung.vgprs_at_most) for rung in ladder(gpus.of("gfx942"), Resources(vgprs=140))]
    [(4, 128), (5, 96), (6, 80), (7, 72), (8, 64)]
    """
    rungs: list[Rung] = []
    most: dict[str, int] = {}
    for _ in range(_MOST_RUNGS):
        answer = limits(arch, resources, wgp_mode=wgp_mode)
        if answer.next_waves_per_simd is None:
            break
        for step in answer.steps:
            most[step.resource] = step.at_most
            resources = _reduced(resources, step)
        if not answer.steps or min(most.values()) <= 0:  # another workgroup size would be needed
            break
        rungs.append(Rung(answer.next_waves_per_simd, most.get("VGPR"), most.get("SGPR"), most.get("LDS")))
    return tuple(rungs)


def _reduced(resources: Resources, step: Step) -> Resources:
    if step.resource == "VGPR":
        return replace(resources, vgprs=step.at_most, agprs=0)
    if step.resource == "SGPR":
        return replace(resources, sgprs=step.at_most)
    return replace(resources, lds_bytes=step.at_most)
