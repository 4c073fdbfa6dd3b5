"""Definitions of derived counters, evaluated for one trace."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wavewright.analysis.trace.derived_counters.builtin import BUILTIN
from wavewright.analysis.trace.derived_counters.evaluation import evaluate
from wavewright.analysis.trace.derived_counters.parser import parse
from wavewright.analysis.trace.derived_counters.syntax import Definition, SyntaxProblem
from wavewright.analysis.trace.derived_counters.tensors import RawTensors, Tensor, raw_tensors
from wavewright.base.bounds import ENGINE, bounded
from wavewright.model.trace import ThreadTrace

MAX_CURVES = 10  #: Curves of one counter that keeps an axis besides time.


@dataclass(frozen=True)
class DerivedValues:
    """Definitions and their values."""

    definitions: tuple[Definition, ...]  #: Those that have a value and are to be shown.
    values: Mapping[str, Tensor]
    raw: RawTensors
    mistakes: tuple[SyntaxProblem, ...]  #: Definitions that cannot be read.
    problems: tuple[SyntaxProblem, ...]  #: Definitions of the user without a value.


@bounded(se=ENGINE)
def derived_values(
    trace: ThreadTrace, *, definitions: str | None = None, names: Sequence[str] = (), se: int | None = None
) -> DerivedValues:
    """Tensors of the built-in derived counters, or of the user's `definitions`, which may use the built-in ones.

    Definitions that cannot be read are in `mistakes`, the others are evaluated. `se`: only its samples count.
    """
    builtin, _ = parse(BUILTIN)
    parsed, mistakes = parse(definitions) if definitions is not None else (builtin, [])
    raw = raw_tensors(trace, names, se=se)
    by_name = {definition.name: definition for definition in parsed}
    others = [definition for definition in builtin if definition.name not in by_name]
    has_counters = bool(raw.counters) or definitions is not None
    values, failed = evaluate([*parsed, *others], raw.values, wanted=list(by_name) if has_counters else [])
    public = [d for name, d in by_name.items() if name in values and not name.startswith("_")]
    user_problems = [problem for problem in failed if definitions is not None and problem.name in by_name]
    return DerivedValues(tuple(public), values, raw, tuple(mistakes), tuple(user_problems))


def indices(shape: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Indices of the axes other than time, at most `MAX_CURVES` of them.

    Examples
    --------
    >>> list(indices((1, 2, 1, 100)))
    [(0, 0, 0), (0, 1, 0)]
    """
    xccs, engines, cus, _ = shape
    return itertools.islice(itertools.product(range(xccs), range(engines), range(cus)), MAX_CURVES)
