"""Arguments against counters: what cannot be compared is refused, what fits twice is not unique."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kit.made_traces import made
from tests.kit.together import together
from tests.kit.ui_directories import frame
from wavewright import ThreadTrace
from wavewright.analysis.trace.lanes.fit import fit_arguments
from wavewright.errors import UsageError

LDS, VALU = 5, 6
TEXTS = [
    "v_mbcnt_lo_u32_b32 v0, -1, 0",
    "v_mbcnt_hi_u32_b32 v0, -1, v0",
    "v_lshlrev_b32_e32 v1, 7, v0",
    "ds_read_b32 v2, v1",
]


@pytest.fixture(scope="module")
def conflicting() -> ThreadTrace:
    """Two waves whose lanes all read from one bank: 2 cycles and 62 more."""
    tokens = [(40 * row, 0, 4, VALU if row < 3 else LDS, row) for row in range(4)]
    waves = [{"begin": 0, "end": 400, "instructions": tokens, "simd": simd} for simd in (0, 1)]
    code = frame("code", {"row": [0, 1, 2, 3], "text": TEXTS, "address": [0, 8, 16, 24]}, code_object=7, size=8)
    trace = made(waves, code=code, shader_engines=frame("shader_engines", {"se": [0]}, gfxip=9))
    return ThreadTrace(dict(trace.tables), replace(trace.source, target="gfx942"))


def test_counters_are_means_over_waves(conflicting: ThreadTrace) -> None:
    answer = fit_arguments(conflicting, None, [()], {"SQ_LDS_BANK_CONFLICT": 62, "SQ_LDS_IDX_ACTIVE": 64})
    assert answer.candidates["predicted"].to_list() == [62, 64]
    assert (answer.fitting, answer.is_unique) == ((0,), True)
    wrong = fit_arguments(conflicting, None, [()], {"SQ_LDS_BANK_CONFLICT": 63, "SQ_LDS_IDX_ACTIVE": 64})
    assert (wrong.fitting, wrong.verdict) == ((), "none of 1 sets of arguments fits")


def test_two_sets_that_fit_are_not_unique(conflicting: ThreadTrace) -> None:
    answer = fit_arguments(conflicting, None, [(), ()], {"SQ_LDS_BANK_CONFLICT": 62})
    assert (answer.fitting, answer.is_unique) == ((0, 1), False)
    assert answer.verdict.startswith("2 of 2 sets of arguments fit")


@together(
    "candidates, measured",
    [
        ([], {"SQ_LDS_BANK_CONFLICT": 62.0}),
        ([()], {}),
        ([()], {"SQ_WAVES": 2.0}),
        ([()], {"SQ_LDS_BANK_CONFLICT": float("nan")}),
        ([()], {"SQ_LDS_BANK_CONFLICT": -1.0}),
    ],
)
def test_nothing_to_compare(
    conflicting: ThreadTrace, candidates: list[tuple[str, ...]], measured: dict[str, float]
) -> None:
    with pytest.raises(UsageError):
        fit_arguments(conflicting, None, candidates, measured)
