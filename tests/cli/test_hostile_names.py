"""Names and texts from a stranger's trace cannot command the terminal, whatever verb shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.kernels import source_paths
from tests.cli.conftest import Run

EVIL = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
VERBS = (
    ("info",),
    ("hotspots",),
    ("hotspots", "--by", "function"),
    ("hotspots", "--by", "line"),
    ("stalls",),
    ("waits",),
    ("latency",),
    ("lanes",),
    ("loops",),
    ("waves",),
    ("states",),
    ("coverage",),
    ("occupancy",),
    ("source", "--isa"),
    ("source", "--source"),
    ("source", "--function", "nothing like it"),
    ("diagnose",),
    ("hotspots", "--kernel", "nothing like it"),
    ("hotspots", "--file", "nothing like it"),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """A decoded directory whose instructions, functions, kernels and source files have hostile names."""
    folder = tmp_path_factory.mktemp("hostile")
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, realtime_pairs=2)
    write_capture(synthesize(scenario), folder / "raw")
    sources = source_paths("tiled_gemm")[0].parent
    assert run("decode", folder / "raw", "-o", folder / "out", "--source-root", sources).returncode == 0
    (decoded,) = (folder / "out").glob("ui_output_*")
    code = json.loads((decoded / "code.json").read_text())
    for row in code["code"]:
        row[0] += EVIL
        row[3] = row[3].replace("/wavewright/kernels/", f"/wavewright{EVIL}/{EVIL}")
    (decoded / "code.json").write_text(json.dumps(code))
    occupancy = json.loads((decoded / "occupancy.json").read_text())
    occupancy["dispatches"] = {key: name + EVIL for key, name in occupancy["dispatches"].items()}
    (decoded / "occupancy.json").write_text(json.dumps(occupancy))
    return decoded


@pytest.mark.slow
@pytest.mark.parametrize("arguments", VERBS, ids=" ".join)
def test_nothing_commands_the_terminal(run: Run, hostile: Path, arguments: tuple[str, ...]) -> None:
    done = run(arguments[0], hostile, *arguments[1:])
    assert done.returncode in (0, 2)
    shown = done.stdout + done.stderr
    assert {c for c in shown if not c.isprintable()} <= {"\n"}
    assert "bug in wavewright" not in shown
