"""Every row of the table of messages against a line as AMD's sources print it, and against what a good run prints."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.capture.judgement import Verdict
from wavewright.capture.rocprofv3.messages import (
    TEXT_BYTES_MAX,
    causes_of_command,
    ends_of,
    log_line,
    messages,
    recognised,
)

_GLOG = "{level}20260602 10:30:58.454084 139053582401024 {file}:111] {text}"
_ABSEIL = "{level}0602 10:30:58.454084 1858814 {file}:111] {text}"
_HSA = "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources."

# Lines as AMD's sources print them (spec 3.8, 1.1, 1.9, 3.2, 3.5): number, level of the log or empty, text.
LINES: list[tuple[int, str, str]] = [
    (1, "", "[rocprofv3] Fatal error: rocprof-trace-decoder library path not found in ['', '/opt/rocm/lib']"),
    (1, "", "Fatal error: rocprof-trace-decoder library path not found in ['/opt/rocm-7.0.0/lib']"),
    (2, "F", "Error loading decoder: 37"),
    (3, "F", "Decoder library not found!"),
    (4, "", "rocprofv3: error: unrecognized arguments: --att"),
    (5, "E", "Callback failed with status 4: ROCPROFILER_THREAD_TRACE_DECODER_STATUS_ERROR_INVALID_SHADER_DATA"),
    (6, "E", "Agent not supported"),
    (6, "E", "Callback failed with status 5: ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED"),
    (7, "F", f"failed to create ATT packet: {_HSA}"),
    (7, "F", "Failed to create ATT packet"),
    (8, "W", "Thread tracer being destroyed with thread trace active"),
    (8, "E", "Thread trace context not present for agent!"),
    (9, "W", "Thread trace buffer full!"),
    (9, "W", "SQTT data buffer full, SE(3)"),
    (9, "W", "SQTT data out of bounds, sample_id(0) size(100663296/100663296)"),
    (10, "E", "SQTT memory error received, SE(2)"),
    (11, "F", "Error Calling hsa_iterate_agents: HSA_STATUS_ERROR: A generic error has occurred."),
    (12, "", "bash: line 1: 4711 Segmentation fault      (core dumped) ./app"),
    (13, "E", "Invalid GPU Device Index: 9"),
    (13, "F", "Invalid GPU Id string: gpu0"),
    (14, "F", "ATT Perf requires setting both perfcounter_ctrl and perfcounter list!"),
    (15, "W", "Agent 4 counter not found: SQ_NOTHING"),
    (
        16,
        "W",
        "Unable to find all counters for agent 4 (gpu-0, gfx942) in [TCC_HIT, X]. Found: [TCC_HIT]. Missing: [X]",
    ),
    (16, "W", "Unable to find all counters for agent 4 (gpu-0, gfx942) in [TCC_HIT, X]. Found: [TCC_HIT]"),
    (
        17,
        "F",
        (
            "Could not construct profile cfg failed with error code 38: Request exceeds the capabilities of the "
            "hardware to collect"
        ),
    ),
    (17, "F", "Request exceeds the capabilities of the hardware to collect"),
    (18, "F", "Could not create PMC packets! AQLProfile Return Code: 4096 Events: [SQ,0,4],[SQ,0,5]"),
    (
        19,
        "W",
        (
            "Device 12345 could not be locked for profiling due to lack of permissions (capability SYS_PERFMON). PMC "
            "Counters may be inaccurate and System Counter Collection will be degraded."
        ),
    ),
    (19, "W", "Failed to lock device 12345 (error: 5). PMC Counters may be inaccurate and System Counter Collection"),
    (20, "W", "Device 12345 has a profiler attached to it. PMC Counters may be inaccurate."),
    (21, "W", "Driver/Kernel version does not support locking device 12345. PMC Counters may be inaccurate and System"),
    (23, "F", "Metric file 'counter_defs.yaml' not found. Tried: ROCPROFILER_METRICS_PATH (/old), /opt/rocm/share"),
    (24, "E", "Invalid extra counters YAML format. Expected structure: rocprofiler-sdk:"),
    (25, "W", "Agent 4 (gfx942) has MEC firmware version 10 which is below minimum required version 26. Reason: traps"),
    (26, "E", "Given PC sampling configuration is not supported on any of the agents"),
    (27, "E", "HSA runtime failed to start PC sampling on the agent 12345"),
    (28, "W", "Attempt to enable hip visibility for agent-2 which is not visible to HSA (ROCR)"),
    (29, "", "Unable to open /dev/kfd read-write: Permission denied"),
    (30, "", "Unable to open /dev/kfd read-write: No such file or directory"),
    (31, "", "Unable to open /dev/kfd read-write: Cannot allocate memory"),
    (31, "", "Unable to open /dev/kfd read-write: Invalid argument"),
    (32, "", "ROCk module is NOT loaded, possibly no GPU devices"),
    (33, "", f"Call returned {_HSA}"),
    (33, "", "hsa_init failed with 1008"),
    (34, "F", "rocprofiler_create_context(&ctx) failed with ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED"),
    (34, "F", "error code 16: Configuration request occurred outside of valid rocprofiler configuration period"),
    (35, "", ": CommandLine Error: Option 'print-bfi-func-name' registered more than once!"),
    (35, "", "LLVM ERROR: inconsistency in registered CommandLine options"),
    (36, "W", "rocprofv3 has a priority of 1 (not primary tool)"),
    (37, "F", "[ROCP_TOOL_LIBRARIES] error dlopening '/old/libtool.so'"),
    (38, "", "ROCPRofiler: 0 contexts collected"),
    (39, "E", "rocprofv3 caught signal 15..."),
    (40, "", "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Segmentation fault."),
    (40, "", "RuntimeError: DataLoader worker (pid(s) 4711, 4712) exited unexpectedly"),
    (44, "F", "ROCPROFILER_OUTPUT_PATH (/tmp/out) already exists and is not a directory"),
    (45, "F", "Failed to open '/full/1_kernel_trace.csv' for output"),
    (46, "", "[rocprofv3] Fatal error: YAML package is not installed. Run 'pip install pyyaml' to use YAML"),
    (47, "F", "Unsupported output format type: C"),
    (48, "W", "sysfs nodes path '/sys/class/kfd/kfd/topology/nodes' does not exist"),
    (49, "W", "Failed to load libhsa-amd-aqlprofile64.so.1: cannot open shared object file"),
    (50, "E", "[rocprofiler-sdk-rocattach] ptrace call failed. errno: 1 - Operation not permitted"),
    (51, "", "[rocprofv3] Fatal error: No application provided"),
    (52, "", "[rocprofv3] Fatal error: Failed to resolve path. '/opt/rocm/lib/librocprofiler-sdk.so' does not exist"),
    (53, "", "[rocprofv3] Fatal error: No tracing options were enabled for --stats option."),
    (54, "", "[rocprofv3] Fatal error: ATT perfcounters cannot be enabled with PMC"),
    (55, "", "[rocprofv3] Fatal error: ATT activity cannot be enabled with PMC"),
    (
        56,
        "",
        "[rocprofv3] Fatal error: ATT activity cannot be enabled with att-perfcounters or att-perfcounter-ctrl.",
    ),
    (57, "", "[rocprofv3] Fatal error: --selected-regions and --att-consecutive-kernels are mutually exclusive"),
    (58, "", "[rocprofv3] Fatal error: --selected-regions and --collection-period are mutually exclusive"),
    (59, "", "[rocprofv3] Fatal error: PC sampling unavailable. The feature is implicitly disabled. To enable it, use"),
    (60, "", "[rocprofv3] Fatal error: All three PC sampling configurations need to be set"),
    (61, "", "[rocprofv3] Fatal error: PC sampling interval must be a positive number."),
    (62, "", "[rocprofv3] Fatal error: SPM unavailable. The feature is implicitly disabled."),
    (63, "", "Fatal error: SPM feature cannot be enabled along with pc sampling or pmc counter collection"),
    (64, "", "Fatal error: Empty counter group in --pmc flag 2. Each --pmc must specify at least one counter."),
    (65, "", "Fatal error: Multi-pass counter collection (2 passes) is not compatible with attach mode (--pid)"),
    (65, "", "Fatal error: Multi-pass counter collection (2 passes) is not compatible with --collection-period"),
    (66, "", "[rocprofv3] Fatal error: Cannot specify both --pmc and (input file) pmc_groups"),
    (67, "", "[rocprofv3] Fatal error: --replay-mode kernel requires --kernel-replay-beta-enabled"),
    (68, "", "[rocprofv3] Fatal error: Invalid rank specification: rank 7 is out of range. World size is 4"),
    (69, "", "[rocprofv3] Fatal error: When using custom MPI environment variables, both must be given"),
    (70, "", "[rocprofv3] Fatal error: Input file 'x' does not have a recognized extension (.txt, .json, .yaml, .yml)"),
    (71, "", "[rocprofv3] Fatal error: [Errno 2] No such file or directory: 'in.yaml'"),
    (72, "", "[rocprofv3] Fatal error: 'jobs'"),
    (73, "", "[rocprofv3] Fatal error: Command '['./app']' returned non-zero exit status 1."),
    (74, "", "RuntimeError: Option 'output_directory' has conflicting values: cli vs o"),
    (75, "", "RuntimeError: conflicting value for pmc"),
    (76, "", "[rocprofv3] Warning: No tracing options were enabled."),
    (77, "F", "rocprofiler_configure_dispatch_thread_trace_service(...) :: thread trace service configure failed"),
    (78, "F", "bad range format for '7-'. Expected [A-B] where A and B are numbers"),
    (79, "F", "expected integer for iteration. Non-integer value detected"),
    (80, "", "what():  Unterminated character class"),
    (80, "", "terminate called after throwing an instance of 'std::regex_error'"),
    (81, "", "ValueError: invalid truth value ./app (type=str)"),
    (82, "", "rocprofv3: error: unrecognized arguments: --version"),
    (83, "", "rocprofv3: error: argument --output-format: invalid choice: 'xml' (choose from 'csv', 'json')"),
    (84, "W", "Wave incomplete: The trace was cutoff before all waves ended."),
    (85, "W", "Data Lost: The profiler dropped part of the trace due to bandwidth limitations."),
    (86, "W", "Stitch Incomplete: The parser could not fully match a trace token to the underlying disassembly."),
    (87, "W", "Could not fetch some instructions!"),
    (87, "W", "memory://4711#offset=0x7f00&size=4096 was not loaded"),
    (88, "W", "Missing source file /src/kernel.hip"),
    (89, "E", "SQTT Buffer size too low"),
    (90, "E", "SQTT Buffer size too high"),
    (91, "E", "rocprofv3 caught signal 6..."),
    (92, "", "TypeError: sequence item 0: expected str instance, int found"),
    (
        93,
        "",
        (
            "ERROR: ld.so: object '/opt/rocm/lib/librocprofiler-sdk.so' from LD_PRELOAD cannot be preloaded (cannot "
            "open shared object file): ignored."
        ),
    ),
    (94, "F", "mmap failed with errno 22"),
    (94, "E", "ring_buffer: munmap failed: Invalid argument"),
    (95, "", "Memory access fault by GPU node-2 (Agent handle: 0x55) on address 0x7ed0642e4000. Reason: Unknown."),
    (96, "", "ROCPROFILER_REGISTER_LIBRARY is already set to /opt/rocm/lib/librocprofiler-sdk.so"),
    (97, "", "HW Exception by GPU node-2 (Agent handle: 0x5581) reason :GPU Hang"),
    (98, "F", "Assertion that nobody has seen before"),
    (99, "", "[rocprofv3] Fatal error: something that nobody has seen before"),
    (99, "", "Fatal error: something that nobody has seen before"),
    (100, "", "[rocprof-sys][77] unsupported ROCPROFSYS_ROCM_DOMAINS value: rocshmem_api"),
    (101, "", "Error! Setting 'ROCPROFSYS_USE_ROCPD' not found!"),
    (102, "", "[rocprof-sys][77] Error opening perfetto output file: /full/perfetto-trace-77.proto"),
    (103, "", "[rocprof-sys][77] perfetto trace data is empty. File 'perfetto-trace-77.proto' will not be written"),
    (104, "", 'rocprof-sys-run was unable to match "mpirun" to any arguments on the command line'),
    (105, "", "[rocprof-sys][exe] Error! 'train.py' could not be opened..."),
    (105, "", "[rocprof-sys][exe] address space for dynamic instrumentation was not created"),
    (106, "", "Error! sampling was enabled but rocprof-sys was not built with libunwind support"),
]

NORMAL = """\
W20260602 10:30:56.313932 139053582401024 simple_timer.cpp:55] [rocprofv3] tool initialization ::     0.000331 sec
W20260602 10:30:56.314037 139053582401024 simple_timer.cpp:55] [rocprofv3] 'python repro.py' ::     0.000000 sec
W20260602 10:30:57.165570 139053582401024 tool.cpp:2422] HSA version 8.20.0 initialized (instance=0)
E20260602 10:30:58.454084 139053582401024 output_stream.cpp:111] Opened result file: out/host/1858814_kernel_trace.csv
W0602 10:30:58.457368 1390 simple_timer.cpp:55] [rocprofv3] output generation ::     0.005383 sec
E0602 10:30:58.457368 1390 output_stream.cpp:111] Opened result file: out/1_agent_info.csv
I0602 10:30:58.457368 1390 core.cpp:55] Thread tracer being destroyed with thread trace active
compilation: fatal error: file not found
epoch 3, loss 0.25, Error: none
"""


def _full_lines(level: str, text: str) -> list[str]:
    if not level:
        return [text]
    return [form.format(level=level, file="tool.cpp", text=text) for form in (_GLOG, _ABSEIL)]


@pytest.mark.parametrize(("number", "level", "text"), LINES, ids=[f"{n}-{t[:30]}" for n, _, t in LINES])
def test_a_line_is_recognised_as_its_row_and_as_no_other(number: int, level: str, text: str) -> None:
    """The confusion matrix: the diagonal, and nothing beside it."""
    for line in _full_lines(level, text):
        (cause,) = recognised(f"starting\n{line}\nmore\n")
        assert cause.number == number
        assert cause.line.startswith(line[:100])
        assert cause.count == 1


def test_every_row_is_covered() -> None:
    """All 50 rows of the specification and those after them have a line here, or a sign other than text."""
    rows = messages()
    assert set(range(1, 51)) <= set(rows)
    silent = {number for number, row in rows.items() if not row.seen}
    assert {number for number, _, _ in LINES} | silent == set(rows)
    assert {number: rows[number].sign for number in sorted(silent)} == {
        22: "data",
        41: "command",
        42: "variables",
        43: "command",
        98: "level",
        107: "command",
        108: "command",
        109: "variables",
    }


def test_rows_are_sentences() -> None:
    for row in messages().values():
        assert row.level in tuple("FEWS-")
        for text in (row.cause, row.remedy):
            assert text[0].isupper() or text.startswith(("aqlprofile", "gfx", "rocprof", "wavewright", "`", "--"))
            assert text.endswith(".")


def test_all_lines_at_once_are_told_apart() -> None:
    text = "\r\n".join(line for _, level, text in LINES for line in _full_lines(level, text))
    counts: dict[int, int] = {}
    for number, level, _ in LINES:
        counts[number] = counts.get(number, 0) + (2 if level else 1)
    assert {cause.number: cause.count for cause in recognised(text)} == counts


def test_fatal_lines_come_first() -> None:
    text = "\n".join(
        _GLOG.format(level=level, file="a.cpp", text=text)
        for level, text in [("W", "Thread trace buffer full!"), ("F", "Error loading decoder: 37")]
    )
    assert [cause.number for cause in recognised(text)] == [2, 9]


def test_a_good_run_yields_nothing() -> None:
    assert recognised(NORMAL) == ()
    assert recognised("") == ()


def test_the_real_log_of_a_good_run_yields_nothing(shared: Path) -> None:
    folder = shared / "data" / "rocprofv3-tree" / "messages"
    logs = sorted(folder.glob("*.stderr.txt"))
    assert logs
    for log in logs:
        assert recognised(ends_of(log)) == ()
        lines = [log_line(line) for line in log.read_text(encoding="utf-8").splitlines()]
        assert [line.level for line in lines if line is not None] == list("WWWWEEWW")


def test_both_forms_of_log_lines() -> None:
    glog = log_line("F20260602 10:30:58.454084 139053582401024 tool.cpp:2422] text: a] b")
    abseil = log_line("F0602 10:30:58.454084    4711 tool.cpp:2422] text: a] b")
    assert glog == abseil
    assert glog is not None
    assert (glog.level, glog.text) == ("F", "text: a] b")
    assert log_line("Fatal: nothing") is None
    assert log_line("F20260602") is None


def test_colours_and_progress_bars_do_not_hide_a_message() -> None:
    line = "W20260602 10:30:58.454084 1390 core.cpp:5] \x1b[0mThread trace \x1b[33mbuffer full!\x1b[0m"
    text = f"10%\r20%\r\x1b[1;31m{line}\r\n"
    (cause,) = recognised(text)
    assert cause.number == 9
    assert "\x1b" not in cause.line


def test_a_hostile_line_is_made_printable_and_short() -> None:
    line = "Missing source file \x1b]0;owned\x07\x00\x9b2J\u202e" + "x" * 100_000
    (cause,) = recognised(line)
    assert cause.number == 88
    assert cause.line.isprintable()
    assert len(cause.line) < 300


def test_repeated_lines_are_one_cause_with_a_count() -> None:
    line = _GLOG.format(level="W", file="core.cpp", text="Thread trace buffer full!")
    (cause,) = recognised(f"{line}\n" * 5000)
    assert (cause.number, cause.count) == (9, 5000)


def test_large_texts_are_bounded() -> None:
    start = time.process_time()
    first = "Error loading decoder: 37\n"
    last = "\nThread trace buffer full!\n"
    flood = "Segmentation fault " * (2 * TEXT_BYTES_MAX // 19)  # one line, of nothing but hits
    causes = recognised(first + "x\n" * TEXT_BYTES_MAX + flood + "\n" * 100 + last)
    assert {2, 9} <= {cause.number for cause in causes}
    assert time.process_time() - start < 5


def test_of_a_large_file_both_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "stderr.txt"
    with path.open("wb") as file:
        file.write(b"Error loading decoder: 37\n\xff\xfe\n")
        file.seek(1 << 33)  # a sparse file of 8 GiB
        file.write(b"\nThread trace buffer full!\n")
    assert [cause.number for cause in recognised(ends_of(path))] == [2, 9]
    assert recognised(ends_of(tmp_path / "none.txt")) == ()
    assert recognised(ends_of(tmp_path)) == ()


@given(st.binary(max_size=400), st.sampled_from(LINES), st.binary(max_size=400))
def test_any_bytes_around_a_line_change_nothing(before: bytes, row: tuple[int, str, str], after: bytes) -> None:
    number, level, text = row
    line = _full_lines(level, text)[0]
    # An unfinished command for terminals would swallow what follows, as it does on one.
    around = [part.replace(b"\x1b", b"?").decode("utf-8", "replace") for part in (before, after)]
    assert number in {cause.number for cause in recognised(f"{around[0]}\n{line}\n{around[1]}")}


def test_signs_that_are_not_printed() -> None:
    assert [c.number for c in causes_of_command(-11, {})] == [12]
    assert [c.number for c in causes_of_command(139, {})] == [12]
    assert causes_of_command(0, {"ROCP_TOOL_ATTACH": "0"}) == ()
    assert [c.number for c in causes_of_command(0, {"ROCP_TOOL_ATTACH": "1"})] == [42]


def test_verdicts_that_follow() -> None:
    rows = messages()
    assert rows[9].verdict is Verdict.TRUNCATED
    assert rows[85].verdict is Verdict.LOSSY
    assert rows[2].verdict is None
    assert rows[7].verdict is Verdict.REFUSED
