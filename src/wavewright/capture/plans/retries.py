"""Changes after an attempt that is not good: one declared table of rules (retries.toml), tried in order.

The first rule of the verdict that has something new to offer is taken. No request is made twice, but for those that
only wait (hung, busy); every change stays within the limits of the hardware; and the rules end by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from msgspec.structs import replace

from wavewright.base.words import counted
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Counters, Recording, ThreadTraces
from wavewright.capture.plans import choices
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

ATTEMPTS_MAX = 16  #: Of one job, whatever is asked for.
_ONE_PER_XCC = 0x11111111  #: MI300X: eight XCCs of four shader engines (spec 3.3).
_OTHER_CUS = 3  #: So many other CUs are tried where nothing tells on which waves ran.

Offers = Iterator[tuple[Recording, str]]  #: Requests, each with what is changed, as a clause.


@dataclass(frozen=True, kw_only=True)
class Retry:
    """The next attempt."""

    recording: Recording
    why: str  #: What is changed, as a clause.
    pause_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class State:
    """An attempt with its judgement, and the attempts before it."""

    recording: Recording
    judgement: Judgement
    gpu: Gpu | None
    earlier: Sequence[tuple[Recording, Judgement]]

    @property
    def target(self) -> str:
        """The GPU's target; empty = not known."""
        return self.gpu.target if self.gpu else ""

    @property
    def memory_bytes(self) -> int | None:
        """The GPU's memory; None = not known."""
        return self.gpu.memory_bytes if self.gpu else None

    @property
    def traces(self) -> list[ThreadTraces]:
        """Requests for thread traces so far, this one first."""
        requests = (self.recording, *(recording for recording, _ in self.earlier))
        return [recording for recording in requests if isinstance(recording, ThreadTraces)]

    @property
    def tried_mask(self) -> int:
        """Shader engines that were traced in some attempt: a narrower one, on another CU, is not widened again."""
        return reduce(or_, map(_mask, self.traces), 0)

    @property
    def tried_cus(self) -> set[int]:
        """CUs that were traced in some attempt."""
        return {choices.TARGET_CU if trace.target_cu is None else trace.target_cu for trace in self.traces}

    def engine_count(self, recording: ThreadTraces) -> int:
        """Shader engines that a request selects."""
        return max(choices.selected_engines(_mask(recording), self.gpu.se_count if self.gpu else None), 1)

    def buffer(self, recording: ThreadTraces) -> int:
        """The buffer of a request, chosen or told."""
        chosen = choices.chosen_buffer(self.engine_count(recording), self.target, self.memory_bytes)
        return chosen if recording.buffer_bytes is None else recording.buffer_bytes

    def with_engines(self, recording: ThreadTraces, se_mask: int) -> ThreadTraces:
        """Another mask, with a buffer that leaves every shader engine enough."""
        engines = self.engine_count(replace(recording, se_mask=se_mask))
        enough = choices.chosen_buffer(engines, self.target, self.memory_bytes)
        largest = choices.largest_buffer(engines, self.target, self.memory_bytes)
        return replace(recording, se_mask=se_mask, buffer_bytes=min(max(self.buffer(recording), enough), largest))

    def allows(self, recording: Recording) -> bool:
        """True when a buffer is one that the tool and the hardware take."""
        if isinstance(recording, ThreadTraces) and recording.buffer_bytes is not None:
            try:
                choices.check_buffer(recording.buffer_bytes, self.engine_count(recording), self.target)
            except UsageError:
                return False
        return True


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One row of the table: `change` offers requests, of which the first new one is made."""

    verdict: Verdict
    when: str  #: The condition, for the documentation.
    then: str  #: The change, for the documentation.
    messages: frozenset[int]  #: Rows of messages.toml, one of which must have been printed; empty = none need be.
    most: int = ATTEMPTS_MAX  #: Attempts with this verdict after which the rule is not used.
    kind: type  #: Of the recordings that it changes.
    change: Callable[[State, Any], Offers]
    pause_seconds: float = 0.0  #: Above 0 the same request may be made again.


def next_try(
    recording: Recording,
    judgement: Judgement,
    gpu: Gpu | None = None,
    earlier: Sequence[tuple[Recording, Judgement]] = (),
) -> Retry | None:
    """The attempt that follows one with this judgement; None = nothing promises more.

    `earlier` are the attempts before it, each with its request and its judgement.
    """
    state = State(recording=recording, judgement=judgement, gpu=gpu, earlier=earlier)
    if len(earlier) + 1 >= ATTEMPTS_MAX:
        return None
    requests = [recording, *(before for before, _ in earlier)]
    count = sum(before.verdict is judgement.verdict for _, before in earlier)
    message_rows = {cause.number for cause in judgement.causes}
    for rule in RULES:
        if rule.verdict is not judgement.verdict or count >= rule.most or not isinstance(recording, rule.kind):
            continue
        if rule.messages and rule.messages.isdisjoint(message_rows):
            continue
        for request, why in rule.change(state, recording):
            if (rule.pause_seconds or request not in requests) and state.allows(request):
                return Retry(recording=request, why=why, pause_seconds=rule.pause_seconds)
    return None


def _mask(recording: ThreadTraces) -> int:
    return choices.SE_MASK if recording.se_mask is None else recording.se_mask


def _part(state: State) -> str:
    return "CU" if choices.is_gfx9(state.target) else "WGP"


def _bits(numbers: Sequence[int]) -> int:
    return sum(1 << number for number in set(numbers))


# --- the window of a thread trace: these functions get requests for thread traces only ---


def _larger_buffer(state: State, recording: ThreadTraces) -> Offers:
    present = state.buffer(recording)
    largest = choices.largest_buffer(state.engine_count(recording), state.target, state.memory_bytes)
    larger = min(2 * present, largest)
    if larger > present:
        yield replace(recording, buffer_bytes=larger), f"a buffer of {larger // choices.MIB:,} MiB"


def _smaller_buffer(state: State, recording: ThreadTraces) -> Offers:
    smaller = state.buffer(recording) // 2 // choices.PAGE_BYTES * choices.PAGE_BYTES
    yield replace(recording, buffer_bytes=smaller), f"a smaller buffer, {smaller / choices.MIB:,.0f} MiB"


def _fewer_engines(state: State, recording: ThreadTraces) -> Offers:
    """Half of the shader engines: those with waves first."""
    count = state.gpu.se_count if state.gpu else 64
    engines = [bit for bit in range(count) if _mask(recording) >> bit & 1]
    busy = [engine for engine in engines if engine in state.judgement.busy_engines] or engines
    half = busy[: max(len(engines) // 2, 1)]
    if len(half) < len(engines):
        largest = choices.largest_buffer(len(half), state.target, state.memory_bytes)
        fewer = replace(recording, se_mask=_bits(half), buffer_bytes=min(state.buffer(recording), largest))
        yield fewer, f"{counted(len(half), 'shader engines')} instead of {len(engines)}"


def _every_xcc(state: State, recording: ThreadTraces) -> Offers:
    mask, gpu = _ONE_PER_XCC, state.gpu
    if gpu is not None:
        per_xcc = max(gpu.se_count // max(gpu.xcc_count, 1), 1)
        mask = _bits([per_xcc * xcc for xcc in range(gpu.xcc_count)])
    if mask & ~state.tried_mask:
        yield state.with_engines(recording, mask | _mask(recording)), "a shader engine of every XCC"


def _all_engines(state: State, recording: ThreadTraces) -> Offers:
    count = state.gpu.se_count if state.gpu else 0
    if ((1 << count) - 1) & ~state.tried_mask:
        yield state.with_engines(recording, (1 << count) - 1), f"all {count} shader engines"


def _other_simd(state: State, recording: ThreadTraces) -> Offers:
    """RDNA traces one SIMD; waves may have run on another one of the same WGP."""
    for simd in state.judgement.busy_simds if not choices.is_gfx9(state.target) else ():
        yield replace(recording, simds=simd), f"SIMD {simd} of the WGP, where waves were seen"


def _busy_cu(state: State, recording: ThreadTraces) -> Offers:
    mask = _bits(state.judgement.busy_engines) & _mask(recording) or _mask(recording)
    for cu in state.judgement.busy_cus:
        if cu <= choices.TARGET_CU_MAX and cu not in state.tried_cus:
            moved = state.with_engines(replace(recording, target_cu=cu), mask)
            yield moved, f"{_part(state)} {cu}, where waves were seen"


def _busy_cu_here(state: State, recording: ThreadTraces) -> Offers:
    """Trace a CU where waves were seen, if that was on a traced shader engine: no other change promises more."""
    if _bits(state.judgement.busy_engines) & _mask(recording):
        yield from _busy_cu(state, recording)


def _other_cu(state: State, recording: ThreadTraces) -> Offers:
    tried = state.tried_cus
    for cu in range(choices.TARGET_CU_MAX + 1) if not state.judgement.busy_cus and len(tried) <= _OTHER_CUS else ():
        if cu not in tried:
            yield replace(recording, target_cu=cu), f"{_part(state)} {cu}"


def _clipped_launches(state: State, recording: ThreadTraces) -> Offers:
    count = state.judgement.launch_count
    if count and recording.launches and max(recording.launches) > count:
        first = max(count - len(recording.launches) + 1, 1)
        words = f"launches {first} to {count}" if first < count else f"launch {count}"
        yield replace(recording, launches=tuple(range(first, count + 1))), f"{words}, the last that there are"


def _new_discovery(state: State, recording: ThreadTraces) -> Offers:
    """Kernel and launches are looked up anew; a regex that the user wrote stays."""
    if recording.launches and recording.kernel:
        yield replace(recording, kernel_regex="", launches=()), "a new discovery of its kernels and launches"
    elif recording.launches and state.judgement.launch_count is None:
        yield replace(recording, launches=()), "a new discovery of its launches"


def _rarer_counters(state: State, recording: ThreadTraces) -> Offers:
    period, activity = recording.counter_period, recording.activity
    if recording.counters and period and period < choices.PERIOD_MAX:
        period = min(2 * period, choices.PERIOD_MAX)
        yield replace(recording, counter_period=period), f"counters sampled half as often, period {period}"
    if activity and activity < choices.ACTIVITY_MAX:
        activity = min(2 * activity, choices.ACTIVITY_MAX)
        yield replace(recording, activity=activity), f"activity counters sampled half as often, period {activity}"


# --- counters, and waiting ---


def _smaller_passes(state: State, recording: Counters) -> Offers:
    passes: list[tuple[str, ...]] = []
    missing = frozenset(state.judgement.missing)
    for names in recording.passes:
        is_good = bool(missing) and missing.isdisjoint(name.split(":", 1)[0] for name in names)
        half = len(names) if is_good else -(-len(names) // 2)
        passes += [part for part in (names[:half], names[half:]) if part]
    yield replace(recording, passes=tuple(passes)), f"{len(passes)} smaller passes instead of {len(recording.passes)}"


def _again(_state: State, request: Recording) -> Offers:
    yield request, "the same again: it may have been a fault of the moment"


def _again_if_busy(_state: State, request: Recording) -> Offers:
    yield request, "the same again: the GPU was not available"


_OF_TRACES = (
    *(_larger_buffer, _smaller_buffer, _fewer_engines, _every_xcc, _all_engines, _other_simd),
    *(_busy_cu, _busy_cu_here, _other_cu, _clipped_launches, _new_discovery, _rarer_counters),
)
#: Name of a change -> the kind of recording that it changes, and its function.
_CHANGES: dict[str, tuple[type, Callable[[State, Any], Offers]]] = {
    **{change.__name__.removeprefix("_"): (ThreadTraces, change) for change in _OF_TRACES},
    "smaller_passes": (Counters, _smaller_passes),
    "again": (object, _again),
    "again_if_busy": (object, _again_if_busy),
}


def _rule(row: dict[str, Any]) -> Rule:
    kind, change = _CHANGES[row["change"]]
    messages = frozenset(row.get("messages", ()))
    return Rule(**{**row, "verdict": Verdict(row["verdict"]), "messages": messages, "kind": kind, "change": change})


#: The table; rules of one verdict are tried in this order.
RULES: tuple[Rule, ...] = tuple(map(_rule, packaged("retries.toml", __package__)["rule"]))
