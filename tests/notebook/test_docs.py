"""The examples of the how-to run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-in-a-notebook.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:this output adds")
def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)  # noqa: S102 - our own page
    assert names["gaps"].gpus.height > 0
    assert names["view"].selected.is_empty()
    assert (tmp_path / "report.html").stat().st_size > 1_000
    assert names["report"].to_markdown().startswith("# ")
