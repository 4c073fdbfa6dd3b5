"""Limits of kernels (limiters.toml): the rules that counters decide, and the quantities that they are decided by."""

from __future__ import annotations

from wavewright.facts.loader import Fact, FactTable, packaged

_FILE = "counters/limiters.toml"
#: Units that must be known to have time to spare before latency can be what limits a kernel.
CORE = ("memory bandwidth", "L2 bandwidth", "L1 bandwidth", "LDS bandwidth", "matrix throughput", "VALU throughput")


class Threshold(Fact, frozen=True):
    """When a quantity makes a limiter likely, and when strongly so."""

    quantity: str
    likely: float
    strong: float
    why: str  #: Name of the reason.
    below: bool = False  #: Whether low values are the bad ones.
    is_mean: bool = False  #: Whether it is a mean over instructions: a good one may hide a bad instruction.
    is_cost: bool = False  #: Whether it is a part of the kernel's time: no other number need tell that it costs time.

    def level(self, value: float) -> int:
        """0 = speaks against, 1 = for it, 2 = strongly for it."""
        if self.below:
            return (value <= self.likely) + (value <= self.strong)
        return (value >= self.likely) + (value >= self.strong)

    @property
    def reason(self) -> str:
        """The reason, as a clause."""
        reasons: dict[str, str] = packaged(_FILE)["reasons"]
        return reasons[self.why]

    @property
    def source(self) -> str:
        """The origin of its numbers."""
        sources: dict[str, str] = packaged(_FILE)["sources"]
        return sources[self.why]


class LimiterRule(Fact, frozen=True):
    """One limit."""

    name: str
    kind: str  #: throughput, waste, latency, occupancy, launch or clock.
    decides: tuple[Threshold, ...]  #: One is enough for the verdict; to exclude it, all that the GPU has are measured.
    instead: tuple[Threshold, ...] = ()  #: Used where none of `decides` was measured; then it is likely at most.
    only_if: tuple[Threshold, ...] = ()  #: Each must hold as well: without it, the limiter costs no time.
    one_of: tuple[Threshold, ...] = ()  #: One of them must hold as well, if there are any.
    signs: tuple[Threshold, ...] = ()  #: Not needed; one that holds makes it more certain, and if none does, less.
    shows: tuple[str, ...] = ()  #: Quantities that go with it as numbers only.
    at_most: str = "at limit"  #: The strongest verdict that it can get.
    needs_sign: bool = False  #: Whether it is no more than likely unless a sign was seen.
    if_nothing_busy: bool = False  #: Whether it does not matter once some unit is at its limit.
    #: Whether it is about counters that a profiler derives: without them it is not mentioned.
    is_optional: bool = False
    gain_part: str = ""  #: Quantity, percent of the time: at most this can be gained.
    gain_rest: str = ""  #: Quantity, percent of a peak: at most the rest of the time can be gained with the same work.
    remedy: str = ""


class Quantity(Fact, frozen=True):
    """One number about one kernel."""

    name: str
    label: str
    unit: str
    share_of: str = ""  #: What it is a percentage of, as it follows the number; empty = the label says it.
    #: Table and name of the metric whose formula it is, before `formula`; empty = `formula`, or computed elsewhere.
    metric: tuple[str, str] = ("", "")
    of_peak: bool = False  #: Whether it is the metric's share of its peak, in percent.
    formula: str = ""
    named: str = ""  #: Name of the auxiliary formula that it is (`facts.metrics.panels.formula_of`).
    #: Table and name of its metric on RDNA, where `formula` would read the counters of CDNA in a wrong way.
    on_rdna: tuple[str, str] = ("", "")
    #: Unit of the two counters of `formula` (100 * part / whole), which are shown with the share; empty = they are not.
    counts: str = ""
    #: Whether more than 100 % cannot be true: then the GPU, its partition or a counter is not what it seems.
    is_bounded: bool = False
    of_one_pass: bool = False  #: Whether it is a difference that counters of two executions do not tell.

    @property
    def digits(self) -> int:
        """Digits after the point that tell something."""
        return {"times": 2, "cycles": 0, "bytes": 0, "lookups": 0}.get(self.unit, 1)


LIMITER_RULES = FactTable(_FILE, LimiterRule, "rules")  #: By the name of the limiter.
QUANTITIES = FactTable(_FILE, Quantity, "quantities")  #: Every quantity, by name.
