"""Plain recomputations from the JSON of a decoded directory, from the written rules only.

Nothing here imports wavewright: what it says is a second opinion about its numbers. Slow and simple on purpose.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MATRIX = ("v_mfma", "v_smfma", "v_wmma", "v_swmma")
Instruction = list[int]  # time, category, stall, duration, row id


@dataclass
class Wave:
    """One wave file."""

    se: int
    simd: int
    slot: int
    number: int
    begin: int
    end: int
    instructions: list[Instruction]
    timeline: list[list[int]]
    waitcnt: list[list[Any]]


@dataclass
class Directory:
    """The files of a directory; `code` has the rows that are not labels, in order."""

    gfxip: int
    code: list[list[Any]]
    waves: list[Wave]
    occupancy: dict[int, list[list[int]]]
    realtime: dict[int, list[list[int]]]
    realtime_hz: int
    states: dict[int, dict[str, list[int]]]
    text: dict[int, str] = field(default_factory=dict)

    def place(self) -> dict[int, int]:
        """Row id of the files -> number of the instruction, counted from 0."""
        return {row[2]: number for number, row in enumerate(self.code)}


def read(folder: Path) -> Directory:
    def load(name: str) -> Any:
        path = folder / name
        return json.loads(path.read_text()) if path.exists() else None

    manifest = load("filenames.json")
    rows = (load("code.json") or {}).get("code") or []
    code = [row for row in rows if not row[0].startswith(";")]
    occupancy = load("occupancy.json") or {}
    realtime = load("realtime.json") or {}
    waves = []
    for se, simds in (manifest["wave_filenames"] or {}).items():
        for simd, slots in simds.items():
            for slot, numbers in slots.items():
                for number, (name, _, _) in numbers.items():
                    if not (folder / name).exists():
                        continue
                    wave = load(name)["wave"]
                    lists = [wave[part] or [] for part in ("instructions", "timeline", "waitcnt")]
                    waves.append(Wave(int(se), int(simd), int(slot), int(number), wave["begin"], wave["end"], *lists))
    return Directory(
        gfxip=manifest["gfxip"],
        code=code,
        waves=waves,
        occupancy={int(se): events for se, events in occupancy.items() if se.isdigit()},
        realtime={int(se[2:]): pairs for se, pairs in realtime.items() if se.startswith("SE")},
        realtime_hz=realtime.get("metadata", {}).get("frequency") or 100_000_000,
        states={k: found for k in (1, 2, 3, 4) if (found := load(f"wstates{k}.json"))},
        text={row[2]: row[0] for row in code},
    )


def totals(found: Directory) -> dict[int, list[int]]:
    """Row id -> hit, latency, stall, idle (spec_ui_output.md 4.1); ids without a row are skipped."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for wave in found.waves:
        last = wave.begin
        for time, _, stall, duration, row in wave.instructions:
            if row not in found.text:
                continue
            own = sums[row]
            own[0] += 1
            own[1] += duration
            own[2] += stall
            own[3] += max(0, time - last)
            last = max(last, time + duration)
    return dict(sums)


_COUNT = re.compile(r"(lgkmcnt|vmcnt)\((0x[0-9a-fA-F]+|\d+)\)")


def waits_gfx9(wave: Wave, text: dict[int, str]) -> list[tuple[int, list[int]]]:
    """(place of the wait, places of its producers) as the writer finds them (rcv_features.md 2.4, gfx9)."""
    queue: dict[str, list[int]] = {"lgkmcnt": [], "vmcnt": []}
    disordered = {"lgkmcnt": False, "vmcnt": False}
    flat: list[int] = []
    found = []
    for place, (_, _, _, _, row) in enumerate(wave.instructions):
        words = text.get(row, "")
        if words.startswith("s_waitcnt"):
            asked = {name: int(value, 0) for name, value in _COUNT.findall(words)}
            for name in ("lgkmcnt", "vmcnt"):
                if name not in asked:
                    continue
                if asked[name] == 0:
                    disordered[name] = False
                if disordered[name]:
                    continue
                done = max(0, len(queue[name]) - asked[name])
                producers = flat + queue[name][:done]
                flat, queue[name] = [], queue[name][done:]
                if producers:
                    found.append((place, producers))
        elif words.startswith(("ds_", "s_sendmsg")):
            queue["lgkmcnt"].append(place)
        elif words.startswith(("s_load", "s_store")):
            queue["lgkmcnt"].append(place)
            disordered["lgkmcnt"] = True
        elif words.startswith(("global_", "buffer_", "scratch_")):
            queue["vmcnt"].append(place)
        elif words.startswith("flat_"):
            flat.append(place)
            disordered = dict.fromkeys(disordered, True)
    return found


def producer_kind(text: str) -> str:
    name = text.split()[0]
    if name.startswith(("ds_bpermute", "ds_permute", "ds_swizzle")):
        return "cross-lane"
    if name.startswith("ds_"):
        return "LDS"
    if name.startswith("s_"):
        return "scalar load"
    if "atomic" in name:
        return "atomic"
    if "store" in name:
        return "store"
    if "load" in name:
        return "load to LDS" if re.search(r"\blds\b|_lds_", text) else "vector load"
    return "cache"


_PIPES = {1: "SMEM issue", 2: "SALU issue", 3: "VMEM issue", 4: "FLAT issue", 5: "LDS issue", 6: "VALU issue"}


def stall_classes(found: Directory) -> dict[str, int]:
    """Stall cycles by class (rcv_features.md 3.3); matrix belongs to VALU; `nothing` = waits that drained none."""
    sums: Counter[str] = Counter()
    for wave in found.waves:
        producers: dict[int, set[str]] = defaultdict(set)
        for place, awaited in waits_gfx9(wave, found.text):
            producers[place] |= {producer_kind(found.text[wave.instructions[one][4]]) for one in awaited}
        for place, (_, category, stall, _, row) in enumerate(wave.instructions):
            text = found.text.get(row, "")
            if text.startswith("s_waitcnt"):
                kinds = producers[place]
                kinds = kinds - {"cache"} or kinds
                sums["wait " + " + ".join(sorted(kinds)) if kinds else "nothing"] += stall
            elif text.startswith(("s_barrier", "s_nop")):
                sums[text.split()[0].removeprefix("s_b").replace("arrier", "barrier")] += stall
            else:
                sums[_PIPES.get(category, "rest")] += stall
    return {name: cycles for name, cycles in sums.items() if cycles}


def classic(found: Directory) -> dict[str, int]:
    """Stall cycles by the types of the analyzer script (rcv_features.md 3.1)."""
    sums: Counter[str] = Counter()
    for row, (_, _, stall, _) in totals(found).items():
        text = found.text[row].lower()
        if "s_waitcnt" in text:
            names = {"vmcnt": "VMEM-wait", "lgkmcnt": "LDS/SMEM-wait", "expcnt": "EXP-wait"}
            sums[next((name for word, name in names.items() if word in text), "waitcnt")] += stall
        elif "s_barrier" in text or "s_wait_idle" in text:
            sums["barrier"] += stall
        elif any(word in text for word in ("buffer_load", "global_load", "flat_load")):
            sums["VMEM-load"] += stall
        elif "buffer_store" in text or "global_store" in text:
            sums["VMEM-store"] += stall
        elif "ds_read" in text or "ds_write" in text:
            sums["LDS"] += stall
        elif "s_load" in text or "s_store" in text:
            sums["SMEM"] += stall
        elif "v_mfma" in text or "v_fma" in text:
            sums["MFMA/FMA"] += stall
        else:
            sums["other"] += stall
    return {name: cycles for name, cycles in sums.items() if cycles}


def state_curve(found: Directory, state: int) -> list[tuple[int, int]]:
    """Points (time, waves in the state) over all engines on their raw clocks (spec_ui_output.md 5.3)."""
    steps: Counter[int] = Counter()
    for wave in found.waves:
        time = wave.begin
        for one, duration in wave.timeline:
            if one == state:
                steps[time] += 1
                steps[time + duration] -= 1
            time += duration
    curve, level = [], 0
    for time in sorted(steps):
        level += steps[time]
        curve.append((time, level))
    return curve


def state_cycles(found: Directory) -> dict[int, int]:
    sums: Counter[int] = Counter()
    for wave in found.waves:
        for state, duration in wave.timeline:
            sums[state] += duration
    return dict(sums)


def alignment(found: Directory) -> tuple[dict[int, int], float] | None:
    """Offsets of the engines and MHz (rcv_features.md 2.1); None = cannot be aligned."""
    engines = {wave.se for wave in found.waves} | {se for se, events in found.occupancy.items() if events}
    if len(engines) < 2 or not engines <= set(found.realtime):
        return None
    first = {se: min(pairs) for se, pairs in found.realtime.items()}
    last = {se: max(pairs) for se, pairs in found.realtime.items()}
    growing = [se for se in first if last[se][0] > first[se][0] > 0 and last[se][1] > first[se][1]]
    cycles = sum(last[se][0] - first[se][0] for se in growing)
    ticks = sum(last[se][1] - first[se][1] for se in growing)
    rate = (ticks + 1) / (cycles + 25)
    origin = {se: pair[1] - pair[0] * rate for se, pair in first.items()}
    earliest = min(origin.values())
    offsets = {se: math.trunc((one - earliest) / rate) for se, one in origin.items()}
    return offsets, cycles / ticks * found.realtime_hz / 1e6


def residency(found: Directory) -> int:
    """Most waves on one SIMD of any CU at a time."""
    most = 0
    for events in found.occupancy.values():
        level: Counter[tuple[int, int]] = Counter()
        for _, cu, simd, _, start, *_ in sorted(events, key=lambda event: (event[0], event[4])):
            level[cu, simd] += 1 if start else -1
            most = max(most, level[cu, simd])
    return most


def hidden_latency(found: Directory, other_simd: Iterable[tuple[int, int, int]] = ()) -> dict[int, list[int]]:
    """Row id -> hidden idle, stall, issue by the rule of AMD's viewer (rcv_features.md 2.7), not clamped.

    `other_simd`: (se, time, duration) of memory instructions of neighbour SIMDs.
    """
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    simds: dict[tuple[int, int], list[Wave]] = defaultdict(list)
    for wave in found.waves:
        simds[wave.se, wave.simd].append(wave)
    for (se, _), waves in simds.items():
        busy: dict[str, list[tuple[int, int]]] = {"W": [], "V": [], "M": [], "S": []}
        tokens = []
        for wave in waves:
            last = wave.begin
            for time, category, stall, duration, row in wave.instructions:
                kind = 13 if found.text.get(row, "").startswith(MATRIX) else category
                length = max(stall, duration)
                tokens.append((kind, last, time, stall, length, row))
                last = max(last, time + length)
                issue = length - stall
                if kind == 13:
                    busy["W"].append((time + stall, issue))
                    busy["V"].append((time + stall, 3 * issue // 4))
                elif kind == 6:
                    busy["V"].append((time + stall, issue))
                elif kind in (3, 4, 5):
                    busy["M"].append((time + stall, issue))
                elif kind in (1, 2):
                    busy["S"].append((time + stall, issue))
        busy["M"] += [(time, duration) for engine, time, duration in other_simd if engine == se]
        sets = {name: _merged(spans) for name, spans in busy.items()}
        sets["math"] = _union(sets["V"], sets["W"])
        sets["vector"] = _union(sets["math"], sets["M"])
        sets["all"] = _union(sets["vector"], sets["S"])
        for kind, last, time, stall, length, row in tokens:
            if row not in found.text:
                continue
            best = _best(kind, sets, last, time, stall, length)
            for part in range(3):
                sums[row][part] += best[part]
    return dict(sums)


def _best(
    kind: int, sets: dict[str, list[tuple[int, int]]], last: int, time: int, stall: int, length: int
) -> list[int]:
    parts = ((last, time), (time, time + stall), (time + stall, time + length))
    names: tuple[str, ...] = ("all",)
    without: tuple[str, ...] = ()
    if kind == 13:
        names, without = ("V", "W"), ("V", "W")
    elif kind == 6:
        names, without = ("V", "W"), ("V",)
    elif kind in (3, 4, 5):
        names, without = ("math", "M"), ("M",)
    elif kind in (1, 2):
        names, without = ("vector", "S"), ("S",)
    candidates = []
    for name in names:
        values = [_hidden(begin, end, sets[name]) for begin, end in parts]
        if name in without:
            values[2] = 0
        candidates.append(values)
    if len(candidates) == 1 or sum(candidates[0]) > sum(candidates[1]):
        return candidates[0]
    return candidates[1]


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The merging of the viewer: lengths of overlapping intervals are added."""
    merged: list[list[int]] = []
    for begin, length in sorted(span for span in spans):
        if length <= 0:
            continue
        if not merged or begin > merged[-1][1]:
            merged.append([begin, begin + length])
        else:
            merged[-1][1] += length
    return [(begin, end) for begin, end in merged]


def _union(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[list[int]] = []
    for begin, end in sorted(one + other):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return [(begin, end) for begin, end in merged]


def _hidden(begin: int, end: int, spans: list[tuple[int, int]]) -> int:
    from bisect import bisect_left

    if end <= begin:
        return 0
    total = 0
    at = max(0, bisect_left(spans, (begin, begin)) - 1)
    while at < len(spans) and spans[at][0] <= end:
        first, last = spans[at]
        if last >= begin:
            total += max(0, min(last - begin, end - first, end - begin, last - first))
        at += 1
    return total


def loop(found: Directory, first: int, last: int, begin: int) -> list[float | None]:
    """What `Loops.loops` says about the instructions first..last whose iterations begin at `begin`, counted from 0."""
    place = found.place()
    stays: list[list[tuple[int, int]]] = []
    waves = 0
    for wave in found.waves:
        stay: list[tuple[int, int]] = []
        current: tuple[int, int] | None = None
        before = len(stays)
        known = [(time, place[row], stall) for time, _, stall, _, row in wave.instructions if row in place]
        for time, row, stall in known:
            if current is not None and (row == begin or not first <= row <= last):
                stay.append((time - current[0], current[1]))
                current = None
                if row != begin:
                    stays.append(stay)
                    stay = []
            if row == begin:
                current = (time, stall)
            elif current is not None:
                current = (current[0], current[1] + stall)
        if current is not None:
            end = max(time + duration for time, _, _, duration, _ in wave.instructions)
            stays.append([*stay, (end - current[0], current[1])])
        waves += len(stays) > before
    each = [one for stay in stays for one in stay]
    steady = [one for stay in stays for one in stay[1:-1]]
    stalled = steady or each
    trips = [len(stay) for stay in stays]
    return [
        waves,
        len(stays),
        len(each),
        min(trips),
        statistics.median(trips),
        max(trips),
        min(cycles for cycles, _ in each),
        statistics.median(cycles for cycles, _ in each),
        max(cycles for cycles, _ in each),
        statistics.median(stay[0][0] for stay in stays),
        statistics.median(cycles for cycles, _ in steady) if steady else None,
        statistics.median(stay[-1][0] for stay in stays),
        sum(stall for _, stall in stalled) / sum(cycles for cycles, _ in stalled),
    ]


Edges = dict[tuple[int, int], tuple[float, ...]]
Samples = dict[int, tuple[list[int], list[int]]]


def producers(found: Directory) -> tuple[Edges, Samples]:
    """By wait and producer: count, mean distance in cycles and instructions, mean latency, times it ended the wait and
    mean stall then. By producer: exact latencies and bounds. Numbers of instructions count from 0."""
    place = found.place()
    seen: dict[tuple[int, int], list[tuple[int, int, int, int | None]]] = defaultdict(list)
    samples: Samples = defaultdict(lambda: ([], []))
    for wave in found.waves:
        lists: dict[int, list[list[int]]] = defaultdict(list)
        for wait, some in waits_gfx9(wave, found.text):
            lists[wait].append(some)
        for wait, each in lists.items():
            time, _, _, duration, row = wave.instructions[wait]
            for some in each:
                scalar = any(found.text[wave.instructions[one][4]].startswith("s_") for one in some)
                tells = duration > 4 and len(each) == 1 and (not scalar or len(some) == 1)
                for one in some:
                    begin, _, stall, _, producer = wave.instructions[one]
                    latency = time - begin - stall + (duration if duration > 4 else 0)
                    is_last = tells and one == some[-1]
                    seen[place[row], place[producer]].append(
                        (time - begin - stall, wait - one, latency, duration - 4 if is_last else None)
                    )
                    samples[place[producer]][0 if is_last else 1].append(latency)
    edges: Edges = {}
    for key, values in seen.items():
        ended = [value[3] for value in values if value[3] is not None]
        means = [statistics.mean(value[part] for value in values) for part in (0, 1, 2)]
        edges[key] = (len(values), *means, len(ended), statistics.mean(ended) if ended else 0.0)
    return edges, samples


def mapped(found: Directory) -> tuple[int, int]:
    """Rows with a line of their own (`file:?` is none), and distinct lines."""
    lines = [row[3].split(" -> ")[0] for row in found.code if row[3]]
    known = [line for line in lines if not line.endswith(":?")]
    return len(known), len(set(known))


def line_weights(found: Directory) -> tuple[float, float, int]:
    """Weight of the top line, effective number of lines, number of mapped lines (rcv_features.md 4)."""
    weights: Counter[str] = Counter()
    sums = totals(found)
    lines = set()
    for row in found.code:
        line = row[3].split(" -> ")[0]
        if line and not line.endswith(":?"):
            lines.add(line)
            hit, _, stall, _ = sums.get(row[2], [0, 0, 0, 0])
            weights[line] += hit + stall
    every = sum(weights.values()) or 1
    shares = [weight / every for weight in weights.values() if weight]
    entropy = -sum(share * math.log(share) for share in shares)
    return max(shares, default=0.0), math.exp(entropy) if shares else 0.0, len(lines)


def waits_rdna(wave: Wave, text: dict[int, str], gfxip: int) -> list[tuple[int, list[int]]]:
    """As `waits_gfx9`, by the columns for gfx10 to gfx12 (without FLAT and packed waits)."""
    old = gfxip < 12
    order = (
        ("vscnt", "vmcnt", "lgkmcnt")
        if old
        else ("bvhcnt", "expcnt", "samplecnt", "kmcnt", "storecnt", "loadcnt", "dscnt")
    )
    queue: dict[str, list[int]] = {name: [] for name in order}
    disordered = dict.fromkeys(order, False)
    found = []
    for place, (*_, row) in enumerate(wave.instructions):
        words = text.get(row, "")
        if words.startswith("s_wait") and not words.startswith("s_wait_alu"):
            for name in order:
                asked = re.search(rf"{name}(?:\(| null, | )(0x[0-9a-f]+|\d+)", words)
                if asked is None:
                    continue
                # An operand `null, 0x1` is read as 0 by the writer.
                value = 0 if "null" in words else int(asked[1], 0)
                disordered[name] = disordered[name] and value != 0
                done = len(queue[name]) - value
                if disordered[name] or done <= 0:
                    continue
                found.append((place, queue[name][:done]))
                queue[name] = queue[name][done:]
            continue
        name = words.split()[0]
        if name.startswith("ds_"):
            queue["lgkmcnt" if old else "dscnt"].append(place)
        elif name.startswith(("s_load", "s_store")):
            counter = "lgkmcnt" if old else "kmcnt"
            queue[counter].append(place)
            disordered[counter] = True
        elif name.startswith(("global_", "buffer_", "scratch_")):
            is_store = "store" in name
            queue[("vscnt" if is_store else "vmcnt") if old else ("storecnt" if is_store else "loadcnt")].append(place)
    return found


_PIPES_OF_CATEGORIES = {
    1: "SCALAR",
    2: "SCALAR",
    3: "VMEM",
    4: "VMEM",
    5: "LDS",
    6: "VALU",
    7: "BRANCH",
    8: "BRANCH",
    9: "IMMEDIATE",
    11: "MESSAGE",
    12: "RAY",
    13: "MATRIX",
}


def busy_pipes(found: Directory) -> tuple[dict[str, int], int, int]:
    """Busy cycles of pipes over all SIMDs, cycles with waves, and those of them in which nothing issues.

    SIMDs of which no instruction was traced would look idle: they do not count where others were traced.
    """
    clock = 4 if found.gfxip == 9 else 1
    issues: dict[tuple[int, int], dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    lives: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for wave in found.waves:
        lives[wave.se, wave.simd].append((wave.begin, wave.end))
        for time, category, stall, duration, row in wave.instructions:
            is_matrix = found.text.get(row, "").startswith(MATRIX)
            pipe = _PIPES_OF_CATEGORIES.get(13 if is_matrix else category)
            if pipe is not None:
                length = clock if pipe in ("MESSAGE", "IMMEDIATE") else max(clock, duration - stall)
                issues[wave.se, wave.simd][pipe].append((time + stall, time + stall + length))
    busy: Counter[str] = Counter()
    resident = bubbles = 0
    traced = {(wave.se, wave.simd) for wave in found.waves if wave.instructions} or set(lives)
    for simd, alive in ((simd, lives[simd]) for simd in traced):
        for pipe, spans in issues[simd].items():
            busy[pipe] += _length(spans)
        issuing = [span for spans in issues[simd].values() for span in spans]
        resident += _length(alive)
        bubbles += _length(alive + issuing) - _length(issuing)
    return dict(busy), resident, bubbles


def _length(spans: list[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in _union(spans, []))


def mean_residency(found: Directory) -> dict[int, float]:
    """Engine -> wave cycles over the cycles of the SIMDs that held waves, from balanced events."""
    means = {}
    for se, events in found.occupancy.items():
        cycles = sum(-event[0] if event[4] else event[0] for event in events)
        simds = {(event[1], event[2]) for event in events}
        times = [event[0] for event in events]
        if times:
            means[se] = cycles / ((max(times) - min(times)) * len(simds))
    return means
