"""The Python of the page about handing over to other packages runs as it stands."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/hand-over-to-pandas-and-hatchet.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Hatchet about pandas
        for package in ("pandas", "pyarrow", "hatchet"):
            pytest.importorskip(package, reason=f"{package} is not installed")
        monkeypatch.chdir(tmp_path)
        blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        exec("\n".join(blocks), {})  # noqa: S102 - our own page
    told = capsys.readouterr().out
    assert "└─" in told
    assert "KERNEL" in told
