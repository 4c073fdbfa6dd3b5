"""Archives: unpacked in memory, never trusted."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kit.sampling import every_third
from wavewright.base.compression import zstd_library
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.readers.files import archive as archive_module
from wavewright.readers.files import text
from wavewright.readers.files.archive import Archive, is_archive, traces_in
from wavewright.readers.files.decoded_traces import decoded_in_archive

FILES = {"top/run/filenames.json": b"{}", "top/run/code.json": b'{"code":null}', "top/notes_kernel_trace.csv": b"x"}


def tar_bytes(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        for member in more:
            tar.addfile(member)
    return stream.getvalue()


def zip_bytes(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def plain(data: bytes) -> bytes:
    return data


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": plain,
    ".tar.xz": lzma.compress,
    ".tar.gz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.zst": zstd_library().compress,
}


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", [*PACKERS, ".zip"])
def test_every_kind_of_archive(tmp_path: Path, suffix: str) -> None:
    data = zip_bytes(FILES) if suffix == ".zip" else PACKERS[suffix](tar_bytes(FILES))
    path = write(tmp_path / f"odd_name{suffix}.download", data)
    assert is_archive(path)
    read = Archive.read(path)
    assert read.losses == []
    assert read.folders["top/run"].read("code.json") == FILES["top/run/code.json"]
    assert read.folders["top/run"].path_of("code.json") is None
    (found,) = decoded_in_archive(read)
    assert found.is_placeholder
    assert any("notes_kernel_trace.csv" in folder.names() for folder in found.around)


def test_compressed_text_is_no_archive(tmp_path: Path) -> None:
    assert not is_archive(write(tmp_path / "results.json.gz", gzip.compress(b"{}" * 400)))
    assert not is_archive(write(tmp_path / "empty", b""))
    assert not is_archive(write(tmp_path / "zeros", bytes(2048)))


def test_archive_without_a_top_folder(tmp_path: Path) -> None:
    files = {"filenames.json": b"{}", "code.json": b"{}"}
    path = write(tmp_path / "ui_output_agent_3_dispatch_9.tar.xz", lzma.compress(tar_bytes(files)))
    (found,) = decoded_in_archive(Archive.read(path))
    assert (found.agent, found.dispatch) == (3, 9)


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "/etc/evil.json", "a/../../evil.json", "a\\..\\evil.json", "C:/evil.json", "a/\x1b[2J.json"],
)
def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.tar", tar_bytes({name: b"evil", "run/filenames.json": b"{}"}))
    read = Archive.read(path)
    assert list(read.folders) == ["run"]
    assert [loss.kind for loss in read.losses] == ["archive_entries"]
    assert "\x1b" not in read.losses[0].message


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_left_out(tmp_path: Path, kind: bytes) -> None:
    link = tarfile.TarInfo("run/code.json")
    link.type, link.linkname = kind, "/etc/passwd"
    read = Archive.read(write(tmp_path / "a.tar", tar_bytes({"run/filenames.json": b"{}"}, link)))
    assert "code.json" not in read.folders["run"].names()
    assert [loss.kind for loss in read.losses] == ["archive_entries"]


def test_zip_links_are_left_out(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("run/code.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("run/filenames.json", "{}")
        archive.writestr(link, "/etc/passwd")
    read = Archive.read(tmp_path / "a.zip")
    assert list(read.folders["run"].names()) == ["filenames.json"]
    assert read.losses[0].count == 1


def test_a_name_twice(tmp_path: Path) -> None:
    data = tar_bytes({"run/code.json": b"1"})[:1024] + tar_bytes({"run/code.json": b"2"})
    read = Archive.read(write(tmp_path / "a.tar", data))
    assert read.folders["run"].read("code.json") == b"2"
    assert "stored twice" in read.losses[0].message


@pytest.mark.parametrize("suffix", [*PACKERS])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_truncated_archives(tmp_path: Path, suffix: str, share: float) -> None:
    noise = random.Random(7)
    files = {f"run/se0_sm0_sl0_wv{n}.json": noise.randbytes(1500) for n in range(40)}
    whole = PACKERS[suffix](tar_bytes(files))
    path = write(tmp_path / f"a{suffix}", whole[: int(len(whole) * share)])
    try:
        read = Archive.read(path)
    except NotATraceError as error:
        assert "cannot be unpacked" in error.what
    else:
        assert read.losses[0].kind == "broken_archive"
        assert 0 < read.losses[0].count == read.file_count < len(files)
        assert all(read.folders["run"].read(name.partition("/")[2]) == files[name] for name in list(files)[:1])


def test_truncated_zip(tmp_path: Path) -> None:
    path = write(tmp_path / "a.zip", zip_bytes(FILES)[:-30])
    with pytest.raises(NotATraceError, match="cannot be unpacked"):
        Archive.read(path)


@pytest.mark.parametrize("suffix", [".tar.xz", ".tar.gz", ".zip"])
def test_bombs(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "SMALL_BYTES", 1 << 20)
    files = {f"run/source_{n}": bytes(1 << 20) for n in range(8)}
    data = zip_bytes(files) if suffix == ".zip" else PACKERS[suffix](tar_bytes(files))
    path = write(tmp_path / f"bomb{suffix}", data)
    with pytest.raises(UsageError, match="unpacks to more than"):
        Archive.read(path)


def test_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_MEMBERS", 10)
    path = write(tmp_path / "a.tar", tar_bytes({f"run/{n}": b"" for n in range(20)}))
    with pytest.raises(UsageError, match="more than 10 entries"):
        Archive.read(path)


def test_a_sparse_file_of_any_size(tmp_path: Path) -> None:
    """A sparse member claims a terabyte of zeros in a few bytes."""
    sparse = tarfile.TarInfo("run/source_1")
    sparse.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,0",
        "GNU.sparse.size": str(1 << 40),
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(sparse)
    read = Archive.read(write(tmp_path / "a.tar", stream.getvalue()))
    assert read.file_count == 0


@pytest.mark.parametrize("seed", every_third(range(60)))
def test_flipped_bytes(tmp_path: Path, seed: int) -> None:
    noise = random.Random(seed)
    suffix = noise.choice([*PACKERS, ".zip"])
    data = bytearray(zip_bytes(FILES) if suffix == ".zip" else PACKERS[suffix](tar_bytes(FILES)))
    for _ in range(noise.randint(1, 6)):
        data[noise.randrange(len(data))] = noise.randrange(256)
    path = write(tmp_path / f"a{suffix}", bytes(data))
    try:
        Archive.read(path)
    except WavewrightError as error:
        assert error.what


ZIP_METHODS = {"stored": 0, "deflated": 8, "bzip2": 12, "lzma": 14, "zstd": 93}


@pytest.mark.parametrize("method", ZIP_METHODS)
@pytest.mark.parametrize("offset", range(30, 400, 57))
def test_damaged_members_of_zips(tmp_path: Path, method: str, offset: int) -> None:
    """Damage in the data of a member is told, whatever packed it; the members before it are there."""
    module: Any = zipfile
    if method == "zstd" and sys.version_info < (3, 14):
        module = pytest.importorskip("backports.zstd.zipfile")
    noise = random.Random(3)
    stream = io.BytesIO()
    with module.ZipFile(stream, "w", ZIP_METHODS[method]) as archive:
        archive.writestr("run/filenames.json", b"{}")
        archive.writestr("run/code.json", noise.randbytes(500) + bytes(500))
        begin = archive.getinfo("run/code.json").header_offset + 30 + len("run/code.json")
    data = bytearray(stream.getvalue())
    data[begin + offset] ^= 0x55
    read = Archive.read(write(tmp_path / "a.zip", bytes(data)))
    assert [loss.kind for loss in read.losses] == ["broken_archive"]
    assert list(read.folders["run"].names()) == ["filenames.json"]


@pytest.mark.first_case
@pytest.mark.parametrize("suffix", [suffix for suffix in PACKERS if suffix != ".tar"])
def test_what_packed_archives_say_of_damage(tmp_path: Path, suffix: str) -> None:
    """The same words for every packing: what is damaged, and how much was read."""
    noise = random.Random(5)
    files = {f"run/se0_sm0_sl0_wv{n}.json": noise.randbytes(30_000) for n in range(60)}  # more than a block of bzip2
    whole = PACKERS[suffix](tar_bytes(files))
    packing = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2", ".zst": "zstd"}[suffix.removeprefix(".tar")]
    cut = Archive.read(write(tmp_path / f"cut{suffix}", whole[:-20_000]))
    assert [loss.kind for loss in cut.losses] == ["broken_archive"]
    assert cut.losses[0].detail == f"the {packing} data end early"
    damaged = bytearray(whole)
    damaged[-20_000:-19_000] = bytes(1000)
    read = Archive.read(write(tmp_path / f"damaged{suffix}", bytes(damaged)))
    has_sums = packing != "zstd"  # `zstd` writes them, Python's module does not
    assert [loss.kind for loss in read.losses] == ["broken_archive"] * has_sums
    assert all(loss.detail.startswith(f"the {packing} data are damaged") for loss in read.losses)
    assert read.file_count > 0
    first = write(tmp_path / f"first{suffix}", whole[:8])
    with pytest.raises(NotATraceError, match=f"the {packing} data end early"):
        Archive.read(first)
    holding = write(tmp_path / f"raw{suffix}", PACKERS[suffix](tar_bytes({"se0.att": noise.randbytes(300_000)}))[:-1])
    assert traces_in(holding) == "raw", "names before the damage tell"
    assert traces_in(first) == ""
