"""Random expressions of the language of derived counters."""

from __future__ import annotations

from hypothesis import strategies as st

from wavewright.analysis.trace.derived_counters.syntax import (
    LEVEL_OF,
    NEGATION,
    Call,
    Expression,
    Name,
    Number,
    SourcePos,
)

HERE = SourcePos(1, 1)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}(:[0-9a-z]{1,3})?", fullmatch=True).filter(
    lambda name: name not in ("sum", "mean", "max", "min", "select", "remove", "delta", "linear")
)
numbers = st.floats(min_value=0, max_value=1e30, allow_nan=False)


def leaves(of_names: st.SearchStrategy[str] = names) -> st.SearchStrategy[Expression]:
    return st.one_of(st.builds(Name, of_names, st.just(HERE)), st.builds(Number, numbers, st.just(HERE)))


axes = st.sampled_from([None, (0,), (3,), (1, 2), (0, 1, 2, 3)])
one_axis = st.sampled_from([None, (0,), (2,), (3,)])


def trees(children: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operands = st.tuples(children)
    several = st.lists(children, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Call, st.sampled_from(list(LEVEL_OF)), st.tuples(children, children), st.none(), st.just(HERE)),
        st.builds(Call, st.just(NEGATION), operands, st.none(), st.just(HERE)),
        st.builds(Call, st.sampled_from(["sum", "mean", "max", "min"]), operands, axes, st.just(HERE)),
        st.builds(Call, st.sampled_from(["delta", "linear"]), operands, one_axis, st.just(HERE)),
        st.builds(Call, st.sampled_from(["max()", "min()"]), several, st.none(), st.just(HERE)),
        st.builds(Call, st.just("remove"), st.tuples(children, children), one_axis, st.just(HERE)),
        st.builds(Call, st.just("select"), several, one_axis, st.just(HERE)),
    )
