"""Files of rocprofv3, under its naming rules: stand-ins for tests of whole captures without a GPU.

`make_templates` synthesizes streams of every kind once (about a second); `write_thread_trace` copies them under the
names that rocprofv3 would use, in milliseconds and with the standard library alone, so that a stand-in program can
import this file as a module of its own. `outcome` says what a program would leave for the variables that it was given:
truncated until the buffer is large enough, empty until the mask has a busy shader engine and the CU is the busy one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KINDS = ("good", "empty", "truncated", "lossy", "unreadable")
ENGINES = 4  #: Shader engines that templates have; others repeat them.
VARIANTS = 2  #: Launches that differ a little, as real ones do.
TARGET = "gfx942"
#: The kernel of the templates as rocprofv3 names it.
KERNEL = "void blas::saxpy<64u>(float, float const*, float*, unsigned int)"
AGENT = 4711

_KERNEL_TRACE = (
    "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
    "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
    "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X",
    "Grid_Size_Y", "Grid_Size_Z",
)  # fmt: skip
_KERNEL_STATS = ("Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage", "MinNs", "MaxNs", "StdDev")


def make_templates(folder: Path, *, target: str = TARGET, kinds: Sequence[str] = KINDS, target_cu: int = 1) -> Path:
    """Synthesize streams of every kind into `folder`, for `write_thread_trace`."""
    from synth import Scenario, compiled, family_of, synthesize

    kernel = compiled("saxpy", target)
    settings: dict[str, dict[str, Any]] = {
        "good": {},
        "empty": {"workgroups": 0, "other_waves": 12},
        "truncated": {"keep_share": 0.5},
        "lossy": {"loss": True, "dispatches": 2},
    }
    for kind in kinds:
        place = folder / kind
        place.mkdir(parents=True, exist_ok=True)
        for variant in range(VARIANTS):
            if kind == "unreadable":
                for engine in range(ENGINES):
                    (place / f"{variant}_{engine}.att").write_bytes(b"\x13\x37" * 512)
                continue
            counts: dict[str, Any] = {
                "workgroups": 4 + variant,
                "shader_engines": ENGINES,
                "target_cu": target_cu,
                "seed": variant,
            }
            scenario = Scenario(family=family_of(target), kernels=(kernel,), **{**counts, **settings[kind]})
            for trace in synthesize(scenario).traces:
                (place / f"{variant}_{trace.shader_engine}.att").write_bytes(trace.data)
    if kernel.elf is not None:
        (folder / "code.out").write_bytes(kernel.elf)
    (folder / "code.isa.tsv").write_bytes(kernel.listing)
    (folder / "target.txt").write_text(target, encoding="ascii")
    return folder


def write_thread_trace(
    templates: Path,
    raw: Path,
    *,
    kind: str = "good",
    prefix: str = "4711/att",
    dispatches: Sequence[int] = (7, 8),
    engines: Sequence[int] = (0,),
    agent: int = AGENT,
    kinds_of_engines: Mapping[int, str] | None = None,
    capacity_bytes: int | None = None,
) -> list[Path]:
    """Write what `rocprofv3 --att -d raw -o prefix` leaves; kind `none` leaves code objects alone, `nothing` nothing.

    `kinds_of_engines` are shader engines of another kind than `kind`. With `capacity_bytes` truncated streams are
    filled with zeros up to it, as a full buffer is.
    """
    place = raw / prefix
    place.parent.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    if kind == "nothing":
        return written
    target = (templates / "target.txt").read_text(encoding="ascii")
    for name, suffix in (("code.out", ".out"), ("code.isa.tsv", ".isa.tsv")):
        if (templates / name).is_file():
            copy = place.with_name(f"{place.name}_{target}_code_object_id_1{suffix}")
            written.append(Path(shutil.copyfile(templates / name, copy)))
    if kind == "none":
        return written
    for number, dispatch in enumerate(dispatches):
        for engine in engines:
            of_engine = (kinds_of_engines or {}).get(engine, kind)
            source = templates / of_engine / f"{number % VARIANTS}_{engine % ENGINES}.att"
            copy = place.with_name(f"{place.name}_{agent}_shader_engine_{engine}_{dispatch}.att")
            shutil.copyfile(source, copy)
            if of_engine == "truncated" and capacity_bytes is not None:
                with copy.open("r+b") as file:
                    file.truncate(max(capacity_bytes, source.stat().st_size))
            written.append(copy)
    return written


def write_placeholder(raw: Path, dispatch: int, agent: int = AGENT, *, has_occupancy: bool = True) -> Path:
    """The decoded folder that AMD's decoder leaves for a dispatch without traced waves, and its table of one line.

    Waves on other CUs are in `occupancy.json`, unless there were none.
    """
    folder = raw / f"ui_output_agent_{agent}_dispatch_{dispatch}"
    folder.mkdir(parents=True, exist_ok=True)
    version = {"version": "3.0.0"}
    header = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
    wave_starts = [[100 + 8 * n, 6, n, 0, 1, 1] for n in range(4 if has_occupancy else 0)]
    files = {
        "code.json": {"code": None, "header": header, **version},
        "filenames.json": {"counter_names": [], "gfxip": 9, "gfxv": "vega", "global_begin_time": 0, **version},
        "occupancy.json": {"0": wave_starts, "dispatches": {"0": "0 / 0x0", "1": "saxpy"}, **version},
        "realtime.json": {"metadata": {"frequency": 100000000}},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    columns = ("CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source")
    (raw / f"stats_{folder.name}.csv").write_text(_row(columns), encoding="utf-8")
    return folder


def write_kernel_trace(
    raw: Path, launches: Iterable[tuple[str, int]], *, prefix: str = "4711/att", duration_ns: int = 20_000
) -> Path:
    """A kernel trace: (kernel, grid in work-items) in the order of launch; dispatch numbers count from 1."""
    path = raw / f"{prefix}_kernel_trace.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    symbols: dict[str, int] = {}
    rows = [_row(_KERNEL_TRACE)]
    for number, (name, grid) in enumerate(launches, 1):
        symbol = symbols.setdefault(name, 11 + len(symbols))
        start = 2_365_494_215_774_139 + number * 50_000
        end = start + duration_ns + number % 7 * 100
        place = ("KERNEL_DISPATCH", "Agent 2", 1, 0, 4711, number, symbol, name, number, start, end)
        resources = (0, 0, 32, 0, 48)
        rows.append(_row((*place, *resources, 256, 1, 1, grid, 1, 1)))
    path.write_text("".join(rows), encoding="utf-8")
    return path


def write_kernel_stats(raw: Path, calls: Mapping[str, tuple[int, int]], *, prefix: str = "4711/discover") -> Path:
    """The table of a discovery: kernel -> calls and nanoseconds of each."""
    path = raw / f"{prefix}_kernel_stats.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = sum(count * each for count, each in calls.values()) or 1
    rows = [_row(_KERNEL_STATS)]
    for name, (count, each) in sorted(calls.items(), key=lambda call: -call[1][0] * call[1][1]):
        share = f"{100 * count * each / whole:.2f}"
        rows.append(_row((name, count, count * each, f"{each:.6f}", share, each, each, "0.000000")))
    path.write_text("".join(rows), encoding="utf-8")
    return path


def outcome(
    variables: Mapping[str, str],
    *,
    needed_bytes: int = 0,
    busy_engines: Sequence[int] = (0,),
    busy_cus: Sequence[int] = tuple(range(16)),
    lossy_below_period: int = 0,
) -> tuple[tuple[int, ...], dict[int, str]]:
    """Selected shader engines, and what kind of stream each leaves, for the variables that rocprofv3 hands over.

    `needed_bytes` is what one shader engine writes; waves run on `busy_engines`, there on `busy_cus`. With counters at
    a smaller period than `lossy_below_period` packets are lost.
    """
    mask = int(variables.get("ROCPROF_ATT_PARAM_SHADER_ENGINE_MASK", "0x1"), 0)
    engines = tuple(bit for bit in range(64) if mask >> bit & 1)
    each_bytes = int(variables.get("ROCPROF_ATT_PARAM_BUFFER_SIZE", "0x10000000"), 0) // max(len(engines), 1)
    target_cu = int(variables.get("ROCPROF_ATT_PARAM_TARGET_CU", "1"), 0)
    period = int(variables.get("ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL", "0"), 0)
    kinds = {}
    for engine in engines:
        if engine not in busy_engines or target_cu not in busy_cus:
            kinds[engine] = "empty"
        elif each_bytes < needed_bytes:
            kinds[engine] = "truncated"
        else:
            kinds[engine] = "lossy" if 0 < period < lossy_below_period else "good"
    return engines, kinds


def _row(values: Iterable[object]) -> str:
    return ",".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values) + "\n"
