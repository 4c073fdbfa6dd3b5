"""The installed package, as a user has it, and all of it: every file, module, verb, tool, writer, and the page.

`make test-wheel` runs a copy of this file outside the checkout, in an environment with the wheel that `pip install .`
builds, and `make try-wheel` in bare chroots. Beside it lies `tracked.txt`, the files of the package that git tracks.
What is to be there comes from outside: files from git, verbs from `--help`, tools from the server, formats from the
help. Questions are asked as they are declared: a new one is tried without being named here.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

import pytest

import wavewright
from wavewright.cli import main
from wavewright.questions.catalog import every_question

PACKAGE = Path(wavewright.__file__).parent
PROGRAM = Path(sys.executable).with_name("wavewright")
TRACKED = Path(__file__).with_name("tracked.txt")
PAGE = ("index.html", "page.css", "page.js", "page.licences.txt", "page.sources.txt")
BUG = "this is a bug"  # how the program and the server begin when they did not expect an exception
# The shell without windows of its own takes half the processor time of the whole Chromium.
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
PATIENCE_S = 900  # machines are slow under emulation

if not TRACKED.exists():
    pytest.skip("this is no installed wheel: make test-wheel", allow_module_level=True)

#: One call of each verb that answers no question; the folders are those of `captures`. What serves or has a test of its
#: own below is in SERVED.
CALLS = {
    "baseline": "{run} -o {out}/main.wwbase",
    "capture": "discover --dry-run --rocm-version 7.2 -- ./gemm",
    "compare": "{run} {after}",
    "convert": "{run} -f parquet -o {out}/tables",
    "decode": "{trace} -o {out}/decoded",
    "disassemble": "{code}",
    "doctor": "",
    "gate": "{run} --baseline {run}",
    "loop": "{run} {run}",
    "merge": "{run} -o {out}/merged.db",
    "metrics": "",
    "plot": "{counters} roofline -o {out}/roofline.png",
    "query": "{run} {sql}",
    "schema": "{run}",
    "split": "{run} -o {out}/parts --by rank",
    "store": "add {out}/store {run}",
    "tables": "{run}",
    "window": "{run} --rank 0 -o {out}/part.db",
}
for each in every_question():
    CALLS.setdefault(each.verb_name, each.command([f"{{{each.kind}}}"], {}, is_brief=False).split(maxsplit=2)[2])
SERVED = {"demo", "mcp", "open", "report"}
STATUSES = {"doctor": {0, 5}}  # 5: there is no GPU
SQL = "SELECT count(*) AS kernels FROM kernels"
#: One call of each tool of the server; paths are below the folder of `captures`.
TOOLS: dict[str, dict[str, str]] = {
    "open_capture": {"path": "trace"},
    "list_captures": {},
    "diagnose": {"capture": "trace"},
    "summary": {"capture": "runs/before"},
    "timeline": {"capture": "runs/before"},
    "hotspots": {"capture": "trace"},
    "explain_wait": {"capture": "trace"},
    "source": {"capture": "trace"},
    "counters": {"capture": "counters/before"},
    "compare": {"capture": "counters/before", "other": "counters/after"},
    "query": {"capture": "runs/before", "sql": SQL},
    "schema": {},
    "plan_capture": {"goal": "trace"},
}


def run(*arguments: str | Path) -> str:
    """What the program prints, in a process of its own."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Calls the program inside this process, without the start of another: gives its status and what it prints."""

    def calling(*arguments: str | Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["wavewright", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
            sys.exit(0)
        written = capsys.readouterr()
        return int(leaving.value.code or 0), written.out + written.err

    return calling


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the demo shows: a trace, runs and counters, each of the latter before and after a change."""
    folder = tmp_path_factory.mktemp("captures")
    assert "tiled_gemm" in run("demo", "--keep", folder / "trace")
    assert "dispatches" in run("demo", "--run", "--keep", folder / "runs")
    assert run("demo", "--counters", "--keep", folder / "counters")
    return folder


@pytest.fixture(scope="module")
def capture(captures: Path) -> Path:
    """The capture of the demo: 48 waves with 35,328 instructions (src/wavewright/cli/demo.py)."""
    return captures / "trace"


def absent(package: Path) -> list[str]:
    """What is to be in the package and is not there: tracked files, the core and the page."""
    tracked = [line.partition("/wavewright/")[2] for line in TRACKED.read_text().splitlines()]
    assert len(tracked) > 500
    wanted = [*tracked, "_core.abi3.so", *(f"_web/{name}" for name in PAGE)]
    return [name for name in wanted if not (package / name).is_file()]


def test_every_file_is_there() -> None:
    assert absent(PACKAGE) == []


@pytest.mark.parametrize("part", ["mcp/tools", "_web", "facts/metrics/cdna", "writers/pdf/template.typ"])
def test_a_part_that_is_missing_is_noticed(part: str, tmp_path: Path) -> None:
    """The first two were missing once, from wheels that every test had passed."""
    package = Path(shutil.copytree(PACKAGE, tmp_path / "wavewright", copy_function=lambda *ends: Path(ends[1]).touch()))
    gone = package / part
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert absent(package)
    assert all(name.startswith(part) for name in absent(package))


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    """In one process, with the dependencies that the wheel declares and those extras that are installed here."""
    modules = [
        line.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for line in TRACKED.read_text().splitlines()
        if line.endswith(".py") and not line.endswith("__main__.py")
    ]
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    command = [sys.executable, "-I", "-c", script, *modules]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_is_the_installed_one() -> None:
    assert "site-packages" in PACKAGE.parts
    assert run("--version").split() == ["wavewright", distribution("wavewright").version]


def test_notices_are_installed() -> None:
    files = {str(file).partition("/licenses/")[2] for file in distribution("wavewright").files or ()}
    assert {"LICENSE", "THIRD_PARTY_NOTICES.md", "licenses/LLVM.txt", "licenses/nanobind.txt"} <= files
    assert "preact" in (PACKAGE / "_web" / "page.licences.txt").read_text(encoding="utf-8")


def test_every_verb_has_its_call() -> None:
    verbs = set(re.findall(r"^  ([a-z][\w-]*)  ", run("--help"), re.MULTILINE))
    assert verbs == {*CALLS, *SERVED}


@pytest.mark.parametrize("verb", CALLS)
def test_verb(verb: str, captures: Path, tmp_path: Path, call) -> None:
    (code,) = (captures / "trace").glob("*.out")
    runs, counters = captures / "runs", captures / "counters"
    places = {"trace": captures / "trace", "code": code, "run": runs / "before", "after": runs / "after"}
    words = [
        word.format(**places, counters=counters / "before", out=tmp_path, sql=SQL) for word in shlex.split(CALLS[verb])
    ]
    status, written = call(verb, *words)
    assert status in STATUSES.get(verb, {0}), written
    assert written.strip() or list(tmp_path.iterdir())
    assert BUG not in written


def test_every_tool_answers(captures: Path) -> None:
    requests = [
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}},
        {"method": "tools/list"},
        *({"method": "tools/call", "params": {"name": name, "arguments": given}} for name, given in TOOLS.items()),
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": key, **request}) for key, request in enumerate(requests)]
    command = [PROGRAM, "mcp", "--root", captures]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        answers = []
        for line in lines:
            print(line, file=server.stdin, flush=True)
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
    assert {tool["name"] for tool in answers[1]["result"]["tools"]} == set(TOOLS)
    for name, answer in zip(TOOLS, answers[2:], strict=True):
        assert "result" in answer, f"{name}: {answer}"
        text = answer["result"]["content"][0]["text"]
        assert not answer["result"].get("isError"), f"{name}: {text}"
        assert BUG not in text


def test_every_writer_of_reports(captures: Path, tmp_path: Path, call) -> None:
    status, told = call("report", "--help")
    formats = set(re.findall(r"\.([a-z]+)\b", told.partition("--output FILE")[2].partition("repeatable")[0]))
    assert formats == {"html", "md", "pdf", "xlsx", "json", "ipynb"}
    outputs = [tmp_path / f"report.{ending}" for ending in sorted(formats)]
    options = [word for output in [*outputs, f"{tmp_path}/folder/"] for word in ("-o", str(output))]
    status, written = call("report", captures / "counters" / "before", *options)
    assert status == 0, written
    assert [output.name for output in outputs if output.stat().st_size < 1000] == []
    assert (tmp_path / "folder" / "report.html").is_file()


def test_a_raw_capture_is_decoded(capture: Path) -> None:
    trace = wavewright.decode(capture)
    assert (trace.waves.height, trace.instructions.height) == (48, 36_192)


def test_without_its_listing_the_code_is_disassembled(capture: Path, tmp_path: Path) -> None:
    """No LLVM is needed: the tables are in the wheel. The listing that comes with the capture was written by LLVM."""
    raw = [file for file in capture.iterdir() if file.is_file() and not file.name.endswith(".isa.tsv")]
    for file in raw:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with_listing, without = wavewright.decode(capture), wavewright.decode(tmp_path)
    assert without.code["text"].to_list() == with_listing.code["text"].to_list()


def test_a_bad_input_is_one_sentence(tmp_path: Path, call) -> None:
    """Also: an exception of the core reaches Python as its class, through the runtime that nanobind-backend uses."""
    file = tmp_path / "trace.att"
    file.write_bytes(b"no trace at all")
    status, written = call("info", file)
    assert status not in (0, 1)
    assert "error:" in written
    assert BUG not in written


def test_errors_of_the_core_keep_their_class() -> None:
    from wavewright import _core

    with pytest.raises(TypeError):
        _core.disassemble("no bytes")  # type: ignore[call-arg, arg-type]


def test_the_page_can_be_exported(capture: Path, tmp_path: Path, call) -> None:
    page = tmp_path / "trace.html"
    status, written = call("convert", capture, "--format", "html", "--output", page)
    assert status == 0, written
    assert page.stat().st_size > 500_000


@contextmanager
def served(capture: Path) -> Iterator[str]:
    """The address at which `wavewright open` shows the capture."""
    program = [PROGRAM, "open", capture, "--no-browser"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            said = []
            for line in server.stdout:
                said.append(line)
                if address := re.search(r"http://\S+", line):
                    yield address[0]
                    break
            else:
                pytest.fail("".join(said))
        finally:
            server.terminate()


def test_the_viewer_shows_the_capture(capture: Path, tmp_path: Path) -> None:
    """In the browser, where there is one: the page has asked the server and drawn the answer."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    with served(capture) as address:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:  # noqa: S310 (our own server)
            assert b"<script" in answer.read()
        if browser is None:
            return
        # The time of the page stands still while it waits for an answer: its seconds do not depend on the machine.
        options = ["--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000"]
        command = [browser, "--headless", *options, "--dump-dom", address]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout
    assert "tiled_gemm" in shown
