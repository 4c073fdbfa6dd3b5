"""A small decoded directory as JSON values, for tests to change and to write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wavewright.readers.files.folder import Directory
from wavewright.readers.trace.ui_output import read_ui_output

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.trace import ThreadTrace

WAVE = "se0_sm2_sl5_wv0.json"
OTHER_WAVE = "se1_sm0_sl0_wv0.json"
HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"


def wave(begin: int = 1000, **changed: Any) -> dict[str, Any]:
    inside = {
        "begin": begin,
        "end": begin + 148,
        "cu": 1,
        "simd": 2,
        "slot": 5,
        "id": 0,
        "instructions": [
            [begin + 32, 1, 0, 4, 1],
            [begin + 36, 9, 100, 100, 2],
            [begin + 136, 6, 4, 8, 3],
            [begin + 144, 11, 0, 4, 4],
        ],
        "timeline": [[1, 32], [2, 4], [3, 100], [4, 4], [2, 8]],
        "waitcnt": [[2, [[1, 0]]]],
    }
    return {"name": "SE0", "duration": 148, "num_insts": 4, "num_stitched": 4, "wave": inside | changed}


def directory() -> dict[str, Any]:
    """File name -> content: two waves of one kernel on two shader engines."""
    return {
        "filenames.json": {
            "version": "3.0.0",
            "gfxip": 9,
            "gfxv": "vega",
            "global_begin_time": 0,
            "counter_names": [],
            "wave_filenames": {
                "0": {"2": {"5": {"0": [WAVE, 1000, 1148]}}},
                "1": {"0": {"0": {"0": [OTHER_WAVE, 2000, 2148]}}},
            },
        },
        "code.json": {
            "version": "3.0.0",
            "header": HEADER,
            "code": [
                ["; demo_kernel", 0, 0, "", 7, 256, 0, 0, 0, 0],
                ["s_load_dwordx2 s[2:3], s[0:1], 0x0", 0, 1, "/src/demo.py:4", 7, 256, 2, 8, 0, 64],
                ["s_waitcnt lgkmcnt(0)", 0, 2, "/src/demo.py:4", 7, 264, 2, 200, 200, 0],
                ["v_mov_b32_e32 v0, s2", 0, 3, "/src/util.py:9 -> /src/demo.py:5", 7, 268, 2, 16, 8, 0],
                ["s_endpgm", 0, 4, "/src/demo.py:?", 7, 272, 2, 8, 0, 0],
            ],
        },
        "occupancy.json": {
            "version": "3.0.0",
            "dispatches": {"0": "0 / 0x0", "3": "demo_kernel"},
            "0": [[1000, 1, 2, 5, 1, 3], [1004, 3, 0, 0, 1, 0], [1148, 1, 2, 5, 0, 3], [1160, 3, 0, 0, 0, 0]],
            "1": [[2000, 1, 0, 0, 1, 3], [2148, 1, 0, 0, 0, 3]],
        },
        "realtime.json": {
            "metadata": {"descriptor": "[gfx_clock, realtime_clock]", "frequency": 100000000},
            "SE0": [[900, 5000000], [3100, 5000100]],
            "SE1": [[500, 5000000], [2700, 5000100]],
        },
        WAVE: wave(),
        OTHER_WAVE: wave(2000, simd=0, slot=0),
    }


def written(folder: Path, files: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def opened(folder: Path, files: dict[str, Any]) -> ThreadTrace:
    return read_ui_output(Directory(written(folder / "ui_output_agent_17_dispatch_4", files)), threads=1)


def kinds(trace: ThreadTrace) -> dict[str, int]:
    """Kind of loss -> how many."""
    return dict(trace.losses.select("kind", "count").iter_rows())
