"""The verb report: every kind of input in every format, the same bytes twice, nothing half, nothing secret."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from synth.rocpd import write_rocpd_ranks
from synth.runs import Host, Launch, Program, Range, Rank, Synchronise, simulate, write_rocpd
from synth.workload import Workload
from tests.cli.in_process import Done, call
from tests.kit.hostile_documents import DAMAGED_RUNS, DAMAGED_TRACES, NASTY, damaged_run, damaged_trace
from tests.kit.made_decoded import NAME, decoded_files, write_files
from wavewright.export.report import WRITERS

#: Formats whose packages and modules are here.
ENDINGS = list(WRITERS)
KINDS = ("run", "trace", "counters", "comparison")
USER = "janedoe"


def program(host_ns: int = 700_000) -> Program:
    """Two ranks of six steps whose GPUs wait for the host."""
    steps = tuple(
        Range(f"step {number}", (*((Host(host_ns), Launch("gemm<float>", 400_000)) * 5), Synchronise()))
        for number in range(6)
    )
    return Program((Rank((steps,)), Rank((steps,))))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home") / USER / "runs-of-jane"
    write_rocpd(simulate(program()), folder)
    return folder


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faster")
    write_rocpd(simulate(program(100_000)), folder)
    return folder


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("trace") / NAME, decoded_files())


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counters")
    copy = KernelWork("void copy<float>(float*)", dispatch_count=6, l2_hit_rate=0.3)
    write_counters(folder, CounterCapture("gfx942", kernels=(copy, replace(copy, name="gemm", matrix=64))))
    return folder


@pytest.fixture(scope="module")
def inputs(run: Path, trace: Path, counters: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    other = write_files(tmp_path_factory.mktemp("other") / NAME, decoded_files())
    return {"run": [run], "trace": [trace], "counters": [counters], "comparison": [trace, other]}


def made(*arguments: object) -> Done:
    done = call("report", *arguments)
    assert done.status == 0, done.stderr
    return done


def report_of(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def names(report: dict[str, Any]) -> list[str]:
    return [section["name"] for section in report["sections"]]


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    ("kind", "purpose"),
    [
        *((kind, "brief") for kind in KINDS),
        *(pytest.param(kind, "full", marks=pytest.mark.slow) for kind in KINDS),
    ],
)
def test_every_kind_in_every_format_is_the_same_twice(
    kind: str, purpose: str, inputs: dict[str, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        outputs = [f"report{ending}" for ending in ENDINGS]
        made(*inputs[kind], "--for", purpose, *(word for output in outputs for word in ("-o", output)))
        contents.append([Path(output).read_bytes() for output in outputs])
    for ending, first, second in zip(ENDINGS, *contents, strict=True):
        assert len(first) > 500, ending
        assert first == second, ending
    report = report_of(tmp_path / "0" / "report.json")
    assert report["kind"] == kind
    assert names(report)[0] == "glance"
    assert (names(report)[-1] == "definitions") == (purpose == "full")


def test_of_a_run_imports_no_numpy(run: Path, tmp_path: Path) -> None:
    """Its import takes a sixth of a second; a mean of the queue depth is not worth that."""
    code = "import sys; from wavewright.cli import _group; _group(sys.argv[1:], standalone_mode=False)"
    words = ["report", str(run), "-o", str(tmp_path / "report.html")]
    check = f"{code}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check, *words], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_a_report_starts_with_the_headline_and_what_to_change(run: Path, tmp_path: Path) -> None:
    made(run, "-o", tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text()
    assert text.index("GPUs busy") < text.index("*status:* findings") < text.index("## Findings")
    assert "The host is slower than the GPU" in text
    assert text.index("## Findings") < text.index("## Time budget") < text.index("## Definitions")
    assert text.index("## Definitions") < text.index("## Provenance")


@pytest.mark.slow
def test_the_budget_adds_up(run: Path, tmp_path: Path) -> None:
    made(run, "-o", tmp_path / "a.json", "--section", "budget")
    (section,) = report_of(tmp_path / "a.json")["sections"]
    parts = next(table for table in section["data"] if table["name"] == "parts")
    share = [column["name"] for column in parts["columns"]].index("share")
    assert sum(row[share] for row in parts["rows"]) == pytest.approx(1.0)


@pytest.mark.slow
def test_sections_that_cannot_be_answered_say_why(run: Path, tmp_path: Path) -> None:
    done = made(run, "-o", tmp_path / "a.json", "--json")
    told = json.loads(done.stdout)
    assert told["skipped"]["memory"] == "no allocation was recorded"
    skipped = {each["name"]: each["skipped"] for each in report_of(tmp_path / "a.json")["sections"] if each["skipped"]}
    assert skipped == told["skipped"]
    assert [each["path"] for each in told["written"]] == [str(tmp_path / "a.json")]


@pytest.mark.slow
def test_provenance_has_the_hash_of_every_input(run: Path, tmp_path: Path) -> None:
    made(run, "-o", tmp_path / "a.json", "--top", "5")
    provenance = report_of(tmp_path / "a.json")["provenance"]
    hashes = {Path(each["path"]).name: each["sha256"] for each in provenance["inputs"]}
    assert hashes == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in run.iterdir()}
    assert provenance["command"] == f"wavewright report {run} -o {tmp_path / 'a.json'} --top 5"
    assert provenance["filters"] == {"for": "full", "top": "5"}


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("purpose", "most_bytes"),
    [("brief", 20_000), ("issue", 60_000), ("agent", 8_000), pytest.param("full", 1 << 30, marks=pytest.mark.slow)],
)
def test_purposes_bound_the_size(purpose: str, most_bytes: int, run: Path, tmp_path: Path) -> None:
    made(run, "-o", tmp_path / "a.md", "--for", purpose)
    text = (tmp_path / "a.md").read_text()
    assert len(text.encode()) <= most_bytes
    assert "The host is slower than the GPU" in text


@pytest.mark.slow
def test_sections_are_chosen_by_name(run: Path, tmp_path: Path) -> None:
    made(run, "-o", tmp_path / "a.json", "--section", "gaps", "--section", "diagnose")
    assert names(report_of(tmp_path / "a.json")) == ["diagnose", "gaps"]
    made(run, "-o", tmp_path / "b.json", "--no-section", "kernels", "--no-section", "definitions")
    assert {"kernels", "definitions"}.isdisjoint(names(report_of(tmp_path / "b.json")))
    done = call("report", run, "-o", tmp_path / "c.json", "--section", "gapz")
    assert done.status == 2
    assert "no section 'gapz'" in done.stderr
    assert not (tmp_path / "c.json").exists()


@pytest.mark.slow
def test_a_baseline_adds_what_changed(run: Path, faster: Path, tmp_path: Path) -> None:
    made(run, "--baseline", faster, "-o", tmp_path / "a.json")
    report = report_of(tmp_path / "a.json")
    assert report["kind"] == "run"
    assert "changes" in names(report)
    assert len(report["provenance"]["inputs"]) == 4
    made(faster, run, "--compare", "-o", tmp_path / "b.json")
    assert report_of(tmp_path / "b.json")["kind"] == "comparison"


@pytest.mark.slow
def test_several_files_of_runs_are_one_run(run: Path, tmp_path: Path) -> None:
    made(*sorted(run.iterdir()), "-o", tmp_path / "a.json")
    report = report_of(tmp_path / "a.json")
    assert report["kind"] == "run"
    assert "ranks" in names(report)


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        (["report.doc"], "no report format"),
        (["report.html", "report"], "no ending"),
        (["a.md", "a.md"], "given twice"),
    ],
)
def test_wrong_outputs_are_refused_before_anything_is_read(outputs: list[str], says: str, tmp_path: Path) -> None:
    places = [word for output in outputs for word in ("-o", tmp_path / output)]
    done = call("report", "/nowhere/at/all", *places)
    assert done.status == 2
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_outputs_do_not_replace_inputs_or_files(run: Path, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    assert "exists already" in call("report", run, "-o", tmp_path / "a.md").stderr
    assert (tmp_path / "a.md").read_text() == "mine"
    made(run, "-o", tmp_path / "a.md", "--force")
    database = next(run.iterdir())
    shutil.copy(database, tmp_path / "x.json")
    assert "is an input" in call("report", tmp_path / "x.json", "-o", tmp_path / "x.json", "--force").stderr
    assert "is an input" in call("report", trace, "-o", f"{trace.parent}/", "--force").stderr


def test_captures_of_different_kinds_are_refused(run: Path, trace: Path, tmp_path: Path) -> None:
    done = call("report", run, trace, "-o", tmp_path / "a.md")
    assert done.status == 2
    assert "a run and a thread trace" in done.stderr
    done = call("report", run, "--baseline", trace, "-o", tmp_path / "a.md")
    assert done.status == 2
    assert not (tmp_path / "a.md").exists()


def texts_of(path: Path) -> str:
    """Everything that is readable in an output."""
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return "\n".join(book.read(name).decode("utf-8", "replace") for name in book.namelist())
    if path.suffix == ".pdf":
        pypdf = pytest.importorskip("pypdf")
        return "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    return path.read_text()


@pytest.mark.slow
def test_anonymous_reports_name_no_host_user_folder_or_command(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [f"report{ending}" for ending in ENDINGS]
    made(run, "--anonymous", "--for", "issue", *(word for output in outputs for word in ("-o", output)))
    secret = [USER, "runs-of-jane", str(run), "node000", "train.py", *(file.name for file in run.iterdir())]
    for output in outputs:
        text = texts_of(Path(output))
        assert "gemm" in text or output.endswith(".ipynb"), output  # whose cells ask when they are run
        assert [word for word in secret if word in text] == [], output


def test_secrets_in_command_lines_are_masked(run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    for path in folder.glob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_process%'"
            (table,) = connection.execute(query).fetchone()
            command = "API_KEY=abc123 python x.py --token hunter2"
            connection.execute(f'UPDATE "{table}" SET command = ?', [command])  # noqa: S608 - a name of the schema
            connection.commit()
    outputs = [tmp_path / f"report{ending}" for ending in ENDINGS]
    made(folder, "--section", "about", *(word for output in outputs for word in ("-o", output)))
    for output in outputs:
        text = texts_of(output)
        assert "hunter2" not in text
        assert "abc123" not in text
    assert "API_KEY=***" in texts_of(tmp_path / "report.json")


OWN = """
[[section]]
title = "Longest kernels <b>"
sql = "SELECT name, SUM(duration) AS total FROM kernels GROUP BY name ORDER BY total DESC"

[[section]]
title = "Over time"
sql = "SELECT start, duration FROM kernels ORDER BY start LIMIT 50"

[[section]]
title = "Notes"
text = "Measured on *Monday* <script>alert(1)</script>"

[[section]]
title = "Wrong"
sql = "DROP TABLE kernels"
"""


def test_own_sections_are_queries_and_texts(run: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    outputs = ("-o", tmp_path / "a.json", "-o", tmp_path / "a.html")
    made(run, *outputs, "--for", "brief", "--sections", tmp_path / "own.toml")
    sections = {each["name"]: each for each in report_of(tmp_path / "a.json")["sections"]}
    assert [name for name in sections if name.startswith("own")] == ["own-1", "own-2", "own-3", "own-4"]
    assert sections["own-1"]["data"][0]["rows"][0][0] == "gemm<float>"
    assert sections["own-4"]["skipped"]
    page = (tmp_path / "a.html").read_text()
    assert "<script>alert" not in page
    assert "Longest kernels <b>" not in page


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("section = 3", "section: expected `array`, got `int`"),
        ("[[section]]\ntext = 'x'", "section[0]: has no `title`"),
        ("[[section]]\ntitle = 'x'", "either sql or text"),
        ("[[section]]\ntitle = 'x'\ntext = 'y'\nsql = 'z'", "either sql or text"),
        ("[[section]]\ntitle = 'x'\ntext = 'y'\ncode = 'z'", "unknown key `code`"),
        ("[[section]]\ntitle = 4\ntext = 'y'", "section[0].title: expected `str`"),
        ("[[section]", "is not TOML"),
        ("[other]\na = 1", "unknown key `other`"),
    ],
)
def test_wrong_sections_are_refused(content: str, says: str, run: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(content)
    done = call("report", run, "-o", tmp_path / "a.md", "--sections", tmp_path / "own.toml")
    assert done.status == 2
    assert says in done.stderr
    assert not (tmp_path / "a.md").exists()


@pytest.mark.slow
def test_source_texts_can_be_left_out(trace: Path, tmp_path: Path) -> None:
    made(trace, "-o", tmp_path / "with.json")
    made(trace, "-o", tmp_path / "without.json", "--no-source")
    assert "source" in names(report_of(tmp_path / "with.json"))
    assert "source" not in names(report_of(tmp_path / "without.json"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGED_TRACES))
def test_damaged_traces_give_reports(name: str, tmp_path: Path) -> None:
    hold(damaged_trace(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGED_RUNS))
def test_damaged_runs_give_reports(name: str, tmp_path: Path) -> None:
    hold(damaged_run(name), tmp_path)


@pytest.mark.slow
def test_nasty_names_stay_names(tmp_path: Path) -> None:
    hold(damaged_trace("nasty names"), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert NASTY not in page
    assert "<img src=x" not in page


def hold(path: Path, folder: Path) -> None:
    """A report in every format, or an error in words."""
    outputs = [word for ending in ENDINGS for word in ("-o", folder / f"report{ending}")]
    done = call("report", path, "--top", "5", *outputs)
    assert done.status in (0, 2, 3), done.stderr
    assert "Traceback" not in done.stderr
    if done.status == 0:
        assert report_of(folder / "report.json")["sections"][0]["name"] == "glance"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "headline"),
    [
        ("kineto-multirank-2of4", "2 GPUs busy 62.8 %"),
        ("uiout-mi350x-flydsl/softmax", "VMEM issue"),
        ("pmc-mi300x-bmm", "batched_matrix_multiplication"),
        ("pcsampling-rcv", "samples"),
    ],
)
def test_real_captures(place: str, headline: str, shared: Path, tmp_path: Path) -> None:
    outputs = [word for ending in ENDINGS for word in ("-o", tmp_path / f"report{ending}")]
    done = made(shared / "data" / place, *outputs)
    assert headline in done.stdout


@pytest.mark.slow
def test_a_report_costs_little_more_than_a_summary(tmp_path: Path) -> None:
    """Of 100,000 dispatches; in multiples of the summary, which does not depend on what else the machine does."""
    write_rocpd_ranks(tmp_path / "run", Workload(dispatches=100_000, ranks=1, seed=1))
    seconds = {}
    for verb, more in (("summary", ()), ("report", ("-o", str(tmp_path / "a.html")))):
        command = [sys.executable, "-m", "wavewright", verb, str(tmp_path / "run"), *more]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"POLARS_MAX_THREADS": "1"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds[verb] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # the summary takes 0.42 s on an idle machine (docs/explanation/speed.md): 2 s more are 5.8 times as much
    assert seconds["report"] <= 7 * seconds["summary"], seconds
