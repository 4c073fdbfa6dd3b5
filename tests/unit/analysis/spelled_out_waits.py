"""The resolving of waits once more, plainly: every wave for itself, every list searched from its front."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from wavewright.codeobj.classes import classify, waits_of
from wavewright.model.trace import ThreadTrace

OTHER_ORDERS = {"image_sample", "bvh", "gws", "export", "lds_param"}


@dataclass
class Found:
    """Producers by (wait row, producer row, counter), and samples by (row, latency, is tight)."""

    certain: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    perhaps: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    last: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    samples: Counter[tuple[int, int, bool]] = field(default_factory=Counter)


def spelled_out(trace: ThreadTrace, family: str, free_cycles: int) -> Found:
    texts = dict(trace.code.select("row", "text").iter_rows())
    found = Found()
    for (_,), wave in trace.instructions.group_by("wave", maintain_order=True):
        _wave(list(wave.iter_rows(named=True)), texts, family, free_cycles, found)
    return found


def _sequence(text: str, family: str) -> str | None:
    """What an operation completes in order with; None = with nothing."""
    kind = classify(text, family)
    if not kind.in_order:
        return None
    return kind.name if kind.name in OTHER_ORDERS else "usual"


def _wave(steps: list[dict[str, Any]], texts: dict[int, str], family: str, free_cycles: int, found: Found) -> None:
    flying: dict[str, list[int]] = {}
    at_most: Counter[str] = Counter()
    for place, step in enumerate(steps):
        text = texts[step["row"]]
        kind = classify(text, family)
        if kind.name == "wait":
            _wait(place, steps, texts, family, free_cycles, flying, at_most, found)
        for counter in kind.counters:
            flying.setdefault(counter, []).append(place)
            at_most[counter] = min(at_most[counter] + 1, len(flying[counter]))


def _wait(
    place: int,
    steps: list[dict[str, Any]],
    texts: dict[int, str],
    family: str,
    free_cycles: int,
    flying: dict[str, list[int]],
    at_most: Counter[str],
    found: Found,
) -> None:
    wait = steps[place]
    awaited: list[tuple[int, str]] = []
    is_told, is_one_sequence = True, True
    for counter, value in waits_of(texts[wait["row"]], family):
        listed = flying.get(counter, [])
        if at_most[counter] <= value:
            continue
        sequences = [_sequence(texts[steps[p]["row"]], family) for p in listed]
        taken = []
        for p, sequence in zip(listed, sequences, strict=True):
            alike = [q for q, other in zip(listed, sequences, strict=True) if other == sequence] if sequence else [p]
            if len(alike) - alike.index(p) > value:
                taken.append(p)
        if len(taken) < at_most[counter] - value:
            is_told = False
            for p in listed:
                if p not in taken:
                    found.perhaps[wait["row"], steps[p]["row"], counter] += 1
        is_one_sequence &= not taken or (None not in sequences and len(set(sequences)) == 1)
        at_most[counter] = value
        awaited += [(p, counter) for p in taken]
        for other, places in flying.items():  # complete for one counter is complete for all
            flying[other] = [p for p in places if p not in taken]
            at_most[other] = min(at_most[other], len(flying[other]))
    held = wait["duration_cycles"] > free_cycles
    tells = (
        held and is_told and len({counter for _, counter in awaited}) == 1 and (is_one_sequence or len(awaited) == 1)
    )
    for p, counter in awaited:
        producer = steps[p]
        key = wait["row"], producer["row"], counter
        is_last = tells and p == awaited[-1][0]
        issued = producer["time_cycles"] + producer["stall_cycles"]
        end = wait["time_cycles"] + (wait["duration_cycles"] if held else 0)
        found.certain[key] += 1
        found.last[key] += is_last
        found.samples[producer["row"], end - issued, is_last] += 1
