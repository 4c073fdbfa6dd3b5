"""Executions as decoded directories (`ui_output_*`), written as rocprofv3 3.0.0 writes them, without our reader.

`time` of an instruction is when its wave first tried to issue it, `stall` how long it could not, `duration` includes
the stall; waits, barriers and s_nop are all stall (RDNA: but for their last cycle); the gap before is idle. s_endpgm
lasts until the wave's stores are done and the wave is gone.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth import truth as t
from synth.devices import agents
from synth.isa import Kind
from synth.planted.machine import GFX12_VERSION
from synth.rdna_ops import op_of

if TYPE_CHECKING:
    from os import PathLike

    from synth.isa import CodeRow
    from synth.planted.execution import Execution
    from synth.planted.machine import Machine
    from synth.timing import Wave

START_CYCLES = 70_000
"""Of the trace's clock when the dispatch begins."""

_CATEGORY = {
    Kind.SMEM: t.SMEM, Kind.SALU: t.SALU, Kind.SALU_EXEC: t.SALU, Kind.SALU_FLOAT: t.SALU,
    Kind.GLOBAL_LOAD: t.FLAT, Kind.GLOBAL_STORE: t.FLAT, Kind.FLAT_LOAD: t.FLAT, Kind.FLAT_STORE: t.FLAT,
    Kind.BUFFER_LOAD: t.VMEM, Kind.BUFFER_STORE: t.VMEM, Kind.LDS_LOAD: t.LDS, Kind.LDS_STORE: t.LDS,
    Kind.JUMP: t.JUMP, Kind.WAIT: t.IMMED, Kind.IMMED: t.IMMED, Kind.BARRIER: t.IMMED, Kind.BARRIER_WAIT: t.IMMED,
    Kind.BARRIER_SIGNAL: t.MESSAGE, Kind.END: t.MESSAGE,
}  # fmt: skip
_ALL_STALL = {Kind.WAIT, Kind.IMMED, Kind.BARRIER, Kind.BARRIER_WAIT}
_STATE = {t.IMMED: t.WAIT, t.MESSAGE: t.WAIT}
_GFXIP = {"gfx9": (9, "vega"), "gfx12": (12, "navi")}
_CODE_OBJECT, _DISPATCH = 1, 1
_REALTIME_MHZ, _TICKS = 100, 236_566_044_489_914
LAUNCH_NS = 2_000
"""Of a dispatch beside its waves: launch, and caches that are written back."""
_HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"

Record = tuple[int, int, int, int, int]  # time, category, stall, duration, row


def write_decoded(execution: Execution, directory: str | PathLike[str]) -> Path:
    """Write a `ui_output_agent_1_dispatch_1` folder into `directory`, and the list of agents beside it; returns it."""
    folder = Path(directory) / f"ui_output_agent_1_dispatch_{_DISPATCH}"
    folder.mkdir(parents=True)
    write_agents(execution, directory)
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    names: Any = defaultdict(lambda: defaultdict(dict))
    for wave in execution.traced_waves:
        records = _records(execution, wave)
        _add_up(sums, records, wave.begin)
        slot_names = names[str(wave.simd)][str(wave.slot)]
        number = len(slot_names)
        file = f"se0_sm{wave.simd}_sl{wave.slot}_wv{number}.json"
        slot_names[str(number)] = [file, START_CYCLES + wave.begin, START_CYCLES + wave.end]
        _write(folder / file, _wave_file(execution, wave, records, number))
    gfxip, gfxv = _GFXIP[execution.machine.family]
    _write(
        folder / "filenames.json",
        {"counter_names": [], "gfxip": gfxip, "gfxv": gfxv, "global_begin_time": 0, "version": "3.0.0",
         "wave_filenames": {"0": names}},
    )  # fmt: skip
    _write(folder / "code.json", _code_file(execution, sums))
    _write(folder / "occupancy.json", _occupancy_file(execution))
    last = START_CYCLES + execution.dispatch_cycles + START_CYCLES
    ticks = last * _REALTIME_MHZ // execution.machine.clock_mhz
    pairs = [[0, _TICKS], [ticks * execution.machine.clock_mhz // _REALTIME_MHZ, _TICKS + ticks]]
    metadata = {"descriptor": "[gfx_clock, realtime_clock]", "frequency": _REALTIME_MHZ * 1_000_000}
    _write(folder / "realtime.json", {"SE0": pairs, "metadata": metadata})
    return folder


def write_agents(execution: Execution, directory: str | PathLike[str]) -> None:
    """Write `4711_agent_info.csv`: which GPU it was."""
    gpu = agents(execution.machine.target, gpus=1)[-1]
    numbers = {name.title(): value for name, value in gpu.properties.items() if isinstance(value, int)}
    row = {"Node_Id": gpu.number, "Agent_Type": gpu.kind, "Name": gpu.name, "Product_Name": gpu.product} | numbers
    with Path(directory, "4711_agent_info.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row), quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerow(row)


def write_run(execution: Execution, directory: str | PathLike[str]) -> None:
    """Write `4711_kernel_trace.csv`: the dispatch with its duration, as the same process recorded it."""
    launch, machine = execution.launch, execution.machine
    items = machine.lanes * launch.waves_per_workgroup
    duration_ns = execution.dispatch_cycles * 1000 // machine.clock_mhz + LAUNCH_NS
    row = {
        "Kind": "KERNEL_DISPATCH", "Agent_Id": "Agent 1", "Queue_Id": 1, "Stream_Id": 0, "Thread_Id": 4711,
        "Dispatch_Id": _DISPATCH, "Kernel_Id": 1, "Kernel_Name": launch.program.image.name, "Correlation_Id": 1,
        "Start_Timestamp": 1_000_000, "End_Timestamp": 1_000_000 + duration_ns, "LDS_Block_Size": 0,
        "Scratch_Size": 0, "VGPR_Count": 64, "Accum_VGPR_Count": 0, "SGPR_Count": 32, "Workgroup_Size_X": items,
        "Workgroup_Size_Y": 1, "Workgroup_Size_Z": 1, "Grid_Size_Y": 1, "Grid_Size_Z": 1,
        "Grid_Size_X": items * launch.workgroups * machine.shader_engines,
    }  # fmt: skip
    with Path(directory, "4711_kernel_trace.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row), quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerow(row)


def _records(execution: Execution, wave: Wave) -> list[Record]:
    rows, machine = execution.code.rows, execution.machine
    return [_record(rows[row], row, ready, issue, extra, wave.end, machine) for row, ready, issue, extra in wave.steps]


def _record(code: CodeRow, row: int, ready: int, issue: int, extra: int, end: int, machine: Machine) -> Record:
    kind = code.kind
    if kind == Kind.END:
        return ready, t.MESSAGE, 0, end - ready, row
    if kind in _ALL_STALL:
        over = max(issue, extra) + machine.quantum_cycles
        # RDNA's decoder counts the last cycle as issue.
        stall = over - ready - (machine.family != "gfx9")
        return ready, t.IMMED, stall, over - ready, row
    return ready, _category(kind, extra, machine.family), issue - ready, issue - ready + machine.step_cycles(kind), row


def _category(kind: Kind, is_taken: int, family: str) -> int:
    if kind == Kind.BRANCH:
        return t.JUMP if is_taken else t.NEXT
    op = op_of(kind, GFX12_VERSION, is_taken=0) if family != "gfx9" else None
    return op.category if op else _CATEGORY.get(kind, t.VALU)


def _add_up(sums: dict[int, list[int]], records: list[Record], begin: int) -> None:
    before = begin
    for time, _, stall, duration, row in records:
        for at, value in enumerate((1, duration, stall, max(time - before, 0))):
            sums[row][at] += value
        before = time + duration


def _wave_file(execution: Execution, wave: Wave, records: list[Record], number: int) -> dict[str, Any]:
    instructions = [[START_CYCLES + time, kind, stall, cycles, row + 1] for time, kind, stall, cycles, row in records]
    place = {"cu": execution.machine.traced_cu, "simd": wave.simd, "slot": wave.slot, "id": number}
    times = {"begin": START_CYCLES + wave.begin, "end": START_CYCLES + wave.end}
    lists = {"instructions": instructions, "timeline": _timeline(records, wave), "waitcnt": None}
    head = {"duration": wave.end - wave.begin, "name": "SE0"}
    return head | {"num_insts": len(records), "num_stitched": len(records), "wave": place | times | lists}


def _timeline(records: list[Record], wave: Wave) -> list[list[int]]:
    parts: list[list[int]] = []

    def add(state: int, cycles: int) -> None:
        if cycles > 0 and parts and parts[-1][0] == state:
            parts[-1][1] += cycles
        elif cycles > 0:
            parts.append([state, cycles])

    before = wave.begin
    for time, category, stall, duration, _ in records:
        add(t.IDLE, time - before)
        waits = category in _STATE
        add(t.WAIT if waits else t.STALL, duration if waits else stall)
        add(t.EXEC, 0 if waits else duration - stall)
        before = time + duration
    add(t.EXEC, wave.end - before)
    return parts


def _code_file(execution: Execution, sums: dict[int, list[int]]) -> dict[str, Any]:
    rows = execution.code.rows
    name = f"; {execution.launch.program.image.name}"
    lines: list[list[Any]] = [[name, 0, 0, "", _CODE_OBJECT, rows[0].address, 0, 0, 0, 0]]
    lines += [[row.text, 0, at + 1, "", _CODE_OBJECT, row.address, *sums[at]] for at, row in enumerate(rows)]
    return {"code": lines, "version": "3.0.0", "header": _HEADER}


def _occupancy_file(execution: Execution) -> dict[str, Any]:
    events = [
        [START_CYCLES + time, cu, wave.simd, wave.slot, start, _DISPATCH]
        for cu, waves in execution.waves.items()
        for wave in waves
        for time, start in ((wave.begin, 1), (wave.end, 0))
    ]
    dispatches = {"0": "0 / 0x0", str(_DISPATCH): execution.launch.program.image.name}
    return {"version": "3.0.0", "dispatches": dispatches, "0": sorted(events, key=lambda event: event[0])}


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, separators=(",", ":")))
