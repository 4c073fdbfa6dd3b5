from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

from wavewright import _core
from wavewright.errors import UsageError
from wavewright.model.losses import CORE_LOSSES, LOSSES, Loss
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource

ROOT = Path(__file__).resolve().parents[3]


def test_the_documented_tables_are_the_declared_ones() -> None:
    script = ROOT / "tools" / "make_table_docs.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0


def test_columns_of_the_core_have_the_declared_types() -> None:
    program = _core.Program()
    program.link()
    tables = _core.tables(_core.decode([b""], program)[0])
    for name in ("instructions", "states"):
        assert pl.DataFrame(tables[name]).schema == empty_frame(THREAD_TRACE[name]).schema


def test_every_table_is_there_even_when_empty() -> None:
    trace = ThreadTrace({}, TraceSource(path="nothing"))
    for name, spec in THREAD_TRACE.items():
        assert getattr(trace, name).columns == [column.name for column in spec.columns]


def test_every_declared_result_and_table_is_used() -> None:
    package = ROOT / "src/wavewright"
    for file in (file for room in ("analysis", "page", "readers") for file in (package / room).rglob("tables.toml")):
        code = "".join(module.read_text() for module in file.parent.glob("*.py"))
        declared = tomllib.loads(file.read_text())
        lines = "".join(str(part) for part in declared.values())
        for name in declared.pop("shared", {}):
            assert f"@{name}\\n" in lines, f"{file}: {name}"
        for name in declared:
            uses = rf"class {name}\(\w+, package=__package__\)", rf'packaged_spec\(__package__, "{name}"\)'
            assert any(re.search(use, code) for use in uses), f"{file}: {name}"


def test_unknown_names() -> None:
    trace = ThreadTrace({}, TraceSource(path="nothing"))
    with pytest.raises(AttributeError):
        _ = trace.no_such_thing
    with pytest.raises(UsageError, match="no table 'wavez'"):
        trace.table("wavez")


def test_sql() -> None:
    states = pl.DataFrame({"wave": [0, 0], "state": [1, 2], "duration_cycles": [4, 8]})
    trace = ThreadTrace({"states": states}, TraceSource(path="nothing"))
    assert trace.sql("SELECT sum(duration_cycles) AS total FROM states")["total"].to_list() == [12]
    with pytest.raises(UsageError, match="cannot be run"):
        trace.sql("SELECT nonsense FROM states")


def test_every_core_loss_has_a_sentence() -> None:
    assert set(CORE_LOSSES.values()) <= set(LOSSES)
    for kind in LOSSES:
        loss = Loss(kind, 3, detail="x")
        assert loss.message
        assert loss.advice
