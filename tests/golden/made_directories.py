"""Decoded directories made from random numbers, written as plain JSON: for checks that need no ../shared."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

_COMMON = (
    "s_mov_b32 s0, s1",
    "v_add_f32_e32 v0, v1, v2",
    "v_exp_f32_e32 v0, v1",
    "s_nop 3",
    "ds_bpermute_b32 v0, v1, v2",
)
TEXTS = {
    9: (
        *_COMMON,
        "s_load_dwordx4 s[0:3], s[4:5], 0x0",
        "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen",
        "buffer_load_dword v4, s[0:3], 0 offen lds",
        "buffer_store_dword v0, v1, s[0:3], 0 offen",
        "global_load_dwordx4 v[0:3], v[4:5], off",
        "global_atomic_add v0, v[2:3], v1, off",
        "ds_read_b128 v[0:3], v4",
        "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
        "s_waitcnt vmcnt(0)",
        "s_waitcnt vmcnt(2)",
        "s_waitcnt lgkmcnt(0)",
        "s_waitcnt vmcnt(1) lgkmcnt(0)",
        "s_barrier",
    ),
    11: (
        *_COMMON,
        "s_load_b128 s[0:3], s[4:5], 0x0",
        "buffer_load_b128 v[0:3], v4, s[0:3], 0 offen",
        "global_load_b128 v[0:3], v[4:5], off",
        "global_store_b64 v[2:3], v[0:1], off",
        "ds_load_b128 v[0:3], v4",
        "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
        "s_waitcnt vmcnt(0)",
        "s_waitcnt vmcnt(2)",
        "s_waitcnt lgkmcnt(1)",
        "s_waitcnt vmcnt(1) lgkmcnt(0)",
        "s_waitcnt_vscnt null, 0x0",
        "s_barrier",
    ),
    12: (
        *_COMMON,
        "s_load_b128 s[0:3], s[4:5], 0x0",
        "buffer_load_b128 v[0:3], v4, s[0:3], null offen",
        "global_load_b128 v[0:3], v[4:5], off",
        "global_store_b64 v[2:3], v[0:1], off",
        "ds_load_b128 v[0:3], v4",
        "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]",
        "s_wait_loadcnt 0x0",
        "s_wait_loadcnt 0x2",
        "s_wait_dscnt 0x1",
        "s_wait_kmcnt 0x0",
        "s_wait_storecnt 0x0",
        "s_barrier_wait 0xffff",
    ),
}
_CATEGORIES = (
    (("s_load",), 1),
    (("s_wait", "s_barrier", "s_nop"), 9),
    (("s_endpgm",), 11),
    (("s_cbranch",), 7),
    (("s_",), 2),
    (("buffer_",), 3),
    (("global_",), 4),
    (("ds_",), 5),
)
LOOP_BEGIN = 4
"""The instruction at which iterations of the loop begin."""


def make(folder: Path, gfxip: int, seed: int, *, first_cycle: int = 1000, ids: bool = False) -> Path:
    """A directory of nine waves that go round one loop; `ids` = row ids from 1000 on, with gaps."""
    source = random.Random(seed)
    folder.mkdir(parents=True)
    loop = [source.choice(TEXTS[gfxip]) for _ in range(source.randrange(15, 40))]
    texts = [*loop, "s_cbranch_scc1 65526", *(source.choice(TEXTS[gfxip]) for _ in range(5)), "s_endpgm"]
    numbers = [1000 + 3 * n + n // 5 if ids else n + 1 for n in range(len(texts))]
    manifest: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    events: dict[str, list[list[int]]] = defaultdict(list)
    free: dict[tuple[int, int, int], tuple[int, int]] = {}
    clock = 4 if gfxip == 9 else 1
    for _ in range(9):
        se, simd, slot = place = source.choice((0, 2)), source.randrange(2), source.randrange(3)
        number, earliest = free.get(place, (0, first_cycle))
        begin = earliest + clock * source.randrange(20)
        instructions = _walk(source, texts, numbers, begin, clock)
        end = max(time + duration for time, _, _, duration, _ in instructions)
        free[place] = number + 1, end + 3 * clock
        name = f"se{se}_sm{simd}_sl{slot}_wv{number}.json"
        manifest[str(se)][str(simd)][str(slot)][str(number)] = [name, begin, end]
        events[str(se)] += [[begin, 1, simd, slot, 1, 1], [end, 1, simd, slot, 0, 1]]
        wave = {"begin": begin, "end": end, "cu": 1, "simd": simd, "slot": slot, "id": number}
        lists = {"instructions": instructions, "timeline": _states(source, instructions, begin, end), "waitcnt": None}
        _write(folder / name, {"name": f"SE{se}", "num_insts": len(instructions), "wave": wave | lists})
    _write(
        folder / "filenames.json", {"version": "3.0.0", "gfxip": gfxip, "counter_names": [], "wave_filenames": manifest}
    )
    rows = [
        [
            text,
            0,
            number,
            source.choice(("", "/s/a.py:3", "/s/b.py:1 -> /s/a.py:4", "/s/b.py:? -> /s/c.py:9")),
            1,
            4 * at,
        ]
        for at, (text, number) in enumerate(zip(texts, numbers, strict=True))
    ]
    label = ["; made", 0, numbers[0] - 1, "", 1, 0]
    _write(folder / "code.json", {"version": "3.0.0", "code": [[*row, 0, 0, 0, 0] for row in (label, *rows)]})
    lists = {se: sorted(own) for se, own in events.items()}
    _write(folder / "occupancy.json", {"version": "3.0.0", "dispatches": {"0": "0 / 0x0", "1": "made"}, **lists})
    pairs = {
        f"SE{se}": [[first_cycle - 50 + int(se), 10**14 + 3 * int(se)], [first_cycle + 90_000, 10**14 + 5000]]
        for se in lists
    }
    _write(folder / "realtime.json", {"metadata": {"frequency": 100_000_000}, **pairs})
    return folder


def _walk(source: random.Random, texts: list[str], numbers: list[int], begin: int, clock: int) -> list[list[int]]:
    """The instructions of one wave; some begin before the one before them ends."""
    time, at, trips = begin + clock * source.randrange(9), 0, source.randrange(1, 5)
    instructions = []
    while at < len(texts):
        text = texts[at]
        category = next((number for heads, number in _CATEGORIES if text.startswith(heads)), 6)
        following = at + 1
        if text.startswith("s_cbranch"):
            trips -= 1
            category, following = (7, LOOP_BEGIN) if trips else (8, at + 1)
        stall = clock * source.choice((0, 0, 0, 1, 2, 30))
        duration = stall + clock * source.choice((1, 1, 2, 4))
        if category == 9:
            stall = duration = clock * source.choice((1, 1, 3, 40))
        instructions.append([time, category, stall, duration, numbers[at]])
        time += duration + clock * source.choice((0, 0, 0, 0, 1, 5, -1 if duration > 2 * clock else 0))
        at = following
    return instructions


def _states(source: random.Random, instructions: list[list[int]], begin: int, end: int) -> list[list[int]]:
    first = instructions[0][0]
    runs = [[1, first - begin]] if first > begin else []
    while first < end:
        length = min(end - first, source.randrange(1, 120))
        runs.append([source.choice((2, 3, 4)), length])
        first += length
    return runs


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))
