"""Decoded directories with anything wrong in them: one clear sentence or a loss, never a traceback or a wrong total."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wavewright
from tests.kit.made_decoded import decoded_files, edit, write_decoded, zipped
from tests.kit.sampling import every_third, every_third_pair
from wavewright.analysis.trace.about.overview import contents
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.cli import VERBS, main
from wavewright.errors import WavewrightError
from wavewright.model.schema import THREAD_TRACE

GOOD = ("filenames.json", "code.json", "occupancy.json", "realtime.json")
COUNTED = ("waves", "instructions", "states", "code", "occupancy", "sampled_counters")
HUGE = (1 << 63, 1 << 64, 1 << 200, -(1 << 63), -1, 1 << 31, 1 << 32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_decoded(tmp_path)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> wavewright.ThreadTrace:
    return wavewright.open(write_decoded(tmp_path_factory.mktemp("sound")))


def read_all(path: Path) -> wavewright.ThreadTrace:
    """Open a trace, make every table, and check that the totals are those of the instructions."""
    trace = wavewright.open(path)
    for name in THREAD_TRACE:
        trace.table(name)
    contents(trace)
    totals, instructions = row_totals(trace), trace.instructions.filter(pl.col("row") >= 0)
    assert totals["hit_count"].sum() == instructions.height
    for total, column in (("latency_cycles_total", "duration_cycles"), ("stall_cycles_total", "stall_cycles")):
        assert totals[total].sum() == instructions[column].cast(pl.Int64).sum()
    return trace


def kinds(trace: wavewright.ThreadTrace) -> set[str]:
    return set(trace.losses["kind"].to_list())


def wave_file(folder: Path) -> str:
    return min(file.name for file in folder.glob("se*_wv*.json"))


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, str, str]:
    """The program in this process: its exit status, and what it says on both streams."""
    monkeypatch.setattr(sys, "argv", ["wavewright", *map(str, arguments)])
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def instructions_of(wave: Any) -> list[list[Any]]:
    rows: list[list[Any]] = wave["wave"]["instructions"]
    return rows


def rows_out_of_range(folder: Path) -> None:
    edit(folder, wave_file(folder), lambda wave: instructions_of(wave)[3].__setitem__(4, 1 << 40))


def negative_times(folder: Path) -> None:
    edit(folder, wave_file(folder), lambda wave: instructions_of(wave)[3].__setitem__(0, -5000))


def negative_durations(folder: Path) -> None:
    edit(folder, wave_file(folder), lambda wave: instructions_of(wave)[3].__setitem__(3, -5000))


def lost_instruction(folder: Path) -> None:
    edit(folder, wave_file(folder), lambda wave: instructions_of(wave).pop())


def duplicate_waves(folder: Path) -> None:
    def twice(manifest: Any) -> None:
        (simds,) = manifest["wave_filenames"].values()
        slots = next(iter(next(iter(simds.values())).values()))
        slots["77"] = next(iter(slots.values()))

    edit(folder, "filenames.json", twice)


def missing_wave(folder: Path) -> None:
    (folder / wave_file(folder)).unlink()


def missing_manifest(folder: Path) -> None:
    (folder / "filenames.json").unlink()


def broken_manifest(folder: Path) -> None:
    (folder / "filenames.json").write_bytes(b'{"wave_filenames":{"0":')


def broken_code(folder: Path) -> None:
    data = (folder / "code.json").read_bytes()
    (folder / "code.json").write_bytes(data[: len(data) // 2])


def broken_wave(folder: Path) -> None:
    data = (folder / wave_file(folder)).read_bytes()
    (folder / wave_file(folder)).write_bytes(data[: len(data) // 2])


def missing_code(folder: Path) -> None:
    (folder / "code.json").unlink()


def unknown_kernels(folder: Path) -> None:
    def renumber(occupancy: Any) -> None:
        for row in occupancy["0"]:
            row[5] = 999

    edit(folder, "occupancy.json", renumber)


def rows_of_another_writer(folder: Path) -> None:
    def shorten(occupancy: Any) -> None:
        occupancy["0"] = [row[: 3 + number % 9] for number, row in enumerate(occupancy["0"])]

    edit(folder, "occupancy.json", shorten)


def mixed_decodings(folder: Path) -> None:
    """A second decoding into the same directory left a wave file that the manifest does not know."""
    shutil.copy(folder / wave_file(folder), folder / "se0_sm3_sl9_wv5.json")


def duplicate_rows(folder: Path) -> None:
    edit(folder, "code.json", lambda code: code["code"].append(code["code"][4]))


DAMAGE: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "rows out of range": (rows_out_of_range, {"unknown_rows", "totals_disagree"}),
    "negative times": (negative_times, {"impossible_times"}),
    "negative durations": (negative_durations, {"impossible_times"}),
    "a lost instruction": (lost_instruction, {"totals_disagree"}),
    "duplicate waves": (duplicate_waves, {"duplicate_waves"}),
    "a missing wave": (missing_wave, {"missing_files", "totals_disagree"}),
    "no manifest": (missing_manifest, {"no_manifest"}),
    "a broken manifest": (broken_manifest, {"no_manifest"}),
    "broken code.json": (broken_code, {"unreadable_json"}),
    "no code.json": (missing_code, {"missing_files"}),
    "a broken wave": (broken_wave, {"unreadable_json", "totals_disagree"}),
    "unknown kernels": (unknown_kernels, set()),
    "rows of another writer": (rows_of_another_writer, {"malformed_rows"}),
    "mixed decodings": (mixed_decodings, {"unlisted_files"}),
    "duplicate rows": (duplicate_rows, {"duplicate_rows"}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_said(folder: Path, name: str) -> None:
    damage, expected = DAMAGE[name]
    damage(folder)
    assert expected <= kinds(read_all(folder))


@pytest.mark.slow
@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"closure", "decode", "demo", "l2", "open"}))
def test_every_verb_says_it(
    tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = write_decoded(tmp_path / "sound")
    for number, (name, (damage, expected)) in enumerate(DAMAGE.items()):
        folder = write_decoded(tmp_path / str(number))
        damage(folder)
        paths = (folder, sound) if verb == "compare" else (folder,)
        code, out, err = run(monkeypatch, capsys, verb, *paths)
        assert code in (0, 2, 3), (name, err)
        assert "Traceback" not in err
        assert "this is a bug" not in err
        if code == 0 and expected:
            assert ("\nA: " if verb == "compare" else "loss:") in out, name


def test_duplicate_waves_are_counted_once(folder: Path, sound: wavewright.ThreadTrace) -> None:
    duplicate_waves(folder)
    assert row_totals(wavewright.open(folder)).equals(row_totals(sound))


def test_a_directory_without_manifest_is_as_good(folder: Path, sound: wavewright.ThreadTrace) -> None:
    missing_manifest(folder)
    assert row_totals(wavewright.open(folder))["hit_count"].sum() == sound.instructions.height


@pytest.mark.first_case
@pytest.mark.parametrize("file", GOOD)
@pytest.mark.parametrize(
    "content", [b"", b"null", b"[]", b"{}", b"7", b'"x"', b"\xff\xfe", b"[" * 10_000, b'{"a":' * 10_000]
)
def test_files_that_are_something_else(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    try:
        trace = read_all(folder)
    except WavewrightError as error:
        assert error.what
    else:
        assert trace.losses.height or file == "realtime.json"


@pytest.mark.first_case
@pytest.mark.parametrize("value", every_third(HUGE))
def test_numbers_of_any_size(folder: Path, value: int) -> None:
    """Every number of the first rows of every file, in turn."""
    for file, rows in (("code.json", "code"), ("occupancy.json", "0")):
        content = json.loads((folder / file).read_text())
        for column in range(2, len(content[rows][1])):
            changed = json.loads(json.dumps(content))
            changed[rows][1][column] = value
            (folder / file).write_text(json.dumps(changed))
            read_all(folder)
        (folder / file).write_text(json.dumps(content))
    wave = json.loads((folder / wave_file(folder)).read_text())
    for column in range(5):
        changed = json.loads(json.dumps(wave))
        changed["wave"]["instructions"][2][column] = value
        (folder / wave_file(folder)).write_text(json.dumps(changed))
        assert read_all(folder).losses.height
    for key in ("begin", "end", "cu", "simd", "slot", "id"):
        (folder / wave_file(folder)).write_text(json.dumps(wave | {"wave": wave["wave"] | {key: value}}))
        read_all(folder)


HOSTILE_NAMES = (
    *("../secret.txt", "/etc/passwd", "source_0_x/../../secret.txt", "a\0b", "..", ".", "", "CON", "\x1b[2Jx"),
    *("x" * 5000, "secret_link", "\ud800"),
)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_snapshots_read_nothing_outside(folder: Path, name: str) -> None:
    (folder.parent / "secret.txt").write_text("secret")
    (folder / "secret_link").symlink_to(folder.parent / "secret.txt")
    (folder / "snapshots.json").write_text(json.dumps({"/": {"src": {"a.hip": name, "..": {"b.hip": name}}}}))
    trace = read_all(folder)
    assert not any("secret" in text for text in trace.sources["text"].drop_nulls().to_list())
    assert not any("root:" in text for text in trace.sources["text"].drop_nulls().to_list())


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_manifests_read_nothing_outside(folder: Path, name: str) -> None:
    (folder.parent / "secret.txt").write_text((folder / wave_file(folder)).read_text())
    (folder / "secret_link").symlink_to(folder.parent / "secret.txt")

    def lead_outside(manifest: Any) -> None:
        manifest["wave_filenames"] = {"0": {"0": {"0": {"0": [name, 0, 10]}}}}
        manifest["shaderdata_filenames"] = {"0": [[name, 0, 10]]}

    edit(folder, "filenames.json", lead_outside)
    trace = read_all(folder)
    assert trace.losses.height


def test_a_wave_file_that_never_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices and pipes are no files of a trace."""
    name = wave_file(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert "missing_files" in kinds(read_all(folder))
    (folder / "code.json").unlink()
    (folder / "code.json").symlink_to("/dev/zero")
    assert read_all(folder).losses.height


def test_hostile_names_do_not_command_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rename(occupancy: Any) -> None:
        occupancy["dispatches"] = dict.fromkeys(occupancy["dispatches"], "evil\x1b[2J\x07")

    edit(folder, "occupancy.json", rename)
    for verb in ("info", "stalls"):
        _, out, err = run(monkeypatch, capsys, verb, folder)
        assert "\x1b" not in out + err


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_archive(
    tmp_path: Path, share: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = zipped(tmp_path / "a.zip", {f"run/{name}": data for name, data in decoded_files().items()})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    code, _, err = run(monkeypatch, capsys, "stalls", path)
    assert code == 3
    assert "cannot be unpacked" in err


WEIRD = (
    *(None, -1, 1 << 63, 1 << 64, -(1 << 63), 1e308, 0.5, True, 255, 256, 65536, 1 << 200),
    *("", "x", "\0", "../../etc/passwd", "9" * 400, [], {}, [[]]),
)


def damaged(data: bytes, noise: random.Random) -> bytes:
    """Flip bytes, cut, nest, or put something strange into the JSON."""
    way = noise.random()
    if way < 0.5 and data[:1] in (b"{", b"["):
        content = json.loads(data)
        for _ in range(noise.randint(1, 3)):
            node, key = content, None
            while isinstance(node, dict | list) and node and (key is None or noise.random() < 0.8):
                parent, key = node, noise.choice(list(node) if isinstance(node, dict) else range(len(node)))
                node = parent[key]
            if key is not None:
                parent[key] = noise.choice(WEIRD)
        return json.dumps(content).encode()
    if way < 0.7:
        return data[: noise.randrange(len(data) + 1)]
    changed = bytearray(data)
    for _ in range(noise.choice((1, 4, 16))):
        if changed:
            changed[noise.randrange(len(changed))] = noise.randrange(256)
    return bytes(changed) + b"[" * noise.choice((0, 0, 20_000))


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(("seed", "gpu"), every_third_pair(range(25), ["gfx942", "gfx1201"]))
def test_mutations(tmp_path: Path, seed: int, gpu: str) -> None:
    """Random damage to one or two files, many times: a trace or one clear error, and never fewer rows in silence."""
    noise = random.Random(seed)
    pristine = write_decoded(tmp_path / "sound", gpu=gpu)
    before = wavewright.open(pristine)
    for number in range(8):
        folder = Path(shutil.copytree(pristine, tmp_path / f"{number}" / pristine.name))
        for file in noise.sample(sorted(folder.iterdir()), noise.randint(1, 2)):
            file.write_bytes(damaged(file.read_bytes(), noise))
        try:
            after = read_all(folder)
        except WavewrightError as error:
            assert error.what
            continue
        fewer = after.instructions.height < before.instructions.height or after.waves.height < before.waves.height
        assert after.losses.height or not fewer
