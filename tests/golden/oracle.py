"""The reference's records (schema oracle-1) beside ours, in one shape that can be compared with `==`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wavewright import _core

SHARED = Path(__file__).resolve().parents[3] / "shared"
GOLDEN = SHARED / "golden"
OWN = Path(__file__).resolve().parents[1] / "data" / "golden-synthetic"  # a part of the synthetic ones, for everyone
STOPPED = 5  # wavewright::Status::stopped


@dataclass(frozen=True)
class Case:
    """One raw buffer with its listings and the reference's records."""

    name: str
    trace: Path
    golden: Path
    listings: tuple[tuple[int, int | None, Path], ...]  # (code object id, load address, file)

    def program(self) -> _core.Program:
        program = _core.Program()
        for code_object, load_address, path in self.listings:
            program.add_listing(code_object, load_address, path.read_bytes())
        program.link()
        return program

    def expected(self) -> dict[str, Any]:
        with gzip.open(self.golden) as stream:
            loaded: dict[str, Any] = json.load(stream)
        return loaded


def synthetic_cases(family: str) -> list[Case]:
    """All streams of ../shared, or the part of them that is in the repository."""
    whole = GOLDEN / "synthetic" / family
    folder = whole if whole.is_dir() else OWN / family
    cases = []
    for meta_path in sorted(folder.glob("*.json")):
        meta = json.loads(meta_path.read_text())
        listings = tuple((o["id"], o["load_addr"], folder / o["file"]) for o in meta["code_objects"])
        stem = meta_path.stem
        cases.append(Case(f"{family}/{stem}", folder / f"{stem}.att", folder / f"{stem}.golden.json.gz", listings))
    return cases


def real_cases(gpu: str) -> list[Case]:
    """tinygrad's captures: one folder per run, listings beside the traces; none without ../shared."""
    cases = []
    for meta_path in sorted((GOLDEN / gpu).glob("*/meta.json")):
        folder = meta_path.parent
        meta = json.loads(meta_path.read_text())
        for trace in meta["traces"]:
            kernel = trace.get("kern", 0)
            objects = [o for o in meta["code_objects"] if o["file"] == f"code_object_{kernel}.elf"]
            objects = objects or meta["code_objects"]
            listings = tuple((0, o["load_addr"], folder / f"{Path(o['file']).stem}.isa.tsv") for o in objects)
            name = f"{gpu}/{folder.name}/{trace['file']}"
            cases.append(Case(name, folder / trace["file"], folder / trace["golden"], listings))
    return cases


def records_as_oracle(records: _core.Records, program: _core.Program) -> dict[str, Any]:
    """Our tables of one buffer in the reference's shape and order."""
    tables = {name: pl.DataFrame(table) for name, table in _core.tables(records).items()}
    tables["sampled_counters"] = tables.pop("counters")
    rows = pl.DataFrame(program.rows())
    place = list(zip(rows["code_object"].to_list(), rows["address"].to_list(), strict=True))
    return tables_as_oracle(tables, place) | {
        "info": tables["info"]["code"].to_list(),
        "rt_frequency": [records.realtime_hz] if records.realtime_hz else [],
        "gfxip": records.gfxip,
    }


def tables_as_oracle(tables: Mapping[str, pl.DataFrame], place: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Tables in the reference's shape; `place` is (code object, address) of every row."""
    instructions = tables["instructions"]
    columns = ("category", "time_cycles", "duration_cycles", "stall_cycles", "row")
    flat = list(zip(*(instructions[c].to_list() for c in columns), strict=True))
    states = list(zip(tables["states"]["state"].to_list(), tables["states"]["duration_cycles"].to_list(), strict=True))
    waves = []
    for w in tables["waves"].iter_rows(named=True):
        first, count = w["first_instruction"], w["instruction_count"]
        state, state_count = w["first_state"], w["state_count"]
        waves.append(
            {
                "cu": w["cu"],
                "simd": w["simd"],
                "wave_id": w["slot"],
                "contexts": w["contexts"],
                "dispatcher": (w["me"] & 7) << 4 | w["pipe"],
                "workgroup_id": w["workgroup"],
                "cluster_id": w["cluster"],
                "begin": w["start_cycles"],
                "end": w["end_cycles"],
                "timeline": [list(s) for s in states[state : state + state_count]],
                "insts": [[*i[:4], *(place[i[4]] if i[4] >= 0 else (0, 0))] for i in flat[first : first + count]],
            }
        )
    return {
        "occupancy": _lists(
            tables["occupancy"],
            "time_cycles cu simd slot start me pipe is_ext workgroup cluster code_object address",
        ),
        "waves": waves,
        "perfevents": _lists(tables["sampled_counters"], "time_cycles cu bank value0 value1 value2 value3"),
        "events": [[*e, 0] for e in _lists(tables["events"], "time_cycles type me pipe flags payload")],
        "dispatches": _lists(
            tables["dispatches"],
            "time_cycles me pipe user_sgprs flags vgprs sgprs lds_bytes workgroup_size_x workgroup_size_y"
            " workgroup_size_z code_object address",
        ),
        "shaderdata": _lists(tables["shader_data"], "time_cycles value cu simd slot flags"),
        "realtime": _lists(tables["realtime"], "shader_clock_cycles realtime_ticks"),
        "other_simd": _lists(tables["other_simd"], "time_cycles duration_cycles cu category"),
    }


def golden_as_oracle(golden: dict[str, Any]) -> dict[str, Any]:
    """The reference's JSON with its dispatch objects as lists and without what we do not compare."""
    result = {key: golden[key] for key in ("occupancy", "waves", "perfevents", "events", "shaderdata", "realtime")}
    result["dispatches"] = [
        [d[k] for k in ("time", "me", "pipe", "user_sgprs", "flags", "vgprs", "sgprs", "lds")]
        + [*d["dim"], *d["entry"]]
        for d in golden["dispatches"]
    ]
    result["other_simd"] = golden["other_simd"]
    result["info"] = golden["info"]
    result["rt_frequency"] = golden["rt_frequency"]
    result["gfxip"] = golden["gfxip"]
    return result


def _lists(table: pl.DataFrame, columns: str) -> list[list[int]]:
    return [list(row) for row in table.select(columns.split()).iter_rows()]


def differences(case: Case) -> list[str]:
    """What differs between our records and the reference's, one line per table; empty when equal."""
    golden = case.expected()
    program = case.program()
    records = _core.decode([case.trace.read_bytes()], program, threads=1)[0]
    ours, theirs = records_as_oracle(records, program), golden_as_oracle(golden)
    if golden["status"] == 4:
        return [] if records.status not in (0, STOPPED) else [f"status {records.status}, reference: invalid data"]
    found = []
    if golden["status"] == 99:
        # The reference loses its pooled lists when it gives up; we keep them, so ours may hold more.
        if records.status != STOPPED:
            found.append(f"status {records.status}, reference: gave up")
        for key in ("occupancy", "shaderdata", "realtime", "perfevents", "other_simd", "rt_frequency", "info"):
            if not theirs[key]:
                ours[key] = []
        ours["waves"] = ours["waves"][: len(theirs["waves"])]
    elif records.status not in (0, 1):
        found.append(f"status {records.status}, reference: success")
    for key, expected in theirs.items():
        if ours[key] != expected:
            found.append(f"{key}: {_first_difference(ours[key], expected)}")
    return found


def _first_difference(ours: Any, theirs: Any) -> str:
    if isinstance(ours, list) and isinstance(theirs, list):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
            if a != b:
                return f"[{i}] {_first_difference(a, b)}"
        return f"{len(ours)} entries, reference {len(theirs)}"
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in theirs:
            if ours.get(key) != theirs[key]:
                return f"{key}: {_first_difference(ours.get(key), theirs[key])}"
    return f"{ours!r}, reference {theirs!r}"
