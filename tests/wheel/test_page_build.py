"""web/page.cmake: a page that was not made of the sources beside it does not pass, and what to do is one sentence."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = shutil.which("cmake", path=str(Path(sys.executable).parent)) or shutil.which("cmake")
FILES = {
    "index.html": "<html>",
    "package.json": "{}",
    "vite.config.ts": "1",
    "licences/MIT.txt": "MIT",
    "src/a/b.ts": "2",
}
VERSION = 'version = "0.2.0"'


def digest(web: Path, files: list[str]) -> str:
    lines = [f"{hashlib.sha256((web / file).read_bytes()).hexdigest()}  {file}" for file in sorted(files)]
    return hashlib.sha256("\n".join([VERSION, *lines]).encode()).hexdigest()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a page that was made of its sources."""
    web, page = tmp_path / "web", tmp_path / "src" / "wavewright" / "_web"
    for name, text in FILES.items():
        (web / name).parent.mkdir(parents=True, exist_ok=True)
        (web / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text(f"[project]\n{VERSION}\n")
    page.mkdir(parents=True)
    (page / "index.html").write_text("<html>")
    (page / "page.sources.txt").write_text(digest(web, list(FILES)) + "\n")
    shutil.copy(ROOT / "web" / "page.cmake", web)
    script = f'set(CMAKE_CURRENT_SOURCE_DIR "{tmp_path}")\ninclude("{web}/page.cmake")\n'
    (tmp_path / "try.cmake").write_text(script)
    return tmp_path


def build(tree: Path) -> subprocess.CompletedProcess[str]:
    """With no program in reach."""
    if CMAKE is None:
        pytest.skip("there is no CMake here")
    command = [str(Path(CMAKE).resolve()), "-P", "try.cmake"]
    return subprocess.run(command, cwd=tree, env={"PATH": str(tree)}, capture_output=True, text=True, check=False)


def test_a_page_of_these_sources_needs_no_node(tree: Path) -> None:
    done = build(tree)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "web" / "src" / "a" / "b.ts").write_text("3"),
        lambda tree: (tree / "web" / "src" / "c.ts").write_text(""),
        lambda tree: (tree / "web" / "licences" / "MIT.txt").unlink(),
        lambda tree: (tree / "pyproject.toml").write_text('version = "0.3.0"\n'),
        lambda tree: (tree / "src" / "wavewright" / "_web" / "index.html").unlink(),
        lambda tree: (tree / "src" / "wavewright" / "_web" / "page.sources.txt").unlink(),
    ],
    ids=["changed", "added", "removed", "version", "no page", "no digest"],
)
def test_any_other_page_does_not_pass(tree: Path, change: Callable[[Path], object]) -> None:
    change(tree)
    done = build(tree)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "there is no Node.js 20.19 or newer with npm to build it: install one, or let pip fetch it" in said


def program(tree: Path, name: str, text: str) -> None:
    file = tree / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("node", "npm", "sentence"),
    [
        ("v18.20.4", "exit 0", "there is no Node.js 20.19 or newer"),
        ("v24.1.0", "[ $1 = run ] || exit 1", "npm could not fetch the packages that it is built with"),
        ("v24.1.0", "[ $1 = ci ] || exit 1", "Vite failed"),
        ("v24.1.0", "exit 0", "Vite failed"),  # it said that all was well, and there is still the old page
    ],
)
def test_what_fails_is_said(tree: Path, node: str, npm: str, sentence: str) -> None:
    (tree / "web" / "src" / "a" / "b.ts").write_text("3")
    program(tree, "node", f"echo {node}")
    program(tree, "npm", npm)
    done = build(tree)
    assert done.returncode != 0
    assert sentence in " ".join(done.stderr.split())
