"""Small traces made from tables, for what no real capture shows."""

from __future__ import annotations

from typing import Any

import polars as pl

from tests.kit.ui_directories import frame
from wavewright.model.trace import ThreadTrace, TraceSource

CODE = {
    "row": [0, 1, 2, 3, 4, 5],
    "code_object": [7] * 6,
    "address": [256, 260, 264, 512, 516, 520],
    "text": [
        "s_load_dword s2, s[0:1], 0x0",
        "s_waitcnt lgkmcnt(0)",
        "s_endpgm",
        "s_nop 0",
        "s_setpc_b64 s[30:31]",
        "s_nop 1",
    ],
    "function": ["main_kernel", "main_kernel", "main_kernel", "helper", "helper", None],
    "inline_chain": ["/src/a.py:4", "/src/b.h:9 -> /src/a.py:5", None, None, None, None],
}
KERNELS = {"kernel": [0], "name": ["main_kernel"], "demangled": ["main_kernel"], "code_object": [7], "address": [256]}


def made(waves: list[dict[str, Any]], *, agent: int = 3, dispatch: int = 1, **tables: pl.DataFrame) -> ThreadTrace:
    """A trace of `waves`: place and begin, `instructions` (time, stall, duration, category, row), `states` (state,
    duration), `waits` (index of the wait and of the producer in the wave, counter)."""
    rows: dict[str, list[tuple[Any, ...]]] = {"instructions": [], "states": [], "waits": [], "waves": []}
    for number, wave in enumerate(waves):
        tokens, states = wave.get("instructions", []), wave.get("states", [])
        first = len(rows["instructions"])
        for wait, producer, counter in wave.get("waits", []):
            places = (number, first + wait, tokens[wait][4], first + producer, tokens[producer][4], counter)
            rows["waits"].append(places)
        extent = (first, len(tokens), len(rows["states"]), len(states))
        place = (wave.get("se", 0), wave.get("simd", 0), wave.get("slot", 0))
        rows["waves"].append((number, *place, 1, wave["begin"], wave["end"], *extent))
        rows["instructions"] += [(number, *token) for token in tokens]
        rows["states"] += [(number, *state) for state in states]
    columns = {
        "waves": "wave se simd slot cu start_cycles end_cycles "
        "first_instruction instruction_count first_state state_count",
        "instructions": "wave time_cycles stall_cycles duration_cycles category row",
        "states": "wave state duration_cycles",
        "waits": "wave instruction row producer producer_row counter",
    }
    made_tables = {
        name: frame(name, {column: [row[at] for row in rows[name]] for at, column in enumerate(names.split())})
        for name, names in columns.items()
    }
    defaults = {"code": frame("code", CODE), "kernels": frame("kernels", KERNELS)}
    return ThreadTrace(defaults | made_tables | tables, TraceSource(path="made", agent=agent, dispatch=dispatch))


def one_wave() -> dict[str, Any]:
    return {
        "begin": 1000,
        "end": 1148,
        "instructions": [(1032, 0, 4, 1, 0), (1036, 100, 100, 9, 1), (1136, 4, 8, 11, 2)],
        "states": [(1, 32), (2, 4), (3, 100), (4, 4), (2, 8)],
        "waits": [(1, 0, "lgkmcnt")],
    }
