"""What colours the spans of timelines: stall classes, stalled shares, groups of waves, kinds that occur."""

from __future__ import annotations

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.model.document import Document
from wavewright.page.trace.items import resident_wave
from wavewright.page.trace.spans import kinds, layers_of_trace, spans_of_trace, stalled, stalled_shares


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = tmp_path_factory.mktemp("two-kernels")
    both = compiled("tiled_gemm", "gfx942"), compiled("saxpy", "gfx942")
    write_capture(synthesize(Scenario(kernels=both, dispatches=3, workgroups=4, waves_per_simd=4, seed=3)), folder)
    trace = wavewright.open(folder)
    return Document(0, "", "", lambda: trace)


def _described(document: Document) -> dict[str, dict[str, object]]:
    return {layer["name"]: layer for layer in layers_of_trace(document)["layers"]}


def _raw(document: Document, name: str) -> pl.DataFrame:
    """All spans of a timeline, once."""
    layer = layers_of_trace(document)["layers"]
    count = next(t for t in layer if t["name"] == name)
    width = count["tile_cells"] * count["cell"]
    tiles = range((count["end"] - count["begin"]) // width + 1)
    parts = [spans_of_trace(document, layer=name, level=0, tile=tile) for tile in tiles]
    return pl.concat(parts).unique(["track", "begin", "end", "item"], maintain_order=True)


def test_stall_classes_of_executions_add_up_to_the_analysis(document: Document) -> None:
    spans = _raw(document, "stalls")
    cycles = dict(spans.group_by("kind").agg((pl.col("end") - pl.col("begin")).sum()).rows())
    named = kinds(document, layer="stalls")
    classes = stalls(document.trace).classes.filter(pl.col("stall_cycles_total") > 0)
    expected = dict(classes.select("class", "stall_cycles_total").rows())
    assert len(expected) > 4
    assert {kind["name"]: cycles[kind["kind"]] for kind in named} == expected
    assert [kind["cycles"] for kind in named] == sorted(expected.values(), reverse=True)
    assert all(kind["meaning"] for kind in named)


def test_stalled_spans_are_the_first_part_of_their_instructions(document: Document) -> None:
    whole = _raw(document, "instructions").select("track", "item", "begin", "end")
    both = _raw(document, "stalls").join(whole, on=["track", "item"], suffix="_all")
    stalled_count = document.trace.instructions.filter(pl.col("stall_cycles") > 0).height
    assert both.height == stalled_count > 100
    assert (both["begin"] == both["begin_all"]).all()
    assert (both["end"] <= both["end_all"]).all()


@pytest.mark.parametrize("level", [0, 3, 6])
def test_stalled_shares_are_those_of_the_instructions(document: Document, level: int) -> None:
    tiling = stalled(document)
    tracks, cells = tiling["track_count"], tiling["tile_cells"]
    spans = _raw(document, "stalls")
    tile = 1 if level == 0 else 0
    begin = int(tiling["begin"]) + (tile * cells << level)
    shares = stalled_shares(document, level=level, tile=tile)["share"].to_numpy().reshape(tracks, -1)
    end = begin + (shares.shape[1] << level)
    inside = pl.min_horizontal("end", pl.lit(end)) - pl.max_horizontal("begin", pl.lit(begin))
    expected = dict(
        spans.select("track", cycles=inside.clip(lower_bound=0)).group_by("track").agg(pl.sum("cycles")).rows()
    )
    assert sum(expected.values()) > 0
    for track in range(tracks):
        found = shares[track].sum() / 255 * (1 << level)
        assert found == pytest.approx(expected.get(track, 0), abs=(shares.shape[1] << level) / 500)


def test_only_kinds_that_occur_with_what_they_mean(document: Document) -> None:
    layers = _described(document)
    for name in ("instructions", "states"):
        occurring = set(_raw(document, name)["kind"].unique())
        listed = layers[name]["kinds"]
        assert {kind["kind"] for kind in listed} == occurring  # type: ignore[attr-defined]
        assert all(kind["meaning"] for kind in listed)  # type: ignore[attr-defined]


def test_groups_of_waves_are_what_is_known_of_each(document: Document) -> None:
    table = resident_waves(document.trace)
    offsets = alignment(document.trace).offsets
    names = {kind["kind"]: kind["name"] for kind in kinds(document, layer="waves_by_dispatch")}
    launches = document.trace.dispatches
    for item, kind in _raw(document, "waves_by_dispatch").select("item", "kind").sample(12, seed=1).rows():
        wave = table.row(item, named=True)
        known = resident_wave(document, item=item)
        before = launches.filter(
            pl.col("se") == wave["se"], pl.col("me") == known["me"], pl.col("pipe") == known["pipe"],
            pl.col("time_cycles") <= wave["start_cycles"],
        ).sort("time_cycles")  # fmt: skip
        last = before.row(-1, named=True)
        assert launches.row(kind, named=True) == last
        assert names[kind] == f"dispatch {kind + 1}"
    lengths = dict(_raw(document, "waves_by_duration").select("item", "kind").rows())
    bounds = [kind["name"] for kind in _described(document)["waves_by_duration"]["kinds"]]  # type: ignore[attr-defined]
    upper = [int(name.split()[-2].replace(",", "")) for name in bounds]
    for item, kind in lengths.items():
        wave = table.row(item, named=True)
        length = wave["end_cycles"] - wave["start_cycles"]
        assert length <= upper[kind]
        assert kind == 0 or length > upper[kind - 1]
    assert offsets
