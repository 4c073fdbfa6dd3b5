"""What the page may ask about a run, against the analyses and the tables."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from synth import Workload, write_rocpd_ranks
from synth.runs import Host, Launch, Program, Range, Rank, Synchronise, planted, simulate, write_rocpd
from tests.kit.made_runs import run, spans
from tests.kit.sampled_runs import write_sampled
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.diagnose import diagnose_run
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.kernels import kernels
from wavewright.errors import UsageError
from wavewright.model.document import Document, Library
from wavewright.model.run import Run
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about
from wavewright.page.run.events import MOST_FLOWS, flows
from wavewright.page.run.layers import layers_of_run, spans_of_run, timeline_of
from wavewright.page.run.times import clocks_of
from wavewright.readers.opening import open as open_path

QUESTIONS = questions_about("run")

FAR = 1_700_000_000_000_000_000
"""A time of today in ns: greater than the greatest exact number of JavaScript."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    made = Library()
    for name, slow in (("before", ()), ("after", (("flash", 1.3),))):
        folder = tmp_path_factory.mktemp(name)
        write_rocpd_ranks(
            folder, Workload(dispatches=800, ranks=2, nodes=2, slow=slow, clock_offset_ns=FAR, argument_share=1.0)
        )
        made.add(name, str(folder), lambda folder=folder: open_path(folder))
    return made


@pytest.fixture(scope="module")
def document(library: Library) -> Document:
    return library.document(0)


def _asked(document: Document, question: str, /, **given: object) -> dict:
    payload = ask(document, question, {key: str(value) for key, value in given.items()})
    return json.loads(payload.content)


def test_tiles_of_level_0_hold_every_event_once(document: Document) -> None:
    layer = layers_of_run(document)["layers"][0]
    wide = layer["tile_cells"] * layer["cell"]
    tiles = [
        spans_of_run(document, layer="run", level=0, tile=number)
        for number in range(int((layer["end"] - layer["begin"]) // wide) + 1)
    ]
    found = pl.concat(tiles).unique("item").sort("item")
    expected = timeline_of(document).spans
    assert found["item"].equals(expected["item"])
    assert found["begin"].cast(pl.Int64).equals(expected["start_ns"], check_names=False)
    assert found["track"].equals(expected["track"])
    whole = spans_of_run(document, layer="run", level=layer["level_count"] - 1, tile=0)
    assert set(whole["track"]) == set(expected["track"])


def test_tracks_say_which_process_and_what(document: Document) -> None:
    layer = layers_of_run(document)["layers"][0]
    assert {track["kind"] for track in layer["tracks"]} == {"thread", "marks", "allocations", "stream"}
    assert all(len(track["group"]) == 2 for track in layer["tracks"])
    assert any("clocks of nodes are not compared" in note for note in layer["notes"])


def test_flows_join_a_call_and_what_it_launched(document: Document) -> None:
    run, first = document.run, timeline_of(document).first_items
    for row in (0, 5, run.dispatches.height - 1):
        answer = flows(document, layer="run", item=row)
        assert answer["count"] == 1
        call = run.regions.row(answer["flows"][0]["from_item"] - first["regions"], named=True)
        work = run.dispatches.row(row, named=True)
        assert (call["process"], call["correlation"]) == (work["process"], work["correlation"])
        assert "Launch" in call["name"] or "nccl" in call["name"]
        back = flows(document, layer="run", item=answer["flows"][0]["from_item"])
        assert row in [flow["to_item"] for flow in back["flows"]]


def test_flows_of_an_event_are_those_of_its_chain(document: Document) -> None:
    """A range has the arrows of all launches within it, and a launch of several pieces of work those of all of them."""
    spans = timeline_of(document).spans
    launched = [flow for row in range(5) for flow in flows(document, layer="run", item=row)["flows"]]
    for flow in launched:
        around = spans.filter(
            (pl.col("track") == flow["from_track"])
            & (pl.col("start_ns") <= flow["from_begin"])
            & (pl.col("end_ns") >= flow["from_end"])
        )
        for outer in around.iter_rows(named=True):
            chain = flows(document, layer="run", item=outer["item"])["flows"]
            assert flow["to_item"] in [each["to_item"] for each in chain]
            assert all(outer["start_ns"] <= each["from_begin"] < outer["end_ns"] for each in chain)


def test_flows_of_a_tile_are_told_only_when_they_are_few(document: Document) -> None:
    layer = layers_of_run(document)["layers"][0]
    whole = flows(document, layer="run", level=layer["level_count"] - 1, tile=0)
    assert whole["count"] > MOST_FLOWS
    assert whole["flows"] == []
    seen = set()
    level = layer["level_count"] - 6
    wide = (layer["tile_cells"] * layer["cell"]) << level
    for tile in range(int((layer["end"] - layer["begin"]) // wide) + 1):
        answer = flows(document, layer="run", level=level, tile=tile)
        assert answer["count"] == len(answer["flows"])
        for flow in answer["flows"]:
            ends = (flow["from_begin"], flow["to_begin"])
            assert any(tile * wide <= end < (tile + 1) * wide for end in ends)
            seen.add(flow["to_item"])
    assert len(seen) == document.run.dispatches.height + document.run.copies.height


def test_an_event_is_told_with_everything_that_is_known(document: Document) -> None:
    run, first = document.run, timeline_of(document).first_items
    row = run.regions["function"].cast(pl.String).to_list().index("hipLaunchKernel")
    answer = _asked(document, "span", layer="run", item=first["regions"] + row)
    assert answer["what"] == "call"
    assert answer["arguments"]
    stored = run.regions.row(row, named=True)
    assert answer["duration_ns"] == stored["end_ns"] - stored["start_ns"]
    dispatch = _asked(document, "span", layer="run", item=3)
    told = {fact["name"]: fact["value"] for fact in dispatch["facts"]}
    kernel = run.dispatches.row(3, named=True)
    assert dispatch["name"] == kernel["name"]
    assert told["grid_x"] == str(kernel["grid_x"])
    assert told["agent"].startswith("GPU")
    assert dispatch["flows"]["count"] == 1
    counted = run.counters.filter(pl.col("time_ns").is_null())["event"][0]
    with_counters = run.dispatches["event"].to_list().index(counted)
    assert _asked(document, "span", layer="run", item=with_counters)["counters"]


def test_occurrences_go_round(document: Document) -> None:
    kinds = timeline_of(document).kinds
    kind, count = kinds.row(2, named=True)["kind"], kinds.row(2, named=True)["count"]
    first = _asked(document, "occurrence", layer="run", kind=kind)
    assert (first["number"], first["count"]) == (0, count)
    last = _asked(document, "occurrence", layer="run", kind=kind, item=first["item"], step=-1)
    assert last["number"] == count - 1
    assert _asked(document, "occurrence", layer="run", kind=kind, item=last["item"], step=1)["item"] == first["item"]


def test_times_of_answers_count_from_the_begin_of_the_node(document: Document) -> None:
    end = _asked(document, "overview")["duration_ns"]
    answer = _asked(document, "run_gaps")
    truth = gaps(document.run, keep=500)
    assert answer["gap_count"] == truth.gap_count
    assert [row["gap_ns"] for row in answer["largest"]["rows"]] == truth.largest["gap_ns"].to_list()
    assert all(0 <= row["begin"] <= end for row in answer["largest"]["rows"])
    begins = dict(truth.largest.select("node", "start_ns").rows())
    assert min(begins.values()) < FAR < max(begins.values())  # the clocks of the nodes lie far apart
    for row in _asked(document, "run_busy")["gpus"]["rows"]:
        assert 0 <= row["begin"] <= row["end"] <= end


def test_strips_of_gpus_hold_their_busy_time(document: Document) -> None:
    facts = _asked(document, "run_strips")
    truth = busy(document.run).gpus
    assert [gpu["busy_share"] for gpu in facts["gpus"]] == truth["busy_share"].to_list()
    coarse = {"level": facts["level_count"] - 1, "tile": 0}
    whole = QUESTIONS["run_busy_strips"].answer(document, **coarse, chunk=0)
    width = 1 << coarse["level"]
    busy_ns = whole.group_by("number").agg(pl.col("share").cast(pl.Float64).sum() * width).sort("number")["share"]
    assert busy_ns.to_list() == pytest.approx(truth["busy_ns"].to_list(), rel=1e-5)
    mean = QUESTIONS["run_busy_mean"].answer(document, **coarse)
    assert mean["share"].cast(pl.Float64).sum() * width * truth.height == pytest.approx(
        truth["busy_ns"].sum(), rel=1e-5
    )
    assert QUESTIONS["run_busy_strips"].answer(document, **coarse, chunk=1).height == 0
    fine = {"level": coarse["level"] - 1}
    halves = [QUESTIONS["run_busy_strips"].answer(document, **fine, tile=tile, chunk=0) for tile in (0, 1)]
    assert pl.concat(halves)["share"].cast(pl.Float64).sum() * width / 2 == pytest.approx(
        truth["busy_ns"].sum(), rel=1e-5
    )
    with pytest.raises(UsageError):
        QUESTIONS["run_busy_mean"].answer(document, level=99, tile=0)


def test_every_gpu_has_its_tracks(document: Document) -> None:
    tracks = timeline_of(document).tracks.filter(pl.col("kind") == "stream")
    rows = _asked(document, "run_gpu_tracks")
    places = {(row["node"], row["gpu"]) for row in _asked(document, "run_gaps")["largest"]["rows"]}
    assert places <= {(row["node"], row["gpu"]) for row in rows}
    assert sorted(track for row in rows for track in row["tracks"]) == sorted(tracks.drop_nulls("agent")["track"])


@pytest.mark.slow
def test_kernels_and_one_of_them(document: Document) -> None:
    truth = kernels(document.run)
    answer = _asked(document, "run_kernels")
    assert [row["name"] for row in answer["kernels"]["rows"]] == truth.kernels["name"].to_list()
    name = truth.kernels["name"][1]
    one = _asked(document, "run_kernel", name=name)
    expected = truth.histogram.filter(pl.col("name") == name)
    assert [row["calls"] for row in one["histogram"]["rows"]] == expected["calls"].to_list()
    assert sum(row["calls"] for row in one["by_process"]) == truth.kernels["calls"][1]
    assert sum(row["calls"] for row in one["by_gpu"]) == truth.kernels["calls"][1]


def test_the_tree_of_regions(document: Document) -> None:
    truth = regions(document.run, domains=("MARKER",)).tree
    answer = QUESTIONS["run_regions"].answer(document, domain="MARKER")
    assert answer["name"].to_list() == truth["name"].to_list()
    assert answer["gpu_total_ns"].cast(pl.Int64).equals(truth["gpu_total_ns"])
    assert not [name for name, dtype in answer.schema.items() if dtype in (pl.Int64, pl.UInt64)]


@pytest.mark.slow
def test_a_run_against_another(library: Library) -> None:
    answer = _asked(library.document(1), "run_compare", base=0)
    slower = [
        row["name"] for row in answer["things"]["rows"] if row["status"] == "slower" and row["domain"] == "KERNEL"
    ]
    assert any("flash" in name for name in slower)
    assert answer["verdict"].startswith("after against before")
    assert answer["time_verdict"].startswith("time per GPU")
    before, after = (side["gpu_ns"] for side in answer["sides"]["rows"])
    assert sum(part["delta_ns"] for part in answer["parts"]["rows"]) == after - before


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("span", {"layer": "run", "item": -1}),
        ("span", {"layer": "run", "item": 1 << 40}),
        ("span", {"layer": "waves", "item": 0}),
        ("spans", {"layer": "run", "level": 99, "tile": 0}),
        ("spans", {"layer": "run", "level": 0, "tile": 1 << 50}),
        ("flows", {"layer": "run"}),
        ("flows", {"layer": "run", "level": -1, "tile": 0}),
        ("occurrence", {"layer": "run", "kind": 70_000}),
        ("run_summary", {"by": "weather"}),
        ("run_regions", {"domain": "weather"}),
        ("run_kernel", {"name": "no such kernel"}),
        ("run_compare", {"base": 0}),
        ("run_compare", {"base": 7}),
        ("waves", {}),
    ],
)
def test_nonsense_is_refused(document: Document, name: str, given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        _asked(document, name, **given)


def test_names_are_only_text() -> None:
    name = "<img src=x onerror=alert(1)>\x00\u202e"
    recorded = run(dispatches=spans((1, 5), name=name), regions=spans((0, 9), name=name))
    document = Document(0, "hostile", "", lambda: recorded)
    assert _asked(document, "layers")["layers"][0]["kinds"][0]["name"] == name
    assert _asked(document, "run_kernel", name=name)["kernels"]["rows"][0]["name"] == name


def test_a_run_of_nothing_answers_everything() -> None:
    document = Document(0, "nothing", "", lambda: Run([]))
    for question in QUESTIONS.values():
        if not question.required:
            ask(document, question.name, {})
    assert _asked(document, "layers")["layers"][0]["track_count"] == 0


@pytest.mark.slow
def test_what_an_exported_page_holds_can_be_answered(library: Library) -> None:
    document = library.document(0)
    for name in ("span", "spans", "run_summary", "run_kernel", "run_regions", "run_compare"):
        held = list(QUESTIONS[name].held(document))
        assert held
        for given in held[:3]:
            ask(document, name, {key: str(value) for key, value in given.items()})


def test_the_mean_of_a_busy_curve_is_the_busy_time(document: Document) -> None:
    names = _asked(document, "curve_names")
    by_name = {entry["name"]: entry for entry in names["curves"]}
    truth = busy(document.run).gpus
    labels = [series["label"] for series in by_name["busy"]["series"]]
    assert labels == [f"{row['node']} GPU {row['gpu']}" for row in truth.iter_rows(named=True)]
    for level in (names["level_count"] - 1, names["level_count"] - 4):
        wide = 1 << level
        count = -(-int(names["end"]) // (names["tile_cells"] * wide))
        tiles = [QUESTIONS["curves"].answer(document, name="busy", level=level, tile=tile) for tile in range(count)]
        whole = pl.concat(tiles).with_columns(
            length=pl.min_horizontal(wide, names["end"] - pl.col("bin").cast(pl.Float64) * wide)
        )
        found = whole.group_by("series").agg((pl.col("value") * pl.col("length")).sum()).sort("series")["value"]
        assert found.to_list() == pytest.approx(truth["busy_ns"].to_list(), abs=1)
        assert whole["low"].min() == 0
        assert whole["high"].max() == 1


def test_curves_of_memory_copies_and_counters(document: Document) -> None:
    names = _asked(document, "curve_names")
    assert {entry["name"] for entry in names["curves"]} == {"busy", "memory", "copying", "dispatches"}
    level = names["level_count"] - 1
    largest = document.run.copies["size_bytes"].max()
    copying = QUESTIONS["curves"].answer(document, name="copying", level=level, tile=0)
    assert copying["high"].max() >= largest
    with pytest.raises(UsageError):
        _asked(document, "curves", name="copying", level=level, tile=0, se=1)
    with pytest.raises(UsageError):
        _asked(document, "curves", name="weather", level=0, tile=0)


def test_edges_stand_between_events_of_one_name_that_touch() -> None:
    recorded = run(
        dispatches=[
            *spans((0, 100_000), (100_000, 250_000), (250_010, 400_000), name="a"),
            *spans((400_000, 500_000), name="b"),
            *spans((700_000, 800_000), name="b"),
            *spans((800_000, 800_100), (800_100, 900_000), name="b"),
        ]
    )
    document = Document(0, "", "", lambda: recorded)
    level = layers_of_run(document)["layers"][0]["level_count"] - 1
    found = QUESTIONS["edges"].answer(document, layer="run", level=level, tile=0)
    assert found["time"].to_list() == [
        100_000,
        250_010,
    ]  # not where names differ, gaps are seen, or events are too short
    assert QUESTIONS["edges"].answer(document, layer="run", level=0, tile=48)["time"].to_list() == [
        800_000,
        800_100,
    ]


@pytest.mark.slow
def test_a_diagnosis_places_its_cases_on_the_timeline(tmp_path: Path) -> None:
    write_rocpd(simulate(planted("readbacks", seed=3, ranks=2)[0]), tmp_path)  # on two nodes
    document = Document(0, "a run.db", str(tmp_path), lambda: open_path(tmp_path))
    truth = diagnose_run(document.run)
    answer = _asked(document, "run_diagnosis")
    assert [finding["verdict"] for finding in answer["findings"]] == [each.verdict for each in truth.findings]
    end = clocks_of(document).duration_ns
    (first, *_), evidence = answer["cases"][0], truth.findings[0].evidence[0]
    assert first["name"] == f"{evidence.what} -> {evidence.next_work}"
    assert 0 <= first["begin"] < first["end"] <= end
    assert first["end"] - first["begin"] == (evidence.end_ns or 0) - (evidence.start_ns or 0)
    assert "'a run.db'" in answer["next_command"]


def test_a_case_keeps_names_with_arrows(tmp_path: Path) -> None:
    kernel = "auto f<int>(int) -> float"
    steps = Range("step 0", (*((Host(900_000), Launch(kernel, 400_000)) * 5), Synchronise()))
    write_rocpd(simulate(Program((Rank(((steps,),)),))), tmp_path)
    answer = _asked(Document(0, "run", str(tmp_path), lambda: open_path(tmp_path)), "run_diagnosis")
    first = answer["cases"][0][0]
    assert first["what"] == first["name"] == f"{kernel} -> {kernel}"
    assert first["begin"] is not None


def test_kernels_have_short_names_that_differ(document: Document) -> None:
    pairs = _asked(document, "run_kernel_names")
    assert pairs
    assert {name for name, _, _ in pairs} <= set(kernels(document.run).kernels["name"])
    assert len({text for _, text, _ in pairs}) == len(pairs)
    assert all(len(text) <= 44 and not readable.startswith("_Z") for _, text, readable in pairs)


def test_what_is_sampled_has_no_value_before(tmp_path: Path) -> None:
    path = tmp_path / "sampled.db"
    write_sampled(path)
    document = Document(0, "sampled", str(path), lambda: open_path(path))
    names = _asked(document, "curve_names")
    (monitors,) = (entry for entry in names["curves"] if entry["name"] == "monitors")
    assert {series["keys"]["quantity"] for series in monitors["series"]} == {"device_power (W)", "device_temp (°C)"}
    whole = QUESTIONS["curves"].answer(document, name="monitors", level=names["level_count"] - 1, tile=0)
    assert whole["low"].drop_nans().min() > 0
