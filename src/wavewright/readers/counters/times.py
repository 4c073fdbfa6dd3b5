"""Times of dispatches. Passes are different executions, so one of them speaks for all, or their median."""

from __future__ import annotations

from collections.abc import Sequence

from wavewright.model.losses import Loss
from wavewright.readers.counters.execution import Pass

Span = tuple[float | None, float | None]


def origin_of(passes: Sequence[Pass]) -> int:
    """The earliest start of all passes in integer ns; 0 = none is recorded."""
    starts = [pass_.rows["start_ns"].min() for pass_ in passes]
    return int(min((start for start in starts if isinstance(start, int | float)), default=0))


def relative(pass_: Pass, origin: int) -> list[Span]:
    """Start and end of each row since the origin, exact although clocks have more digits than Float64."""
    begins, ends = ((pass_.rows[name] - origin).to_list() for name in ("start_ns", "end_ns"))
    return list(zip(begins, ends, strict=True))


def dispatch_times(
    passes: Sequence[Pass], dispatch_of: Sequence[Sequence[int]], spans: Sequence[Sequence[Span]], count: int
) -> tuple[list[Span], list[Loss]]:
    """Start and end of each dispatch; no end where no pass says one after the start.

    The pass without counters speaks first, then a file that joins passes and averages their times; else the first
    start and the median duration over all values that were measured.
    """
    times: list[Span] = [(None, None)] * count
    loose: dict[int, list[tuple[float, float, int]]] = {}
    for rank in (0, 1, 2):
        for pass_, dispatches, pass_spans in zip(passes, dispatch_of, spans, strict=True):
            if rank != (2 if pass_.counters and not pass_.is_joined else int(pass_.is_joined)):
                continue
            for dispatch, (begin, end) in zip(dispatches, pass_spans, strict=True):
                if times[dispatch][1] is not None or begin is None:
                    continue
                if end is None or end <= begin:
                    times[dispatch] = (times[dispatch][0] if times[dispatch][0] is not None else begin, None)
                elif rank < 2:
                    times[dispatch] = (begin, end)
                else:
                    loose.setdefault(dispatch, []).append((begin, end - begin, len(pass_.counters)))
    for dispatch, executions in loose.items():
        begin = min(begin for begin, _, _ in executions)
        times[dispatch] = (begin, begin + _median([(length, weight) for _, length, weight in executions]))
    return times, _lost(times)


def _lost(times: Sequence[Span]) -> list[Loss]:
    without = sum(begin is None for begin, _ in times)
    unsound = sum(begin is not None and end is None for begin, end in times)
    losses = [Loss("no_times", without, detail="the files have no timestamps of them")] if without else []
    return [*losses, Loss("counter_times", unsound)] if unsound else losses


def _median(pairs: list[tuple[float, int]]) -> float:
    """As if each length stood there as often as its weight says."""
    total = sum(weight for _, weight in pairs)
    low, high, weight_below = None, None, 0
    for length, weight in sorted(pairs):
        weight_below += weight
        if low is None and 2 * weight_below >= total:
            low = length
        if 2 * weight_below > total:
            high = length
            break
    return ((low or 0) + (high if high is not None else low or 0)) / 2
