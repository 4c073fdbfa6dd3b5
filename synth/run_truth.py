"""Truth about a synthetic run: calls and times by name, and the tree of regions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["RankTruth", "Sums", "SyntheticRun"]


@dataclass(slots=True)
class Sums:
    """Calls and their times.

    Examples
    --------
    >>> sums = Sums()
    >>> sums.add(3)
    >>> sums.add(5)
    >>> sums
    Sums(calls=2, total_ns=8, min_ns=3, max_ns=5)
    """

    calls: int = 0
    total_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0

    def add(self, duration_ns: int) -> None:
        """Count one call."""
        self.min_ns = min(self.min_ns, duration_ns) if self.calls else duration_ns
        self.max_ns = max(self.max_ns, duration_ns)
        self.calls += 1
        self.total_ns += duration_ns

    def join(self, other: Sums) -> Sums:
        """These calls and those of `other`."""
        if not (self.calls and other.calls):
            return self if self.calls else other
        return Sums(
            self.calls + other.calls,
            self.total_ns + other.total_ns,
            min(self.min_ns, other.min_ns),
            max(self.max_ns, other.max_ns),
        )


@dataclass
class RankTruth:
    """The truth about one rank, or about several together. Times are of the clock of its node.

    Examples
    --------
    >>> RankTruth().counts["dispatches"]
    0
    """

    kernels: dict[str, Sums] = field(default_factory=dict)
    """Dispatches by the name of the kernel."""
    copies: dict[str, Sums] = field(default_factory=dict)
    """Copies by direction (MEMORY_COPY_HOST_TO_DEVICE, ...)."""
    copied_bytes: Counter[str] = field(default_factory=Counter)
    allocations: dict[tuple[str, str], Sums] = field(default_factory=dict)
    """By level and type (REAL, ALLOC)."""
    regions: dict[tuple[str, str], Sums] = field(default_factory=dict)
    """Calls and ranges by domain (HIP, HSA, RCCL, MARKER) and shown name."""
    tree: dict[tuple[str, ...], Sums] = field(default_factory=dict)
    """Calls and ranges by the shown names from the outermost to the innermost; times are inclusive."""
    marks: Counter[str] = field(default_factory=Counter)
    """Marks by text."""
    counters: Counter[str] = field(default_factory=Counter)
    """Sums of counter values by counter, over dispatches and instances."""
    collective_wait_ns: int = 0
    """How long its all-reduces ran before the last rank had begun them."""
    counts: Counter[str] = field(default_factory=Counter)
    """Rows of the tables of a `Run`."""
    start_ns: int | None = None
    """Begin of the first event."""
    end_ns: int | None = None
    """End of the last event."""

    def without(self, domain: str) -> RankTruth:
        """The truth when calls of a domain are not recorded; they must not have calls of others inside."""
        gone = {name for region_domain, name in self.regions if region_domain == domain}
        lost = sum(sums.calls for (region_domain, _), sums in self.regions.items() if region_domain == domain)
        remainder = RankTruth(**self.__dict__)
        remainder.regions = {key: sums for key, sums in self.regions.items() if key[0] != domain}
        remainder.tree = {path: sums for path, sums in self.tree.items() if path[-1] not in gone}
        remainder.counts = self.counts.copy()
        remainder.counts["regions"] -= lost
        return remainder


_SUMS = ("kernels", "copies", "allocations", "regions", "tree")
_COUNTERS = ("copied_bytes", "marks", "counters", "counts")


def _joined(ranks: Iterable[RankTruth]) -> RankTruth:
    whole = RankTruth()
    for rank in ranks:
        for name in _SUMS:
            mine = getattr(whole, name)
            for key, sums in getattr(rank, name).items():
                mine[key] = mine.get(key, Sums()).join(sums)
        for name in _COUNTERS:
            getattr(whole, name).update(getattr(rank, name))
        whole.collective_wait_ns += rank.collective_wait_ns
        begins = [time for time in (whole.start_ns, rank.start_ns) if time is not None]
        ends = [time for time in (whole.end_ns, rank.end_ns) if time is not None]
        whole.start_ns, whole.end_ns = min(begins, default=None), max(ends, default=None)
    return whole


@dataclass(frozen=True)
class SyntheticRun:
    """The files of a synthetic run and the truth about each rank.

    Examples
    --------
    >>> SyntheticRun((), (RankTruth(), RankTruth())).total.kernels
    {}
    """

    paths: tuple[Path, ...]
    ranks: tuple[RankTruth, ...]

    @property
    def total(self) -> RankTruth:
        """The truth about all ranks together."""
        return _joined(self.ranks)
