"""Stall classes and gaps that have one cause, and are one finding."""

from __future__ import annotations

from dataclasses import dataclass

#: Kinds of producers that are operations of vector memory, as they stand in the names of wait classes.
_MEMORY = ("vector load", "load to LDS", "flat load", "store", "atomic", "sample", "cache")
_PRESSURE = ("VMEM issue", "FLAT issue")
_VECTOR_ARITHMETIC = ("VALU issue", "transcendental issue", "dependency hint", "dependency gap")

#: From this share of time on, the memory pipe pushes back: waits for its operations have the same cause.
PRESSURE_SHARE = 0.05
#: From this share on, cold fetches are part of a cold start.
COLD_SHARE = 0.10
#: Start-up and drain of this share each are the life of a short wave.
SHORT_WAVE_SHARE = 0.10


@dataclass(frozen=True)
class Pool:
    """Causes of lost time that one change would address together."""

    kind: str
    causes: tuple[str, ...]
    name: str = ""  #: Empty = the name of the largest cause.


def is_memory(cause: str) -> bool:
    """True if a stall class is about vector memory: its queue, its loads, its stores.

    >>> is_memory("wait LDS + vector load"), is_memory("wait LDS"), is_memory("FLAT issue")
    (True, False, True)
    """
    if cause in _PRESSURE:
        return True
    return cause.startswith("wait ") and any(kind in _MEMORY for kind in cause.removeprefix("wait ").split(" + "))


def is_spill(cause: str) -> bool:
    """True if a stall class is about scratch memory."""
    return "scratch" in cause


def pools_of(gains: dict[str, float]) -> list[Pool]:
    """Pools of the causes of a trace; `gains` = the share of time that each saves alone.

    >>> [pool.causes for pool in pools_of({"VMEM issue": 0.2, "wait vector load": 0.3, "barrier": 0.1})]
    [('VMEM issue', 'wait vector load'), ('barrier',)]
    """
    memory = tuple(cause for cause in gains if is_memory(cause) and not is_spill(cause))
    spills = tuple(cause for cause in gains if is_spill(cause))
    spills += ("scratch issue",) if spills and "scratch issue" not in spills else ()
    lds = tuple(cause for cause in gains if is_lds(cause))
    arithmetic = tuple(cause for cause in gains if cause in _VECTOR_ARITHMETIC)
    scalar = tuple(cause for cause in gains if cause in ("wait scalar load", "SMEM issue"))
    pools = _memory_pools(memory, gains)
    pools += [
        Pool(kind, causes, name)
        for kind, causes, name in (
            ("memory", spills, "wait scratch"),
            ("wait", lds, ""),
            ("wait", scalar, "wait scalar load"),
            ("dependency", arithmetic, "VALU dependency"),
        )
        if causes
    ]
    pooled = {cause for pool in pools for cause in pool.causes}
    pools += _ends_of_waves({cause: gain for cause, gain in gains.items() if cause not in pooled})
    pooled = {cause for pool in pools for cause in pool.causes}
    return pools + [Pool(_kind(cause), (cause,)) for cause in gains if cause not in pooled]


def _memory_pools(memory: tuple[str, ...], gains: dict[str, float]) -> list[Pool]:
    """One pool where the memory pipe pushes back, else one for each kind of operation that is waited for."""
    pressure = sum(gains[cause] for cause in memory if cause in _PRESSURE)
    if pressure < PRESSURE_SHARE:
        return [Pool("memory", (cause,)) for cause in memory]
    drain = ("store drain",) if "store drain" in gains else ()
    return [Pool("memory", memory + drain)]


def _ends_of_waves(gains: dict[str, float]) -> list[Pool]:
    """Start-up, cold fetches and store drain, as far as no other pool has them."""
    start, cold, drain = (gains.get(cause, 0.0) for cause in ("start-up", "cold instruction fetch", "store drain"))
    if cold >= COLD_SHARE:
        return [Pool("fetch", ("cold instruction fetch", "start-up"), "cold instruction fetch")]
    if start >= SHORT_WAVE_SHARE and drain >= SHORT_WAVE_SHARE:
        return [Pool("wave", ("start-up", "store drain"))]
    return []


def is_lds(cause: str) -> bool:
    """True if a stall class is about LDS alone."""
    return cause == "LDS issue" or (
        cause.startswith("wait ") and set(cause.removeprefix("wait ").split(" + ")) <= {"LDS", "cross-lane"}
    )


def _kind(cause: str) -> str:
    kinds = {
        "barrier": "sync",
        "s_nop": "padding",
        "sleep": "padding",
        "matrix dependency": "dependency",
        "store drain": "memory",
        "start-up": "wave",
        "cold instruction fetch": "fetch",
        "instruction fetch": "fetch",
    }
    return kinds.get(cause, "wait" if cause.startswith("wait ") else "issue")
