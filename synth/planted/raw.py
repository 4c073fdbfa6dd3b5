"""Executions as raw captures, written by the encoders that every synthetic trace uses.

On gfx9 a wave that waits for its stores reports nothing until s_endpgm issues: the cycles are idle before it. On RDNA
no token tells of s_endpgm at all: what is left of the wave's life is its record.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from synth import lower_gfx9, lower_rdna, plan
from synth.capture import write_capture
from synth.encode_gfx9 import encode as encode_gfx9
from synth.encode_rdna import encode as encode_rdna
from synth.isa import Kind
from synth.planted.decoded_traces import START_CYCLES, write_agents
from synth.planted.machine import GFX12_VERSION
from synth.scenario import Scenario, SyntheticCapture, SyntheticTrace

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from synth.planted.execution import Execution
    from synth.timing import Wave

_GFX9_VERSION = 4
_LOAD_ADDRESS = 0x7F00_0000_0000
_PAGE = 4096
_REALTIME_MHZ, _FIRST_TICK = 100, 1 << 33
_VGPRS = {"gfx9": (512, 8), "gfx12": (1536, 24)}  # of a lane, and granule
_RSRC_GRANULE = {"gfx9": 8, "gfx12": 8}


def write_raw(execution: Execution, directory: str | PathLike[str]) -> Path:
    """Write a capture folder: buffer, listing and list of agents; returns the folder."""
    from pathlib import Path

    engine = _engine(execution)
    gfx9 = engine.family == "gfx9"
    acts = lower_gfx9.lower(engine) if gfx9 else lower_rdna.lower(engine)
    encoded = encode_gfx9(engine, acts) if gfx9 else encode_rdna(engine, acts)
    windows = (encoded.windows_start_byte, encoded.windows_end_byte)
    trace = SyntheticTrace(0, encoded.data, windows, engine, acts, encoded.cut_inside_token)
    scenario = Scenario(family=engine.family, kernels=(execution.launch.program.image,))
    write_capture(SyntheticCapture(scenario, (trace,)), directory)
    write_agents(execution, directory)
    return Path(directory)


def _engine(execution: Execution) -> plan.EnginePlan:
    machine, image = execution.machine, execution.launch.program.image
    size = -(-(execution.code.rows[-1].address + 64) // _PAGE) * _PAGE
    loaded = plan.LoadedObject(1, _LOAD_ADDRESS, size, image.listing, execution.code, image.elf)
    engine = plan.EnginePlan(
        family=machine.family,
        stream_version=_GFX9_VERSION if machine.family == "gfx9" else GFX12_VERSION,
        shader_engine=0,
        target_cu=machine.traced_cu,
        target_simd=machine.traced_simds[0],
        seed="planted",
        code_objects=(loaded,),
        steady_reports=True,
        extended_starts=machine.family == "gfx12",
        windows_begin=START_CYCLES - 800,
        windows_end=START_CYCLES + execution.dispatch_cycles + 4000,
    )
    engine.happenings += [
        plan.AgentInfo(1100, _REALTIME_MHZ * 1000, 0),
        plan.CodeObjectChange(1104, loaded, unload=False, from_start=True, me=0, pipe=0, legacy_id=True),
        _realtime(2100, machine.clock_mhz),
        plan.Dispatch(
            START_CYCLES - 400, image, loaded, 1, 0,
            (machine.lanes * execution.launch.waves_per_workgroup, 1, 1), _resources(execution),
        ),
        _realtime(START_CYCLES + execution.dispatch_cycles + 2100, machine.clock_mhz),
    ]  # fmt: skip
    for cu, waves in execution.waves.items():
        for wave in waves:
            engine.waves.append(_planned(execution, loaded, cu, wave))
    return engine


def _realtime(cycle: int, clock_mhz: int) -> plan.Realtime:
    ticks = cycle * _REALTIME_MHZ // clock_mhz
    exact = -(-ticks * clock_mhz // _REALTIME_MHZ)
    return plan.Realtime(-(-exact // 4) * 4, _FIRST_TICK + ticks)


def _resources(execution: Execution) -> plan.Resources:
    """Registers that leave room for as many waves as the launch has slots."""
    vgprs, granule = _VGPRS[execution.machine.family]
    per_wave = min(vgprs // execution.launch.slots_per_simd, 256 if granule != 8 else vgprs)
    return plan.Resources(per_wave // _RSRC_GRANULE[execution.machine.family] - 1, 5, 0, 4, 0)


def _planned(execution: Execution, loaded: plan.LoadedObject, cu: int, wave: Wave) -> plan.PlannedWave:
    machine, entry = execution.machine, execution.launch.program.image.entry
    run = None
    if cu == machine.traced_cu and wave.simd in machine.traced_simds:
        moved = [_moved(execution, step) for step in wave.steps]
        run = replace(wave, begin=wave.begin + START_CYCLES, end=wave.end + START_CYCLES, steps=moved)
    return plan.PlannedWave(
        cu=cu, simd=wave.simd, slot=wave.slot, begin=wave.begin + START_CYCLES, end=wave.end + START_CYCLES,
        me=1, pipe=0, workgroup=wave.workgroup, work_items=machine.lanes, code_object=loaded, entry=entry, run=run,
    )  # fmt: skip


def _moved(execution: Execution, step: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """A step on the trace's clock."""
    row, ready, issue, extra = step
    kind = execution.code.rows[row].kind
    if kind == Kind.END:
        ready = issue
    if kind == Kind.BARRIER and extra:
        extra += START_CYCLES
    return row, ready + START_CYCLES, issue + START_CYCLES, extra
