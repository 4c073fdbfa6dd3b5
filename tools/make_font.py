"""Make the font that PNG pictures are drawn with: the part of DejaVu Sans that labels of pictures can need.

Needs fontTools and Debian's fonts-dejavu-core; writes src/wavewright/writers/svg/fonts/. The result is in git, so that
pictures look the same everywhere.
"""

from __future__ import annotations

from pathlib import Path

from fontTools import subset

ORIGIN = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
LICENCE = Path("/usr/share/doc/fonts-dejavu-core/copyright")
FOLDER = Path(__file__).resolve().parents[1] / "src" / "wavewright" / "writers" / "svg" / "fonts"
RANGES = (
    (0x20, 0x24F),  # Latin
    (0x370, 0x52F),  # Greek and Cyrillic
    (0x2010, 0x205E),  # dashes, quotes, dots
    (0x2070, 0x209C),  # small digits above and below the line
    (0x20A0, 0x20BF),  # currencies
    (0x2100, 0x214F),  # signs made of letters
    (0x2190, 0x22FF),  # arrows and mathematics
    (0x2500, 0x25FF),  # lines, blocks and shapes
)


def main() -> None:
    """Write the font and its licence."""
    FOLDER.mkdir(exist_ok=True)
    options = subset.Options(
        layout_features=["kern", "mark", "ccmp"], hinting=False, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13]
    )
    options.recalc_timestamp = False
    font = subset.load_font(str(ORIGIN), options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    chosen.subset(font)
    subset.save_font(font, str(FOLDER / "DejaVuSans.ttf"), options)
    of_font, _, _ = LICENCE.read_text(encoding="utf-8").partition("\nFiles: debian/*")
    (FOLDER / "DejaVuSans.LICENCE.txt").write_text(of_font, encoding="utf-8")


if __name__ == "__main__":
    main()
