from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.together import together
from wavewright.errors import MissingToolError, UsageError
from wavewright.export.kit import picture
from wavewright.export.kit.picture import check_picture, write_picture
from wavewright.writers.svg import png

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><text x="2" y="20">Ag</text></svg>'
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


def test_svg_is_written_as_it_is(tmp_path: Path) -> None:
    write_picture(SVG, tmp_path / "a.SVG")
    assert (tmp_path / "a.SVG").read_text() == SVG


def test_png_has_text_and_twice_the_size(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    write_picture(SVG, tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    assert data[:8] == PNG_MAGIC
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (120, 60)
    write_picture(SVG.replace("Ag", ""), tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes() != data


def test_what_exists_stays_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_picture(SVG, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "mine"
    write_picture(SVG, tmp_path / "a.svg", force=True)
    assert (tmp_path / "a.svg").read_text() == SVG
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


@pytest.mark.parametrize("name", ["a.jpg", "a", ".svg"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no picture format"):
        check_picture(tmp_path / name)


def test_without_the_package_png_is_refused_kindly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingToolError, match="resvg-py"):
        write_picture(SVG, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_png_needs_no_font_of_the_system(tmp_path: Path) -> None:
    """In a program of its own, that looks for fonts in empty folders: glyphs are there, and the bytes are the same."""
    pytest.importorskip("resvg_py")
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "fonts.conf").write_text(f"<fontconfig><dir>{empty}</dir></fontconfig>")
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "FONTCONFIG_PATH"), str(empty))
    program = (
        "import sys; from wavewright.export.kit import picture; sys.stdout.buffer.write(picture.png_bytes(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, SVG],
        capture_output=True, check=True, timeout=120,
        env={**os.environ, **homes, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")},
    )  # fmt: skip
    assert done.stdout == picture.png_bytes(SVG)
    assert done.stdout != picture.png_bytes(SVG.replace("Ag", ""))


@pytest.mark.parametrize("family", ["sans-serif", "monospace", "Inter, 'Helvetica Neue', sans-serif"])
def test_every_family_is_drawn_with_the_font_of_the_package(family: str) -> None:
    pytest.importorskip("resvg_py")
    named = SVG.replace("<text", f'<text font-family="{family}"')
    assert picture.png_bytes(named) == picture.png_bytes(SVG)


@together("character", "Aé\u03b1\u0416\u2192\u00b7\u2026\u00d7\u2588")
def test_the_font_has_latin_greek_cyrillic_and_signs(character: str) -> None:
    pytest.importorskip("resvg_py")
    drawn, missing = (picture.png_bytes(SVG.replace("Ag", text)) for text in (character, "\U0010fffd"))
    assert drawn != missing


def test_the_font_comes_with_its_licence() -> None:
    folder = Path(png.__file__).parent / "fonts"
    assert "Bitstream" in (folder / "DejaVuSans.LICENCE.txt").read_text()
    assert (folder / "DejaVuSans.ttf").stat().st_size < 200_000
