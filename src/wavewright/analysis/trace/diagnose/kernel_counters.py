"""The counters of the kernel that a thread trace is about: which kernel of a capture it is, and whether both agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.limiters.kernel_values import kernel_values
from wavewright.analysis.counters.limiters.verdicts import judged
from wavewright.analysis.trace.diagnose.finding import Link
from wavewright.analysis.trace.diagnose.traffic import CountedRate
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wavewright.analysis.counters.limiters.evidence import EvidenceValue, Limiter
    from wavewright.model.counters import CounterSet
    from wavewright.model.trace import ThreadTrace

_SHOWN = 4
_SUFFIXES = re.compile(r"(\s*(\[clone [^\]]*\]|\(\.kd\))|\.kd)+$")
_DIFFERS_FROM = 0.01
_OF_ANOTHER = ("other_gpu", "other_kernel_name")  #: Caveats that the counters are of other work.
_BYTES_OF = {"GB/s": 1e9, "Gb/s": 1e9}  #: ROCm Compute Profiler writes Gb/s for 10^9 bytes per second.


@dataclass(frozen=True)
class Linked:
    """The link with its numbers."""

    link: Link
    values: dict[str, EvidenceValue]
    traffic: dict[str, Any]  #: The kernel's row of `L2.kernels`; empty = nothing known.
    limiters: tuple[Limiter, ...]


def plain_names(name: str) -> tuple[str, str, str]:
    """A kernel's name without suffixes of tools; without arguments and return type; and without template arguments.

    Examples
    --------
    >>> plain_names("void ns::gemm<float, 4>(float const*, int) [clone .kd]")
    ('voidns::gemm<float,4>(floatconst*,int)', 'ns::gemm<float,4>', 'ns::gemm')
    """
    plain = _SUFFIXES.sub("", name.strip())
    called = _last_word(_without_arguments(plain))
    return "".join(plain.split()), "".join(called.split()), "".join(_without_templates(called).split())


def linked(
    trace: ThreadTrace, counters: CounterSet, *, kernel: str | None = None, ideal_gb: float | None = None
) -> Linked:
    """The counters of the kernel that most waves of the trace ran; `kernel` picks one of the counters by name or rank.

    Raises
    ------
    UsageError
        When the counters have no kernel that `kernel` picks, or `ideal_gb` is no amount.
    """
    if ideal_gb is not None and not 0 < ideal_gb < float("inf"):
        raise UsageError("--ideal-gb must be more than 0")
    traced = _traced_kernel(trace)
    candidates, how = _candidates(traced, counters, kernel)
    if len(candidates) != 1:
        return Linked(_no_link(traced, candidates, counters), {}, {}, ())
    evaluated = kernel_values(counters, CounterChoice(kernels=(candidates[0],)), ideal_gb=ideal_gb)
    measured = next(values for values in evaluated.kernels if values.kernel_name == candidates[0])
    dispatches = evaluated.dispatches.filter(pl.col("kernel_name") == candidates[0])
    caveats = (*how, *_disagreements(trace, traced, counters, dispatches))
    link = Link(counters.path, candidates[0], measured.dispatch_count, measured.duration_ns_mean, (), caveats)
    return Linked(link, measured.values, evaluated.traffic.get(candidates[0], {}), judged(measured.values))


def usable_quantities(linked: Linked) -> frozenset[str]:
    """Quantities of the counters that replace what a trace lets infer: measured ones of the same code on the same GPU.

    This is the place to decide that a counter may not be used; a quantity that is not here is not believed.
    """
    if linked.link.kernel_name is None or any(caveat.name in _OF_ANOTHER for caveat in linked.link.caveats):
        return frozenset()
    return frozenset(name for name, value in linked.values.items() if value.is_measured)


def counted_rate(linked: Linked) -> CountedRate | None:
    """Bytes that the memory moved per second of the counted dispatches; None = not measured, or not usable."""
    value, duration_ns = linked.values.get("memory_bandwidth"), linked.link.duration_ns_mean
    if value is None or "memory_bandwidth" not in usable_quantities(linked) or not duration_ns:
        return None
    if not value.amount or value.amount_unit not in _BYTES_OF:
        return None
    return CountedRate(value.amount * _BYTES_OF[value.amount_unit], duration_ns)


def _traced_kernel(trace: ThreadTrace) -> dict[str, Any]:
    """The row of `kernels` that most waves of the trace ran."""
    kernels = trace.kernels
    if not kernels.height:
        return {}
    ran = trace.waves["kernel"].drop_nulls().value_counts(sort=True) if trace.waves.height else None
    if ran is not None and ran.height:
        of_kernel = kernels.filter(pl.col("kernel") == ran["kernel"][0])
        if of_kernel.height:
            return of_kernel.row(0, named=True)
    return kernels.row(0, named=True)


def _candidates(traced: dict[str, Any], counters: CounterSet, kernel: str | None) -> tuple[list[str], list[Caveat]]:
    """Kernels of the counters with the same name, as exactly as possible, and caveats where it is not exact."""
    measured = [name or "" for name in ranked_kernels(counters.dispatches)["kernel_name"].to_list()]
    if kernel is not None:
        picked = chosen_dispatches(counters, CounterChoice(kernels=(kernel,)))["kernel_name"].unique().to_list()
        measured = [name for name in measured if name in picked]
        if len(measured) == 1:
            return measured, _named_otherwise(traced, measured[0])
    traced_names = [plain_names(name) for name in (traced.get("name"), traced.get("demangled")) if name]
    for exactness in range(3):
        matches = [
            name for name in measured if any(plain_names(name)[exactness] == names[exactness] for names in traced_names)
        ]
        if matches:
            caveats = _named_otherwise(traced, matches[0]) if exactness == 2 and len(matches) == 1 else []
            return matches, caveats
    return [], []


def _named_otherwise(traced: dict[str, Any], name: str) -> list[Caveat]:
    traced_name = traced.get("demangled") or traced.get("name") or "a kernel without a name"
    if any(
        plain_names(name)[1] == plain_names(label)[1]
        for label in (traced.get("name"), traced.get("demangled"))
        if label
    ):
        return []
    what = f"the trace is of {_brief(traced_name)}, the counters are of {_brief(name)}"
    return [Caveat("other_kernel_name", "care", what, "the reasons hold only if both are the same code")]


def _no_link(traced: dict[str, Any], candidates: list[str], counters: CounterSet) -> Link:
    traced_name = _brief(traced.get("demangled") or traced.get("name") or "the traced kernel, which has no name")
    names = candidates or [name or "" for name in ranked_kernels(counters.dispatches)["kernel_name"].to_list()]
    examples = ", ".join(_brief(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    if candidates:
        caveat = Caveat(
            "several_kernels_fit",
            "care",
            f"{len(candidates):,} kernels of the counters could be {traced_name}: {examples}{more}; none was taken",
            "pick one with --counters-kernel",
        )
    else:
        what = (
            f"the counters have no kernel {traced_name}: they have {examples}{more}"
            if names
            else "the counters have no kernels"
        )
        caveat = Caveat(
            "no_counters_of_kernel", "care", what, "collect counters of this kernel, or pick one with --counters-kernel"
        )
    return Link(counters.path, None, 0, None, tuple(candidates), (caveat,))


def _disagreements(
    trace: ThreadTrace, traced_row: dict[str, Any], counters: CounterSet, dispatches: pl.DataFrame
) -> Iterable[Caveat]:
    """Differences between the dispatch that was traced and those that were counted."""
    traced, counted = (trace.source.target or "").split(":")[0], counters.system.target
    if traced and counted and traced != counted:
        what = f"the trace is from {traced}, the counters are from {counted}"
        yield Caveat("other_gpu", "care", what, "capture both on the same GPU")
    for label, traced_value, counted_values in (
        ("work-items per workgroup", traced_row.get("workgroup_size"), dispatches["workgroup_size"]),
        ("bytes of LDS per workgroup", traced_row.get("lds_bytes"), dispatches["lds_bytes"]),
        ("vector registers", _vgprs(traced_row), dispatches["arch_vgprs"] + dispatches["accum_vgprs"].fill_null(0)),
        ("scalar registers", traced_row.get("sgprs"), dispatches["sgprs"]),
    ):
        recorded = counted_values.drop_nulls().unique().sort().to_list()
        if traced_value and recorded and not any(_same(traced_value, value) for value in recorded):
            numbers = " or ".join(f"{value:,}" for value in recorded[:3])
            what = f"the traced kernel has {traced_value:,} {label}, the counted one {numbers}"
            yield Caveat("other_launch", "care", what, "another build or launch: capture both from the same program")
    sizes = dispatches["grid_size"].drop_nulls().unique().sort().to_list()
    if len(sizes) > 1:
        what = f"the counted dispatches have {len(sizes):,} grid sizes, from {sizes[0]:,} to {sizes[-1]:,} work-items"
        yield Caveat("several_grids", "note", what, "the reasons are averages over all of them")


def _vgprs(traced: dict[str, Any]) -> int | None:
    return None if traced.get("vgprs") is None else traced["vgprs"] + (traced.get("agprs") or 0)


def _same(traced: int, counted: int) -> bool:
    """Equal up to the granules that tools round registers and LDS to, and up to the half that some of them tell."""
    return any(
        abs(-(-traced // granule) * granule - counted) < _DIFFERS_FROM for granule in (1, 4, 8, 16, 512, 1280)
    ) or (2 * counted == -(-traced // 8) * 8)


def _without_arguments(text: str) -> str:
    """Without parentheses outside of template arguments, and what follows them."""
    characters, angles, depth = [], 0, 0
    for character in text.replace("operator()", "operator").replace("(anonymous namespace)", "anonymous"):
        if character in "()" and not angles:
            depth += 1 if character == "(" else -1
            continue
        if not depth:
            characters.append(character)
            angles += {"<": 1, ">": -1}.get(character, 0)
    return "".join(characters).strip().removesuffix(" const")


def _without_templates(text: str) -> str:
    characters, depth = [], 0
    for character in text:
        depth += character == "<"
        if not depth:
            characters.append(character)
        depth -= character == ">" and depth > 0
    return "".join(characters)


def _last_word(text: str) -> str:
    """Without a return type: what stands behind the last space outside of template arguments."""
    depth, begin = 0, 0
    stripped = text.strip()
    for place, character in enumerate(stripped):
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif character == " " and not depth:
            begin = place + 1
    return stripped[begin:]


def _brief(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
