"""Parser of derived counters: AMD's spelling is rewritten to Python's and read like the formulas of metrics.

    definition := NAME ":=" or
    or   := and { "|" and }      and  := cmp { "&" cmp }
    cmp  := sum { ("==" | "<" | ">" | "<=" | ">=") sum }
    sum  := prod { ("+" | "-") prod }      prod := prim { ("*" | "/") prim }
    prim := "-" prim | NUMBER | NAME | "(" or ")" | call

`docs/reference/derived-counters.md` describes the calls.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from wavewright.analysis.trace.derived_counters.syntax import (
    AXES,
    AXIS_NAMES,
    FUNCTIONS,
    NEGATION,
    REDUCTIONS,
    Call,
    Definition,
    Expression,
    MistakeError,
    Name,
    Number,
    SourcePos,
    SyntaxProblem,
)
from wavewright.facts.metrics.syntax import FormulaError, syntax_tree

MAX_DEPTH = 40  #: Nesting of parentheses, calls and signs.
MAX_TEXT = 1 << 20  #: Characters.
_LARGEST = 3.4e38  # the largest 32-bit float, rounded down

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?::\w+)*)"
    r"|(?P<sign>:=|==|<=|>=|[-+*/<>|&(),:=\[\]])",
    re.ASCII,
)
#: Python's spelling of AMD's operators: `or` and `and` bind looser than comparisons, as | and & do there.
_PYTHON = {"|": "or", "&": "and", "=": ":="}
_NODES = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Eq, ast.Lt, ast.Gt, ast.LtE, ast.GtE, ast.Or, ast.And)
_SIGN_OF = dict(zip(_NODES, ["+", "-", "*", "/", "==", "<", ">", "<=", ">=", "|", "&"], strict=True))


class _Token(NamedTuple):
    kind: str
    text: str
    position: SourcePos


def parse(text: str) -> tuple[list[Definition], list[SyntaxProblem]]:
    """All definitions that can be read, and the syntax errors of the other lines.

    >>> definitions, problems = parse("a := 1 + b  # half\\nc := (2")
    >>> definitions[0].name, str(problems[0])
    ('a', "2:6: c: '(' was never closed")
    """
    if len(text) > MAX_TEXT:
        return [], [SyntaxProblem(SourcePos(1, 1), "", f"more than {MAX_TEXT:,} characters of definitions")]
    definitions: dict[str, Definition] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), start=1):
        name = ""
        try:
            tokens = _tokens(line, number)
            if not tokens:
                continue
            if tokens[0].kind != "name":
                raise MistakeError(tokens[0].position, f"a definition starts with a name, not {tokens[0].text!r}")
            if tokens[0].text in FUNCTIONS:
                raise MistakeError(tokens[0].position, f"{tokens[0].text} is a function and cannot be defined")
            name = tokens[0].text
            end = SourcePos(number, len(line.split("#")[0].rstrip()) + 1)
            definition = Definition(name, _expression(tokens[1:], end), tokens[0].position)
            if name in definitions:
                raise MistakeError(definition.position, f"already defined in line {definitions[name].position.line}")
            definitions[name] = definition
        except MistakeError as problem:
            problems.append(SyntaxProblem(problem.position, name, problem.message))
    return list(definitions.values()), problems


def _tokens(line: str, number: int) -> list[_Token]:
    code = line.split("#")[0]
    tokens = []
    index = 0
    while index < len(code):
        match = _TOKEN.match(code, index)
        if match is None:
            raise MistakeError(SourcePos(number, index + 1), f"{code[index]!r} does not belong to the language")
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match.group(), SourcePos(number, index + 1)))
        index = match.end()
    return tokens


def _expression(tokens: list[_Token], end: SourcePos) -> Expression:
    """The expression after the name of a definition."""
    if not tokens or tokens[0].text != ":=":
        raise MistakeError(tokens[0].position if tokens else end, "a name is followed by :=")
    tokens = tokens[1:]
    if not tokens:
        raise MistakeError(end, "the line ends where a value is expected")
    _check_tokens(tokens)
    reader = _Reader(tokens)
    try:
        return reader.read(syntax_tree(reader.python))
    except FormulaError as error:
        if error.is_too_deep:
            raise MistakeError(tokens[0].position, f"nested deeper than {MAX_DEPTH} levels, or too long") from None
        if not error.offset:
            raise MistakeError(end, "the line ends where a value is expected") from None
        token = reader.token_at(error.offset - 1)
        is_bracket = "parenthes" in error.message or "closed" in error.message or "unmatched" in error.message
        message = error.message if is_bracket else f"{token.text!r} is not expected here"
        raise MistakeError(token.position, message) from None


def _check_tokens(tokens: list[_Token]) -> None:
    """Check what Python would report at another position, or accept."""
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth > MAX_DEPTH:
            raise MistakeError(token.position, f"nested deeper than {MAX_DEPTH} levels")
        if token.text == ":=":
            raise MistakeError(token.position, "':=' is not expected here")
    for token, following in pairwise(tokens):
        if following.kind != "sign" and (token.kind != "sign" or token.text in (")", "]")):
            message = f"{following.text!r} where an operator or the end of the line is expected"
            raise MistakeError(following.position, message)


class _Reader:
    """Converter from Python's syntax tree. Names and numbers are placeholders there: `token_at` has their text."""

    def __init__(self, tokens: list[_Token]) -> None:
        placeholders = {"name": "_", "number": "1"}
        spellings = [placeholders.get(token.kind) or _PYTHON.get(token.text, token.text) for token in tokens]
        self.python = " ".join(spellings)
        self._tokens = tokens
        self._offsets = list(accumulate((len(spelling) + 1 for spelling in spellings), initial=0))[:-1]
        self._sign_depth = 0

    def token_at(self, offset: int) -> _Token:
        return self._tokens[bisect_right(self._offsets, offset) - 1]

    def read(self, node: ast.expr) -> Expression:
        token = self.token_at(node.col_offset)
        if isinstance(node, ast.Constant):
            if float(token.text) > _LARGEST:
                raise MistakeError(token.position, "too large for a 32-bit float")
            return Number(float(token.text), token.position)
        if isinstance(node, ast.Name):
            if token.text in FUNCTIONS:
                bracket = "(" if token.text == "linear" else "["
                raise MistakeError(token.position, f"{token.text} is a function: {token.text}{bracket}...")
            return Name(token.text, token.position)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._negation(node, token)
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGN_OF:
            return self._arithmetic(node)
        if isinstance(node, ast.BoolOp):
            return self._from_left(node.values, [node.op] * (len(node.values) - 1))
        if isinstance(node, ast.Compare) and all(type(op) in _SIGN_OF for op in node.ops):
            return self._from_left([node.left, *node.comparators], node.ops)
        if isinstance(node, ast.Call | ast.Subscript):
            return self._call(node)
        raise MistakeError(token.position, f"{token.text!r} where a value is expected")

    def _negation(self, node: ast.UnaryOp, token: _Token) -> Call:
        self._sign_depth += 1
        if self._sign_depth > MAX_DEPTH:
            raise MistakeError(token.position, f"nested deeper than {MAX_DEPTH} levels")
        operand = self.read(node.operand)
        self._sign_depth -= 1
        return Call(NEGATION, (operand,), None, token.position)

    def _arithmetic(self, node: ast.BinOp) -> Expression:
        """Sums and products: their left operands nest as deep as a line is long, too deep for recursion."""
        operands: list[ast.expr] = [node]
        operators: list[ast.AST] = []
        while isinstance(first := operands[0], ast.BinOp) and type(first.op) in _SIGN_OF:
            operands[:1] = [first.left, first.right]
            operators.insert(0, first.op)
        return self._from_left(operands, operators)

    def _from_left(self, operands: Sequence[ast.expr], operators: Sequence[ast.AST]) -> Expression:
        """Operands joined by operators, the first two of them first."""
        total = self.read(operands[0])
        for before, operator, operand in zip(operands, operators, operands[1:], strict=False):
            index = bisect_right(self._offsets, (before.end_col_offset or 1) - 1)
            while self._tokens[index].text == ")":
                index += 1
            total = Call(_SIGN_OF[type(operator)], (total, self.read(operand)), None, self._tokens[index].position)
        return total

    def _call(self, node: ast.Call | ast.Subscript) -> Call:
        token = self.token_at(node.col_offset)
        function = node.func if isinstance(node, ast.Call) else node.value
        name = token.text
        if not isinstance(function, ast.Name) or name not in FUNCTIONS:
            raise MistakeError(token.position, f"{name!r} is not a function; functions: {', '.join(FUNCTIONS)}")
        elementwise = name in ("max", "min") and isinstance(node, ast.Call)
        bracket = "(" if elementwise or name == "linear" else "["
        if isinstance(node, ast.Call) != (bracket == "("):
            raise MistakeError(token.position, f"{name} is a function: {name}{bracket}...")
        if isinstance(node, ast.Call):
            arguments = list(node.args)
        else:
            arguments = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        axes = None
        if arguments and isinstance(arguments[-1], ast.NamedExpr) and not elementwise:
            axes = self._axes(arguments[-1], name)
            arguments.pop()
        bounds = self._bounds(arguments, token) if name in ("select", "remove") else []
        if elementwise and len(arguments) < 2:
            raise MistakeError(token.position, f"{name}(...) takes at least two values; {name}[...] reduces one")
        if not arguments:
            raise MistakeError(token.position, f"{name} takes a value")
        if not elementwise and len(arguments) > 1:
            extra = self.token_at(arguments[1].col_offset)
            raise MistakeError(extra.position, f"{extra.text!r} where axis= is expected")
        operands = tuple(self.read(operand) for operand in [*arguments, *bounds])
        return Call(f"{name}()" if elementwise else name, operands, axes, token.position)

    def _bounds(self, arguments: list[ast.expr], token: _Token) -> list[ast.expr]:
        """The index or the bounds, taken from the arguments."""
        if len(arguments) < 2:
            raise MistakeError(token.position, f"{token.text} takes a value and an index")
        index = arguments.pop(1)
        if not isinstance(index, ast.Slice) or token.text == "remove":
            return [index]
        if index.lower is None or index.upper is None:
            raise MistakeError(token.position, "a range has a start and an end")
        return [index.lower, index.upper, *([index.step] if index.step else [])]

    def _axes(self, node: ast.NamedExpr, function: str) -> tuple[int, ...]:
        keyword = self.token_at(node.col_offset)
        if keyword.text != "axis":
            raise MistakeError(keyword.position, f"{keyword.text!r} where axis= is expected")
        if function in REDUCTIONS and isinstance(node.value, ast.List):
            return tuple(sorted({self._axis(item, single=True) for item in node.value.elts}))
        axis = self._axis(node.value, single=function not in REDUCTIONS)
        return (axis,) if axis >= 0 else tuple(range(len(AXIS_NAMES)))

    def _axis(self, node: ast.expr, *, single: bool) -> int:
        token = self.token_at(node.col_offset)
        name = token.text
        if isinstance(node, ast.UnaryOp):
            name += self.token_at(node.operand.col_offset).text
        number = int(name) if name in ("0", "1", "2", "3", "-1") else AXES.get(name.upper())
        if number is None:
            raise MistakeError(token.position, f"{name!r} is not an axis; axes: XCC, SE, CU, TIME, All")
        if single and number < 0:
            raise MistakeError(token.position, "one axis is needed here, not all of them")
        return number
