"""From panels, metrics and names to passes."""

from __future__ import annotations

from collections import Counter

import pytest

from wavewright.capture.plans.counter_passes import packed_passes, passes_for
from wavewright.errors import UsageError
from wavewright.facts.gpus.counting import counting_of


def blocks(names: tuple[str, ...]) -> Counter[str]:
    return Counter("SQ" if name.startswith(("SQC_", "SQ_")) else name.split("_")[0] for name in names)


@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_no_pass_has_more_of_a_block_than_it_has_registers(target: str) -> None:
    slots = counting_of(target).slots
    names = [f"{block}_COUNTER_{at}" for block in ("SQ", "TA", "TCP", "SPI", "GRBM", "CPC") for at in range(11)]
    passes = packed_passes(target, names).passes
    assert sorted(name for each in passes for name in each) == sorted(names)
    for each in passes:
        assert all(count <= slots[block] for block, count in blocks(each).items())
    assert len(passes) == max(-(-11 // slots[block]) for block in ("SQ", "TA", "TCP", "SPI", "GRBM", "CPC"))


def test_panels_and_names_together() -> None:
    both = passes_for("gfx942", metrics=["17.1.2"], counters=["SQ_WAVES", "SQ_INSTS_VALU"])
    assert both.passes == (("GRBM_GUI_ACTIVE", "SQ_WAVES", "TCC_HIT_sum", "TCC_MISS_sum"), ("SQ_INSTS_VALU",))


def test_level_counters_are_defined() -> None:
    planned = passes_for("MI300X", panels=["waves"])
    assert any(name.endswith("_ACCUM") for names in planned.passes for name in names)
    assert "accumulate(SQ_LEVEL_WAVES, HIGH_RES)" in planned.definitions
    named = passes_for("MI300X", counters=["SQ_LEVEL_WAVES_ACCUM", "SQ_WAVES"])
    assert any("SQ_LEVEL_WAVES_ACCUM" in names for names in named.passes)
    assert "accumulate(SQ_LEVEL_WAVES, HIGH_RES)" in named.definitions


def test_names_are_spelled_for_the_target() -> None:
    old = packed_passes("gfx90a", ["TCC_EA0_RDREQ_sum"])
    assert old.passes == (("TCC_EA_RDREQ_sum",),)
    assert "is called TCC_EA_RDREQ_sum on gfx90a" in old.notes[0]
    assert packed_passes("gfx942", ["TCC_EA_RDREQ_sum"]).passes == (("TCC_EA0_RDREQ_sum",),)
    assert packed_passes("gfx942", ["SQ_WAVES:device=1", "TCC_HIT[3]"]).passes == (("SQ_WAVES:device=1", "TCC_HIT[3]"),)


def test_computed_counters_have_passes_of_their_own() -> None:
    passes = packed_passes("gfx942", ["FETCH_SIZE", "SQ_WAVES", "WRITE_SIZE"])
    assert passes.passes == (("SQ_WAVES",), ("FETCH_SIZE",), ("WRITE_SIZE",))
    assert "pass of its own" in passes.notes[0]


def test_a_counter_that_we_do_not_know_is_taken_with_a_word() -> None:
    passes = packed_passes("gfx942", ["SQ_SOMETHING_ELSE_99"])
    assert passes.passes == (("SQ_SOMETHING_ELSE_99",),)
    assert "rocprofv3-avail" in passes.notes[0]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("SQ_WAEVS", "SQ_WAVES"),
        ("sq_waves", "SQ_WAVES"),
        ("TCC_HTI_sum", "TCC_HIT"),
        ("GL2C_HIT", "blocks are"),
        ("SQ-WAVES", "not the name"),
        ("TCP_TCP_LATENCY", "cannot count"),
        ("", "no counter"),
        ("x" * 5000, "has no counter"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(name: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        packed_passes("gfx942", [name])
    assert part in str(caught.value)
    assert len(str(caught.value)) < 500


def test_nothing_to_count_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing of this can be counted"):
        passes_for("gfx942", metrics=["VL1 Lat"])
