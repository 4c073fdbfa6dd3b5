"""How often an opening lists each directory: every listing costs a round trip on network file systems."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import write_counters
from tests.kit.made_decoded import NAME, write_decoded

COUNTED = """
import sys
from pathlib import Path
root, found = sys.argv[1], []
def listed(event, arguments):
    if event in ("os.scandir", "os.listdir") and str(arguments[0]).startswith(root):
        found.append(str(Path(arguments[0])))
sys.addaudithook(listed)
from wavewright.page.inputs import add_inputs
from wavewright.model.document import Library
add_inputs(Library(), [Path(root)])[0].opened
print("\\n".join(found))
"""


def listings(folder: Path) -> Counter[str]:
    """Directories below a folder, with how often opening the folder for the page lists them."""
    done = subprocess.run([sys.executable, "-c", COUNTED, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Counter(done.stdout.split())


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walks")
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), folder / "raw" / "host")
    write_decoded(folder / "decoded" / "host" / NAME)
    write_counters(folder / "counters")
    return folder


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["raw", "decoded", "counters"])
def test_an_opening_lists_a_directory_few_times(inputs: Path, kind: str) -> None:
    counts = listings(inputs / kind)
    assert counts, "the audit hook saw nothing"
    assert max(counts.values()) <= 2, counts
