"""Traces, runs and counter captures hand their tables over in the same way."""

from __future__ import annotations

import polars as pl
import pytest

from wavewright.model.counters import COUNTER_SET, CounterSet
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace, TraceSource


def test_every_document_has_its_declared_tables_under_their_names() -> None:
    documents = (ThreadTrace({}, TraceSource(path="x")), CounterSet({}), Run([]))
    for document, specs in zip(documents, (THREAD_TRACE, COUNTER_SET, RUN), strict=True):
        assert set(specs) <= set(dir(document))
        assert list(document.to_polars()) == list(specs)
        assert all(document.to_polars()[name].columns == spec.names for name, spec in specs.items())
        with pytest.raises(AttributeError):
            _ = document.no_such_table


def test_tables_that_only_a_format_has_come_last() -> None:
    run = Run([MemorySource("x", "RPD", extras={"ext_graph": pl.DataFrame({"id": [7]})})])
    assert list(run.to_polars())[len(RUN) :] == ["ext_graph"]


@pytest.mark.parametrize("name", ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"])
def test_integers_with_missing_values_stay_integers(name: str) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    ids = pl.DataFrame({"id": [7, None]}, schema={"id": getattr(pl, name)})
    run = Run([MemorySource("x", "RPD", extras={"ext_ids": ids})])
    assert str(run.to_pandas()["ext_ids"]["id"].dtype) == name


def test_large_numbers_beside_missing_ones_stay_as_they_are() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    waves = pl.DataFrame({"wave": [1, 2], "start_cycles": [(1 << 53) + 1, None]}, schema_overrides={"wave": pl.UInt32})
    trace = ThreadTrace({"waves": waves}, TraceSource(path="x"))
    assert trace.to_pandas()["waves"]["start_cycles"].tolist()[0] == (1 << 53) + 1
