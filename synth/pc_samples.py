"""Synthetic PC samples as rocprofv3 writes them (CSV, JSON), together with their counts."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from synth.kernel import KernelImage, compiled

if TYPE_CHECKING:
    from os import PathLike

PROCESS_ID = 4711
AGENT_HANDLE = 39
LOAD_BASE = 0x7F00_0000_0000
#: Name of a reason as `SAMPLE_REASONS` has it -> the end of its name in rocprofv3.
REASONS = {
    "instruction fetch": "NO_INSTRUCTION_AVAILABLE",
    "ALU dependency": "ALU_DEPENDENCY",
    "waitcnt": "WAITCNT",
    "barrier": "BARRIER_WAIT",
    "arbiter loss": "ARBITER_NOT_WIN",
    "pipe stall": "ARBITER_WIN_EX_STALL",
}
#: Names of the compiled kernels in their code objects.
SYMBOLS = {"saxpy": "_ZN4blas5saxpyILj64EEEvfPKfPfj"}
_NOT_ISSUED = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
_KINDS = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_"
_COLUMNS = ("Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id")
_MORE_COLUMNS = ("Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count")


class Sample(NamedTuple):
    """One sample; `issued` and `reason` are None where the method does not record them."""

    time_ns: int
    dispatch: int
    kernel: int  #: Place in `SampledRun.kernels`; -1 = code that the profiler could not read.
    address: int
    text: str
    comment: str
    issued: bool | None
    reason: str | None  #: Of `REASONS`.
    cu_wave_count: int


@dataclass(frozen=True)
class SampledRun:
    """A run of kernels under PC sampling; the same fields give the same samples."""

    kernels: tuple[KernelImage, ...] = field(default_factory=lambda: (compiled("saxpy", "gfx942"),))
    method: str = "stochastic"  #: Or `host_trap`.
    sample_count: int = 600
    dispatches: int = 6  #: They run the kernels in turn.
    waves_per_moment: int = 3  #: Samples with the same time.
    hot_share: float = 0.5  #: Of the samples at the first wait of the kernel.
    unread_count: int = 0  #: Samples of code that the profiler could not read, in a dispatch of their own at the end.
    seed: int = 1


@dataclass(frozen=True)
class SyntheticSamples:
    """The samples that were written."""

    run: SampledRun
    samples: tuple[Sample, ...]

    def counts(self) -> Counter[tuple[int, int]]:
        """Samples by kernel and address."""
        return Counter((sample.kernel, sample.address) for sample in self.samples)

    def reasons(self) -> Counter[str]:
        """Samples that were not issued, by reason."""
        return Counter(sample.reason for sample in self.samples if sample.reason is not None)


def sampled(run: SampledRun) -> SyntheticSamples:
    """Make the samples of a run.

    Examples
    --------
    >>> made = sampled(SampledRun(sample_count=100))
    >>> len(made.samples), made.samples[0].dispatch
    (100, 1)
    """
    chance = random.Random(run.seed)  # noqa: S311 - no secret
    listings = [_listing(kernel) for kernel in run.kernels]
    samples = []
    for number in range(run.sample_count):
        dispatch = 1 + number * run.dispatches // run.sample_count
        kernel = (dispatch - 1) % len(run.kernels)
        rows = listings[kernel]
        waits = [row for row in rows if row[1].startswith("s_wait")]
        address, text = waits[0] if waits and chance.random() < run.hot_share else chance.choice(rows)
        issued, reason = _state(run, text, chance)
        comment = f"/src/{run.kernels[kernel].name}.hip:{10 + address // 8 % 7}"
        time_ns = 1_000_000_000 + 1_000 * (number // run.waves_per_moment)
        waves = 2 + number % 5
        samples.append(Sample(time_ns, dispatch, kernel, address, text, comment, issued, reason, waves))
    for number in range(run.unread_count):
        issued, reason = _state(run, "", chance)
        samples.append(Sample(2_000_000_000 + number, run.dispatches + 1, -1, 0x9000, "", "", issued, reason, 1))
    return SyntheticSamples(run, tuple(samples))


def _listing(kernel: KernelImage) -> list[tuple[int, str]]:
    """Address and text of the instructions of a kernel, from its entry up to its end."""
    rows = [line.split("\t") for line in kernel.listing.decode().splitlines() if line and not line.startswith("#")]
    placed = [(int(address, 0), text) for address, _, text, *_ in rows]
    kernel_rows = [row for row in placed if row[0] >= kernel.entry]
    end = next(at for at, (_, text) in enumerate(kernel_rows) if text.startswith("s_endpgm"))
    return kernel_rows[: end + 1]


def _state(run: SampledRun, text: str, chance: random.Random) -> tuple[bool | None, str | None]:
    """True and no reason if the wave issued, else the reason of its stall."""
    if run.method == "host_trap":
        return None, None
    if text.startswith("s_wait"):
        return False, "waitcnt"
    if text.startswith("s_barrier"):
        return False, "barrier"
    return (True, None) if chance.random() < 0.5 else (False, chance.choice(sorted(REASONS.keys() - {"waitcnt"})))


def write_samples(
    run: SampledRun,
    directory: str | PathLike[str],
    *,
    form: str = "csv",
    with_kernel_trace: bool = True,
    with_code: bool = False,
) -> SyntheticSamples:
    """Write the files of a run: samples as CSV or JSON, its kernel trace, its agents, and its code objects.

    Raises
    ------
    OSError
        When a file cannot be written.
    """
    samples, folder = sampled(run), Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    if form == "json":
        text = json.dumps({"rocprofiler-sdk-tool": [_process(samples, with_kernel_trace=with_kernel_trace)]})
        (folder / f"{PROCESS_ID}_results.json").write_text(text)
    else:
        (folder / f"{PROCESS_ID}_pc_sampling_{run.method}.csv").write_text(_sample_csv(samples))
        (folder / f"{PROCESS_ID}_agent_info.csv").write_text(_agent_csv(run))
        if with_kernel_trace:
            (folder / f"{PROCESS_ID}_kernel_trace.csv").write_text(_kernel_csv(samples))
    for number, kernel in enumerate(run.kernels if with_code else (), 1):
        name = f"{PROCESS_ID}_{kernel.target}_code_object_id_{number}"
        (folder / f"{name}.isa.tsv").write_bytes(kernel.listing)
        if kernel.elf is not None:
            (folder / f"{name}.out").write_bytes(kernel.elf)
    return samples


def _sample_csv(samples: SyntheticSamples) -> str:
    is_stochastic = samples.run.method == "stochastic"
    rows: list[tuple[Any, ...]] = []
    for sample in samples.samples:
        row: tuple[Any, ...] = (sample.time_ns, (1 << 64) - 1, sample.dispatch, sample.text, _comment(sample))
        row = (*row, sample.dispatch)
        if is_stochastic:
            row = (*row, int(bool(sample.issued)), f"{_KINDS}VALU", _reason(sample), sample.cu_wave_count)
        rows.append(row)
    return _csv((*_COLUMNS, *(_MORE_COLUMNS if is_stochastic else ())), rows)


def _comment(sample: Sample) -> str:
    if sample.kernel >= 0:
        return sample.comment
    return f"Unrecognized code object id, physical virtual address of PC:{sample.address}"


def _reason(sample: Sample) -> str:
    # Of an issued instruction the field means nothing; rocprofv3 writes whatever the hardware left in it.
    return _NOT_ISSUED + ("OTHER_WAIT" if sample.reason is None else REASONS[sample.reason])


def _csv(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """As rocprofv3 writes it: texts in quotes, numbers without."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return stream.getvalue()


def _agent_csv(run: SampledRun) -> str:
    columns = ("Node_Id", "Logical_Node_Id", "Agent_Type", "Gfx_Target_Version", "Wave_Front_Size", "Name")
    return _csv(columns, [(0, 0, "CPU", 0, 0, "a CPU"), (1, 1, "GPU", 90402, 64, run.kernels[0].target)])


def _kernel_csv(samples: SyntheticSamples) -> str:
    launch = ("Kind", "Agent_Id", "Queue_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id")
    columns = (*launch, "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "VGPR_Count", "SGPR_Count")
    rows = [
        ("KERNEL_DISPATCH", "Agent 1", 1, number, at + 1, name, number, *times, 0, 8, 16)
        for number, at, name, times in _launches(samples)
    ]
    return _csv(columns, rows)


def _launches(samples: SyntheticSamples) -> list[tuple[int, int, str, tuple[int, int]]]:
    """Number, kernel, its name, start and end of the dispatches."""
    kernels = samples.run.kernels
    times: dict[int, list[int]] = {}
    for sample in samples.samples:
        times.setdefault(sample.dispatch, []).append(sample.time_ns)
    return [
        (number, at, kernels[at].name, (min(span) - 100, max(span) + 100))
        for number, span in sorted(times.items())
        for at in ((number - 1) % len(kernels),)
        if number <= samples.run.dispatches
    ]


def _process(samples: SyntheticSamples, *, with_kernel_trace: bool) -> dict[str, Any]:
    kernels = samples.run.kernels
    places = sorted({(s.kernel, s.address, s.text, s.comment) for s in samples.samples if s.kernel >= 0})
    index = {place[:2]: number for number, place in enumerate(places)}
    records = [
        {"record": _record(sample, samples.run.method), "inst_index": index.get((sample.kernel, sample.address), -1)}
        for sample in samples.samples
    ]
    dispatches = [
        {
            "correlation_id": {"internal": number, "external": 0},
            "start_timestamp": times[0],
            "end_timestamp": times[1],
            "thread_id": PROCESS_ID,
            "dispatch_info": {"agent_id": {"handle": AGENT_HANDLE}, "kernel_id": at + 1, "dispatch_id": number},
        }
        for number, at, _, times in _launches(samples)
    ]
    methods = {"pc_sample_host_trap": [], "pc_sample_stochastic": [], f"pc_sample_{samples.run.method}": records}
    return {
        "metadata": {"pid": PROCESS_ID, "init_time": 1, "fini_time": 10**10, "command": ["app"]},
        "agents": [{"id": {"handle": AGENT_HANDLE}, "type": 2, "name": kernels[0].target, "node_id": 1}],
        "strings": {
            "buffer_records": [],
            "pc_sample_instructions": [text for _, _, text, _ in places],
            "pc_sample_comments": [comment for _, _, _, comment in places],
        },
        "code_objects": [
            {"code_object_id": number, "load_base": LOAD_BASE * number} for number in range(1, len(kernels) + 1)
        ],
        "kernel_symbols": [
            {
                "kernel_id": number,
                "code_object_id": number,
                "kernel_name": f"{SYMBOLS.get(kernel.name, kernel.name)}.kd",
                "formatted_kernel_name": kernel.name,
                "kernel_address": {"handle": LOAD_BASE * number + kernel.entry},
            }
            for number, kernel in enumerate(kernels, 1)
        ],
        "buffer_records": {"kernel_dispatch": dispatches if with_kernel_trace else [], **methods},
    }


def _record(sample: Sample, method: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "hw_id": {"chiplet": 0, "simd_id": 2, "shader_engine_id": 1},
        "pc": {"code_object_id": sample.kernel + 1, "code_object_offset": sample.address},
        "exec_mask": (1 << 64) - 1,
        "timestamp": sample.time_ns,
        "dispatch_id": sample.dispatch,
        "corr_id": {"internal": sample.dispatch, "external": 0},
        "wrkgrp_id": {"x": 1, "y": 0, "z": 0},
        "wave_in_grp": 0,
    }
    if method == "host_trap":
        return record
    more = {"wave_issued": int(bool(sample.issued)), "inst_type": f"{_KINDS}VALU", "wave_cnt": sample.cu_wave_count}
    return record | more | {"snapshot": {"stall_reason": _reason(sample), "dual_issue_valu": 0}}
