"""Share of time that each cause and each pool of causes would save at most, from replays of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.trace.diagnose.replay import Removal, replay
from wavewright.base.toml import packaged
from wavewright.model.trace import ThreadTrace

#: Kinds of producers that are operations of vector memory, as they stand in the names of wait classes.
_MEMORY = ("vector load", "load to LDS", "flat load", "store", "atomic", "sample", "cache")
_PRESSURE = ("VMEM issue", "FLAT issue")  #: Stalls of memory instructions whose pipe takes no more of them.
_VECTOR_ARITHMETIC = ("VALU issue", "transcendental issue", "dependency hint", "dependency gap")

_KINDS: dict[str, str] = packaged("texts.toml", __package__)["kinds"]  #: Cause -> kind of the finding about it alone.

#: Causes that take less than this share of the waves' cycles are not replayed.
_NEGLIGIBLE_SHARE = 0.015
_WORTH_A_LOWER_END = 0.03  #: Pools that gain less than this get no lower end, which costs a replay.
#: From this share of time on, the memory pipe pushes back: waits for its operations have the same cause.
PRESSURE_SHARE = 0.05
#: From this share on, cold fetches are part of a cold start.
COLD_SHARE = 0.10
#: Start-up and drain of this share each are the life of a short wave.
SHORT_WAVE_SHARE = 0.10


@dataclass(frozen=True)
class Pool:
    """Causes of lost time that one change would address together."""

    kind: str  #: Of its finding.
    causes: tuple[str, ...]  #: Stall classes and gaps.
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
    """The kind of the finding that is about one cause alone."""
    return _KINDS.get(cause, "wait" if cause.startswith("wait ") else "issue")


@dataclass(frozen=True)
class PoolGain:
    """Gain of removing a pool, as shares of the time of the traced CUs."""

    pool: Pool
    name: str
    gain_share_min: float  #: With waits that end when their operations are done, and memory as fast as recorded.
    gain_share_max: float  #: With everything else as long as recorded.
    parts: tuple[tuple[str, float], ...]  #: What each cause saves alone, largest first.


@dataclass(frozen=True)
class Gains:
    """Replays of one trace."""

    recorded_cycles: int
    instruction_count: int  #: Replayed instructions.
    pools: tuple[PoolGain, ...]  #: Largest gain first.
    causes: dict[str, float]  #: What each cause saves alone.
    no_issue_shares: dict[str, float]  #: Cause -> share of SIMD time without issue (`Replayed.no_issue_shares`).
    memory_gain_share: float  #: What vector memory and store drain save together.


def gains(
    trace: ThreadTrace,
    cycles: dict[str, int],
    *,
    total_cycles: int,
    left_out: tuple[int, ...] = (),
    rows: tuple[int, ...] = (),
) -> Gains:
    """Replay a trace without each cause in `cycles` (cause -> cycles of all waves) that matters, and without pools.

    `rows` = only what these code rows cost.
    """

    def without(*names: str, keeps_latency: bool = False) -> Removal:
        return Removal(frozenset(names), rows, keeps_latency)

    causes = [cause for cause, spent in cycles.items() if spent >= _NEGLIGIBLE_SHARE * total_cycles and spent > 0]
    alone = {cause: without(cause) for cause in causes}
    memory = without("store drain", *(cause for cause in alone if is_memory(cause)))
    replayed = replay(trace, [memory, *alone.values()], left_out=left_out)
    of_cause = {cause: max(0.0, replayed.gain_share(removal)) for cause, removal in alone.items()}
    pools = pools_of(of_cause)
    removals = {pool: without(*pool.causes) for pool in pools}
    with_latency = {
        pool: without(*pool.causes, keeps_latency=True)
        for pool in pools
        if pool.kind != "memory" and sum(of_cause.get(cause, 0.0) for cause in pool.causes) >= _WORTH_A_LOWER_END
    }
    missing = [removal for removal in removals.values() if removal not in replayed.cycles]
    of_pools = replay(trace, [*missing, *with_latency.values()], left_out=left_out)
    results = []
    for pool in pools:
        with_pool = replayed if removals[pool] in replayed.cycles else of_pools
        most = max(0.0, with_pool.gain_share(removals[pool]))
        least = max(0.0, of_pools.gain_share(with_latency[pool])) if pool in with_latency else 0.0
        parts = sorted(((cause, of_cause.get(cause, 0.0)) for cause in pool.causes), key=lambda part: -part[1])
        results.append(PoolGain(pool, pool.name or parts[0][0], min(least, most), most, tuple(parts)))
    results.sort(key=lambda result: (-result.gain_share_max, result.name))
    memory_gain = max(0.0, replayed.gain_share(memory))
    return Gains(
        recorded_cycles=replayed.recorded_cycles,
        instruction_count=replayed.instruction_count,
        pools=tuple(results),
        causes=of_cause,
        no_issue_shares=replayed.no_issue_shares,
        memory_gain_share=memory_gain,
    )
