"""Fonts of the machine for characters that ours lack: names in Chinese, for instance; where none has them, escapes."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.model.report import DataTable
from wavewright.writers.pdf.font_files import DOTS, MONO, SANS, FontFile, lacking

if TYPE_CHECKING:
    from collections.abc import Iterator

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
