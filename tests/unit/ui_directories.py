"""Turns an official `ui_output_*` directory into a `ThreadTrace`, so that exports can be compared with it.

Rows are renumbered by (code object, address) and strangers are added to `code`, so that line numbers have to be
found again. The JSON does not say which dynamic wait an entry belongs to: the next execution of its line is taken.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from wavescope.model import THREAD_TRACE, ThreadTrace, TraceSource

if TYPE_CHECKING:
    from pathlib import Path

NAME = re.compile(r"ui_output_agent_(\d+)_dispatch_(\d+)")
Json = Any


def read_json(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


def frame(table: str, columns: dict[str, Any], **constants: Any) -> pl.DataFrame:
    """A frame of the declared schema; columns that are not given are null unless named in `constants`."""
    specs = THREAD_TRACE[table].columns
    height = len(next(iter(columns.values()))) if columns else 0
    return pl.DataFrame(
        {
            spec.name: pl.Series(
                columns[spec.name] if spec.name in columns else [constants.get(spec.name)] * height,
                dtype=getattr(pl, spec.dtype),
            )
            for spec in specs
        }
    )


def load(directory: Path) -> ThreadTrace:
    match = NAME.match(directory.name)
    assert match
    manifest, code, occupancy = (read_json(directory / f"{n}.json") for n in ("filenames", "code", "occupancy"))
    realtime = read_json(directory / "realtime.json")
    tables, row_of_line = _code(code["code"] or [])
    kernels = _kernels(code["code"] or [], occupancy["dispatches"])
    tables |= _occupancy(occupancy, kernels) | _clocks(realtime, occupancy, manifest) | _sources(directory)
    tables |= _waves(_wave_files(directory, manifest), row_of_line)
    tables["kernels"] = frame(
        "kernels", {key: [kernel[key] for kernel in kernels.values()] for key in next(iter(kernels.values()))}
    )
    source = TraceSource(path=str(directory), agent=int(match[1]), dispatch=int(match[2]))
    return ThreadTrace(tables, source)


def _code(rows: list[Json]) -> tuple[dict[str, pl.DataFrame], dict[int, int]]:
    listed, function = [], None
    for text, _, line, source, code_object, address, *_totals in rows:
        if text.startswith("; "):
            function = text[2:]
        else:
            listed.append((code_object, address, text, function, source or None, line))
    strangers = [(obj, address, "s_nop 0", "never_entered", None, -1) for obj, address in ((1, 0), (1, 4), (999, 0))]
    ordered = sorted([*listed, *strangers], key=lambda row: row[:2])
    columns = list(zip(*ordered, strict=True))
    row_of_line = {line: row for row, line in enumerate(columns[5]) if line >= 0}
    table = frame(
        "code",
        {
            "row": range(len(ordered)),
            "code_object": columns[0],
            "address": columns[1],
            "text": columns[2],
            "function": columns[3],
            "inline_chain": columns[4],
        },
    )
    return {"code": table}, row_of_line


def _kernels(rows: list[Json], dispatches: dict[str, str]) -> dict[int, dict[str, Any]]:
    """Official id -> row of `kernels`; the place of a kernel that code.json does not list is made up."""
    labels = {row[0][2:]: row for row in rows if row[0].startswith("; ")}
    kernels = {}
    for number, (key, name) in enumerate(dispatches.items()):
        code_object, _, address = name.partition(" / ")
        if address:
            place = int(code_object), int(address, 16)
        elif name in labels:
            place = labels[name][4], labels[name][5]
        else:
            place = 2, 1 << 20
        demangled = labels[name][3] if name in labels else ""
        kernels[int(key)] = {
            "kernel": number,
            "name": name,
            "demangled": demangled or name,
            "code_object": place[0],
            "address": place[1],
        }
    return kernels


def _occupancy(occupancy: Json, kernels: dict[int, dict[str, Any]]) -> dict[str, pl.DataFrame]:
    rows = [(int(se), *row) for se, rows in occupancy.items() if se.isdigit() for row in rows]
    used = [kernels[row[6]] for row in rows]
    columns = dict(zip(("se", "time_cycles", "cu", "simd", "slot", "start"), zip(*rows, strict=True), strict=False))
    columns["start"] = tuple(map(bool, columns.get("start", ())))
    columns |= {name: tuple(kernel[name] for kernel in used) for name in ("kernel", "code_object", "address")}
    return {"occupancy": frame("occupancy", columns, me=0, pipe=0, is_ext=False, workgroup=0, cluster=0)}


def _clocks(realtime: Json, occupancy: Json, manifest: Json) -> dict[str, pl.DataFrame]:
    pairs = [(int(key[2:]), *pair) for key, rows in realtime.items() if key.startswith("SE") for pair in rows]
    columns = dict(zip(("se", "shader_clock_cycles", "realtime_ticks"), zip(*pairs, strict=True), strict=True))
    engines = sorted({int(key) for key in occupancy if key.isdigit()} | {pair[0] for pair in pairs})
    return {
        "realtime": frame("realtime", columns),
        "shader_engines": frame(
            "shader_engines",
            {"se": engines},
            gfxip=manifest["gfxip"],
            realtime_hz=realtime["metadata"]["frequency"],
            status="ok",
        ),
    }


def _sources(directory: Path) -> dict[str, pl.DataFrame]:
    files = source_paths(directory)
    return {"sources": frame("sources", {"file": files, "text": [f"text of {file}\n" for file in files]})}


def source_paths(directory: Path) -> list[str]:
    """The paths that snapshots.json maps."""
    snapshots = directory / "snapshots.json"
    return sorted(_leaves(read_json(snapshots), "")) if snapshots.exists() else []


def _leaves(node: Json, prefix: str) -> list[str]:
    if isinstance(node, str):
        return [prefix]
    join = "" if prefix.endswith("/") or not prefix else "/"
    return [leaf for name, child in node.items() for leaf in _leaves(child, prefix + join + name)]


def _wave_files(directory: Path, manifest: Json) -> list[tuple[int, Json]]:
    """(SE, wave file) by the order in which waves end: what a decoder hands out."""
    files = [
        (int(se), read_json(directory / entry[0])["wave"])
        for se, simds in (manifest["wave_filenames"] or {}).items()
        for slots in simds.values()
        for waves in slots.values()
        for entry in waves.values()
    ]
    return sorted(files, key=lambda item: (item[0], item[1]["end"], item[1]["id"]))


def _waves(files: list[tuple[int, Json]], row_of_line: dict[int, int]) -> dict[str, pl.DataFrame]:
    waves: list[tuple[Any, ...]] = []
    instructions: list[tuple[Any, ...]] = []
    states: list[tuple[Any, ...]] = []
    waits: list[tuple[Any, ...]] = []
    for number, (se, wave) in enumerate(files):
        tokens, runs = wave["instructions"] or [], wave["timeline"] or []
        place = (number, se, wave["cu"], wave["simd"], wave["slot"], wave["begin"], wave["end"])
        waves.append((*place, len(instructions), len(tokens), len(states), len(runs)))
        waits += _waits(number, wave["waitcnt"] or [], tokens, len(instructions), row_of_line)
        instructions += [(number, t, stall, dur, cat, row_of_line.get(line, -1)) for t, cat, stall, dur, line in tokens]
        states += [(number, *run) for run in runs]
    shapes = {
        "waves": (
            waves,
            "wave se cu simd slot begin_cycles end_cycles first_instruction instruction_count first_state state_count",
        ),
        "instructions": (instructions, "wave time_cycles stall_cycles duration_cycles category row"),
        "states": (states, "wave state duration_cycles"),
        "waits": (waits, "wave instruction row producer producer_row counter"),
    }
    return {name: _from_rows(name, rows, columns.split()) for name, (rows, columns) in shapes.items()}


def _from_rows(table: str, rows: list[tuple[Any, ...]], names: list[str]) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return frame(table, dict(zip(names, columns, strict=True)))


def _waits(
    wave: int, entries: list[Json], tokens: list[Json], first: int, row_of_line: dict[int, int]
) -> list[tuple[Any, ...]]:
    lines = [token[4] for token in tokens]
    rows, at = [], 0
    for number, (line, producers) in enumerate(entries):
        at = lines.index(line, at) if line in lines[at:] else lines.index(line)
        counter = ("lgkmcnt", "vmcnt")[number % 2]
        rows += [
            (wave, first + at, row_of_line[line], first + lines.index(producer), row_of_line[producer], counter)
            for producer, _ in producers
        ]
    return rows
