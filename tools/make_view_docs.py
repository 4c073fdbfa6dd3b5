"""Write docs/reference/views.md, the views of `wavewright query`, from the code. `--check` compares."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.analysis.run.contents.views import VIEWS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "views.md"


def views_page() -> str:
    """Every view and column as Markdown."""
    lines = [
        "# Views of a run",
        "",
        "<!-- made by tools/make_view_docs.py from src/wavewright/analysis/run/contents/views -->",
        "",
        (
            "`wavewright query PATH... 'SELECT ...'` (in Python: `wavewright.analysis.run.query.query(run, sql)`)"
            " runs one SELECT over the views below. They have the names and columns of the views that ROCpd databases "
            "carry, and exist for every format that wavewright reads: values that a format does not record are null."
        ),
        (
            "The tables of the run itself are in the schema `run` (`SELECT ... FROM run.dispatches`); see "
            "[Tables of a run](run-tables.md). Tables of a single format are there under the names of the format "
            "(`run.ext_callstack`). `wavewright schema` prints all of this, `wavewright schema --view kernels` one "
            "view with its columns."
        ),
        (
            "Times are nanoseconds of the clock of the node. Where the views differ from AMD's, "
            "[Differences](../explanation/differences.md) explains it."
        ),
        "",
    ]
    for view in VIEWS.values():
        lines += [f"## {view.name}", "", f"One row is {view.row}.", ""]
        lines += ["| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {c.type} | {c.unit} | {c.meaning} |" for c in view.columns]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text() != views_page())
    PAGE.write_text(views_page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
