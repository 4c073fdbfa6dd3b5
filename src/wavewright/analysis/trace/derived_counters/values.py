"""Definitions of derived counters, evaluated for one trace."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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

    >>> list(indices((1, 2, 1, 100)))
    [(0, 0, 0), (0, 1, 0)]
    """
    xccs, engines, cus, _ = shape
    return itertools.islice(itertools.product(range(xccs), range(engines), range(cus)), MAX_CURVES)


_UTILIZATION = """\
# Share of the peak in per cent: what all CUs do in a step, against the most busy cycles of each CU in any step.
_reduce_busy := sum[(max[BUSY_CU_CYCLES, axis=TIME]), axis=[XCC, SE, CU]] + 1e-6
MISC_util := 100 * sum[ACTIVE_INST_MISC, axis=[XCC, SE, CU]] / _reduce_busy
SCA_util := 100 * sum[ACTIVE_INST_SCA, axis=[XCC, SE, CU]] / _reduce_busy
FLAT_util := 200 * sum[ACTIVE_INST_FLAT, axis=[XCC, SE, CU]] / _reduce_busy
LDS_util := 200 * sum[ACTIVE_INST_LDS, axis=[XCC, SE, CU]] / _reduce_busy
VMEM_util := 200 * sum[ACTIVE_INST_VMEM, axis=[XCC, SE, CU]] / _reduce_busy
VALU_util := 100 * sum[ACTIVE_INST_VALU, axis=[XCC, SE, CU]] / _reduce_busy
MFMA_util := 100 * sum[VALU_MFMA_BUSY_CYCLES, axis=[XCC, SE, CU]] / _reduce_busy / 4
_mfma := MFMA_util / 100
_math := min(MFMA_util + VALU_util * (1 - _mfma) / (1.7 - _mfma), 100)
GPUutil := max(LDS_util, VMEM_util, FLAT_util, _math)
"""

_CLOCK = """\
# Shader clock from the first and the last realtime pair, and the time of one step.
SHADER_MHZ := SCLOCK_MHZ
_step_seconds := STEP_CYCLES / SHADER_MHZ / 1e6
"""

_FORMATS = ("I8", "F8", "F16", "BF16", "F32", "F64", "XF32", "F6F4")
_TFLOPS = "".join(
    f"{name}_TFLOPS := 512e-12 * sum[INSTS_VALU_MFMA_MOPS_{name}, axis=[XCC, SE, CU]] / _step_seconds\n"
    for name in _FORMATS
)

BUILTIN = _UTILIZATION + _CLOCK + _TFLOPS
