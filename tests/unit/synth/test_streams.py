"""The encoders' bytes, read back here by the tables alone: whole tokens, the right times, nothing left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest

from synth import Scenario, SyntheticTrace, gfx9_tokens, rdna_tokens, synthesize
from synth.gfx9_tokens import Misc

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
Read = tuple[int, str, dict[str, int]]  # time, token, fields


def made(family: str, **changes: object) -> SyntheticTrace:
    scenario = Scenario(family=family, dispatches=2, other_waves=5, realtime_pairs=3, events=5, **changes)  # type: ignore[arg-type]
    return synthesize(scenario).traces[0]


def read_gfx9(data: bytes) -> Iterator[Read]:
    """Tokens with their times: those behind a TIME_RESET wait for the next TIMESTAMP (spec_gfx9 2.4)."""
    at, now, base, held = 8, 0, None, None
    while at < len(data):
        layout = gfx9_tokens.TOKENS[data[at] & 15]
        fields = layout.unpack(int.from_bytes(data[at : at + layout.bits // 8], "little"))
        at += layout.bits // 8
        if layout.name == "TIMESTAMP" and held is not None:
            if base is None:
                base = fields["time"] - now + 4
            now = fields["time"] - base & ~3
            for step, name, values in held:
                now += step
                yield now, name, values
            held = None
            continue
        step = 4 * fields.get("delta", 0)
        if held is not None:
            held.append((step, layout.name, fields))
            continue
        now += step
        if layout.name == "MISC" and fields["type"] == Misc.TIME_RESET:
            held = []
            continue
        yield now, layout.name, fields
    assert at == len(data)
    assert held is None


def read_rdna(data: bytes, version: int) -> Iterator[Read]:
    layouts = rdna_tokens.TOKENS[version]
    by_byte = {
        low_byte: name
        for name, layout in layouts.items()
        for low_byte in range(256)
        if low_byte & (1 << layout.prefix_bits) - 1 == layout.prefix
    }
    stream, size, at, now = int.from_bytes(data, "little"), 8 * len(data), 0, 0
    unit = 8 if version == 5 else 4
    while at < size:
        low_byte = stream >> at & 0xFF
        if low_byte & (1 << unit) - 1 == 0:
            at += unit
            continue
        name = by_byte[low_byte]
        layout = layouts[name]
        fields = layout.unpack(stream >> at & (1 << layout.bits) - 1)
        at += layout.bits
        now += _rdna_step(name, fields, version)
        yield now, name, fields
    assert at == size


def _rdna_step(name: str, fields: dict[str, int], version: int) -> int:
    if name == "TIME":
        return fields["delta"] + rdna_tokens.TIME_BIAS[version]
    if name == "VALU_INST" and version == 5:
        return rdna_tokens.SHORT_VALU_DELTA[fields["choice"]]
    if name == "TIMESTAMP":
        step = fields["type"] == 1 if version < 3 else not fields["realtime"]
        return fields["value"] if step else 0
    return fields.get("delta", 0)


def read(trace: SyntheticTrace) -> list[Read]:
    if trace.plan.family == "gfx9":
        return list(read_gfx9(trace.data))
    return list(read_rdna(trace.data, trace.plan.stream_version))


@pytest.mark.parametrize("family", FAMILIES)
def test_waves_start_and_end_when_planned(family: str) -> None:
    trace = made(family)
    tokens = read(trace)
    for token, moment in (("WAVE_START", "begin"), ("WAVE_END", "end")):
        written = sorted((time, f["simd"], f["slot"]) for time, name, f in tokens if name == token)
        assert written == sorted((getattr(wave, moment), wave.simd, wave.slot) for wave in trace.plan.waves)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_step_leaves_its_tokens(family: str) -> None:
    trace = made(family)
    count = Counter(name for _, name, _ in read(trace))
    steps = sum(len(wave.run.steps) for wave in trace.plan.waves if wave.run)
    kinds = Counter(
        wave.code_object.code.rows[row].kind.name for wave in trace.plan.waves if wave.run for row, *_ in wave.run.steps
    )
    silent = kinds["WAIT"] + kinds["IMMED"] + kinds["SHADER_DATA"]
    if family == "gfx9":
        assert count["INST"] == steps - silent
        assert count["INST_PC"] == kinds["REGISTER_JUMP"]
        assert count["INST_USERDATA"] == kinds["SHADER_DATA"]
    else:
        assert count["INST"] + count["VALU_INST"] == steps - silent - kinds["END"]
        assert count["NEW_PC"] == kinds["REGISTER_JUMP"]
        assert count["SHADER_DATA"] + count["SHADER_DATA_SHORT"] == kinds["SHADER_DATA"]


@pytest.mark.parametrize("family", FAMILIES)
def test_time_never_runs_backwards(family: str) -> None:
    times = [time for time, _, _ in read(made(family, execution_tokens=True))]
    assert times == sorted(times)


@pytest.mark.parametrize("family", FAMILIES)
def test_buffers_are_whole_blocks(family: str) -> None:
    header = 8 if family == "gfx9" else 0
    assert (len(made(family).data) - header) % 32 == 0
    assert (len(made(family, keep_share=0.4).data) - header) % 32 == 0


@pytest.mark.parametrize("family", ("gfx12", "gfx1250"))
def test_nothing_behind_an_extended_start_looks_like_its_continuation(family: str) -> None:
    trace = made(family, extended_starts=True)
    tokens = [(name, fields) for _, name, fields in read(trace)]
    layouts = rdna_tokens.TOKENS[trace.plan.stream_version]
    followers = [after for (name, _), (after, _) in pairwise(tokens) if name == "WAVE_START_EXT"]
    assert followers
    assert all(layouts[name].prefix & 1 == 0 for name in followers)


def test_gfx9_writes_some_timestamps_late() -> None:
    """Between a reset and its timestamp the hardware writes a few more tokens; so do we."""
    data = made("gfx9").data
    at, gaps, since = 8, [], None
    while at < len(data):
        layout = gfx9_tokens.TOKENS[data[at] & 15]
        word = int.from_bytes(data[at : at + layout.bits // 8], "little")
        at += layout.bits // 8
        if layout.name == "MISC" and layout.unpack(word)["type"] == Misc.TIME_RESET:
            since = 0
        elif layout.name == "TIMESTAMP" and since is not None:
            gaps.append(since)
            since = None
        elif since is not None:
            since += 1
    assert max(gaps) > 0
