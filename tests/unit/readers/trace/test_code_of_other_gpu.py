"""Code objects of another GPU beside a trace: named as such, and not used."""

from __future__ import annotations

from pathlib import Path

import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from wavewright.analysis.trace.trust.verdicts import trust_of


@pytest.mark.parametrize(("traced", "given", "family"), [("gfx942", "gfx1201", "gfx9"), ("gfx1201", "gfx942", "gfx12")])
def test_code_of_another_gpu_is_not_used(tmp_path: Path, traced: str, given: str, family: str) -> None:
    scenario = Scenario(family=family, kernels=(compiled("saxpy", traced),), workgroups=2)
    write_capture(synthesize(scenario), tmp_path / traced)
    (own,) = (tmp_path / traced).glob("*_code_object_id_1.out")
    assert trust_of(wavewright.open(tmp_path / traced)).has_code
    own.with_suffix(".isa.tsv").unlink()
    own.write_bytes(compiled("saxpy", given).elf)
    trace = wavewright.open(tmp_path / traced)
    told = trace.losses.filter(trace.losses["kind"] == "code_of_other_gpu")["message"].to_list()
    assert len(told) == 1
    assert told[0].startswith(f"{own.name} is {given} code, but the trace is of a {family} GPU")
    trust = trust_of(trace)
    assert (trust.has_code, trust.cycles, trust.lines) == (False, "do not use", "none")
    assert trust.caveats_of_cycles[0].name == "unresolved"
    assert "code objects of this capture" in trust.caveats_of_cycles[0].advice
    assert trust.caveats_of_lines == ()
