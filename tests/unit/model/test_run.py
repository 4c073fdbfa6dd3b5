from __future__ import annotations

import polars as pl
import pytest

from wavewright.errors import UsageError
from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import NUMBERED, REFERENCES, RUN
from wavewright.model.schema import empty_frame


def source(path: str, *, agents: int, kernels: list[tuple[int, str]]) -> MemorySource:
    """One process whose kernels run on (agent, name)."""
    return MemorySource(
        path,
        "test",
        tables={
            "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [7]}),
            "agents": pl.DataFrame({"agent": range(agents), "process": [0] * agents}),
            "dispatches": pl.DataFrame(
                {
                    "process": [0] * len(kernels),
                    "agent": [agent for agent, _ in kernels],
                    "name": [name for _, name in kernels],
                }
            ),
        },
        extras={"ext_note": pl.DataFrame({"text": [path]})},
    )


@pytest.fixture
def run() -> Run:
    return Run([source("a", agents=3, kernels=[(2, "x")]), source("b", agents=1, kernels=[(0, "y"), (0, "x")])])


def test_numbers_of_rows_count_over_all_sources(run: Run) -> None:
    kernels = run.dispatches
    assert kernels["process"].to_list() == [0, 1, 1]
    assert kernels["agent"].to_list() == [2, 3, 3]
    assert kernels["name"].to_list() == ["x", "y", "x"]
    assert run.processes["source"].to_list() == [0, 1]
    assert run.agents["process"].to_list() == [0, 0, 0, 1]


def test_every_table_has_its_declared_columns_and_types(run: Run) -> None:
    for name, spec in RUN.items():
        assert run.table(name).schema == empty_frame(spec).schema, name


def test_columns_that_a_source_lacks_are_as_long_as_the_table(run: Run) -> None:
    assert run.read("dispatches", ["graph_exec"]).height == run.dispatches.height


def test_parts_are_what_workers_see(run: Run) -> None:
    assert [part.dispatches["agent"].to_list() for part in run.parts] == [[2], [0, 0]]
    assert Run(run.origins[:1]).parts[0].origins == run.origins[:1]


def test_a_table_that_was_kept_gives_the_same_pieces(run: Run) -> None:
    before = pl.concat(run.chunks("dispatches", ["agent", "name"]))
    assert run.table("dispatches").height == 3
    assert pl.concat(run.chunks("dispatches", ["agent", "name"])).equals(before)


def test_extra_tables_carry_their_source(run: Run) -> None:
    assert run.extra_names == ["ext_note"]
    assert run.table("ext_note").to_dict(as_series=False) == {"source": [0, 1], "text": ["a", "b"]}


def test_losses_of_all_sources_even_late_ones(run: Run) -> None:
    assert run.losses.height == 0
    run.origins[1].losses.append(Loss("duplicate_run", detail="it"))
    assert run.losses.select("source", "path", "kind").rows() == [(1, "b", "duplicate_run")]


def test_unknown_names(run: Run) -> None:
    with pytest.raises(AttributeError):
        _ = run.no_such_thing
    with pytest.raises(UsageError, match=r"no table 'kernelz'.*ext_note"):
        run.read("kernelz")
    with pytest.raises(UsageError, match="no column 'begin'"):
        run.read("dispatches", ["begin"])


def test_other_frames(run: Run) -> None:
    assert run.to_pandas()["dispatches"]["name"].tolist() == ["x", "y", "x"]
    assert run.to_arrow()["dispatches"].num_rows == 3
    assert run.to_polars()["dispatches"].height == 3


def test_every_reference_is_to_a_numbered_table() -> None:
    columns = {column for table in RUN.values() for column in table.names}
    assert set(REFERENCES) <= columns
    for table, key in NUMBERED.items():
        assert RUN[table].names[0] == key
