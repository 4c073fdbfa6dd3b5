"""Files next to a trace with the resources of its kernels and the GPU: CSV, JSON and code objects."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.base.compression import packing_of, unpacked_pieces, without_packing
from wavewright.codeobj.code_object import CodeObject
from wavewright.errors import WavewrightError
from wavewright.readers.trace.resources.usage import (
    CODE_OBJECT_FIELDS,
    LARGEST,
    Gpu,
    SidecarFacts,
    TraceKernels,
    Usage,
    plain_name,
)

MAX_BYTES = 1 << 30  #: Of one file, unpacked.
CODE_SUFFIXES = (".out", ".hsaco", ".co")
_TRAILING_NUMBER = re.compile(r"code_object_id_(\d{1,18})\.")
_CSV_COLUMNS = {
    "VGPR_Count": "vgprs",
    "Accum_VGPR_Count": "agprs",
    "SGPR_Count": "sgprs",
    "LDS_Block_Size": "lds_bytes",
    "Scratch_Size": "scratch_bytes",
}


@dataclass(frozen=True)
class Sidecar:
    """A file that may have facts; it is read on request."""

    name: str
    origin: str
    size: int
    read: Callable[[], bytes] = field(repr=False)


def is_sidecar(name: str) -> bool:
    """True if a file of this name may have facts about a trace next to it.

    >>> [is_sidecar(name) for name in ("28_kernel_trace.csv", "code.json", "28_results.json.gz", "notes.csv")]
    [True, False, True, False]
    """
    plain = without_packing(name)
    if plain.endswith(".csv"):
        return any(word in plain for word in ("kernel_trace", "agent_info", "counter_collection"))
    return plain.endswith(("_results.json", *CODE_SUFFIXES))


def read_sidecar(sidecar: Sidecar, trace_kernels: TraceKernels, facts: SidecarFacts) -> None:
    """Add the facts of a file to `facts`; a file that cannot be read becomes one of its problems."""
    if sidecar.name.endswith(CODE_SUFFIXES):
        number = _TRAILING_NUMBER.search(sidecar.name)
        if number and int(number[1]) not in trace_kernels.code_objects:
            return
    try:
        data = _unpacked(sidecar)
        if data.startswith(b"\x7fELF") or sidecar.name.endswith(CODE_SUFFIXES):
            _code_object(data, sidecar.origin, trace_kernels, facts)
        elif without_packing(sidecar.name).endswith(".json"):
            read_results(data, sidecar.origin, trace_kernels, facts)
        else:
            _csv(data, sidecar.origin, trace_kernels, facts)
    except (OSError, ValueError, RecursionError, WavewrightError) as error:
        problem = error.what if isinstance(error, WavewrightError) else str(error)
        facts.problems.append(f"{sidecar.origin} cannot be read ({problem[:160]})")


def _unpacked(sidecar: Sidecar) -> bytes:
    data = sidecar.read()
    packing = packing_of(data)
    if not packing:
        return data
    content = bytearray()
    for piece in unpacked_pieces([data], packing):
        content += piece
        if len(content) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES >> 20:,} MiB")
    return bytes(content)


def _code_object(data: bytes, origin: str, trace_kernels: TraceKernels, facts: SidecarFacts) -> None:
    code_object = CodeObject.from_bytes(data, where=origin)
    for kernel in code_object.kernels:
        if plain_name(kernel.name) in trace_kernels.names:
            values = {name: value for name in CODE_OBJECT_FIELDS if (value := getattr(kernel, name)) is not None}
            facts.usages.append(Usage(plain_name(kernel.name), origin, rank=0, values=values))
            if code_object.target:
                facts.gpus.append(Gpu(code_object.target, origin))


def _csv(data: bytes, origin: str, trace_kernels: TraceKernels, facts: SidecarFacts) -> None:
    columns = data[: data.find(b"\n") + 1 or None].decode("utf-8", "replace").replace('"', "").strip().split(",")
    if "Gfx_Target_Version" in columns and "Name" in columns:
        for name, *numbers in _text_frame(data, ["Name", "Node_Id", "Logical_Node_Id"], columns).iter_rows():
            if name and name.startswith("gfx"):
                facts.gpus.append(Gpu(name, origin, frozenset(f"Agent {number}" for number in numbers if number)))
        return
    if "Kernel_Name" not in columns or "VGPR_Count" not in columns:
        raise ValueError("it has neither kernels with their registers nor GPUs")
    sizes = ["Workgroup_Size", *(f"Workgroup_Size_{axis}" for axis in "XYZ")]
    rows = _text_frame(data, ["Kernel_Name", "Dispatch_Id", "Agent_Id", *_CSV_COLUMNS, *sizes], columns)
    dispatch_id = pl.col("Dispatch_Id").cast(pl.Int64, strict=False)
    rows = rows.with_columns(pl.col("Kernel_Name").fill_null(""), dispatch_id).unique(maintain_order=True)
    names = {name: plain_name(name) for name in rows["Kernel_Name"].unique().to_list()}
    if trace_kernels.dispatch is not None:
        of_dispatch = rows.filter(pl.col("Dispatch_Id") == trace_kernels.dispatch)["Kernel_Name"].unique().to_list()
        if of_dispatch:
            facts.dispatched.setdefault(origin, set()).update(names[name] for name in of_dispatch)
    own_names = [name for name, plain in names.items() if plain in trace_kernels.names]
    for row in rows.filter(pl.col("Kernel_Name").is_in(own_names)).iter_rows(named=True):
        values = {fact: _number(row[column]) for column, fact in _CSV_COLUMNS.items()}
        values["workgroup_size"] = _workgroup(row)
        recorded_values = {name: value for name, value in values.items() if value is not None}
        usage = Usage(names[row["Kernel_Name"]], origin, 2, recorded_values, row["Dispatch_Id"], row["Agent_Id"])
        facts.usages.append(usage)


def _text_frame(data: bytes, columns: Iterable[str], header: list[str]) -> pl.DataFrame:
    """These columns of a CSV file as text, in this order; those that it lacks are null."""
    present = [name for name in columns if name in header]
    try:
        frame = pl.read_csv(io.BytesIO(data), columns=present, infer_schema=False, encoding="utf8-lossy")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(str(error)) from error
    missing_columns = [pl.lit(None, pl.String).alias(name) for name in columns if name not in header]
    return frame.with_columns(missing_columns).select(columns)


def _workgroup(row: Mapping[str, str | None]) -> int | None:
    sizes = [_number(row[f"Workgroup_Size_{axis}"]) for axis in "XYZ"]
    if None in sizes:
        return _number(row["Workgroup_Size"])
    x, y, z = (size or 0 for size in sizes)
    return x * y * z if 0 < x * y * z <= LARGEST else None


def _number(text: str | None) -> int | None:
    return integer_of(text, below=LARGEST + 1)


# --- `*_results.json` of rocprofv3: its agents, kernel symbols and dispatches ---
class _Handle(msgspec.Struct, frozen=True, gc=False):
    handle: int = 0


class Correlation(msgspec.Struct, frozen=True, gc=False):
    """The number of the call that launched something."""

    internal: int | None = None


NO_CORRELATION = Correlation()


class _Size(msgspec.Struct):
    x: int = 0
    y: int = 0
    z: int = 0


class _Info(msgspec.Struct):
    dispatch_id: int = -1
    kernel_id: int = 0
    workgroup_size: _Size = msgspec.field(default_factory=_Size)
    group_segment_size: int = 0


class _Dispatch(msgspec.Struct):
    correlation_id: Correlation = NO_CORRELATION
    dispatch_info: _Info = msgspec.field(default_factory=_Info)


class ResultSymbol(msgspec.Struct):
    """A kernel symbol."""

    kernel_id: int = 0
    code_object_id: int = 0
    kernel_name: str = ""
    formatted_kernel_name: str = ""
    kernel_address: _Handle = msgspec.field(default_factory=_Handle)
    group_segment_size: int = 0
    private_segment_size: int = 0
    kernarg_segment_size: int = 0
    sgpr_count: int = 0
    arch_vgpr_count: int = 0
    accum_vgpr_count: int = 0


#: Columns of `kernels` -> fields of a symbol.
_SYMBOL_FIELDS = {
    "vgprs": "arch_vgpr_count", "agprs": "accum_vgpr_count", "sgprs": "sgpr_count",
    "lds_bytes": "group_segment_size", "scratch_bytes": "private_segment_size",
    "kernarg_bytes": "kernarg_segment_size",
}  # fmt: skip


class _CodeObject(msgspec.Struct):
    code_object_id: int = 0
    load_base: int = 0


class _Agent(msgspec.Struct):
    id: _Handle = msgspec.field(default_factory=_Handle)
    name: str = ""
    logical_node_id: int = -1


class _Strings(msgspec.Struct):
    pc_sample_instructions: list[str] = msgspec.field(default_factory=list)
    pc_sample_comments: list[str] = msgspec.field(default_factory=list)


class _Metadata(msgspec.Struct):
    pid: int | None = None


class _Buffers(msgspec.Struct):
    kernel_dispatch: list[_Dispatch] = msgspec.field(default_factory=list)
    pc_sample_host_trap: list[msgspec.Raw] = msgspec.field(default_factory=list)
    pc_sample_stochastic: list[msgspec.Raw] = msgspec.field(default_factory=list)

    @property
    def samples(self) -> list[msgspec.Raw]:
        """The samples; where a process has both methods, the stochastic ones, which also record stall reasons."""
        return self.pc_sample_stochastic or self.pc_sample_host_trap


class ResultProcess(msgspec.Struct):
    """One process of a result file."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    agents: list[_Agent] = msgspec.field(default_factory=list)
    strings: _Strings = msgspec.field(default_factory=_Strings)
    code_objects: list[_CodeObject] = msgspec.field(default_factory=list)
    kernel_symbols: list[ResultSymbol] = msgspec.field(default_factory=list)
    buffer_records: _Buffers = msgspec.field(default_factory=_Buffers)


class ResultFile(msgspec.Struct, rename={"processes": "rocprofiler-sdk-tool"}):
    """A result file, as far as it is about thread traces: samples, agents, kernel symbols and dispatches."""

    processes: list[ResultProcess]


def read_results(data: bytes, origin: str, trace_kernels: TraceKernels, facts: SidecarFacts) -> None:
    """Add the facts of a result file to `facts`."""
    for process in msgspec.json.decode(data, type=ResultFile).processes:
        gpus = [agent for agent in process.agents if agent.name.startswith("gfx")]
        facts.gpus += [Gpu(a.name, origin, frozenset({str(a.id.handle), f"Agent {a.logical_node_id}"})) for a in gpus]
        symbols = {symbol.kernel_id: symbol for symbol in process.kernel_symbols}
        for symbol in process.kernel_symbols:
            if plain_name(symbol.kernel_name) in trace_kernels.names:
                values = {name: getattr(symbol, field) for name, field in _SYMBOL_FIELDS.items()}
                facts.usages.append(Usage(plain_name(symbol.kernel_name), origin, 1, _possible(values)))
        for record in process.buffer_records.kernel_dispatch:
            info, symbol = record.dispatch_info, symbols.get(record.dispatch_info.kernel_id, ResultSymbol())
            name, size = plain_name(symbol.kernel_name), info.workgroup_size
            if info.dispatch_id == trace_kernels.dispatch and name:
                facts.dispatched.setdefault(origin, set()).add(name)
                values = {"lds_bytes": info.group_segment_size, "workgroup_size": size.x * size.y * size.z}
                facts.usages.append(Usage(name, origin, 1, _possible(values), info.dispatch_id))


def _possible(values: Mapping[str, int]) -> Mapping[str, int]:
    return {name: value for name, value in values.items() if 0 <= value <= LARGEST}
