"""Names of files that are not UTF-8: opened as they are, and shown with escapes everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

from synth import CounterCapture, KernelWork, Scenario, compiled, synthesize, write_capture, write_counters
from synth.rocpd import write_rocpd
from synth.workload import Workload
from tests.cli.in_process import Done, call
from tests.kit.made_decoded import write_decoded
from tests.kit.page_answers import answers_in
from wavewright.base.shown import is_text, json_bytes, shown
from wavewright.model.document import Document
from wavewright.model.losses import Loss
from wavewright.page.payloads import json as page_json
from wavewright.readers.run.inputs import open_run

BAD, SHOWN = "bad\udcff", "bad\\xff"


@cache
def database_bytes() -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder, "run.db")
        write_rocpd(file, Workload(dispatches=8, counters=0))
        return file.read_bytes()


def database(folder: Path) -> Path:
    file = folder / f"{BAD}_results.db"
    file.write_bytes(database_bytes())
    return file


def decoded(folder: Path) -> Path:
    return write_decoded(folder, f"ui_output_{BAD}_agent_1_dispatch_1")


def raw(folder: Path) -> Path:
    place = folder / f"raw_{BAD}"
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=1)), place)
    for file in list(place.iterdir()):
        file.rename(file.with_name(f"{BAD}_{file.name}"))
    return place


def calls(folder: Path) -> Path:
    file = folder / f"{BAD}_hip_api_trace.csv"
    columns = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
    file.write_text(f"{columns}\nHIP_RUNTIME_API,hipInit,3,3,1,5,9\n")
    return file


def counters(folder: Path) -> Path:
    place = folder / f"counters_{BAD}"
    with TemporaryDirectory() as made:
        works = (KernelWork("alpha", dispatch_count=1),)
        write_counters(made, CounterCapture("gfx942", kernels=works, with_channels=False))
        place.mkdir()
        for file in Path(made).iterdir():
            (place / file.name).write_bytes(file.read_bytes())
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / BAD
    try:
        place.mkdir()
    except OSError:
        pytest.skip("this file system has no names but UTF-8")
    return place


def good(*arguments: object) -> Done:
    done = call(*arguments)
    assert done.status == 0, done.stderr
    assert "\\udc" not in done.stdout + done.stderr
    return done


KINDS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "database": (database, "summary"),
    "ui_output": (decoded, "hotspots"),
    "raw capture": (raw, "hotspots"),
    "table of calls": (calls, "summary"),
    "counters": (counters, "counters"),
}


@pytest.mark.first_case
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_opened_and_shown(folder: Path, kind: str) -> None:
    make, verb = KINDS[kind]
    path = make(folder)
    assert SHOWN in good("info", path).stdout
    if verb == "summary":
        good(verb, path)
    for asked in ("info", verb):
        answer = json.loads(good(asked, path, "--json").stdout)
        assert shown(str(path)) in (answer.get("input"), *answer.get("inputs", ()))


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["database", "ui_output"])
def test_a_page_shows_it(folder: Path, kind: str) -> None:
    path, page = KINDS[kind][0](folder), folder / f"{BAD}.html"
    good("convert", path, "-f", "html", "-o", page)
    (document,) = json.loads(answers_in(page)["documents"])
    assert document["label"] == shown(path.name)


def test_a_folder_of_ranks(folder: Path) -> None:
    file = database(folder)
    (folder / f"2{BAD}_results.db").symlink_to(f"{folder.parent}/gone")
    run = open_run(folder)
    assert run.losses["path"].to_list() == [shown(str(folder / f"2{BAD}_results.db"))]
    assert open_run(file).sources["path"].to_list() == [shown(str(file))]


@pytest.mark.parametrize("form", ["parquet", "arrow", "json"])
def test_tables_are_written_to_such_places_and_read_from_there(folder: Path, form: str) -> None:
    out = folder / f"out_{BAD}"
    good("convert", database(folder), "-f", form, "-o", out)
    if form != "json":
        assert json.loads(good("summary", out, "--json").stdout)["losses"] == []


def test_decoded_tables_are_written_to_such_places_and_read_from_there(folder: Path) -> None:
    good("decode", raw(folder), "--format", "parquet", "-o", folder / f"out_{BAD}")
    (made,) = (folder / f"out_{BAD}").iterdir()
    good("hotspots", made, "--json")


def test_comparisons_name_both_sides(folder: Path) -> None:
    path = decoded(folder)
    sides = json.loads(good("compare", path, path, "--json").stdout)["traces"]["rows"]
    assert [side["path"] for side in sides] == [shown(str(path))] * 2


def test_errors_name_the_file_with_escapes(folder: Path) -> None:
    for arguments in (("info", folder / "none"), ("summary", folder / "none", "--json"), ("hotspots", folder)):
        done = call(*arguments)
        assert done.status in (2, 3)
        assert SHOWN in done.stderr
        assert "\\udc" not in done.stderr


def test_a_terminal_without_such_letters(folder: Path) -> None:
    done = call("info", database(folder), encoding="ascii")
    assert done.status == 0, done.stderr
    assert SHOWN in done.stdout


def test_the_one_rule() -> None:
    assert shown("é") == "é"
    assert shown("a\udcff\udc80\ud800") == "a\\xff\\x80\\ud800"
    assert is_text("é")
    assert not is_text(BAD)
    assert json.loads(json_bytes({BAD: [BAD, ("x", 1.5, None)]})) == {SHOWN: [SHOWN, ["x", 1.5, None]]}
    assert Loss("unreadable_source", detail=BAD).message == SHOWN
    assert pl.Series([Loss("unreadable_source", detail=BAD).detail]).to_list() == [SHOWN]
    line = Document(0, BAD, BAD, lambda: None).line  # type: ignore[arg-type, return-value]
    assert json.loads(page_json(line).content)["label"] == SHOWN
