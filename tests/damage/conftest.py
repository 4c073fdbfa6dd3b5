from __future__ import annotations

from dataclasses import dataclass

import pytest

from synth import Scenario, synthesize
from wavewright import _core

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")


@dataclass(frozen=True)
class Specimen:
    """A sound trace of one family with everything in it, and the code it ran."""

    family: str
    data: bytes
    program: _core.Program


@pytest.fixture(scope="session", params=FAMILIES)
def specimen(request: pytest.FixtureRequest) -> Specimen:
    family = request.param
    scenario = Scenario(
        family=family,
        dispatches=2,
        markers="during",
        unload=True,
        shader_data=True,
        counters=family == "gfx9",
        realtime_pairs=3,
        events=4,
        earlier_waves=2,
        other_simd=0 if family in ("gfx9", "gfx10") else 4,
    )
    capture = synthesize(scenario)
    program = _core.Program()
    for code_object in capture.code_objects:
        program.add_listing(code_object.id, code_object.load_address, code_object.listing_tsv)
    program.link()
    return Specimen(family, capture.traces[0].data, program)
