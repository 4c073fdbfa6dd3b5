"""What follows an attempt that is not good: rule by rule, to the end, and on a stand-in for the hardware."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from synth.profiler_output import KERNEL, make_templates, outcome, write_kernel_trace, write_thread_trace
from tests.unit.capture.verdicts.attempts import WELL, attempt_in
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.judgement import Cause, Judgement, Verdict
from wavewright.capture.kinds import Counters, Discovery, Recording, Samples, ThreadTraces
from wavewright.capture.plans.choices import check_buffer, engine_bytes, engine_bytes_limit, selected_engines
from wavewright.capture.plans.retries import ATTEMPTS_MAX, RULES, Retry, next_try
from wavewright.capture.rocprofv3.messages import cause_of
from wavewright.capture.verdicts import judge

MIB = 1 << 20
NAMED = {"program": ("app",), "kernel_regex": "saxpy", "launches": (7, 8)}


def gpu(target: str = "gfx942", *, engines: int = 32, xccs: int = 8, memory_gib: int = 192) -> Gpu:
    return Gpu(
        index=0, node=1, gpu_id=1, target=target, cu_count=304, se_count=engines, xcc_count=xccs, simds_per_cu=4,
        waves_per_simd=8, wave_size=64, memory_bytes=memory_gib << 30,
    )  # fmt: skip


MI300X = gpu()
W7900 = gpu("gfx1100", engines=6, xccs=1, memory_gib=48)


def judged(verdict: Verdict, *numbers: int, **facts: object) -> Judgement:
    causes = tuple(cause_of(number) for number in numbers)
    return Judgement(verdict=verdict, reasons=("because",), causes=causes, **facts)  # type: ignore[arg-type]


def traces(**settings: object) -> ThreadTraces:
    return ThreadTraces(**{**NAMED, **settings})  # type: ignore[arg-type]


def then(
    recording: Recording, judgement: Judgement, on: Gpu | None = MI300X, *earlier: tuple[Recording, Judgement]
) -> Retry:
    retry = next_try(recording, judgement, on, earlier)
    assert retry is not None
    return retry


def trace_after(recording: Recording, judgement: Judgement, on: Gpu | None = MI300X) -> ThreadTraces:
    request = then(recording, judgement, on).recording
    assert isinstance(request, ThreadTraces)
    return request


# One rule after the other


def test_truncated_doubles_the_buffer_up_to_the_cap() -> None:
    recording = traces(se_mask=1, buffer_bytes=512 * MIB)
    assert trace_after(recording, judged(Verdict.TRUNCATED)).buffer_bytes == 1024 * MIB
    assert then(recording, judged(Verdict.TRUNCATED)).why == "a buffer of 1,024 MiB"
    assert (
        trace_after(replace(recording, buffer_bytes=1536 * MIB), judged(Verdict.TRUNCATED)).buffer_bytes == 2048 * MIB
    )
    assert next_try(replace(recording, buffer_bytes=2048 * MIB), judged(Verdict.TRUNCATED), MI300X) is None


def test_truncated_at_the_cap_halves_the_shader_engines_and_keeps_those_with_waves() -> None:
    recording = traces(se_mask=0xFF, buffer_bytes=2048 * MIB)
    assert trace_after(recording, judged(Verdict.TRUNCATED)).se_mask == 0x0F
    assert trace_after(recording, judged(Verdict.TRUNCATED, busy_engines=(5, 6))).se_mask == 0x60
    assert trace_after(recording, judged(Verdict.TRUNCATED, busy_engines=tuple(range(8)))).se_mask == 0x0F


def test_truncated_on_gfx11_stays_below_512_mib_per_engine() -> None:
    larger = trace_after(traces(se_mask=1, buffer_bytes=256 * MIB), judged(Verdict.TRUNCATED), W7900)
    assert larger.buffer_bytes == 512 * MIB - 4096
    assert next_try(larger, judged(Verdict.TRUNCATED), W7900) is None


def test_truncated_takes_no_more_than_half_of_the_memory() -> None:
    small = gpu("gfx942", memory_gib=1)
    larger = trace_after(traces(se_mask=1, buffer_bytes=384 * MIB), judged(Verdict.TRUNCATED), small)
    assert larger.buffer_bytes == 512 * MIB


def test_empty_goes_to_every_xcc_then_to_all_engines_then_to_where_waves_were_seen() -> None:
    empty = judged(Verdict.EMPTY, busy_engines=(5, 9), busy_cus=(0, 6))
    one = traces(se_mask=1, target_cu=1, buffer_bytes=256 * MIB)
    every = trace_after(one, empty)
    assert every.se_mask == 0x11111111
    assert every.buffer_bytes == 512 * MIB  # 64 MiB for each of eight
    everything = trace_after(every, empty)
    assert everything.se_mask == 0xFFFFFFFF
    assert everything.buffer_bytes == 2048 * MIB
    busy = trace_after(everything, empty)
    assert (busy.target_cu, busy.se_mask) == (0, 1 << 5 | 1 << 9)
    next_busy = next_try(busy, empty, MI300X, [(everything, empty)])
    assert next_busy is not None
    assert isinstance(next_busy.recording, ThreadTraces)
    assert next_busy.recording.target_cu == 6
    assert next_try(next_busy.recording, empty, MI300X, [(everything, empty), (busy, empty)]) is None


def test_empty_first_goes_to_a_cu_of_the_same_engine_where_waves_were_seen() -> None:
    recording = traces(se_mask=1, target_cu=1, buffer_bytes=256 * MIB)
    request = trace_after(recording, judged(Verdict.EMPTY, busy_engines=(0,), busy_cus=(3, 6)))
    assert (request.target_cu, request.se_mask, request.buffer_bytes) == (3, 1, 256 * MIB)


def test_empty_on_rdna_first_takes_the_simd_where_waves_were_seen() -> None:
    recording = traces(se_mask=0x3F, target_cu=1, simds=0, buffer_bytes=256 * MIB)
    request = trace_after(
        recording, judged(Verdict.EMPTY, busy_simds=(2, 3), busy_cus=(1, 2), busy_engines=(0,)), W7900
    )
    assert (request.simds, request.target_cu) == (2, 1)


def test_empty_without_any_wave_tries_a_few_cus_and_ends() -> None:
    earlier: list[tuple[Recording, Judgement]] = []
    recording: Recording = traces(se_mask=0xFFFFFFFF, target_cu=1, buffer_bytes=2048 * MIB)
    empty = judged(Verdict.EMPTY)
    while (retry := next_try(recording, empty, MI300X, earlier)) is not None:
        earlier.append((recording, empty))
        recording = retry.recording
    cus = [w.target_cu for w, _ in [*earlier, (recording, empty)] if isinstance(w, ThreadTraces)]
    assert cus == [1, 0, 2, 3]


def test_no_dispatch_clips_the_launches_once() -> None:
    none = judged(Verdict.NO_DISPATCH, launch_count=3)
    assert trace_after(traces(), none).launches == (2, 3)
    assert trace_after(traces(launches=(9,)), none).launches == (3,)
    assert next_try(traces(launches=(2, 3)), none, MI300X, [(traces(), none)]) is None


def test_no_dispatch_discovers_again_what_a_discovery_chose() -> None:
    by_name = traces(kernel="saxpy")
    assert trace_after(by_name, judged(Verdict.NO_DISPATCH, launch_count=0)).launches == ()
    assert trace_after(by_name, judged(Verdict.NO_DISPATCH, launch_count=0)).kernel_regex == ""
    unknown = trace_after(traces(), judged(Verdict.NO_DISPATCH))
    assert (unknown.launches, unknown.kernel_regex) == ((), "saxpy")
    assert next_try(traces(), judged(Verdict.NO_DISPATCH, launch_count=0), MI300X) is None  # the user's own regex


def test_incomplete_traces() -> None:
    assert trace_after(traces(), judged(Verdict.INCOMPLETE, launch_count=7)).launches == (6, 7)
    assert trace_after(traces(se_mask=1), judged(Verdict.INCOMPLETE, launch_count=9)).se_mask == 0x11111111


def test_lossy_changes_one_thing_once() -> None:
    lossy = judged(Verdict.LOSSY, busy_engines=(0, 1))
    counters = traces(counters=("SQ_WAVES",), counter_period=8, se_mask=3, buffer_bytes=256 * MIB)
    assert trace_after(counters, lossy).counter_period == 16
    assert trace_after(replace(counters, counter_period=20), lossy).counter_period == 32
    assert trace_after(replace(counters, counter_period=32), lossy).se_mask == 1
    assert trace_after(traces(activity=4), lossy).activity == 8
    assert trace_after(traces(se_mask=0xF, buffer_bytes=256 * MIB), lossy).se_mask == 0x3
    assert next_try(counters, lossy, MI300X, [(traces(), lossy)]) is None
    assert next_try(traces(se_mask=1), lossy, MI300X) is None


@pytest.mark.parametrize("recording", [traces(), Discovery(program=("app",)), Samples(program=("app",))])
def test_hung_is_tried_once_more_after_a_pause(recording: Recording) -> None:
    hung = judged(Verdict.HUNG)
    retry = then(recording, hung)
    assert (retry.recording, retry.pause_seconds) == (recording, 10.0)
    assert next_try(recording, hung, MI300X, [(recording, hung)]) is None


def test_refused_buffers() -> None:
    recording = traces(se_mask=1, buffer_bytes=1024 * MIB)
    assert trace_after(recording, judged(Verdict.REFUSED, 7)).buffer_bytes == 512 * MIB
    assert trace_after(recording, judged(Verdict.REFUSED, 90)).buffer_bytes == 512 * MIB
    assert trace_after(recording, judged(Verdict.REFUSED, 89)).buffer_bytes == 2048 * MIB
    assert next_try(traces(se_mask=0xFF, buffer_bytes=MIB), judged(Verdict.REFUSED, 7), MI300X) is None


def test_refused_counters_are_split() -> None:
    recording = Counters(program=("app",), passes=(("A", "B", "C"), ("D",)))
    request = then(recording, judged(Verdict.REFUSED, 17)).recording
    assert isinstance(request, Counters)
    assert request.passes == (("A", "B"), ("C",), ("D",))
    part = then(recording, judged(Verdict.INCOMPLETE, 17, missing=("B",))).recording
    assert isinstance(part, Counters)
    assert part.passes == (("A", "B"), ("C",), ("D",))
    two = Counters(program=("app",), passes=(("A", "B"), ("C:device=0", "D")))
    late = then(two, judged(Verdict.INCOMPLETE, 17, missing=("C", "D"))).recording
    assert isinstance(late, Counters)
    assert late.passes == (("A", "B"), ("C:device=0",), ("D",))
    assert next_try(two, judged(Verdict.INCOMPLETE, missing=("C",)), MI300X) is None
    single = Counters(program=("app",), passes=(("A",),))
    assert next_try(single, judged(Verdict.REFUSED, 17), MI300X) is None


@pytest.mark.parametrize("numbers", [(), (1,), (4,), (54,), (74,), (82,), (83,), (98,), (99,)])
def test_usage_errors_are_never_retried(numbers: tuple[int, ...]) -> None:
    assert next_try(traces(), judged(Verdict.REFUSED, *numbers), MI300X) is None


@pytest.mark.parametrize("verdict", [Verdict.GOOD, Verdict.FAILED, Verdict.INTERRUPTED, Verdict.NOT_COUNTED])
def test_verdicts_without_a_rule(verdict: Verdict) -> None:
    assert next_try(traces(), judged(verdict), MI300X) is None
    assert verdict not in {rule.verdict for rule in RULES}


# To the end, from any state


@st.composite
def judgements(draw: st.DrawFn) -> Judgement:
    numbers = draw(st.lists(st.sampled_from([7, 10, 17, 18, 27, 33, 82, 89, 90, 98]), max_size=2, unique=True))
    few = st.lists(st.integers(0, 31), max_size=4, unique=True).map(tuple)
    causes: tuple[Cause, ...] = tuple(cause_of(number) for number in numbers)
    return Judgement(
        verdict=draw(st.sampled_from(list(Verdict))),
        reasons=("because",),
        causes=causes,
        busy_engines=draw(few),
        busy_cus=draw(few),
        busy_simds=draw(st.lists(st.integers(0, 3), max_size=2, unique=True).map(tuple)),
        launch_count=draw(st.none() | st.integers(0, 20)),
    )


@st.composite
def requests(draw: st.DrawFn) -> tuple[ThreadTraces, Gpu | None]:
    target, engines, xccs = draw(
        st.sampled_from([("gfx942", 32, 8), ("gfx90a", 8, 1), ("gfx1100", 6, 1), ("gfx1201", 4, 1), ("gfx1030", 4, 1)])
    )
    memory = draw(st.integers(1, 288))
    on = draw(st.none() | st.just(gpu(target, engines=engines, xccs=xccs, memory_gib=memory)))
    mask = draw(st.integers(1, (1 << engines) - 1))
    count, name = selected_engines(mask, on.se_count if on else None), on.target if on else ""
    least = max(MIB, count * (128 << 10) + (64 * 4096 if name.startswith(("gfx10", "gfx11")) else 0))
    most = min(4096 * MIB, count * (engine_bytes_limit(name) - 4096))
    recording = traces(
        se_mask=draw(st.none() | st.just(mask)),
        buffer_bytes=draw(st.none() | st.integers(least // 4096, most // 4096).map(lambda pages: pages * 4096)),
        target_cu=draw(st.none() | st.integers(0, 15)),
        simds=draw(st.none() | st.integers(0, 3)),
        launches=tuple(draw(st.lists(st.integers(1, 20), max_size=3, unique=True))),
        counters=draw(st.sampled_from([(), ("SQ_WAVES",)])),
        counter_period=draw(st.none() | st.integers(1, 32)),
        activity=draw(st.none() | st.integers(1, 16)),
        kernel=draw(st.sampled_from(["", "saxpy"])),
    )
    return recording, on


@given(requests(), st.data())
def test_it_ends_never_repeats_and_keeps_to_the_limits(
    start: tuple[ThreadTraces, Gpu | None], data: st.DataObject
) -> None:
    recording, on = start
    earlier: list[tuple[Recording, Judgement]] = []
    pauses = 0
    request: Recording = recording
    for _ in range(ATTEMPTS_MAX + 1):
        judgement = data.draw(judgements())
        retry = next_try(request, judgement, on, earlier)
        if retry is None:
            break
        earlier.append((request, judgement))
        if retry.pause_seconds:
            pauses += 1
            assert retry.recording == request
        else:
            assert retry.recording not in [before for before, _ in earlier]
        assert isinstance(retry.recording, ThreadTraces)
        assert retry.why
        _assert_within_limits(retry.recording, on)
        request = retry.recording
    else:
        pytest.fail("it does not end")
    assert len(earlier) < ATTEMPTS_MAX
    assert pauses <= 2


def _assert_within_limits(recording: ThreadTraces, on: Gpu | None) -> None:
    """Spec 3.2, computed here again."""
    target = on.target if on else ""
    mask = 1 if recording.se_mask is None else recording.se_mask
    count = selected_engines(mask, on.se_count if on else None) or 1
    assert mask > 0
    assert on is None or mask < 1 << max(on.se_count, 32)
    if recording.buffer_bytes is not None:
        each = engine_bytes(recording.buffer_bytes, count, target)
        assert recording.buffer_bytes >= 1 << 20
        assert 128 << 10 <= each < (512 << 20 if target.startswith("gfx11") else 16 << 30)
        check_buffer(recording.buffer_bytes, count, target)
    assert recording.target_cu is None or 0 <= recording.target_cu <= 15
    assert all(launch >= 1 for launch in recording.launches)
    assert recording.counter_period is None or 1 <= recording.counter_period <= 32
    assert recording.activity is None or 1 <= recording.activity <= 16


@given(judgements(), st.sampled_from([Discovery(program=("a",)), Samples(program=("a",))]))
def test_other_kinds_only_wait(judgement: Judgement, recording: Recording) -> None:
    retry = next_try(recording, judgement, MI300X)
    assert retry is None or (retry.recording == recording and retry.pause_seconds > 0)


# The whole loop: a stand-in for the hardware, judged by the data that it leaves


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"))


def _variables(recording: ThreadTraces) -> dict[str, str]:
    values = {
        "SHADER_ENGINE_MASK": recording.se_mask,
        "BUFFER_SIZE": recording.buffer_bytes,
        "TARGET_CU": recording.target_cu,
        "PERFCOUNTER_CTRL": recording.counter_period,
    }
    return {f"ROCPROF_ATT_PARAM_{name}": hex(value) for name, value in values.items() if value is not None}


def _loop(
    templates: Path, folder: Path, recording: ThreadTraces, attempts: int = 6, **hardware: object
) -> list[Verdict]:
    """Verdicts of one attempt after the other."""
    earlier: list[tuple[Recording, Judgement]] = []
    request: Recording = recording
    for number in range(attempts):
        assert isinstance(request, ThreadTraces)
        attempt = attempt_in(folder / str(number))
        engines, kinds = outcome(_variables(request), **hardware)  # type: ignore[arg-type]
        write_thread_trace(templates, attempt / "raw", engines=engines, kinds_of_engines=kinds)
        write_kernel_trace(attempt / "raw", [(KERNEL, 4096)] * 12)
        judgement = judge(request, WELL, attempt, MI300X)
        earlier.append((request, judgement))
        retry = next_try(request, judgement, MI300X, earlier[:-1])
        if retry is None:
            break
        request = retry.recording
    return [judgement.verdict for _, judgement in earlier]


@pytest.mark.slow
def test_truncated_until_the_buffer_is_large_enough(templates: Path, tmp_path: Path) -> None:
    recording = traces(se_mask=1, target_cu=1, buffer_bytes=64 * MIB)
    assert _loop(templates, tmp_path, recording, needed_bytes=200 * MIB) == [
        Verdict.TRUNCATED,
        Verdict.TRUNCATED,
        Verdict.GOOD,
    ]


@pytest.mark.slow
def test_empty_until_the_mask_has_a_busy_engine(templates: Path, tmp_path: Path) -> None:
    recording = traces(se_mask=1, target_cu=1, buffer_bytes=256 * MIB)
    # Waves were seen on other CUs of engine 0: one of those is tried first.
    assert _loop(templates, tmp_path / "a", recording, busy_engines=(8,)) == [Verdict.EMPTY] * 2 + [Verdict.GOOD]
    assert _loop(templates, tmp_path / "b", recording, busy_engines=(9,)) == [Verdict.EMPTY] * 3 + [Verdict.GOOD]


@pytest.mark.slow
def test_empty_until_the_cu_is_the_busy_one(templates: Path, tmp_path: Path) -> None:
    recording = traces(se_mask=0xFFFFFFFF, target_cu=1, buffer_bytes=2048 * MIB)
    verdicts = _loop(templates, tmp_path, recording, busy_engines=tuple(range(32)), busy_cus=(2,))
    assert verdicts == [Verdict.EMPTY, Verdict.EMPTY, Verdict.GOOD]  # CUs 1, 0, 2


@pytest.mark.slow
def test_lossy_until_the_counters_are_rarer(templates: Path, tmp_path: Path) -> None:
    recording = traces(se_mask=1, target_cu=1, buffer_bytes=256 * MIB, counters=("SQ_WAVES",), counter_period=4)
    assert _loop(templates, tmp_path / "a", recording, lossy_below_period=8) == [Verdict.LOSSY, Verdict.GOOD]
    assert _loop(templates, tmp_path / "b", recording, lossy_below_period=32) == [Verdict.LOSSY, Verdict.LOSSY]
