"""What to change when an attempt is not good: one declared table of rules (retries.toml), tried in order.

The first rule of the verdict that has something new to offer is taken. No request is made twice, but for those that
only wait (hung, busy); every change stays within the limits of the hardware; and the rules end by themselves.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.plans.buffers import (
    MIB,
    check_buffer,
    chosen_buffer,
    is_gfx9,
    largest_buffer,
    selected_engines,
)
from wavewright.capture.wanted import Counters, ThreadTraces, Wanted
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.capture.gpus.gpu import Gpu

ATTEMPTS_MAX = 16  #: Of one job, whatever is asked for.
DEFAULT_CU, DEFAULT_SE_MASK = 1, 0x1  #: rocprofv3's own (spec 1.5).
_ONE_PER_XCC = 0x11111111  #: MI300X: eight XCCs of four shader engines (spec 3.3).
_CU_MAX = 15
_OTHER_CUS = 3  #: CUs that are tried blindly.
_PERIOD_MAX, _ACTIVITY_MAX = 32, 16
_TOO_LARGE = frozenset({7, 10, 90})  #: Rows of messages.toml about a buffer that is refused,
_TOO_SMALL = frozenset({89})  #: that is too small,
_TOO_MANY_COUNTERS = frozenset({17, 18})  #: about counters that do not fit,
_BUSY = frozenset({27, 33})  #: and about a GPU that somebody else holds just now.


@dataclass(frozen=True, kw_only=True)
class Retry:
    """The next attempt."""

    wanted: Wanted
    why: str  #: What is changed, as a clause.
    pause_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known after an attempt."""

    wanted: Wanted
    judgement: Judgement
    gpu: Gpu | None
    earlier: Sequence[tuple[Wanted, Judgement]]

    @property
    def target(self) -> str:
        """The GPU's target; empty = not known."""
        return self.gpu.target if self.gpu else ""

    def count(self, verdict: Verdict) -> int:
        """Earlier attempts with a verdict."""
        return sum(judgement.verdict is verdict for _, judgement in self.earlier)


Change = Callable[[State], Iterator[tuple[Wanted, str]]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One row of the table: `change` offers requests, of which the first new one is made."""

    verdict: Verdict
    when: str  #: The condition, for the documentation.
    then: str  #: The change, for the documentation.
    most: int  #: Attempts with this verdict after which the rule is not used.
    change: Change
    pause_seconds: float = 0.0  #: Above 0 the same request may be made again.


def next_try(
    wanted: Wanted,
    judgement: Judgement,
    gpu: Gpu | None = None,
    earlier: Sequence[tuple[Wanted, Judgement]] = (),
) -> Retry | None:
    """The attempt that follows one with this judgement; None = nothing promises more.

    `earlier` are the attempts before it, each with what was wanted and its judgement.
    """
    state = State(wanted=wanted, judgement=judgement, gpu=gpu, earlier=earlier)
    if len(earlier) + 1 >= ATTEMPTS_MAX:
        return None
    requests = [wanted, *(before for before, _ in earlier)]
    for rule in RULES:
        if rule.verdict is not judgement.verdict or state.count(rule.verdict) >= rule.most:
            continue
        for request, why in rule.change(state):
            if (rule.pause_seconds or request not in requests) and _is_allowed(request, gpu):
                return Retry(wanted=request, why=why, pause_seconds=rule.pause_seconds)
    return None


def _is_allowed(wanted: Wanted, gpu: Gpu | None) -> bool:
    if not isinstance(wanted, ThreadTraces) or wanted.buffer_bytes is None:
        return True
    try:
        check_buffer(wanted.buffer_bytes, _engine_count(wanted, gpu), gpu.target if gpu else "")
    except UsageError:
        return False
    return True


# --- the window of a thread trace ---


def _mask(wanted: ThreadTraces) -> int:
    return DEFAULT_SE_MASK if wanted.se_mask is None else wanted.se_mask


def _engine_count(wanted: ThreadTraces, gpu: Gpu | None) -> int:
    return max(selected_engines(_mask(wanted), gpu.se_count if gpu else None), 1)


def _buffer(wanted: ThreadTraces, gpu: Gpu | None) -> int:
    if wanted.buffer_bytes is not None:
        return wanted.buffer_bytes
    memory = gpu.memory_bytes if gpu else None
    return chosen_buffer(_engine_count(wanted, gpu), gpu.target if gpu else "", memory)


def _largest(engines: int, gpu: Gpu | None) -> int:
    return largest_buffer(engines, gpu.target if gpu else "", gpu.memory_bytes if gpu else None)


def _with_engines(wanted: ThreadTraces, se_mask: int, gpu: Gpu | None) -> ThreadTraces:
    """Another mask, with a buffer that leaves every shader engine enough."""
    changed = replace(wanted, se_mask=se_mask)
    engines = _engine_count(changed, gpu)
    memory = gpu.memory_bytes if gpu else None
    enough = chosen_buffer(engines, gpu.target if gpu else "", memory)
    buffer_bytes = min(max(_buffer(wanted, gpu), enough), _largest(engines, gpu))
    return replace(changed, buffer_bytes=buffer_bytes)


def _larger_buffer(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted = state.wanted
    if isinstance(wanted, ThreadTraces):
        present = _buffer(wanted, state.gpu)
        larger = min(2 * present, _largest(_engine_count(wanted, state.gpu), state.gpu))
        if larger > present:
            yield replace(wanted, buffer_bytes=larger), f"a buffer of {larger // MIB:,} MiB"


def _smaller_buffer(state: State) -> Iterator[tuple[Wanted, str]]:
    if not isinstance(state.wanted, ThreadTraces) or not _TOO_LARGE & _numbers(state.judgement):
        return
    smaller = _buffer(state.wanted, state.gpu) // 2 // 4096 * 4096
    yield replace(state.wanted, buffer_bytes=smaller), f"a smaller buffer, {smaller / MIB:,.0f} MiB"


def _enough_buffer(state: State) -> Iterator[tuple[Wanted, str]]:
    if _TOO_SMALL & _numbers(state.judgement):
        yield from _larger_buffer(state)


def _fewer_engines(state: State) -> Iterator[tuple[Wanted, str]]:
    """Half of the shader engines: those with waves first."""
    wanted = state.wanted
    if not isinstance(wanted, ThreadTraces):
        return
    count = state.gpu.se_count if state.gpu else 64
    engines = [bit for bit in range(count) if _mask(wanted) >> bit & 1]
    busy = [engine for engine in engines if engine in state.judgement.busy_engines] or engines
    half = busy[: max(len(engines) // 2, 1)]
    if len(half) < len(engines):
        fewer = replace(
            wanted, se_mask=_bits(half), buffer_bytes=min(_buffer(wanted, state.gpu), _largest(len(half), state.gpu))
        )
        yield fewer, f"{counted(len(half), 'shader engines')} instead of {len(engines)}"


def _bits(numbers: Sequence[int]) -> int:
    return sum(1 << number for number in set(numbers))


def _every_xcc(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted, gpu = state.wanted, state.gpu
    if not isinstance(wanted, ThreadTraces):
        return
    mask = _ONE_PER_XCC
    if gpu is not None:
        per_xcc = max(gpu.se_count // max(gpu.xcc_count, 1), 1)
        mask = _bits([per_xcc * xcc for xcc in range(gpu.xcc_count)])
    if mask & ~_tried_mask(state):
        yield _with_engines(wanted, mask | _mask(wanted), gpu), "a shader engine of every XCC"


def _all_engines(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted, gpu = state.wanted, state.gpu
    if not isinstance(wanted, ThreadTraces) or gpu is None or not gpu.se_count:
        return
    mask = (1 << gpu.se_count) - 1
    if mask & ~_tried_mask(state):
        yield _with_engines(wanted, mask, gpu), f"all {gpu.se_count} shader engines"


def _other_simd(state: State) -> Iterator[tuple[Wanted, str]]:
    """RDNA traces one SIMD; waves may have run on another one of the same WGP."""
    if isinstance(state.wanted, ThreadTraces) and not is_gfx9(state.target):
        for simd in state.judgement.busy_simds:
            yield replace(state.wanted, simds=simd), f"SIMD {simd} of the WGP, where waves were seen"


def _busy_cu(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted, judgement = state.wanted, state.judgement
    if not isinstance(wanted, ThreadTraces):
        return
    part = "CU" if is_gfx9(state.target) else "WGP"
    mask = _bits(judgement.busy_engines) & _mask(wanted) or _mask(wanted)
    for cu in judgement.busy_cus:
        if cu <= _CU_MAX and cu not in _tried_cus(state):
            yield _with_engines(replace(wanted, target_cu=cu), mask, state.gpu), f"{part} {cu}, where waves were seen"


def _busy_cu_here(state: State) -> Iterator[tuple[Wanted, str]]:
    """The same, where waves were seen on a shader engine that was traced: no other change promises more."""
    if isinstance(state.wanted, ThreadTraces) and _bits(state.judgement.busy_engines) & _mask(state.wanted):
        yield from _busy_cu(state)


def _other_cu(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted = state.wanted
    tried = _tried_cus(state)
    if isinstance(wanted, ThreadTraces) and not state.judgement.busy_cus and len(tried) <= _OTHER_CUS:
        part = "CU" if is_gfx9(state.target) else "WGP"
        for cu in range(_CU_MAX + 1):
            if cu not in tried:
                yield replace(wanted, target_cu=cu), f"{part} {cu}"


def _tried(state: State) -> Iterator[ThreadTraces]:
    for wanted in (state.wanted, *(before for before, _ in state.earlier)):
        if isinstance(wanted, ThreadTraces):
            yield wanted


def _tried_mask(state: State) -> int:
    """Shader engines that were traced in some attempt: a narrower one, on another CU, is not widened again."""
    mask = 0
    for wanted in _tried(state):
        mask |= _mask(wanted)
    return mask


def _tried_cus(state: State) -> set[int]:
    return {DEFAULT_CU if wanted.target_cu is None else wanted.target_cu for wanted in _tried(state)}


# --- launches ---


def _clipped_launches(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted, count = state.wanted, state.judgement.launch_count
    if isinstance(wanted, ThreadTraces) and count and wanted.launches and max(wanted.launches) > count:
        first = max(count - len(wanted.launches) + 1, 1)
        launches = tuple(range(first, count + 1))
        words = f"launches {first} to {count}" if first < count else f"launch {count}"
        yield replace(wanted, launches=launches), f"{words}, the last that there are"


def _new_discovery(state: State) -> Iterator[tuple[Wanted, str]]:
    """Kernel and launches are looked up anew; a regex that the user wrote stays."""
    wanted = state.wanted
    if not isinstance(wanted, ThreadTraces) or not wanted.launches:
        return
    if wanted.kernel:
        yield replace(wanted, kernel_regex="", launches=()), "a new discovery of its kernels and launches"
    elif state.judgement.launch_count is None:
        yield replace(wanted, launches=()), "a new discovery of its launches"


# --- counters ---


def _rarer_counters(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted = state.wanted
    if not isinstance(wanted, ThreadTraces):
        return
    if wanted.counters and wanted.counter_period and wanted.counter_period < _PERIOD_MAX:
        period = min(2 * wanted.counter_period, _PERIOD_MAX)
        yield replace(wanted, counter_period=period), f"counters sampled half as often, period {period}"
    if wanted.activity and wanted.activity < _ACTIVITY_MAX:
        period = min(2 * wanted.activity, _ACTIVITY_MAX)
        yield replace(wanted, activity=period), f"activity counters sampled half as often, period {period}"


def _smaller_passes(state: State) -> Iterator[tuple[Wanted, str]]:
    wanted = state.wanted
    if not isinstance(wanted, Counters) or not _TOO_MANY_COUNTERS & _numbers(state.judgement):
        return
    passes: list[tuple[str, ...]] = []
    missing = frozenset(state.judgement.missing)
    for names in wanted.passes:
        is_good = bool(missing) and missing.isdisjoint(name.split(":", 1)[0] for name in names)
        half = len(names) if is_good else -(-len(names) // 2)
        passes += [part for part in (names[:half], names[half:]) if part]
    yield replace(wanted, passes=tuple(passes)), f"{len(passes)} smaller passes instead of {len(wanted.passes)}"


# --- waiting ---


def _again(state: State) -> Iterator[tuple[Wanted, str]]:
    yield state.wanted, "the same again: it may have been a fault of the moment"


def _again_if_busy(state: State) -> Iterator[tuple[Wanted, str]]:
    if _BUSY & _numbers(state.judgement):
        yield state.wanted, "the same again: the GPU was not available"


def _numbers(judgement: Judgement) -> frozenset[int]:
    return frozenset(cause.number for cause in judgement.causes)


_CHANGES: dict[str, Change] = {
    change.__name__.removeprefix("_"): change
    for change in (
        *(_larger_buffer, _smaller_buffer, _enough_buffer, _fewer_engines, _every_xcc, _all_engines, _other_simd),
        *(_busy_cu, _busy_cu_here, _other_cu, _clipped_launches, _new_discovery, _rarer_counters, _smaller_passes),
        *(_again, _again_if_busy),
    )
}


def _rule(row: dict[str, Any]) -> Rule:
    verdict, change = Verdict(row.pop("verdict")), _CHANGES[row.pop("change")]
    return Rule(**{"most": ATTEMPTS_MAX, **row}, verdict=verdict, change=change)


#: The table; rules of one verdict are tried in this order.
RULES: tuple[Rule, ...] = tuple(
    map(_rule, tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["rule"])
)
