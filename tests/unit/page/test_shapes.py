"""What the page is told about answers (`page_shapes.toml`) is what it gets: columns, and where values may be null."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from synth import Workload, write_rocpd_ranks
from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from tests.kit.small_traces import small_trace
from tools.page_shapes import SHAPES
from wavewright.model.document import Document, Library
from wavewright.model.schema import TableSpec
from wavewright.page.payloads import ask
from wavewright.page.protocol.payload import ARROW
from wavewright.page.questions import questions_about
from wavewright.readers.counters import open_counters
from wavewright.readers.opening import open as open_path

ROOT = Path(__file__).resolve().parents[3]
NOT_ASKED = {"derived", "counter_kernels", "run_overview", "summary"}
"""Tables inside of other answers: they are checked below, or made from declared tables without a change."""
ADDED_TO_EVERY_ROW = {
    "run_regions": {"node_count", "region_count", "thread_count", "unlinked_gpu_ns", "untimed_count"},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Two documents of each kind."""
    library = Library()
    places = ["a.hip:3", "a.hip:4", "a.hip:4", "a.hip:9", "a.hip:10"]
    texts = ["global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(0)", "s_barrier", "s_cbranch_scc1 -4", "s_endpgm"]
    for name, stall in (("trace", 200), ("slower trace", 320)):
        steps = [
            step
            for wave in range(4)
            for step in (
                (0, "VMEM", 0, 0, 4, wave),
                (1, "IMMED", 8, stall, stall + 4, wave),
                (2, "IMMED", stall + 20, 8 * wave, 8 * wave + 4, wave),
                (3, "JUMP", stall + 70, 0, 8, wave),
                (0, "VMEM", stall + 90, 0, 4, wave),
                (1, "IMMED", stall + 100, stall, stall + 4, wave),
                (4, "SALU", 2 * stall + 130, 0, 4, wave),
            )
        ]

        library.add(name, name, lambda steps=steps: small_trace(texts, steps, places=places))
    for name, slow in (("run", ()), ("slower run", (("flash", 1.3),))):
        folder = tmp_path_factory.mktemp("run")
        write_rocpd_ranks(folder, Workload(dispatches=400, ranks=2, nodes=2, slow=slow))
        library.add(name, str(folder), lambda folder=folder: open_path(folder))
    for name, slower in (("counters", 1.0), ("slower counters", 1.5)):
        folder = tmp_path_factory.mktemp("counters")
        work = (KernelWork("gemm", 4, duration_ns=round(90_000 * slower), matrix=80), KernelWork("copy", 6))
        write_counters(folder, CounterCapture("gfx90a", work))
        library.add(name, str(folder), lambda folder=folder: open_counters(folder))
    return library


def _document(library: Library, question: str) -> Document:
    kind = next(kind for kind in ("trace", "run", "counters") if question in questions_about(kind))
    return next(document for document in reversed(library.documents) if document.kind == kind)


def _given(library: Library, document: Document, question: str) -> dict[str, str]:
    """Parameters that the question needs: another document of the kind, or the first kernel."""
    other = next(line.number for line in library.documents if line.kind == document.kind and line is not document)
    if question in ("compare", "compare_units"):
        return {"other": str(other)}
    if question.endswith("_compare"):
        return {"base": str(other)}
    if question == "run_kernel":
        name = msgspec.json.decode(ask(document, "run_kernels", {}).content)["kernels"]["rows"][0]["name"]
        return {"name": name}
    if question == "run_sandwich":
        row = msgspec.json.decode(ask(document, "run_functions", {}).content)["functions"]["rows"][0]
        return {"name": row["name"], "domain": row["domain"]}
    if question in ("area", "run_area"):
        return {"start": "0", "stop": "1000000000"}
    if question == "edit":
        return {"edit": "move 0 down 1"}
    if question == "run_what_if":
        return {"change": "launch-gaps"}
    if question == "lane_service":
        rows = msgspec.json.decode(ask(document, "lanes", {}).content)["rows"]["rows"]
        return {"row": str(rows[0]["row"])}
    return {}


def _tables(question: str, content: Any) -> Iterator[tuple[str, TableSpec, list[dict[str, Any]]]]:
    shape = SHAPES[question]
    for name, spec in shape.sent_tables.items():
        yield name, spec, content[name]["rows"]
    for name, kind in shape.fields.items():
        assert name in content, (question, name)
        if isinstance(kind, TableSpec):
            yield name, kind, content[name]


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("question", sorted(SHAPES.keys() - NOT_ASKED))
def test_answers_have_the_declared_columns(library: Library, question: str) -> None:
    document = _document(library, question)
    payload = ask(document, question, _given(library, document, question))
    if payload.media_type == ARROW:
        frame = pl.read_ipc_stream(io.BytesIO(payload.content))
        (spec,) = (table for table in SHAPES[question].sent_tables.values())
        tables = [(question, spec, frame.to_dicts())]
    else:
        content = msgspec.json.decode(payload.content)
        assert set(SHAPES[question].sent_fields) <= content.keys()
        tables = list(_tables(question, content))
    for name, spec, rows in tables:
        for row in rows:
            assert row.keys() - ADDED_TO_EVERY_ROW.get(question, set()) == set(spec.names), name
        optional = {column.name for column in spec.columns if column.is_optional}
        missing = {key for row in rows for key, value in row.items() if value is None}
        assert missing <= optional, f"{question}.{name}: declare with a question mark"


def test_kernels_of_a_capture_have_the_declared_columns(library: Library) -> None:
    facts = msgspec.json.decode(ask(_document(library, "counter_raw"), "overview", {}).content)
    assert [set(kernel) for kernel in facts["kernels"]] == [
        set(SHAPES["counter_kernels"].sent_tables["kernels"].names)
    ] * len(facts["kernels"])


def test_processes_and_gpus_of_a_run_have_the_declared_columns(library: Library) -> None:
    facts = msgspec.json.decode(ask(_document(library, "run_busy"), "overview", {}).content)
    for name, spec in SHAPES["run_overview"].sent_tables.items():
        assert facts[name]
        assert all(row.keys() == set(spec.names) for row in facts[name]), name


@pytest.mark.slow
def test_the_types_of_the_page_are_current() -> None:
    script = ROOT / "tools" / "make_page_types.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0
