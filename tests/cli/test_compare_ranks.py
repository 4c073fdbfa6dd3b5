"""`compare --side-rank`: two ranks of one run are two sides; what is not one rank per path is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth import Workload, write_rocpd_ranks
from tests.cli.in_process import call


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "ranks"
    write_rocpd_ranks(folder, Workload(dispatches=120, ranks=3))
    return folder


@pytest.mark.slow
def test_each_path_has_its_rank(ranks: Path) -> None:
    def gpu_ns(*options: object) -> list[float]:
        sides = json.loads(call("compare", ranks, ranks, "--json", *options).stdout)["sides"]["rows"]
        return [side["gpu_ns"] for side in sides]

    (first, same), (last, _) = gpu_ns("--rank", 0), gpu_ns("--rank", 2)
    assert first == same != last
    assert gpu_ns("--side-rank", 0, "--side-rank", 2) == [first, last]


def test_one_rank_for_two_paths_is_refused(ranks: Path) -> None:
    done = call("compare", ranks, ranks, "--side-rank", 0)
    assert done.status == 2
    assert "1 time --side-rank for 2 paths" in done.stderr
    assert "give it once for each PATH" in done.stderr
