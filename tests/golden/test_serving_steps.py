"""Steps of vLLM and SGLang: figures worked out by a script of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.steps import steps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    ("name", "expected", "rate"),
    [
        ("vllm_prefilldecode_piecewise", ("mixed", 46, 8192, 42_919), 52_356),
        ("sglang_decode", ("decode", 32, 32, 32_785), 3_062),
    ],
)
def test_steps_of_serving(name: str, expected: tuple[str, int, int, int], rate: int, shared: Path) -> None:
    answer = steps(open_run(shared / "data" / "kineto-graphs" / name))
    (row,) = answer.steps.to_dicts()
    assert (row["phase"], row["requests"], row["tokens"], row["context"]) == expected
    assert row["tokens_per_second"] == pytest.approx(rate, abs=0.6)
    assert answer.source == "markers of steps of serving"
