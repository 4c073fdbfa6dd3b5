from __future__ import annotations

from pathlib import Path

from tests.unit.docs.run_rules import rule_rows

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "run-diagnosis.md"


def test_the_page_has_the_rules_as_they_are() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert table == rule_rows()
