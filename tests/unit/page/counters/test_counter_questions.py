"""Questions about counter captures: the analyses' answers, bounded, and all of them in an exported page."""

from __future__ import annotations

import io

import msgspec
import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.limiters import limiters
from wavewright.analysis.counters.memory_chart import memory_chart
from wavewright.analysis.counters.raw import raw_counters
from wavewright.analysis.counters.values import metric_values
from wavewright.errors import UsageError
from wavewright.model.counters import COUNTER_SET, CounterSet, System
from wavewright.model.document import Document, Library
from wavewright.model.run import Run
from wavewright.model.schema import frame_of
from wavewright.page.counters.kernel_answers import MOST_KERNELS
from wavewright.page.counters.kernels import MOST_HELD
from wavewright.page.payloads import ask, held_by, prepare
from wavewright.page.protocol.payload import ARROW
from wavewright.page.questions import questions_about
from wavewright.readers.counters import open_counters


@pytest.fixture(scope="module")
def captures(tmp_path_factory) -> list[CounterSet]:
    """The same program on two GPUs of one kind; the second time one kernel is slower."""
    opened = []
    for name, slower in (("before", 1.0), ("after", 1.5)):
        folder = tmp_path_factory.mktemp(name)
        kernels = (KernelWork("gemm", 4, duration_ns=round(90_000 * slower), matrix=80), KernelWork("copy", 6))
        write_counters(folder, CounterCapture("gfx90a", kernels))
        opened.append(open_counters(folder))
    return opened


@pytest.fixture
def library(captures) -> Library:
    library = Library()
    for number, capture in enumerate(captures):
        library.add(f"capture {number}", "", lambda capture=capture: capture)
    return library


@pytest.fixture
def document(library) -> Document:
    return library.document(0)


def json_of(document: Document, question: str, **given: object) -> dict:
    return msgspec.json.decode(ask(document, question, {name: str(value) for name, value in given.items()}).content)


def test_the_overview_ranks_kernels_by_their_time(document, captures):
    facts = json_of(document, "overview")
    assert (facts["kind"], facts["target"], facts["dispatch_count"]) == ("counters", "gfx90a", 10)
    assert [kernel["kernel_name"] for kernel in facts["kernels"]] == ["gemm", "copy"]
    assert facts["kernels"][0]["duration_share"] > 0.5
    said = {fact["name"]: fact for fact in facts["system"]}
    assert float(said["cu_count"]["value"]) == captures[0].system.cu_count
    assert said["cu_count"]["said_by"]


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(
    "asked", [{}, {"kernel": 1}, {"normalization": "wave"}, {"kernel": 0, "normalization": "second"}]
)
def test_panels_are_those_of_the_analysis(document, captures, asked):
    choice = CounterChoice(kernels=(str(asked["kernel"]),)) if "kernel" in asked else CounterChoice()
    expected = counter_panels(captures[0], choice=choice, normalization=asked.get("normalization", "kernel")).rows
    answer = json_of(document, "counter_panels", **asked)
    shown = {(row["metric_id"], row["series"]): row["average"] for row in answer["rows"]["rows"]}
    whole = expected.filter(pl.col("channel").is_null())
    assert shown == {(row["metric_id"], row["series"]): row["average"] for row in whole.iter_rows(named=True)}
    channels = pl.read_ipc_stream(
        io.BytesIO(ask(document, "counter_channels", {k: str(v) for k, v in asked.items()}).content)
    )
    hits = expected.filter((pl.col("table_id") == "18.2") & pl.col("channel").is_not_null())
    assert channels.filter(pl.col("table_id") == "18.2")["average"].to_list() == hits["average"].to_list()


def test_the_memory_chart_is_that_of_the_analysis(document, captures):
    answer = json_of(document, "memory_chart", kernel=1)
    expected = memory_chart(captures[0], choice=CounterChoice(kernels=("1",)))
    assert [row["value"] for row in answer["values"]["rows"]] == expected.values["value"].to_list()


def test_dispatches_know_the_rank_of_their_kernel(document):
    answer = json_of(document, "counter_dispatches", kernel=1)["dispatches"]
    assert answer["row_count"] == 6
    assert {(row["kernel"], row["kernel_name"]) for row in answer["rows"]} == {(1, "copy")}
    assert all(row["duration_ns"] > 0 for row in answer["rows"])


def test_the_diagnosis_is_that_of_the_analysis(document, captures):
    answer = json_of(document, "counter_diagnosis")
    expected = limiters(captures[0])
    assert [kernel["summary"] for kernel in answer["kernels"]] == [kernel.summary for kernel in expected.kernels]
    assert len(json_of(document, "counter_diagnosis", kernel=1)["kernels"]) == 1


def test_values_of_dispatches_are_those_of_the_analysis(document, captures):
    shown = pl.read_ipc_stream(io.BytesIO(ask(document, "counter_values", {"table": "17.1"}).content))
    expected = metric_values(captures[0], by="dispatch", panels=("17.1",)).values
    assert shown["dispatch"].to_list() == expected["dispatch"].to_list()
    for name in expected.columns:
        if name.startswith("17.1."):
            assert shown[name].to_list() == expected[name].to_list()
    assert shown["dispatch_total"].unique().to_list() == [10]


def test_a_dispatch_unlike_the_others_is_marked(tmp_path):
    write_counters(tmp_path, CounterCapture("gfx90a", (KernelWork("copy", 9),), jitter=0.0))
    file = tmp_path / "pmc_perf.csv"
    rows = pl.read_csv(file)
    late = pl.when(pl.col("Dispatch_ID") == 4).then(pl.col("End_Timestamp") + 50_000).otherwise("End_Timestamp")
    rows.with_columns(late.alias("End_Timestamp")).write_csv(file)
    counters = open_counters(tmp_path)
    document = Library().add("late", "", lambda: counters)
    shown = pl.read_ipc_stream(io.BytesIO(ask(document, "counter_values", {"table": "2.1"}).content))
    marked = shown.filter(pl.col("outlier_ids").str.split(" ").list.contains("duration"))
    assert marked["dispatch_id"].to_list() == [4]


def test_raw_counters_are_those_of_the_analysis(document, captures):
    answer = json_of(document, "counter_raw", kernel=1)["counters"]
    expected = raw_counters(captures[0], choice=CounterChoice(kernels=("1",))).counters
    assert [(row["counter"], row["total"]) for row in answer["rows"]] == expected.select("counter", "total").rows()


def test_two_captures_are_compared(library):
    answer = json_of(library.document(1), "counter_compare", base=0)
    assert [side["label"] for side in answer["sides"]["rows"]] == ["A: capture 0", "B: capture 1"]
    gemm = next(row for row in answer["kernels"]["rows"] if row["kernel_name"] == "gemm")
    assert (gemm["status"], gemm["kernel"]) == ("slower", 0)
    assert "B: capture 1 against A: capture 0" in answer["verdict"]
    for base in (1, 7):
        with pytest.raises(UsageError):
            ask(library.document(1), "counter_compare", {"base": str(base)})


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("counter_panels", {"kernel": "2"}),
        ("counter_panels", {"kernel": "-1"}),
        ("counter_panels", {"normalization": "fortnight"}),
        ("memory_chart", {"kernel": "99999999999"}),
        ("counter_roofline", {"ceilings": "glass"}),
        ("counter_dispatches", {"kernel": "gemm"}),
        ("counter_values", {}),
        ("counter_values", {"table": "99.1"}),
        ("counter_values", {"table": "18.2"}),
        ("spans", {"layer": "run", "level": "0", "tile": "0"}),
        ("waves", {}),
    ],
)
def test_nonsense_is_refused(document, question, given):
    with pytest.raises(UsageError):
        ask(document, question, given)


def test_other_documents_have_no_counters():
    run = Library().add("run", "run", lambda: Run([]))
    with pytest.raises(UsageError, match="about a run"):
        ask(run, "counter_panels", {})
    with pytest.raises(UsageError, match="run is a run, not a counter capture"):
        _ = run.counters


def test_an_exported_page_holds_every_kernel_and_normalization(document):
    keys = [held.key for held in held_by(document)]
    assert len(keys) == len(set(keys))
    assert {"0/overview", "0/layers", "0/counter_metrics", "0/counter_roofline", "0/counter_compare?base=1"} <= set(
        keys
    )
    assert {"0/counter_panels", "0/counter_panels?kernel=1&normalization=cycle", "0/memory_chart?kernel=0"} <= set(keys)


def test_an_exported_page_of_many_kernels_holds_the_longest(tmp_path):
    kernels = tuple(KernelWork(f"k{n}", 1, duration_ns=10_000 - n) for n in range(MOST_HELD + 20))
    write_counters(tmp_path, CounterCapture("gfx908", kernels, with_channels=False))
    capture = open_counters(tmp_path)
    held = [one for one in held_by(Library().add("many", "", lambda: capture)) if one.question == "counter_panels"]
    asked = {one.parameters.get("kernel") for one in held}
    assert len(asked) == MOST_HELD + 1
    assert "0" in asked


@pytest.mark.slow
def test_the_roofline_of_many_kernels_has_the_longest_and_any_that_is_asked_for(tmp_path):
    count = MOST_KERNELS + 4
    kernels = tuple(KernelWork(f"k{n}", 1, duration_ns=90_000 - n, fma_f32=4) for n in range(count))
    write_counters(tmp_path, CounterCapture("gfx90a", kernels, jitter=0.0, with_channels=False))
    capture = open_counters(tmp_path)
    document = Library().add("many", "", lambda: capture)
    answer = json_of(document, "counter_roofline")
    assert (answer["kernels"]["row_count"], len(answer["kernels"]["rows"])) == (count, MOST_KERNELS)
    assert {point["kernel"] for point in answer["points"]["rows"]} == set(range(MOST_KERNELS))
    alone = json_of(document, "counter_roofline", kernel=count - 1)
    assert [row["kernel_name"] for row in alone["kernels"]["rows"]] == [f"k{count - 1}"]
    assert {point["kernel"] for point in alone["points"]["rows"]} == {count - 1}


def test_no_answer_holds_integers_that_javascript_cannot(document):
    for question in questions_about("counters").values():
        for parameters in list(question.held(document))[:2]:
            payload = ask(document, question.name, {name: str(value) for name, value in parameters.items()})
            if payload.media_type == ARROW:
                schema = pl.read_ipc_stream(io.BytesIO(payload.content)).schema
                assert [name for name, dtype in schema.items() if dtype in (pl.Int64, pl.UInt64)] == [], question.name


@pytest.mark.parametrize("system", [System(), System(target="gfx9999"), System(target="gfx942")], ids=str)
def test_an_empty_capture_answers_or_says_why(system):
    document = Library().add("empty", "", lambda: CounterSet({}, system=system))
    prepare(document)
    for question in questions_about("counters").values():
        if not question.required:
            try:
                ask(document, question.name, {})
            except UsageError as error:
                assert error.what


def test_stored_metrics_keep_the_ids_of_the_tool_that_computed_them():
    made = {"name": "Hit Rate", "unit": "Percent", "statistic": "Avg", "panel_title": "L2", "table_title": "L2 speed"}
    rows = [
        made | {"kernel_name": name, "metric_id": "17.1.7", "value": value}
        for name, value in (("a", 40.0), ("b", 60.0))
    ]
    counters = CounterSet(
        {"stored_metrics": frame_of(COUNTER_SET["stored_metrics"], rows)}, system=System(target="gfx950")
    )
    document = Library().add("stored", "", lambda: counters)
    (panel,) = json_of(document, "counter_metrics")
    assert [metric["id"] for table in panel["tables"] for metric in table["metrics"]] == ["17.1.7"]
    names = [kernel["kernel_name"] for kernel in json_of(document, "overview")["kernels"]]
    for rank, name in enumerate(names):
        (row,) = json_of(document, "counter_panels", kernel=rank)["rows"]["rows"]
        assert row["average"] == {"a": 40.0, "b": 60.0}[name]
    with pytest.raises(UsageError, match="not of single dispatches"):
        ask(document, "counter_values", {"table": "17.1"})
