"""What `s_nop` separates in the code of real traces, against the instructions right before and behind it."""

from __future__ import annotations

from collections import Counter

import pytest

import wavewright
from tests.conftest import SHARED
from wavewright.analysis.trace.code.hazards import NOT_KNOWN, hazard_of
from wavewright.codeobj.registers import RowUses
from wavewright.model.trace import ThreadTrace

FOLDER = SHARED / "data" / "uiout-mi350x-flydsl"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data is not here")


def hazards(kernel: str, size: str) -> tuple[Counter[str], list[str]]:
    """How often each hazard is told, and the instructions around every padding that is told as something of VCC."""
    trace = wavewright.open(next(iter(sorted((FOLDER / kernel / size).iterdir()))))
    assert isinstance(trace, ThreadTrace)
    code = trace.code.sort("row")
    texts, uses = code["text"].to_list(), RowUses(code)
    padded = [row for row, text in enumerate(texts) if (text or "").startswith("s_nop")]
    around = [f"{texts[row - 1]} | {texts[row + 1]}" for row in padded]
    return Counter(hazard_of(texts, uses, row) for row in padded), around


def test_masks_of_flash_attention() -> None:
    """insight.md: most rows are v_cmp right before v_cndmask, which reads the mask."""
    told, around = hazards("flash_attn_func", "small")
    adjacent = sum(pair.startswith("v_cmp") and "| v_cndmask" in pair for pair in around)
    masks = told["v_cmp writes VCC before v_cndmask"] + told["v_cmp writes an SGPR before v_cndmask"]
    assert masks == adjacent >= 127
    assert told[NOT_KNOWN] <= 0.02 * len(around)


def test_matrix_results_of_blockscale() -> None:
    told, around = hazards("blockscale_preshuffle_gemm", "big")
    assert sum(count for words, count in told.items() if words.startswith("matrix result")) >= len(around) - 1
