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
    ("name", "expected", "rate", "length_ns"),
    [
        ("vllm_prefilldecode_piecewise", ("mixed", 46, 8192, 42_919), 52_356, 156_466_416),
        ("sglang_decode", ("decode", 32, 32, 32_785), 3_062, 10_450_292),
    ],
)
def test_steps_of_serving(
    name: str, expected: tuple[str, int, int, int], rate: int, length_ns: int, shared: Path
) -> None:
    answer = steps(open_run(shared / "data" / "kineto-graphs" / name))
    (row,) = answer.steps.to_dicts()
    assert (row["phase"], row["requests"], row["tokens"], row["context"]) == expected
    assert row["tokens_per_second"] == pytest.approx(rate, abs=0.6)
    # Of SGLang one kernel of another stream ran 463 ms before, while the host waited for work that is not recorded.
    assert [row["gpu_length_ns"], *answer.processes["gpu_median_ns"]] == pytest.approx([length_ns] * 2, abs=1)
    assert answer.source == "markers of steps of serving"
