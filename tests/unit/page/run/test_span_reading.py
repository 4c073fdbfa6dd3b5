"""Spans of a run through the page's own reading code, against what the definition says, from the spans themselves."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from synth import Workload, write_rpd
from tests.conftest import SHARED
from wavewright.model.document import Document
from wavewright.page.run.layers import layers_of_run, spans_of_run, timeline_of
from wavewright.readers.opening import open as open_path

WEB = Path(__file__).parents[4] / "web"
ROLLDOWN = WEB / "node_modules" / ".bin" / "rolldown"
READER = """
import { readFileSync } from "node:fs";
import { Tile } from "MODEL/tile";
import { LayerSet } from "MODEL/layers";
const { layer, tiles, points, ranges } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const types = { track: Uint32Array, begin: Float64Array, end: Float64Array, kind: Uint16Array, count: Uint32Array,
                item: Int32Array, depth: Uint8Array };
const typed = (columns) =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, type.from(columns[name])]));
const set = new LayerSet([layer], async ({ level, tile }) => Tile.of(typed(tiles[`${level}/${tile}`])));
for (const key of Object.keys(tiles)) {
  const [level, tile] = key.split("/").map(Number);
  await set.store.fetch({ layer: layer.name, level, tile });
}
const perPixel = (level) => (layer.cell * 2 ** level) / 1.499;
const read = points.map(([level, track, time]) => set.spanAt({ layer, track, time }, 0, perPixel(level)))
  .map((span) => span && [span.begin, span.end, span.kind, span.count, span.item]);
const counted = ranges.map(([level, track, begin, end]) =>
  set.countIn({ layer, tracks: [track], range: { begin, end } }, perPixel(level)));
console.log(JSON.stringify({ read, counted }));
"""
MOST_TILES = 8
"""Levels with at most so many tiles are read."""


@pytest.fixture(scope="module", params=["made", "real"])
def document(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Document:
    path = SHARED / "data" / "rpd" / "mytrace.rpd.gz"
    if request.param == "made":
        path = tmp_path_factory.mktemp("run") / "made.rpd"
        write_rpd(path, Workload(dispatches=1500, seed=5))
    elif not path.exists():
        pytest.skip("no mytrace.rpd in ../shared")
    run = open_path(path)
    return Document(0, "", "", lambda: run)


Span = tuple[int, int, int, int, int]
"""Begin, end, kind, count, item."""


def shown(spans: list[Span], cell: int) -> list[Span]:
    """What a level shows of a track whose spans do not overlap, from the definition, without tiles."""
    cells: defaultdict[int, list[Span]] = defaultdict(list)
    for span in spans:
        if span[1] - span[0] < cell:
            cells[span[0] // cell].append(span)
    groups: list[Span] = []
    for _, members in sorted(cells.items()):
        times: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
        for begin, end, kind, _, _ in members:
            times[kind][0] += end - begin
            times[kind][1] += 1
        strongest = max(times, key=lambda kind: (*times[kind], kind))
        begin, end = min(span[0] for span in members), max(span[1] for span in members)
        count, item = len(members), members[0][4] if len(members) == 1 else -1
        if groups and groups[-1][2] == strongest and begin - groups[-1][1] < cell:
            begin, count, item = groups[-1][0], groups.pop()[3] + count, -1
        groups.append((begin, end, strongest, count, item))
    return sorted([span for span in spans if span[1] - span[0] >= cell] + groups)


def tracks_apart(document: Document) -> dict[int, list[Span]]:
    """The tracks whose spans do not overlap."""
    tracks: defaultdict[int, list[Span]] = defaultdict(list)
    table = timeline_of(document).spans.sort("track", "start_ns", "end_ns")
    for track, begin, end, kind, item in table.select("track", "start_ns", "end_ns", "kind", "item").iter_rows():
        tracks[track].append((begin, end, kind, 1, item))
    return {track: spans for track, spans in tracks.items() if all(a[1] <= b[0] for a, b in itertools.pairwise(spans))}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reading code of the page, as a program that reads what is asked from a file."""
    if shutil.which("node") is None or not ROLLDOWN.exists():
        pytest.skip("Node.js and the modules of the page are not here")
    folder = tmp_path_factory.mktemp("reader")
    (folder / "read.ts").write_text(READER.replace("MODEL", str(WEB / "src" / "model")))
    bundle = [ROLLDOWN, folder / "read.ts", "--file", folder / "read.mjs", "--format", "esm", "--platform", "node"]
    subprocess.run(bundle, check=True, capture_output=True, cwd=WEB)
    return folder / "read.mjs"


def asked(reader: Path, file: Path, **given: Any) -> dict[str, list[Any]]:
    """What the page reads."""
    file.write_text(json.dumps(given))
    done = subprocess.run(["node", reader, file], check=True, capture_output=True, text=True)
    answer: dict[str, list[Any]] = json.loads(done.stdout)
    return answer


@pytest.mark.first_case
def test_what_is_read_is_what_is_there(document: Document, reader: Path, tmp_path: Path) -> None:
    layer = layers_of_run(document)["layers"][0]
    tracks = {track: spans for track, spans in tracks_apart(document).items() if len(spans) > 3}
    assert tracks
    chance = random.Random(1)
    tiles, points, ranges, expected, overlapping = {}, [], [], [], []
    for level in range(layer["level_count"]):
        cell = layer["cell"] << level
        count = int(layer["end"] - layer["begin"]) // (cell * layer["tile_cells"]) + 1
        if count > MOST_TILES:
            continue
        for tile in range(count):
            found = spans_of_run(document, layer="run", level=level, tile=tile)
            tiles[f"{level}/{tile}"] = found.to_dict(as_series=False)
        for track, spans in tracks.items():
            rows = shown(spans, cell)
            edges = [cell * layer["tile_cells"] * n for n in range(1, count)]
            for time in [chance.choice(rows)[0] for _ in range(20)] + [edge - 1 for edge in edges] + edges:
                points.append((level, track, time))
                there = [row for row in rows if row[0] <= time < row[1]]
                expected.append(list(max(there)) if there else None)
            for _ in range(10):
                begin, end = sorted(chance.sample(range(int(layer["end"])), 2))
                ranges.append((level, track, begin, end))
                overlapping.append(sum(a < end and (b > begin or a >= begin) for a, b, *_ in spans))
    layer |= {"tracks": [], "kinds": []}
    answer = asked(reader, tmp_path / "given.json", layer=layer, tiles=tiles, points=points, ranges=ranges)
    wrong = [row for row in zip(points, answer["read"], expected, strict=True) if row[1] != row[2]]
    assert not wrong, wrong[:5]
    assert any(row and row[3] > 1 for row in expected)
    for found, count in zip(answer["counted"], overlapping, strict=True):
        assert found["count"] == count if found["isExact"] else found["count"] >= count
    assert any(found["isExact"] for found in answer["counted"])
