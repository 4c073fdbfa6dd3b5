"""For tests of programs: fail when a capture is slower than its baseline.

Examples
--------
>>> from wavewright.testing import assert_not_slower
>>> assert_not_slower("new.db", "main.wwbase", step="train_step")  # doctest: +SKIP
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.common.gate import GateAnswer

    AnyPath = str | os.PathLike[str]

__all__ = ["assert_not_slower"]


def assert_not_slower(
    current: AnyPath | Sequence[AnyPath],
    baseline: AnyPath | Sequence[AnyPath],
    *,
    step: str | None = None,
    threshold: float = 5.0,
    subjects: Sequence[str] = (),
    allow_unsure: bool = False,
) -> GateAnswer:
    """Judge captures by a baseline as `wavewright gate` does, and give the answer where it passes.

    Parameters
    ----------
    current, baseline
        Captures; several are repeats. The baseline may be a file of `wavewright baseline`, which says what a step is.
    threshold
        Percent by which a quantity may get worse.
    subjects
        What to judge: gpu-time, kernel, step, cycles, ...; nothing = what fits the captures.
    allow_unsure
        Whether what cannot be told passes.

    Raises
    ------
    AssertionError
        When it got worse, or that cannot be told; its text is the report as Markdown.
    """
    from wavewright.analysis.common.gate import gate
    from wavewright.analysis.run.compare.run_baseline import renamed_kernels
    from wavewright.cluster.measurements import kind_of_paths, measured
    from wavewright.readers.baseline import is_baseline, read_baseline
    from wavewright.words.gate import gate_markdown

    paths, base_paths = _paths(current), _paths(baseline)
    if len(base_paths) == 1 and is_baseline(Path(base_paths[0])):
        base = read_baseline(Path(base_paths[0]))
        new = measured(paths, base.kind, step=step or base.step, kernel=base.filters.get("kernel"))
    else:
        kind = kind_of_paths([*paths, *base_paths])
        base, new = (measured(each, kind, step=step) for each in (base_paths, paths))
    pairs = renamed_kernels(base, new) if base.kind == "run" else {}
    answer = gate(new, base, threshold=threshold / 100, subjects=subjects, pairs=pairs)
    if answer.verdict == "fail" or (answer.verdict == "cannot tell" and not allow_unsure):
        raise AssertionError(gate_markdown(answer))
    return answer


def _paths(given: AnyPath | Sequence[AnyPath]) -> list[str]:
    return [os.fspath(given)] if isinstance(given, str | os.PathLike) else [os.fspath(path) for path in given]
