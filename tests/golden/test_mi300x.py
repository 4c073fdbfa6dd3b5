"""The rocprofv3 captures of an MI300X, decoded with their own code objects, against the reference's records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.golden import oracle
from wavewright import _core
from wavewright.readers.files.capture import find_capture
from wavewright.readers.trace.code import load_code

CAPTURES = oracle.SHARED / "data" / "att-mi300x-bmm"
GOLDENS = sorted((oracle.GOLDEN / "gfx942").glob("*/*.golden.json.gz")) if oracle.GOLDEN.is_dir() else []

pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="../shared/data is not here")


@pytest.mark.some_cases(8)
@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_records_equal_the_reference(golden: Path) -> None:
    raw = CAPTURES / golden.parent.name / "raw" / golden.name.replace(".golden.json.gz", ".att")
    capture = find_capture([raw])
    data = raw.read_bytes()
    code = load_code(capture.code_of(capture.windows[0]), [data])
    records = _core.decode([data], code.program)[0]
    with gzip.open(golden) as stream:
        expected = oracle.golden_as_oracle(json.load(stream))
    ours = oracle.records_as_oracle(records, code.program)
    assert {key: ours[key] == expected[key] for key in expected} == dict.fromkeys(expected, True)
