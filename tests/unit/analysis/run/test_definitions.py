"""Numbers in the definitions of results are those that the analyses use."""

from __future__ import annotations

import pytest

from wavewright.analysis.run.contents.summary import Summary
from wavewright.analysis.run.graph.path import LEAST_EXPLAINED, CriticalPath
from wavewright.analysis.run.measures.statistics import EXACT_VALUES, QUANTILE_ERROR
from wavewright.analysis.run.ranks.collective_times import MOST_CALLS, Collectives
from wavewright.analysis.run.ranks.ranks import Ranks
from wavewright.model.answer import Answer


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Summary, f"exact up to {EXACT_VALUES} distinct durations, and else at most {QUANTILE_ERROR:.2%} off"),
        (CriticalPath, f"below {LEAST_EXPLAINED:.0%} of the span"),
        (Collectives, f"the first {MOST_CALLS:,} calls count"),
        (Ranks, f"the first {MOST_CALLS:,} calls are compared"),
    ],
)
def test_a_definition_has_the_numbers_of_its_analysis(result: type[Answer], words: str) -> None:
    assert words in result.definition
