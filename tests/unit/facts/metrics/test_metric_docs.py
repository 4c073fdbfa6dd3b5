"""The pages of docs/reference/metrics say what the tables declare."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from wavewright.facts.metrics.catalog import catalog

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / "docs" / "reference" / "metrics"


def test_the_pages_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_metric_docs.py", "--check"], check=False)
    assert done.returncode == 0, "run tools/make_metric_docs.py"


def test_every_metric_has_a_section_and_every_link_a_target() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    sections = {(name, hit) for name, text in pages.items() for hit in re.findall(r'<a id="([^"]+)">', text)}
    assert len(sections) == len(catalog())
    for page, anchor in re.findall(r"\]\(([\w-]+\.md)#([^)]+)\)", pages["README.md"]):
        assert (page, anchor) in sections
    for page in re.findall(r"\]\(([\w-]+\.md)\)", pages["README.md"]):
        assert page in pages


def test_every_defect_is_explained_among_the_differences() -> None:
    page = (ROOT / "docs" / "explanation" / "differences.md").read_text(encoding="utf-8")
    found = {defect for entry in catalog() for defect in entry.defects}
    assert {"T2", "T3", "T6", "T7", "T8", "T9", "U1", "U2"} <= found
    for defect in found | {"U3"}:
        assert f"| {defect} |" in page
