"""Commands against AMD's own scripts of six releases: accepted, with the variables of the table, word for word."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.kit.amd_script import SCRIPTS, AmdScript
from tests.unit.capture.rocprofv3.test_options import ACTIVITY_COUNTERS
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.kinds import Counters, Discovery, Recording, RunTrace, Samples, ThreadTraces
from wavewright.capture.plans.choices import chosen
from wavewright.capture.plans.command import Command, cleared
from wavewright.capture.plans.commands import RUN_PARTS, STAND_IN, commands_of
from wavewright.capture.rocprofv3.options import all_options, version_of
from wavewright.capture.rocprofv3.releases import Installation, assumed, options_of_help
from wavewright.errors import UsageError

PROGRAM = ("python3", "bench.py", "--", "-x", "a b")
RELEASE = pytest.mark.parametrize("rocm", SCRIPTS)
ATT_RELEASES = [rocm for rocm in SCRIPTS if version_of(rocm) >= (7, 0)]
ATT = pytest.mark.parametrize("rocm", ATT_RELEASES)
REGEX = r"gemm<f\(int\*\)"
#: Thread traces: what is asked for -> variables, as the spec lists them (1.5).
WINDOW = {
    "ROCPROF_ADVANCED_THREAD_TRACE": "1",
    "ROCPROF_ATT_PARAM_TARGET_CU": "1",
    "ROCPROF_ATT_PARAM_SIMD_SELECT": "15",
    "ROCPROF_ATT_PARAM_SHADER_ENGINE_MASK": "1",
    "ROCPROF_ATT_PARAM_BUFFER_SIZE": str(256 << 20),
    "ROCPROF_KERNEL_TRACE": "1",
    "ROCPROF_OUTPUT_FORMAT": "csv",
    "ROCPROF_OUTPUT_FILE_NAME": "%pid%/att",
    "ROCPROF_OUTPUT_PATH": "/out",
}
TRACES: list[tuple[dict[str, object], dict[str, str], str]] = [
    ({}, {}, "7.0"),
    ({"kernel_regex": REGEX}, {"ROCPROF_KERNEL_FILTER_INCLUDE_REGEX": REGEX}, "7.0"),
    ({"kernel": "f(int*)"}, {"ROCPROF_KERNEL_FILTER_INCLUDE_REGEX": r"f\(int\*\)"}, "7.0"),
    ({"kernel_regex": "-x"}, {"ROCPROF_KERNEL_FILTER_INCLUDE_REGEX": "-x"}, "7.0"),
    ({"exclude_regex": "add"}, {"ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX": "add"}, "7.0"),
    ({"launches": (8, 7)}, {"ROCPROF_KERNEL_FILTER_RANGE": "7, 8"}, "7.0"),
    ({"launches": (5, 6, 7, 20)}, {"ROCPROF_KERNEL_FILTER_RANGE": "5-7, 20"}, "7.0"),
    ({"target_cu": 0}, {"ROCPROF_ATT_PARAM_TARGET_CU": "0"}, "7.0"),
    ({"simds": 0x3}, {"ROCPROF_ATT_PARAM_SIMD_SELECT": "3"}, "7.0"),
    ({"se_mask": 0x11111111}, {"ROCPROF_ATT_PARAM_SHADER_ENGINE_MASK": str(0x11111111), "BUFFER": "512"}, "7.0"),
    ({"buffer_bytes": 96 << 20}, {"BUFFER": "96"}, "7.0"),
    (
        {"counters": ("sq_waves", "SQ_BUSY_CYCLES:0x3")},
        {
            "ROCPROF_ATT_PARAM_PERFCOUNTERS": "SQ_WAVES SQ_BUSY_CYCLES:0X3",
            "ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL": "8",
        },
        "7.0",
    ),
    (
        {"counters": ("SQ_WAVES",), "counter_period": 3},
        {"ROCPROF_ATT_PARAM_PERFCOUNTERS": "SQ_WAVES", "ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL": "3"},
        "7.0",
    ),
    (
        {"activity": 5},
        {
            "ROCPROF_ATT_PARAM_PERFCOUNTERS": " ".join(ACTIVITY_COUNTERS),
            "ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL": "5",
        },
        "7.0",
    ),
    ({"serialize_all": True}, {"ROCPROF_ATT_PARAM_SERIALIZE_ALL": "1"}, "7.0"),
    ({"target_only": True}, {"ROCPROF_ATT_PARAM_TARGET_ONLY": "1"}, "7.13"),
    ({"consecutive": 4}, {"ROCPROF_ATT_CONSECUTIVE_KERNELS": "4"}, "7.1"),
    ({"gpu_index": 3}, {"ROCR_VISIBLE_DEVICES": "3"}, "7.0"),
    ({"extra": ("-T", "--process-sync")}, {"ROCPROF_TRUNCATE_KERNELS": "1", "ROCPROF_PROCESS_SYNC": "1"}, "7.1"),
]


@cache
def listed_options(script: AmdScript) -> frozenset[str]:
    return options_of_help(script.run(["--help"]).stdout)


def installed(script: AmdScript, *, decoder: bool = True) -> Installation:
    options = listed_options(script)
    return Installation(
        rocprofv3=str(script.path),
        root=str(script.root),
        rocm_version=script.rocm,
        sdk_version="",
        options=options,
        decoder_folder=str(script.root / "lib") if decoder else "",
    )


def plans(
    recording: Recording, installation: Installation, folder: str = "/out", **environment: str
) -> tuple[Command, ...]:
    filled, _ = chosen(recording, None)
    return commands_of(filled, installation, folder=folder, environment=environment)


def handed(script: AmdScript, command: Command, environment: dict[str, str] | None = None) -> dict[str, str]:
    """What the script hands to the program; it must be exactly the program."""
    caller = {"PATH": "/usr/bin:/bin", **(environment or {})}
    for name in command.removed:
        del caller[name]
    assert command.words[0] == str(script.path)
    outcome = script.run(list(command.words[1:]), {**caller, **command.variables})
    assert outcome.status == 0, outcome.stderr
    [(program, variables)] = outcome.runs
    assert tuple(program) == command.words[command.words.index("--") + 1 :]
    assert "Warning" not in outcome.stderr, outcome.stderr
    return variables


def expected(variables: dict[str, str]) -> dict[str, str]:
    mib = variables.get("BUFFER")
    rest = {name: value for name, value in variables.items() if name != "BUFFER"}
    return {**rest, "ROCPROF_ATT_PARAM_BUFFER_SIZE": str(int(mib) << 20)} if mib else rest


@pytest.mark.some_cases(28)
@ATT
@pytest.mark.parametrize(("fields", "variables", "since"), TRACES, ids=lambda value: str(value)[:30])
def test_thread_traces(
    scripts: dict[str, AmdScript], rocm: str, fields: dict[str, object], variables: dict[str, str], since: str
) -> None:
    script = scripts[rocm]
    recording = ThreadTraces(program=PROGRAM, **fields)  # type: ignore[arg-type]
    if version_of(rocm) < version_of(since):
        with pytest.raises(UsageError, match=rf"first release that (can|does) is ROCm {since}"):
            plans(recording, installed(script))
        return
    [command] = plans(recording, installed(script))
    got = handed(script, command)
    for name, value in {**WINDOW, **expected(variables)}.items():
        assert got.get(name) == value, name
    assert got["ROCPROF_ATT_LIBRARY_PATH"] == str(script.root / "lib")
    allowed = {*WINDOW, *expected(variables), "ROCPROF_ATT_LIBRARY_PATH", "ROCPROF_LIBRARY_CTOR"}
    assert {name for name in got if name.startswith("ROCPROF_")} <= allowed
    assert not command.removed and not command.files


@RELEASE
def test_discovery(scripts: dict[str, AmdScript], rocm: str) -> None:
    [command] = plans(Discovery(program=PROGRAM), installed(scripts[rocm]))
    got = handed(scripts[rocm], command)
    assert got["ROCPROF_KERNEL_TRACE"] == got["ROCPROF_STATS"] == "1"
    assert got["ROCPROF_OUTPUT_FORMAT"] == "csv"
    assert got["ROCPROF_OUTPUT_FILE_NAME"] == "%pid%/discover"
    assert got["ROCPROF_OUTPUT_PATH"] == "/out"


@RELEASE
def test_counters_are_one_command_per_pass(scripts: dict[str, AmdScript], rocm: str, tmp_path: Path) -> None:
    passes = (("SQ_WAVES", "GRBM_COUNT"), ("TCC_HIT_sum:device=1",))
    commands = plans(Counters(program=PROGRAM, passes=passes), installed(scripts[rocm]), str(tmp_path))
    assert len(commands) == 2
    for number, (command, names) in enumerate(zip(commands, passes, strict=True), 1):
        for path, content in command.files.items():
            Path(path).write_bytes(content)
        got = handed(scripts[rocm], command)
        assert got["ROCPROF_COUNTERS"] == f"pmc: {' '.join(names)}"
        assert got["ROCPROF_COUNTER_COLLECTION"] == "1"
        folder = f"{tmp_path}/pass_{number}"
        assert got["ROCPROF_OUTPUT_PATH"] == (f"{folder}/pmc_1" if rocm == "6.2" else folder)
        assert got["ROCPROF_OUTPUT_FILE_NAME"] == "%pid%/counters"
        assert got["ROCPROF_OUTPUT_FORMAT"] == "csv"
    filtered = Counters(program=PROGRAM, passes=passes, kernel_regex="gemm", launches=(2,))
    if rocm == "6.2":
        with pytest.raises(UsageError, match=r"first release that can is ROCm 6\.3"):
            plans(filtered, installed(scripts[rocm]))
        return
    got = handed(scripts[rocm], plans(filtered, installed(scripts[rocm]))[0])
    assert got["ROCPROF_KERNEL_FILTER_INCLUDE_REGEX"] == "gemm" and got["ROCPROF_KERNEL_FILTER_RANGE"] == "2"


@RELEASE
def test_definitions_of_counters_travel_as_a_file(scripts: dict[str, AmdScript], rocm: str, tmp_path: Path) -> None:
    recording = Counters(program=PROGRAM, passes=(("MINE",),), definitions="rocprofiler-sdk: {}\n")
    if version_of(rocm) < (6, 4):
        with pytest.raises(UsageError, match=r"first release that can is ROCm 6\.4"):
            plans(recording, installed(scripts[rocm]))
        return
    [command] = plans(recording, installed(scripts[rocm]), str(tmp_path))
    [(path, content)] = command.files.items()
    Path(path).write_bytes(content)
    assert handed(scripts[rocm], command)["ROCPROF_EXTRA_COUNTERS_CONTENTS"] == "rocprofiler-sdk: {}\n"


@RELEASE
@pytest.mark.parametrize(
    ("method", "unit", "interval"), [("host_trap", "time", 512), ("stochastic", "cycles", 1 << 20)]
)
def test_samples(scripts: dict[str, AmdScript], rocm: str, method: str, unit: str, interval: int) -> None:
    recording = Samples(program=PROGRAM, method=method)
    if version_of(rocm) < (7, 0):
        with pytest.raises(UsageError, match=r"first release that can is ROCm 6\.4"):
            plans(recording, installed(scripts[rocm]))
        return
    [command] = plans(recording, installed(scripts[rocm]))
    got = handed(scripts[rocm], command)
    assert got["ROCPROFILER_PC_SAMPLING_BETA_ENABLED"] == got["ROCPROF_KERNEL_TRACE"] == "1"
    assert got["ROCPROF_PC_SAMPLING_METHOD"] == method
    assert got["ROCPROF_PC_SAMPLING_UNIT"] == unit
    assert got["ROCPROF_PC_SAMPLING_INTERVAL"] == str(interval)
    assert got["ROCPROF_OUTPUT_FORMAT"] == "csv,json"


def test_sampling_of_6_4() -> None:
    """Its script is not at hand: by the table."""
    [command] = plans(Samples(program=PROGRAM, method="host_trap"), assumed("6.4"))
    assert "--pc-sampling-beta-enabled" in command.words
    with pytest.raises(UsageError, match="host_trap works here"):
        plans(Samples(program=PROGRAM), assumed("6.4"))


def parts_of(rocm: str) -> Iterator[str]:
    for part, names in RUN_PARTS.items():
        if any(all_options()[name].exists_in(version_of(rocm)) for name in names):
            yield part


@RELEASE
def test_runs(scripts: dict[str, AmdScript], rocm: str) -> None:
    installation = installed(scripts[rocm])
    form = "csv" if version_of(rocm) < (7, 0) else "rocpd"
    [command] = plans(RunTrace(program=PROGRAM), installation)
    got = handed(scripts[rocm], command)
    assert got["ROCPROF_OUTPUT_FORMAT"] == form
    for name in ("KERNEL", "HIP_RUNTIME_API", "MEMORY_COPY", "SCRATCH_MEMORY", "MARKER_API"):
        assert got[f"ROCPROF_{name}_TRACE"] == "1"
    for part in RUN_PARTS:
        if part in parts_of(rocm):
            handed(scripts[rocm], plans(RunTrace(program=PROGRAM, parts=(part,)), installation)[0])
        else:
            with pytest.raises(UsageError, match="the first release that can is ROCm"):
                plans(RunTrace(program=PROGRAM, parts=(part,)), installation)


@ATT
def test_a_missing_decoder_is_replaced(scripts: dict[str, AmdScript], rocm: str, tmp_path: Path) -> None:
    script = scripts[rocm]
    (tmp_path / "empty").mkdir()
    refused = script.run(["--att", "--att-library-path", str(tmp_path / "empty"), "--", "program"])
    assert refused.is_refused and "not found" in refused.stderr
    [command] = plans(ThreadTraces(program=PROGRAM), installed(script, decoder=False), str(tmp_path))
    for path, content in command.files.items():
        Path(path).parent.mkdir()
        Path(path).write_bytes(content)
    assert handed(script, command)["ROCPROF_ATT_LIBRARY_PATH"] == str(tmp_path / STAND_IN)
    assert any("decoder" in note for note in command.notes)


@pytest.mark.first_case
@ATT
def test_the_line_for_a_shell_runs_the_same_words(
    scripts: dict[str, AmdScript], rocm: str, shared: Path, tmp_path: Path
) -> None:
    """A real shell, AMD's real script and a real process: what it gets is what the command says."""
    stub = shared / "data" / "rocprofv3-tree" / "stubs" / "stub_app.py"
    program = (sys.executable, str(stub), "a b", "$HOME", "'", "-x", "--", "*")
    recording = ThreadTraces(
        program=program,
        kernel_regex="f<(a|b)>\\(int\\*\\)$",
        launches=(7, 8),
        gpu_index=3,
        variables={"HSA_XNACK": "1"},
    )
    environment = {
        "PATH": os.environ["PATH"],
        "ROCPROF_OUTPUT_FORMAT": "json",
        "HIP_VISIBLE_DEVICES": "7",
        "HSA_TOOLS_LIB": "x",
    }
    [command] = plans(recording, installed(scripts[rocm]), str(tmp_path / "out"), **environment)
    records = tmp_path / "seen.jsonl"
    caller = {**environment, "STUB_RECORD": str(records)}
    by_shell = subprocess.run(command.line, shell=True, env=caller, capture_output=True, text=True, check=False)  # noqa: S602
    assert by_shell.returncode == 0, by_shell.stderr
    direct = {name: value for name, value in caller.items() if name not in command.removed} | command.variables
    assert subprocess.run(command.words, env=direct, check=False).returncode == 0
    first, second = map(json.loads, records.read_text().splitlines())
    assert first["argv"] == second["argv"] == list(program[1:])
    assert first["env"] == second["env"]
    assert first["env"]["ROCPROF_OUTPUT_FORMAT"] == "csv"
    assert first["env"]["ROCR_VISIBLE_DEVICES"] == "3" and "HIP_VISIBLE_DEVICES" not in first["env"]
    assert first["env"]["HSA_XNACK"] == "1" and "HSA_TOOLS_LIB" not in first["env"]
    assert shlex.split(command.line)[-len(program) :] == list(program)


def test_one_gpu_is_chosen_by_one_variable() -> None:
    installation = assumed("7.2")
    caller = {"HIP_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1", "ROCR_VISIBLE_DEVICES": "0,1"}
    [command] = plans(ThreadTraces(program=PROGRAM, gpu_index=5), installation, **caller)
    assert command.variables == {"ROCR_VISIBLE_DEVICES": "5"}
    assert command.removed == ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    assert "--att-gpu-index" not in command.words
    [shared_gpu] = plans(ThreadTraces(program=PROGRAM), installation, **caller)
    assert not shared_gpu.variables and not shared_gpu.removed
    with pytest.raises(UsageError, match="HIP_VISIBLE_DEVICES is given, and a GPU is chosen"):
        plans(ThreadTraces(program=PROGRAM, gpu_index=5, variables={"HIP_VISIBLE_DEVICES": "0"}), installation)


def test_leftovers_are_taken_out_and_named() -> None:
    caller = {
        "ROCPROF_OUTPUT_PATH": "/old",
        "ROCPROF_TMPDIR": "/scratch",
        "ROCP_TOOL_LIBRARIES": "x.so",
        "RPDT_AUTOSTART": "0",
        "KOKKOS_TOOLS_LIBS": "k.so",
        "ROCPROFILER_METRICS_PATH": "/x",
        "ROCPROFILER_PC_SAMPLING_BETA_ENABLED": "1",
        "HSA_TOOLS_LIB": "t.so",
        "HSA_XNACK": "1",
        "LD_PRELOAD": "/a/libjemalloc.so:/b/librocprofiler-sdk-tool.so",
        "PATH": "/bin",
    }
    changes = cleared(caller, {"HSA_TOOLS_LIB": "mine.so"})
    assert changes.removed == (
        "KOKKOS_TOOLS_LIBS",
        "ROCPROFILER_METRICS_PATH",
        "ROCPROFILER_PC_SAMPLING_BETA_ENABLED",
        "ROCPROF_OUTPUT_PATH",
        "ROCP_TOOL_LIBRARIES",
        "RPDT_AUTOSTART",
    )
    assert changes.variables == {"LD_PRELOAD": "/a/libjemalloc.so"}
    assert len(changes.notes) == 7
    assert cleared({"LD_PRELOAD": "librpd_tracer.so"}, {}).removed == ("LD_PRELOAD",)
    assert cleared({"LD_PRELOAD": "librpd_tracer.so"}, {"LD_PRELOAD": "x"}) == ({}, (), ())


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--no-such",), "does not have --no-such"),
        (("--spm", "A"), "first release that does is ROCm 7.14"),
        (("--kernel-names", "x"), "ROCm 6.2 was the last"),
        (("--kernel-trac",), "did you mean --kernel-trace"),
        (("word",), "belongs to no option"),
        (("-d", "/x"), "-d cannot be passed on"),
        (("--output-directory=/x",), "cannot be passed on"),
        (("-i", "x.yaml"), "capture -i"),
        (("--pid", "3"), "starts the program itself"),
        (("--att-target-cu", "2"), "set by wavewright already"),
        (("--att-buffer-size", "96MB"), "takes a number"),
        (("--log-level", "loud"), "does not take 'loud'"),
        (("--att-perfcounter-ctrl",), "needs an integer"),
        (("--kernel-rename", "maybe"), "takes yes or no"),
        (("-MT",), "joins several options"),
        (("--kernel-iteration-range", "x"), "not a launch"),
        (("--kernel-include-regex", "("), "does not take the regex"),
        (("-P", "1:2"), "2 parts"),
        (("--selected-regions",), "ROCm 7.13 is the first"),
        (("--att-gpu-index", "all"), "numbers of GPUs"),
    ],
)
def test_words_of_the_user_are_checked(extra: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        plans(ThreadTraces(program=PROGRAM, extra=extra), assumed("7.2"))
    assert sentence in str(error.value)


def test_options_of_future_releases_are_passed_on() -> None:
    future = replace(assumed("10.0.1"), rocm_version="12.0", options=assumed("10.0.1").options | {"--att-new"})
    [command] = plans(ThreadTraces(program=PROGRAM, extra=("--att-new", "x", "y")), future)
    assert command.words[-len(PROGRAM) - 4 : -len(PROGRAM) - 1] == ("--att-new", "x", "y")


def test_what_cannot_be_recorded_is_refused() -> None:
    for recording, sentence in (
        (RunTrace(program=PROGRAM, parts=()), "nothing of the run"),
        (RunTrace(program=PROGRAM, parts=("gpu",)), "not a part of a run"),
        (Counters(program=PROGRAM), "no counters"),
        (Counters(program=PROGRAM, passes=((),)), "no counters"),
        (Counters(program=PROGRAM, passes=(("-x",),)), "not the name of a counter"),
        (Counters(program=PROGRAM, passes=(("A,B",),)), "not the name of a counter"),
        (Discovery(program=()), "no program"),
        (Discovery(program=("",)), "no program"),
        (Discovery(program=("a\0b",)), "null character"),
        (Discovery(program=PROGRAM, extra=("--att",)), "capture of its own"),
        (ThreadTraces(program=PROGRAM, consecutive=0), "in a row"),
        (ThreadTraces(program=PROGRAM, consecutive=2, serialize_all=True), "one by one"),
        (ThreadTraces(program=PROGRAM, launches=(0,)), "no launch 0"),
    ):
        with pytest.raises(UsageError, match=sentence):
            plans(recording, assumed())


def test_warnings_about_regexes_are_notes() -> None:
    [command] = plans(ThreadTraces(program=PROGRAM, kernel_regex="(?:a|b)"), assumed("7.2"))
    assert any("(?:" in note for note in command.notes)
    [command] = plans(ThreadTraces(program=PROGRAM, kernel_regex="at::native", extra=("-T",)), assumed("7.0"))
    assert any("-T cuts" in note for note in command.notes)


def test_what_does_not_fit_into_a_command_line_is_refused() -> None:
    for recording, sentence in (
        (ThreadTraces(program=PROGRAM, launches=tuple(range(1, 100_000, 2))), "--kernel-iteration-range"),
        (ThreadTraces(program=PROGRAM, kernel_regex="a" * 200_000), "--kernel-include-regex"),
        (Counters(program=PROGRAM, passes=(tuple(f"COUNTER_{n}" for n in range(20_000)),)), "--pmc"),
        (Counters(program=PROGRAM, passes=(("A",),), definitions="x" * 200_000), "definitions of counters"),
        (Discovery(program=("a",) * 200_000), "the program's words"),
    ):
        with pytest.raises(UsageError, match=sentence):
            plans(recording, assumed())
    assert plans(ThreadTraces(program=PROGRAM, launches=tuple(range(1, 100_000))), assumed())


@ATT
def test_simd_0_of_radeon_is_handed_over(scripts: dict[str, AmdScript], rocm: str) -> None:
    """The number 0 counts: in an input file it would be dropped, and SIMD 3 traced."""
    radeon = Gpu(
        index=0,
        node=1,
        gpu_id=1,
        target="gfx1100",
        cu_count=96,
        se_count=6,
        simds_per_cu=2,
        waves_per_simd=16,
        wave_size=32,
    )
    recording, _ = chosen(ThreadTraces(program=PROGRAM), radeon)
    [command] = commands_of(recording, installed(scripts[rocm]), folder="/out", environment={})
    got = handed(scripts[rocm], command)
    assert got["ROCPROF_ATT_PARAM_SIMD_SELECT"] == "0" and got["ROCPROF_ATT_PARAM_TARGET_CU"] == "1"


def test_files_that_are_written_first_are_named() -> None:
    for recording, installation in (
        (Counters(program=PROGRAM, passes=(("A",),)), assumed("6.2")),
        (Counters(program=PROGRAM, passes=(("A",),), definitions="x"), assumed("7.2")),
        (ThreadTraces(program=PROGRAM), replace(assumed("7.2"), decoder_folder="")),
    ):
        for command in plans(recording, installation):
            assert command.files
            for path in command.files:
                assert path.startswith("/out/") and any(path in note for note in command.notes)
