"""Build the source distribution and the wheels from it: what `make sdist` and `make wheel` run.

The same commit gives the same files, wherever the clone lies: only files that git tracks and the built page go in,
their time is that of the commit, tools are those of requirements.txt, paths are cut from what the compiler writes, and
the archives are sorted. This holds for one compiler and one minor version of Python; releases are built on Debian 12
(docs/adr/0024-old-symbols-from-a-new-compiler.md).

usage: python tools/wheel/build.py [--sdist-only] [--out FOLDER] [MACHINE...]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import old_libraries

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "wheel"
TOOLS = WORK / "tools"
PAGE = Path("src/wavewright/_web")
MACHINES = ("x86_64", "aarch64")
PLATFORM = "manylinux_2_28"  # the limits of old_libraries.py; the wheels that we depend on ask for 2.26 to 2.28

CALL = """
import json, sys
from scikit_build_core import build
print(getattr(build, sys.argv[1])(sys.argv[2], json.loads(sys.argv[3])))
"""


def main() -> None:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(description="Build the source distribution and the wheels.")
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"{' or '.join(MACHINES)} (default: both)")
    parser.add_argument("--sdist-only", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    machines = options.machines or list(MACHINES)
    if strange := set(machines) - set(MACHINES):
        parser.error(f"no wheel is built for {', '.join(sorted(strange))}; there are {', '.join(MACHINES)}")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    environment = prepare_tools()
    files = [make_sdist(export_tree(), out, environment)]
    if not options.sdist_only:
        source = unpack(files[0])
        files += [make_wheel(source, machine, out, environment) for machine in machines]
    for file in files:
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.stat().st_size:>8}  {file.name}")


def prepare_tools() -> dict[str, str]:
    """Install the build tools, in the versions of requirements.txt; returns the environment to build in."""
    requirements = HERE / "requirements.txt"
    stamp = TOOLS / "requirements.txt"
    if not stamp.exists() or stamp.read_bytes() != requirements.read_bytes():
        venv.create(TOOLS, with_pip=True, clear=True)
        pip = [str(TOOLS / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", "--no-deps", "--only-binary", ":all:", "-r", str(requirements)], check=True)
        shutil.copy(requirements, stamp)
    commit_time = _git("log", "-1", "--format=%ct").strip()
    if _git("status", "--porcelain", "--untracked-files=no").strip():
        print(
            "note: there are changes that are not committed; what is built is not that of the commit", file=sys.stderr
        )
    allowed = {
        name: os.environ[name] for name in ("CMAKE_BUILD_PARALLEL_LEVEL", "HOME", "TMPDIR") if name in os.environ
    }
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**allowed, "PATH": path, "SOURCE_DATE_EPOCH": commit_time, "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}


def export_tree() -> Path:
    """A copy of the files that git tracks, with the built page."""
    if not (ROOT / PAGE / "index.html").exists():
        raise SystemExit("the page is not built: run make page")
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    names = [name for name in _git("ls-files", "-z").split("\0") if name]
    for name in [*names, *(str(file.relative_to(ROOT)) for file in sorted((ROOT / PAGE).iterdir()))]:
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        target.chmod(0o755 if os.access(ROOT / name, os.X_OK) else 0o644)
    return tree


def make_sdist(tree: Path, out: Path, environment: dict[str, str]) -> Path:
    """The source distribution of the tree."""
    return _backend("build_sdist", tree, out, {}, environment)


def unpack(sdist: Path) -> Path:
    """The folder of an unpacked source distribution."""
    folder = WORK / "source"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "--extract", "--gzip", "--file", sdist, "--directory", folder], check=True)
    return next(folder.iterdir())


def make_wheel(source: Path, machine: str, out: Path, environment: dict[str, str]) -> Path:
    """The wheel for Linux on this machine, cross-compiled where it is not the one that we run on."""
    compiler = f"{machine}-linux-gnu-g++"
    if not shutil.which(compiler):
        raise SystemExit(f"there is no {compiler}: install g++-{machine.replace('_', '-')}-linux-gnu")
    libraries, objects, headers = WORK / f"libraries-{machine}", WORK / f"objects-{machine}", WORK / "python"
    old_libraries.make_folder(compiler, libraries)
    copy_python_headers(headers)
    shutil.rmtree(objects, ignore_errors=True)
    # The longest path first: the last map that fits counts.
    maps = {ROOT: "/wavewright", WORK: "/build", TOOLS: "/tools", source: "/wavewright"}
    defines = {
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_CXX_FLAGS": " ".join(f"-ffile-prefix-map={path}={name}" for path, name in maps.items()),
        "CMAKE_MODULE_LINKER_FLAGS": f"-L{libraries} -Wl,--build-id=none -Wl,--version-script={HERE / 'exports.map'}",
        "Python_INCLUDE_DIR": str(headers),
    }
    if machine != os.uname().machine:
        defines |= {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": machine}
    settings = {f"cmake.define.{name}": value for name, value in defines.items()}
    settings |= {"wheel.tags": f"cp311-abi3-{PLATFORM}_{machine}", "build-dir": str(objects)}
    return _backend("build_wheel", source, out, settings, environment)


def copy_python_headers(folder: Path) -> None:
    """Python's headers by themselves, for every machine.

    Debian's pyconfig.h includes that of the machine that is compiled for, from a folder that the other machine's does
    not have here. Within the limited API those of x86_64 and aarch64 say the same: both are 64-bit Linux.
    """
    include = Path(sysconfig.get_path("include"))
    of_machine = include.parent / str(sysconfig.get_config_var("MULTIARCH")) / include.name / "pyconfig.h"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(include, folder)
    shutil.copyfile(of_machine if of_machine.exists() else sysconfig.get_config_h_filename(), folder / "pyconfig.h")


def _backend(hook: str, folder: Path, out: Path, settings: dict[str, str], environment: dict[str, str]) -> Path:
    """Call the build backend as pip would."""
    command = [str(TOOLS / "bin" / "python"), "-c", CALL, hook, str(out), json.dumps(settings)]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{hook} failed, see above")
    return out / done.stdout.splitlines()[-1]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
