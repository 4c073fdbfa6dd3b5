"""A planted cause and its twin, run on the machine model: the true gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from synth.planted.causes import CAUSES, GRID_CAUSES, Case
from synth.planted.execution import execute
from synth.planted.machine import MACHINES

if TYPE_CHECKING:
    from synth.planted.execution import Execution


@dataclass(frozen=True)
class Pair:
    """The same kernel with and without its planted cause."""

    cause: str
    planted: Execution
    twin: Execution

    @property
    def gain_share(self) -> float:
        """Share of the time that the cause costs: of the dispatch for causes of the grid, else of the traced SIMDs.

        A shader engine of the model may have more CUs than the GPU's have on average: the twin of a grid is timed on
        the average.
        """
        if self.cause not in GRID_CAUSES:
            return 1 - self.twin.traced_cycles / self.planted.traced_cycles
        machine = self.planted.machine
        share = self.twin.dispatch_cycles / self.planted.dispatch_cycles
        return 1 - share * (machine.cus / machine.gpu_cus_per_se if self.cause == "idle CUs" else 1)


def plant(cause: str, target: str, size: str) -> Pair:
    """Run a cause and its twin.

    >>> plant("tail", "gfx942", "small").planted.instruction_count > 1000
    True
    """
    machine, build = MACHINES[target], CAUSES[cause]
    planted, twin = (execute(machine, build(Case(machine, size, planted=with_it))) for with_it in (True, False))
    return Pair(cause, planted, twin)
