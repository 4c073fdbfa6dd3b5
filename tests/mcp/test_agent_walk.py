"""A scripted agent starts from a path alone, follows only what answers offer, and reaches the line that matters.

Truth of the synthetic captures: the program that was planted. Truth of the real ones: the sums per instruction that
AMD's decoder wrote into `code.json`, added up here without our readers. Tokens are those of texts and fields together.
"""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from synth.planted import plant, write_decoded
from tests.kit.sampling import every_third_pair
from tests.mcp.planted_lines import PLANTED, planted_lines, with_lines
from tests.mcp.walking import MOST_CALLS, MOST_TOKENS, walked

TARGETS = ("gfx942", "gfx1201")
FLYDSL = "uiout-mi350x-flydsl"
BMM = [number for number in range(2, 14) if number != 5]
#: Of the trace's time: less than that says nothing about who is first.
NEAR = 0.9


@pytest.mark.first_case
@pytest.mark.parametrize(("cause", "target"), every_third_pair(PLANTED, TARGETS))
def test_the_first_place_is_the_planted_line(cause: str, target: str, tmp_path: Path) -> None:
    pair = plant(cause, target, "small")
    folder = write_decoded(pair.planted, tmp_path)
    lines = with_lines(pair.planted, folder)
    truth = planted_lines(cause, pair.planted, lines)
    assert 0 < len(truth) < len(set(lines.values())), "every line would be right"
    walk = walked(tmp_path, folder.name)
    file, line = walk.places[0]
    assert file.endswith("kernels/planted.hip")
    assert line in truth, (walk.places, truth, walk.calls)
    assert len(walk.calls) <= MOST_CALLS
    assert walk.tokens <= MOST_TOKENS


def test_there_are_twenty_synthetic_captures() -> None:
    assert len(PLANTED) * len(TARGETS) == 20


def decoded_by_amd(shared: Path, place: Path) -> list[list[Any]]:
    """The rows of code.json: text, -, -, source, code object, address, hits, latency, stall, idle."""
    if place.is_dir():
        content = (place / "code.json").read_bytes()
    else:
        with tarfile.open(place) as archive:
            member = next(name for name in archive.getnames() if name.endswith("code.json"))
            stream = archive.extractfile(member)
            assert stream is not None
            content = stream.read()
    rows: list[list[Any]] = json.loads(content)["code"] or []
    return rows


def real_traces() -> list[Any]:
    """Every decoded trace of FlyDSL's kernels, a third of them in `make test`; those in archives are large."""
    shared = Path(__file__).resolve().parents[3] / "shared" / "data" / FLYDSL
    places = sorted(shared.glob("*/*/ui_output_*"))
    return [
        pytest.param(str(place.relative_to(shared)), marks=pytest.mark.slow if place.is_file() or n % 3 else ())
        for n, place in enumerate(sorted(places, key=Path.is_file))
    ] or [pytest.param("", marks=pytest.mark.skip(reason="../shared is not here"))]


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("name", real_traces())
def test_real_traces_lead_to_the_hottest_line(shared: Path, name: str) -> None:
    root = shared / "data" / FLYDSL
    costs: Counter[str] = Counter()
    for row in decoded_by_amd(shared, root / name):
        if row[3]:
            costs[row[3].split(" -> ")[-1]] += row[7] + row[9]
    if not costs:
        pytest.skip("the trace has no source lines")
    most = costs.most_common(1)[0][1]
    hottest = {place for place, cost in costs.items() if cost >= NEAR * most}
    walk = walked(root, name)
    reached = {f"{file}:{line}" for file, line in walk.places}
    assert reached & hottest, (walk.calls, reached, costs.most_common(3))
    assert len(walk.calls) <= MOST_CALLS
    assert walk.tokens <= MOST_TOKENS, walk.calls


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["c01", "c05", *(pytest.param(f"c{number:02}", marks=pytest.mark.slow) for number in BMM)]
)
def test_real_traces_without_lines_lead_to_a_hot_instruction(shared: Path, name: str) -> None:
    """Captures of MI300X without debug lines: one of the five costliest instructions of the costliest dispatch."""
    root = shared / "data" / "att-mi300x-bmm"
    places = sorted((root / name).glob("ui_output_*"))
    if not places:
        pytest.skip("no decoded directory")
    sums = {place: decoded_by_amd(shared, place) for place in places}
    place = max(places, key=lambda each: sum(row[7] for row in sums[each]))
    costs = Counter({f"i0x{row[5]:x}": row[7] + row[9] for row in sums[place]})
    walk = walked(root, str(place.relative_to(root)))
    assert set(walk.instructions) & {handle for handle, _ in costs.most_common(5)}, (walk.instructions, walk.calls)
    assert len(walk.calls) <= MOST_CALLS
    assert walk.tokens <= MOST_TOKENS, walk.calls
