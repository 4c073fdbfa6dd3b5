"""Questions that hand out answers of the analyses, and the comparison of two traces."""

from __future__ import annotations

import io

import msgspec
import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.compare import KINDS, compare
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.waits import waits
from wavewright.errors import UsageError
from wavewright.model.document import Document, Library
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.page.payloads import ask
from wavewright.page.protocol.serialize import serialize
from wavewright.page.questions import questions_about

TEXTS = ["global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(0)", "v_add_f32 v0, v1, v2", "s_endpgm"]
WITHOUT_PARAMETERS = (
    "diagnose", "stalls", "stall_rows", "waits", "occupancy_limits", "memory_latency", "barriers", "coverage",
    "caveats",
)  # fmt: skip


def steps(stall: int, wave: int):
    return [
        (0, "VMEM", 0, 0, 4, wave),
        (1, "IMMED", 8, stall, stall + 4, wave),
        (2, "VALU", stall + 20, 0, 4, wave),
        (3, "SALU", stall + 30, 0, 4, wave),
    ]


def trace(stall: int = 200, *, texts: list[str] = TEXTS) -> ThreadTrace:
    places = ["a.hip:3", "a.hip:4", "a.hip:4", "a.hip:9"]
    return small_trace(texts, [step for wave in range(4) for step in steps(stall, wave)], places=places)


@pytest.fixture
def library() -> Library:
    made = Library()
    made.add("before", "before", trace)
    made.add("after", "after", lambda: trace(320, texts=[*TEXTS[:2], "v_mul_f32 v0, v1, v2", TEXTS[3]]))
    made.add("empty", "empty", lambda: ThreadTrace({}, TraceSource(path="nothing")))
    made.add("run", "run", lambda: Run([]))
    return made


def answer(document: Document, name: str, **given: str):
    return msgspec.json.decode(ask(document, name, given).content)


def frame(document: Document, name: str, **given: str) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(ask(document, name, given).content))


def test_a_diagnosis_is_that_of_the_analysis():
    library = Library()
    library.add("long", "long", lambda: trace(700_000))  # two thirds of the time that its waves live
    document = library.document(0)
    found, shown = diagnose(document.trace), answer(document, "diagnose")
    assert (shown["trust"]["cycles"], shown["trust"]["lines"]) == (found.trust.cycles, found.trust.lines)
    assert [finding["verdict"] for finding in shown["findings"]] == [finding.verdict for finding in found.findings]
    evidence = shown["findings"][0]["evidence"][0]
    assert evidence["address"] == f"0x{found.findings[0].evidence[0].address:x}"


def test_stalls_without_rows_and_their_rows_apart(library):
    document = library.document(0)
    found = stalls(document.trace)
    shown = answer(document, "stalls")
    assert shown["classes"]["rows"][0]["stall_cycles_total"] == found.classes["stall_cycles_total"][0]
    assert "by_row" not in shown
    rows = frame(document, "stall_rows")
    assert rows["stall_cycles_total"].to_list() == found.by_row["stall_cycles_total"].to_list()
    assert not {pl.Int64, pl.UInt64} & set(rows.dtypes)


def test_waits_carry_their_exposed_cycles(library):
    document = library.document(0)
    shown = answer(document, "waits")
    wait = shown["waits"]["rows"][0]
    assert wait["row"] == 1
    assert 0 < wait["exposed_stall_cycles_total"] <= wait["stall_cycles_total"]
    assert shown["producers"]["row_count"] == waits(document.trace).producers.height == 1


def test_one_kernel_alone(library):
    whole = trace()
    whole.tables["waves"] = whole.waves.with_columns(kernel=pl.Series([0, 0, 0, 4], dtype=pl.UInt32))
    document = library.add("two kernels", "two kernels", lambda: whole)
    assert list(questions_about("trace")["stalls"].held(document)) == [{}, {"kernel": 0}, {"kernel": 4}]
    assert list(questions_about("trace")["stalls"].held(library.document(0))) == [{}]
    total = answer(document, "stalls")["stall_cycles_total"]
    parts = [answer(document, "stalls", kernel=kernel)["stall_cycles_total"] for kernel in ("0", "4")]
    assert parts == [3 * total // 4, total // 4]
    assert frame(document, "stall_rows", kernel="4")["stall_cycles_total"].sum() == total // 4
    for kernel in ("1", "-1", "99999999999"):
        with pytest.raises(UsageError, match=r"no traced wave entered|is not a whole number"):
            ask(document, "diagnose", {"kernel": kernel})


def test_tables_are_cut_and_say_so():
    assert serialize(pl.DataFrame({"row": range(5)}), top=2) == {"row_count": 5, "rows": [{"row": 0}, {"row": 1}]}


@pytest.mark.parametrize("name", [name for name in WITHOUT_PARAMETERS if name != "occupancy_limits"])
def test_a_trace_with_nothing_in_it_has_answers(library, name):
    assert ask(library.document(2), name, {}).content


def test_limits_of_an_unknown_gpu_are_an_error_and_not_exported(library):
    document = library.document(2)
    with pytest.raises(UsageError):
        ask(document, "occupancy_limits", {})
    assert list(questions_about("trace")["occupancy_limits"].held(document)) == []
    assert list(questions_about("trace")["occupancy_limits"].held(library.document(0))) == [{}]


def test_a_comparison_is_against_the_other_document(library):
    before, after = library.document(0), library.document(1)
    found = compare([before.trace, after.trace], labels=["before", "after"])
    shown = answer(after, "compare", other="0", by="instruction")
    assert shown["verdict"] == found.verdict()
    assert [row["label"] for row in shown["traces"]["rows"]] == ["before", "after"]
    units = frame(after, "compare_units", other="0", by="instruction")
    assert units["unit"].is_sorted()
    assert units.sort("unit")["delta_cycles_per_wave"].equals(found.units.sort("unit")["delta_cycles_per_wave"])
    backwards = answer(before, "compare", other="1", by="instruction")
    assert backwards["traces"]["rows"][0]["label"] == "after"
    assert not {pl.Int64, pl.UInt64} & set(units.dtypes)


@pytest.mark.parametrize("other", ["1", "7", "-1", "2", "3"])
def test_what_cannot_be_compared_is_refused(library, other):
    with pytest.raises(UsageError):
        ask(library.document(1), "compare", {"other": other, "by": "instruction"})


@pytest.mark.parametrize("by", ["color", "row" * 30])
def test_unknown_units_are_refused_with_what_there_is(library, by):
    with pytest.raises(UsageError) as caught:
        ask(library.document(1), "compare", {"by": by, "other": "0"})
    assert "one of" in caught.value.advice


def test_an_exported_page_holds_every_pair(library):
    question = questions_about("trace")["compare_units"]
    assert list(question.held(library.document(0))) == [{"other": 1, "by": by} for by in KINDS]
    assert list(question.held(library.document(2))) == []
    for held in question.held(library.document(0)):
        assert frame(library.document(0), "compare_units", **{name: str(value) for name, value in held.items()}).height


def test_lanes_are_those_of_the_analysis_and_exported_by_row(library):
    texts = ["v_and_b32_e32 v0, 0x3ff, v0", "v_lshlrev_b32_e32 v0, 7, v0", "ds_read_b32 v1, v0", "s_endpgm"]
    document = library.add("lds", "lds", lambda: trace(texts=texts))
    shown = answer(document, "lanes")
    assert [(row["row"], row["extra_cycles_total"]) for row in shown["rows"]["rows"]] == [(2, 4 * 62)]
    assert list(questions_about("trace")["lane_service"].held(document)) == [{"row": 2}]
    service = answer(document, "lane_service", row="2")
    assert [phase["cycles"] for phase in service["phases"]["rows"]] == [32, 32]
    with pytest.raises(UsageError, match="at row 1"):
        ask(document, "lane_service", {"row": "1"})
    assert list(questions_about("trace")["lane_service"].held(library.document(2))) == []  # no GPU, so no rule
