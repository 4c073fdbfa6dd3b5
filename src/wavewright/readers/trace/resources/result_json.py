"""`*_results.json` of rocprofv3: its agents, kernel symbols and dispatches."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from wavewright.readers.trace.resources.usage import LARGEST, Gpu, SidecarFacts, TraceKernels, Usage, plain_name


class _Handle(msgspec.Struct):
    handle: int = 0


class _Agent(msgspec.Struct):
    id: _Handle = msgspec.field(default_factory=_Handle)
    name: str = ""
    logical_node_id: int = -1


class _Symbol(msgspec.Struct):
    kernel_id: int = 0
    kernel_name: str = ""
    group_segment_size: int = 0
    private_segment_size: int = 0
    kernarg_segment_size: int = 0
    sgpr_count: int = 0
    arch_vgpr_count: int = 0
    accum_vgpr_count: int = 0


class _Size(msgspec.Struct):
    x: int = 0
    y: int = 0
    z: int = 0


class _DispatchInfo(msgspec.Struct):
    dispatch_id: int = -1
    kernel_id: int = 0
    workgroup_size: _Size = msgspec.field(default_factory=_Size)
    group_segment_size: int = 0


class _Dispatch(msgspec.Struct):
    dispatch_info: _DispatchInfo = msgspec.field(default_factory=_DispatchInfo)


class _Buffers(msgspec.Struct):
    kernel_dispatch: list[_Dispatch] = msgspec.field(default_factory=list)


class _Process(msgspec.Struct):
    agents: list[_Agent] = msgspec.field(default_factory=list)
    kernel_symbols: list[_Symbol] = msgspec.field(default_factory=list)
    buffer_records: _Buffers = msgspec.field(default_factory=_Buffers)


class _ResultFile(msgspec.Struct, rename={"processes": "rocprofiler-sdk-tool"}):
    processes: list[_Process]


def read_results(data: bytes, origin: str, trace_kernels: TraceKernels, facts: SidecarFacts) -> None:
    """Add the facts of a result file to `facts`."""
    for process in msgspec.json.decode(data, type=_ResultFile).processes:
        gpus = [agent for agent in process.agents if agent.name.startswith("gfx")]
        facts.gpus += [Gpu(a.name, origin, frozenset({str(a.id.handle), f"Agent {a.logical_node_id}"})) for a in gpus]
        symbols = {symbol.kernel_id: symbol for symbol in process.kernel_symbols}
        for symbol in process.kernel_symbols:
            if plain_name(symbol.kernel_name) in trace_kernels.names:
                facts.usages.append(Usage(plain_name(symbol.kernel_name), origin, 1, _symbol_values(symbol)))
        for record in process.buffer_records.kernel_dispatch:
            info, symbol = record.dispatch_info, symbols.get(record.dispatch_info.kernel_id, _Symbol())
            name, size = plain_name(symbol.kernel_name), info.workgroup_size
            if info.dispatch_id == trace_kernels.dispatch and name:
                facts.dispatched.setdefault(origin, set()).add(name)
                values = {"lds_bytes": info.group_segment_size, "workgroup_size": size.x * size.y * size.z}
                facts.usages.append(Usage(name, origin, 1, _possible(values), info.dispatch_id))


def _symbol_values(symbol: _Symbol) -> Mapping[str, int]:
    return _possible(
        {
            "vgprs": symbol.arch_vgpr_count,
            "agprs": symbol.accum_vgpr_count,
            "sgprs": symbol.sgpr_count,
            "lds_bytes": symbol.group_segment_size,
            "scratch_bytes": symbol.private_segment_size,
            "kernarg_bytes": symbol.kernarg_segment_size,
        }
    )


def _possible(values: Mapping[str, int]) -> Mapping[str, int]:
    return {name: value for name, value in values.items() if 0 <= value <= LARGEST}
