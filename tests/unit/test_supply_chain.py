"""What comes from others: locked by checksum, never run while it is installed, and named with its licence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from wavewright.errors import MissingToolError
from wavewright.export.page import write_html
from wavewright.model.run import Run
from wavewright.page.assets import page_folder

ROOT = Path(__file__).resolve().parents[2]
LOCK = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
BUNDLED = ("@lumino/widgets", "@preact/signals", "preact")


@pytest.fixture(scope="module")
def notices() -> str:
    try:
        return (page_folder() / "page.licences.txt").read_text(encoding="utf-8")
    except MissingToolError:
        pytest.skip("the page is not built here")


def test_every_package_has_a_checksum_and_names_no_host() -> None:
    packages = {name: entry for name, entry in LOCK.items() if name}
    assert len(packages) > 50
    assert [name for name, entry in packages.items() if not entry.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_every_platform_of_the_tools_is_locked() -> None:
    """Else `npm ci` would fetch something without a checksum there."""
    for entry in LOCK.values():
        natives = [name for name in entry.get("optionalDependencies", {}) if re.search(r"linux-(x64|arm64)", name)]
        assert [name for name in natives if f"node_modules/{name}" not in LOCK] == []
    assert "node_modules/@rolldown/binding-linux-arm64-gnu" in LOCK


@pytest.mark.parametrize("file", ["Makefile", "web/page.cmake"])
def test_scripts_of_packages_are_not_run(file: str) -> None:
    lines = [line for line in (ROOT / file).read_text().splitlines() if re.search(r'NPM[)}]"? ci\b', line)]
    assert lines
    assert all("--ignore-scripts" in line for line in lines)
    assert "ignore-scripts=true" in (ROOT / "web" / ".npmrc").read_text().splitlines()


def test_actions_are_pinned_and_may_only_read() -> None:
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text()
        used = re.findall(r"uses:\s*(\S+)", text)
        assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []
        assert re.search(r"^permissions:\n  contents: read$", text, re.MULTILINE)
        assert "write" not in re.findall(r"^permissions:\n((?:  .*\n)+)", text, re.MULTILINE)[0]


def test_the_job_that_publishes_installs_by_checksum() -> None:
    job = (ROOT / ".github/workflows/release.yml").read_text().partition("\n  publish:\n")[2]
    assert [line for line in job.splitlines() if "pip install" in line and "--require-hashes" not in line] == []
    lines = [line for line in (ROOT / ".github/twine.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9.-]+==[\w.]+ --hash=sha256:[0-9a-f]{64}", line)] == []
    assert any(line.startswith("twine==") for line in lines)


def test_it_is_said_where_to_report_a_hole() -> None:
    assert "privately" in (ROOT / "SECURITY.md").read_text()


@pytest.mark.parametrize("package", BUNDLED)
def test_the_built_page_names_what_it_is_made_of(notices: str, package: str) -> None:
    part = next(part for part in notices.split("-" * 80) if f"{package} " in part.strip().partition("\n\n")[0])
    assert re.search("Copyright", part, re.IGNORECASE)
    assert re.search("permission|permitted|License", part)


def test_an_exported_page_holds_the_licences(notices: str, tmp_path: Path) -> None:
    text = write_html(Run([]), tmp_path / "run.html").path.read_text(encoding="utf-8")
    held = re.search(r'<script type="text/plain" id="licences">\n(.*?)</script>', text, re.DOTALL)
    assert held is not None
    assert held[1] == notices
