"""Caches between compute units and the fabric (chiplets.toml)."""

from __future__ import annotations

from wavewright.errors import UsageError
from wavewright.facts.gpus.facts import of
from wavewright.facts.loader import Fact, FactTable


class CacheFacts(Fact, frozen=True):
    """L2 of one XCD, or of a GPU without XCDs, and what is before and after it."""

    target: str
    line_bytes: int
    l2_bytes: int
    l2_ways: int
    confidence: str  #: counter-proven, published or hypothesis.
    evidence: str
    read_request_bytes: int | None = None  #: From the vector L1; None = requests are not counted here.
    write_request_bytes: int | None = None  #: From the vector L1, which writes through.
    l1_bytes: int | None = None
    l1_ways: int | None = None
    infinity_cache_bytes: int | None = None  #: None = there is none.


_FACTS = FactTable("gpus/chiplets.toml", CacheFacts)


def caches_of(target: str) -> CacheFacts | None:
    """The caches of a target; None = nobody has told them."""
    return _FACTS.get(target.split(":")[0])


def xcd_count(gpu: str, partition: str = "") -> int:
    """XCDs over which the workgroups of a dispatch go round; without a partition, as a new machine has it.

    Raises `UsageError`: the GPU has no such partition.

    >>> xcd_count("MI300X"), xcd_count("MI300A"), xcd_count("gfx942", "CPX"), xcd_count("gfx1100")
    (8, 6, 1, 1)
    """
    by_partition = of(gpu).product.xcds_per_partition
    if partition and partition.upper() not in by_partition:
        partitions = ", ".join(by_partition) or "it has one partition"
        raise UsageError(f"{gpu} has no partition {partition[:20]!r}", advice=f"known: {partitions}")
    return by_partition[partition.upper()] if partition else max(by_partition.values(), default=1)
