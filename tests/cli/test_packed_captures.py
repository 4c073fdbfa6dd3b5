"""Raw captures in archives and packed files: the same answers as from the folder, and nothing is written."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synth.containers import hip_entry, host_elf, offload_bundle, packed_bundle
from synth.kernels import kernel_path
from tests.cli.conftest import Run
from wavewright.base.compression import zstd_library

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tar.xz": lzma.compress,
    ".tar.bz2": bz2.compress,
    ".tar.zst": lambda data: bytes(zstd_library().compress(data)),
}
VERBS = ("info", "hotspots", "stalls")


def _tar_of(folder: Path) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        tar.add(folder, arcname=".")
    return stream.getvalue()


def _zip_of(folder: Path, path: Path, method: int) -> Path:
    module: Any = zipfile
    if method == 93 and sys.version_info < (3, 14):
        module = pytest.importorskip("backports.zstd.zipfile")
    with module.ZipFile(path, "w", method) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    return path


def _answer(run: Run, verb: str, path: Path) -> Any:
    done = run(verb, path, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.replace(f"{path}!", str(path)).replace(str(path), "INPUT"))
    answer.pop("profiles", None)  # runs beside the traces are opened by their own paths
    return answer


def _check_equal(run: Run, folder: Path, packed: Path) -> None:
    for verb in VERBS:
        assert _answer(run, verb, packed) == _answer(run, verb, folder), verb


@pytest.mark.first_case
@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_capture_is_read_as_its_folder(run: Run, capture: Path, tmp_path: Path, suffix: str) -> None:
    packed = tmp_path / f"x{suffix}"
    packed.write_bytes(PACKERS[suffix](_tar_of(capture)))
    before = sorted(tmp_path.rglob("*"))
    _check_equal(run, capture, packed)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.first_case
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_a_zipped_capture_is_read_as_its_folder(run: Run, capture: Path, tmp_path: Path, method: int) -> None:
    _check_equal(run, capture, _zip_of(capture, tmp_path / "x.zip", method))


@pytest.mark.slow
def test_a_capture_of_a_machine(run: Run, shared: Path, tmp_path: Path) -> None:
    """With a database beside the traces, which tells how long the launches took."""
    source = shared / "data" / "att-mi300x-bmm" / "c01" / "raw"
    if not source.is_dir():
        pytest.skip("no raw capture in ../shared")
    folder = shutil.copytree(source, tmp_path / "raw", copy_function=shutil.copy)
    packed = tmp_path / "raw.tar.zst"
    packed.write_bytes(PACKERS[".tar.zst"](_tar_of(folder)))
    _check_equal(run, folder, packed)
    assert _answer(run, "info", packed)["dispatches"][1]["launch"]["call_count"] == 150


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("suffix", [".zst", ".gz", ".xz", ".bz2"])
def test_packed_traces_in_a_folder(run: Run, capture: Path, tmp_path: Path, suffix: str) -> None:
    packed = shutil.copytree(capture, tmp_path / "packed")
    for file in packed.glob("*.att"):
        file.with_name(f"{file.name}{suffix}").write_bytes(PACKERS[f".tar{suffix}"](file.read_bytes()))
        file.unlink()
    plain, unpacked = _answer(run, "hotspots", capture), _answer(run, "hotspots", packed)
    assert unpacked == plain
    (single, _) = sorted(packed.glob(f"*.att{suffix}"))
    alone, beside = _answer(run, "hotspots", single), capture / single.name.removesuffix(suffix)
    assert alone | {"source": None} == _answer(run, "hotspots", beside) | {"source": None}


def test_a_packed_trace_that_ends_early_gives_what_is_there(run: Run, capture: Path, tmp_path: Path) -> None:
    trace = sorted(capture.glob("*.att"))[0]
    packed = PACKERS[".tar.gz"](trace.read_bytes())
    for share in (0, 3, 7):
        cut = capture / f"{trace.name}.gz"
        cut.write_bytes(packed[: 20 + share * len(packed) // 8])
        done = run("info", cut, "--json")
        assert done.returncode in (0, 3), done.stderr
        assert "Traceback" not in done.stderr
        if done.returncode == 0:
            assert "end early" in done.stdout


def test_damaged_archives_say_so(run: Run, capture: Path, tmp_path: Path) -> None:
    data = PACKERS[".tar.zst"](_tar_of(capture))
    path = tmp_path / "cut.tar.zst"
    for end in (4, 5, 20, 200, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:end])
        done = run("info", path)
        assert done.returncode in (0, 2, 3), done.stderr
        assert "Traceback" not in done.stderr
        assert "zstd data" in done.stdout + done.stderr or "archive" in done.stdout + done.stderr or end < 8


@pytest.mark.slow
def test_a_bomb_is_refused(run: Run, tmp_path: Path) -> None:
    """Half a gigabyte of zeros in a tar in 20 kB."""
    compressor = zstd_library().ZstdCompressor()
    member = tarfile.TarInfo("se0.att")
    member.size = 512 << 20
    packed = compressor.compress(member.tobuf())
    packed += b"".join(compressor.compress(bytes(1 << 24)) for _ in range(32)) + compressor.flush()
    path = tmp_path / "bomb.tar.zst"
    path.write_bytes(packed)
    done = run("hotspots", path)
    assert done.returncode == 2
    assert "unpacks to more than 256 MiB" in done.stderr
    (tmp_path / "se0.att.zst").write_bytes(zstd_library().compress(bytes(300 << 20)))
    done = run("info", tmp_path / "se0.att.zst")
    assert "Traceback" not in done.stderr
    assert done.returncode == 3 or "unpacks to more than 256 MiB" in done.stdout


def test_code_objects_of_a_library(run: Run, tmp_path: Path) -> None:
    """`info` lists them; with one only, its kernels."""
    code = {target: kernel_path("saxpy", target).read_bytes() for target in ("gfx942", "gfx1100")}
    bundle = offload_bundle([(hip_entry(target), data) for target, data in code.items()])
    library = tmp_path / "lib.so"
    library.write_bytes(host_elf({".hip_fatbin": packed_bundle(bundle)}))
    shown = run("info", library)
    assert shown.returncode == 0, shown.stderr
    assert "2 GPU code objects" in shown.stdout
    assert "gfx1100: 1, gfx942: 1" in shown.stdout
    answer = json.loads(run("info", library, "--json").stdout)
    sizes = [(each["number"], each["target"], each["size_bytes"], each["packing"]) for each in answer["objects"]]
    assert sizes == [(number, target, len(data), "zstd") for number, (target, data) in enumerate(code.items())]
    single = tmp_path / "one.so"
    single.write_bytes(
        host_elf({".hip_fatbin": packed_bundle(offload_bundle([(hip_entry("gfx942"), code["gfx942"])]))})
    )
    kernels = json.loads(run("info", single, "--json").stdout)["kernels"]
    assert kernels == json.loads(run("info", kernel_path("saxpy", "gfx942"), "--json").stdout)["kernels"]
