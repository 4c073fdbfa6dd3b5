"""Is a kernel bound by arithmetic or by a level of memory, and how far is it from that roof?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice
from wavewright.analysis.counters.engine.metric_caveats import assumed_facts
from wavewright.analysis.counters.roofline.ceilings import boost_clock_mhz, ceiling_rows, known_arch
from wavewright.analysis.counters.roofline.kinds import KINDS
from wavewright.analysis.counters.roofline.points import disprove, kernel_row, operation_rows, point_rows
from wavewright.analysis.counters.roofline.work import work_of
from wavewright.base.bounds import ID, ROWS, bounded
from wavewright.base.words import counted, percent, some_of
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import RULES
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of


@dataclass(frozen=True)
class Roofline(Answer, package=__package__):
    """Kernels under their roofs."""

    target: str
    product: str
    by: str  #: kernel or dispatch.
    rules: str  #: corrected, or the reference whose bytes and rates were applied.
    total_count: int  #: Kernels or dispatches that were chosen; `kernels` has the first of them.
    ceilings: pl.DataFrame  #: One row per memory level or kind of operation; columns of the four in `tables.toml`.
    kernels: pl.DataFrame  #: One row per kernel or dispatch, with its bound.
    points: pl.DataFrame  #: One row per kernel or dispatch, memory level and kind of work.
    operations: pl.DataFrame  #: One row per kernel or dispatch and kind of operation.
    caveats: tuple[str, ...]  #: What limits the trust in the numbers.


@bounded(top=ROWS, device=ID)
def roofline(
    counters: CounterSet,
    *,
    choice: CounterChoice = ALL_DISPATCHES,
    by: str = "kernel",
    top: int | None = None,
    ceilings: str = "best",
    device: int | None = None,
    amd: bool = False,
) -> Roofline:
    """Where kernels (means over their dispatches) or single dispatches stand under the roofs of memory and arithmetic.

    `top` keeps those with most time. `ceilings` are best (empirical where measured), empirical or theoretical; the
    empirical ones are of the benchmark of one GPU, `device` (None = the first). `amd` counts bytes as ROCm Compute
    Profiler 3.3 does: 64 per line on every GPU. Raises `UsageError` when one of these words does not exist, or nothing
    matches the choice or the device.
    """
    if by not in ("kernel", "dispatch"):
        raise UsageError(f"no points by {by[:40]!r}", advice="by kernel or by dispatch")
    ceiling_list = ceiling_rows(counters, choice=ceilings, device=device)
    works = work_of(counters, choice=choice, by=by, amd=amd)
    top_works = works[:top]
    if ceilings == "best":
        ceiling_list = disprove(ceiling_list, works)
    used = {row["name"]: row["used"] for row in ceiling_list}
    rows: dict[str, list[dict[str, Any]]] = {
        "ceilings": ceiling_list,
        "kernels": [kernel_row(work, used) for work in top_works],
        "points": [row for work in top_works for row in point_rows(work, used)],
        "operations": [row for work in top_works for row in operation_rows(work, used)],
    }
    frames = {name: frame_of(spec, rows[name]) for name, spec in Roofline.tables.items()}
    return Roofline(
        target=counters.system.target or "",
        product=counters.system.product or "",
        by=by,
        rules=RULES[amd],
        total_count=len(works),
        **frames,
        caveats=tuple(roofline_caveats(frames, counters, device)),
    )


_UNLIKE = 0.05  #: Benchmarks of GPUs that differ by a larger share get a caveat: it matters whose is taken.
_MAX_NAMES = 3  #: Ceilings that a caveat names.
_ABOVE = 1.02  #: Benchmark over theoretical rate from which on noise does not explain it.


def roofline_caveats(frames: dict[str, pl.DataFrame], counters: CounterSet, device: int | None = None) -> Iterator[str]:
    """Sentences about what limits the trust in the roofs and in the points under them."""
    ceilings = {row["name"]: row for row in frames["ceilings"].iter_rows(named=True)}
    if not counters.measured and frames["operations"].height:
        yield "the values are those that ROCm Compute Profiler stored, by the rules of its version"
    if frames["kernels"].is_empty():
        yield "the capture has no dispatches: nothing can be placed under the roofs"
    operations = frames["operations"]
    used_kinds = set(operations.filter(operations["operations"] > 0)["kind"])
    yield from _about_ceilings(ceilings, used_kinds, counters)
    if device is None and any(row["used_from"] == "empirical" for row in ceilings.values()):
        yield from _unlike_devices(counters)
    yield from _above_roofs(frames, ceilings)
    for column, noun in (("flops_missing", "floating-point"), ("iops_missing", "integer")):
        kernels = frames["kernels"]
        kernel_rows = kernels.filter(kernels[column] != "", kernels[column.removesuffix("_missing")] >= 0)
        if kernel_rows.height:
            kinds = sorted({kind for row in kernel_rows[column] for kind in row.split(", ")})
            yield (
                f"operations of {', '.join(kinds)} were not measured: the {noun} operations, rates and intensities of "
                f"{counted(kernel_rows.height, 'rows')} are lower bounds"
            )


def _about_ceilings(ceilings: dict[str, dict[str, Any]], used_kinds: set[str], counters: CounterSet) -> Iterator[str]:
    used = {row["used_from"] for row in ceilings.values() if row["used_from"]}
    if not used:
        reasons = sorted({row["reason"] for row in ceilings.values() if row["reason"]})
        yield f"there are no roofs: {'; '.join(reasons) or 'nothing is known about this GPU'}"
    elif used == {"theoretical"}:
        yield "the ceilings are theoretical, at the highest clock: what real code reaches is lower"
    if "theoretical" in used:
        yield from assumed_facts(counters.system)
        yield from _radeon_assumptions(counters)
    for row in ceilings.values():
        if row["used"] and row["reason"]:
            yield f"the roof of {row['name']} is the theoretical one: {row['reason']}"
    for row in (row for row in ceilings.values() if row["name"] in used_kinds):
        if row["theoretical"] and row["empirical"] and row["empirical"] > _ABOVE * row["theoretical"]:
            is_packed = row["pipe"] == "VALU" and row["precision"] in ("fp16", "fp32")
            cause = "packed instructions, which counters see as one" if is_packed else "one of the two is wrong"
            yield (
                f"the benchmark of {row['name']} reaches {percent(row['empirical'] / row['theoretical'], 0)} of the "
                f"theoretical rate: {cause}"
            )


def _radeon_assumptions(counters: CounterSet) -> Iterator[str]:
    """Assumptions of the theoretical roofs of a Radeon: the boost clock, and two instructions at once."""
    facts = known_arch(counters.system)
    boost = boost_clock_mhz(counters.system, facts)
    if boost and facts:
        yield (
            f"the capture says a highest clock of {counters.system.clock_mhz_max:,.0f} MHz: the roofs are at the boost "
            f"clock of the {facts.product.name}, {boost:,.0f} MHz"
        )
    if facts and "valu_f32_dual" in facts.rates and KINDS["VALU FP32"].rate_of(facts.rates) == "valu_f32_dual":
        yield (
            "VALU roofs are with dual issue (VOPD): two independent instructions at once; code without such pairs "
            "reaches half of them"
        )


def _unlike_devices(counters: CounterSet) -> Iterator[str]:
    rows = counters.ceilings.filter(pl.col("value") > 0)
    if rows.is_empty() or rows["device"].n_unique() < 2:
        return
    spread = rows.group_by("name").agg(low=pl.col("value").min(), high=pl.col("value").max())
    unlike = spread.filter(pl.col("high") > (1 + _UNLIKE) * pl.col("low"))["name"].sort().to_list()
    if unlike:
        yield (
            f"the benchmark of device {rows['device'][0]} is used; those of other GPUs differ by more than "
            f"{percent(_UNLIKE, 0)} in {some_of(unlike, _MAX_NAMES)}: choose one with --device"
        )


def _above_roofs(frames: Mapping[str, pl.DataFrame], ceilings: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    is_above = pl.col("share").is_null() & pl.col("gb_per_second").is_not_null()
    for (roof,), rows in frames["points"].filter(is_above).drop_nulls("roof").group_by("roof", maintain_order=True):
        points = counted(rows.select("kernel", "dispatch").n_unique(), "points")
        # A roof is a level or kind, or a pipe whose precisions are several ceilings.
        origins = {row["used_from"] for name, row in ceilings.items() if roof in (name, row["pipe"])}
        is_empirical = "empirical" in origins
        if roof == "HBM":
            cause = "part of what L2 asks the fabric for comes from elsewhere, such as the Infinity Cache (MALL)"
        elif roof == "L1":
            cause = "its bytes are whole lines per lookup, of which a kernel may use a part"
        elif is_empirical:
            cause = "the benchmark did not reach what the hardware can do"
        else:
            cause = "the clock, the number of units or the rate is not what the capture says"
        name = f"the {'measured' if is_empirical else 'theoretical'} roof of {roof}"
        yield f"{name} is too low: {points} above it, without a share of it: {cause}"
