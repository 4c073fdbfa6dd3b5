"""The first line of a report: which kernel, which dispatch, which GPU."""

from __future__ import annotations

from wavewright.analysis.trace.about.overview import Subject
from wavewright.base.shown import printable
from wavewright.base.words import counted, duration
from wavewright.model.blocks import Sentence, sentence
from wavewright.words.kit.brief_names import brief_kernel

_NARROWEST_NAME = 24  #: Characters of a kernel's name that are always shown.


def subject_line(subject: Subject, *, width: int, label: str = "") -> Sentence:
    """One line for the terminal; the kernel's name is cut to what `width` leaves.

    >>> from wavewright.analysis.trace.about.overview import Subject
    >>> gemm = Subject("void gemm<64>(float*)", 1, 3, "3", 2, 5600, "gfx942", "gfx942 (MI300 series)", 18_240)
    >>> subject_line(gemm, width=80).text
    'gemm<64> · dispatch 3, one of 2 · gfx942 (MI300 series) · 18.2 us'
    """
    facts = "".join(f" · {fact}" for fact in _facts(subject))
    room = max(_NARROWEST_NAME, width - len(label) - len(facts))
    name = "kernel not known" if subject.kernel is None else brief_kernel(subject.kernel, room)
    return sentence(label, (name, "bold"), facts)


def _facts(subject: Subject) -> list[str]:
    facts = []
    if subject.kernel_count > 1:
        facts.append(counted(subject.kernel_count - 1, "more kernels"))
    if subject.dispatch_key or subject.dispatch_count > 1:
        among = f", one of {subject.dispatch_count:,}" if subject.dispatch_count > 1 else ""
        facts.append(f"dispatch {printable(subject.dispatch_key or 'without a number')}{among}")
    facts.append(printable(subject.gpu))
    if subject.duration_ns is not None:
        facts.append(duration(subject.duration_ns))
    return facts
