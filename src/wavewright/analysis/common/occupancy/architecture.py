"""The GPU of a trace, and the origin of this fact."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.loader import packaged
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Architecture:
    """The architecture whose facts an answer uses, and where its name came from."""

    facts: gpus.Arch
    origin: str  #: Origin of the fact: the user, the capture, or the rule that inferred it.
    #: Whether another target of the generation is ruled out; if not, numbers that depend on it may be wrong.
    is_certain: bool = True
    contradicts: str | None = None  #: The recorded target, when the user names another one.


#: `gfxip` -> its entry of the file: `candidates`, the oldest target first, and the `usual` one.
_GENERATIONS = {int(number): targets for number, targets in packaged("gpus/generations.toml").items()}
_NO_SUCCESSOR = ("gfx950", "gfx1250")  #: The newest targets of generations: their instructions rule out all others.


def architecture(trace: ThreadTrace, gpu: str | None = None) -> Architecture:
    """The architecture of a trace: `gpu` if given, else the recorded target, else inferred from the code.

    Inference looks for instructions that only later targets of a generation have. It is sure where no later target
    exists, e.g. gfx950; otherwise `is_certain` is False. Raises `UsageError` when nothing is known, or `gpu` is not
    known.
    """
    recorded = trace.source.target
    if gpu:
        facts = gpus.of(gpu)
        is_other = recorded and recorded.split(":")[0] != facts.target
        return Architecture(facts, "given with --target", contradicts=recorded if is_other else None)
    if recorded:
        return Architecture(gpus.of(recorded), f"from {trace.source.target_origin or 'the capture'}")
    if trace.gfxip not in _GENERATIONS:
        raise UsageError("the GPU is not recorded", where=trace.source.path, advice="name it: --target gfx942")
    return _inferred(trace)


def possible_targets(trace: ThreadTrace) -> list[gpus.Arch]:
    """The target of a trace; several where later ones of the generation are not ruled out; none = nothing is known."""
    target = (trace.source.target or "").split(":")[0]
    if target in gpus.TARGETS:
        return [gpus.of(target)]
    if trace.gfxip not in _GENERATIONS:
        return []
    inferred, targets = _inferred(trace), _GENERATIONS[trace.gfxip]["candidates"]
    later = targets[targets.index(inferred.facts.target) + 1 :] if inferred.facts.target in targets else ()
    return [inferred.facts] if inferred.is_certain else [inferred.facts, *map(gpus.of, later)]


def _inferred(trace: ThreadTrace) -> Architecture:
    mnemonics = trace.code["mnemonic"].drop_nulls().unique().sort().to_list()
    for target in reversed(_GENERATIONS[trace.gfxip]["candidates"]):
        facts = gpus.of(target)
        pattern = re.compile("|".join(facts.marks) or r"(?!)")  # matches nothing where there are no marks
        mark = next((mnemonic for mnemonic in mnemonics if pattern.fullmatch(mnemonic)), None)
        if mark is not None:
            return Architecture(facts, f"inferred from `{mark}`", is_certain=target in _NO_SUCCESSOR)
    facts = gpus.of(_GENERATIONS[trace.gfxip]["usual"])
    return Architecture(facts, f"assumed for generation gfx{trace.gfxip}", is_certain=False)
