"""The files that exist only if the trace has their data: counters, neighbour SIMDs, shader data, clocks, states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import polars as pl

from wavewright.analysis.trace.waves.states import state_curves
from wavewright.export.kit.json_text import encode, integer_rows
from wavewright.model.trace import ThreadTrace

_COUNTER_FIELDS = ("time_cycles", "value0", "value1", "value2", "value3", "cu", "bank")
_COUNTERS_PER_BANK = 4
_OTHER_SIMD_SCHEMA = {"time": "time_cycles", "duration": "duration_cycles", "category": "category"}
_SHADER_DATA_SCHEMA = {name: name for name in ("value", "cu", "simd")} | {"wave_id": "slot", "flags": "flags"}


@dataclass
class Stream:
    """Files of one kind, and how the manifest lists them: SE -> [[file name, start, end], ...]."""

    files: dict[str, bytes] = field(default_factory=dict)
    listed: dict[str, list[list[Any]]] = field(default_factory=dict)

    def add(self, se: int, name: str, begin: int, end: int, document: dict[str, Any]) -> None:
        """Add a file of shader engine `se` about the cycles from `begin` to `end`."""
        self.files[name] = encode(document | {"begin_time": begin, "end_time": end})
        self.listed.setdefault(str(se), []).append([name, begin, end])


def _parts(table: pl.DataFrame, *keys: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    yield from table.sort(*keys, maintain_order=True).partition_by(*keys, as_dict=True, maintain_order=True).items()


def counter_files(trace: ThreadTrace) -> dict[str, bytes]:
    """`se<E>_perfcounter.json`: the samples of each shader engine."""
    return {
        f"se{se}_perfcounter.json": encode({"data": msgspec.Raw(integer_rows(part.select(_COUNTER_FIELDS)))})
        for (se,), part in _parts(trace.sampled_counters, "se")
    }


def counter_names(trace: ThreadTrace) -> list[str]:
    """Names by bank and position; counters without a name are numbered: a raw trace does not tell their choice."""
    if trace.sampled_counters.is_empty():
        return []
    banks = int(trace.sampled_counters["bank"].max()) + 1  # type: ignore[arg-type]
    rows = trace.counter_names.drop_nulls().select("bank", "position", "name").iter_rows()
    name_by_number = {bank * _COUNTERS_PER_BANK + position: name for bank, position, name in rows}
    return [name_by_number.get(number) or f"counter{number}" for number in range(banks * _COUNTERS_PER_BANK)]


def other_simd(trace: ThreadTrace) -> Stream:
    """`other_simd_se<E>_<i>.json`: one file per shader engine and WGP."""
    stream = Stream()
    for (se, wgp), part in _parts(trace.other_simd, "se", "cu"):
        rows = part.select(_OTHER_SIMD_SCHEMA.values())
        begin, (last, duration, _) = rows["time_cycles"][0], rows.row(-1)
        document = {
            "type": "OTHER_SIMD_INSTRUCTIONS",
            "wgp": wgp,
            "instructions_schema": list(_OTHER_SIMD_SCHEMA),
            "instructions_count": rows.height,
            "instructions": msgspec.Raw(integer_rows(rows)),
        }
        number = len(stream.listed.get(str(se), ()))
        stream.add(se, f"other_simd_se{se}_{number}.json", begin, last + duration, document)
    return stream


def shader_data(trace: ThreadTrace) -> Stream:
    """`shaderdata_<E>_0.json`: the values of each shader engine."""
    stream = Stream()
    for (se,), part in _parts(trace.shader_data, "se"):
        rows = part.select("time_cycles", *_SHADER_DATA_SCHEMA.values())
        document = {
            "type": "shaderdata",
            "records_schema": ["time", *_SHADER_DATA_SCHEMA],
            "records_count": rows.height,
            "records": msgspec.Raw(integer_rows(rows)),
        }
        times = rows["time_cycles"]
        stream.add(se, f"shaderdata_{se}_0.json", times[0], times[-1], document)
    return stream


def realtime_files(trace: ThreadTrace) -> dict[str, bytes]:
    """`realtime.json`: pairs of shader clock and wall clock of each shader engine."""
    if trace.realtime.is_empty():
        return {}
    frequency = trace.shader_engines["realtime_hz"].max() or 0
    document: dict[str, Any] = {"metadata": {"descriptor": "[gfx_clock, realtime_clock]", "frequency": frequency}}
    for (se,), part in _parts(trace.realtime, "se"):
        document[f"SE{se}"] = msgspec.Raw(integer_rows(part.select("shader_clock_cycles", "realtime_ticks")))
    return {"realtime.json": encode(document)}


def state_files(trace: ThreadTrace, waves: pl.DataFrame) -> dict[str, bytes]:
    """`wstates<k>.json` for every state that occurs in `waves`, added up over the shader engines as AMD does."""
    curves = state_curves(ThreadTrace({"waves": waves, "states": trace.states}, trace.source), per_se=False)
    files = {}
    for (state,), part in _parts(curves, "state"):
        name = f"wstates{state}.json"
        document = {"name": name, "time": part["time_cycles"].to_list(), "state": part["wave_count"].to_list()}
        files[name] = encode(document)
    return files
