"""Whatever the numbers are, verdicts are well-formed: no crash, no gain beyond all time, no certainty from nothing."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from wavewright.analysis.counters.limiters.evidence import VERDICTS, EvidenceValue
from wavewright.analysis.counters.limiters.verdicts import judged
from wavewright.facts.counters.limiters import LIMITER_RULES, QUANTITIES

NUMBERS = st.one_of(
    st.none(),
    st.floats(min_value=0, max_value=110),
    st.sampled_from([0.0, 10.0, 50.0, 80.0, 100.0, 105.0, 1e12, -1.0, math.nan, math.inf]),
)
VALUES = st.dictionaries(st.sampled_from(sorted(QUANTITIES)), st.tuples(NUMBERS, st.booleans(), st.booleans()))


@settings(max_examples=examples(150), deadline=None)
@given(VALUES)
def test_verdicts_are_well_formed(numbers: dict[str, tuple[float | None, bool, bool]]) -> None:
    values = {
        name: EvidenceValue(
            name,
            number,
            exists=exists,
            missing=() if number is not None else ("SQ_WAVES",),
            reason="why",
            at_most=2 * number if is_bound and number is not None else None,
        )
        for name, (number, exists, is_bound) in numbers.items()
    }
    found = judged(values)
    asked = {
        name
        for name, rule in LIMITER_RULES.items()
        if not rule.is_optional or any(test.quantity in values for test in rule.decides)
    }
    assert {one.name for one in found} == asked
    for one in found:
        assert one.verdict in VERDICTS
        assert one.reason
        assert one.confidence in ("high", "medium", "low")
        assert one.gain_share_max is None or 0 <= one.gain_share_max <= 1
        if one.verdict in ("at limit", "likely"):
            decides = {*LIMITER_RULES[one.name].decides, *LIMITER_RULES[one.name].instead}
            assert any(test.quantity in values and values[test.quantity].is_measured for test in decides)
        if one.verdict == "at limit":
            assert LIMITER_RULES[one.name].at_most == "at limit"


@settings(max_examples=examples(100), deadline=None)
@given(st.floats(min_value=0, max_value=100), st.floats(min_value=0, max_value=100))
def test_a_busier_unit_is_never_less_limiter(one: float, other: float) -> None:
    order = {"at limit": 2, "likely": 1, "excluded": 0}

    def rank(number: float) -> int:
        return next(
            order[s.verdict]
            for s in judged({"lds_busy": EvidenceValue("lds_busy", number)})
            if s.name == "LDS bandwidth"
        )

    low, high = sorted((one, other))
    assert rank(low) <= rank(high)
