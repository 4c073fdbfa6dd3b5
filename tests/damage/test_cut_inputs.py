"""Inputs of every kind, cut anywhere: the answer is the same, or something is said to be missing, or it is refused.

A CSV that is cut between two lines cannot be told from a whole one; there the cut is one byte earlier.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import call
from tests.kit.real_inputs import INPUTS, copied

#: Kind -> one of INPUTS.
KINDS = {
    "raw gfx942": "att-mi300x-bmm/c10/raw",
    "decoded": "att-mi300x-bmm/c10/ui_output_agent_11915_dispatch_1",
    "ROCpd": "att-mi300x-bmm/c10/raw/163_results.db",
    "RPD": "rpd/matmul_result.rpd",
    "RPD as Chrome JSON": "rpd/matmul_result.json",
    "PyTorch, packed": "kineto-amd/torch_compile_triton.json.gz",
    "rocprofv3 CSV": "rocprofv3-mi350x-flydsl/vec_add",
    "rocprofv3 CSV with counters": "gfx1151-rocprofv3-llama",
    "rocprofv3 JSON": "rocprofv3-json-mi350x",
    "rocprof": "rocprofv1-mi300a-hiptrace",
    "XPlane": "xplane-mi300x",
    "counters CSV": "pmc-rocprofcompute-vcopy/MI200",
    "counters ROCpd": "pmc-rocprofcompute-vcopy/MI300X_A1_rocpd",
    "analysis database": "rocprofcompute-analysisdb/rocprof_compute_3kernels.db",
    "PC samples": "gfx1201-counters-pcsampling/pcs_control/o_10000",
}
CUTS, QUICK_CUTS = 50, 3
#: Fields that tell of the file itself.
_OF_THE_FILE = frozenset(
    ("byte_count", "size_bytes", "sha256", "input", "inputs", "losses", "unreadable", "path", "written_at")
)


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    ("kind", "number"),
    [
        pytest.param(kind, number, marks=pytest.mark.slow if number else (), id=f"{kind}-{number}")
        for kind in KINDS
        for number in range(2)
    ],
)
def test_nothing_is_lost_in_silence(shared: Path, tmp_path: Path, kind: str, number: int) -> None:
    copy, files = copied(shared / "data", KINDS[kind], tmp_path)
    verb = INPUTS[KINDS[kind]][1][1]
    whole = _answers(copy, verb)
    assert whole is not None
    draw = random.Random(f"{kind} {number}")
    silent = []
    for _ in range(CUTS - QUICK_CUTS if number else QUICK_CUTS):
        file = draw.choice(files)
        data = file.read_bytes()
        end = _cut(draw, file, data)
        file.write_bytes(data[:end])
        answers = _answers(copy, verb)
        file.write_bytes(data)
        if answers is not None and answers[0] != whole[0] and answers[1] <= whole[1]:  # nothing new is said
            silent.append(f"{file.name} cut to {end:,} of {len(data):,} bytes")
    assert silent == []


def _cut(draw: random.Random, file: Path, data: bytes) -> int:
    near_end = len(data) - draw.choice([1, 2, 8, 16, 64, 200, 512, 1024])
    pages = len(data) // 4096 * 4096
    end = max(1, draw.choice([draw.randrange(1, len(data)), near_end, pages]))
    if file.suffix in (".csv", ".txt", ".stats") and data[end - 1 : end] == b"\n":
        end -= 1
    return end


def _answers(path: Path, verb: str) -> tuple[Any, set[str]] | None:
    """What two verbs answer, and what they say is missing; None = the input is refused in words."""
    answers: list[Any] = []
    missing: set[str] = set()
    for asked in ("info", verb):
        done = call(asked, path, "--json")
        assert done.status in (0, 2, 3, 4), done.stderr
        assert "bug" not in done.stderr
        if done.status:
            return None
        answer = json.loads(done.stdout)
        missing.update(_missing(answer))
        answers.append(_plain(answer))
    return answers, missing


def _missing(value: Any) -> Iterator[str]:
    """Losses, and files that could not be read, wherever an answer lists them."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in ("losses", "unreadable") and isinstance(each, list):
                yield from map(json.dumps, each)
            else:
                yield from _missing(each)
    elif isinstance(value, list):
        for each in value:
            yield from _missing(each)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name not in _OF_THE_FILE}
    return [_plain(each) for each in value] if isinstance(value, list) else value
