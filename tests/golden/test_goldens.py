"""Every record of every golden trace equals the reference's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import oracle

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
REAL = ("gfx950", "gfx1100", "gfx1200")


def _cases() -> list[oracle.Case]:
    synthetic = [case for family in FAMILIES for case in oracle.synthetic_cases(family)]
    return synthetic + [case for gpu in REAL for case in oracle.real_cases(gpu)]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_records_equal_the_reference(case: oracle.Case) -> None:
    assert oracle.differences(case) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_streams_in_the_repository_are_those_of_the_reference(family: str, shared: Path) -> None:
    own = sorted((oracle.OWN / family).iterdir())
    assert sum(path.suffix == ".att" for path in own) >= 40
    differing = [p.name for p in own if p.read_bytes() != (shared / "golden/synthetic" / family / p.name).read_bytes()]
    assert differing == []
