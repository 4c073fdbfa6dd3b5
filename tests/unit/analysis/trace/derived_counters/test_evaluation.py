"""Values of expressions: every operator, function and rule of broadcasting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.together import together
from tests.unit.analysis.trace.derived_counters.expressions import HERE, leaves, trees
from wavewright.analysis.trace.derived_counters import evaluation
from wavewright.analysis.trace.derived_counters.evaluation import evaluate
from wavewright.analysis.trace.derived_counters.parser import parse
from wavewright.analysis.trace.derived_counters.syntax import Definition, Expression

Tensor = npt.NDArray[np.float32]


def tensor(values: object, *shape: int) -> Tensor:
    return np.array(values, dtype=np.float32).reshape(shape)


RAW = {
    "t": tensor([1, 2, 4, 8], 1, 1, 1, 4),
    "se": tensor([10, 20], 1, 2, 1, 1),
    "cu": tensor([1, 2, 3], 1, 1, 3, 1),
    "all": tensor(range(24), 1, 2, 3, 4),
    "three": tensor([1, 2, 3], 1, 1, 1, 3),
    "NUM_SAMPLES": tensor([4], 1, 1, 1, 1),
}


def value(text: str) -> list[float] | float:
    definitions, problems = parse(f"x := {text}")
    assert problems == []
    values, failed = evaluate(definitions, RAW)
    assert failed == []
    assert values["x"].dtype == np.float32 and values["x"].ndim == 4
    flat: list[float] = values["x"].ravel().tolist()
    return flat[0] if len(flat) == 1 else flat


def problem(text: str) -> str:
    definitions, problems = parse(text)
    assert problems == []
    _, failed = evaluate(definitions, RAW)
    return "; ".join(map(str, failed))


@together(
    "text, expected",
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("8 / 4 / 2", 1),
        ("7 - 2 - 1", 4),
        ("-(2 + 3) * -1", 5),
        ("t + 1", [2, 3, 5, 9]),
        ("t * t", [1, 4, 16, 64]),
        ("t > 2", [0, 0, 1, 1]),
        ("t >= 2", [0, 1, 1, 1]),
        ("t < 2", [1, 0, 0, 0]),
        ("t <= 2", [1, 1, 0, 0]),
        ("t == 2", [0, 1, 0, 0]),
        ("t > 1 & t < 8", [0, 1, 1, 0]),
        ("t == 1 | t == 8", [1, 0, 0, 1]),
        ("t & 0", [0, 0, 0, 0]),
        ("5 | 0", 1),
        ("3 < 2 == 0", 1),  # from left to right: (3 < 2) == 0
        ("se + cu", [11, 12, 13, 21, 22, 23]),
        ("sum[all]", 276),
        ("mean[all]", 11.5),
        ("max[all]", 23),
        ("min[all]", 0),
        ("sum[all, axis=TIME]", [6, 22, 38, 54, 70, 86]),
        ("sum[all, axis=[SE, CU]]", [60, 66, 72, 78]),
        ("max[all, axis=SE]", list(range(12, 24))),
        ("sum[all, axis=All]", 276),
        ("select[t, 0]", 1),
        ("select[t, -1]", 8),
        ("select[t, 1:3]", [2, 4]),
        ("select[t, 0:4:2]", [1, 4]),
        ("select[t, 0:NUM_SAMPLES]", [1, 2, 4, 8]),
        ("select[t, (NUM_SAMPLES - 1)]", 8),
        ("sum[(select[all, 1, axis=SE])]", 210),
        ("remove[t, 0]", [2, 4, 8]),
        ("remove[t, -1]", [1, 2, 4]),
        ("remove[cu, 1, axis=CU]", [1, 3]),
        ("delta[t]", [1, 2, 4]),
        ("delta[se, axis=SE]", 10),
        ("linear(3)", [0, 1, 2]),
        ("linear(2, axis=SE) + se", [10, 21]),
        ("max(t, 3)", [3, 3, 4, 8]),
        ("min(t, 3, 2)", [1, 2, 2, 2]),
        ("max(se, cu)", [10, 10, 10, 20, 20, 20]),
        ("1 / 0", np.inf),
        ("-1 / 0", -np.inf),
        ("16777216 + 1", 16777216),  # 32-bit floats
    ],
)
def test_values(text: str, expected: float | list[float]) -> None:
    assert value(text) == expected


def test_zero_by_zero_is_not_a_number() -> None:
    assert np.isnan(value("0 / 0"))


@together(
    "text, said",
    [
        ("x := nope + 1", "1:6: x: unknown name nope"),
        ("x := t + three", "1:8: x: axis TIME has 4 values on one side and 3 on the other"),
        ("x := max(t, three)", "1:6: x: axis TIME has 4 values on one side and 3 on the other"),
        ("x := select[t, 4]", "1:6: x: index 4 of axis TIME, which has 4 values"),
        ("x := select[t, -5]", "1:6: x: index -5 of axis TIME, which has 4 values"),
        ("x := select[t, 1:5]", "1:6: x: 1:5 does not lie inside 0:4 of axis TIME"),
        ("x := select[t, 2:2]", "1:6: x: 2:2 does not lie inside 0:4 of axis TIME"),
        ("x := select[t, -2:4]", "1:6: x: -2:4 does not lie inside 0:4 of axis TIME"),
        ("x := select[t, 0:4:0]", "1:6: x: the step of a range is at least 1"),
        ("x := select[t, (t)]", "1:17: x: one integer is needed here"),
        ("x := select[t, 0.5]", "1:16: x: one integer is needed here"),
        ("x := select[t, (0/0)]", "1:18: x: one integer is needed here"),
        ("x := remove[t, 9]", "1:6: x: index 9 of axis TIME, which has 4 values"),
        ("x := remove[se, 0]", "1:6: x: remove would leave nothing along TIME"),
        ("x := delta[se]", "1:6: x: delta needs at least two values along TIME"),
        ("x := linear(0)", "1:6: x: linear(n) needs a number from 1 to 16,777,216"),
        ("x := linear(1e30)", "1:6: x: one integer is needed here"),
        ("t := 1", "1:1: t: t is already the name of a counter or constant"),
        ("x := y\ny := nope", "2:6: y: unknown name nope; 1:6: x: needs y, which has no value"),
        ("x := x + 1", "1:6: x: the definitions go round in a circle: x -> x"),
    ],
)
def test_what_has_no_value_says_why_and_where(text: str, said: str) -> None:
    assert problem(text) == said


def test_circles_are_found_and_spoil_only_those_that_need_them() -> None:
    definitions, _ = parse("a := b\nb := c + 1\nc := a\nd := c\ne := 2")
    values, failed = evaluate(definitions, {})
    assert set(values) == {"e"}
    assert any("a -> b -> c -> a" in p.message for p in failed)
    assert {p.name for p in failed} == {"a", "b", "c", "d"}


def test_order_does_not_matter_and_long_chains_of_definitions_work() -> None:
    count = 5000
    lines = [f"v{number} := v{number + 1} + 1" for number in range(count)]
    values, failed = evaluate(parse("\n".join([*lines, f"v{count} := 0"]))[0], {})
    assert failed == []
    assert values["v0"].item() == count


def test_a_result_that_would_be_too_large_is_refused() -> None:
    assert "the result would have" in problem("x := linear(5000) + linear(5000, axis=SE)")


def test_all_results_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MAX_KEPT_ELEMENTS", 100)
    assert problem("a := linear(60)\nb := linear(60)") == "2:1: b: all definitions together are too large"


def test_only_what_is_wanted_is_computed() -> None:
    values, failed = evaluate(parse("a := b\nb := 1\nc := nope")[0], {}, wanted=["a"])
    assert set(values) == {"a", "b"}
    assert failed == []


sizes = st.sampled_from([(1, 1, 1, 1), (1, 2, 1, 1), (1, 1, 3, 1), (1, 1, 1, 4), (1, 2, 3, 4)])


@settings(deadline=None)
@given(sizes, sizes, st.sampled_from("+-*"), st.randoms(use_true_random=False))
def test_broadcasting_equals_spelling_it_out(
    left: tuple[int, ...], right: tuple[int, ...], sign: str, random: object
) -> None:
    generator = np.random.default_rng(random.randint(0, 1 << 30))  # type: ignore[attr-defined]
    a, b = (generator.integers(-50, 50, shape).astype(np.float32) for shape in (left, right))
    values, _ = evaluate(parse(f"x := a {sign} b")[0], {"a": a, "b": b})
    result = values["x"]
    assert result.shape == tuple(map(max, left, right))
    for index in np.ndindex(*result.shape):
        one = a[tuple(i if size > 1 else 0 for i, size in zip(index, left, strict=True))]
        two = b[tuple(i if size > 1 else 0 for i, size in zip(index, right, strict=True))]
        assert result[index] == {"+": one + two, "-": one - two, "*": one * two}[sign]


@settings(deadline=None)
@given(st.recursive(leaves(st.sampled_from([*RAW, "nope"])), trees, max_leaves=10))
def test_any_expression_has_a_value_or_a_reason(expression: Expression) -> None:
    values, failed = evaluate([Definition("x", expression, HERE)], RAW)
    assert bool(values) != bool(failed)
    for result in values.values():
        assert result.ndim == 4 and result.dtype == np.float32 and result.size > 0
    for problem in failed:
        assert problem.message
