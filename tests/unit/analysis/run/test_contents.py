"""What `wavewright tables` and `wavewright schema` say a run holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth import Workload, write_rocpd
from tests.cli.in_process import call
from wavewright.analysis.run.contents.run_contents import contents
from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query.catalog import catalog
from wavewright.errors import UsageError
from wavewright.readers.run.inputs import open_run


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("contents") / "run.db"
    write_rocpd(path, Workload(dispatches=100, ranks=2), schema="3.0.3")
    return path


def test_rows_are_counted(database: Path) -> None:
    run = open_run(database)
    found = contents(run)
    rows = dict(found.tables_found.select("table", "row_count").iter_rows())
    assert rows["dispatches"] == 100
    assert all(rows[table] == run.table(table).height for table in ("regions", "agents", "arguments"))
    stored = {row["table"]: row for row in found.stored.to_dicts()}
    assert stored["rocpd_kernel_dispatch"]["row_count"] == 100  # of both runs
    assert "rocpd_string" in stored
    assert set(found.environment["value"]) == {"***"}


def test_values_of_the_environment_only_on_request(database: Path) -> None:
    masked = json.loads(call("tables", database, "--json").stdout)["environment"]["rows"]
    shown = json.loads(call("tables", database, "--show-secrets", "--json").stdout)["environment"]["rows"]
    assert {row["value"] for row in masked} == {"***"}
    assert [row["name"] for row in masked] == [row["name"] for row in shown]
    assert "***" not in {row["value"] for row in shown}
    assert "environment variables" in call("tables", database, "--show-secrets").stdout


def test_what_can_be_named(database: Path) -> None:
    whole = catalog(open_run(database))
    kinds = whole.relations.group_by("kind").len().sort("kind").rows()
    assert dict(kinds)["view"] == len(VIEWS)
    assert "run.rocpd_graph_launch" in whole.relations["name"].to_list()
    with pytest.raises(UsageError, match="no view or table 'kernelz'"):
        catalog(None, "kernelz")


def test_schema_verb(database: Path) -> None:
    assert f"{len(VIEWS)} in total" in call("schema").stdout
    assert "stored in these databases" in call("schema", database).stdout
    shown = call("schema", "--view", "kernels").stdout
    assert "39 columns" in shown
    assert len(call("schema", "--view", "kernels", "--csv").stdout.splitlines()) == 40
    assert json.loads(call("schema", "--json").stdout)["relations"]["row_count"] >= len(VIEWS)
    assert call("schema", "--view", "kernelz").status == 2
