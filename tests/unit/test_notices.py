"""What the package contains of others is named, with a licence whose text is there and which the metadata declares."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NOTICES = (ROOT / "THIRD_PARTY_NOTICES.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in NOTICES.splitlines() if re.match(r"\| (?!work|-)", line)]
DECLARED = set(PROJECT["license"].split(" AND "))


def test_the_metadata_declare_the_licences_of_the_table_and_ours() -> None:
    of_others = {name for row in ROWS for name in row[2].split(", ")}
    assert len(ROWS) >= 5
    assert of_others | {"MIT"} == DECLARED


def test_every_text_is_there() -> None:
    texts = [name for row in ROWS for name in re.findall(r"`([\w./-]+\.txt)`", row[3])]
    assert len(texts) == len(ROWS)
    places = [ROOT / name if name.startswith("licenses/") else ROOT / "src" / name for name in texts]
    assert [place for place in places if "_web" not in place.parts and not place.is_file()] == []


def test_every_text_is_named() -> None:
    assert [file.name for file in (ROOT / "licenses").iterdir() if f"`licenses/{file.name}`" not in NOTICES] == []


def test_licences_of_the_page_are_declared() -> None:
    page = ROOT / "src" / "wavewright" / "_web" / "page.licences.txt"
    if not page.is_file():
        pytest.skip("the page is not built here")
    bundled = re.findall(r"^[@\w/.-]+ [\d.]+ \(([\w.-]+)\)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert bundled
    assert set(bundled) <= DECLARED


def test_pip_gets_all_of_them() -> None:
    patterns = PROJECT["license-files"]
    assert {"LICENSE", "THIRD_PARTY_NOTICES.md", "licenses/*.txt"} == set(patterns)
