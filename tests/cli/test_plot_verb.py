from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.cli.in_process import call
from tests.kit.made_decoded import write_decoded

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    write_rocpd_ranks(folder, Workload(dispatches=60, ranks=2, seed=4))
    return folder


@pytest.mark.slow
def test_a_plot_is_written_and_its_sentence_said(ranks: Path, tmp_path: Path) -> None:
    file = tmp_path / "budget.svg"
    done = call("plot", ranks, "budget", "-o", file)
    assert done.status == 0, done.stderr
    sentence, wrote = done.stdout.splitlines()
    assert sentence.startswith("2 GPUs: computation ")
    assert wrote == f"wrote {file}"
    root = ET.fromstring(file.read_text())  # noqa: S314 - our own file
    assert "".join(root.itertext()).count(sentence) == 2, "for those who see it, and for those who do not"
    again = call("plot", ranks, "budget", "-o", file)
    assert (again.status, "exists already" in again.stderr) == (2, True)
    assert call("plot", ranks, "budget", "-o", file, "--force", "--theme", "dark").status == 0
    assert "@media" not in file.read_text()


def test_png(ranks: Path, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    file = tmp_path / "gaps.png"
    assert call("plot", ranks, "gaps", "-o", file).status == 0
    assert file.read_bytes()[:8] == PNG_MAGIC
    twin = tmp_path / "twin.png"
    assert call("plot", ranks, "gaps", "-o", twin).status == 0
    assert twin.read_bytes() == file.read_bytes()


def test_json(ranks: Path, tmp_path: Path) -> None:
    file = tmp_path / "busy.svg"
    answer = json.loads(call("plot", ranks, "busy", "-o", file, "--json").stdout)
    assert (answer["name"], answer["kind"], answer["output"]) == ("busy", "run", str(file))
    assert answer["inputs"] == [str(ranks)]
    assert "busy" in answer["sentence"]
    assert answer["losses"] == []


def test_several_files_are_one_run(ranks: Path, tmp_path: Path) -> None:
    files = sorted(ranks.glob("*.db"))
    assert len(files) == 2
    one, both = (tmp_path / name for name in ("one.svg", "both.svg"))
    assert call("plot", files[0], "ranks", "-o", one).status == 2
    done = call("plot", *files, "ranks", "-o", both)
    assert done.status == 0, done.stderr
    assert "rank 1" in both.read_text()


def test_the_list(ranks: Path) -> None:
    done = call("plot", "--list")
    assert done.status == 0
    for name in ("budget", "heat", "memory-chart", "of a run", "of a thread trace", "of a counter capture"):
        assert name in done.stdout
    rows = json.loads(call("plot", "--list", "--json").stdout)["plots"]
    assert len(rows) == 12
    assert {row["kind"] for row in rows} == {"run", "trace", "counters"}


@pytest.mark.slow
def test_the_list_of_what_can_be_drawn(ranks: Path) -> None:
    done = call("plot", sorted(ranks.glob("*.db"))[0], "--list")
    assert "not here: the run has one process" in done.stdout
    assert "heat" not in done.stdout
    rows = json.loads(call("plot", ranks, "--list", "--json").stdout)["plots"]
    assert [row["is_possible"] for row in rows if row["name"] == "budget"] == [True]
    assert all(row["is_possible"] == (row["reason"] is None) for row in rows)


def test_traces_and_counters(tmp_path: Path) -> None:
    trace = write_decoded(tmp_path / "trace")
    assert call("plot", trace, "heat", "-o", tmp_path / "heat.svg").status == 0
    counters = tmp_path / "counters"
    counters.mkdir()
    write_counters(counters, CounterCapture("gfx942", with_channels=False))
    for name in ("roofline", "memory-chart"):
        assert call("plot", counters, name, "-o", tmp_path / f"{name}.svg").status == 0
    same = tmp_path / "verb.svg"
    assert call("memory-chart", counters, "-o", same).status == 0
    assert same.read_text() == (tmp_path / "memory-chart.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "a plot needs a PATH and a NAME"),
        (("RANKS",), "which plot of"),
        (("RANKS", "budget"), "where should the plot go?"),
        (("RANKS", "busget", "-o", "x.svg"), "did you mean budget or busy?"),
        (("RANKS", "heat", "-o", "x.svg"), "no plot 'heat' of a run"),
        (("RANKS", "budget", "-o", "x.jpg"), "no picture format '.jpg'"),
        (("RANKS", "budget", "--theme", "dark"), "none is written"),
        (("RANKS", "budget", "-o", "x.svg", "--top", "0"), "is not from 1 to 200"),
        (("/nowhere", "budget", "-o", "x.svg"), "no such file or folder"),
    ],
)
def test_mistakes(
    ranks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("plot", *(ranks if word == "RANKS" else word for word in arguments))
    assert done.status == 2
    assert problem in done.stderr
    assert not list(tmp_path.iterdir())
