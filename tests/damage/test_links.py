"""Links that lead out of an input, links to nothing, pipes and sockets: never followed or waited for, always told."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import wavewright
from synth import CounterCapture, KernelWork, Scenario, compiled, synthesize, write_capture, write_counters
from synth.rocpd import write_rocpd
from synth.workload import Workload
from tests.cli.in_process import call
from tests.kit.made_decoded import SOURCES, edit, write_decoded, zipped
from tests.kit.page_answers import answers_in
from wavewright.base.files import is_inside, not_read, open_regular
from wavewright.errors import WavewrightError
from wavewright.model.document import Library
from wavewright.page.inputs import add_inputs
from wavewright.page.payloads import ask
from wavewright.readers.counters import open_counters
from wavewright.readers.files.capture import find_capture
from wavewright.readers.files.decoded_traces import survey
from wavewright.readers.opening import open_trace
from wavewright.readers.run.inputs import find_runs, open_run
from wavewright.readers.trace.resources import with_resources

SECRET = "OUTSIDE_" + "SECRET"
CALLS = (
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
    "HIP_RUNTIME_API,hipInit,3,3,1,5,9\n"
)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside of every input."""
    file = tmp_path / "outside" / "secret_abs.txt"
    file.parent.mkdir()
    file.write_text(f"{SECRET}\n")
    return file


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=1)), folder)
    return folder


def told(losses: object) -> str:
    """The losses about what was not followed, as people read them."""
    rows = losses.filter(losses["kind"] == "not_followed")  # type: ignore[attr-defined]
    return " ".join(rows["message"] if "message" in rows.columns else rows["detail"])


def without_copies(folder: Path) -> Path:
    """A decoded directory that holds no text of its sources."""
    for side_file in ("snapshots.json", "inline_frames.json"):
        (folder / side_file).unlink(missing_ok=True)
    for copy in folder.glob("source_*"):
        copy.unlink()
    return folder


def naming(folder: Path, file: str) -> None:
    """Let all the code of a decoded directory come from `file`."""

    def place(code: dict[str, list[list[object]]]) -> None:
        for row in code["code"]:
            row[3] = f"{file}:1"

    edit(folder, "code.json", place)


def src_to_root(folder: Path, secret: Path) -> str:
    (folder / "src").symlink_to("/")
    return str(secret)


def src_to_the_folder(folder: Path, secret: Path) -> str:
    (folder / "src").symlink_to(os.path.relpath(secret.parent, folder))
    return secret.name


def link_inside_src(folder: Path, secret: Path) -> str:
    (folder / "src").mkdir()
    (folder / "src" / "deep").symlink_to(secret.parent)
    return f"/build/deep/{secret.name}"


def file_inside_src(folder: Path, secret: Path) -> str:
    (folder / "src").mkdir()
    (folder / "src" / secret.name).symlink_to(secret)
    return f"/build/{secret.name}"


def chain_of_links(folder: Path, secret: Path) -> str:
    (folder / "first").symlink_to("second")
    (folder / "second").symlink_to(secret.parent)
    (folder / "src").symlink_to("first")
    return secret.name


def copy_is_a_link(folder: Path, secret: Path) -> str:
    (folder / "source_0_a.hip").symlink_to(secret)
    (folder / "snapshots.json").write_text(json.dumps({"/": {"a.hip": "source_0_a.hip"}}))
    return "/a.hip"


HOSTILE_SOURCES = (
    src_to_root,
    src_to_the_folder,
    link_inside_src,
    file_inside_src,
    chain_of_links,
    copy_is_a_link,
)


@pytest.mark.parametrize("place", HOSTILE_SOURCES)
def test_what_is_served_holds_nothing_from_outside(place: Callable[[Path, Path], str], secret: Path) -> None:
    folder = without_copies(write_decoded(secret.parents[1]))
    naming(folder, place(folder, secret))
    (document,) = add_inputs(Library(), [folder])
    assert document.trace.sources["text"].drop_nulls().to_list() == []
    assert SECRET.encode() not in ask(document, "source", {"file": "0"}).content
    assert "leads out of the folder" in told(document.trace.losses)


@pytest.mark.slow
def test_a_written_page_holds_nothing_from_outside(secret: Path) -> None:
    """What is embedded is what is served: one hostile input is enough."""
    folder = without_copies(write_decoded(secret.parents[1]))
    naming(folder, src_to_root(folder, secret))
    page = folder.parent / "page.html"
    done = call("convert", folder, "-f", "html", "-o", page)
    assert done.status == 0, done.stderr
    assert "leads out of the folder" in done.stderr.replace("\n", " ")
    answers = answers_in(page)
    assert any(key.startswith("0/source") for key in answers)
    assert not [key for key, content in answers.items() if SECRET.encode() in content]
    assert SECRET not in page.read_text()


def test_own_sources_are_still_shown(tmp_path: Path) -> None:
    folder = without_copies(write_decoded(tmp_path))
    naming(folder, "/build/kernels/a.hip")
    (folder / "texts").mkdir()
    (folder / "texts" / "a.hip").write_text("inside")
    (folder / "src").symlink_to("texts")
    (document,) = add_inputs(Library(), [folder])
    assert document.trace.sources["text"].to_list() == ["inside"]
    assert not told(document.trace.losses)
    link = tmp_path / "named"
    link.symlink_to(folder)
    (document,) = add_inputs(Library(), [link])
    assert document.trace.sources["text"].to_list() == ["inside"]


def test_a_source_root_is_the_users_choice_but_not_what_its_links_lead_to(secret: Path, raw: Path) -> None:
    root = raw.parent / "root"
    root.symlink_to(SOURCES)
    trace = wavewright.decode(raw, source_root=root)
    assert trace.sources["text"].drop_nulls().len()
    (name,) = {Path(file).name for file in trace.sources["file"] if Path(file).name.startswith("saxpy")}
    linked = raw.parent / "linked"
    linked.mkdir()
    (linked / name).symlink_to(secret)
    trace = wavewright.decode(raw, source_root=linked)
    assert trace.sources["text"].drop_nulls().to_list() == []
    assert f"{name}: a link that leads out" in told(trace.losses)


def test_parts_of_a_raw_capture(raw: Path, secret: Path) -> None:
    sound = wavewright.open(raw)
    (raw / "9_9_shader_engine_0_9.att").symlink_to(secret)
    (raw / "9_gfx942_code_object_id_77.out").symlink_to(secret)
    (raw / "9_kernel_trace.csv").symlink_to(secret)
    (raw / "gone.att").symlink_to("nothing")
    (raw / "elsewhere").symlink_to(secret.parent)
    capture = find_capture([raw])
    assert capture.refused == {
        "9_9_shader_engine_0_9.att": "a link that leads out of the folder",
        "9_gfx942_code_object_id_77.out": "a link that leads out of the folder",
        "elsewhere": "a link that leads out of the folder",
        "gone.att": "a link to nothing",
    }
    trace = wavewright.open(raw)
    assert trace.instructions.equals(sound.instructions)
    assert "9_kernel_trace.csv" in told(trace.losses)
    assert trace.losses.filter(trace.losses["kind"] == "not_followed")["count"].to_list() == [4, 1]
    (file,) = [file for file in raw.glob("*.att") if not file.is_symlink()]
    named = raw.parent / "named.att"
    named.symlink_to(file)
    assert find_capture([named]).windows[0].files[0].path == named  # what the user names himself may be a link


def test_a_listing_beside_a_code_object(raw: Path, secret: Path) -> None:
    (code_object,) = raw.glob("*.out")
    listing = code_object.with_name(f"{code_object.stem}.isa.tsv")
    listing.unlink(missing_ok=True)
    outside = secret.with_name("listing.isa.tsv")
    outside.write_text("0\t4\ts_secret\n")
    listing.symlink_to(outside)
    trace = wavewright.decode(raw)
    assert not trace.code["text"].str.contains("s_secret").any()
    assert listing.name in told(trace.losses)


def test_resources_beside_and_named(tmp_path: Path, secret: Path) -> None:
    folder = write_decoded(tmp_path / "run")
    (folder.parent / "1_kernel_trace.csv").symlink_to(secret)
    assert "1_kernel_trace.csv" in told(wavewright.open(folder).losses)
    named = tmp_path / "resources"
    named.mkdir()
    trace = open_trace(folder)
    (named / "1_kernel_trace.csv").write_text(f'Kernel_Name,VGPR_Count\n"{trace.kernels["name"][0]}",8\n')
    (named / "2_agent_info.csv").symlink_to(secret)
    trace = with_resources(trace, [named])
    assert "2_agent_info.csv" in told(trace.losses)


def test_a_folder_of_decoded_traces_and_of_archives(tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "many"
    first = write_decoded(folder)
    other = write_decoded(tmp_path / "other", "ui_output_agent_1_dispatch_2")
    (folder / other.name).symlink_to(other)
    (folder / "ui_output_agent_1_dispatch_3").symlink_to("nothing")
    (folder / "again").symlink_to(first)
    trace = wavewright.open(folder)
    assert trace.source.dispatch == 1
    assert f"{other.name}: a link that leads out" in told(trace.losses)
    assert "dispatch_3: a link to nothing" in told(trace.losses)
    packed = tmp_path / "packed"
    packed.mkdir()
    files = {f"{first.name}/{file.name}": file.read_bytes() for file in first.iterdir()}
    outside = zipped(secret.with_name("a.zip"), files)
    zipped(packed / "b.zip", files)
    (packed / "a.zip").symlink_to(outside)
    assert "a.zip: a link that leads out" in told(wavewright.open(packed).losses)
    assert [path.name for path in survey(packed).archives] == ["b.zip"]


def rank(folder: Path, number: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{number}_hip_api_trace.csv"
    file.write_text(CALLS)
    return file


def test_ranks_of_a_folder(tmp_path: Path) -> None:
    ranks, outside = tmp_path / "ranks", tmp_path / "outside"
    rank(ranks, 1)
    rank(ranks / "deep", 2)
    far = rank(outside, 3)
    (ranks / far.name).symlink_to(far)
    (ranks / "4.rpd").symlink_to("/nonexistent")
    (ranks / "5_results.db").symlink_to("5_results.db")
    (ranks / "node7").symlink_to(outside)
    (ranks / "node8").symlink_to("/nonexistent")
    (ranks / "again").symlink_to("deep")
    (ranks / "notes.txt").symlink_to("/nonexistent")
    os.mkfifo(ranks / "6_results.db")
    run = open_run(ranks)
    assert run.regions.height == 2
    said = {Path(row["path"]).name: row["message"] for row in run.losses.iter_rows(named=True)}
    assert {name: message.partition(": ")[2].partition(";")[0] for name, message in said.items()} == {
        far.name: "a link that leads out of the folder",
        "4.rpd": "a link to nothing",
        "5_results.db": "a link to nothing",
        "6_results.db": "neither a file nor a folder",
        "node7": "a link that leads out of the folder",
        "node8": "a link to nothing",
    }
    assert "name the file itself" in said[far.name]
    both = open_run(ranks, far)  # what is named itself is read, whatever leads to it
    assert both.regions.height == 3
    assert open_run(ranks, ranks / far.name).regions.height == 3
    assert open_run(str(ranks / "3*.csv")).regions.height == 1  # and so is what a pattern names


@pytest.mark.skipif(os.geteuid() == 0, reason="root opens everything")
def test_ranks_that_may_not_be_read(tmp_path: Path) -> None:
    rank(tmp_path, 1)
    rank(tmp_path, 2).chmod(0)
    rank(tmp_path / "closed", 3).parent.chmod(0)
    try:
        losses = open_run(tmp_path).losses
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert [Path(path).name for path in losses["path"]] == ["2_hip_api_trace.csv", "closed"]


def test_links_are_no_way_to_the_tables_of_a_database(tmp_path: Path) -> None:
    from wavewright.analysis.run.contents.run_contents import contents

    folder, outside = tmp_path / "ranks", tmp_path / "outside_results.db"
    rank(folder, 1)
    write_rocpd(outside, Workload(dispatches=4, counters=0))
    (folder / "2_results.db").symlink_to(outside)
    assert contents(open_run(folder)).stored.height == 0
    assert contents(open_run(outside)).stored.height


def test_verbs_say_which_ranks_are_missing(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "a_results.db", Workload(dispatches=4, counters=0))
    (tmp_path / "b.rpd").symlink_to("/nonexistent")
    inputs = find_runs([tmp_path])
    assert [found.refused for found in inputs] == ["", "a link to nothing"]
    done = call("summary", tmp_path, "--jobs", "1")
    assert done.status == 0, done.stderr
    assert "b.rpd: a link to nothing" in (done.stdout + done.stderr).replace("\n", " ")


@pytest.mark.parametrize("verb", ["summary", "counters", "hotspots", "info"])
def test_a_folder_of_links_alone(tmp_path: Path, secret: Path, verb: str) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    far = rank(secret.parent, 1)
    (folder / far.name).symlink_to(far)
    done = call(verb, folder)
    assert done.status == (2 if verb in ("summary", "counters") else 3)
    assert "a link that leads out of the folder" in (done.stdout + done.stderr).replace("\n", " ")


@pytest.mark.parametrize("listed", ["/{outside}", "../outside/3_results.db", "link_results.db"])
def test_a_package_lists_only_what_is_in_it(tmp_path: Path, listed: str) -> None:
    package, outside = tmp_path / "run.rpdb", tmp_path / "outside" / "3_results.db"
    package.mkdir()
    outside.parent.mkdir()
    write_rocpd(outside, Workload(dispatches=4, counters=0))
    (package / "link_results.db").symlink_to(outside)
    (package / "1_results.db").write_bytes(outside.read_bytes())
    listed = listed.format(outside=str(outside).lstrip("/"))
    (package / "index.yaml").write_text(f"rocprofiler-sdk: {{rocpd: {{path: '.', files: [1_results.db, {listed}]}}}}")
    first, second = find_runs([package / "index.yaml"])
    assert not first.refused
    assert "not in the folder of the package" in second.refused
    named = find_runs([package / "index.yaml", second.path])
    assert not any(found.refused for found in named)


def test_tables_of_a_folder(tmp_path: Path, secret: Path) -> None:
    tables = tmp_path / "tables"
    assert call("convert", rank(tmp_path / "run", 1), "-f", "parquet", "-o", tables).status == 0
    outside = (tables / "regions.parquet").rename(secret.with_name("regions.parquet"))
    (tables / "regions.parquet").symlink_to(outside)
    done = call("summary", tables)
    assert done.status == 3
    assert "leads out of the folder" in done.stderr.replace("\n", " ")
    moved = (tables / "wavewright_run.json").rename(secret.with_name("manifest.json"))
    (tables / "wavewright_run.json").symlink_to(moved)
    assert call("summary", tables).status in (2, 3)


@cache
def counter_files() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        works = (KernelWork("alpha", dispatch_count=1),)
        write_counters(folder, CounterCapture("gfx942", kernels=works, with_channels=False))
        return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def test_files_of_a_counter_capture(tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "counters"
    folder.mkdir()
    for name, content in counter_files().items():
        (folder / name).write_bytes(content)
    outside = (folder / "sysinfo.csv").rename(secret.with_name("sysinfo.csv"))
    (folder / "sysinfo.csv").symlink_to(outside)
    os.mkfifo(folder / "pmc_perf_9.csv")
    for path in (folder, folder / "pmc_perf.csv"):
        found = open_counters(path)
        assert found.dispatches.height == 1
        assert "sysinfo.csv: a link that leads out" in told(found.losses)
        assert not found.system.said_by.get("cu_count")
    assert "pmc_perf_9.csv: neither a file nor a folder" in told(open_counters(folder).losses)


@contextmanager
def special(kind: str, file: Path) -> Iterator[None]:
    """A pipe, a socket, or a link to a device that never ends, in the place of a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
        yield
    elif kind == "device":
        file.symlink_to("/dev/zero")
        yield
    else:
        here = Path.cwd()
        with socket.socket(socket.AF_UNIX) as made:
            os.chdir(file.parent)  # the address of a socket has room for about a hundred characters
            try:
                made.bind(file.name)
            finally:
                os.chdir(here)
            yield


NAMES = (
    "a.att",
    "28_5600_shader_engine_0_1.att",
    "28_gfx942_code_object_id_1.out",
    "a.hsaco",
    "a.co",
    "a.elf",
    "a.isa.tsv",
    "a_results.db",
    "a.db",
    "a.rpd",
    "a.rpd.gz",
    "a.sqlite",
    "a.sqlite3",
    "a_kernel_trace.csv",
    "a_agent_info.csv",
    "a_counter_collection.csv",
    "a_counter_collection.csv.gz",
    "a_results.json",
    "a_results.json.gz",
    "trace.json",
    "pmc_perf.csv",
    "pmc_perf_1.csv",
    "SQ_LEVEL_WAVES.csv",
    "sysinfo.csv",
    "roofline.csv",
    "timestamps.csv",
    "a.sysinfo.txt",
    "index.yaml",
    "wavewright.json",
    "wavewright_run.json",
    "waves.parquet",
    "kernels.arrow",
    "filenames.json",
    "code.json",
    "occupancy.json",
    "realtime.json",
    "snapshots.json",
    "se0_sm0_sl0_wv0.json",
    "source_0_a.hip",
    "a.tar",
    "a.tar.gz",
    "a.tar.xz",
    "a.tgz",
    "a.zip",
)
"""Every name by which a reader finds a file."""


def opened(path: Path, *, resources: tuple[Path, ...] = ()) -> None:
    """Everything that a path may be taken for; an error has to be one of ours."""
    for read in (wavewright.open, open_run, open_counters, lambda p: open_trace(p, resources=resources)):
        try:
            found = read(path)
        except WavewrightError:
            continue
        assert found.losses.height, "what was passed over has to be told"


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_no_name_makes_a_special_file_an_input(tmp_path: Path, kind: str) -> None:
    """Alone in a folder, named itself, and beside sound files of a run."""
    for number, name in enumerate(NAMES):
        alone = tmp_path / str(number)
        with special(kind, alone / name):
            opened(alone)
            opened(alone / name)
            with pytest.raises(WavewrightError):
                wavewright.open(alone / name)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_special_files_beside_a_capture(raw: Path, kind: str) -> None:
    sound = wavewright.open(raw)
    (code_object,) = raw.glob("*.out")
    for name in ("a.att", "99_gfx942_code_object_id_9.out", f"{code_object.stem}.isa.tsv", "1_kernel_trace.csv"):
        with special(kind, raw / name):
            trace = wavewright.open(raw)
            assert name in told(trace.losses)
            assert trace.instructions["time_cycles"].equals(sound.instructions["time_cycles"])
        (raw / name).unlink()


def test_names_of_what_is_not_read_do_not_command_the_terminal(raw: Path) -> None:
    os.mkfifo(raw / "\x1b[2J\x07.att")
    done = call("info", raw)
    assert done.status == 0, done.stderr
    assert "\\x1b[2J" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_unrelated_links_are_no_loss(tmp_path: Path) -> None:
    folder = write_decoded(tmp_path)
    (folder / "latest").symlink_to(tmp_path)
    (folder / "notes.txt").symlink_to("/nonexistent")
    assert not told(wavewright.open(folder).losses)


def test_special_files_named_by_options(tmp_path: Path, raw: Path) -> None:
    pipe = tmp_path / "1_kernel_trace.csv"
    os.mkfifo(pipe)
    for arguments in (("--resources", pipe), ("--code-object", pipe)):
        done = call("hotspots", raw, *arguments)
        assert done.status == 2
        assert str(pipe) in done.stderr.replace("\n", "")


def test_a_pipe_in_the_place_of_notes(tmp_path: Path) -> None:
    from wavewright.page.protocol.notes import read_notes

    os.mkfifo(tmp_path / "notes.json")
    with pytest.raises(WavewrightError, match="not a regular file"):
        read_notes(str(tmp_path / "notes.json"))


def test_the_one_rule(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "in_but_not"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_text("")
    (inside / "out").symlink_to(outside)
    (inside / "back").symlink_to(inside)
    (inside / "loop").symlink_to("loop")
    (tmp_path / "root").symlink_to(inside)
    assert not_read(inside / "out" / "file", inside) == "a link that leads out of the folder"
    assert not_read(inside / ".." / "in_but_not" / "file", inside) == "a link that leads out of the folder"
    assert not_read(inside / "back", tmp_path / "root") == ""
    assert not_read(inside / "loop", inside) == "a link to nothing"
    assert not_read(inside / "none", inside) == "no such file"
    assert not_read(inside / "a\0b", inside)
    assert not is_inside("a\0b", inside)
    os.mkfifo(inside / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(inside / "pipe")
