"""The ground truth of a synthetic trace: exactly the tables that decoding it must give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synth.plan import CodeObjectChange, EnginePlan, LoadedObject, PlannedWave

Row = tuple[int, ...]

# Columns by table, named as in the decoder's tables; an instruction's place stands for its row number.
COLUMNS: dict[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "waves": "cu simd slot contexts me pipe workgroup cluster complete start_cycles end_cycles entry_code_object"
        " entry_address first_instruction instruction_count first_state state_count",
        "instructions": "wave time_cycles stall_cycles duration_cycles category code_object address",
        "states": "wave state duration_cycles",
        "occupancy": "time_cycles cu simd slot start me pipe is_ext workgroup cluster code_object address",
        "counters": "time_cycles cu bank value0 value1 value2 value3",
        "events": "time_cycles type me pipe flags payload",
        "dispatches": "time_cycles me pipe user_sgprs flags vgprs sgprs lds_bytes workgroup_size_x workgroup_size_y"
        " workgroup_size_z code_object address",
        "shader_data": "time_cycles value cu simd slot flags",
        "realtime": "shader_clock_cycles realtime_ticks",
        "other_simd": "time_cycles duration_cycles cu category",
        "info": "code",
        "losses": "kind value",
    }.items()
}

SMEM, SALU, VMEM, FLAT, LDS, VALU, JUMP, NEXT, IMMED = range(1, 10)
MESSAGE, UNFINISHED = 11, 14
EMPTY, IDLE, EXEC, WAIT, STALL = range(5)
DATA_LOST, WAVE_INCOMPLETE = 1, 3  # info.code
LOSS_PACKETS, LOSS_TRUNCATED_TOKEN, LOSS_WAVE = 1, 2, 3  # losses.kind
EVENT_TYPES = {
    "cs_partial_flush": 1,
    "bottom_of_pipe": 2,
    "cache_flush": 5,
    "packet_loss": 6,
    "code_object_load": 7,
    "code_object_unload": 8,
    "trace_stall_begin": 9,
    "trace_stall_end": 10,
    "trace_flush": 11,
    "didt_stall_begin": 12,
    "didt_stall_end": 13,
    "gc_rinse": 16,
    "spm_sample": 17,
}


@dataclass
class Truth:
    """Rows per table (see COLUMNS) and what the header and the agent information say."""

    gfxip: int
    stream_version: int
    target_cu: int
    target_simd: int
    double_buffer: bool
    realtime_hz: int = 0
    counter_interval_cycles: int = 0
    rows: dict[str, list[Row]] = field(default_factory=lambda: {table: [] for table in COLUMNS})

    @property
    def wave_count(self) -> int:
        """Traced waves."""
        return len(self.rows["waves"])

    @property
    def instruction_count(self) -> int:
        """Instruction records of all traced waves."""
        return len(self.rows["instructions"])


Segment = list[int]  # state, cycles


@dataclass
class FinishedWave:
    """A wave's records before they are numbered."""

    planned: PlannedWave
    complete: bool
    begin: int
    end: int
    me: int
    pipe: int
    workgroup: int
    cluster: int
    instructions: list[tuple[int, int, int, int, int]]  # time, stall, duration, category, ELF address or -1
    segments: list[Segment]


class CodeObjects:
    """Code objects that a decoder knows, in the order of the stream."""

    def __init__(self) -> None:
        self._live: set[int] = set()
        self._from_start: set[int] = set()

    def change(self, change: CodeObjectChange) -> bool:
        """A marker was read; False if it changes nothing (loaded twice, or unloaded without being loaded)."""
        identity = change.code_object.id
        if change.unload == (identity not in self._live):
            return False
        if change.unload:
            self._live.remove(identity)
        else:
            self._live.add(identity)
            if change.from_start:
                self._from_start.add(identity)
        return True

    def now(self, placed: LoadedObject, address: int) -> tuple[int, int]:
        """(code object, address) for an ELF address, by what is loaded at this moment."""
        return self._place(placed, address, self._live)

    def finally_(self, placed: LoadedObject, address: int, entry: tuple[int, int]) -> tuple[int, int]:
        """The same for an `entry` looked up before: unknown places are searched among the objects of the start."""
        return entry if entry[0] else self._place(placed, address, self._from_start)

    @staticmethod
    def _place(placed: LoadedObject, address: int, ids: set[int]) -> tuple[int, int]:
        return (placed.id, address) if placed.id in ids else (0, placed.load_address + address)


def add_wave(truth: Truth, wave: FinishedWave, entry: tuple[int, int]) -> None:
    """Number a finished wave and append it to the tables; `entry` is its resolved kernel entry."""
    planned = wave.planned
    number = len(truth.rows["waves"])
    instructions, states = truth.rows["instructions"], truth.rows["states"]
    first_instruction, first_state = len(instructions), len(states)
    code_object, bias = (entry[0], 0) if entry[0] else (0, planned.code_object.load_address)
    for time, stall, duration, category, address in wave.instructions:
        place = (code_object, address + bias) if address >= 0 else (0, 0)
        instructions.append((number, time, stall, duration, category, *place))
    states.extend((number, state, cycles) for state, cycles in wave.segments)
    where = (planned.cu, planned.simd, planned.slot)
    kind = (0, wave.me, wave.pipe, wave.workgroup, wave.cluster, int(wave.complete))
    parts = (first_instruction, len(wave.instructions), first_state, len(wave.segments))
    truth.rows["waves"].append((*where, *kind, wave.begin, wave.end, *entry, *parts))


def empty_truth(plan: EnginePlan, gfxip: int) -> Truth:
    """No rows yet; the header's fields as planned."""
    return Truth(gfxip, plan.stream_version, plan.target_cu, plan.target_simd, plan.double_buffer)
