"""What is checked of every plot: a whole picture, labels that do not touch, something drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ET
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.model.document import Document
from wavewright.questions.catalog import PLOTS
from wavewright.writers.svg.plot_frame import width_of

if TYPE_CHECKING:
    from wavewright.model.blocks import Picture

SVG = "{http://www.w3.org/2000/svg}"
_OVERLAP = 1.0  #: Units that boxes may share: widths are estimates.


def document_at(path: Path) -> Document:
    """What is at a path, to be opened when a plot needs it."""
    from wavewright.model.trace import ThreadTrace
    from wavewright.readers.opening import open as open_path
    from wavewright.readers.trace.sources import add_sources_beside

    def opened() -> object:
        what = open_path(path)
        if isinstance(what, ThreadTrace):
            add_sources_beside(what, path)
        return what

    return Document(0, path.name, str(path), opened)  # type: ignore[arg-type]


def drawn(path: Path, kind: str, name: str, theme: str = "light", top: int | None = None) -> Picture:
    """The picture of a plot of a fresh document."""
    return PLOTS[kind][name].draw(document_at(path), theme, top)


def root_of(picture: Picture) -> ET.Element:
    """The picture as a tree."""
    return ET.fromstring(picture.svg)  # noqa: S314 - made here


def words_of(node: ET.Element) -> str:
    """What a label shows, without its hint."""
    return "".join([node.text or "", *(child.tail or "" for child in node)])


def labels(root: ET.Element) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Text and box of each label."""
    boxes = []
    for node in root.iter(f"{SVG}text"):
        text = words_of(node)
        size, x, y = (float(node.get(name, "0")) for name in ("font-size", "x", "y"))
        width = width_of(text, size)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[node.get("text-anchor", "start")]
        boxes.append((text, (left, y - 0.72 * size, left + width, y + 0.2 * size)))
    return boxes


def check(picture: Picture, *, is_framed: bool = True) -> ET.Element:
    """A whole picture with a title, its sentence, labels inside of it that do not touch, and something drawn."""
    root = root_of(picture)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    assert picture.alt.strip()
    assert not [node for node in root.iter() if node.tag.removeprefix(SVG) in ("script", "image", "foreignObject", "a")]
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on") or "href" in name]
    if is_framed:
        description = root.find(f"{SVG}desc")
        assert description is not None
        assert description.text == picture.alt
        width, height = float(root.get("width", "0")), float(root.get("height", "0"))
        _check_labels(labels(root), width, height)
    return root


def _check_labels(placed: list[tuple[str, tuple[float, float, float, float]]], width: float, height: float) -> None:
    assert len(placed) >= 4
    for text, (left, top, right, bottom) in placed:
        assert left >= 0, text
        assert top >= 0, text
        assert right <= width + _OVERLAP, text
        assert bottom <= height, text
    for at, (text, box) in enumerate(placed):
        for other, place in placed[at + 1 :]:
            across = min(box[2], place[2]) - max(box[0], place[0])
            down = min(box[3], place[3]) - max(box[1], place[1])
            assert across <= _OVERLAP or down <= _OVERLAP, (text, other)


def pixels(svg: str, width: int = 160) -> list[tuple[int, ...]]:
    """The pixels of a picture as resvg draws it."""
    import resvg_py

    data = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width))
    across, down = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    assert data[24:26] == b"\x08\x06", "8 bits of red, green, blue, alpha"
    packed, at = b"", 8
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    rows = zlib.decompress(packed)
    above = bytearray(4 * across)
    found: list[tuple[int, ...]] = []
    for number in range(down):
        start = number * (4 * across + 1)
        above = _unfiltered(rows[start], rows[start + 1 : start + 1 + 4 * across], above)
        found += [tuple(above[x : x + 4]) for x in range(0, 4 * across, 4)]
    return found


def _unfiltered(rule: int, row: bytes, above: bytearray) -> bytearray:
    """A row of a PNG after its filter (none, sub, up, average, Paeth) is taken away."""
    whole = bytearray(len(row))
    for at, value in enumerate(row):
        left, up, corner = (whole[at - 4] if at >= 4 else 0), above[at], (above[at - 4] if at >= 4 else 0)
        guess = left + up - corner
        nearest = min((left, up, corner), key=lambda each: abs(guess - each))
        added = (0, left, up, (left + up) // 2, nearest)[rule]
        whole[at] = (value + added) & 255
    return whole


def bars_by_row(root: ET.Element) -> dict[float, list[tuple[str, float, float]]]:
    """y of each row of bars -> (colour, left, width) of its parts, from left to right."""
    rows: dict[float, list[tuple[str, float, float]]] = {}
    for node in root.iter(f"{SVG}rect"):
        if node.get("height") == "18":
            colour = (node.get("class") or "").split()[0].removeprefix("p-")
            rows.setdefault(float(node.get("y", "0")), []).append(
                (colour, float(node.get("x", "0")), float(node.get("width", "0")))
            )
    for parts in rows.values():
        for (_, left, width), (_, following, _) in pairwise(parts):
            assert abs(left + width - following) < 0.2, "parts follow each other"
    return rows
