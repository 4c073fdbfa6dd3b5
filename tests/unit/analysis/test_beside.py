"""A folder with a run, thread traces and counters: kernels lead to their traces and limits, findings to their run."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.runs import planted, scaled, simulate, write_rocpd
from tests.cli.in_process import call
from tests.kit.made_decoded import write_decoded
from tests.kit.made_limits import limited
from tests.unit.readers.test_launches import trace, write_calls
from wavewright.analysis.beside import gains_in_run
from wavewright.model.document import Library
from wavewright.page.inputs import add_inputs
from wavewright.page.run.answers import kernel_of_run
from wavewright.readers import folder_of_run
from wavewright.readers.files.folder import Directory
from wavewright.readers.launches import look_beside
from wavewright.readers.run.inputs import open_run
from wavewright.words.kit.run_gain import calls_words, run_gain_words

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = "attn_fwd"
SAXPY = "void blas::saxpy<64u>(float, float const*, float*, unsigned int)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two kernels; of one of them a thread trace, and counters that say memory bandwidth."""
    write_decoded(tmp_path)
    calls = write_calls(tmp_path / "1_kernel_trace.csv", [9000, 9100, 9200], Kernel_Name=SAXPY)
    write_calls(tmp_path / "more" / "1_kernel_trace.csv", [500], Kernel_Name="other")
    calls.write_text(calls.read_text() + (tmp_path / "more" / "1_kernel_trace.csv").read_text().split("\n", 1)[1])
    (tmp_path / "more" / "1_kernel_trace.csv").unlink()
    work = replace(limited()["memory bandwidth"], name=SAXPY)
    write_counters(tmp_path / "pmc", CounterCapture("gfx942", (work,), jitter=0.0, with_channels=False))
    return tmp_path


def test_kernels_lead_to_their_traces_and_limits(folder: Path) -> None:
    answer = json.loads(call("kernels", "", folder, "--json").stdout)
    assert {row["name"] for row in answer["kernels"]["rows"]} == {SAXPY, "other"}
    (traced,), (limit,) = answer["traces"]["rows"], answer["limits"]["rows"]
    assert traced["name"] == limit["name"] == SAXPY
    assert limit["limit"].startswith("memory bandwidth is at its limit")
    said = call("kernels", "saxpy", folder).stdout
    for row in (traced, limit):
        program, *words = shlex.split(row["command"])
        done = call(*words)
        assert (program, done.status) == ("wavewright", 0), done.stderr
        assert "saxpy" in done.stdout
        assert row["command"] in said
    assert "reasons from the counters of 2 dispatches of " in call(*shlex.split(traced["command"])[1:]).stdout
    assert "thread trace" not in call("kernels", "other", folder).stdout


def test_the_page_shows_the_folder_as_documents_that_lead_to_each_other(folder: Path) -> None:
    library = Library()
    (first,) = add_inputs(library, [folder])
    assert first.kind == "trace"
    assert [(each.label, each.kind) for each in library.documents[1:]] == [("run", "run"), ("counters", "counters")]
    details = kernel_of_run(library.documents[1], name=SAXPY)
    assert [(row["name"], row["dispatch"]) for row in details["traces"]["rows"]] == [(SAXPY, "1")]
    assert details["limits"]["rows"][0]["dispatch_count"] == 2


def test_more_traces_than_are_looked_at_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_decoded(folder, "ui_output_agent_1_dispatch_2")
    monkeypatch.setattr(folder_of_run, "MOST_DISPATCHES", 1)
    done = call("kernels", "saxpy", folder)
    assert "1 more traced dispatch in the folder" in done.stdout


@pytest.mark.slow
def test_a_finding_of_a_trace_is_carried_to_its_run_and_its_steps(tmp_path: Path) -> None:
    program = planted("launch-bound phase", 0, 1).program
    span_ns, slower, faster = (simulate(scaled(program, KERNEL, percent)).span_ns for percent in (100, 90, 70))
    write_rocpd(simulate(program), tmp_path)
    calls = open_run(tmp_path).dispatches.filter(open_run(tmp_path).dispatches["name"].cast(str).str.contains(KERNEL))
    first = calls.row(0, named=True)
    traced = trace(first["dispatch_id"], str(first["name"]))
    look_beside(traced, [Directory(tmp_path)])
    certain, interval = gains_in_run(traced, [(0.3, 0.3), (0.1, 0.3)])
    assert certain.call_count == calls.height
    assert certain.calls_ns == (calls["end_ns"] - calls["start_ns"]).sum()
    assert (interval.span_ns, interval.gain_ns_min, interval.gain_ns_max) == (
        span_ns,
        span_ns - slower,
        span_ns - faster,
    )
    assert certain.gain_ns_max == span_ns - faster
    assert f"({interval.gain_ns_max / span_ns:.1%} of it)".replace("%", " %") in run_gain_words(interval)
    assert f"its {calls.height} calls of this size take" in calls_words(interval)
    (left_alone,) = gains_in_run(traced, [(0.3, 0.3)], most_events=10)
    assert (left_alone.gain_ns_max, run_gain_words(left_alone)) == (0, "")
    assert "`wavewright path --what-if` computes it" in calls_words(left_alone)


def test_without_a_run_nothing_is_said(tmp_path: Path) -> None:
    traced = trace(7)
    look_beside(traced, [Directory(tmp_path)])
    assert gains_in_run(traced, [(0.1, 0.2)]) == []


def test_a_run_that_is_gone_or_unreadable_is_no_error(tmp_path: Path) -> None:
    path = write_calls(tmp_path / "1_kernel_trace.csv", [9000, 9100])
    traced = trace(1)
    look_beside(traced, [Directory(tmp_path)])
    assert traced.launch is not None
    path.write_text("not a table any more")
    (gain,) = gains_in_run(traced, [(0.1, 0.2)])
    assert gain.unknown
    path.unlink()
    assert gains_in_run(traced, [(0.1, 0.2)]) == []
