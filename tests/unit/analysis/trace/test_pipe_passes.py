from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.analysis.trace.pipes import pipe_cycles_of_rows
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource

EXP, MFMA = "v_exp_f32_e32 v1, v2", "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"


def trace_of(texts: list[str | None], *, gfxip: int | None, target: str | None) -> ThreadTrace:
    engine = empty_frame(THREAD_TRACE["shader_engines"])
    engine = pl.concat([engine, pl.DataFrame({"gfxip": [gfxip]}, {"gfxip": engine.schema["gfxip"]})], how="diagonal")
    rows = {"row": list(range(len(texts))), "text": texts, "mnemonic": [(text or "").split(" ")[0] for text in texts]}
    return ThreadTrace({"shader_engines": engine, "code": pl.DataFrame(rows)}, TraceSource("made", target=target))


@together(
    "target, exp_cycles",
    [
        ("gfx942", 16),
        ("gfx942:sramecc+:xnack-", 16),
        ("gfx950", 8),
        (None, 8),  # v_mfma_f32_16x16x16_f16 is spelled so from gfx942: gfx942 or gfx950, the shorter one counts
        ("gfx9999", 8),  # not known: as if it were not recorded
    ],
)
def test_cycles_follow_the_target(target: str | None, exp_cycles: int) -> None:
    trace = trace_of([EXP, None, MFMA, "s_nop 0", EXP], gfxip=9, target=target)
    assert pipe_cycles_of_rows(trace).to_list() == [exp_cycles, 0, 16, 0, exp_cycles]
    assert pipe_cycles_of_rows(trace).dtype == pl.Int32


def test_an_instruction_of_one_target_tells_the_target() -> None:
    own = "v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], 0"
    assert pipe_cycles_of_rows(trace_of([own, EXP], gfxip=9, target=None)).to_list() == [16, 8]


def test_a_mixed_format_takes_the_longer_time() -> None:
    name = "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]"
    texts: list[str | None] = [
        name,
        f"{name} cbsz:4",
        f"{name} blgp:4",
        f"{name} cbsz:4 blgp:2",
        f"{name} cbsz:1 blgp:1",
    ]
    assert pipe_cycles_of_rows(trace_of(texts, gfxip=9, target="gfx950")).to_list() == [32, 32, 32, 16, 32]


def test_nothing_known_is_zero() -> None:
    assert pipe_cycles_of_rows(trace_of([EXP, MFMA], gfxip=None, target=None)).to_list() == [0, 0]
    assert pipe_cycles_of_rows(ThreadTrace({}, TraceSource("made"))).to_list() == []
