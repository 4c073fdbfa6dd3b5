"""Every verdict about thread traces (spec 9.4), reached by files of that kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from synth import Scenario, compiled, grow, synthesize, write_capture
from synth.profiler_output import (
    KERNEL,
    make_templates,
    write_kernel_trace,
    write_placeholder,
    write_thread_trace,
)
from tests.unit.capture.verdicts.attempts import WELL, attempt_in, attempt_of, ended
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Recording, ThreadTraces
from wavewright.capture.verdicts import judge

WANTED = ThreadTraces(program=("app",), kernel_regex="saxpy", launches=(7, 8), se_mask=0x3, target_cu=1)
DECODER = "F20260602 10:30:58.454084 1390 att_lib_wrapper.cpp:66] Error loading decoder: 37\n"
STARTED = "W20260602 10:30:56.313932 1390 simple_timer.cpp:55] [rocprofv3] tool initialization ::     0.000331 sec\n"
FATAL = "F0602 10:30:58.454084 1390 a.cpp:6] "


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture(scope="module")
def templates_rdna(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_templates(tmp_path_factory.mktemp("templates"), target="gfx1100", kinds=("good", "empty"))


def first(judgement: Judgement) -> str:
    return judgement.reasons[0]


@pytest.mark.slow
def test_good(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path, stderr=STARTED)
    write_thread_trace(templates, attempt / "raw", engines=(0, 1))
    write_kernel_trace(attempt / "raw", [(KERNEL, 65536)] * 12)
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert judgement.is_kept
    assert judgement.causes == ()
    assert [(d.dispatch, d.launch, d.wave_count, d.instruction_count) for d in judgement.dispatches] == [
        (8, 8, 40, 2380),
        (7, 7, 32, 1964),
    ]
    assert {d.kernel for d in judgement.dispatches} == {KERNEL}
    assert {d.folder for d in judgement.dispatches} == {"raw/4711"}
    assert judgement.dispatches[0].mapped_share == pytest.approx(0.985, abs=0.001)  # one row has line 0
    assert judgement.dispatches[0].size_bytes == sum(p.stat().st_size for p in attempt.rglob("*_8.att"))
    assert judgement.launch_count == 12
    assert judgement.noise_share is not None
    assert 0 < judgement.noise_share < 0.5
    facts = "Dispatch 8 (launch 8) has 40 waves and 2,380 instructions, 99 % with a source line."
    assert first(judgement) == facts


def test_empty_says_where_waves_were_seen(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="empty", engines=(0, 1))
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.EMPTY
    assert judgement.busy_engines == (0, 1)
    assert 1 not in judgement.busy_cus
    assert len(judgement.busy_cus) > 8
    assert [d.is_placeholder for d in judgement.dispatches] == [True, True]
    assert "2 dispatches were traced, but no wave ran on the traced CU" in first(judgement)
    assert f"--cu {judgement.busy_cus[0]}" in judgement.advice


def test_empty_on_rdna_leaves_out_the_other_shader_array(templates_rdna: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates_rdna, attempt / "raw", kind="empty", engines=(0, 1, 2, 3))
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.EMPTY
    assert judgement.busy_cus
    assert max(judgement.busy_cus) < 8
    assert judgement.busy_simds  # waves ran on the traced WGP, on SIMDs that are not traced
    assert 0 not in judgement.busy_simds


def test_one_busy_engine_is_enough(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", engines=(0, 4), kinds_of_engines={0: "empty"})
    assert judge(WANTED, WELL, attempt).verdict is Verdict.GOOD


@pytest.mark.slow
def test_truncated_by_the_stream_itself(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="truncated")
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.TRUNCATED
    assert judgement.is_kept
    assert "2 of 2 traces are cut off" in first(judgement)


def test_truncated_because_the_buffer_is_full_to_the_last_byte(templates: Path, tmp_path: Path) -> None:
    """As on gfx11, where nothing else tells: the stream ends as it should, and fills what the shader engine has."""
    recording = ThreadTraces(program=("app",), launches=(7,), se_mask=0x1, buffer_bytes=1 << 20)
    attempt = attempt_in(tmp_path)
    (path,) = [
        path for path in write_thread_trace(templates, attempt / "raw", dispatches=(7,)) if path.suffix == ".att"
    ]
    assert judge(recording, WELL, attempt).verdict is Verdict.GOOD
    with path.open("r+b") as file:
        file.truncate(1 << 20)
    assert judge(recording, WELL, attempt).verdict is Verdict.TRUNCATED


def test_lossy(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="lossy")
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.LOSSY
    assert judgement.is_kept
    assert all(d.is_lossy for d in judgement.dispatches)


def test_truncated_comes_before_lossy(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="lossy", engines=(0, 1), kinds_of_engines={1: "truncated"})
    assert judge(WANTED, WELL, attempt).verdict is Verdict.TRUNCATED


def test_a_launch_without_waves_is_missing(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", dispatches=(7,))
    write_thread_trace(templates, attempt / "raw", dispatches=(8,), kind="empty")
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.INCOMPLETE
    assert first(judgement) == "2 launches were asked for, and 1 trace that has waves came: there is no noise floor."
    assert [(d.dispatch, d.is_placeholder) for d in judgement.dispatches] == [(7, False), (8, True)]
    assert judgement.noise_share is None


def test_unreadable_streams(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="unreadable")
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.FAILED
    assert "No stream can be read" in first(judgement)


def test_one_unreadable_stream_is_a_caution(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", engines=(0, 1), kinds_of_engines={1: "unreadable"})
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert any("_shader_engine_1_" in reason for reason in judgement.reasons)


def test_missing_code_objects_are_a_caution(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    for path in write_thread_trace(templates, attempt / "raw"):
        if path.suffix != ".att":
            path.unlink()
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert judgement.dispatches[0].mapped_share == 0.0
    assert any("code object" in reason for reason in judgement.reasons)


# No dispatch


def test_no_dispatch_compares_the_filter_with_the_kernels_that_ran(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="none")
    others = [(f"void other::kernel_{n}<float>(float*)", 64) for n in range(10)]
    write_kernel_trace(attempt / "raw", [("void blas::saxpi<1>(float)", 64), ("gemm_kernel", 64), *others])
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert first(judgement) == "The regex 'saxpy' matches none of the 12 kernels; nearest: blas::saxpi<1>."
    assert judgement.launch_count == 0


def test_no_dispatch_because_launches_do_not_exist(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="none")
    write_kernel_trace(attempt / "raw", [(KERNEL, 64), ("other", 64), (KERNEL, 64), (KERNEL, 64)])
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert first(judgement) == "Launches 7, 8 were asked for, but the kernel is launched 3 times only."
    assert judgement.launch_count == 3
    assert "1 to 3" in judgement.advice


def test_no_dispatch_because_of_the_exclusion(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_kernel_trace(attempt / "raw", [(KERNEL, 64)])
    recording = ThreadTraces(program=("app",), kernel_regex="saxpy", exclude_regex="blas")
    assert "Every kernel that matches is excluded by 'blas'" in first(judge(recording, WELL, attempt))


def test_no_dispatch_on_another_gpu(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="none")
    write_kernel_trace(attempt / "raw", [(KERNEL, 64)] * 9)
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert "1 kernel passed the filters, with up to 9 launches" in first(judgement)


def test_no_dispatch_and_no_file(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert "left no file" in first(judgement)
    attempt.joinpath("raw").rmdir()
    assert judge(WANTED, WELL, attempt).verdict is Verdict.NO_DISPATCH


def test_a_trace_of_another_kernel_does_not_count(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw")
    write_kernel_trace(attempt / "raw", [(KERNEL, 64)] * 9)
    judgement = judge(ThreadTraces(program=("app",), kernel_regex="gemm"), WELL, attempt)
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert len(judgement.dispatches) == 2


@pytest.mark.slow
def test_names_that_we_spell_another_way_do_not_hide_a_trace(templates: Path, tmp_path: Path) -> None:
    """Without a kernel trace nobody knows how rocprofv3 spells the name: what it traced had passed its filter."""
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw")
    recording = ThreadTraces(program=("app",), kernel_regex=r"saxpy<64>\(float", launches=(7, 8))
    assert judge(recording, WELL, attempt).verdict is Verdict.GOOD
    write_kernel_trace(attempt / "raw", [("void blas::saxpy<64>(float, float*)", 64)] * 9)
    assert judge(recording, WELL, attempt).verdict is Verdict.GOOD


def test_hostile_names_are_made_printable(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw", kind="none")
    write_kernel_trace(attempt / "raw", [("saxpi\x1b[2J\x07", 64)])
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.NO_DISPATCH
    assert all(reason.isprintable() for reason in judgement.reasons)


# Endings


@pytest.mark.parametrize(
    ("status", "stderr", "verdict", "words"),
    [
        (2, "usage: rocprofv3 [-h]\nrocprofv3: error: unrecognized arguments: --att\n", Verdict.REFUSED, "ROCm 7.0"),
        (2, "usage: rocprofv3\nsomething new\n", Verdict.REFUSED, "status 2"),
        (2, f"{STARTED}my own usage\n", Verdict.FAILED, "ended with status 2"),
        (1, "[rocprofv3] Fatal error: ATT perfcounters cannot be enabled with PMC\n", Verdict.REFUSED, "exclude"),
        (1, "[rocprofv3] Fatal error: never seen\n", Verdict.REFUSED, "not in our table"),
        (134, f"{FATAL}failed to create ATT packet: X\n", Verdict.REFUSED, "buffer"),
        (-6, f"{FATAL}nobody knows\n", Verdict.REFUSED, "not in our table"),
        (3, f"{STARTED}ValueError: no GPU\n", Verdict.FAILED, "ended with status 3"),
        (-11, STARTED, Verdict.FAILED, "SIGSEGV"),
        (None, "", Verdict.REFUSED, "could not be started"),
        (0, STARTED, Verdict.NO_DISPATCH, "left no file"),
    ],
)
def test_endings_without_data(tmp_path: Path, status: int | None, stderr: str, verdict: Verdict, words: str) -> None:
    attempt = attempt_in(tmp_path, stderr=stderr)
    judgement = judge(WANTED, ended(status, problem="no such file" if status is None else ""), attempt)
    assert judgement.verdict is verdict
    assert words in first(judgement)


def test_the_last_line_of_a_failed_program_is_shown(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path, stderr=f"{STARTED}Traceback\nValueError: \x1b[31mno GPU\n\n")
    assert "Its last line: ValueError: no GPU" in judge(WANTED, ended(1), attempt).reasons


@pytest.mark.first_case
@pytest.mark.parametrize("status", [3, 134, -6, -11])
def test_good_data_of_a_failed_program_are_good_with_a_caution(templates: Path, tmp_path: Path, status: int) -> None:
    attempt = attempt_in(tmp_path, stderr=STARTED)
    write_thread_trace(templates, attempt / "raw")
    judgement = judge(WANTED, ended(status), attempt)
    assert judgement.verdict is Verdict.GOOD
    assert any("the data were written all the same" in reason for reason in judgement.reasons)


def test_an_abort_of_the_decoder_is_judged_by_the_data(templates: Path, tmp_path: Path) -> None:
    """Messages 2 and 3: the raw data are written before AMD's decoder is loaded."""
    attempt = attempt_in(tmp_path, stderr=STARTED + DECODER)
    write_thread_trace(templates, attempt / "raw")
    judgement = judge(WANTED, ended(134), attempt)
    assert judgement.verdict is Verdict.GOOD
    assert not any("SIGABRT" in reason for reason in judgement.reasons)
    assert [cause.number for cause in judgement.causes] == [2]
    empty = attempt_in(tmp_path / "empty", stderr=STARTED + DECODER)
    write_thread_trace(templates, empty / "raw", kind="empty")
    assert judge(WANTED, ended(134), empty).verdict is Verdict.EMPTY


def test_a_timeout_is_hung_unless_data_were_written(templates: Path, tmp_path: Path) -> None:
    nothing = attempt_in(tmp_path / "a", stderr=STARTED)
    judgement = judge(WANTED, ended(-2, stopped="timeout"), nothing)
    assert judgement.verdict is Verdict.HUNG
    assert "stopped at the time limit after 12 s" in first(judgement)
    written = attempt_in(tmp_path / "b", stderr=STARTED)
    write_thread_trace(templates, written / "raw")
    judgement = judge(WANTED, ended(-2, stopped="timeout"), written)
    assert judgement.verdict is Verdict.GOOD
    assert any("at the time limit" in reason for reason in judgement.reasons)


def test_an_abort_that_hangs_is_refused(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path, stderr=f"{FATAL}Could not create PMC packets! AQLProfile Return Code: 1\n")
    assert judge(WANTED, ended(-9, stopped="timeout"), attempt).verdict is Verdict.REFUSED


def test_interrupted_stays_interrupted_and_lists_what_is_there(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path, stderr=STARTED)
    write_thread_trace(templates, attempt / "raw")
    judgement = judge(WANTED, ended(-2, stopped="interrupted"), attempt)
    assert judgement.verdict is Verdict.INTERRUPTED
    assert len(judgement.dispatches) == 2


def test_the_log_adds_causes_but_no_verdict(templates: Path, tmp_path: Path) -> None:
    log = "W20260602 10:30:58.454084 1390 core.cpp:5] Thread trace buffer full!\n"
    attempt = attempt_in(tmp_path, stderr=log * 3)
    write_thread_trace(templates, attempt / "raw")
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert [(cause.number, cause.count) for cause in judgement.causes] == [(9, 3)]


# Placeholders and decoded folders


def test_decoded_placeholders(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    for dispatch in (7, 8):
        write_placeholder(attempt / "raw", dispatch)
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.EMPTY
    assert [(d.dispatch, d.is_placeholder, d.folder) for d in judgement.dispatches] == [
        (7, True, "raw/ui_output_agent_4711_dispatch_7"),
        (8, True, "raw/ui_output_agent_4711_dispatch_8"),
    ]
    assert judgement.busy_cus == (6,)


def test_streams_count_more_than_the_decoded_folder_of_the_same_dispatch(templates: Path, tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    write_thread_trace(templates, attempt / "raw")
    write_placeholder(attempt / "raw", 7)
    judgement = judge(WANTED, WELL, attempt)
    assert judgement.verdict is Verdict.GOOD
    assert len(judgement.dispatches) == 2


def test_hostile_folders(tmp_path: Path) -> None:
    attempt = attempt_in(tmp_path)
    raw = attempt / "raw"
    (raw / "a_4711_shader_engine_0_1.att").mkdir()
    (raw / "4711_shader_engine_0_2.att").symlink_to("/dev/zero")
    (raw / "4711_shader_engine_0_3.att").write_bytes(b"")
    folder = raw / "ui_output_agent_1_dispatch_3"
    folder.mkdir()
    (folder / "filenames.json").write_bytes(b"\xff{")
    (folder / "code.json").write_text('{"code": {"a": 1}}', encoding="utf-8")
    (raw / "x_kernel_trace.csv").write_bytes(b"\x00\xff,\n" * 10)
    assert judge(WANTED, WELL, attempt).verdict is Verdict.EMPTY


def test_unknown_kinds_are_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        judge(Recording(program=("app",)), WELL, tmp_path)


# Real captures


@pytest.mark.first_case
@pytest.mark.parametrize("name", ["c10", "c11"])
def test_real_empty_dispatches(shared: Path, tmp_path: Path, name: str) -> None:
    """Dispatch 3 has 32 wave starts and ends on other CUs, and no wave on the traced one (INDEX.md)."""
    source = shared / "data" / "att-mi300x-bmm" / name
    attempt = attempt_of(tmp_path, *sorted(source.iterdir()))
    recording = ThreadTraces(program=("bmm",), kernel_regex="batched_matrix", se_mask=1, target_cu=1)
    judgement = judge(recording, WELL, attempt)
    assert judgement.verdict is Verdict.EMPTY
    assert judgement.busy_engines == (0,)
    assert judgement.busy_cus == {"c10": (0, 6, 7, 8), "c11": (3, 4, 5, 6)}[name]
    assert [(d.dispatch, d.wave_count) for d in judgement.dispatches] == [(3, 0), (1, 4)]
    everything = judge(ThreadTraces(program=("bmm",)), WELL, attempt)
    assert everything.verdict is Verdict.GOOD
    assert [(d.dispatch, d.is_placeholder) for d in everything.dispatches] == [(1, False), (3, True)]


@pytest.mark.slow
def test_real_good_captures(shared: Path, tmp_path: Path) -> None:
    """Waves as AMD's decoder counts them (INDEX.md)."""
    waves = {"c01": {1: 4, 2: 4}, "c03": {1: 4, 3: 28}, "c12": {1: 4, 3: 4}}
    for name, of_dispatch in waves.items():
        attempt = attempt_of(tmp_path / name, shared / "data" / "att-mi300x-bmm" / name / "raw")
        judgement = judge(ThreadTraces(program=("bmm",)), WELL, attempt)
        assert judgement.verdict is Verdict.GOOD
        assert {d.dispatch: d.wave_count for d in judgement.dispatches} == of_dispatch
        assert not any(d.is_truncated or d.is_lossy for d in judgement.dispatches)


def test_real_launch_ranks_from_the_database_beside(shared: Path, tmp_path: Path) -> None:
    attempt = attempt_of(tmp_path, shared / "data" / "att-mi300x-bmm" / "c03" / "raw")
    judgement = judge(ThreadTraces(program=("bmm",)), WELL, attempt)
    assert {d.dispatch: d.launch for d in judgement.dispatches} == {1: 1, 3: 1}
    assert judgement.launch_count is not None
    assert judgement.launch_count > 100


def test_real_streams_cut_in_the_middle_are_truncated(shared: Path, tmp_path: Path) -> None:
    attempt = attempt_of(tmp_path, shared / "data" / "att-mi300x-bmm" / "c03" / "raw")
    path = next(attempt.rglob("*_0_3.att"))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    assert judge(ThreadTraces(program=("bmm",)), WELL, attempt).verdict is Verdict.TRUNCATED


def test_real_decoded_folders(shared: Path, tmp_path: Path) -> None:
    """Totals of INDEX.md, without reading a wave file."""
    expected = {"ui_output_agent_22257_dispatch_23": (16, 6504), "ui_output_agent_4716_dispatch_319": (8, 3596)}
    folders = [path.parent for path in (shared / "data" / "uiout-mi350x-flydsl").rglob("filenames.json")]
    chosen = [folder for folder in folders if folder.name in expected]
    assert chosen
    for folder in chosen:
        attempt = attempt_of(tmp_path / folder.name, folder)
        judgement = judge(ThreadTraces(program=("python",)), WELL, attempt)
        assert judgement.verdict is Verdict.GOOD
        (dispatch,) = judgement.dispatches
        assert (dispatch.wave_count, dispatch.instruction_count) == expected[folder.name]
        assert dispatch.mapped_share == 1.0


@pytest.mark.slow
def test_a_large_stream_is_judged_in_little_memory(tmp_path: Path) -> None:
    """128 MiB of trace, 22 million instructions: they are counted, and never in memory at once."""
    attempt = attempt_in(tmp_path)
    capture = synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), workgroups=8))
    write_capture(capture, attempt / "raw")
    (path,) = (attempt / "raw").glob("*.att")
    grown = grow(capture.traces[0], 128 << 20)
    path.write_bytes(grown.data)
    program = (
        "import resource, sys; from pathlib import Path; from wavewright.capture.verdicts import judge; "
        "from wavewright.capture.machines.runner import Ending; from wavewright.capture.kinds import ThreadTraces; "
        "judgement = judge(ThreadTraces(program=('a',)), Ending(status=0, seconds=1), Path(sys.argv[1])); "
        "best = judgement.dispatches[0]; memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "print(judgement.verdict, best.wave_count, best.instruction_count, memory)"
    )
    run = subprocess.run([sys.executable, "-c", program, str(attempt)], capture_output=True, text=True, check=True)
    verdict, waves, instructions, memory_kib = run.stdout.split()
    assert (verdict, int(waves), int(instructions)) == ("good", grown.waves, grown.instructions)
    assert int(memory_kib) < 1 << 20
