"""Characters of a font file and their widths: these decide where a line ends and which font is needed."""

from __future__ import annotations

import contextlib
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from wavewright.model.report import DataTable

MONO = "DejaVu Sans Mono"  #: Part of the package typst.
SANS = "DejaVu Sans"  #: Part of this package (`tools/make_font.py`).
DOTS = "New Computer Modern"  #: Part of the package typst: the font that has dots of plots made of characters.
_BRAILLE = range(0x2800, 0x2900)
_MONO_WIDTH = 0.6021  #: Of every character of the font, in its size.
_WIDE = 1.0  #: Of characters of other fonts, at most usually.


class FontFile:
    """The tables of a TrueType or OpenType file that tell about characters."""

    def __init__(self, data: bytes, index: int = 0) -> None:
        start = 0
        if data[:4] == b"ttcf":  # a collection
            (start,) = struct.unpack_from(">I", data, 12 + 4 * index)
        (count,) = struct.unpack_from(">H", data, start + 4)
        entries = struct.iter_unpack(">4sIII", data[start + 12 : start + 12 + 16 * count])
        self._data = data
        self._tables = {tag: (offset, length) for tag, _, offset, length in entries}

    @cached_property
    def glyphs(self) -> dict[int, int]:
        """Character -> glyph."""
        glyphs: dict[int, int] = {}
        for at in self._character_tables():
            (form,) = struct.unpack_from(">H", self._data, at)
            if form == 4:
                glyphs.update(self._segments(at))
            elif form == 12:
                glyphs.update(self._groups(at))
        return {character: glyph for character, glyph in glyphs.items() if glyph}

    def _character_tables(self) -> Iterator[int]:
        cmap, _ = self._tables[b"cmap"]
        (count,) = struct.unpack_from(">H", self._data, cmap + 2)
        for number in range(count):
            platform, encoding, offset = struct.unpack_from(">HHI", self._data, cmap + 4 + 8 * number)
            if platform == 0 or (platform, encoding) in ((3, 1), (3, 10)):  # Unicode
                yield cmap + offset

    def _segments(self, at: int) -> Iterator[tuple[int, int]]:
        (twice,) = struct.unpack_from(">H", self._data, at + 6)
        count = twice // 2
        ends = struct.unpack_from(f">{count}H", self._data, at + 14)
        starts = struct.unpack_from(f">{count}H", self._data, at + 16 + twice)
        deltas = struct.unpack_from(f">{count}H", self._data, at + 16 + 2 * twice)
        ranges_at = at + 16 + 3 * twice
        ranges = struct.unpack_from(f">{count}H", self._data, ranges_at)
        for number, (first, last, delta, offset) in enumerate(zip(starts, ends, deltas, ranges, strict=True)):
            for character in range(first, min(last, 0xFFFE) + 1):
                glyph = character
                if offset:
                    place = ranges_at + 2 * number + offset + 2 * (character - first)
                    (glyph,) = struct.unpack_from(">H", self._data, place)
                    if not glyph:
                        continue
                yield character, (glyph + delta) & 0xFFFF

    def _groups(self, at: int) -> Iterator[tuple[int, int]]:
        (count,) = struct.unpack_from(">I", self._data, at + 12)
        for first, last, glyph in struct.iter_unpack(">III", self._data[at + 16 : at + 16 + 12 * count]):
            yield from zip(range(first, last + 1), range(glyph, glyph + last - first + 1), strict=True)

    @cached_property
    def widths(self) -> dict[str, float]:
        """Character -> how far it moves the pen, in sizes of the font."""
        (units,) = struct.unpack_from(">H", self._data, self._tables[b"head"][0] + 18)
        (count,) = struct.unpack_from(">H", self._data, self._tables[b"hhea"][0] + 34)
        metrics, _ = self._tables[b"hmtx"]
        advances = struct.unpack_from(">" + "Hh" * count, self._data, metrics)[::2]
        return {chr(code): advances[min(glyph, count - 1)] / units for code, glyph in self.glyphs.items()}


@lru_cache(maxsize=1)
def sans() -> FontFile:
    """The font of this package."""
    return FontFile((files("wavewright.writers.svg") / "fonts" / "DejaVuSans.ttf").read_bytes())


def sans_width(text: str) -> float:
    """The width of a text in the font of this package, in sizes of the font.

    Examples
    --------
    >>> round(sans_width("0123"), 2), round(sans_width("iii"), 2)
    (2.54, 0.83)
    """
    widths = sans().widths
    return sum(widths.get(character, _WIDE) for character in text)


def mono_width(text: str) -> float:
    """The width of a text in the font for names and code, in sizes of the font.

    Examples
    --------
    >>> round(mono_width("v_add_f32"), 2)
    5.42
    """
    if text.isascii():
        return _MONO_WIDTH * len(text)
    widths = sans().widths
    return sum(_MONO_WIDTH if character in widths else _WIDE for character in text)


def lacking(text: str) -> set[str]:
    """The characters of a text that none of our fonts has.

    Examples
    --------
    >>> lacking("GPU busy ⣿ ≤ 核")
    {'核'}
    """
    if text.isascii():
        return set()
    widths = sans().widths
    return {letter for letter in set(text) if letter not in widths and ord(letter) not in _BRAILLE and letter != "\n"}


_REGULAR = 400


@dataclass(frozen=True)
class SpareFonts:
    """Fonts that are added to ours."""

    families: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()  #: Characters that no font has.

    @property
    def words(self) -> str:
        """Fonts of the machine that were used, and characters that no font has; empty = ours were enough."""
        parts = []
        if self.families:
            parts.append(f"for other characters, of the machine: {', '.join(self.families)}")
        if self.missing:
            parts.append(f"{len(self.missing):,} characters that no font here has are written as escapes")
        return "; ".join(parts)

    def escaped(self, value: Any) -> Any:
        """Plain values or parts of a report in which the characters that no font has are escapes."""
        if not self.missing:
            return value
        if isinstance(value, str):
            return value if self.missing.isdisjoint(value) else "".join(map(self._escape, value))
        if is_dataclass(value) and not isinstance(value, type | DataTable):
            return replace(value, **{part.name: self.escaped(getattr(value, part.name)) for part in fields(value)})
        if isinstance(value, Mapping):
            return {self.escaped(name): self.escaped(item) for name, item in value.items()}
        return type(value)(map(self.escaped, value)) if isinstance(value, list | tuple) else value

    def _escape(self, letter: str) -> str:
        return letter.encode("unicode_escape").decode("ascii") if letter in self.missing else letter


@contextlib.contextmanager
def spare_fonts(text: str) -> Iterator[SpareFonts]:
    """Fonts of the machine that have the characters of the text that ours lack, for as long as the block lasts."""
    needed = lacking(text)
    if not needed:
        yield SpareFonts()
        return
    import typst

    families: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wavewright-fonts-") as folder:
        fonts = typst.Fonts(include_system_fonts=True, include_embedded_fonts=False).fonts()
        usable = {
            (font.family, str(font.path), font.index)
            for font in fonts
            if font.weight == _REGULAR
            and font.style == "normal"
            and font.path
            and font.family not in (SANS, MONO, DOTS)
        }
        for number, (family, path, index) in enumerate(sorted(usable)):
            if not needed:
                break
            with contextlib.suppress(Exception):  # a damaged font of the machine is one that does not help
                has = needed & set(map(chr, FontFile(Path(path).read_bytes(), index).glyphs))
                if has:
                    shutil.copyfile(path, Path(folder) / f"{number}{Path(path).suffix}")
                    families.append(family)
                    needed -= has
        yield SpareFonts(tuple(families), (folder,) if families else (), frozenset(needed))
