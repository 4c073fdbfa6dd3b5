"""Metrics of the user: read, numbered after ours, and every mistake told with its place."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from wavewright.errors import UsageError
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.panels import panels_of

GOOD = """
[[metrics]]
name = "LDS instructions per wave"
unit = "Instr/wave"
formula = "SQ_INSTS_LDS / SQ_WAVES"

[[metrics]]
name = "Share of F16"
unit = "%"
formula = "100 * mfma_flops_f16 / mfma_flops"
peak = "100"
panel = "GEMM"
table = "Types"
targets = ["gfx94x"]
about = "How much of the matrix work is in half precision."
"""


def written(tmp_path: Path, text: str) -> list[Path]:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    return [path]


def test_own_panels_come_after_ours(tmp_path: Path) -> None:
    own = [panel for panel in panels_of("gfx942", more=written(tmp_path, GOOD)) if panel.number >= 100]
    assert [(panel.number, panel.word, panel.title) for panel in own] == [
        (100, "own", "Own metrics"),
        (101, "own2", "GEMM"),
    ]
    share = own[1].tables[0].metrics[0]
    assert share.id == "101.1.0"
    assert share.formula == panels_of("gfx942", more=written(tmp_path, GOOD))[-1].tables[0].metrics[0].formula
    assert "SQ_INSTS_VALU_MFMA_MOPS_F8" in str(share.formula)
    assert own[0].tables[0].layout == "spread"
    assert own[1].tables[0].layout == "peak"


def test_metrics_of_other_targets_are_left_out(tmp_path: Path) -> None:
    assert [panel.title for panel in panels_of("gfx90a", more=written(tmp_path, GOOD))][-1] == "Own metrics"


def test_names_that_only_other_targets_have_leave_the_formula_empty(tmp_path: Path) -> None:
    text = "[[metrics]]\nname = 'a'\nunit = 'Ops'\nformula = 'mfma_flops'\n"
    assert panels_of("gfx908", more=written(tmp_path, text))[-1].tables[0].metrics[0].formula is None
    assert panels_of("gfx90a", more=written(tmp_path, text))[-1].tables[0].metrics[0].formula is not None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[metrics]]\nname = 'a'\nunit = '%'", "metric 1 .'a'.: has no `formula`"),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = 'A ** B'", "metric 1 .'a'., formula, character 1"),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = 'A'\npeak = 'A +'", "metric 1 .'a'., peak, character"),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = 'rate_magic * A'", "no quantity 'rate_magic' on gfx942"),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = ''", "formula is empty"),
        ("[[metrics]]\nname = 'a'\nunit = 5\nformula = 'A'", "unit: expected `str`, got `int`"),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = 'A'\ncolour = 'red'", "unknown key `colour`"),
        (
            "[[metrics]]\nname = 'a'\nunit = '%'\nformula = 'A'\ntargets = 'gfx942'",
            "targets: expected `array . null`, got `str`",
        ),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = '" + "A+" * 5000 + "A'", "longer than"),
        ("[[metrics]]\nname = 'a'\nunit = '%'\nformula = '" + "(" * 900 + "A" + ")" * 900 + "'", "metric 1"),
        ("[[metrics]]\nname = \"a\\u001b[31m\"\nunit = '%'\nformula = 'A'", "cannot be printed"),
        ("[[metric]]\nname = 'a'", "unknown key `metric`"),
        ("metrics = 3", "metrics: expected `array`"),
        ("", "has no `metrics`"),
        ("a = [" * 5000, "is not TOML"),
        ("name = ", "is not TOML"),
    ],
)
def test_mistakes_name_file_metric_and_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        panels_of("gfx942", more=written(tmp_path, text))
    assert "own.toml" in str(caught.value)


def test_size_and_number_are_bounded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="more than 1,048,576 bytes"):
        panels_of("gfx942", more=written(tmp_path, "#" * 1_100_000))
    one = "[[metrics]]\nname='a'\nunit='%'\nformula='A'\n"
    with pytest.raises(UsageError, match="metrics: expected `array` of length <= 2000"):
        panels_of("gfx942", more=written(tmp_path, one * 2001))
    with pytest.raises(UsageError, match="cannot be read"):
        panels_of("gfx942", more=[tmp_path / "none.toml"])
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is not TOML"):
        panels_of("gfx942", more=[tmp_path / "bytes.toml"])


def test_the_documented_example_works(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[4] / "docs" / "reference" / "metrics" / "README.md").read_text("utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    assert panels_of("gfx942", more=written(tmp_path, example))[-1].tables[0].metrics[0].name == "Share of F16"


WORDS = (
    "SQ_WAVES duration_ns mfma_flops rate_ipc TCC_HIT[i] sum(TCC_HIT[:]) max( ( ) + / * 1e308 - , __import__ lambda 0"
)
PIECES = st.sampled_from([*WORDS.split(), "9" * 400, "TCC_HIT[", "]", "é", "accumulated"])
FORMULAS = st.lists(PIECES, max_size=40).map(" ".join)
VALUES = st.one_of(FORMULAS, st.text(max_size=50), st.integers(), st.lists(st.text(max_size=5), max_size=3))


@settings(max_examples=examples(200), deadline=None)
@given(entry=st.dictionaries(st.sampled_from(["name", "unit", "formula", "peak", "targets", "panel", "x"]), VALUES))
def test_any_declaration_is_a_panel_or_one_sentence(entry: dict[str, object]) -> None:
    import json

    body = "\n".join(f"{key} = {json.dumps(value)}" for key, value in entry.items())
    with TemporaryDirectory() as folder:
        more = written(Path(folder), f"[[metrics]]\n{body}\n")
        try:
            made = panels_of("gfx942", more=more)
        except UsageError as error:
            assert "own.toml" in str(error)
        else:
            assert made[-1].number >= 18


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = " + "[" * 50_000, "is not TOML"),
        (f"[metrics{'.a' * 50_000}]\n", "a key of more than 64 parts"),
        (f"[[metrics]]\nname='x'\nunit='%'\nformula='1'\npeak={'9' * 5000}\n", "is not TOML"),
    ],
)
def test_files_made_to_exhaust_are_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        panels_of("gfx942", more=written(tmp_path, text))


def test_only_plain_files_are_read() -> None:
    with pytest.raises(UsageError, match="not a regular file"):
        panels_of("gfx942", more=[Path("/dev/zero")])


@pytest.mark.parametrize(
    ("short", "written_out"),
    [
        ("max(TCC_HIT[0:3])", "max(TCC_HIT[0], TCC_HIT[1], TCC_HIT[2])"),
        ("min(TCC_HIT[2:4])", "min(TCC_HIT[2], TCC_HIT[3])"),
        ("mean(TCC_HIT[1:5])", "sum(TCC_HIT[1:5]) / 4"),
    ],
)
def test_channels_have_extremes_and_a_mean(short: str, written_out: str) -> None:
    assert parse(short).node == parse(written_out).node


@pytest.mark.parametrize(
    "wrong", ["mean(TCC_HIT[:])", "max(TCC_HIT[4:4])", "mean(1, 2)", "max(TCC_HIT[0:9999])", "min(3)"]
)
def test_other_reductions_are_refused(wrong: str, tmp_path: Path) -> None:
    text = f"[[metrics]]\nname = 'a'\nunit = 'b'\nformula = '{wrong}'\n"
    with pytest.raises(UsageError):
        panels_of("gfx942", more=written(tmp_path, text))
