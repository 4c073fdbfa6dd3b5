"""Steps of serving, as vLLM, SGLang and ATOM write them into the marker around each: phase, requests, tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUMS = ("sq", "sk", "sqsq", "sqsk")  #: As vLLM names them: sums of query and context (key) lengths, and of products.
_GROUP = "".join(rf"{name}(\d{{1,17}})" for name in _SUMS)
_VLLM = re.compile(rf"execute_\d{{1,12}}_context_(\d{{1,9}})\({_GROUP}\)_generation_(\d{{1,9}})\({_GROUP}\)")
_VLLM_PLAIN = re.compile(
    r"execute_context_(\d{1,9})\((\d{1,12})(?:_\d+)*\)_generation_(\d{1,9})\((\d{1,12})(?:_\d+)*\)"
)
_SGLANG = re.compile(r"step\[(EXTEND|DECODE|MIXED) bs=(\d{1,9})(.{0,400})\]")
_ATOM = re.compile(r"(prefill|decode)\[bs=(\d{1,9})(?:/\d+)? tok=(\d{1,12}).{0,400}\]")
_FIELD = re.compile(r"\b(toks|[cg]_sq|[cg]_sk|[cg]_sqsq|[cg]_sqsk|[cg])=(\d{1,17})")
_NAMES = [f"{group}_{name}" for group in "cg" for name in _SUMS]  #: c: context (prefill), g: generation (decode).
_PHASES = {"EXTEND": "prefill", "DECODE": "decode", "MIXED": "mixed"}
#: Markers that one of the above may fit, for frames of many markers.
SERVING = r"^(execute_(\d+_)?context_\d|step\[(EXTEND|DECODE|MIXED) |(prefill|decode)\[bs=)"


@dataclass(frozen=True)
class ServingStep:
    """The step that one marker describes."""

    phase: str  #: prefill, decode, mixed or idle.
    requests: int
    tokens: int  #: That are computed in the step.
    context: int | None = None  #: Tokens that they attend to; None = not told.
    #: c_ of requests in prefill, g_ in decode: sums of query and context lengths, and of their products.
    sums: dict[str, int] | None = None


def serving_step(marker: str) -> ServingStep | None:
    """The step of a marker; None = it is of no step of serving.

    >>> serving_step("step[DECODE bs=32]")
    ServingStep(phase='decode', requests=32, tokens=32, context=None, sums=None)
    >>> serving_step("execute_context_2(512_0)_generation_30(30)").phase
    'mixed'
    """
    if match := _VLLM.match(marker):
        numbers = list(map(int, match.groups()))  # requests and sums of prefill, requests and sums of decode
        prefill, decode = numbers[0], numbers[1 + len(_SUMS)]
        prefill_sums, decode_sums = numbers[1 : 1 + len(_SUMS)], numbers[2 + len(_SUMS) :]
        return _detailed(prefill, decode, dict(zip(_NAMES, prefill_sums + decode_sums, strict=True)))
    if match := _VLLM_PLAIN.match(marker):
        prefill, prefill_tokens, decode, decode_tokens = map(int, match.groups())
        return ServingStep(_phase(prefill, decode), prefill + decode, prefill_tokens + decode_tokens)
    if match := _SGLANG.match(marker):
        fields = {name: int(number) for name, number in _FIELD.findall(match[3])}
        sums = {name: fields.get(name, 0) for name in _NAMES} if fields.keys() & set(_NAMES) else None
        if sums:
            return _detailed(fields.get("c", 0), fields.get("g", 0), sums, _PHASES[match[1]], int(match[2]))
        requests = int(match[2])
        return ServingStep(_PHASES[match[1]], requests, fields.get("toks", requests))
    if match := _ATOM.match(marker):
        return ServingStep(match[1], int(match[2]), int(match[3]))
    return None


def _detailed(
    prefill: int, decode: int, sums: dict[str, int], phase: str | None = None, requests: int | None = None
) -> ServingStep:
    """The step with these numbers of requests; `phase` and `requests` are those that the marker says, if it does."""
    tokens, context = (sums[f"c_{name}"] + sums[f"g_{name}"] for name in ("sq", "sk"))
    count = prefill + decode if requests is None else requests
    return ServingStep(phase or _phase(prefill, decode), count, tokens, context, sums)


def _phase(prefill: int, decode: int) -> str:
    if prefill and decode:
        return "mixed"
    return "prefill" if prefill else "decode" if decode else "idle"
