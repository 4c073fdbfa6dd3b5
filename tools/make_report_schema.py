"""Write docs/reference/report.schema.json, the JSON Schema of reports, from the code. `--check` compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from wavewright.writers.json.json_schema import report_schema

FILE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "report.schema.json"


def schema_text() -> str:
    """The schema as text."""
    return json.dumps(report_schema(), indent=2) + "\n"


def main() -> int:
    """Write or check the file; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not FILE.is_file() or FILE.read_text() != schema_text())
    FILE.write_text(schema_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
