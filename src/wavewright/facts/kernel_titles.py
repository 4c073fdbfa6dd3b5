"""Names of kernels as people read them: without return types, parameters and suffixes."""

from __future__ import annotations

import re

_ENDS = re.compile(r"$| const| noexcept| \[|\.kd")  #: What may follow the parameters of a function.
_LONGEST = 1 << 16  #: Letters of a name that are read: the longest names of templates have some thousand.


def kernel_title(name: str) -> str:
    """The name of a kernel without return type, namespace `(anonymous)` and parameters; other names as they are.

    >>> kernel_title("void vllm::rms_norm_kernel<__half>(__half*, int)")
    'vllm::rms_norm_kernel<__half>'
    """
    text = name[:_LONGEST].replace("(anonymous namespace)::", "").removeprefix("void ")
    start = 0
    depths = _depths(text)
    for at, (letter, depth) in enumerate(zip(text, depths, strict=True)):
        if depth:
            continue
        if letter == " " and not text.endswith("operator", 0, at):
            start = at + 1
        elif letter == "(" and at > start and not text.endswith(("operator", "decltype"), 0, at):
            end = next((place for place in range(at + 1, len(text)) if not depths[place]), len(text))
            return text[start:at] if _ENDS.match(text, end + 1) else text
    return text


def kernel_head(title: str) -> str:
    """The title of a kernel without its template arguments.

    >>> kernel_head("vllm::rms_norm_kernel<__half>"), kernel_head("ns::holder<int>::run")
    ('vllm::rms_norm_kernel', 'ns::holder::run')
    """
    if "<" not in title:
        return title
    depths = _depths(title)
    outside = "".join(letter for letter, depth in zip(title, depths, strict=True) if not depth)
    return outside.replace("<>", "")


def _depths(text: str) -> list[int]:
    """Number of brackets that are open at each letter; a bracket itself is outside of what it encloses."""
    open_brackets: list[str] = []
    depths = []
    for at, letter in enumerate(text):
        if letter in ")]}" or (letter == ">" and _closes(text, at, open_brackets)):
            if open_brackets and (letter == ">" or open_brackets[-1] != "<"):
                open_brackets.pop()
            depths.append(len(open_brackets))
            continue
        depths.append(len(open_brackets))
        if letter in "([{" or (letter == "<" and not _is_operator(text, at)):
            open_brackets.append(letter)
    return depths


def _is_operator(text: str, at: int) -> bool:
    """True if an opening angle is a comparison, `((8)<(9))`, or in the name of an operator."""
    return text[max(0, at - 1) : at + 2] == ")<(" or text.endswith(("operator", "operator<"), 0, at)


def _closes(text: str, at: int, open_brackets: list[str]) -> bool:
    """True if a closing angle ends arguments: inside of parentheses, `((8)>(0))`, it compares."""
    is_name = text.endswith(("operator", "operator>", "-"), 0, at)
    return bool(open_brackets) and open_brackets[-1] == "<" and not is_name
