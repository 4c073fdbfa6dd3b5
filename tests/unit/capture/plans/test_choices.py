"""What is chosen per architecture: window, buffer and its limits, PC sampling (spec 1.4, 3.1 to 3.3)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.kinds import Counters, Discovery, Samples, ThreadTraces
from wavewright.capture.plans.choices import (
    BUFFER_BYTES_MIN,
    ENGINE_BYTES_MIN,
    GIB,
    MIB,
    PAGE_BYTES,
    check_buffer,
    chosen,
    chosen_buffer,
    engine_bytes,
    engine_bytes_limit,
    largest_buffer,
    selected_engines,
)
from wavewright.errors import UnsupportedError, UsageError

P = ("program",)
MI300X = Gpu(
    index=0,
    node=1,
    gpu_id=1,
    target="gfx942",
    cu_count=304,
    se_count=32,
    xcc_count=8,
    simds_per_cu=4,
    waves_per_simd=8,
    wave_size=64,
    memory_bytes=192 * GIB,
)
TARGETS = ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1250"]


def gpu(target: str, **fields: int) -> Gpu:
    return replace(MI300X, target=target, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", TARGETS)
def test_windows_of_every_architecture(target: str) -> None:
    recording, notes = chosen(ThreadTraces(program=P), gpu(target))
    assert recording.target_cu == 1 and recording.se_mask == 0x1 and recording.buffer_bytes == 256 * MIB
    assert recording.simds == (0xF if target.startswith("gfx9") else 0)
    assert ("CU 1, SIMDs 0xF" if target.startswith("gfx9") else "WGP 1, SIMD 0") in notes[0]
    assert "256 MiB" in notes[1] and len(notes) == 2
    again, nothing_new = chosen(recording, gpu(target))
    assert again == recording and nothing_new == ()


def test_more_engines_get_a_larger_buffer() -> None:
    for mask, mib in ((0x1, 256), (0x11111111, 512), (0xFFFFFFFF, 2048)):
        assert chosen(ThreadTraces(program=P, se_mask=mask), MI300X)[0].buffer_bytes == mib * MIB
    small = gpu("gfx1100", se_count=6, memory_bytes=1 * GIB)
    assert chosen(ThreadTraces(program=P, se_mask=0x3F), small)[0].buffer_bytes == 384 * MIB
    tiny = gpu("gfx1100", memory_bytes=300 * MIB)
    assert chosen(ThreadTraces(program=P), tiny)[0].buffer_bytes == 150 * MIB
    unknown, notes = chosen(ThreadTraces(program=P), None)
    assert unknown.buffer_bytes == 256 * MIB and "not known" in notes[0]


@pytest.mark.parametrize(
    ("target", "fields", "sentence"),
    [
        ("gfx942", {"target_cu": 16}, "no CU 16"),
        ("gfx1100", {"target_cu": -1}, "no WGP -1"),
        ("gfx942", {"simds": 0}, "not a mask of SIMDs"),
        ("gfx942", {"simds": 16}, "not a mask of SIMDs"),
        ("gfx942", {"simds": -1}, "not a mask of SIMDs"),
        ("gfx1100", {"simds": 0xF}, "not by a mask"),
        ("gfx942", {"se_mask": 0}, "selects no shader engine"),
        ("gfx942", {"se_mask": 1 << 32}, "none of the 32"),
        ("gfx942", {"se_mask": 1 << 70}, "selects no shader engine"),
        ("gfx942", {"buffer_bytes": 1000}, "at least 1 MiB"),
        ("gfx942", {"buffer_bytes": 2 * MIB, "se_mask": 0xFFFFFFFF}, "at least 128 KiB"),
        ("gfx942", {"buffer_bytes": 16 * GIB}, "16,384 MiB"),
        ("gfx1100", {"buffer_bytes": 1 * GIB}, "less than 512 MiB"),  # seen in AMD's issue 6218
        ("gfx1100", {"counters": ("SQ_WAVES",)}, "no counters inside"),
        ("gfx1100", {"activity": 3}, "no counters inside"),
        ("gfx1100", {"target_only": True}, "no counters inside"),
        ("gfx942", {"counters": ("TCC_HIT",)}, "SQ counters only"),
        ("gfx942", {"counters": ("SQ_WAVES:zz",)}, "SQ counters only"),
        ("gfx942", {"counters": tuple(f"SQ_A{n}" for n in range(9))}, "9 counters"),
        ("gfx942", {"counters": ("SQ_WAVES",), "counter_period": 33}, "period of 33"),
        ("gfx942", {"counter_period": 3}, "but no counters"),
        ("gfx942", {"activity": 17}, "period of 17"),
        ("gfx942", {"activity": 3, "counters": ("SQ_WAVES",)}, "activity stands for"),
    ],
)
def test_what_does_not_fit_is_refused(target: str, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen(ThreadTraces(program=P, **fields), gpu(target))  # type: ignore[arg-type]
    assert sentence in str(error.value) and error.value.advice


def test_what_fits_is_not_changed() -> None:
    given_all = ThreadTraces(
        program=P,
        target_cu=3,
        simds=0x1,
        se_mask=0x11111111,
        buffer_bytes=96 * MIB,
        counters=("SQ_WAVES:0x3", "sq_busy_cycles"),
        counter_period=1,
    )
    assert chosen(given_all, MI300X) == (given_all, ())
    period, notes = chosen(structs.replace(given_all, counter_period=None), MI300X)
    assert period.counter_period == 8 and "period 8" in notes[-1]
    with pytest.raises(UnsupportedError, match="gfx803"):
        chosen(ThreadTraces(program=P), gpu("gfx803"))


@given(st.integers(1, 32), st.sampled_from(TARGETS), st.integers(BUFFER_BYTES_MIN, 64 * GIB))
def test_buffers_within_the_limits_are_taken(engines: int, target: str, buffer_bytes: int) -> None:
    part = engine_bytes(buffer_bytes, engines, target)
    assert part * engines <= buffer_bytes and part % PAGE_BYTES == 0
    if ENGINE_BYTES_MIN <= part < engine_bytes_limit(target):
        check_buffer(buffer_bytes, engines, target)
    else:
        with pytest.raises(UsageError):
            check_buffer(buffer_bytes, engines, target)


@given(st.integers(1, 32), st.sampled_from(TARGETS), st.none() | st.integers(64 * MIB, 256 * GIB))
def test_chosen_buffers_are_taken(engines: int, target: str, memory_bytes: int | None) -> None:
    check_buffer(chosen_buffer(engines, target, memory_bytes), engines, target)
    check_buffer(largest_buffer(engines, target, memory_bytes), engines, target)


def test_parts_of_a_buffer() -> None:
    """By aqlprofile: gfx10 and gfx11 keep a page for each of 64 engines that is not selected."""
    assert engine_bytes(96 * MIB, 1, "gfx950") == 96 * MIB
    assert engine_bytes(256 * MIB, 3, "gfx942") == 256 * MIB // 3 // 4096 * 4096
    assert engine_bytes(256 * MIB, 2, "gfx1030") == (256 * MIB - 62 * 4096) // 2 // 4096 * 4096
    assert engine_bytes(256 * MIB, 2, "gfx1200") == 128 * MIB
    assert selected_engines(0xFF, 4) == 4 and selected_engines(0xFF) == 8


@pytest.mark.parametrize(
    ("target", "method", "unit", "interval"),
    [
        ("gfx90a", "host_trap", "time", 512),
        ("gfx942", "stochastic", "cycles", 1 << 20),
        ("gfx950", "stochastic", "cycles", 1 << 20),
    ],
)
def test_sampling_of_each_gpu(target: str, method: str, unit: str, interval: int) -> None:
    recording, notes = chosen(Samples(program=P), gpu(target))
    assert (recording.method, recording.unit, recording.interval) == (method, unit, interval)
    assert method in notes[-1]


@pytest.mark.parametrize("target", ["gfx908", "gfx1100", "gfx1151", "gfx1201", "gfx906"])
def test_gpus_without_sampling_say_so(target: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{target} has no PC sampling"):
        chosen(Samples(program=P), gpu(target))


@pytest.mark.parametrize(
    ("target", "fields", "sentence"),
    [
        ("gfx90a", {"method": "stochastic"}, "does not sample by stochastic"),
        ("gfx942", {"method": "magic"}, "not a method"),
        ("gfx942", {"method": "host_trap", "unit": "cycles"}, "it does in time"),
        ("gfx942", {"unit": "instructions"}, "it does in cycles"),
        ("gfx942", {"interval": 1000}, "as 512"),
        ("gfx942", {"interval": 128}, "as 256"),
        ("gfx942", {"interval": 1 << 32}, "power of two"),
        ("gfx90a", {"interval": 0}, "above 0"),
        ("gfx90a", {"interval": -5}, "above 0"),
    ],
)
def test_sampling_that_does_not_fit_is_refused(target: str, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen(Samples(program=P, **fields), gpu(target))  # type: ignore[arg-type]
    assert sentence in str(error.value)


def test_old_microcode_samples_by_interrupts() -> None:
    recording, notes = chosen(Samples(program=P), gpu("gfx942", firmware=0x19))
    assert recording.method == "host_trap" and "0x19" in notes[0]
    assert chosen(Samples(program=P), gpu("gfx942", firmware=0x1A))[0].method == "stochastic"
    assert chosen(Samples(program=P), gpu("gfx950", firmware=0x19))[0].method == "stochastic"
    fast, notes = chosen(Samples(program=P, interval=256), MI300X)
    assert fast.interval == 256 and "slow" in notes[0]
    assert chosen(Samples(program=P), None)[0].method == "stochastic"


def test_other_kinds_are_left_alone() -> None:
    assert chosen(Discovery(program=P), MI300X) == (Discovery(program=P), ())
    assert chosen(Counters(program=P), MI300X)[1] == ()
    assert "performance level" in chosen(Counters(program=P), gpu("gfx1100"))[1][0]
