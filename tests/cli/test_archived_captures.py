"""Every verb that takes a capture takes its archive: runs, counters and samples in tar and zip files."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import write_counters
from synth.pc_samples import SampledRun, write_samples
from tests.cli.in_process import Done, call
from wavewright.base.compression import zstd_library
from wavewright.cli import _group

RUN = """Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp
KERNEL_DISPATCH,1,1,7,1,9,saxpy,1,1000,2000
KERNEL_DISPATCH,1,1,7,2,9,saxpy,2,3000,3500
"""
MUST_BE_GIVEN = {"query": ["SELECT count(*) FROM dispatches"], "kernels": []}
#: What takes no capture, needs an output (tested below), or serves a page.
OTHERS = {"open", "demo", "serve", "capture", "metrics", "disassemble", "convert", "decode", "merge", "split", "window"}


def _tar(folder: Path, path: Path) -> Path:
    with tarfile.open(path, "w") as archive:
        archive.add(folder, arcname=".")
    return path


def _packed_tar(folder: Path, path: Path) -> Path:
    path.write_bytes(zstd_library().compress(_tar(folder, path).read_bytes()))
    return path


def _zip(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    return path


ARCHIVERS: dict[str, Callable[[Path, Path], Path]] = {".tar": _tar, ".tar.zst": _packed_tar, ".zip": _zip}
KINDS = {"raw": ".tar.zst", "run": ".zip", "database": ".tar", "counters": ".tar", "samples": ".zip"}


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders, and an archive of each beside it."""
    top = tmp_path_factory.mktemp("archived")
    capture = synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=2, realtime_pairs=2))
    write_capture(capture, top / "raw")
    (top / "run").mkdir()
    for folder in ("raw", "run"):
        (top / folder / "1_kernel_trace.csv").write_text(RUN)
    done = call("convert", top / "run", "-f", "rocpd", "-o", top / "database" / "1_results.db")
    assert done.status == 0, done.stderr
    write_counters(top / "counters")
    write_samples(SampledRun(), top / "samples", form="json", with_code=True)
    for kind, suffix in KINDS.items():
        ARCHIVERS[suffix](top / kind, top / f"{kind}{suffix}")
    return top


def _verbs() -> list[str]:
    names = _group.list_commands(click.Context(_group))
    commands = {name: _group.get_command(click.Context(_group), name) for name in names}
    takes_path = {
        name
        for name, command in commands.items()
        if command and any(isinstance(parameter, click.Argument) for parameter in command.params)
    }
    return sorted(takes_path - OTHERS)


def _ask(verb: str, path: Path, *options: str) -> Done:
    if verb == "kernels":
        return call(verb, "saxpy", path, *options)
    return call(verb, *([path] * (2 if verb == "compare" else 1)), *MUST_BE_GIVEN.get(verb, []), *options)


def _answer(done: Done, *places: str) -> Any:
    """What was said, without names of the input."""
    text = done.stdout
    for place in places:
        text = text.replace(place, "INPUT")
    return json.loads(text)


def _asked() -> Iterator[Any]:
    """Every third verb on a kind, by turns: an archive is unpacked before a verb sees it. The rest is slow."""
    for (number, verb), (place, kind) in product(enumerate(_verbs()), enumerate(KINDS)):
        is_quick = number % 3 == 0 and place == number % len(KINDS)
        yield pytest.param(verb, kind, marks=() if is_quick else pytest.mark.slow, id=f"{verb}-{kind}")


@pytest.mark.some_cases(3)
@pytest.mark.parametrize(("verb", "kind"), list(_asked()))
def test_every_verb_answers_alike(captures: Path, verb: str, kind: str) -> None:
    folder, archive = captures / kind, captures / f"{kind}{KINDS[kind]}"
    plain, archived = (_ask(verb, path, "--json") for path in (folder, archive))
    assert archived.status == plain.status, archived.stderr or plain.stderr
    assert ".wavewright-" not in archived.stdout + archived.stderr, "the temporary folder is nobody's business"
    if plain.status == 0:
        assert _answer(archived, f"{archive}!", str(archive)) == _answer(plain, f"{folder}/", str(folder))


def test_places_in_an_archive_are_named(captures: Path) -> None:
    answer = json.loads(call("summary", captures / "run.zip", "--json").stdout)
    assert answer["inputs"] == [f"{captures}/run.zip!1_kernel_trace.csv"]
    shown = call("info", captures / "raw.tar.zst").stdout
    assert f"wavewright summary {captures}/raw.tar.zst" in shown


def test_archives_are_written_from_and_not_over(captures: Path, tmp_path: Path) -> None:
    archive = shutil.copy(captures / "database.tar", tmp_path / "x.tar")
    before = Path(archive).read_bytes()
    done = call("convert", archive, "-f", "rocpd", "-o", archive, "--force")
    assert done.status == 2
    assert "the output is an input" in done.stderr
    assert Path(archive).read_bytes() == before
    done = call("convert", archive, "-f", "csv", "-o", tmp_path / "csv")
    assert done.status == 0, done.stderr
    assert list((tmp_path / "csv").glob("*kernel_trace.csv"))


def test_damage_is_told(captures: Path, tmp_path: Path) -> None:
    """The archive ends behind the first of two runs; and a database in it that is none."""
    for number in (1, 2):
        (tmp_path / "two").mkdir(exist_ok=True)
        (tmp_path / "two" / f"{number}_kernel_trace.csv").write_text(RUN * 40)
    data = _tar(tmp_path / "two", tmp_path / "two.tar").read_bytes()
    (tmp_path / "two.tar").write_bytes(data[: data.rindex(b"_kernel_trace.csv") + 1000])
    answer = json.loads(call("summary", tmp_path / "two.tar", "--json").stdout)
    assert len(answer["inputs"]) == 1
    assert [loss["kind"] for loss in answer["losses"]] == ["broken_archive"]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "1_results.db").write_bytes(sqlite3.sqlite_version.encode() * 300)
    done = call("summary", _tar(tmp_path / "broken", tmp_path / "broken.tar"))
    assert done.status == 3
    assert f"{tmp_path}/broken.tar!1_results.db" in done.stderr


def test_an_archive_with_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("hello")
    archive = _tar(tmp_path / "notes", tmp_path / "notes.tar")
    for verb in ("summary", "hotspots", "counters"):
        done = call(verb, archive)
        assert done.status in (2, 3), verb
        assert ".wavewright-" not in done.stderr


def test_a_run_stays_readable_until_it_is_forgotten(captures: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """The files of an archive are there as long as the run is, and gone after it."""
    from wavewright.readers.files.unpacked_folder import _unpacked

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    _unpacked.cache_clear()
    run = wavewright.open(captures / "database.tar")
    assert isinstance(run, wavewright.Run)
    _unpacked.cache_clear()
    assert run.dispatches.height == 2
    assert len(list(tmp_path.iterdir())) == 1
    del run
    assert list(tmp_path.iterdir()) == []
