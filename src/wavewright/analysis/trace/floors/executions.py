"""Executed instructions of each traced CU: what its pipes had to do, and in which time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.analysis.trace.parts import answers
from wavewright.analysis.trace.pipes import PIPES as CATEGORIES_OF_PIPE
from wavewright.analysis.trace.pipes import base_clock, matrix_rows, pipe_cycles_of_rows
from wavewright.analysis.trace.selection import traced_waves
from wavewright.codeobj.targets import family_of
from wavewright.facts import gpus
from wavewright.facts.lanes.rule_facts import CONFIDENCES
from wavewright.model.schema import CATEGORIES
from wavewright.model.trace import ThreadTrace

#: Pipes of a SIMD that have a floor -> their name here: LDS and L1 are pipes of their own, behind those that issue.
_ISSUING: Final = {"VALU": "VALU", "SCALAR": "SCALAR", "VMEM": "VMEM issue", "LDS": "LDS issue", "BRANCH": "BRANCH"}
#: Categories (`model.schema.CATEGORIES`) -> the pipe that issues them. Waits, padding and messages need no pipe.
PIPE_OF_CATEGORY: Final = {category: name for pipe, name in _ISSUING.items() for category in CATEGORIES_OF_PIPE[pipe]}
#: Every pipe that has a floor: those of waves and SIMDs first, then those that the SIMDs of a CU share.
PIPES: Final = ("issue", "VALU", "MATRIX", "SCALAR", "VMEM issue", "LDS issue", "BRANCH", "LDS", "L1")
#: Of these, the pipes whose time depends on the addresses of lanes.
LANE_PIPES: Final = ("LDS", "L1")
#: On gfx9 the scalar pipe takes arithmetic and loads one at a time; later SIMDs may issue both at once.
_ONE_SCALAR_PORT: Final = 9
_LDS_HALVES: Final = 2  #: LDS pipes of a workgroup processor (gfx10 and later).


@dataclass(frozen=True)
class Rate:
    """Best rate of a pipe."""

    per_step: int  #: Instructions that it takes at once.
    confidence: str  #: One of CONFIDENCES.
    evidence: str


def counts_scalar_loads(gfxip: int) -> bool:
    """True if scalar loads take the port of scalar arithmetic."""
    return gfxip == _ONE_SCALAR_PORT


def takes_declared_cycles(pipe: str, gfxip: int) -> bool:
    """True if an instruction occupies the pipe for its declared cycles; slow vector instructions of RDNA run beside."""
    return pipe == "MATRIX" or (pipe == "VALU" and gfxip == _ONE_SCALAR_PORT)


def lds_units(gfxip: int) -> int:
    """LDS pipes behind the SIMDs that a trace calls a CU."""
    return 1 if gfxip == _ONE_SCALAR_PORT else _LDS_HALVES


def rate_of(pipe: str, gfxip: int, targets: tuple[str, ...]) -> Rate:
    """The rate of a pipe of waves and SIMDs; `targets` = those that the GPU may be, none = not known."""
    clock = "cycle" if base_clock(gfxip) == 1 else f"{base_clock(gfxip)} cycles"
    if pipe == "issue":
        return Rate(1, "published", f"a wave issues one instruction in {clock}; waits and padding are not counted")
    if pipe == "MATRIX":
        return Rate(1, "published", "cycles by LLVM's schedule model and the GPU's peak rates")
    if pipe == "VALU":
        # of the targets that the GPU may be, of its generation where none is known, the most: a floor must hold
        possible = targets or [target for target in gpus.TARGETS if family_of(target) == f"gfx{gfxip}"]
        waves = max((gpus.of(target).valu_issues_max for target in possible), default=1)
        if waves > 1:
            evidence = f"a SIMD takes vector instructions of {waves} waves in {clock} (traces of MI300X and MI350X)"
            return Rate(waves, "published", evidence)
    return Rate(1, "published", f"a SIMD issues one instruction to a pipe in {clock}")


def weakest(confidences: list[str]) -> str:
    """The weakest of some confidences."""
    return max(confidences, key=CONFIDENCES.index)


UNIT = ["kernel", "se", "cu"]  #: Columns that name the waves of a kernel on a CU, here called a unit.
_SIMD = [*UNIT, "simd"]
#: Number of a category -> the pipe that issues it.
_PIPE_OF_NUMBER = {number: PIPE_OF_CATEGORY[name] for number, name in CATEGORIES.items() if name in PIPE_OF_CATEGORY}


@dataclass(frozen=True)
class Executed:
    """Executions of the traced waves of each kernel on each CU."""

    units: pl.DataFrame  #: `kernel`, `se`, `cu`, `wave_count`, `span_cycles`, `waves` (a list).
    issues: pl.DataFrame  #: `kernel`, `se`, `cu`, `pipe`, `execution_count`, `floor_cycles`: pipes of waves and SIMDs.


def executed(trace: ThreadTrace, left_out: tuple[int, ...] = ()) -> Executed:
    """Spans of the CUs and what their SIMDs need at least; without the waves in `left_out`."""
    parts = answers(trace, _counts_of_part, left_out)
    units = _merged_units([units for units, _, _ in parts])
    counts = pl.concat([counts for _, counts, _ in parts]).group_by(*_SIMD, "row", "category").agg(pl.col("n").sum())
    longest = pl.concat([longest for _, _, longest in parts]).group_by(UNIT).agg(pl.col("n").max())
    floor = pl.col("n") * base_clock(trace.gfxip)
    waves = longest.select(*UNIT, pipe=pl.lit("issue"), execution_count="n", floor_cycles=floor)
    return Executed(units, pl.concat([waves, _of_simds(trace, counts)]))


def _counts_of_part(
    part: ThreadTrace, _: ThreadTrace, left_out: tuple[int, ...]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Units, executions by SIMD, row and category, and the instructions of the longest wave of each unit."""
    waves = traced_waves(part).filter(~pl.col("wave").is_in(list(left_out)))
    done = part.instructions.select(
        "wave", "row", "category", end=pl.col("time_cycles") + pl.col("duration_cycles")
    ).join(waves.select("wave", *_SIMD), on="wave")
    units = (
        waves.join(done.group_by("wave").agg(pl.col("end").max()), on="wave", maintain_order="left")
        .group_by(UNIT, maintain_order=True)
        .agg(pl.col("start_cycles").min(), pl.col("end").max(), waves="wave")
    )
    counts = done.group_by(*_SIMD, "row", "category").agg(n=pl.len().cast(pl.Int64))
    issued = done.filter(pl.col("category").is_in(list(_PIPE_OF_NUMBER)))
    longest = issued.group_by(*UNIT, "wave").agg(n=pl.len().cast(pl.Int64)).drop("wave")
    return units, counts, longest.group_by(UNIT).agg(pl.col("n").max())


def _merged_units(parts: list[pl.DataFrame]) -> pl.DataFrame:
    merged = (
        pl.concat(parts)
        .group_by(UNIT, maintain_order=True)
        .agg(pl.col("start_cycles").min(), pl.col("end").max(), pl.col("waves").explode())
    )
    count, span = pl.col("waves").list.len().cast(pl.Int64), pl.col("end") - pl.col("start_cycles")
    return merged.select(*UNIT, "waves", wave_count=count, span_cycles=span).sort(UNIT)


def _of_simds(trace: ThreadTrace, counts: pl.DataFrame) -> pl.DataFrame:
    """Needs of the busiest SIMD of each unit for each of its pipes."""
    gfxip = trace.gfxip
    clock = base_clock(gfxip)
    ordered = trace.code.sort("row")
    code = ordered.select("row", is_matrix=matrix_rows(ordered), declared=pipe_cycles_of_rows(trace))
    left_out = "" if counts_scalar_loads(gfxip) else "SMEM"
    by_category = {number: pipe for number, pipe in _PIPE_OF_NUMBER.items() if CATEGORIES[number] != left_out}
    of_category = pl.col("category").replace_strict(by_category, default=None, return_dtype=pl.String)
    placed = counts.join(code, on="row", how="left").with_columns(
        pipe=pl.when(pl.col("is_matrix").fill_null(value=False)).then(pl.lit("MATRIX")).otherwise(of_category)
    )
    targets = tuple(arch.target for arch in possible_targets(trace))
    pipes = sorted(set(placed["pipe"].drop_nulls()))
    width = {pipe: rate_of(pipe, gfxip, targets).per_step for pipe in pipes}
    declared = [pipe for pipe in pipes if takes_declared_cycles(pipe, gfxip)]
    cycles = pl.when(pl.col("pipe").is_in(declared)).then(pl.max_horizontal(pl.col("declared").fill_null(0), clock))
    busy = (
        placed.drop_nulls("pipe")
        .with_columns(work=pl.col("n") * cycles.otherwise(clock).cast(pl.Int64))
        .group_by(*_SIMD, "pipe")
        .agg(pl.col("n").sum(), pl.col("work").sum())
    )
    per_step = pl.col("pipe").replace_strict(width, return_dtype=pl.Int64, default=1)
    return (
        busy.with_columns(floor=(pl.col("work") + per_step - 1) // per_step)
        .group_by(*UNIT, "pipe")
        .agg(pl.col("n").sum().alias("execution_count"), pl.col("floor").max().alias("floor_cycles"))
    )
