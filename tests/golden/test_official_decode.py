"""`wavewright decode` on raw MI300X captures against the directories that rocprofv3 wrote of them in 2025.

The decoder behind those was older (../shared/golden/README.md). Exactly these differences are allowed, and each is
checked for what it is:

* `s_endpgm` begins at its issue instead of at the first attempt, and ends with the old one or 4 cycles later;
* `s_barrier` is two records: the arrival (category MESSAGE, no stall), directly followed by the wait (all stall), which
  together cover the old one;
* a wave ends 4 cycles later;
* the timeline is EXEC where a wave arrived at a barrier, where it waited in `s_endpgm`, and behind that;
* totals of `s_barrier` and `s_endpgm` rows and the wave-state curves follow from these.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.conftest import SHARED
from tests.kit.sampling import every_third
from tests.kit.ui_directories import read_json
from wavewright.cli import _group

CAPTURES = sorted((SHARED / "data" / "att-mi300x-bmm").glob("c*"))
IMMED, MESSAGE = 9, 11
EXEC = 2
WAVE_END_SHIFT = 4
"""Cycles by which waves end later."""

pytestmark = pytest.mark.skipif(not CAPTURES, reason="../shared/data is not here")
Json = Any


@pytest.fixture(scope="module", params=every_third(CAPTURES), ids=lambda path: path.name)
def directories(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    capture: Path = request.param
    output = tmp_path_factory.mktemp(capture.name)
    result = CliRunner().invoke(_group, ["decode", str(capture / "raw"), "-o", str(output)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    official = sorted(capture.glob("ui_output_*"))
    assert sorted(path.name for path in output.glob("ui_output_*")) == [path.name for path in official]
    return [Pair(output / path.name, path) for path in official]


class Pair:
    """Our directory and the official one, file by file."""

    def __init__(self, ours: Path, official: Path) -> None:
        self.ours, self.official = ours, official
        self.texts: dict[int, str] = {row[2]: row[0] for row in self.read("code.json")[1]["code"] or []}

    def read(self, name: str) -> tuple[Json, Json]:
        return read_json(self.ours / name), read_json(self.official / name)

    def waves(self) -> list[tuple[Json, Json]]:
        return [self.read(path.name) for path in sorted(self.official.glob("se*.json"))]

    def mnemonic(self, line: int) -> str:
        return self.texts[line].split()[0]


@pytest.mark.some_cases(2)
def test_the_same_files(directories: list[Pair]) -> None:
    for pair in directories:
        assert {path.name for path in pair.ours.iterdir()} == {path.name for path in pair.official.iterdir()}


def test_occupancy_and_clocks_are_equal(directories: list[Pair]) -> None:
    for pair in directories:
        for name in ("occupancy.json", "realtime.json"):
            ours, official = pair.read(name)
            assert ours == official, name


def test_the_manifest_differs_only_in_wave_ends(directories: list[Pair]) -> None:
    for pair in directories:
        ours, official = pair.read("filenames.json")
        assert ours == {**official, "wave_filenames": with_later_ends(official["wave_filenames"])}


def with_later_ends(node: Json) -> Json:
    if isinstance(node, list):
        return [node[0], node[1], node[2] + WAVE_END_SHIFT]
    return node and {key: with_later_ends(child) for key, child in node.items()}


def test_waves_have_the_same_place_and_waits(directories: list[Pair]) -> None:
    for pair in directories:
        for ours, official in pair.waves():
            assert ours["name"] == official["name"]
            assert ours["duration"] == official["duration"] + WAVE_END_SHIFT
            assert ours["num_insts"] == ours["num_stitched"] == len(ours["wave"]["instructions"])
            for key in ("begin", "cu", "id", "simd", "slot", "waitcnt"):
                assert ours["wave"][key] == official["wave"][key], key
            assert ours["wave"]["end"] == official["wave"]["end"] + WAVE_END_SHIFT


def test_instructions_differ_only_in_barriers_and_the_end(directories: list[Pair]) -> None:
    for pair in directories:
        for ours, official in pair.waves():
            rest = iter(ours["wave"]["instructions"])
            for old in official["wave"]["instructions"]:
                new = next(rest)
                if pair.mnemonic(old[4]) == "s_barrier":
                    check_barrier(old, arrival=new, wait=next(rest))
                elif pair.mnemonic(old[4]) == "s_endpgm":
                    check_end(old, new)
                else:
                    assert new == old
            assert next(rest, None) is None


def check_barrier(old: Json, arrival: Json, wait: Json) -> None:
    time, _, stall, duration, line = old
    issue = arrival[3]
    assert stall == duration
    assert arrival == [time, MESSAGE, 0, issue, line]
    assert wait == [time + issue, IMMED, duration - issue, duration - issue, line]


def check_end(old: Json, new: Json) -> None:
    old_end, new_end = old[0] + old[3], new[0] + new[3]
    assert (new[1], new[4]) == (old[1], old[4])
    assert old[0] <= new[0]
    assert new_end - old_end in (0, 4)
    assert new[3] - new[2] in (4, 8)


def test_timelines_differ_only_where_those_do(directories: list[Pair]) -> None:
    for pair in directories:
        for ours, official in pair.waves():
            begin, end = ours["wave"]["begin"], ours["wave"]["end"]
            new, old = cycles(ours["wave"]["timeline"]), cycles(official["wave"]["timeline"])
            assert len(new) == end - begin
            changed = changed_cycles(pair, ours["wave"]["instructions"], official["wave"]["instructions"][-1])
            for start, stop in changed:
                for cycle in range(start - begin, min(stop, end) - begin):
                    assert new[cycle] == EXEC or new[cycle : cycle + 1] == old[cycle : cycle + 1]
            assert without(new, changed, begin) == without(old, changed, begin)


def cycles(timeline: Json) -> list[int]:
    return [state for state, duration in timeline for _ in range(duration)]


def changed_cycles(pair: Pair, instructions: Json, old_last: Json) -> list[tuple[int, int]]:
    """From arrival to wait of every barrier, and from the old begin of s_endpgm on."""
    spans = [
        (time, time + duration)
        for time, category, _, duration, line in instructions
        if pair.mnemonic(line) == "s_barrier" and category == MESSAGE
    ]
    assert pair.mnemonic(old_last[4]) == "s_endpgm"
    return [*spans, (old_last[0], 1 << 62)]


def without(states: list[int], spans: list[tuple[int, int]], begin: int) -> list[int]:
    kept = list(states)
    for start, stop in sorted(spans, reverse=True):
        del kept[start - begin : stop - begin]
    return kept


def test_code_is_equal_and_costs_differ_only_in_those_rows(directories: list[Pair]) -> None:
    for pair in directories:
        ours, official = pair.read("code.json")
        assert ours["header"] == official["header"]
        assert ours["version"] == official["version"]
        assert bool(ours["code"]) == bool(official["code"])
        recomputed = totals(pair)
        for new, old in zip(ours["code"] or [], official["code"] or [], strict=True):
            assert new[:6] == old[:6]
            assert new[6:] == recomputed.get(new[2], [0, 0, 0, 0])
            mnemonic = pair.mnemonic(new[2])
            if mnemonic == "s_barrier":
                assert (new[6], new[7], new[9]) == (old[6], old[7], old[9])
            elif mnemonic == "s_endpgm":
                assert new[6] == old[6]
            else:
                assert new[6:] == old[6:]


def totals(pair: Pair) -> dict[int, list[int]]:
    """The accumulation rule of docs/formats/ui_output.md over our own wave files; a release belongs to its arrival."""
    found: dict[int, list[int]] = {}
    for ours, _ in pair.waves():
        end = ours["wave"]["begin"]
        before: tuple[int, int] | None = None
        for time, category, stall, duration, line in ours["wave"]["instructions"]:
            is_release = before == (MESSAGE, line) and category != MESSAGE
            before = (category, line)
            added = (0 if is_release else 1, duration, stall, max(0, time - end))
            found[line] = [a + b for a, b in zip(found.get(line, [0, 0, 0, 0]), added, strict=True)]
            end = max(end, time + duration)
    return found


def test_statistics_say_what_code_says(directories: list[Pair]) -> None:
    for pair in directories:
        ours, official = (path.with_name(f"stats_{path.name}.csv") for path in (pair.ours, pair.official))
        assert ours.read_text().splitlines()[0] == official.read_text().splitlines()[0]
        with ours.open(newline="") as new, official.open(newline="") as old:
            for one, other in zip(csv.reader(new), csv.reader(old), strict=True):
                costs = slice(3, 7)
                assert one[:3] + one[7:] == other[:3] + other[7:]
                if not one[2].startswith(("s_barrier", "s_endpgm")):
                    assert one[costs] == other[costs]
        rows = sorted(read_json(pair.ours / "code.json")["code"] or [], key=lambda row: (row[4], row[5], row[2]))
        with ours.open(newline="") as stream:
            written = [[row["Hitcount"], row["Latency"], row["Stall"], row["Idle"]] for row in csv.DictReader(stream)]
        assert written == [[str(number) for number in row[6:]] for row in rows]


def test_state_curves_follow_from_the_timelines(directories: list[Pair]) -> None:
    for pair in directories:
        changes: dict[int, dict[int, int]] = {}
        for ours, _ in pair.waves():
            time = ours["wave"]["begin"]
            for state, duration in ours["wave"]["timeline"]:
                curve = changes.setdefault(state, {})
                curve[time] = curve.get(time, 0) + 1
                time += duration
                curve[time] = curve.get(time, 0) - 1
        for state, curve in changes.items():
            written = read_json(pair.ours / f"wstates{state}.json")
            counts, count = [], 0
            for time in sorted(curve):
                count += curve[time]
                counts.append(count)
            assert (written["time"], written["state"]) == (sorted(curve), counts)


@pytest.mark.parametrize(
    "capture", [path for path in CAPTURES if path.name in ("c10", "c11")], ids=lambda path: path.name
)
def test_a_dispatch_without_waves_says_so(capture: Path, tmp_path: Path) -> None:
    arguments = [str(capture / "raw"), "-o", str(tmp_path), "--dispatch", "3"]
    result = CliRunner().invoke(_group, ["decode", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    assert "0 waves" in result.output
    assert "no wave ran on the traced CU" in " ".join(result.output.split())
