"""convert, merge, split and window as from a shell: what they write, say and refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import CounterCapture, write_counters
from synth.rocpd import write_rocpd, write_rocpd_ranks
from synth.workload import Workload
from tests.cli.in_process import call
from tests.kit.run_equality import differences
from tests.kit.sampling import every_third
from wavewright.cli.kit.run_files import FORMATS
from wavewright.errors import MissingToolError
from wavewright.page.assets import page_folder
from wavewright.readers.run.inputs import open_run

NEEDS_PACKAGE = ("otf2",)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "results.db"
    write_rocpd(path, Workload(dispatches=300, ranks=2, counters=2))
    return path


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For pages, which hold an answer to every question."""
    path = tmp_path_factory.mktemp("small") / "results.db"
    write_rocpd(path, Workload(dispatches=20))
    return path


def has_page() -> bool:
    try:
        return page_folder().is_dir()
    except MissingToolError:
        return False


def left_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("name", sorted(set(FORMATS) - set(NEEDS_PACKAGE)))
def test_every_format_is_written(run: Path, small_run: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    if name == "html" and not has_page():
        pytest.skip("the viewer's page is not built here")
    run = small_run if name == "html" else run
    done = call("convert", run, "-f", name, "-o", out, "--json")
    assert done.status == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["outputs"][0]["path"] == str(out)
    assert said["outputs"][0]["bytes"] == sum(
        file.stat().st_size for file in (out.rglob("*") if out.is_dir() else [out]) if file.is_file()
    )
    assert sum(said["outputs"][0]["counts"].values()) > (0 if name == "html" else 300)
    assert left_in(tmp_path) == ["out"]
    again = call("convert", run, "-f", name, "-o", out)
    assert again.status == 2
    assert "--force" in again.stderr
    assert call("convert", run, "-f", name, "-o", out, "--force").status == 0


@pytest.mark.slow
def test_a_perfetto_trace_is_read_back(run: Path, tmp_path: Path) -> None:
    """It may be asked for by the name of its viewer, in a new folder."""
    out = tmp_path / "new" / "out.pftrace"
    assert call("convert", run, "-f", "perfetto", "-o", out).status == 0
    assert "Perfetto trace" in call("info", out).stdout
    answers = [json.loads(call("summary", each, "--json").stdout) for each in (run, out)]
    keys = ("gpu_ns", "wall_ns")
    assert [answers[0][key] for key in keys] == [answers[1][key] for key in keys]
    assert answers[0]["gpu_ns"] > 0


def test_a_window_holds_what_verbs_see_in_it(run: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.db"
    window = (
        "--time",
        "20%:50%",
        "--inside",
        "--rank",
        "1",
    )  # events that it cuts are whole in files, and cut in verbs
    done = call("window", run, *window, "-o", part)
    assert done.status == 0, done.stderr
    assert "dispatches" in done.stdout
    asked = call("top", run, *window, "--csv", "--top", "0")
    assert asked.stdout.count("\n") > 3
    assert call("top", part, "--csv", "--top", "0").stdout == asked.stdout
    assert open_run(part).processes["rank"].to_list() == [1]


@pytest.mark.slow
def test_merge_and_split(tmp_path: Path) -> None:
    write_rocpd_ranks(tmp_path / "ranks", Workload(dispatches=90, ranks=3))
    merged = tmp_path / "merged.db"
    assert call("merge", tmp_path / "ranks", "-o", merged).status == 0
    done = call("split", merged, "--by", "rank", "-o", tmp_path / "parts", "--json")
    assert [Path(each["path"]).name for each in json.loads(done.stdout)["outputs"]] == [
        "rank0_results.db",
        "rank1_results.db",
        "rank2_results.db",
    ]
    assert differences(open_run(tmp_path / "ranks"), open_run(tmp_path / "parts")) == []
    table = call("split", merged, "--by", "rank", "-o", tmp_path / "parts", "--force").stdout
    assert "3 outputs" in table


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["window", "RUN", "-o", "OUT"], "which part"),
        (["window", "RUN", "-o", "OUT", "--time", "half:"], "is not a time"),
        (["window", "RUN", "-o", "OUT", "--time", "60%:30%"], "ends before"),
        (["window", "RUN", "-o", "OUT", "--between", "nowhere", "nothing"], "markers: "),
        (["window", "RUN", "-o", "OUT", "--kernel", "nowhere"], "wavewright top"),
        (["window", "RUN", "-o", "OUT", "--rank", "77"], "nothing of the run"),
        (["convert", "RUN", "-f", "rocpd", "-o", "RUN", "--force"], "the output is an input"),
        (["merge", "RUN", "-o", "RUN", "--force"], "the output is an input"),
        (["split", "RUN", "-o", "PARENT", "--by", "marker"], "belong together"),
        (["merge", "/nowhere", "-o", "OUT"], "no such file"),
        (["convert", "RUN", "-f", "nothing", "-o", "OUT"], "is not one of"),
        (["convert", "RUN", "-o", "OUT"], "Missing option '-f'"),
        (["convert", "RUN", "-f", "chrome", "-o", "DEEP"], "there is no folder"),
        (["split", "RUN", "-o", "DEEP"], "there is no folder"),
    ],
)
def test_what_is_refused_leaves_nothing(run: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    places = {"RUN": str(run), "OUT": str(tmp_path / "out.db"), "PARENT": str(run.parent)}
    places["DEEP"] = str(tmp_path / "no" / "such" / "folder" / "out")
    before = run.read_bytes()
    done = call(*(places.get(argument, argument) for argument in arguments))
    assert (done.status, done.stdout) == (2, "")
    assert words in done.stderr
    assert left_in(tmp_path) == []
    assert (run.read_bytes(), left_in(run.parent)) == (before, [run.name])


def test_parts_beside_their_origin(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "rank0_results.db", Workload(dispatches=60, ranks=2))
    done = call("split", tmp_path / "rank0_results.db", "--by", "rank", "-o", tmp_path, "--force")
    assert done.status == 2
    assert "is an input" in done.stderr
    (tmp_path / "rank0_results.db").rename(tmp_path / "all.db")
    assert call("split", tmp_path / "all.db", "--by", "rank", "-o", tmp_path).status == 0
    assert left_in(tmp_path) == ["all.db", "rank0_results.db", "rank1_results.db"]


@pytest.mark.slow
def test_a_run_twice_and_a_file_without_the_marker(run: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.db"
    twin.write_bytes(run.read_bytes())
    done = call("convert", run, twin, "-f", "parquet", "-o", tmp_path / "out", "--json")
    said = json.loads(done.stdout)
    assert said["outputs"][0]["counts"]["dispatches"] == open_run(run).dispatches.height
    assert [loss["kind"] for loss in said["losses"]] == ["duplicate_run"] * 2
    other = tmp_path / "other"
    assert call("window", run, "--domain", "HIP", "-f", "parquet", "-o", other).status == 0
    done = call("window", run, other, "--between", "forward", "optimizer", "-o", tmp_path / "part.db")
    assert done.status == 0, done.stderr
    assert "no marker" in done.stderr


@pytest.mark.parametrize("verb", ["convert", "merge", "split", "window"])
def test_thread_traces_are_for_decode(tmp_path: Path, verb: str) -> None:
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), tmp_path / "capture")
    more = ["-f", "rocpd"] if verb == "convert" else ["--rank", "0"] if verb == "window" else []
    done = call(verb, tmp_path / "capture", "-o", tmp_path / "out", *more)
    assert done.status == 2
    assert "wavewright decode" in done.stderr


@pytest.mark.parametrize("name", every_third(["arrow", "parquet", "rocpd"]))
def test_stopped_in_the_middle_leaves_nothing(run: Path, tmp_path: Path, name: str) -> None:
    program = (
        "import os, signal, sys\n"
        "import wavewright.cli\n"
        "from wavewright.model.run import Run\n"
        "chunks = Run.chunks\n"
        "def stopped(self, table, columns=None):\n"
        "    for piece in chunks(self, table, columns):\n"
        "        yield piece\n"
        "        if table == 'dispatches':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "Run.chunks = stopped\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "wavewright.cli.program()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "convert", str(run), "-f", name, "-o", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (130, "stopped")
    assert left_in(tmp_path) == []


@pytest.mark.slow
def test_a_counter_capture_becomes_a_page(tmp_path: Path) -> None:
    if not has_page():
        pytest.skip("the viewer's page is not built here")
    write_counters(tmp_path / "capture", CounterCapture("gfx90a"))
    page = tmp_path / "page.html"
    done = call("convert", tmp_path / "capture", "-f", "html", "-o", page)
    assert done.status == 0, done.stderr
    assert "1 document" in done.stdout
    for arguments, words in (
        (("--rank", 0, "-o", page), "a counter capture is written whole"),
        (("-o", tmp_path / "capture"), "the output is an input"),
    ):
        done = call("convert", tmp_path / "capture", *arguments, "-f", "html", "--force")
        assert done.status == 2
        assert words in done.stderr


@pytest.mark.slow
def test_a_thread_trace_and_a_run_become_one_page(small_run: Path, tmp_path: Path) -> None:
    if not has_page():
        pytest.skip("the viewer's page is not built here")
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), tmp_path / "capture")
    page = tmp_path / "page.html"
    run = small_run
    done = call("convert", tmp_path / "capture", run, "-f", "html", "-o", page)
    assert done.status == 0, done.stderr
    assert f"{page}: " in done.stdout.replace("\n", "")
    assert "2 documents" in done.stdout
    assert "kB" in done.stdout or "MB" in done.stdout
    cut = next((tmp_path / "capture").glob("*.att"))
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size * 3 // 5])
    told = json.loads(call("convert", tmp_path / "capture", "-f", "html", "-o", page, "--force", "--json").stdout)
    assert "wave_incomplete" in [loss["kind"] for loss in told["losses"]]
    assert {loss["path"] for loss in told["losses"]} == {str(tmp_path / "capture")}
    for arguments, words in (
        ((tmp_path / "capture", "--rank", 0, "-o", page), "about runs"),
        ((tmp_path / "capture", "-o", tmp_path / "capture"), "the output is an input"),
        ((tmp_path / "capture", "-o", tmp_path), "the output is an input"),
        ((run, "-o", run), "the output is an input"),
        (("/nowhere", "-o", page), "no such file"),
    ):
        done = call("convert", *arguments, "-f", "html", "--force")
        assert done.status == 2, arguments
        assert words in done.stderr
    assert "about html" in call("convert", run, "-f", "rocpd", "-o", tmp_path / "x.db", "--no-source").stderr
