from __future__ import annotations

import time
from pathlib import Path

import pytest

from synth.profiler_output import (
    KERNEL,
    KINDS,
    make_templates,
    outcome,
    write_kernel_trace,
    write_placeholder,
    write_thread_trace,
)
from wavewright.errors import NotATraceError
from wavewright.readers.files.capture import find_capture
from wavewright.readers.trace.att import decode_window


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"))


@pytest.mark.first_case
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_what_it_says(templates: Path, tmp_path: Path, kind: str) -> None:
    start = time.process_time()
    files = write_thread_trace(templates, tmp_path, kind=kind, engines=(0, 5))
    assert time.process_time() - start < 0.3
    assert [path.name for path in files if path.suffix == ".att"] == [
        f"att_4711_shader_engine_{engine}_{dispatch}.att" for dispatch in (7, 8) for engine in (0, 5)
    ]
    capture = find_capture([tmp_path])
    assert [(window.pid, window.dispatch) for window in capture.windows] == [(4711, 7), (4711, 8)]
    if kind == "unreadable":
        with pytest.raises(NotATraceError):
            decode_window(capture, capture.windows[0])
        return
    trace = decode_window(capture, capture.windows[0])
    losses = set(trace.losses["kind"].to_list())
    assert trace.kernels["demangled"].to_list() == [KERNEL]
    assert (trace.waves.height == 0) == (kind == "empty")
    assert ("packet_loss" in losses) == (kind == "lossy")
    assert ("missing_end" in losses) == (kind == "truncated")
    assert trace.occupancy.height > 0


def test_what_is_left_without_a_dispatch(templates: Path, tmp_path: Path) -> None:
    assert [path.suffix for path in write_thread_trace(templates, tmp_path, kind="none")] == [".out", ".tsv"]
    assert write_thread_trace(templates, tmp_path / "b", kind="nothing") == []


def test_a_full_buffer_has_its_capacity(templates: Path, tmp_path: Path) -> None:
    files = write_thread_trace(templates, tmp_path, kind="truncated", capacity_bytes=1 << 17)
    assert {path.stat().st_size for path in files if path.suffix == ".att"} == {1 << 17}


def test_outcome_follows_the_variables() -> None:
    variables = {"ROCPROF_ATT_PARAM_SHADER_ENGINE_MASK": "0x11", "ROCPROF_ATT_PARAM_BUFFER_SIZE": "0x200000"}
    assert outcome(variables, needed_bytes=1 << 20, busy_engines=(4,)) == ((0, 4), {0: "empty", 4: "good"})
    assert outcome(variables, needed_bytes=1 << 21, busy_engines=(4,))[1] == {0: "empty", 4: "truncated"}
    assert outcome({"ROCPROF_ATT_PARAM_TARGET_CU": "3"}, busy_cus=(2,)) == ((0,), {0: "empty"})
    assert outcome({"ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL": "4"}, lossy_below_period=8)[1] == {0: "lossy"}


def test_tables_and_placeholders_are_read_by_our_readers(tmp_path: Path) -> None:
    import wavewright
    from wavewright.readers.files.decoded_traces import decoded_folder
    from wavewright.readers.files.folder import Directory

    path = write_kernel_trace(tmp_path, [(KERNEL, 65536)] * 3 + [("other", 256)])
    run = wavewright.open_run(path)
    names = [name for chunk in run.chunks("dispatches", ("name",)) for name in chunk["name"].to_list()]
    assert names == [KERNEL] * 3 + ["other"]
    assert decoded_folder(Directory(write_placeholder(tmp_path, 9, has_occupancy=False))).is_placeholder
    assert decoded_folder(Directory(write_placeholder(tmp_path, 10))).wave_count == 0
