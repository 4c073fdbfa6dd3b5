"""`wavewright metrics`: panels, lists and explanations, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.in_process import call
from wavewright.facts.metrics.families import METRIC_TARGETS


def test_panels_are_listed_with_their_size_on_each_target() -> None:
    done = call("metrics")
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    channels = next(line for line in lines if " channels " in line)
    assert channels.split()[-1] == "20"
    assert next(line for line in lines if " l2 " in line).split()[-5:] == ["49", "49", "49", "50", "76"]


def test_a_metric_is_explained_by_id_name_and_counter() -> None:
    text = call("metrics", "17.1.2", "--target", "MI300X").stdout
    assert "100 * TCC_HIT / (TCC_HIT + TCC_MISS)" in text
    assert "Share of the requests to L2" in " ".join(text.split())
    text = call("metrics", "l2 cache bw").stdout
    assert "defect T6" in text
    assert "128 * l2_channel_count * clock_mhz_max / 1000" in text
    assert "Stall Cycles" in call("metrics", "SQC_TC_STALL").stdout
    assert "L2-Fabric Atomic Latency" in call("metrics", "TCC_EA_ATOMIC_LEVEL_sum", "--target", "gfx90a").stdout


def test_names_in_formulas_are_found() -> None:
    assert "L2-Fabric Write BW" in call("metrics", "fabric_write_bytes", "--target", "gfx942").stdout
    assert "IPC" in call("metrics", "rate_ipc", "--target", "gfx942").stdout


def test_ids_differ_between_targets_and_are_told_for_each() -> None:
    text = call("metrics", "MFMA FLOPs (F16)").stdout
    assert "2.1.3 on gfx908, gfx90a; 2.1.4 on gfx94x, gfx950" in " ".join(text.split())


def test_many_matches_become_a_list() -> None:
    done = call("metrics", "l2", "--target", "gfx950")
    assert "76 metrics; name one of them" in done.stdout
    assert len(done.stdout.splitlines()) == 78


def test_json_is_one_object_with_every_form() -> None:
    answer = json.loads(call("metrics", "18.1.0", "--json").stdout)
    (metric,) = answer["metrics"]
    assert [list(form["ids"]) for form in metric["forms"]] == [["gfx908", "gfx90a"], [*METRIC_TARGETS][2:6]]
    assert metric["forms"][0]["defect"] == "T2"
    assert "[28]" in metric["forms"][0]["reference_formula"]
    assert metric["forms"][0]["counters"] == ["TCC_HIT", "TCC_MISS"]


def test_shells_complete_names_panels_and_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    import click
    from click.shell_completion import BashComplete

    from wavewright.cli import _group

    command = _group.get_command(click.Context(_group), "metrics")
    assert command is not None

    def completed(*words: str) -> list[str]:
        *before, last = words
        complete = BashComplete(command, {}, "wavewright", "_WAVEWRIGHT_COMPLETE")
        return [item.value for item in complete.get_completions(before, last)]

    assert completed("--target", "gfx94") == ["gfx940", "gfx941", "gfx942"]
    assert completed("--panel", "ch") == ["channels"]
    assert "L2 Cache Hit Rate" in completed("l2 c")


def test_csv_has_a_row_per_metric_and_target() -> None:
    rows = list(csv.DictReader(io.StringIO(call("metrics", "--panel", "sol", "--panel", "12", "--csv").stdout)))
    assert {row["panel"] for row in rows} == {"sol", "lds"}
    assert sum(row["target"] == "gfx950" for row in rows) == 33 + 22


def test_own_metrics_are_listed_and_their_mistakes_told(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[[metrics]]\nname = 'Per wave'\nunit = 'Instr/wave'\nformula = 'SQ_INSTS / SQ_WAVES'\n")
    assert "SQ_INSTS / SQ_WAVES" in call("metrics", "--more", own, "--panel", "own").stdout
    own.write_text("[[metrics]]\nname = 'Per wave'\nunit = 'Instr/wave'\nformula = 'SQ_INSTS SQ_WAVES'\n")
    done = call("metrics", "--more", own)
    assert done.status == 2
    assert "own.toml, metric 1 ('Per wave'), formula, character" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("hit rat3",), "did you mean"),
        (("no such thing at all",), "wavewright metrics"),
        (("",), "no metric"),
        (("--panel", "l9"), "no panel 'l9'"),
        (("--target", "gfx900"), "no metrics are declared for gfx900"),
        (("--target", "H100"), "no facts about a GPU"),
    ],
)
def test_what_is_not_there_is_one_sentence(arguments: tuple[str, ...], told: str) -> None:
    done = call("metrics", *arguments)
    assert done.status == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("width", ["80", "120", "200"])
@pytest.mark.slow
def test_no_line_is_wider_than_the_terminal(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    for arguments in ((), ("--target", "gfx950"), ("--panel", "l2"), ("hit",), ("IPC (Issued)",)):
        text = call("metrics", *arguments).stdout
        assert max(map(len, text.splitlines())) <= int(width)
