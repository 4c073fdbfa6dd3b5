"""Code objects in whatever holds them: all are there, with their names, and only once."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from synth.containers import (
    AARCH64,
    X86_64,
    ar_archive,
    hip_entry,
    host_elf,
    offload_binary,
    offload_bundle,
    packed_bundle,
)
from synth.kernels import kernel_path
from tests.kit.together import together
from wavewright.base.compression import zstd_library
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.containers import code_objects_in
from wavewright.errors import NotATraceError, UnsupportedError, UsageError

HOST = ("host-x86_64-unknown-linux-gnu-", b"")
CODE = {target: kernel_path("saxpy", target).read_bytes() for target in ("gfx942", "gfx1100", "gfx1201")}
BUNDLE = offload_bundle([HOST, *((hip_entry(target), code) for target, code in CODE.items())], 4096)


def _aligned(*parts: bytes, alignment: int = 4096) -> bytes:
    return b"".join(part + bytes(-len(part) % alignment) for part in parts)


def _read(data: bytes) -> dict[str, bytes]:
    contents = code_objects_in(data)
    assert contents.losses == ()
    assert [each.number for each in contents.objects] == list(range(len(contents.objects)))
    return {f"{each.target}{each.settings}": each.read() for each in contents.objects}


@together("version", [1, 2, 3])
@together("packing", ["zlib", "zstd"])
def test_packed_bundles_hold_what_went_in(version: int, packing: str) -> None:
    packed = packed_bundle(BUNDLE, version=version, packing=packing)
    assert _read(packed) == CODE
    assert {each.packing for each in code_objects_in(packed).objects} == {packing}
    assert CodeObject.from_bytes(packed, target="gfx1100").target == "gfx1100"


@together("machine", [X86_64, AARCH64])
@together("version", [None, 1, 2, 3])
def test_libraries_hold_many_bundles(machine: int, version: int | None) -> None:
    single = [offload_bundle([HOST, (hip_entry(target), code)]) for target, code in CODE.items()]
    bundles = single if version is None else [packed_bundle(bundle, version=version) for bundle in single]
    library = host_elf({".text": b"\x90" * 5000, ".hip_fatbin": _aligned(*bundles), ".hipFatBinSegment": bytes(48)})
    assert _read(library) == CODE
    places = [each.place for each in code_objects_in(library).objects]
    assert places[0] == ".hip_fatbin+0x0"
    assert len(set(places)) == 3


def test_archives_hold_objects_of_host_and_device() -> None:
    members = {
        "a.o": host_elf({".hip_fatbin": packed_bundle(offload_bundle([HOST, (hip_entry("gfx942"), CODE["gfx942"])]))}),
        "an_object_with_a_long_name.o": host_elf({".text": b"\x90"}),
        "another_object_with_a_long_name.o": CODE["gfx1100"],
        "odd.o": host_elf({".llvm.offloading": offload_binary(CODE["gfx1201"], "gfx1201")}) + b"\0",
    }
    for bsd in (False, True):
        archive = ar_archive(members, bsd=bsd)
        assert _read(archive) == CODE
        places = [each.place for each in code_objects_in(archive).objects]
        assert places == [
            "(a.o): .hip_fatbin+0x0",
            "(another_object_with_a_long_name.o)",
            "(odd.o): .llvm.offloading+0x0",
        ]


def test_sections_of_bundled_objects() -> None:
    sections = {f"__CLANG_OFFLOAD_BUNDLE__{hip_entry(target)}": code for target, code in CODE.items()}
    assert _read(host_elf({"__CLANG_OFFLOAD_BUNDLE__host-x86_64-unknown-linux-": b"\0", **sections})) == CODE


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstd_library().compress])
def test_packed_files(pack: object) -> None:
    assert callable(pack)
    assert _read(pack(CODE["gfx942"])) == {"gfx942": CODE["gfx942"]}
    assert _read(pack(packed_bundle(BUNDLE))) == CODE
    assert CodeObject.from_bytes(pack(CODE["gfx942"])).kernels == CodeObject.from_bytes(CODE["gfx942"]).kernels


def test_equal_code_objects_are_named_once() -> None:
    bundle = offload_bundle([HOST, (hip_entry("gfx942"), CODE["gfx942"])])
    library = host_elf({".hip_fatbin": _aligned(bundle, packed_bundle(bundle), packed_bundle(bundle, packing="zlib"))})
    assert _read(library) == {"gfx942": CODE["gfx942"]}
    other = bytearray(CODE["gfx942"])
    other[-1] ^= 1  # the same size
    changed = offload_bundle([HOST, (hip_entry("gfx942"), bytes(other))])
    library = host_elf({".hip_fatbin": _aligned(bundle, packed_bundle(bundle), packed_bundle(changed))})
    assert [each.read() for each in code_objects_in(library).objects] == [CODE["gfx942"], bytes(other)]


def test_a_choice_by_gpu_settings_and_number() -> None:
    names = ["gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx942", "gfx9-4-generic"]
    entries = [(hip_entry(name), CODE["gfx942"][:-1] + bytes([number])) for number, name in enumerate(names)]
    contents = code_objects_in(offload_bundle(entries), where="lib.so")
    assert [each.name for each in contents.objects] == names
    assert contents.choose("gfx942").number == 2
    assert contents.choose("gfx90a:xnack+").number == 1
    assert contents.choose("gfx9-4-generic").number == 3
    assert contents.choose(number=0).settings == ":sramecc+:xnack-"
    with pytest.raises(
        UsageError, match=r"lib.so: 2 code objects for gfx90a; choose one of 0: gfx90a:sramecc\+:xnack-"
    ):
        contents.choose("gfx90a")
    with pytest.raises(UsageError, match="no code object for gfx1100; choose one of 0: "):
        contents.choose("gfx1100")
    with pytest.raises(UsageError, match="no code object 4; choose one of"):
        contents.choose(number=4)


def test_what_is_not_machine_code_is_told() -> None:
    entries = [
        (hip_entry("gfx942"), CODE["gfx942"]),
        (hip_entry("gfx1100"), b"BC\xc0\xde" + bytes(100)),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07" + bytes(100)),
    ]
    contents = code_objects_in(offload_bundle(entries))
    assert [each.target for each in contents.objects] == ["gfx942"]
    assert [word in loss.message for loss, word in zip(contents.losses, ("bitcode", "SPIR-V"), strict=True)] == [
        True
    ] * 2
    packed = code_objects_in(packed_bundle(offload_bundle(entries)))
    with pytest.raises(NotATraceError, match="bitcode"):
        packed.objects[1].read()


def test_only_headers_of_a_large_library_are_read(tmp_path: Path) -> None:
    """A sparse file of 64 GB: reading it would take minutes."""
    fatbin = packed_bundle(BUNDLE)
    head = host_elf({".text": b"\x90" * 64, ".hip_fatbin": fatbin})
    path = tmp_path / "large.so"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(64 << 30)
    assert {each.target for each in code_objects_in(path).objects} == set(CODE)


def test_what_has_no_code_object_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="thin archive"):
        code_objects_in(b"!<thin>\n" + bytes(100))
    with pytest.raises(NotATraceError, match="an archive without code"):
        code_objects_in(ar_archive({"a.o": b"nothing"}))
    with pytest.raises(UnsupportedError, match="for AArch64 without code for an AMD GPU"):
        code_objects_in(host_elf({".text": b"\0"}, machine=AARCH64))
    with pytest.raises(NotATraceError, match="not a regular file"):
        code_objects_in(tmp_path)
    with pytest.raises(NotATraceError, match="no code object \\(it is empty\\)"):
        code_objects_in(b"")


def _bundler() -> str:
    tool = shutil.which("clang-offload-bundler-22") or shutil.which("clang-offload-bundler")
    if tool is None:
        pytest.skip("no clang-offload-bundler here (apt-get install clang-tools-22)")
    return tool


@pytest.mark.parametrize("version", ["", "2", "3"])
def test_bundles_of_clang(tmp_path: Path, version: str) -> None:
    """What clang's own tool bundles and packs."""
    tool = _bundler()
    inputs = [str(kernel_path("saxpy", target)) for target in CODE]
    command = [tool, "-type=o", f"-targets={','.join([HOST[0], *map(hip_entry, CODE)])}", "-input=/dev/null"]
    command += [f"-input={path}" for path in inputs] + [f"-output={tmp_path / 'x.hipfb'}", "-bundle-align=4096"]
    command += ["-compress"] if version else []
    environment = os.environ | {"COMPRESSED_BUNDLE_FORMAT_VERSION": version or "3"}
    subprocess.run(command, check=True, env=environment)
    data = (tmp_path / "x.hipfb").read_bytes()
    assert data[:6] == (b"CCOB" + bytes([int(version), 0]) if version else b"__CLAN")
    assert _read(data) == CODE
    (tmp_path / "ours.hipfb").write_bytes(packed_bundle(BUNDLE, version=int(version or 3)))
    unbundled = [*command[:2], f"-targets={hip_entry('gfx942')}", f"-input={tmp_path / 'ours.hipfb'}"]
    subprocess.run([*unbundled, f"-output={tmp_path / 'out.co'}", "-unbundle"], check=True, env=environment)
    assert (tmp_path / "out.co").read_bytes() == CODE["gfx942"]
