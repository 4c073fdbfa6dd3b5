"""PC samples of rocprofv3: counts against those that the synthetic files were made from."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import wavewright
from synth import compiled
from synth.pc_samples import SYMBOLS, SampledRun, write_samples
from wavewright.errors import NotATraceError, UsageError
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.opening import open_trace
from wavewright.readers.run.inputs import open_run
from wavewright.readers.trace.samples.records import reason_named

if TYPE_CHECKING:
    from pathlib import Path

    from synth.pc_samples import SyntheticSamples

RUN = SampledRun(kernels=(compiled("saxpy", "gfx942"), compiled("divergent", "gfx942")), unread_count=4)
HOST_TRAP = SampledRun(method="host_trap", sample_count=90)
HEADER = '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"'


def by_text(made: SyntheticSamples) -> dict[tuple[str, str], int]:
    """Samples by text and comment, which is all that a CSV file records of a place."""
    counts: dict[tuple[str, str], int] = {}
    for sample in made.samples:
        key = (sample.text, sample.comment)
        counts[key] = counts.get(key, 0) + 1
    return counts


def counted(trace: ThreadTrace) -> pl.DataFrame:
    return trace.samples.join(trace.code, on="row").with_columns(count=pl.sum_horizontal(SAMPLE_COUNTS))


def reasons_of(trace: ThreadTrace) -> dict[str, int]:
    return dict(trace.sample_reasons.group_by("reason").agg(pl.col("count").sum()).iter_rows())


def test_stochastic_table(tmp_path: Path) -> None:
    made = write_samples(RUN, tmp_path)
    trace = wavewright.open(tmp_path)
    assert isinstance(trace, ThreadTrace)
    assert trace.source.format == "PC sampling"
    assert (trace.source.target, trace.gfxip) == ("gfx942", 9)
    rows = counted(trace).select("text", pl.col("inline_chain").fill_null(""), "count")
    assert {(text, comment): count for text, comment, count in rows.iter_rows()} == by_text(made)
    assert reasons_of(trace) == dict(made.reasons())
    assert trace.samples["issued_count"].sum() == sum(sample.issued is True for sample in made.samples)
    assert trace.samples["unknown_count"].sum() == 0
    assert set(trace.kernels["name"]) == {"saxpy", "divergent"}
    assert trace.kernels["vgprs"].to_list() == [8, 8]
    assert trace.code["address"].drop_nulls().to_list() == [0x9000]  # of the code that could not be read
    assert {"samples_without_addresses", "samples_without_code"} == set(trace.losses["kind"])


def test_dispatches_have_their_kernel_samples_and_times(tmp_path: Path) -> None:
    made = write_samples(RUN, tmp_path)
    trace = open_trace(tmp_path)
    of_two = [sample for sample in made.samples if sample.dispatch == 2]
    row = trace.sampled_dispatches.row(by_predicate=pl.col("dispatch") == 2, named=True)
    assert row["kernel_name"] == "divergent"
    assert row["sample_count"] == len(of_two)
    assert row["moment_count"] == len({sample.time_ns for sample in of_two})
    assert row["first_ns"] == of_two[0].time_ns
    assert row["cu_wave_count_mean"] == pytest.approx(sum(s.cu_wave_count for s in of_two) / len(of_two))
    assert trace.sampled_dispatches["kernel_name"].to_list()[-1] is None  # that of the code that could not be read


def test_one_dispatch(tmp_path: Path) -> None:
    made = write_samples(RUN, tmp_path)
    trace = open_trace(tmp_path, dispatch=3)
    assert trace.source.dispatch == 3
    assert trace.source.other_dispatches == ("1", "2", "4", "5", "6", "7")
    assert counted(trace)["count"].sum() == sum(sample.dispatch == 3 for sample in made.samples)
    with pytest.raises(UsageError, match=r"no sample of dispatch 99[\s\S]*1, 2, 3"):
        open_trace(tmp_path, dispatch=99)


@pytest.mark.parametrize("with_kernel_trace", [True, False])
def test_results(tmp_path: Path, with_kernel_trace: bool) -> None:
    made = write_samples(RUN, tmp_path, form="json", with_kernel_trace=with_kernel_trace)
    trace = open_trace(tmp_path)
    rows = counted(trace)
    places = {(number - 1, address): count for number, address, count in rows["code_object", "address", "count"].rows()}
    assert places == dict(made.counts())
    assert reasons_of(trace) == dict(made.reasons())
    assert trace.source.target == "gfx942"
    functions = dict(rows.drop_nulls("function").select("code_object", "function").unique().iter_rows())
    assert functions[1] == SYMBOLS["saxpy"]  # without a kernel trace, from the entries of the kernels
    assert functions[2] == "divergent"


def test_results_with_code_objects(tmp_path: Path) -> None:
    run = SampledRun(sample_count=200)
    made = write_samples(run, tmp_path, form="json", with_code=True)
    trace = open_trace(tmp_path)
    rows = counted(trace)
    assert {(number - 1, at): count for number, at, count in rows["code_object", "address", "count"].rows()} == dict(
        made.counts()
    )
    listing = [line.split("\t") for line in run.kernels[0].listing.decode().splitlines()]
    assert trace.code.height == len(listing)  # all of the code, sampled or not
    assert trace.code["size"].null_count() == 0
    assert trace.code["function"].drop_nulls().unique().to_list() == [SYMBOLS["saxpy"]]


def test_host_trap_does_not_tell_whether_a_wave_issued(tmp_path: Path) -> None:
    for form in ("csv", "json"):
        write_samples(HOST_TRAP, tmp_path / form, form=form)
        trace = open_trace(tmp_path / form)
        assert trace.samples["unknown_count"].sum() == 90
        assert trace.samples["issued_count"].sum() == trace.samples["stalled_count"].sum() == 0
        assert not trace.sample_reasons.height


def test_kinds_and_what_else_is_there(tmp_path: Path) -> None:
    write_samples(RUN, tmp_path / "csv")
    write_samples(RUN, tmp_path / "json", form="json")
    assert sniff(tmp_path / "csv") is Kind.SAMPLES
    assert sniff(tmp_path / "csv" / "4711_pc_sampling_stochastic.csv") is Kind.SAMPLES
    assert open_run(tmp_path / "csv").dispatches.height == 6  # the kernel trace beside the samples
    run = open_run(tmp_path / "json")
    assert run.dispatches.height == 6
    assert run.losses.select("kind", "count").rows() == [("samples_beside", 604)]
    assert isinstance(wavewright.open(tmp_path / "json" / "4711_results.json"), ThreadTrace)


def test_the_largest_run_is_read_and_its_json_before_its_csv(tmp_path: Path) -> None:
    write_samples(HOST_TRAP, tmp_path / "small")
    write_samples(RUN, tmp_path / "large")
    write_samples(RUN, tmp_path / "large", form="json")
    trace = open_trace(tmp_path)
    assert trace.source.path.endswith("large/4711_results.json")
    other = trace.losses.row(by_predicate=pl.col("kind") == "other_samples", named=True)
    assert other["count"] == 1
    assert "small/4711_pc_sampling_host_trap.csv" in other["message"]


def test_packed_and_several_processes(tmp_path: Path) -> None:
    write_samples(HOST_TRAP, tmp_path, form="json")
    file = tmp_path / "4711_results.json"
    document = json.loads(file.read_bytes())
    other = json.loads(json.dumps(document["rocprofiler-sdk-tool"][0]))
    other["buffer_records"]["pc_sample_host_trap"] = other["buffer_records"]["pc_sample_host_trap"][:5]
    document["rocprofiler-sdk-tool"].append(other)
    (tmp_path / "packed_results.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    trace = open_trace(tmp_path / "packed_results.json.gz")
    assert trace.samples["unknown_count"].sum() == 90
    assert "other_samples" in trace.losses["kind"]


def test_a_kernel_trace_of_another_run_names_no_kernel(tmp_path: Path) -> None:
    write_samples(HOST_TRAP, tmp_path)
    file = tmp_path / "4711_kernel_trace.csv"
    head, *rows = file.read_text().splitlines()
    days = 86_400_000_000_000 * 3
    moved = [
        ",".join([*(c := row.split(","))[:7], str(int(c[7]) + days), str(int(c[8]) + days), *c[9:]]) for row in rows
    ]
    file.write_text("\n".join([head, *moved]) + "\n")
    assert not open_trace(tmp_path).kernels.height


def test_a_run_without_samples_is_not_a_trace(tmp_path: Path) -> None:
    write_samples(HOST_TRAP, tmp_path, form="json")
    file = tmp_path / "4711_results.json"
    document = json.loads(file.read_bytes())
    document["rocprofiler-sdk-tool"][0]["buffer_records"]["pc_sample_host_trap"] = []
    file.write_text(json.dumps(document))
    with pytest.raises(NotATraceError, match="not a thread trace"):
        open_trace(file)


def test_rows_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    rows = ['5,1,1,"s_nop 0","",1', 'x,1,1,"s_nop 0","",1', '6,1,18446744073709551615,"s_nop 0","",1']
    file = tmp_path / "1_pc_sampling_host_trap.csv"
    file.write_text("\n".join([HEADER, *rows]) + "\n")
    trace = open_trace(file)
    assert trace.samples["unknown_count"].sum() == 2
    assert trace.sampled_dispatches["dispatch"].to_list() == [1, None]
    assert ("malformed_events", 1) in trace.losses.select("kind", "count").rows()


@pytest.mark.parametrize(
    ("name", "reason"), [("ALU", "ALU dependency"), ("EX_STALL", "pipe stall"), ("NEW_ONE", "new one")]
)
def test_reasons_of_other_versions(name: str, reason: str) -> None:
    assert reason_named(f"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_{name}") == reason
