"""Write docs/reference/quantities.md: quantities that several surfaces state. `--check` compares."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.facts.metrics.quantities import QUANTITIES
from wavewright.model.document import DOCUMENTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "quantities.md"


def quantities_page() -> str:
    """The page as Markdown."""
    lines = [
        "# Quantities",
        "",
        "<!-- made by tools/make_quantity_docs.py from src/wavewright/facts/metrics/quantities.toml -->",
        "",
        (
            "What more than one verb, view or report states has one definition, one unit and one whole here, and is "
            "the same number wherever it is stated. `tests/consistency` asks every question about every capture at "
            "hand, as verb and as view, and fails when one quantity has two values, a part exceeds its whole, classes "
            "of one whole add up to more than it, a window differs without a word, or a percentage names no whole."
        ),
    ]
    for kind, title in DOCUMENTS.items():
        lines += ["", f"## In {title}", "", "| quantity | definition | unit | part of |", "|---|---|---|---|"]
        for quantity in QUANTITIES.values():
            if quantity.of == kind:
                name, container = (each.replace("_", " ") for each in (quantity.key, quantity.part_of))
                lines.append(f"| {name} | {quantity.definition} | {quantity.unit} | {container} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != quantities_page())
    PAGE.write_text(quantities_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
