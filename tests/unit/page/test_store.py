"""A store on the page: its quantities, the trend of each, and what its last change came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.unit.readers.test_store import add, measured
from wavewright.errors import UsageError
from wavewright.export.gate.store import add_captures, make_store
from wavewright.model.baseline import Baseline, CaptureLabels, MeasuredCapture, Quantity
from wavewright.model.document import Library
from wavewright.page.inputs import add_inputs
from wavewright.page.payloads import ask, held_by


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Twelve captures, of which the last six have a kernel that takes half as long again."""
    make_store(str(tmp_path / "nightly"))
    for number in range(12):
        attention = (300_000.0 if number >= 6 else 200_000.0) + number
        kernels = [("gemm", 100_000.0 + number % 3), ("attention", attention)]
        quantities = [Quantity("kernel", name, "ns", 9, mean, total=9 * mean) for name, mean in kernels]
        total = sum(each.total or 0 for each in quantities)
        quantities.append(Quantity("gpu-time", "", "ns", 1, total, total=total))
        baseline = Baseline("run", (MeasuredCapture(f"run{number}", tuple(quantities), target="gfx942"),))
        labels = CaptureLabels(commit=f"c{number}", taken_ns=number * 10**9)
        add_captures(str(tmp_path / "nightly"), baseline, labels, path="", newest_ns=0)
    library = Library()
    add_inputs(library, [tmp_path / "nightly"])
    return library


def answered(library: Library, name: str, **given: str) -> Any:
    return msgspec.json.decode(ask(library.document(0), name, given).content)


def test_the_gpu_time_comes_first_and_its_change_is_explained(library: Library) -> None:
    facts = answered(library, "overview")
    assert (facts["kind"], facts["capture_count"], facts["commit_count"]) == ("store", 12, 12)
    assert [each["title"].split(",")[0] for each in facts["series"]] == ["gpu-time", "kernel", "kernel"]
    answer = answered(library, "store_trend", series="0", theme="light")
    assert "at commit c6" in answer["headline"]
    assert answer["picture"].count("<circle") == 12
    words = " ".join(block["text"] for block in answer["blocks"])
    assert "kernel attention +50.0 %" in words
    steady = next(n for n, each in enumerate(facts["series"]) if "gemm" in each["title"])
    assert "no change" in answered(library, "store_trend", series=str(steady))["headline"]


def test_captures_are_listed_and_a_page_can_be_exported(library: Library) -> None:
    (_, *blocks) = answered(library, "store_captures")["blocks"]
    assert len(next(block for block in blocks if block["kind"] == "table")["rows"]) == 12
    assert {each.question for each in held_by(library.document(0))} >= {"overview", "store_trend", "store_captures"}


def test_what_is_no_table_of_the_store_is_a_loss(library: Library, tmp_path: Path) -> None:
    (tmp_path / "nightly" / "captures" / "kind=run" / f"{'0' * 32}.parquet").write_bytes(b"PAR1 nonsense PAR1")
    assert [loss["kind"] for loss in answered(library, "overview")["losses"]] == ["store_file"]
    with pytest.raises(UsageError, match="no series 99"):
        ask(library.document(0), "store_trend", {"series": "99"})
    with pytest.raises(UsageError, match="no question"):
        ask(library.document(0), "kernels", {})


def test_an_empty_store_has_nothing_to_follow(tmp_path: Path) -> None:
    make_store(str(tmp_path / "store"))
    library = Library()
    add_inputs(library, [tmp_path / "store"])
    assert answered(library, "overview")["series"] == []
    add(tmp_path / "store", measured(1, damages=("rows lost",)))
    library = Library()
    add_inputs(library, [tmp_path / "store"])
    assert answered(library, "overview")["damaged_count"] == 1
