"""Captures of the kernels `lane_*`, on whose traces every wave goes the way that the source's meaning says, with the
truth about every access.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from synth.capture import write_capture
from synth.kernel import compiled, family_of
from synth.kernels import LANE_KERNELS, LANE_TARGETS
from synth.lanes.access import LaneWave
from synth.lanes.meaning import MEANINGS
from synth.lanes.paths import access_rows, branch_decisions, label_lines
from synth.scenario import Scenario, synthesize
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from wavewright.model.trace import ThreadTrace

__all__ = ["LANE_SCHEMA", "LaneLaunch", "LaneTruth", "lane_truth", "lane_truths"]

_WIDTH_2D = 16  # work-items of a row, where the workgroup has two dimensions
_MOST_WAVES = 4  # of a workgroup that have started before the next workgroup does

_COLUMNS: dict[str, pl.DataType] = {
    "line": pl.UInt32(),
    "label": pl.String(),
    "workgroup": pl.UInt32(),
    "wave": pl.UInt32(),
    "execution": pl.UInt32(),
    "part": pl.UInt32(),
    "space": pl.String(),
    "direction": pl.String(),
    "width_bytes": pl.UInt32(),
    "base": pl.String(),
    "active_mask": pl.UInt64(),
    "addresses": pl.List(pl.Int64),
    "needs": pl.List(pl.String),
    "data_dependent": pl.String(),
}
LANE_SCHEMA = pl.Schema(_COLUMNS)
"""Columns of the truth, see `synth.lanes.access.LaneAccess`; `wave` is the number of the wave in its workgroup."""


@dataclass(frozen=True)
class LaneLaunch:
    """Launch of a kernel.

    Examples
    --------
    >>> LaneLaunch("lane_masks", "gfx942").workgroup_size
    (16, 16, 1)
    """

    kernel: str
    target: str
    waves: int = 4  #: Of a workgroup.
    workgroups: int = 2
    changed_arguments: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.waves <= _MOST_WAVES:
            problem = f"a workgroup has 1 to {_MOST_WAVES} waves here, not {self.waves}"
            raise UsageError(problem)

    @property
    def lanes(self) -> int:
        """Of a wave."""
        return 64 if family_of(self.target) == "gfx9" else 32

    @property
    def workgroup_size(self) -> tuple[int, int, int]:
        """Work-items in x, y, z."""
        items = self.waves * self.lanes
        return (_WIDTH_2D, items // _WIDTH_2D, 1) if self.kernel == "lane_masks" else (items, 1, 1)

    @property
    def arguments(self) -> dict[str, int]:
        """Values of the arguments that are no pointers, by name."""
        usual = {
            "lane_strides": {"value": 1},
            "lane_bits": {"base": 37, "fields": 0x1B7, "sign": -3},
            # Two full waves, one that is partly there, and none.
            "lane_masks": {"count": 2 * self.lanes + self.lanes // 3, "trips": 5},
            "lane_division": {"columns": 12, "step": -9, "narrow": 11, "total": 1000},
            "lane_pointers": {"pitch": 100, "shift": 1234567, "size": 6},
        }
        return usual.get(self.kernel, {}) | dict(self.changed_arguments)

    def wave(self, workgroup: int, number: int) -> LaneWave:
        """A wave with all its accesses."""
        wave = LaneWave(number, self.lanes, self.target, workgroup, self.arguments, self.workgroup_size[0])
        MEANINGS[self.kernel](wave)
        return wave


@dataclass(frozen=True)
class LaneTruth:
    """A capture and what its waves access; `frame` has the columns of `LANE_SCHEMA`."""

    launch: LaneLaunch
    capture: Path
    frame: pl.DataFrame = field(repr=False)

    @property
    def kernel(self) -> str:
        """Name of the kernel, of its source and of its symbol."""
        return self.launch.kernel

    @property
    def target(self) -> str:
        """The GPU."""
        return self.launch.target

    def executed(self, trace: ThreadTrace) -> pl.DataFrame:
        """Executed accesses of the opened capture, in the order of `trace.instructions`.

        Columns: `instruction` (row of `trace.instructions`), `trace_wave` (wave of the trace), `row` (of `trace.code`),
        and `workgroup`, `wave`, `line`, `execution` as in the truth.
        """
        # Waves start in the order of their numbers; the trace lists them by their ends.
        order = trace.waves.select("wave", order=pl.col("start_cycles").rank("ordinal").cast(pl.UInt32) - 1)
        rows = pl.DataFrame({"row": list(access_rows(self.kernel, self.target))}, schema={"row": pl.Int32})
        waves = self.launch.waves
        return (
            trace.instructions.with_row_index("instruction")
            .join(rows, on="row", how="semi")
            .join(trace.code.select("row", "line"), on="row")
            .join(order, on="wave")
            .sort("instruction")
            .select(
                "instruction", "row", "line", trace_wave="wave",
                workgroup=pl.col("order") // waves, wave=pl.col("order") % waves,
                execution=pl.int_range(pl.len(), dtype=pl.UInt32).over("wave", "line"),
            )
        )  # fmt: skip


def lane_truth(launch: LaneLaunch, directory: str | PathLike[str]) -> LaneTruth:
    """Write a raw capture of a launch into `directory`, and compute its truth.

    Waves of a workgroup start in the order of their numbers, workgroup after workgroup.

    Raises
    ------
    UsageError
        There is no such kernel, or its code does not show which way a wave goes.
    """
    waves = [launch.wave(0, number) for number in range(launch.waves)]
    scenario = Scenario(
        family=family_of(launch.target),
        kernels=(compiled(launch.kernel, launch.target),),
        workgroups=launch.workgroups,
        waves_per_workgroup=launch.waves,
        waves_per_simd=launch.workgroups * launch.waves,
        other_waves=0,
        workgroup_size=launch.workgroup_size,
        decisions=tuple(branch_decisions(launch.kernel, launch.target, wave.sequences) for wave in waves),
    )
    write_capture(synthesize(scenario), directory)
    return LaneTruth(launch, Path(directory), _frame(launch))


def lane_truths(
    directory: str | PathLike[str],
    *,
    kernels: Sequence[str] = LANE_KERNELS,
    targets: Sequence[str] = LANE_TARGETS,
    waves: int = 4,
) -> Iterator[LaneTruth]:
    """Capture and truth of every kernel for every target, each in a folder `KERNEL.TARGET` of `directory`."""
    for target in targets:
        for kernel in kernels:
            yield lane_truth(LaneLaunch(kernel, target, waves), Path(directory) / f"{kernel}.{target}")


def _frame(launch: LaneLaunch) -> pl.DataFrame:
    lines = label_lines(launch.kernel)
    rows = [
        (
            lines[access.label], access.label, workgroup, number, access.execution, access.part, access.space,
            access.direction, access.width_bytes, access.base, access.active, list(access.addresses),
            list(access.needs), access.data,
        )
        for workgroup in range(launch.workgroups)
        for number in range(launch.waves)
        for access in launch.wave(workgroup, number).accesses
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LANE_SCHEMA, orient="row")
