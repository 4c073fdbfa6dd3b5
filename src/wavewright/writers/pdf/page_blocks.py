"""Blocks of a report as the template of documents on paper wants them: plain values, texts that fit their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wavewright.base.shown import printable
from wavewright.model.blocks import Block, Code, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavewright.model.report import Section
from wavewright.writers.kit.full_names import full_names
from wavewright.writers.pdf.fonts import mono_width, sans_width
from wavewright.writers.pdf.page_tables import ACROSS, UPRIGHT, table_page
from wavewright.writers.pdf.page_text import Names, chunks, cut_to
from wavewright.writers.svg.markup import FONT, escaped

_CODE_SIZE = 7.0  #: Points.
_TEXT_SIZES = (7.6, 6.4)  #: Of text whose spaces matter, at most and at least.
_CHART_SIZES = (7.6, 5.4)
_MAX_HEIGHT = 640.0  #: Points of a picture.
_MAX_HEIGHT_ACROSS = 440.0  #: Of one on a page across.
_WIDE, _FLAT = 1_050.0, 1.3  #: Units and shape from which on a picture needs a page across to be legible.
_POINTS_PER_UNIT = 0.8  #: Of a picture that is smaller than the page.
_DARK = re.compile(r"@media\s*\(prefers-color-scheme:\s*dark\)\s*\{(?:[^{}]*\{[^{}]*\})*\s*\}")
_HIDDEN = re.compile(r"<(title|desc)>.*?</\1>", re.DOTALL)
_CAPTION_START = 24  #: Characters: a picture whose text has this start of the caption needs no caption.
_SIZE = re.compile(r'<svg[^>]*?\bwidth="([\d.]+)"[^>]*?\bheight="([\d.]+)"', re.DOTALL)


def page_blocks(section: Section, names: Names, pictures: list[bytes]) -> Iterator[dict[str, Any]]:
    """The blocks of a section, whose `kind` tells template.typ how to draw them; pictures are added to `pictures`."""
    cut_names = full_names(section)
    has_picture = any(isinstance(block, Picture) for block in section.blocks)
    for block in section.blocks:
        if not (isinstance(block, Preformatted) and block.is_chart and has_picture):
            yield _block(block, cut_names, names, pictures)


def _block(block: Block, cut_names: Mapping[str, str], names: Names, pictures: list[bytes]) -> dict[str, Any]:
    match block:
        case Sentence(text, style):
            return {"kind": "sentence", "text": names.prose(text), "style": style}
        case Labelled():
            return {"kind": "labelled", **_labelled(block, names)}
        case Finding():
            return {
                "kind": "finding", "number": block.number, "verdict": names.prose(block.verdict),
                "gain": names.prose(block.gain), "handle": printable(block.handle),
                "paragraphs": [_labelled(part, names) for part in block.paragraphs],
            }  # fmt: skip
        case Table():
            return table_page(block, cut_names, names)
        case Code():
            return _code(block, names)
        case Preformatted(text, is_chart):
            return preformatted(text, is_chart=is_chart)
        case Picture():
            return _picture(block, names, pictures)


def _labelled(part: Labelled, names: Names) -> dict[str, Any]:
    label = printable(part.label)
    return {
        "label": label if sans_width(label) <= 9 else f"{cut_to(label, 8, sans_width)}…",
        "text": names.prose(part.text),
    }


def _code(code: Code, names: Names) -> dict[str, Any]:
    """Lines with a heat from 0 to 1, which is their share in that of the costliest line here."""
    hottest = max((line.share or 0.0 for line in code.lines), default=0.0)
    places = [line.handle or ("" if line.number is None else str(line.number)) for line in code.lines]
    place_letters = min(max(map(len, places), default=0), 12)
    cost_width = max((sans_width(line.cost) for line in code.lines), default=0.0)
    room = UPRIGHT / _CODE_SIZE - mono_width("0" * place_letters) - cost_width - 5
    lines, cut_count = [], 0
    for line, place in zip(code.lines, places, strict=True):
        text = printable(line.text.rstrip().expandtabs(4))
        is_cut = mono_width(text) > room
        cut_count += is_cut
        lines.append(
            {
                "place": printable(place)[:place_letters], "cost": printable(line.cost),
                "text": f"{cut_to(text, room - 1, mono_width)}…" if is_cut else text,
                "heat": round((line.share or 0.0) / hottest, 3) if hottest else 0.0,
                "is_gap": line.number is None and not line.handle and not text,
            }
        )  # fmt: skip
    note = f"{cut_count:,} of {len(lines):,} lines are cut to the page." if cut_count else ""
    return {
        "kind": "code", "file": names.cut(printable(code.file), 60, mono_width), "lines": lines, "size": _CODE_SIZE,
        "place_width": round(_CODE_SIZE * mono_width("0" * place_letters) + 4, 2),
        "cost_width": round(_CODE_SIZE * cost_width + 4, 2), "note": note,
    }  # fmt: skip


def preformatted(text: str, *, is_chart: bool = False) -> dict[str, Any]:
    """Text whose spaces matter, as large as its longest line allows; longer lines go on in the next, those of charts
    are cut, and that is said.

    >>> preformatted("a  b")["lines"], preformatted("x" * 500, is_chart=True)["note"]
    (['a  b'], '1 of 1 lines is cut to the page.')
    """
    lines = [printable(line) for line in text.split("\n")]
    room = UPRIGHT - 17
    longest = max(map(mono_width, lines), default=0.0)
    most, least = _CHART_SIZES if is_chart else _TEXT_SIZES
    size = max(least, min(most, room / longest if longest else most))
    wide = [mono_width(line) * size > room + 0.1 for line in lines]
    shown: list[str] = []
    for line, is_wide in zip(lines, wide, strict=True):
        if is_wide and is_chart:
            shown.append(f"{cut_to(line, room / size - 1, mono_width)}…")
        elif is_wide:
            shown += chunks(line, int(room / size / mono_width("0" if line.isascii() else "核")))
        else:
            shown.append(line)
    verb = "is" if sum(wide) == 1 else "are"
    note = f"{sum(wide):,} of {len(lines):,} lines {verb} cut to the page." if is_chart and any(wide) else ""
    return {"kind": "preformatted", "lines": shown, "size": round(size - 0.005, 2), "note": note}


def _picture(picture: Picture, names: Names, pictures: list[bytes]) -> dict[str, Any]:
    """In light colours, in our font, at most as large as the page."""
    svg = _DARK.sub("", picture.svg).replace(FONT, "'DejaVu Sans'")
    pictures.append(svg.encode("utf-8", "replace"))
    sizes = _SIZE.search(svg)
    across, down = (float(sizes[1]), float(sizes[2])) if sizes else (UPRIGHT, UPRIGHT / 2)
    is_across = across > _WIDE and across > down * _FLAT
    page, tallest = (ACROSS, _MAX_HEIGHT_ACROSS) if is_across else (UPRIGHT, _MAX_HEIGHT)
    width = min(page, across * _POINTS_PER_UNIT, tallest * across / max(down, 1.0))
    alt = printable(picture.alt)
    has_caption = escaped(alt)[:_CAPTION_START] in _HIDDEN.sub("", svg)  # the picture has the sentence itself
    return {
        "kind": "picture", "file": f"picture{len(pictures)}.svg", "alt": alt[:500],
        "width": round(width, 2), "height": round(width * down / max(across, 1.0) + (0 if has_caption else 30), 2),
        "is_across": is_across, "caption": "" if has_caption else names.prose(alt),
    }  # fmt: skip
