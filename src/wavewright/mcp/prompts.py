"""Prompts: three jobs that people have, as instructions for a model that has the tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.mcp.texts import RECORDED

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 1_000


@dataclass(frozen=True)
class Prompt:
    """A job: its name, what it is for, what it needs, and the words."""

    name: str
    sentence: str
    arguments: Mapping[str, str]  #: Name -> what it is.
    words: str  #: With {name}.

    @property
    def line(self) -> dict[str, Any]:
        """The prompt as `prompts/list` has it."""
        arguments = [{"name": name, "description": what, "required": True} for name, what in self.arguments.items()]
        return {"name": self.name, "description": self.sentence, "arguments": arguments}


PROMPTS = (
    Prompt(
        "find-the-line",
        "Which source line of a kernel costs the time, and why?",
        {"path": "a thread trace"},
        "Open the thread trace {path} with open_capture, ask diagnose, and follow the first finding with explain_wait "
        "and source until you can name a file and a line. Report: the line, what it waits for, the upper bound of the "
        "gain as the tool states it, how far the trace can be trusted, and one change to try. Do not add gains up.",
    ),
    Prompt(
        "why-is-my-run-slow",
        "What set the time of a run, and what should be changed first?",
        {"path": "a run"},
        "Open the run {path} with open_capture, ask diagnose, then the question that it offers for its first finding "
        "(timeline, summary or hotspots). Report: the time budget, the first cause with its evidence and upper bound, "
        "what could not be judged, and one change to try. If a kernel is the cause, say which thread trace or counters "
        "would tell more (plan_capture).",
    ),
    Prompt(
        "did-it-get-faster",
        "Did a change make it faster, beyond noise?",
        {"before": "a capture", "after": "a capture of the same kind"},
        "Open {before} and {after} with open_capture and compare them. Report: the verdict as the tool states it, what "
        "changed most, what is within noise, and what is only in one of them. If noise cannot be told, say so and name "
        "the repeated capture that would tell.",
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def listed() -> list[dict[str, Any]]:
    """All prompts, as the protocol lists them."""
    return [prompt.line for prompt in PROMPTS]


def get(name: str, arguments: Any) -> dict[str, Any]:
    """A prompt with its arguments filled in.

    Raises
    ------
    LookupError, ValueError
        When there is no such prompt, or an argument is missing or not known.

    Examples
    --------
    >>> get("find-the-line", {"path": "trace/"})["messages"][0]["content"]["text"][:27]
    'Open the thread trace trace'
    """
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise LookupError(f"there is no prompt {name[:80]!r}; there are {', '.join(_BY_NAME)}")
    if not isinstance(arguments, dict) or arguments.keys() != prompt.arguments.keys():
        raise ValueError(f"{name} takes {', '.join(prompt.arguments)}")
    filled = {key: str(value)[:_LONGEST] for key, value in arguments.items()}
    text = f"{prompt.words.format(**filled)} {RECORDED}"
    return {
        "description": prompt.sentence,
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }
