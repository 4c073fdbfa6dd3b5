"""Characters and their widths in TrueType and OpenType files (ISO 14496-22, whose table and field names stand here)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property

_WINDOWS_UNICODE = ((3, 1), (3, 10))  #: Platform and encoding of character tables.


class FontFile:
    """The tables of a font file about characters; of a collection, those of the font with this index."""

    def __init__(self, data: bytes, index: int = 0) -> None:
        start = 0
        if data[:4] == b"ttcf":  # a collection begins with the offsets of its fonts
            (start,) = struct.unpack_from(">I", data, 12 + 4 * index)
        (table_count,) = struct.unpack_from(">H", data, start + 4)
        records = struct.iter_unpack(">4sIII", data[start + 12 : start + 12 + 16 * table_count])
        self._data = data
        self._offsets = {tag: offset for tag, _checksum, offset, _length in records}

    @cached_property
    def glyphs(self) -> dict[int, int]:
        """Character -> glyph."""
        glyphs: dict[int, int] = {}
        for subtable in self._character_tables():
            (form,) = struct.unpack_from(">H", self._data, subtable)
            if form == 4:
                glyphs.update(self._format_4(subtable))
            elif form == 12:
                glyphs.update(self._format_12(subtable))
        return {character: glyph for character, glyph in glyphs.items() if glyph}  # glyph 0 stands for missing ones

    def _character_tables(self) -> Iterator[int]:
        """Offsets of the Unicode subtables of `cmap`."""
        cmap = self._offsets[b"cmap"]
        (count,) = struct.unpack_from(">H", self._data, cmap + 2)
        for number in range(count):
            platform, encoding, offset = struct.unpack_from(">HHI", self._data, cmap + 4 + 8 * number)
            if platform == 0 or (platform, encoding) in _WINDOWS_UNICODE:
                yield cmap + offset

    def _format_4(self, subtable: int) -> Iterator[tuple[int, int]]:
        """Segments of characters up to 0xFFFF: glyph = character + idDelta, or looked up at idRangeOffset."""
        (array_bytes,) = struct.unpack_from(">H", self._data, subtable + 6)  # segCountX2

        def array(offset: int) -> tuple[int, ...]:
            return struct.unpack_from(f">{array_bytes // 2}H", self._data, subtable + offset)

        last_characters, first_characters = array(14), array(16 + array_bytes)
        deltas, range_offsets = array(16 + 2 * array_bytes), array(16 + 3 * array_bytes)
        segments = zip(first_characters, last_characters, deltas, range_offsets, strict=True)
        for number, (first, last, delta, range_offset) in enumerate(segments):
            for character in range(first, min(last, 0xFFFE) + 1):
                glyph = character
                if range_offset:  # counts from its own place in the file
                    own_place = subtable + 16 + 3 * array_bytes + 2 * number
                    (glyph,) = struct.unpack_from(">H", self._data, own_place + range_offset + 2 * (character - first))
                    if not glyph:
                        continue
                yield character, (glyph + delta) & 0xFFFF

    def _format_12(self, subtable: int) -> Iterator[tuple[int, int]]:
        """Groups of characters whose glyphs follow one another."""
        (count,) = struct.unpack_from(">I", self._data, subtable + 12)
        for first, last, glyph in struct.iter_unpack(">III", self._data[subtable + 16 : subtable + 16 + 12 * count]):
            yield from zip(range(first, last + 1), range(glyph, glyph + last - first + 1), strict=True)

    @cached_property
    def widths(self) -> dict[str, float]:
        """Character -> how far it moves the pen (`advanceWidth`), in em; further glyphs are as wide as the last."""
        (units_per_em,) = struct.unpack_from(">H", self._data, self._offsets[b"head"] + 18)
        (metric_count,) = struct.unpack_from(">H", self._data, self._offsets[b"hhea"] + 34)
        advances = struct.unpack_from(">" + "Hh" * metric_count, self._data, self._offsets[b"hmtx"])[::2]
        return {chr(code): advances[min(glyph, metric_count - 1)] / units_per_em for code, glyph in self.glyphs.items()}
