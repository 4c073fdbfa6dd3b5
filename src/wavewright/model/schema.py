"""The tables of a thread trace: every column with its type, unit and meaning, declared once.

`docs/reference/tables.md` is generated from these declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

#: Values of `instructions.category`: what the hardware reported about an instruction.
CATEGORIES = {
    0: "NONE",
    1: "SMEM",
    2: "SALU",
    3: "VMEM",
    4: "FLAT",
    5: "LDS",
    6: "VALU",
    7: "JUMP",
    8: "NEXT",
    9: "IMMED",
    10: "CONTEXT",
    11: "MESSAGE",
    12: "BVH",
    14: "UNFINISHED",
}

#: What the names of `CATEGORIES` mean, and MATRIX, which hardware reports as VALU.
CATEGORY_MEANINGS = {
    "NONE": "instructions without a category",
    "SMEM": "scalar memory: loads of arguments and constants, s_memtime, cache operations",
    "SALU": "scalar arithmetic",
    "VMEM": "vector memory: global, buffer and image loads, stores and atomics",
    "FLAT": "flat memory: addresses that may lie in memory, LDS or scratch",
    "LDS": "LDS: ds_ loads, stores, atomics and exchanges between lanes",
    "VALU": "vector arithmetic",
    "JUMP": "branches that were taken",
    "NEXT": "branches that were not taken: the next instruction follows",
    "IMMED": "immediate: what no pipe executes, such as s_waitcnt, s_barrier, s_nop and s_setprio",
    "CONTEXT": "saving and restoring of waves, and traps",
    "MESSAGE": "messages (s_sendmsg) and the end of the program",
    "BVH": "intersections of rays with boxes and triangles",
    "UNFINISHED": "instructions whose end is not in the trace",
    "MATRIX": "matrix instructions: MFMA and WMMA",
}

STATES = {0: "EMPTY", 1: "IDLE", 2: "EXEC", 3: "WAIT", 4: "STALL"}  #: Values of `states.state`.

#: What the names of `STATES` mean.
STATE_MEANINGS = {
    "EMPTY": "no wave is in the slot",
    "IDLE": "the wave has no instruction to issue: it was just launched, or its code is fetched",
    "EXEC": "the wave issues an instruction",
    "WAIT": "the wave is at a wait instruction: for memory, LDS or a barrier",
    "STALL": "the wave has an instruction that cannot be issued: an operand or a pipe is not free",
}

#: Values of `events.type`.
EVENT_TYPES = {
    1: "CS_PARTIAL_FLUSH",
    2: "BOTTOM_OF_PIPE_TIMESTAMP",
    3: "SAVE_CONTEXT",
    5: "CACHE_FLUSH",
    6: "PACKET_LOSS",
    7: "CODE_OBJECT_LOAD",
    8: "CODE_OBJECT_UNLOAD",
    9: "TRACE_STALL_BEGIN",
    10: "TRACE_STALL_END",
    11: "TRACE_FLUSH",
    12: "DIDT_STALL_BEGIN",
    13: "DIDT_STALL_END",
    16: "GC_RINSE",
    17: "SPM_SAMPLE",
}


#: Values of `sample_reasons.reason`, in the order of the lists in decoded directories.
SAMPLE_REASONS = (
    "none",
    "instruction fetch",
    "ALU dependency",
    "waitcnt",
    "internal",
    "barrier",
    "arbiter loss",
    "pipe stall",
    "other wait",
    "sleeping",
)


#: Columns of `samples` that add up to all samples of a row.
SAMPLE_COUNTS = ("issued_count", "stalled_count", "unknown_count")


@dataclass(frozen=True)
class ColumnSpec:
    """One column: polars type name, unit and meaning."""

    name: str
    dtype: str
    unit: str
    meaning: str
    is_optional: bool = False  #: Whether values may be null.


@dataclass(frozen=True)
class TableSpec:
    """One table: what a row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[ColumnSpec, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """Column -> polars type: a schema for frames of this table."""
        import polars as pl

        return {column.name: getattr(pl, column.dtype) for column in self.columns}


def table_spec(name: str, row: str, columns: str) -> TableSpec:
    """Declare a table; columns come one per line: `name type unit | meaning` (unit `-` = none).

    A type with a question mark (`UInt32?`) may be null, and so may a column whose meaning says what null stands for.

    Examples
    --------
    >>> table_spec("sizes", "one size", "width  UInt32  lanes  | how wide").columns[0].unit
    'lanes'
    """
    specs = []
    for line in filter(str.strip, columns.splitlines()):
        head, meaning = line.split("|", 1)
        column, dtype, unit = head.split()
        is_optional = dtype.endswith("?") or "null" in re.findall(r"\w+", meaning)
        specs.append(
            ColumnSpec(column, dtype.removesuffix("?"), "" if unit == "-" else unit, meaning.strip(), is_optional)
        )
    return TableSpec(name, row, tuple(specs))


_TABLES = (
    table_spec(
        "shader_engines",
        "one traced shader engine (one raw buffer)",
        """
        se                       UInt16  -       | shader engine number, from the file name
        file                     String  -       | name of the raw file
        status                   String  -       | ok, empty, too_short, no_payload, unknown_header or stopped
        gfxip                    UInt8   -       | 9, 10, 11 or 12; 0 = not decoded
        stream_version           UInt8   -       | version field of the stream's header
        target_cu                UInt8   -       | traced CU, or on RDNA WGP (bit 7 = shader array)
        target_simd              UInt8   -       | traced SIMD (RDNA); 0 on gfx9, which traces all four
        realtime_hz              UInt64  Hz      | frequency of the wall clock; 0 = not recorded
        counter_interval_cycles  UInt64  cycles  | sampling interval of the counters; 0 = not recorded
        byte_count               UInt64  bytes   | size of the raw buffer
        token_count              UInt64  -       | tokens read from it
        """,
    ),
    table_spec(
        "kernels",
        "one kernel or function that waves of this trace entered",
        """
        kernel               UInt32  -      | number of the kernel in this trace
        name                 String  -      | symbol as in the code object; `<code object> / 0x<address>` when unknown
        demangled            String  -      | C++ signature; equal to name when the name is not mangled
        code_object          UInt64  -      | id of the code object; 0 = raw virtual address
        address              UInt64  -      | entry: ELF address in the code object, or raw virtual address
        size                 UInt64  bytes  | size of the code
        vgprs                UInt32  -      | vector registers per lane; null = not known, here and below
        agprs                UInt32? -      | accumulation vector registers per lane
        sgprs                UInt32? -      | scalar registers per wave
        lds_bytes            UInt32? bytes  | LDS per workgroup: as dispatched where that is known, else the static part
        scratch_bytes        UInt32? bytes  | private segment per lane
        kernarg_bytes        UInt32  bytes  | kernel argument segment
        wave_size            UInt8?  lanes  | 32 or 64
        workgroup_size_max   UInt32  lanes  | largest flat workgroup size the kernel was compiled for
        workgroup_size       UInt32? lanes  | work-items per workgroup as dispatched
        resource_origin      String? -      | who says so: a file beside the trace, or the code object of the capture
        """,
    ),
    table_spec(
        "code",
        "one static instruction",
        """
        row              Int32   -      | number of the row; what instructions.row refers to
        code_object      UInt64? -      | id of the code object; 0 = raw virtual address; null = not recorded
        address          UInt64? -      | ELF address in the code object, or raw virtual address; null = not recorded
        size             UInt16  bytes  | length of the encoding
        text             String  -      | disassembly
        mnemonic         String  -      | first word of the text
        class            String  -      | what kind of instruction it is (codeobj/classes)
        writes           String  -      | registers of the text that it writes: `v[4:7] vcc`; null = not known, as below
        reads            String? -      | registers of the text that it reads, each as wide as the operand
        implicit_writes  String? -      | registers that it writes although the text does not name them: `scc`
        implicit_reads   String? -      | registers that it reads although the text does not name them: `exec m0`
        tied             String? -      | those of `reads` that hold the old value of a result (`v_fmac_f32`)
        access           String  -      | load, load_to_lds, store, atomic or atomic_return; null = none, or not known
        counters         String  -      | wait counters that it adds to: `vmcnt lgkmcnt`; null = none, or not known
        function         String  -      | symbol that contains the address
        file             String  -      | innermost source file; null = no debug line
        line             UInt32  -      | innermost source line; null = unknown
        inline_chain     String  -      | `file:line` innermost first, call sites behind ` -> `; null = no debug line
        """,
    ),
    table_spec(
        "waves",
        "one wave of a target CU, in the order in which it was completed",
        """
        wave               UInt32  -       | number of the wave in this trace
        se                 UInt16  -       | shader engine
        cu                 UInt8   -       | CU (gfx9) or WGP byte (RDNA)
        simd               UInt8   -       | SIMD
        slot               UInt8   -       | wave slot in the SIMD
        slot_wave          UInt32? -       | running number of the wave among those of its SE, SIMD and slot
        start_cycles       Int64   cycles  | start
        end_cycles         Int64   cycles  | end
        kernel             UInt32  -       | kernels.kernel; null = entry not known
        me                 UInt8?  -       | micro engine that launched it
        pipe               UInt8?  -       | pipe that launched it
        workgroup          UInt8?  -       | gfx9: active work-items (as AMD's decoder reports it); RDNA4: workgroup id
        cluster            UInt8   -       | cluster id (gfx1250)
        contexts           UInt8   -       | context saves and restores seen
        complete           Boolean -       | whether the end of the wave was seen
        first_instruction  UInt64? -       | index of its first row in instructions
        instruction_count  UInt32? -       | number of its rows in instructions
        first_state        UInt64  -       | index of its first row in states
        state_count        UInt32  -       | number of its rows in states
        """,
    ),
    table_spec(
        "instructions",
        "one executed instruction of a wave",
        """
        wave             UInt32  -       | waves.wave
        time_cycles      Int64   cycles  | first attempt to issue
        stall_cycles     Int32   cycles  | from time_cycles to the issue
        duration_cycles  Int32   cycles  | from time_cycles to the end of issue (gfx9) or execution (RDNA)
        category         UInt8   -       | what the hardware reported (CATEGORIES)
        row              Int32   -       | code.row; -1 = PC not known
        """,
    ),
    table_spec(
        "states",
        "one interval of a wave in one state; the intervals of a wave follow each other from its start",
        """
        wave             UInt32  -       | waves.wave
        state            UInt8   -       | 0 empty, 1 idle, 2 exec, 3 wait, 4 stall (STATES)
        duration_cycles  Int32   cycles  | length
        """,
    ),
    table_spec(
        "waits",
        "one producer that one executed wait instruction waited for",
        """
        wave         UInt32  -  | waves.wave
        instruction  UInt64  -  | index of the wait in instructions
        row          Int32   -  | code.row of the wait
        producer     UInt64  -  | index of the awaited instruction in instructions
        producer_row Int32   -  | code.row of the awaited instruction
        counter      String  -  | counter that the wait drained (vmcnt, lgkmcnt, loadcnt, ...)
        """,
    ),
    table_spec(
        "occupancy",
        "one start or end of a wave on any CU of a traced shader engine",
        """
        se           UInt16  -       | shader engine
        time_cycles  Int64   cycles  | when; 0 = before the trace began
        cu           UInt8   -       | CU or WGP byte
        simd         UInt8   -       | SIMD
        slot         UInt8   -       | wave slot
        start        Boolean -       | true = start, false = end
        kernel       UInt32  -       | kernels.kernel; null = entry not known
        me           UInt8   -       | micro engine (starts only)
        pipe         UInt8   -       | pipe (starts only)
        is_ext       Boolean -       | whether workgroup is meaningful
        workgroup    UInt8   -       | workgroup number in the CU
        cluster      UInt8   -       | cluster id (gfx1250)
        code_object  UInt64  -       | code object of the kernel entry; 0 = raw address
        address      UInt64  -       | kernel entry
        """,
    ),
    table_spec(
        "sampled_counters",
        "one sample of four counters of one CU (gfx9)",
        """
        se           UInt16  -       | shader engine
        time_cycles  Int64   cycles  | when
        cu           UInt8   -       | CU
        bank         UInt8   -       | 0 = counters 0 to 3, 1 = counters 4 to 7
        value0       UInt16  -       | increment since the last sample
        value1       UInt16  -       | increment since the last sample
        value2       UInt16  -       | increment since the last sample
        value3       UInt16  -       | increment since the last sample
        """,
    ),
    table_spec(
        "counter_names",
        "the name of one streamed counter",
        """
        bank      UInt8   -  | sampled_counters.bank
        position  UInt8   -  | 0 to 3: which of value0 to value3
        name      String  -  | name of the counter, a SIMD mask such as `:0x2` may follow
        """,
    ),
    table_spec(
        "shader_data",
        "one value that a wave wrote with s_ttracedata",
        """
        se           UInt16  -       | shader engine
        time_cycles  Int64   cycles  | when
        value        UInt64  -       | the value
        cu           UInt8   -       | CU or WGP byte
        simd         UInt8   -       | SIMD
        slot         UInt8   -       | wave slot
        flags        UInt8   -       | bit 0 = immediate form, bit 1 = written by the trap handler
        """,
    ),
    table_spec(
        "markers",
        "one shader-data value with its meaning from the code object's marker names",
        """
        se             UInt16  -       | shader engine
        time_cycles    Int64   cycles  | when
        value          UInt64  -       | the value
        cu             UInt8   -       | CU or WGP byte
        simd           UInt8   -       | SIMD
        slot           UInt8   -       | wave slot
        record_kind    UInt8   -       | 0 = marker, 1 = payload word of the marker before it
        marker_kind    UInt8   -       | 1 function, 2 user scope, 3 point
        flags          UInt8   -       | 1 = leaves a scope, 2 = enters one, 4 = first marker of its wave
        marker_id      UInt32  -       | id in the code object's marker names
        name           String  -       | name of the marker
        location       String  -       | source location of the marker; null = none given
        payload_index  UInt32  -       | number of the payload word; 4294967295 for markers
        payload_count  UInt32  -       | payload words that belong to the marker
        code_object    UInt64  -       | code object whose names were used
        """,
    ),
    table_spec(
        "other_simd",
        "one memory instruction seen on the neighbour SIMD of the target (gfx11 and later)",
        """
        se               UInt16  -       | shader engine
        time_cycles      Int64   cycles  | issue
        duration_cycles  UInt16  cycles  | cycles that its pipe is taken
        cu               UInt8   -       | WGP byte
        category         UInt8   -       | kind (CATEGORIES)
        """,
    ),
    table_spec(
        "realtime",
        "one pair of shader clock and wall clock",
        """
        se                   UInt16  -       | shader engine
        shader_clock_cycles  Int64   cycles  | shader clock
        realtime_ticks       UInt64  ticks   | wall clock, in ticks of shader_engines.realtime_hz
        """,
    ),
    table_spec(
        "events",
        "one event of a shader engine",
        """
        se           UInt16  -       | shader engine
        time_cycles  Int64   cycles  | when
        type         UInt8   -       | kind (EVENT_TYPES)
        me           UInt8   -       | micro engine
        pipe         UInt8   -       | pipe
        flags        UInt16  -       | 1 = belongs to one pipe, 2 = bottom of pipe
        payload      UInt64  -       | code object id for loads and unloads, else 0
        """,
    ),
    table_spec(
        "dispatches",
        "one kernel dispatch seen in the register stream",
        """
        se                UInt16  -       | shader engine
        time_cycles       Int64   cycles  | when
        kernel            UInt32  -       | kernels.kernel; null = entry not known
        me                UInt8   -       | micro engine
        pipe              UInt8   -       | pipe
        user_sgprs        UInt16  -       | user data registers
        flags             UInt32  -       | mode bits of the program registers
        vgprs             UInt32  -       | vector registers as programmed
        sgprs             UInt32  -       | scalar registers as programmed
        lds_bytes         UInt32  bytes   | LDS as programmed (AMD's formula; see differences.md)
        workgroup_size_x  UInt32  lanes   | threads per workgroup
        workgroup_size_y  UInt32  lanes   | threads per workgroup
        workgroup_size_z  UInt32  lanes   | threads per workgroup
        code_object       UInt64  -       | code object of the entry; 0 = raw address
        address           UInt64  -       | entry
        """,
    ),
    table_spec(
        "stored_totals",
        "what a decoded directory itself says about one code row; all analyses recompute from the instructions",
        """
        row                   Int32  -       | code.row
        hit_count             Int64  -       | executions
        latency_cycles_total  Int64  cycles  | sum of durations
        stall_cycles_total    Int64  cycles  | sum of stalls
        idle_cycles_total     Int64  cycles  | sum of the gaps before its executions
        """,
    ),
    table_spec(
        "samples",
        "what PC sampling saw of one code row",
        """
        row            Int32  -  | code.row
        issued_count   Int64  -  | samples in which the instruction was issued
        stalled_count  Int64  -  | samples in which it was not
        unknown_count  Int64  -  | samples of a method that does not tell (host trap)
        """,
    ),
    table_spec(
        "sample_reasons",
        "why PC sampling saw one code row not issued",
        """
        row     Int32   -  | code.row
        reason  String  -  | why (SAMPLE_REASONS)
        count   Int64   -  | samples
        """,
    ),
    table_spec(
        "sampled_dispatches",
        "one dispatch that PC sampling saw, where the input tells dispatches apart",
        """
        dispatch            UInt64?   -   | number of the dispatch in its process; null = not recorded
        kernel_name         String?   -   | its kernel; null = not recorded
        sample_count        Int64     -   | samples of its waves
        moment_count        Int64     -   | different times at which they were taken
        first_ns            Int64?    ns  | time of the first sample
        last_ns             Int64?    ns  | time of the last sample
        cu_wave_count_mean  Float64?  -   | mean number of waves on the CU of a sample; null = not recorded
        """,
    ),
    table_spec(
        "losses",
        "one thing that was lost, guessed or could not be read",
        """
        se           UInt16  -       | shader engine; null = not about one of them
        kind         String  -       | stable name of the loss
        time_cycles  Int64   cycles  | when; null = no time
        byte_offset  UInt64  bytes   | where in the raw file; null = no place
        count        UInt64  -       | how many
        message      String  -       | what happened and what it means
        advice       String  -       | what to do
        """,
    ),
    table_spec(
        "sources",
        "one source file that the debug lines name",
        """
        file  String  -  | path as in the debug lines
        text  String  -  | content; null = not available here
        """,
    ),
)

#: The tables of a `ThreadTrace`, by name.
THREAD_TRACE: dict[str, TableSpec] = {table.name: table for table in _TABLES}


def empty_frame(table: TableSpec) -> pl.DataFrame:
    """An empty frame with the declared columns and types.

    Examples
    --------
    >>> empty_frame(THREAD_TRACE["states"]).columns
    ['wave', 'state', 'duration_cycles']
    """
    import polars as pl

    return pl.DataFrame(schema=table.dtypes)


def frame_of(table: TableSpec, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame with the declared columns and types; what a row does not have is null.

    Examples
    --------
    >>> frame_of(THREAD_TRACE["states"], [{"wave": 0, "state": 2}]).row(0)
    (0, 2, None)
    """
    import polars as pl

    return pl.DataFrame({name: [row.get(name) for row in rows] for name in table.names}, schema=table.dtypes)
