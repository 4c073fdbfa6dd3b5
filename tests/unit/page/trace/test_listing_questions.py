"""Questions of the instruction listing and of loops, against the analyses they come from."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.small_traces import frame
from tests.unit.analysis.trace.test_loops import trace_of
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.histogram import row_histogram
from wavewright.analysis.trace.costs.loops import loop_iterations, loops
from wavewright.analysis.trace.costs.row_costs import entered_rows, row_costs
from wavewright.analysis.trace.listing import isa_listing
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.executions import is_execution
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.page.payloads import part_of_time
from wavewright.page.questions import questions_about
from wavewright.page.trace.answers import histogram, wave_loops
from wavewright.page.trace.code import code, costs, wave_costs
from wavewright.page.trace.listing import arrows, branches, row_latencies


def document_of(trace: ThreadTrace) -> Document:
    return Document(0, "", "", lambda: trace)


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    folder: Path = tmp_path_factory.mktemp("gemm")
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, realtime_pairs=2, loop_trips=5)
    write_capture(synthesize(scenario), folder)
    return wavewright.open(folder)


@pytest.mark.slow
def test_no_64_bit_integer_leaves(gemm: ThreadTrace) -> None:
    document = document_of(gemm)
    for question in questions_about("trace").values():
        if question.parameters or question.name in questions_about("any"):
            continue
        answer = question.answer(document)
        if isinstance(answer, pl.DataFrame):
            wide = [name for name, dtype in answer.schema.items() if dtype in (pl.Int64, pl.UInt64)]
            assert wide == [], question.name


def test_addresses_are_hexadecimal(gemm: ThreadTrace) -> None:
    assert [int(text, 16) for text in code(document_of(gemm))["address"]] == gemm.code["address"].to_list()


def test_registers_that_all_vector_instructions_read_are_not_sent() -> None:
    mnemonics = ["v_add_f32_e32", "v_div_fmas_f32", "s_cbranch_execz", "s_add_f32", "v_nop", "buffer_load_dword"]
    read = ["mode exec", "exec_lo mode vcc", "exec", "mode", None, "exec m0"]
    rows = frame("code", {"row": range(6), "mnemonic": mnemonics, "implicit_reads": read})
    sent = code(document_of(ThreadTrace({"code": rows}, TraceSource(path="nothing"))))
    assert sent["implicit_reads"].to_list() == ["", "vcc", "exec", "", None, "m0"]


def test_arrows_and_branches_are_those_of_the_listing(gemm: ThreadTrace) -> None:
    listing = isa_listing(gemm)
    found = arrows(document_of(gemm))
    assert found.select("wait_row", "producer_row", "counter", "count").rows() == listing.arrows.rows()
    assert (found["stall_cycles_total"] <= 1 << 40).all()
    assert branches(document_of(gemm)).rows() == listing.branches.rows()


def test_code_without_instructions_has_the_branches_that_it_writes() -> None:
    code = frame(
        "code", {"row": [0, 1], "code_object": [1, 1], "address": [0, 4], "text": ["s_nop 0", "s_branch 65534"]}
    )
    document = document_of(ThreadTrace({"code": code}, TraceSource(path="nothing")))
    assert branches(document).rows() == [(1, 0, None)]


def test_costs_of_one_wave_are_those_of_the_listing(gemm: ThreadTrace) -> None:
    wave = gemm.waves["wave"][2]
    listed = isa_listing(gemm, wave=wave).rows.filter(pl.col("hit_count") > 0)
    columns = ["row", "hit_count", "latency_cycles_total", "stall_cycles_total", "exposed_cycles_total"]
    assert wave_costs(document_of(gemm), wave=wave).select(columns).rows() == listed.select(columns).rows()


def test_parts_of_the_time_add_up_to_the_whole(gemm: ThreadTrace) -> None:
    document = document_of(gemm)
    offsets = alignment(gemm).offsets
    assert len(set(offsets.values())) > 1  # else this would not see clocks that are forgotten
    middle = float(gemm.instructions["time_cycles"].median())  # type: ignore[arg-type]
    sums = ["hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"]
    parts = [costs(part_of_time(document, *times)) for times in ((-1e9, middle), (middle, 1e9))]
    both = pl.concat(parts).select(pl.col(sums).sum()).row(0)
    whole = row_costs(gemm).select(pl.col(sums).sum()).row(0)
    assert both[1:] == whole[1:]
    # a barrier whose arrival is before the cut and whose release behind it is in both parts
    assert 0 <= both[0] - whole[0] <= gemm.waves.height
    se = gemm.instructions.join(gemm.waves.select("wave", "se"), on="wave")["se"].replace_strict(offsets)
    is_before = gemm.instructions["time_cycles"] + se < math.ceil(middle)
    executions = gemm.instructions.select(is_execution()).to_series()
    assert parts[0]["hit_count"].sum() == (is_before & executions).sum()


def test_a_histogram_shows_the_functions_that_were_entered(gemm: ThreadTrace) -> None:
    document = document_of(gemm)
    whole = histogram(document)
    rows = entered_rows(gemm)["row"]
    assert (whole.first_row, whole.last_row) == (rows[0], rows[-1])
    assert rows[-1] < gemm.code["row"][-1]  # behind the kernel stands padding
    assert whole.cycles_total == row_histogram(gemm).cycles_total
    early = part_of_time(document, None, float(gemm.instructions["time_cycles"].median()))  # type: ignore[arg-type]
    part = histogram(early)
    assert (part.first_row, part.last_row) == (whole.first_row, whole.last_row)
    assert part.cycles_total < whole.cycles_total
    assert histogram(document, last=0).first_row == 0


def test_latencies_name_their_origin(gemm: ThreadTrace) -> None:
    found = row_latencies(document_of(gemm))
    assert found.height
    assert set(found["origin"]) == {"waits"}


def test_iterations_of_a_wave_are_those_of_the_loops(gemm: ThreadTrace) -> None:
    (loop,) = loops(gemm).loops.filter(pl.col("depth") == 0).head(1).to_dicts()
    every = pl.concat(loop_iterations(gemm, wave).with_columns(wave=wave) for wave in gemm.waves["wave"])
    of_loop = every.filter(pl.col("loop") == loop["loop"])
    assert of_loop.height == loop["iteration_count"]
    assert of_loop["cycles"].median() == loop["iteration_cycles_median"]
    one = of_loop.filter(pl.col("wave") == 0)
    same_entry = one["entry"] == one["entry"].shift(-1)
    next_begin = one["start_cycles"] + one["cycles"]
    assert (next_begin.filter(same_entry) == one["start_cycles"].shift(-1).filter(same_entry)).all()


def test_nested_loops_begin_where_their_first_row_is_tried() -> None:
    inner = [2, 3]
    trace = trace_of([0, 1, *inner, *inner, *inner, 4, 1, *inner, 4, 5])
    found = loop_iterations(trace, 0).select("loop", "entry", "iteration", "is_last", "start_cycles").rows()
    outer = [(0, 0, 0, False, 10), (0, 0, 1, True, 90)]
    nested = [(1, 0, 0, False, 20), (1, 0, 1, False, 40), (1, 0, 2, True, 60), (1, 1, 0, True, 100)]
    assert found == outer + nested
    assert wave_loops(document_of(trace), wave=0)["start_cycles"].to_list() == [at[4] for at in outer + nested]


def test_waves_that_do_not_exist() -> None:
    document = document_of(trace_of([0, 5]))
    for question in ("wave_loops", "wave_costs"):
        for wave in ("7", "-1", str((1 << 63) - 1)):
            with pytest.raises(UsageError):
                asked = questions_about("trace")[question]
                asked.answer(document, **asked.parsed({"wave": wave}))
