"""Traces of kernels whose traffic is known: what each workgroup touches, worked out from the sources, line by line."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import wavewright
from synth import Scenario, compiled, synthesize
from synth.capture import write_capture
from wavewright.analysis.trace.lanes.evaluated import LaneOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from wavewright.model.trace import ThreadTrace

#: Array, bytes of an element, places of the elements, and whether they are stored.
Touch = tuple[str, int, "NDArray[np.int64]", bool]
_LANE = np.arange(256, dtype=np.int64)
_TILE = 16
_FLOAT, _OPERAND, _ACCUMULATOR = 4, 8, 16


@dataclass(frozen=True)
class PlantedKernel:
    """A launch of one of our kernels; `size` is its last argument."""

    name: str
    size: int
    at: str  #: Offset of that argument.
    workgroups: int
    trips: int  #: Backward branches of a wave that runs through.
    touches: Callable[[int, int], Iterator[Touch]]

    @property
    def lanes(self) -> LaneOptions:
        return LaneOptions((f"{self.at}={self.size}",), (256, 1, 1), (256 * self.workgroups, 1, 1))

    def trace(self, target: str, folder: Path) -> ThreadTrace:
        kernel = compiled(self.name, target)
        scenario = Scenario(
            kernels=(kernel,), workgroups=1, waves_per_workgroup=4, workgroup_size=(256, 1, 1), other_waves=0,
            loop_trips=self.trips,
        )  # fmt: skip
        write_capture(synthesize(scenario), folder)
        return wavewright.open(folder)

    def units(self, unit: int, chosen: Iterator[int] | range, *, is_store: bool) -> int:
        """Different aligned units that the chosen workgroups touch."""
        touched = defaultdict(set)
        for block in chosen:
            for array, width, places, stored in self.touches(block, self.size):
                if stored is is_store:
                    for offset in range(0, width, min(unit, 4)):
                        touched[array].update(((places * width + offset) // unit).tolist())
        return sum(map(len, touched.values()))


def _vector_add(block: int, n: int) -> Iterator[Touch]:
    i = block * 256 + _LANE
    i = i[i < n]
    yield "a", _FLOAT, i, False
    yield "b", _FLOAT, i, False
    yield "c", _FLOAT, i, True


def _saxpy(block: int, n: int) -> Iterator[Touch]:
    for first in range(block * 256, n, 64 * 256):
        i = first + _LANE
        i = i[i < n]
        yield "x", _FLOAT, i, False
        yield "y", _FLOAT, i, False
        yield "y", _FLOAT, i, True


def _tiled_gemm(block: int, n: int) -> Iterator[Touch]:
    tiles = n // _TILE
    x, y = _LANE % _TILE, _LANE // _TILE
    row, column = block // tiles * _TILE + y, block % tiles * _TILE + x
    for tile in range(tiles):
        yield "a", _FLOAT, row * n + tile * _TILE + x, False
        yield "b", _FLOAT, (tile * _TILE + y) * n + column, False
    yield "c", _FLOAT, row * n + column, True


def _reduction(block: int, n: int) -> Iterator[Touch]:
    for first in range(block * 256, n, 64 * 256):
        i = first + _LANE
        yield "values", _FLOAT, i[i < n], False


def _matrix_core(block: int, steps: int) -> Iterator[Touch]:
    i = block * 256 + _LANE
    yield "c", _ACCUMULATOR, i, False
    for step in range(steps):
        yield "a", _OPERAND, step * 256 + i, False
        yield "b", _OPERAND, step * 256 + i, False
    yield "c", _ACCUMULATOR, i, True


def _divergent(block: int, n: int) -> Iterator[Touch]:
    i = block * 256 + _LANE
    yield "values", _FLOAT, i[i < n], False  # what is stored depends on them: nobody can know it


PLANTED = (
    PlantedKernel("vector_add", 12_700, "0x18", 50, 0, _vector_add),
    PlantedKernel("saxpy", 40_000, "0x18", 64, 2, _saxpy),
    PlantedKernel("tiled_gemm", 96, "0x18", 36, 5, _tiled_gemm),
    PlantedKernel("tiled_gemm_prefetch", 96, "0x18", 36, 5, _tiled_gemm),
    PlantedKernel("reduction", 40_000, "0x10", 64, 2, _reduction),
    PlantedKernel("matrix_core", 5, "0x18", 40, 4, _matrix_core),
    PlantedKernel("divergent", 12_700, "0x10", 50, 3, _divergent),
)
