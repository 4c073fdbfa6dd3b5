"""The GPU of a trace as far as the trace tells: the product it may be, and the clock it ran at."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.facts.gpus import Arch
from wavewright.facts.gpus.facts import Product
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz

#: A GPU of the gfx9 family that ran more than this above a product's highest clock is not that product. (Boards of
#: the RDNA families run above the boost clock of their data sheet.)
_CLOCK_SLACK = 1.02


@dataclass(frozen=True)
class Machine:
    """A product, at the clock of a trace."""

    arch: Arch
    product: Product
    clock_hz: float  #: Measured; the highest clock of the product where the trace has no realtime pairs.
    is_certain: bool  #: Whether it cannot be another product.

    @property
    def compute_units_per_engine(self) -> float | None:
        """CUs of one shader engine; WGPs where workgroups run on WGPs, as the trace numbers them."""
        if not self.product.cu_count or not self.product.se_count:
            return None
        return self.product.cu_count / self.product.se_count / self.arch.cus_per_wgp


@once_per_trace
def machine(trace: ThreadTrace) -> Machine | None:
    """The GPU of a trace; of several products that it may be, the first one of its target. None = not known."""
    measured = (clock_mhz(trace) or 0) * 1e6
    possible = []
    for arch in possible_targets(trace):
        for product in arch.products:
            highest = product.clock_hz_max
            if trace.gfxip == 9 and highest and measured > highest * _CLOCK_SLACK:
                continue
            if clock := measured or highest:
                possible.append(Machine(arch, product, clock, is_certain=False))
    return replace(possible[0], is_certain=len(possible) == 1) if possible else None
