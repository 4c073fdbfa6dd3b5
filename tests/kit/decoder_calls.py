"""Calls of a trace decoder library as rocprofv3 makes them, and the records that it tells, in the shape of oracle-1."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SUCCESS, _OUT_OF_RESOURCES, _INVALID_ARGUMENT = 0, 2, 3


class _Pc(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("code_object", ctypes.c_uint64)]


class _Occupancy(ctypes.Structure):
    _fields_ = [
        ("pc", _Pc),
        ("time", ctypes.c_int64),
        ("reserved", ctypes.c_uint8),
        *((name, ctypes.c_uint8) for name in ("cu", "simd", "slot")),
        *((name, ctypes.c_uint32, bits) for name, bits in (("start", 1), ("me", 3), ("pipe", 4), ("is_ext", 1))),
        ("workgroup", ctypes.c_uint32, 7),
        ("cluster", ctypes.c_uint32, 5),
    ]


class _State(ctypes.Structure):
    _fields_ = [("state", ctypes.c_int32), ("duration", ctypes.c_int32)]


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("category", ctypes.c_uint32, 8),
        ("stall", ctypes.c_uint32, 24),
        ("duration", ctypes.c_int32),
        ("time", ctypes.c_int64),
        ("pc", _Pc),
    ]


class _Wave(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint8) for name in ("cu", "simd", "slot", "contexts", "dispatcher", "workgroup", "cluster")),
        ("reserved", ctypes.c_uint8),
        ("size", ctypes.c_uint64),
        ("begin", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("state_count", ctypes.c_uint64),
        ("instruction_count", ctypes.c_uint64),
        ("states", ctypes.POINTER(_State)),
        ("instructions", ctypes.POINTER(_Instruction)),
    ]


class _Counters(ctypes.Structure):
    _fields_ = [
        ("time", ctypes.c_int64),
        ("values", ctypes.c_uint16 * 4),
        ("cu", ctypes.c_uint8),
        ("bank", ctypes.c_uint8),
    ]


class _ShaderData(ctypes.Structure):
    _fields_ = [
        ("time", ctypes.c_int64),
        ("value", ctypes.c_uint64),
        *((name, ctypes.c_uint8) for name in ("cu", "simd", "slot", "flags")),
        ("reserved", ctypes.c_uint32),
    ]


class _Realtime(ctypes.Structure):
    _fields_ = [("shader", ctypes.c_int64), ("realtime", ctypes.c_uint64), ("reserved", ctypes.c_uint64)]


class _OtherSimd(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint64),
        ("time", ctypes.c_int64),
        ("cycles", ctypes.c_uint16),
        ("wgp", ctypes.c_uint8),
        ("category", ctypes.c_uint8),
    ]


_BUFFER = ctypes.CFUNCTYPE(
    ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint64), ctypes.c_void_p
)
_RECORDS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
_LINE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint64),
    _Pc,
    ctypes.c_void_p,
)

Lines = Mapping[tuple[int, int], tuple[int, bytes]]  #: (code object, address) -> size in bytes, text


def listed_lines(listings: Sequence[tuple[int, int | None, Path]]) -> dict[tuple[int, int], tuple[int, bytes]]:
    """Lines of listings by their places: those of a code object, and where it was in memory."""
    lines: dict[tuple[int, int], tuple[int, bytes]] = {}
    for code_object, load_address, path in listings:
        for row in path.read_bytes().splitlines():
            address, size, text = row.split(b"\t", 2)
            line = int(size, 0), text
            if code_object:
                lines.setdefault((code_object, int(address, 0)), line)
            if load_address is not None or not code_object:
                lines.setdefault((0, int(address, 0) + (load_address or 0)), line)
    return lines


def told_by(library: Path, stream: bytes, lines: Lines) -> dict[str, Any]:
    """Call `rocprof_trace_decoder_parse_data` of `library` with one buffer; its records, and `status`."""
    told: dict[str, Any] = {
        key: []
        for key in ("occupancy", "waves", "perfevents", "shaderdata", "realtime", "other_simd", "info", "rt_frequency")
    }
    held = ctypes.create_string_buffer(stream, len(stream))
    buffers = [(ctypes.addressof(held), len(stream))]

    def next_buffer(buffer: Any, size: Any, _: Any) -> int:
        if not buffers:
            return 0
        buffer[0], size[0] = buffers.pop()
        return int(size[0])

    def line(text: int, size_bytes: Any, text_size: Any, pc: _Pc, _: Any) -> int:
        known = lines.get((pc.code_object, pc.address))
        if known is None:
            return _INVALID_ARGUMENT
        is_short = text_size[0] < len(known[1])
        text_size[0] = len(known[1])
        if is_short:
            return _OUT_OF_RESOURCES
        ctypes.memmove(text, known[1], len(known[1]))
        size_bytes[0] = known[0]
        return _SUCCESS

    def records(kind: int, at: int | None, count: int, _: Any) -> int:
        _add(told, kind, at or 0, count)
        return _SUCCESS

    parse = ctypes.CDLL(str(library)).rocprof_trace_decoder_parse_data
    told["status"] = parse(_BUFFER(next_buffer), _RECORDS(records), _LINE(line), None)
    return told


def _add(told: dict[str, Any], kind: int, at: int, count: int) -> None:
    if kind == 0:
        told["gfxip"] = at
    elif kind == 1:
        told["occupancy"] += [
            [
                *(o.time, o.cu, o.simd, o.slot, o.start, o.me, o.pipe, o.is_ext, o.workgroup, o.cluster),
                *(o.pc.code_object, o.pc.address),
            ]
            for o in (_Occupancy * count).from_address(at)
        ]
    elif kind == 2:
        told["perfevents"] += [[c.time, c.cu, c.bank, *c.values] for c in (_Counters * count).from_address(at)]
    elif kind == 3:
        told["waves"].append(_wave(_Wave.from_address(at)))
    elif kind == 4:
        told["info"].append(ctypes.c_int.from_address(at).value)
    elif kind == 6:
        words = (_ShaderData * count).from_address(at)
        told["shaderdata"] += [[w.time, w.value, w.cu, w.simd, w.slot, w.flags] for w in words]
    elif kind == 7:
        told["realtime"] += [[r.shader, r.realtime] for r in (_Realtime * count).from_address(at)]
    elif kind == 8:
        told["rt_frequency"].append(ctypes.c_uint64.from_address(at).value)
    elif kind == 9:
        others = (_OtherSimd * count).from_address(at)
        told["other_simd"] += [[o.time, o.cycles, o.wgp, o.category] for o in others]


def _wave(wave: _Wave) -> dict[str, Any]:
    return {
        "cu": wave.cu,
        "simd": wave.simd,
        "wave_id": wave.slot,
        "contexts": wave.contexts,
        "dispatcher": wave.dispatcher,
        "workgroup_id": wave.workgroup,
        "cluster_id": wave.cluster,
        "begin": wave.begin,
        "end": wave.end,
        "timeline": [[s.state, s.duration] for s in wave.states[: wave.state_count]],
        "insts": [
            [i.category, i.time, i.duration, i.stall, i.pc.code_object, i.pc.address]
            for i in wave.instructions[: wave.instruction_count]
        ],
    }
