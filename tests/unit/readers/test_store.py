"""Stores: what was added is read again, once; what a stranger put there is a loss."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from wavewright.analysis.common.store.trend import COLUMNS, of_quantity
from wavewright.cluster.dask import DaskExecutor
from wavewright.cluster.executor import Executor
from wavewright.cluster.processes import Processes
from wavewright.cluster.stores import spread_over
from wavewright.errors import NotATraceError, OutputError, UnsupportedError, UsageError
from wavewright.export.gate.store import add_captures, make_store, pack
from wavewright.model.baseline import STORE_MARK, STORE_ROWS, Baseline, CaptureLabels, MeasuredCapture, Quantity
from wavewright.model.report import InputFile
from wavewright.readers.store import Store, last_captures, open_store

WRITER = """
import sys
from tests.unit.readers.test_store import add, measured
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    add(sys.argv[1], measured(number))
    print(number, flush=True)
"""


def measured(number: int, damages: tuple[str, ...] = ()) -> Baseline:
    quantities = (
        Quantity("kernel", "attention", "ns", 100, 200_000.0 + number, error=5.0, degrees=99, total=2e7, lanes=65536.0),
        Quantity("gpu-time", "", "ns", 1, 1e9 + number, total=1e9 + number),
    )
    inputs = (InputFile("run.db", 10, f"{number:064x}"),)
    capture = MeasuredCapture(f"run{number}", quantities, inputs, "gfx942", "MI300X", {"ROCm": "7.0"}, damages=damages)
    return Baseline("run", (capture,))


def add(address: str | Path, baseline: Baseline, labels: CaptureLabels | None = None) -> list[bool]:
    number = int(baseline.captures[0].label.removeprefix("run"))
    labels = labels or CaptureLabels(taken_ns=number * 10**9)
    return [each.is_new for each in add_captures(str(address), baseline, labels, path="/run.db", newest_ns=5)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    make_store(str(tmp_path / "store"))
    return tmp_path / "store"


def opened(store: Path) -> tuple[Store, pl.DataFrame]:
    found = open_store(str(store))
    return found, found.read()


def test_what_was_added_is_read_in_the_order_of_time(store: Path) -> None:
    for number in (3, 1, 2):
        assert add(store, measured(number)) == [True]
    found, rows = opened(store)
    assert rows["label"].unique(maintain_order=True).to_list() == ["run1", "run2", "run3"]
    assert rows.height == 6
    assert not found.losses
    assert rows.schema == pl.Schema(STORE_ROWS.dtypes)
    last = last_captures(found, measured(9), series=None, count=2)
    assert [capture.label for capture in last.captures] == ["run2", "run3"]
    assert last.captures[1].quantities == measured(3).captures[0].quantities


def test_a_capture_is_there_once_whatever_it_is_called(store: Path) -> None:
    assert add(store, measured(1)) == [True]
    other = measured(1)
    renamed = Baseline("run", (MeasuredCapture("run7", other.captures[0].quantities, other.captures[0].inputs),))
    assert add(store, renamed) == [False]
    assert add(store, Baseline("run", other.captures, "step")) == [True], "another step is another measurement"


@pytest.mark.slow
def test_packs_change_nothing(store: Path) -> None:
    for number in range(300):
        add(store, measured(number))
    _, before = opened(store)
    assert pack(str(store), "run") == 300
    assert pack(str(store), "run") == 0
    add(store, measured(300))
    found, after = opened(store)
    assert after.filter(pl.col("label") != "run300").equals(before)
    assert after.height == before.height + 2
    assert found.read(pl.col("subject") == "gpu-time", columns=["mean"]).height == 301


def read_by(store: Path, executor: Executor) -> pl.DataFrame:
    found = open_store(str(store), spread_over(executor, str(store)))
    rows = found.read(of_quantity("attention"), columns=COLUMNS)
    assert [loss.kind for loss in found.losses] == ["store_file"], "losses come home, too"
    return rows


def test_processes_read_what_threads_read(store: Path) -> None:
    for number in range(5):
        add(store, measured(number))
    (store / "captures" / "kind=run" / f"{'0' * 32}.parquet").write_bytes(b"PAR1")
    assert read_by(store, Processes(2)).equals(opened(store)[0].read(of_quantity("attention"), columns=COLUMNS))


@pytest.mark.slow
def test_a_cluster_reads_what_threads_read(store: Path) -> None:
    for number in range(300):
        add(store, measured(number))
    pack(str(store), "run")
    add(store, measured(300))
    (store / "captures" / "kind=run" / f"{'0' * 32}.parquet").write_bytes(b"PAR1")
    here = opened(store)[0].read(of_quantity("attention"), columns=COLUMNS)
    assert here.height == 301
    assert read_by(store, DaskExecutor(None, workers=4)).equals(here)


def test_damaged_captures_and_other_gpus_are_no_baseline(store: Path) -> None:
    add(store, measured(1, damages=("rows lost",)))
    with pytest.raises(UsageError, match="can be compared"):
        last_captures(open_store(str(store)), measured(2), series=None, count=5)
    add(store, measured(2))
    with pytest.raises(UsageError):
        last_captures(open_store(str(store)), measured(3), series="another", count=5)


def a_table(**columns: object) -> bytes:
    content = io.BytesIO()
    row = {name: ([""] if dtype == pl.String else [0]) for name, dtype in STORE_ROWS.dtypes.items()} | columns
    pl.DataFrame(
        row, schema_overrides={name: STORE_ROWS.dtypes[name] for name in row if name not in columns}
    ).write_parquet(content)
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1",
        os.urandom(1000),
        b"PAR1" + os.urandom(500) + b"PAR1",
        a_table(mean=["x"]),
        a_table(mean=[[1.0]]),
        a_table()[:-20],
    ],
)
def test_files_of_strangers_are_losses(store: Path, content: bytes) -> None:
    add(store, measured(1))
    (store / "captures/kind=run" / f"{'ab' * 16}.parquet").write_bytes(content)
    (store / "packs/kind=run").mkdir(parents=True)
    (store / "packs/kind=run" / f"{'cd' * 16}.parquet").write_bytes(content)
    found, rows = opened(store)
    assert rows.height == 2
    assert {loss.kind for loss in found.losses} == {"store_file"}


def test_numbers_that_cannot_be_are_losses(store: Path) -> None:
    folder = store / "captures/kind=run"
    add(store, measured(1))
    table = a_table(mean=[float("nan")], capture=["ab" * 16], kind=["run"])
    (folder / f"{'ab' * 16}.parquet").write_bytes(table)
    found, rows = opened(store)
    assert (rows.height, [loss.kind for loss in found.losses]) == (2, ["store_rows"])


def test_links_are_not_followed(store: Path, tmp_path: Path) -> None:
    add(store, measured(1))
    secret = tmp_path / "secret.parquet"
    secret.write_bytes(a_table(capture=["ab" * 16], kind=["run"], mean=[1.0]))
    (store / "captures/kind=run" / f"{'ab' * 16}.parquet").symlink_to(secret)
    found, rows = opened(store)
    assert (rows.height, [loss.kind for loss in found.losses]) == (2, ["store_file"])


def test_what_is_no_store_is_said(tmp_path: Path, store: Path) -> None:
    with pytest.raises(UsageError, match="no store"):
        open_store(str(tmp_path / "nothing"))
    with pytest.raises(OutputError, match="among other files"):
        make_store(str(tmp_path))
    (store / STORE_MARK).write_text('{"format": "wavewright store", "version": 99}')
    with pytest.raises(UnsupportedError, match="99"):
        open_store(str(store))
    (store / STORE_MARK).write_text("[")
    with pytest.raises(NotATraceError):
        open_store(str(store))


def test_an_address_of_fsspec(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    address = f"file://{tmp_path}/store"
    make_store(address)
    assert add(address, measured(1)) == [True]
    assert add(address, measured(1)) == [False]
    assert open_store(address).read().height == 2
    with pytest.raises(UsageError, match="fsspec"):
        open_store("nonsense://store")


@pytest.mark.parametrize("writers", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_writers_that_are_killed_lose_nothing(store: Path, writers: int) -> None:
    """Writers of overlapping captures; one is killed in between and started again."""
    each, overlap = 40, 10
    ends = [(number * each, number * each + each + overlap) for number in range(writers)]
    command = [sys.executable, "-c", WRITER, str(store)]
    root = Path(__file__).parents[3]
    victim, *others = (
        subprocess.Popen([*command, *map(str, end)], stdout=subprocess.PIPE, text=True, cwd=root) for end in ends
    )
    assert victim.stdout is not None
    done = [int(victim.stdout.readline()) for _ in range(5)]
    victim.send_signal(signal.SIGKILL)
    done += [int(line) for line in victim.communicate()[0].split()]
    assert victim.returncode == -signal.SIGKILL
    for process in others:
        process.communicate()
        assert process.returncode == 0
    _, rows = opened(store)
    assert set(map("run{}".format, done)) <= set(rows["label"])
    again = subprocess.run(
        [*command, *map(str, ends[0])], check=True, capture_output=True, cwd=Path(__file__).parents[3]
    )
    assert again.returncode == 0
    found, rows = opened(store)
    assert sorted(rows.filter(pl.col("subject") == "gpu-time")["label"]) == sorted(
        f"run{number}" for number in range(writers * each + overlap)
    )
    assert not found.losses
