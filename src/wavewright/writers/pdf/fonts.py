"""Fonts of a PDF: widths of texts, which decide where lines end; other fonts for characters that ours lack."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from wavewright.model.report import DataTable
from wavewright.writers.pdf.font_files import FontFile

MONO = "DejaVu Sans Mono"  #: Part of the package typst.
SANS = "DejaVu Sans"  #: Part of this package (`tools/make_font.py`).
DOTS = "New Computer Modern"  #: Part of the package typst: the font that has dots of plots made of characters.
_BRAILLE = range(0x2800, 0x2900)  # those dots
_MONO_EM = 0.6021  #: Width of every character of `MONO`.
_OTHER_EM = 1.0  #: Assumed of characters of other fonts: few are wider.
_REGULAR = (400, "normal")  #: Weight and style.


@cache
def _sans_widths() -> dict[str, float]:
    return FontFile((files("wavewright.writers.svg") / "fonts" / "DejaVuSans.ttf").read_bytes()).widths


def sans_width(text: str) -> float:
    """The width of a text in the font of this package, in em.

    >>> round(sans_width("0123"), 2), round(sans_width("iii"), 2)
    (2.54, 0.83)
    """
    widths = _sans_widths()
    return sum(widths.get(character, _OTHER_EM) for character in text)


def mono_width(text: str) -> float:
    """The width of a text in the font for names and code, in em.

    >>> round(mono_width("v_add_f32"), 2)
    5.42
    """
    if text.isascii():
        return _MONO_EM * len(text)
    widths = _sans_widths()
    return sum(_MONO_EM if character in widths else _OTHER_EM for character in text)


def missing_characters(text: str) -> set[str]:
    """The characters of a text that none of our fonts has.

    >>> missing_characters("GPU busy ⣿ ≤ 核")
    {'核'}
    """
    if text.isascii():
        return set()
    others = set(text) - _sans_widths().keys() - {"\n"}
    return {letter for letter in others if ord(letter) not in _BRAILLE}


@dataclass(frozen=True)
class FallbackFonts:
    """Fonts of the machine for characters that ours lack."""

    families: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()  #: Characters that no font has.

    @property
    def remark(self) -> str:
        """The fonts that were used, and how many characters no font has; empty = ours were enough."""
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
def fallback_fonts(text: str) -> Iterator[FallbackFonts]:
    """Copies of fonts of the machine, for the characters of a text that ours lack; they last as long as the block."""
    letters = missing_characters(text)
    if not letters:
        yield FallbackFonts()
        return
    import typst

    families: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wavewright-fonts-") as folder:
        fonts = typst.Fonts(include_system_fonts=True, include_embedded_fonts=False).fonts()
        usable = {
            (font.family, str(font.path), font.index)
            for font in fonts
            if font.path and (font.weight, font.style) == _REGULAR and font.family not in (SANS, MONO, DOTS)
        }
        for number, (family, path, index) in enumerate(sorted(usable)):
            if not letters:
                break
            with contextlib.suppress(Exception):  # a damaged font of the machine is one that does not help
                covered = letters & set(map(chr, FontFile(Path(path).read_bytes(), index).glyphs))
                if covered:
                    shutil.copyfile(path, Path(folder) / f"{number}{Path(path).suffix}")
                    families.append(family)
                    letters -= covered
        yield FallbackFonts(tuple(families), (folder,) if families else (), frozenset(letters))
