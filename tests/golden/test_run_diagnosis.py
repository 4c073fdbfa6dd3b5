"""Diagnoses of public runs: the same first finding, with the same bound, as a careful reader of the files names."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from csv import DictReader
from pathlib import Path

import pytest

from tests.kit.opened import open_run
from tests.kit.sampling import every_third
from wavewright.analysis.run.diagnose import RunDiagnosis, diagnose_run
from wavewright.analysis.run.gpu_time.busy import busy


def diagnosed(shared: Path, name: str) -> RunDiagnosis:
    return diagnose_run(open_run(shared / "data" / name))


def rules(answer: RunDiagnosis) -> list[str]:
    return [finding.rule for finding in answer.findings]


def test_vllm_waits_for_small_copies_and_nothing_else(shared: Path) -> None:
    answer = diagnosed(shared, "rpd/mytrace.rpd.gz")
    assert answer.headline == (
        "GPU busy 92.0 % of 453.0 ms (computation 89.9, copies 2.1), idle 8.0 %. "
        "Work of the GPU decides: 89.9 % of the time is kernels."
    )
    only, fusion = answer.findings
    assert (fusion.rule, f"{100 * fusion.bound_share:.1f}") == ("L2", "2.4")
    assert only.rules == ("C3", "G4")
    assert f"{100 * only.bound_share:.1f}" == "6.9"
    assert "350 uploads (344 below 64 KiB): the GPU idles 17.7 ms" in only.reason
    assert "the GPU idles 13.4 ms (3.0 % of the time) after 21 of them" in only.reason
    assert only.evidence[0].stack[-1] == "aten::copy_"
    assert (answer.step_count, answer.step_name) == (22, "execute_model")
    texts = " ".join(note.text for note in answer.not_findings)
    assert "inside blocking calls: the GPU was busy 92.0 %" in texts
    assert "come from graphs" in texts
    assert any(caveat.rule == "D2" for caveat in answer.caveats)
    assert any(note.text == "7 more GPUs visible, unused" for note in answer.notes)
    assert not any("first step" in caveat.text for caveat in answer.caveats)
    assert any("steps 0, 1 of execute_model" in note.text and "75.3 %" in note.text for note in answer.not_findings)
    of_steps = _kernel_times_of_steps(shared / "data/rpd/mytrace.rpd.gz")
    assert len(of_steps) == 22
    assert sum(of_steps[:2]) / sum(of_steps) == pytest.approx(0.753, abs=0.0005)


def _kernel_times_of_steps(path: Path) -> list[int]:
    """Of each range execute_model the durations of kernels that calls inside it launched, by SQL on the file."""
    with closing(sqlite3.connect(":memory:")) as database, gzip.open(path) as packed:
        database.deserialize(packed.read())
        query = """
            with steps as (
                select api.start as a, api.end as b from rocpd_api api
                join rocpd_string name on name.id = api.apiName_id join rocpd_string text on text.id = api.args_id
                where name.string = 'UserMarker' and text.string like '%execute_model%')
            select (select sum(op.end - op.start) from rocpd_api_ops link join rocpd_op op on op.id = link.op_id
                join rocpd_api call on call.id = link.api_id join rocpd_string kind on kind.id = op.opType_id
                where call.start >= a and call.start < b and kind.string not like 'Copy%')
            from steps order by a
        """
        return [int(total or 0) for (total,) in database.execute(query)]


def test_matmul_moves_data_and_waits_for_its_first_kernel(shared: Path) -> None:
    """The lesson of RPD's tutorial: the upload is most of the work of the GPU. Numbers by SQL on the file."""
    path = shared / "data/rpd/matmul_result.rpd"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        times = "select min(start), max(end), sum(end - start) from rocpd_op"
        start, end, work = database.execute(times).fetchone()  # no two of its operations overlap
        of_kind = f"{times} join rocpd_string on rocpd_string.id = opType_id where string = ?"
        _, uploaded, moved = database.execute(of_kind, ["CopyHostToDevice"]).fetchone()
        computes, _, _ = database.execute(of_kind, ["KernelExecution"]).fetchone()
    answer = diagnose_run(open_run(path))
    assert answer.window_ns == end - start
    assert 1 - answer.idle_share == pytest.approx(work / (end - start))
    idle, copies = answer.findings
    assert (idle.rule, copies.rule) == ("G1", "C1")
    assert idle.evidence[0].start_ns == uploaded
    assert idle.evidence[0].end_ns == computes
    assert copies.time_ns == pytest.approx(moved, rel=0.01)
    assert "copies are 85.6 % of the work of the GPU" in copies.reason
    assert "record the calls" not in idle.remedy  # they are recorded
    assert not any("start-up" in caveat.text for caveat in answer.caveats)


@pytest.mark.slow
def test_qwen_could_be_fused(shared: Path) -> None:
    """Kernels between matrix products and attention, all but the longest of each row, from the raw file."""
    path = shared / "data/kineto-amd/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
    with gzip.open(path) as stream:
        events = [event for event in json.load(stream)["traceEvents"] if event.get("cat") in ("kernel", "gpu_memcpy")]
    events.sort(key=lambda event: event["ts"])
    row: list[float] = []
    saved = 0.0
    for event in events:
        if event["cat"] == "gpu_memcpy" or event["name"].startswith("Cijk") or "attn" in event["name"]:
            saved += sum(row) - max(row, default=0)
            row = []
        else:
            row.append(event["dur"])
    saved += sum(row) - max(row, default=0)
    first, *rest = diagnose_run(open_run(path)).findings
    assert first.rule == "L2"
    assert first.bound_ns == pytest.approx(1_000 * saved, rel=1e-3)
    assert f"{100 * first.bound_share:.1f}" == "31.5"
    assert all(finding.bound_share < 0.1 for finding in rest)


def test_bert_is_bound_by_host_and_launches(shared: Path) -> None:
    answer = diagnosed(shared, "kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz")
    assert rules(answer)[:2] == ["G2", "G3"]
    assert f"{100 * answer.idle_share:.1f}" == "88.8"
    assert any(caveat.rule == "D5" for caveat in answer.caveats)


@pytest.mark.slow
def test_timesformer_waits_for_nothing_and_does_not_fuse_its_softmax(shared: Path) -> None:
    answer = diagnosed(shared, "kineto-amd/facebook_timesformer-base-finetuned-k400__1016002.json.gz")
    assert rules(answer) == ["L2"]
    assert "cunn_SoftMaxForward" in answer.findings[0].evidence[0].what
    assert f"{100 * answer.idle_share:.1f}" == "1.2"


def test_one_wait_of_sglang_is_not_launch_bound(shared: Path) -> None:
    answer = diagnosed(shared, "kineto-amd/sglang_Qwen3-8B_decode.json.gz")
    assert rules(answer) == ["L2"]
    assert {caveat.rule for caveat in answer.caveats} == {"D1", "D5"}
    assert answer.headline.startswith("Start-up is 463.3 ms of 473.7 ms (97.8 %) and is set aside.")


@pytest.mark.slow
def test_two_ranks_expose_communication(shared: Path) -> None:
    answer = diagnosed(shared, "kineto-multirank-2of4/merged_ranks01.json.gz")
    first, second, *rest = answer.findings
    assert (first.rule, f"{100 * first.share:.1f}", f"{100 * first.bound_share:.1f}") == ("X1", "28.0", "28.0")
    assert (second.rule, second.within, second.bound_ns) == ("X2", "X1", 0)
    assert second.time_ns == pytest.approx(17_600_000, abs=100_000)  # as `wavewright ranks` has it
    assert [finding.rule for finding in rest if not finding.within][:2] == ["G2", "G3"]
    assert "X3" in answer.checked
    bounds = {finding.rule: finding.bound_share for finding in answer.findings}
    assert all(each.gain_share_max <= bounds[each.within] for each in answer.findings if each.within)


def test_without_launches_there_are_no_causes(shared: Path) -> None:
    llama = diagnosed(shared, "gfx1151-rocprofv3-llama")
    assert rules(llama) == ["G1"]
    with (shared / "data/gfx1151-rocprofv3-llama/decode_kernel_trace.csv").open() as stream:
        kernels = [
            (row["Kernel_Name"], int(row["End_Timestamp"]) - int(row["Start_Timestamp"])) for row in DictReader(stream)
        ]
    first = llama.kernels.row(0, named=True)  # of the run alone: passes of counters run the kernels again
    assert first["total_ns"] == sum(length for name, length in kernels if name == first["name"])
    assert first["share"] == pytest.approx(first["total_ns"] / sum(length for _, length in kernels))
    assert any(caveat.rule == "D3" for caveat in llama.caveats)
    training = diagnosed(shared, "rocprofv3-json-mi350x/908_first8000_results.json.gz")
    assert rules(training) == ["G1", "X1"]
    assert f"{100 * training.findings[0].bound_share:.1f}" == f"{100 * training.idle_share:.1f}" == "81.5"
    assert "the record does not tell why" in training.findings[0].reason
    assert "1.0 % is hidden; 98." in training.findings[1].reason
    assert any(caveat.rule == "D3" for caveat in training.caveats)


def test_allocation_before_the_first_kernel_is_a_doubt(shared: Path) -> None:
    answer = diagnosed(shared, "att-mi300x-bmm/c09/raw/37_results.db")
    assert "G6" not in rules(answer)
    assert any(caveat.rule == "D1" and "in allocations" in caveat.text for caveat in answer.caveats)


KNOWN = (
    "rpd/matmul_result.rpd",
    "kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz",
    "kineto-amd/gpu_only_trace.json.gz",
    "kineto-amd/sglang_Qwen3-8B_decode.json.gz",
    "kineto-graphs/vllm_prefilldecode_piecewise",
    "kineto-multirank-2of4/merged_ranks01.json.gz",
    "rocprofv3-json-mi350x/908_first8000_results.json.gz",
    "rocprofv3-mi350x-flydsl/moe_reduce",
    "gfx1151-rocprofv3-llama",
    "xplane-mi300x/jax_conv_minimal_08.xplane.pb",
    "rocprofv1-mi300a-hiptrace/results.db",
    "att-mi300x-bmm/c10/raw/163_results.db",
)


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("name", every_third(KNOWN))
def test_the_largest_part_has_a_sentence_and_parts_fit_into_wholes(shared: Path, name: str) -> None:
    run = open_run(shared / "data" / name)
    answer = diagnose_run(run)
    shares = {
        "kernels": answer.computation_share,
        "communication": answer.communication_share,
        "copies": answer.copy_share,
        "idle": answer.idle_share,
    }
    assert sum(shares.values()) == pytest.approx(1)
    largest = max(shares, key=lambda kind: shares[kind])
    assert largest in {"kernels", *(finding.kind for finding in answer.findings)}
    bounds = {finding.rule: finding.bound_share for finding in answer.findings}
    assert all(each.gain_share_max <= bounds[each.within] for each in answer.findings if each.within)
    gpus = busy(run).gpus
    if not any("start-up is left out" in caveat.text for caveat in answer.caveats):
        assert 1 - answer.idle_share == pytest.approx(gpus["busy_ns"].sum() / gpus["span_ns"].sum(), abs=1e-6)
    elif sum(gpus["span_ns"]) > 1.2 * sum(answer.gpus["window_ns"]):
        assert answer.headline.startswith("Start-up is ")
