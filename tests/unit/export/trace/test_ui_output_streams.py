"""Counters, other-SIMD records, shader data, markers and clocks in ui_output directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kit.made_traces import made, one_wave
from tests.kit.ui_directories import frame, read_json
from wavewright.export.trace.ui_output import write_ui_output

if TYPE_CHECKING:
    from pathlib import Path


def test_optional_streams(tmp_path: Path) -> None:
    counters = frame(
        "sampled_counters",
        {"se": [1, 0], "time_cycles": [1040, 1160], "cu": [1, 2], "bank": [0, 1]}
        | {f"value{number}": [number, 65535] for number in range(4)},
    )
    other = frame(
        "other_simd",
        {"se": [0, 0], "time_cycles": [1010, 1020], "duration_cycles": [4, 4], "cu": [1, 1], "category": [3, 5]},
    )
    values = frame(
        "shader_data",
        {
            "se": [2, 2],
            "time_cycles": [1050, 1100],
            "value": [6, 2**32 - 1],
            "cu": [1, 1],
            "simd": [2, 2],
            "slot": [5, 5],
            "flags": [0, 1],
        },
    )
    markers = frame(
        "markers",
        {
            "record_kind": [0, 0, 1, 0],
            "marker_kind": [2, 2, 2, 3],
            "marker_id": [1, 1, 1, 2],
            "name": ["load", "load", "load", "barrier"],
            "location": ["a.py:4"] * 3 + [None],
            "code_object": [7] * 4,
        },
    )
    engines = frame("shader_engines", {"se": [0]}, gfxip=11, realtime_hz=100_000_000)
    realtime = frame("realtime", {"se": [0], "shader_clock_cycles": [-5], "realtime_ticks": [2**63]})
    trace = made(
        [one_wave()],
        sampled_counters=counters,
        other_simd=other,
        shader_data=values,
        markers=markers,
        shader_engines=engines,
        realtime=realtime,
    )
    directory = write_ui_output(trace, tmp_path)
    manifest = read_json(directory / "filenames.json")
    assert (manifest["gfxip"], manifest["gfxv"]) == (11, "navi")
    assert manifest["counter_names"] == [f"counter{number}" for number in range(8)]
    assert manifest["other_simd_filenames"] == {"0": [["other_simd_se0_0.json", 1010, 1024]]}
    assert manifest["shaderdata_filenames"] == {"2": [["shaderdata_2_0.json", 1050, 1100]]}
    assert read_json(directory / "se0_perfcounter.json") == {"data": [[1160, *[65535] * 4, 2, 1]]}
    assert read_json(directory / "se1_perfcounter.json") == {"data": [[1040, 0, 1, 2, 3, 1, 0]]}
    assert read_json(directory / "other_simd_se0_0.json") == {
        "type": "OTHER_SIMD_INSTRUCTIONS",
        "begin_time": 1010,
        "end_time": 1024,
        "wgp": 1,
        "instructions_schema": ["time", "duration", "category"],
        "instructions_count": 2,
        "instructions": [[1010, 4, 3], [1020, 4, 5]],
    }
    assert read_json(directory / "shaderdata_2_0.json") == {
        "type": "shaderdata",
        "begin_time": 1050,
        "end_time": 1100,
        "records_count": 2,
        "records_schema": ["time", "value", "cu", "simd", "wave_id", "flags"],
        "records": [[1050, 6, 1, 2, 5, 0], [1100, 2**32 - 1, 1, 2, 5, 1]],
    }
    assert read_json(directory / "code.json")["sqtt_funcmap"] == [[7, 1, "U", "load", "a.py:4"], [7, 2, "P", "barrier"]]
    assert read_json(directory / "realtime.json") == {
        "SE0": [[-5, 2**63]],
        "metadata": {"descriptor": "[gfx_clock, realtime_clock]", "frequency": 100_000_000},
    }
