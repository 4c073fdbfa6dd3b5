"""tools/wheel: what links against an old libstdc++ needs nothing newer, and what is wrong with a wheel is noticed."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "wheel"))

import check_wheel  # noqa: E402
import old_libraries  # noqa: E402

import build  # noqa: E402 (lies beside the tool)

WHEEL = "wavewright-0.2.0-cp311-abi3-manylinux_2_28_x86_64.whl"
FOLDER = "wavewright-0.2.0.dist-info"
# Each of these is newer than manylinux_2_28: GLIBCXX 3.4.29, CXXABI 1.3.13, glibc 2.32, 2.33 and 2.34.
NEW_THINGS = """
#include <charconv>
#include <exception>
#include <mutex>
#include <sys/stat.h>
#include <vector>
static std::once_flag flag;
extern "C" int PyInit__core(char* first, char* last, double number, unsigned long size) {
    std::to_chars(first, last, number);
    std::from_chars(first, last, number);
    std::call_once(flag, [] {});
    std::exception_ptr error = std::current_exception(), other = error;
    struct stat about;
    int status = fstat(0, &about);
    return status + static_cast<int>(number) + static_cast<int>(std::vector<int>(size).size()) + *new int[size]();
}
"""


def needed_versions(library: Path) -> set[str]:
    listing = subprocess.run(
        ["readelf", "--version-info", "--wide", library], check=True, capture_output=True, text=True
    )
    return set(re.findall(r"Name: ((?:GLIBC|GLIBCXX|CXXABI|GCC)_[\d.]+)", listing.stdout))


@pytest.mark.parametrize("module", [check_wheel, old_libraries])
def test_examples(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried
    assert not failed


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["x86_64-linux-gnu-g++", "aarch64-linux-gnu-g++"])
def test_new_code_links_with_old_symbols(compiler: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler} here")
    (tmp_path / "new.cpp").write_text(NEW_THINGS)
    # Sections that nothing refers to go, as nanobind links modules: else parts of libstdc++.a bring more symbols along.
    link = [compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-Wl,--gc-sections", "new.cpp"]
    subprocess.run([*link, "-o", "as_it_is.so"], cwd=tmp_path, check=True)
    assert [version for version in needed_versions(tmp_path / "as_it_is.so") if not old_libraries.allowed(version)]

    old_libraries.make_folder(compiler, tmp_path / "old")
    exports = f"-Wl,--version-script={ROOT / 'tools' / 'wheel' / 'exports.map'}"
    subprocess.run([*link, f"-L{tmp_path / 'old'}", exports, "-o", "old.so"], cwd=tmp_path, check=True)
    needed = needed_versions(tmp_path / "old.so")
    assert {version.partition("_")[0] for version in needed} >= {"GLIBC", "GLIBCXX"}
    assert [version for version in needed if not old_libraries.allowed(version)] == []


def test_python_headers_need_no_folder_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's pyconfig.h includes another one, which a cross compiler does not have."""
    include, of_machine = tmp_path / "include" / "python3.11", tmp_path / "include" / "x86_64-linux-gnu" / "python3.11"
    for folder, text in ((include, "#include <x86_64-linux-gnu/python3.11/pyconfig.h>"), (of_machine, "#define REAL")):
        folder.mkdir(parents=True)
        (folder / "pyconfig.h").write_text(text)
    (include / "Python.h").write_text("#include <pyconfig.h>")
    monkeypatch.setattr(sysconfig, "get_path", {"include": str(include)}.__getitem__)
    monkeypatch.setattr(sysconfig, "get_config_var", {"MULTIARCH": "x86_64-linux-gnu"}.__getitem__)
    build.copy_python_headers(tmp_path / "copy")
    assert (tmp_path / "copy" / "Python.h").exists()
    assert (tmp_path / "copy" / "pyconfig.h").read_text() == "#define REAL"


def test_missing_and_strange_files_are_named() -> None:
    licences = [f"{FOLDER}/licenses/{name}" for name in check_wheel.NOTICES]
    tracked = check_wheel.tracked_files()
    names = [*check_wheel.WANTED, *tracked, *licences]
    assert check_wheel.content_problems(names, tracked) == []
    names.remove("wavewright/_web/page.js")
    names.remove("wavewright/mcp/tools/comparison.py")
    names.remove(f"{FOLDER}/licenses/licenses/LLVM.txt")
    names += ["wavewright/__pycache__/x.pyc", "wavewright/libother.so"]
    assert check_wheel.content_problems(names, tracked) == [
        "there is no wavewright/_web/page.js",
        "there is no wavewright/mcp/tools/comparison.py",
        "there is no .dist-info/licenses/licenses/LLVM.txt",
        "there is wavewright/__pycache__/x.pyc",
        "there is wavewright/libother.so",
    ]


@pytest.mark.parametrize(
    ("tag", "seconds", "problems"),
    [
        ("cp311-abi3-manylinux_2_28_x86_64", (0, 0), []),
        ("cp311-cp311-linux_x86_64", (0, 0), ["its tags are cp311-cp311-linux_x86_64"]),
        ("cp311-abi3-manylinux_2_28_x86_64", (0, 2), ["its files have 2 different times"]),
    ],
)
def test_tags_and_times(tmp_path: Path, tag: str, seconds: tuple[int, int], problems: list[str]) -> None:
    declared = "".join(f"License-File: {name}\n" for name in check_wheel.NOTICES)
    texts = {"WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n", "METADATA": f"Name: wavewright\n{declared}"}
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as archive:
        for (name, text), second in zip(texts.items(), seconds, strict=True):
            archive.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}", (2026, 11, 16, 0, 0, second)), text)
    with zipfile.ZipFile(tmp_path / WHEEL) as archive:
        assert check_wheel.metadata_problems(archive, Path(WHEEL)) + check_wheel.order_problems(archive) == problems


def test_new_symbols_and_foreign_modules_are_named() -> None:
    good = check_wheel.Symbols("EM_X86_64", {"libc.so.6"}, {"GLIBC": {"GLIBC_2.14"}}, {"PyInit__core"})
    assert check_wheel.symbol_problems(good, "x86_64") == []
    bad = check_wheel.Symbols("EM_X86_64", {"libz.so.1"}, {"GLIBC": {"GLIBC_2.34"}}, {"PyInit__core", "other"})
    assert check_wheel.symbol_problems(bad, "aarch64") == [
        "it needs libz.so.1",
        "it needs symbols of GLIBC_2.34",
        "it exports 2 symbols, not just PyInit__core",
        "its module is for EM_X86_64",
    ]
