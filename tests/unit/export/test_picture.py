from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wavescope.errors import MissingToolError, UsageError
from wavescope.export import picture
from wavescope.export.picture import check_picture, write_picture

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


def test_without_fonts_png_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    resvg = pytest.importorskip("resvg_py")
    monkeypatch.setattr(
        picture, "_drawn", lambda svg: bytes(resvg.svg_to_bytes(svg_string=svg, skip_system_fonts=True))
    )
    with pytest.raises(MissingToolError, match="no fonts"):
        write_picture(SVG, tmp_path / "a.png")
