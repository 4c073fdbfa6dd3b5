"""Share of time that each cause and each pool of causes would save at most, from replays of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.trace.diagnose.pools import Pool, is_memory, pools_of
from wavewright.analysis.trace.diagnose.replay import Removal, replay
from wavewright.model.trace import ThreadTrace

#: Causes that take less than this share of the waves' cycles are not replayed.
_NEGLIGIBLE_SHARE = 0.015
_WORTH_A_LOWER_END = 0.03  #: Gains below this share get no lower end.


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
    more = replay(trace, [*missing, *with_latency.values()], left_out=left_out)
    results = []
    for pool in pools:
        best = replayed if removals[pool] in replayed.cycles else more
        most = max(0.0, best.gain_share(removals[pool]))
        least = max(0.0, more.gain_share(with_latency[pool])) if pool in with_latency else 0.0
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
