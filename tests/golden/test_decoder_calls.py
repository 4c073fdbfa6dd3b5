"""Our decoder behind the calls of AMD's trace decoder, as rocprofv3 would load it, against the reference's records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import oracle
from tests.kit.decoder_calls import listed_lines, told_by

ROOT = Path(__file__).resolve().parents[2]
REFUSED = 4  # the status of bytes that are no trace, and of streams that break off
LATER = ("events", "dispatches")  # records that the calls of 0.1 do not have


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("library")
    cmake = Path(sys.executable).parent / "cmake"
    subprocess.run([cmake, "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release"], check=True, capture_output=True)
    subprocess.run([cmake, "--build", build, "--target", "trace_decoder"], check=True, capture_output=True)
    return build / "cpp/library/librocprof-trace-decoder.so"


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gfx9", "gfx10", "gfx11", "gfx12", "gfx1250", "gfx950", "gfx1100", "gfx1200"])
def test_records_equal_the_reference(library: Path, family: str) -> None:
    cases = oracle.real_cases(family) or oracle.synthetic_cases(family)
    assert cases
    for case in cases:
        golden = case.expected()
        told = told_by(library, case.trace.read_bytes(), listed_lines(case.listings))
        expected = oracle.golden_as_oracle(golden)
        if golden["status"] != 0:  # the reference's exception, or its refusal
            assert told["status"] == REFUSED
            assert told["waves"][: len(expected["waves"])] == expected["waves"]
            continue
        assert told["status"] == 0
        expected = {key: value for key, value in expected.items() if key not in LATER and (key != "gfxip" or value)}
        assert {key: told[key] == expected[key] for key in expected} == dict.fromkeys(expected, True), case.name
