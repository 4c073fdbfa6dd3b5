"""Every record of every golden trace equals the reference's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import oracle
from tests.kit.together import try_all

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
REAL = ("gfx950", "gfx1100", "gfx1200")


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_records_equal_the_reference(family: str) -> None:
    try_all(_check, [(case,) for case in oracle.synthetic_cases(family)])


@pytest.mark.parametrize("gpu", REAL)
def test_records_of_real_traces_equal_the_reference(gpu: str, shared: Path) -> None:
    assert shared.is_dir()
    try_all(_check, [(case,) for case in oracle.real_cases(gpu)])


def _check(case: oracle.Case) -> None:
    assert oracle.differences(case) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_streams_in_the_repository_are_those_of_the_reference(family: str, shared: Path) -> None:
    own = sorted((oracle.OWN / family).iterdir())
    assert sum(path.suffix == ".att" for path in own) >= 40
    differing = [p.name for p in own if p.read_bytes() != (shared / "golden/synthetic" / family / p.name).read_bytes()]
    assert differing == []
