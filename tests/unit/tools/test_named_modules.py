from __future__ import annotations

from tools.check_docs import dead_names


def test_names_that_moved_are_told() -> None:
    text = "see `analysis.trace.costs.row_costs`, `wavewright.open_run`, `analysis.histogram`, `wavewright.words.plots`"
    assert dead_names(text) == ["analysis.histogram", "words.plots"]
