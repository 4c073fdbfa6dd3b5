"""Formulas mean what Python's own arithmetic means; anything else is refused with its place."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.together import together
from wavewright.errors import UsageError
from wavewright.facts.metrics.expression import parse

NAMES = ("SQ_WAVES", "TCC_HIT", "norm", "busy_cycles")

formulas = st.recursive(
    st.sampled_from(NAMES) | st.integers(0, 9).map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda it: f"({it[0]} {it[1]} {it[2]})"),
        st.tuples(inner, st.sampled_from("+-"), inner).map(lambda it: f"{it[0]} {it[1]} {it[2]}"),
        st.tuples(inner, st.sampled_from(NAMES)).map(lambda it: f"({it[0]}) / {it[1]}"),
        inner.map(lambda it: f"(-({it}))"),
        st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(lambda it: f"{it[0]}({it[1]}, {it[2]})"),
    ),
    max_leaves=8,
)
values = st.lists(st.integers(1, 1000).map(float), min_size=len(NAMES), max_size=len(NAMES))


def plain(text: str, known: dict[str, float]) -> float:
    """What Python makes of the text."""
    return float(eval(text, {"max": max, "min": min}, dict(known)))  # noqa: S307 - the text is made above


def magnitude(text: str, known: dict[str, float]) -> float:
    """The largest that any part can be, to which rounding is relative."""
    return plain(text.replace("-", "+").replace("min", "max"), known) + 1.0


@settings(deadline=None)
@given(formulas, values)
def test_same_as_python(text: str, given_values: list[float]) -> None:
    known = dict(zip(NAMES, given_values, strict=True))
    twice = parse(text).evaluate({name: np.array([value, value]) for name, value in known.items()})
    for found in np.broadcast_to(twice, 2):
        assert abs(found - plain(text, known)) <= 1e-12 * magnitude(text, known)


@settings(deadline=None)
@given(formulas, values)
def test_degree_is_what_doubling_does(text: str, given_values: list[float]) -> None:
    known = dict(zip(NAMES, given_values, strict=True))
    doubled = {name: 2 * value for name, value in known.items()}
    degree = parse(text).degree(frozenset())
    if degree is not None:
        expected = float(parse(text).evaluate(known)) * 2**degree
        allowed = 1e-12 * max(magnitude(text, known) * 2**degree, magnitude(text, doubled))
        assert abs(float(parse(text).evaluate(doubled)) - expected) <= allowed


@together(
    "text, degree",
    [
        ("100 * TCC_HIT / (TCC_HIT + TCC_MISS)", 0),
        ("64 * TCC_REQ / cu_count", 1),
        ("max(TCC_REQ - TCC_HIT, 0) / TCC_REQ", 0),
        ("100 - 100 * TCC_HIT / TCC_REQ", 0),
        ("SQ_WAVES", 1),
        ("SQ_WAVES * TCC_HIT", 2),
        ("1 / SQ_WAVES", -1),
        ("SQ_WAVES + 1", None),
        ("max(SQ_WAVES, 1)", None),
        ("cu_count", 0),
        ("0", 0),
    ],
)
def test_degree(text: str, degree: float | None) -> None:
    assert parse(text).degree(frozenset({"cu_count"})) == degree


def test_what_a_formula_reads() -> None:
    expression = parse("sum(TCC_HIT[:]) + sum(TCC_MISS[0:16]) + TCC_REQ[3] / norm + TCC_REQ[i] + TCC_REQ[3]")
    assert [leaf.text for leaf in expression.leaves] == [
        "sum(TCC_HIT[:])",
        "sum(TCC_MISS[0:16])",
        "TCC_REQ[3]",
        "norm",
        "TCC_REQ[i]",
    ]
    assert expression.counters == ("TCC_HIT", "TCC_MISS", "TCC_REQ")
    assert expression.quantities == ("norm",)
    assert expression.is_per_channel
    assert [(leaf.first, leaf.end) for leaf in expression.leaves[:3]] == [(0, -1), (0, 16), (3, None)]


def test_division_by_zero() -> None:
    expression = parse("TCC_HIT / TCC_REQ")
    given_values = {"TCC_HIT": np.array([1.0, 1.0, 0.0]), "TCC_REQ": np.array([2.0, 0.0, 0.0])}
    assert np.array_equal(expression.evaluate(given_values), [0.5, math.nan, math.nan], equal_nan=True)
    assert np.array_equal(expression.evaluate(given_values, zero="zero"), [0.5, 0, 0])
    assert np.array_equal(expression.evaluate(given_values, zero="infinity"), [0.5, math.inf, math.nan], equal_nan=True)


def test_channels_broadcast() -> None:
    found = parse("TCC_HIT[i] / norm").evaluate({"TCC_HIT[i]": np.array([[2.0, 4.0], [6.0, 8.0]]), "norm": [1.0, 2.0]})
    assert found.tolist() == [[2.0, 2.0], [6.0, 4.0]]


def test_differences_of_amounts_are_not_negative() -> None:
    expression = parse("(TCC_REQ - TCC_HIT + TCC_MISS) / norm")
    given_values = {
        name: np.array(it)
        for name, it in {
            "TCC_REQ": [10.0, 1.0],
            "TCC_HIT": [2.0, 5.0],
            "TCC_MISS": [1.0, 1.0],
            "norm": [1.0, 1.0],
        }.items()
    }
    told: list[tuple[str, list[float], list[float]]] = []
    found = expression.evaluate(
        given_values,
        constants=frozenset(),
        negative=lambda text, total, above: told.append((text, total.tolist(), above.tolist())),
    )
    assert found.tolist() == [9.0, 0.0]
    assert told == [("TCC_REQ - TCC_HIT + TCC_MISS", [9.0, -3.0], [11.0, 2.0])]
    assert expression.evaluate(given_values).tolist() == [9.0, -3.0]


def test_shares_may_be_negative() -> None:
    found = parse("100 - 100 * TCC_HIT / TCC_REQ").evaluate({"TCC_HIT": 3.0, "TCC_REQ": 2.0}, constants=frozenset())
    assert float(found) == -50.0


@together(
    "text, what",
    [
        ("", "empty"),
        ("   ", "empty"),
        ("TCC_HIT +", "character"),
        ("  TCC_HIT ** 2", "character 3"),
        ("TCC_HIT // 2", "only"),
        ("a if TCC_HIT else b", "only"),
        ("TCC_HIT.real", "only"),
        ("Tcc_Hit", "upper-case"),
        ("TCC_HIT and TCC_MISS", "only"),
        ("TCC_HIT < 2", "only"),
        ("__import__('os')", "functions"),
        ("max(TCC_HIT)", "two"),
        ("max(*TCC_HIT, 1)", "only"),
        ("sum(TCC_HIT)", "channels"),
        ("sum(TCC_HIT[::2])", "channels"),
        ("sum(TCC_HIT[4:4])", "no channel"),
        ("TCC_HIT[-1]", "channel"),
        ("TCC_HIT[99999]", "channel"),
        ("TCC_HIT[j]", "channel"),
        ("norm[1]", "only counters"),
        ("'text'", "number"),
        ("True", "number"),
        ("1j", "number"),
        ("1e400", "number"),
        ("TCC_HIT = 1", "character"),
        ("lambda: 1", "only"),
        ("(x := 1)", "only"),
        ("[1]", "only"),
        ("\x00", "character"),
        ("-" * 3000 + "1", "nested"),
        ("(" * 300 + "1" + ")" * 300, "character"),
        ("+".join(["A"] * 1999), "parts"),
        ("A" * 5000, "too long"),
        ("µ", "upper-case"),
    ],
)
def test_refused(text: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert what in str(caught.value)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        parse(text)
