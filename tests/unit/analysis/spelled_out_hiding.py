"""The two rules of hidden latency said again, slowly and directly: interval by interval, cycle by cycle."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from wavewright.model.trace import ThreadTrace

Interval = tuple[int, int]
Totals = dict[int, list[int]]
MATRIX, VALU, MEMORY, SCALAR, OTHER = "matrix", "valu", "memory", "scalar", "other"
WORK = {1: SCALAR, 2: SCALAR, 3: MEMORY, 4: MEMORY, 5: MEMORY, 6: VALU}
# Work -> (sets, whether their busy time hides the issue part) of both candidates.
CANDIDATES = {
    MATRIX: (("V", False), ("W", False)),
    VALU: (("V", False), ("W", True)),
    MEMORY: (("VW", True), ("M", False)),
    SCALAR: (("VWM", True), ("S", False)),
    OTHER: (("VWMS", True), ("VWMS", True)),
}


@dataclass
class Token:
    wave: int
    time: int
    stall: int
    length: int
    row: int
    work: str
    track: int = 0

    @property
    def end(self) -> int:
        return self.time + self.length

    def busy(self) -> dict[str, Interval]:
        start, cycles = self.time + self.stall, self.length - self.stall
        if self.work == MATRIX:
            return {"W": (start, cycles), "V": (start, 3 * cycles // 4)}
        pipe = {VALU: "V", MEMORY: "M", SCALAR: "S"}.get(self.work)
        return {pipe: (start, cycles)} if pipe else {}


def tokens_of(trace: ThreadTrace) -> dict[tuple[int, int], dict[int, list[Token]]]:
    """(SE, SIMD) -> wave -> its tokens in the order of the table."""
    texts = trace.code["text"].to_list()
    places = {wave: (se, simd) for wave, se, simd in trace.waves.select("wave", "se", "simd").iter_rows()}
    groups: dict[tuple[int, int], dict[int, list[Token]]] = {place: {} for place in places.values()}
    for wave, time, stall, duration, category, row in trace.instructions.iter_rows():
        text = texts[row] if 0 <= row < len(texts) else ""
        matrix = (text or "").startswith(("v_mfma", "v_smfma", "v_wmma", "v_swmma"))
        work = MATRIX if matrix else WORK.get(category, OTHER)
        token = Token(wave, time, stall, max(stall, duration), row, work)
        groups[places[wave]].setdefault(wave, []).append(token)
    return groups


def reference(trace: ThreadTrace) -> Totals:
    totals: Totals = defaultdict(lambda: [0, 0, 0])
    begins = dict(trace.waves.select("wave", "start_cycles").iter_rows())
    for (se, _), waves in tokens_of(trace).items():
        pipes: dict[str, list[Interval]] = {"V": [], "W": [], "M": other_simd(trace, se), "S": []}
        for token in (token for tokens in waves.values() for token in tokens):
            for pipe, interval in token.busy().items():
                pipes[pipe].append(interval)
        merged = {pipe: add_lengths(intervals) for pipe, intervals in pipes.items()}
        sets = {names: union([merged[name] for name in names]) for names in ("V", "W", "M", "S", "VW", "VWM", "VWMS")}
        for wave, tokens in waves.items():
            previous = begins[wave]
            for token in lined_up(tokens):
                parts = [
                    (previous, token.time),
                    (token.time, token.time + token.stall),
                    (token.time + token.stall, token.end),
                ]
                hidden = [
                    [overlap(part, sets[name]) if issue or at < 2 else 0 for at, part in enumerate(parts)]
                    for name, issue in CANDIDATES[token.work]
                ]
                better = hidden[0] if sum(hidden[0]) > sum(hidden[1]) else hidden[1]
                if token.row >= 0:
                    totals[token.row] = [a + b for a, b in zip(totals[token.row], better, strict=True)]
                previous = token.end
    return dict(totals)


def corrected(trace: ThreadTrace) -> Totals:
    totals: Totals = defaultdict(lambda: [0, 0, 0])
    begins = dict(trace.waves.select("wave", "start_cycles").iter_rows())
    for (se, _), waves in tokens_of(trace).items():
        busy: dict[str, dict[int, set[int]]] = {pipe: defaultdict(set) for pipe in "VWMS"}
        for wave, tokens in waves.items():
            for token in tokens:
                for pipe, (start, length) in token.busy().items():
                    busy[pipe][wave].update(range(start, start + length))
        for start, length in other_simd(trace, se):
            busy["M"][-1].update(range(start, start + length))
        for wave, tokens in waves.items():
            others = {
                pipe: set().union(*(cycles for owner, cycles in owners.items() if owner != wave))
                for pipe, owners in busy.items()
            }
            latest = begins[wave]
            for token in tokens:
                if token.row < 0:
                    continue
                issue_start = token.time + token.stall
                parts = [range(latest, token.time), range(token.time, issue_start), range(issue_start, token.end)]
                hidden = []
                for names, issue in CANDIDATES[token.work]:
                    cycles = set().union(*(others[name] for name in names))
                    hidden.append(
                        [len(cycles.intersection(part)) if issue or at < 2 else 0 for at, part in enumerate(parts)]
                    )
                better = hidden[0] if sum(hidden[0]) > sum(hidden[1]) else hidden[1]
                totals[token.row] = [a + b for a, b in zip(totals[token.row], better, strict=True)]
                latest = max(latest, token.end)
    return dict(totals)


def other_simd(trace: ThreadTrace, se: int) -> list[Interval]:
    return [(time, length) for at, time, length, *_ in trace.other_simd.iter_rows() if at == se]


def add_lengths(intervals: list[Interval]) -> list[list[int]]:
    merged: list[list[int]] = []
    for start, length in sorted(intervals):
        if not merged or start > merged[-1][1]:
            merged.append([start, start + length])
        else:
            merged[-1][1] += length
    return merged


def union(lists: list[list[list[int]]]) -> list[list[int]]:
    found: list[list[int]] = []
    for begin, end in sorted(interval for intervals in lists for interval in intervals):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def overlap(part: Interval, intervals: list[list[int]]) -> int:
    start, end = part
    return sum(
        max(0, min(last - start, end - first, end - start, last - first))
        for first, last in intervals
        if last >= start and first <= end
    )


def lined_up(tokens: list[Token]) -> list[Token]:
    last: list[Token | None] = [None] * 4
    for token in tokens:
        token.track = 0
        while token.track < 3:
            before = last[token.track]
            if before is None or before.time != token.time or before.end <= token.time:
                break
            token.track += 1
        last[token.track] = token
    return sorted(tokens, key=lambda token: (token.time, token.track, -token.length))
