"""Reading definitions of derived counters."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.together import together
from tests.unit.analysis.trace.derived_counters.expressions import leaves, trees
from wavewright.analysis.trace.derived_counters import BUILTIN
from wavewright.analysis.trace.derived_counters.parser import MAX_DEPTH, MAX_TEXT, parse
from wavewright.analysis.trace.derived_counters.syntax import Expression, to_text


def only(text: str) -> Expression:
    definitions, problems = parse(f"x := {text}")
    assert problems == []
    return definitions[0].expression


@together(
    "text, canonical",
    [
        ("1+2*3", "1 + 2 * 3"),
        ("(1+2)*3", "(1 + 2) * 3"),
        ("a-b-c", "a - b - c"),
        ("a-(b-c)", "a - (b - c)"),
        ("a|b&c==d", "a | b & c == d"),
        ("(a|b)&c", "(a | b) & c"),
        ("a<=b", "a <= b"),
        ("--a*-(b+c)", "--a * -(b + c)"),
        ("1e-6 + .5 + 2.", "1e-06 + 0.5 + 2"),
        ("SQ_INSTS_SALU:0x2 / 4", "SQ_INSTS_SALU:0x2 / 4"),
        ("sum[(a+b)]", "sum[a + b]"),
        ("sum[a+b]", "sum[a + b]"),
        ("mean[a, axis=time]", "mean[a, axis=TIME]"),
        ("max[a, axis=[cu, 1, WGP]]", "max[a, axis=[SE, CU]]"),
        ("min[a, axis=All]", "min[a, axis=[XCC, SE, CU, TIME]]"),
        ("sum[a, axis=-1]", "sum[a, axis=[XCC, SE, CU, TIME]]"),
        ("max(a, b+1, 3)", "max(a, b + 1, 3)"),
        ("select[a, -1]", "select[a, -1]"),
        ("select[a, 0:(n):2, axis=SE]", "select[a, 0:(n):2, axis=SE]"),
        ("select[RCLOCK, 0, axis=instance]", "select[RCLOCK, 0, axis=CU]"),
        ("remove[(a*b), -2, axis=2]", "remove[a * b, -2, axis=CU]"),
        ("delta[a, axis=SAMPLES]", "delta[a, axis=TIME]"),
        ("linear(NUM_SE, axis=SE)", "linear(NUM_SE, axis=SE)"),
        ("sum[max[min[a]]]", "sum[max[min[a]]]"),
    ],
)
def test_expressions_and_how_they_are_written(text: str, canonical: str) -> None:
    expression = only(text)
    assert to_text(expression) == canonical
    assert only(canonical) == expression


@together(
    "line, said",
    [
        ("x := ", "1:5: x: the line ends where a value is expected"),
        ("x", "1:2: x: a name is followed by :="),
        ("x = 1", "1:3: x: a name is followed by :="),
        ("1 := 2", "1:1: a definition starts with a name, not '1'"),
        ("sum := 2", "1:1: sum is a function and cannot be defined"),
        ("x := 1 + * 2", "1:10: x: '*' is not expected here"),
        ("x := (1 + 2", "1:6: x: '(' was never closed"),
        ("x := (1 + 2]", "1:12: x: closing parenthesis ']' does not match opening parenthesis '('"),
        ("x := 1 + 2)", "1:11: x: unmatched ')'"),
        ("x := 1 +", "1:9: x: the line ends where a value is expected"),
        ("x := +1", "1:6: x: '+' where a value is expected"),
        ("x := a ** 2", "1:9: x: '*' is not expected here"),
        ("x := a, b", "1:6: x: 'a' where a value is expected"),
        ("x := (a := b)", "1:9: x: ':=' is not expected here"),
        ("x := (a = b)", "1:7: x: 'a' where a value is expected"),
        ("x := a[1]", "1:6: x: 'a' is not a function; functions: sum, mean, max, min, select, remove, delta, linear"),
        ("x := select[a, 1:]", "1:6: x: a range has a start and an end"),
        ("x := sum[axis=SE]", "1:6: x: sum takes a value"),
        ("x := 1 2", "1:8: x: '2' where an operator or the end of the line is expected"),
        ("x := a ? b", "1:8: '?' does not belong to the language"),
        ("x := sum", "1:6: x: sum is a function: sum[..."),
        ("x := sum(a)", "1:6: x: sum is a function: sum[..."),
        ("x := max(a)", "1:6: x: max(...) takes at least two values; max[...] reduces one"),
        ("x := sum[a, axis=Z]", "1:18: x: 'Z' is not an axis; axes: XCC, SE, CU, TIME, All"),
        ("x := sum[a, 3]", "1:13: x: '3' where axis= is expected"),
        ("x := sum[a, axis=[SE, CU]", "1:9: x: '[' was never closed"),
        ("x := delta[a, axis=All]", "1:20: x: one axis is needed here, not all of them"),
        ("x := select[a]", "1:6: x: select takes a value and an index"),
        ("x := select[a, 0:1:2:3]", "1:21: x: ':' is not expected here"),
        ("x := 1e99", "1:6: x: too large for a 32-bit float"),
        ("x := 1 # fine\nx := 2", "2:1: x: already defined in line 1"),
    ],
)
def test_mistakes_have_line_and_column(line: str, said: str) -> None:
    _, problems = parse(line)
    assert [str(problem) for problem in problems] == [said]


def test_comments_empty_lines_and_good_lines_beside_bad_ones() -> None:
    definitions, problems = parse("# title\n\n  a := 1   # one\r\nb := \nc:=a")
    assert [(d.name, d.position) for d in definitions] == [("a", (3, 3)), ("c", (5, 1))]
    assert [problem.name for problem in problems] == ["b"]


@together("text", ["(" * 5000 + "1", "-" * 5000 + "1", "sum[" * 5000 + "1", "a+(" * 5000])
def test_deep_nesting_is_refused(text: str) -> None:
    _, problems = parse(f"x := {text}")
    assert problems[0].message.startswith(f"nested deeper than {MAX_DEPTH} levels")


def test_long_chains_are_fine_and_long_texts_are_not() -> None:
    assert parse("x := " + "+".join(["a"] * 200))[1] == []
    assert "too long" in parse("x := " + "+".join(["a"] * 20_000))[1][0].message
    assert "characters" in parse("#" * (MAX_TEXT + 1))[1][0].message


def test_the_built_in_set_can_be_read() -> None:
    definitions, problems = parse(BUILTIN)
    assert problems == []
    names = {definition.name for definition in definitions}
    assert {"GPUutil", "MFMA_util", "VALU_util", "SHADER_MHZ", "F6F4_TFLOPS", "I8_TFLOPS"} <= names


@settings(deadline=None)
@given(st.recursive(leaves(), trees, max_leaves=12))
def test_written_and_read_again_an_expression_is_the_same(expression: Expression) -> None:
    definitions, problems = parse(f"x := {to_text(expression)}")
    assert problems == []
    assert definitions[0].expression == expression


@settings(deadline=None)
@given(st.text(alphabet="ab1.,:=()[]<>+-*/&|# sumaxis\n\t?é", max_size=80))
def test_any_text_gives_definitions_or_problems(text: str) -> None:
    definitions, problems = parse(text)
    for problem in problems:
        assert problem.position.line >= 1 and problem.position.column >= 1
    for definition in definitions:
        assert parse(f"x := {to_text(definition.expression)}")[1] == []
