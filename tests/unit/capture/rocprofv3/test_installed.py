"""ROCm on a machine: roots, AMD's own scripts of six releases, what a script that is none gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from synth.rooted_machine import RootedMachine
from tests.kit.amd_script import old_and_new
from wavewright.capture.rocprofv3.installation import (
    asked,
    decoder_files,
    find_installation,
    release_of_root,
    roots_of,
    site_packages,
    version_lines,
)
from wavewright.errors import MissingToolError

#: Folder of AMD's script -> release, SDK that --version tells, and options that it has or lacks.
SCRIPTS = {
    "0.4.0_rocm-6.2": ("6.2.0", "", "--kernel-names", "--pmc"),
    "0.5.0_rocm-6.3": ("6.3.0", "", "--kernel-iteration-range", "--att"),
    "1.0.0_rocm-7.0": ("7.0.0", "1.0.0", "--att", "--att-gpu-index"),
    "1.1.0_2026-01-14": ("7.11.0", "1.1.0", "--att-gpu-index", "--spm"),
    "1.3.0_therock-7.13": ("7.13.0", "1.3.0", "--att-perfcounter-target-only", "--spm"),
    "1.3.2_2026-07-13": ("7.14.0", "1.3.2", "--spm", "--att-no-intercept"),
}
HELP = (
    "usage: rocprofv3\n\n  -h, --help            show\n  --att [BOOL]          traces\n  --pmc X [X ...]       counts\n"
)


def _tree(shared: Path, folder: Path, script: str, *options: str) -> Path:
    maker = shared / "data/rocprofv3-tree/make_tree.py"
    if not maker.is_file():
        pytest.skip("../shared/data/rocprofv3-tree is not here")
    subprocess.run([sys.executable, maker, folder, "--version", script, *options], check=True, capture_output=True)
    return folder


def _stand_in(root: Path, *, version: str = "", status: int = 0, help_text: str = HELP) -> Path:
    """A rocprofv3 that answers with these texts."""
    path = root / "bin/rocprofv3"
    path.parent.mkdir(parents=True)
    lines = ("#!/bin/sh", 'if [ "$1" = --version ]; then cat <<"END"', version, "END", f"exit {status}; fi")
    path.write_text("\n".join((*lines, 'cat <<"END"', help_text, "END", "")), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("script", old_and_new(SCRIPTS))
def test_amds_script_of_a_release(shared: Path, tmp_path: Path, script: str) -> None:
    rocm, sdk, present, absent = SCRIPTS[script]
    root = _tree(shared, tmp_path / "opt/rocm", script, "--rocm", rocm)
    machine = RootedMachine(str(tmp_path), {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    assert roots_of(machine)[0].path == "/opt/rocm"
    installation = find_installation(machine)
    assert (installation.rocprofv3, installation.root) == ("/opt/rocm/bin/rocprofv3", "/opt/rocm")
    assert (installation.rocm_version, installation.sdk_version) == (rocm, sdk)
    assert present in installation.options and absent not in installation.options
    assert ("--echo" in installation.options) == (rocm >= "6.4")
    assert installation.decoder_folder == "/opt/rocm/lib"
    assert not installation.is_assumed
    assert (root / "lib/librocprof-trace-decoder.so").is_file()


def test_a_script_that_was_never_configured_tells_no_version(shared: Path, tmp_path: Path) -> None:
    published = shared / "data/rocprofv3-tree/scripts/1.3.2_2026-07-13/rocprofv3.py"
    path = tmp_path / "opt/rocm/bin/rocprofv3"
    path.parent.mkdir(parents=True)
    path.write_bytes(published.read_bytes())
    path.chmod(0o755)
    machine = RootedMachine(str(tmp_path), {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    installation = find_installation(machine)
    assert (installation.rocm_version, installation.sdk_version) == ("", "")
    assert "--spm" in installation.options


def test_no_rocm_is_an_error_that_says_so(tmp_path: Path) -> None:
    machine = RootedMachine(str(tmp_path))
    assert roots_of(machine) == ()
    with pytest.raises(MissingToolError, match="there is no rocprofv3"):
        find_installation(machine)
    with pytest.raises(MissingToolError, match="there is no program '/x/rocprofv3'"):
        find_installation(machine, "/x/rocprofv3")


def test_roots_are_ordered_and_each_is_listed_once(tmp_path: Path) -> None:
    for name in ("rocm-6.4.1", "rocm-7.2.0", "rocm-7.10.0"):
        _stand_in(tmp_path / "opt" / name, version="version: 1.1.0")
    (tmp_path / "opt/rocm").symlink_to("rocm-6.4.1")
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/rocprofv3").symlink_to("/opt/rocm-7.2.0/bin/rocprofv3")
    packages = tmp_path / "venv/lib/python3.12/site-packages"
    _stand_in(packages / "_rocm_sdk_core", version="version: 1.3.0")
    variables = {"ROCM_PATH": "/opt/rocm", "HIP_PATH": "/gone", "VIRTUAL_ENV": "/venv", "PATH": "/usr/bin"}
    machine = RootedMachine(str(tmp_path), variables)
    assert site_packages(machine) == ("/venv/lib/python3.12/site-packages",)
    assert [(root.path, root.reason) for root in roots_of(machine)] == [
        ("/opt/rocm-7.2.0", "rocprofv3 on PATH"),
        ("/opt/rocm-6.4.1", "ROCM_PATH"),
        ("/opt/rocm-7.10.0", "/opt"),
        ("/venv/lib/python3.12/site-packages/_rocm_sdk_core", "Python package"),
    ]
    assert find_installation(machine, "/opt/rocm/bin/rocprofv3").root == "/opt/rocm-6.4.1"


def test_the_starter_of_a_wheel_is_not_taken_for_a_rocm(tmp_path: Path) -> None:
    _stand_in(tmp_path / "venv/lib/python3.12/site-packages/_rocm_sdk_core", version="version: 1.3.0")
    starter = tmp_path / "venv/bin/rocprofv3"
    starter.parent.mkdir()
    starter.write_text("#!/venv/bin/python\nfrom rocm_sdk._cli import rocprofv3\n", encoding="utf-8")
    starter.chmod(0o755)
    machine = RootedMachine(str(tmp_path), {"PATH": "/venv/bin:/usr/bin:/bin", "VIRTUAL_ENV": "/venv"})
    assert find_installation(machine).root == "/venv/lib/python3.12/site-packages/_rocm_sdk_core"


@pytest.mark.parametrize("text, release", [
    ("7.2.0-43", "7.2.0"), ("6.3.1\n", "6.3.1"), ("\0\0", ""), ("x" * 100, ""), ("7", ""),
])  # fmt: skip
def test_release_of_a_root(tmp_path: Path, text: str, release: str) -> None:
    (tmp_path / "r/.info").mkdir(parents=True)
    (tmp_path / "r/.info/version").write_text(text, encoding="utf-8")
    assert release_of_root(RootedMachine(str(tmp_path)), "/r") == release


@pytest.mark.parametrize("text, release", [
    ('{"rocm_version": "7.13.0"}', "7.13.0"), ("[" * 100_000, ""), ("{", ""), ("[]", ""), ('{"rocm_version": 7}', ""),
])  # fmt: skip
def test_release_of_a_build_of_therock(tmp_path: Path, text: str, release: str) -> None:
    (tmp_path / "r/share/therock").mkdir(parents=True)
    (tmp_path / "r/share/therock/therock_manifest.json").write_text(text, encoding="utf-8")
    assert release_of_root(RootedMachine(str(tmp_path)), "/r") == release


def test_the_decoder_counts_under_its_plain_name_only(tmp_path: Path) -> None:
    for name in ("opt/rocm/lib", "a", "b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/librocprof-trace-decoder.so.0.1.6").touch()
    _stand_in(tmp_path / "opt/rocm", version="version: 1.1.0")
    variables = {"LD_LIBRARY_PATH": "relative:/a:/b", "PATH": "/bin"}
    machine = RootedMachine(str(tmp_path), variables)
    assert find_installation(machine).decoder_folder == ""
    assert list(decoder_files(machine, "/opt/rocm")) == [("/a", ("librocprof-trace-decoder.so.0.1.6",))]
    (tmp_path / "b/librocprof-trace-decoder.so").touch()
    assert find_installation(machine).decoder_folder == "/b"


@pytest.mark.parametrize("version, status, help_text, problem", [
    ("", 1, HELP, "--version ended with status 1: it printed nothing"),
    ("boom\x1b[2J", 127, HELP, "--version ended with status 127: boom[2J"),
    ("version: 1", 0, "nothing of use", "--help lists no options"),
])  # fmt: skip
def test_a_script_that_does_not_answer(tmp_path: Path, version: str, status: int, help_text: str, problem: str) -> None:
    _stand_in(tmp_path / "opt/rocm", version=version, status=status, help_text=help_text)
    machine = RootedMachine(str(tmp_path), {"PATH": "/bin"})
    assert asked(machine, "/opt/rocm/bin/rocprofv3").problem == problem
    with pytest.raises(MissingToolError, match=r"/opt/rocm/bin/rocprofv3: --"):
        find_installation(machine)


def test_lines_of_a_version() -> None:
    text = (
        "         version: 1.1.0\n    git_revision: @REV@\n  compiler_id: GNU: x\nno colon\n  : empty\n   a b: 1\nc:\n"
    )
    assert version_lines(text) == {"version": "1.1.0", "compiler_id": "GNU: x"}
