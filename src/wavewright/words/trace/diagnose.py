"""The diagnosis of a thread trace or of PC samples in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.common.run_gain import RunGain
from wavewright.analysis.trace.about.overview import launch_sentence, launch_source
from wavewright.analysis.trace.diagnose import Diagnosis
from wavewright.analysis.trace.diagnose.finding import Link, Reason, Remedy, StallFinding
from wavewright.analysis.trace.diagnose.grid_findings import bandwidth_words, traffic_words
from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import (
    GAP,
    AnyBlock,
    Finding,
    Labelled,
    Named,
    Part,
    Sentence,
    headline,
    labelled,
    sentence,
)
from wavewright.model.findings import CodeEvidence
from wavewright.words.kit.frame_tables import hexadecimal, place
from wavewright.words.kit.handles import handle
from wavewright.words.kit.run_gain import calls_words, run_gain_words
from wavewright.words.kit.wait_checks import open_barrier_words, strict_wait_words
from wavewright.words.trace.input.coverage import SEVERITY_TONES, trust_lines
from wavewright.words.trace.lane_access.floors import floor_sentences
from wavewright.words.trace.samples import sample_diagnosis_report

_REASONS = 5  #: Reasons from counters that a finding shows;
_REMEDIES = 3  #: things to do;
_EVIDENCE = 3  #: instructions.
_SAYS_MUCH = 0.01  #: A lower bound of the bytes that memory moves is told from this share of the requested bytes on.
_NEARLY_ALL = 0.95  #: From this share of replayed instructions on, the share is not mentioned.
_NOTHING_TO_WIN = 0.01  #: A finding that can gain less than this share of the time has nothing to win.
_LOW_FLOOR_SHARE = 0.5  #: Floors below this share of the span leave much room: nothing is said about them.
BASIS_WORDS = {"traced SIMDs": "time", "dispatch": "dispatch"}  #: Basis of a gain -> what it is a share of.


def verdict(answer: Diagnosis) -> str:
    """The diagnosis in one sentence."""
    if not answer.wave_cycles_total:
        return "Nothing to diagnose: the trace has no instructions"
    if not answer.findings:
        caveats = () if answer.trust.has_code else answer.trust.caveats
        missing = [caveat.sentence for caveat in caveats if caveat.name == "unresolved"]
        return f"Nothing to diagnose: {missing[0]}" if missing else "Nothing stands out: no cause takes 1 % of the time"
    first = answer.findings[0]
    launch = "A cold launch. " if any(caveat.name == "cold_launch" for caveat in answer.trust.caveats) else ""
    if first.kind == "roof" and first.gain_share_max < _NOTHING_TO_WIN:
        return f"{launch}{first.verdict}; nothing to win in this code"
    return f"{launch}{first.verdict}: {gain_words(first)}"


def context_line(answer: Diagnosis) -> str:
    """Use of the pipes and of memory, in one line; empty = nothing is known."""
    parts = []
    if answer.pipes is not None:
        busy = answer.pipes
        if busy.matrix_count:
            per_matrix = busy.valu_count / busy.matrix_count
            parts.append(f"matrix pipe busy {percent(busy.matrix_share)} of the time")
            parts.append(f"vector pipe {percent(busy.valu_share)} ({per_matrix:.1f} VALU per matrix instruction)")
        else:
            parts.append(f"vector pipe busy {percent(busy.valu_share)} of the time")
    parts += _memory_words(answer)
    if answer.early_wave_count:
        parts.append(f"{counted(answer.early_wave_count, 'waves')} that left early are left out")
    if answer.replayed_share < _NEARLY_ALL and answer.time_cycles:
        parts.append(f"gains from a replay of {percent(answer.replayed_share, 0)} of the instructions")
    return "; ".join(parts)


def _memory_words(answer: Diagnosis) -> list[str]:
    """The memory that the kernel uses, as far as there is evidence; else what its lanes request, and of which level."""
    memory = next((roof for roof in answer.roofs if roof.name == "memory bandwidth"), None)
    traffic = answer.traffic
    if memory is not None:
        other = "" if traffic is None or traffic.is_of_dispatch else " of dispatches that took another time"
        return [f"{memory.level} moves {bandwidth_words(memory)} ({memory.evidence}{other})"]
    if traffic is None or traffic.bytes_per_second is None:
        return []
    if traffic.is_evidence:
        return [f"{traffic.level}: {traffic_words(traffic)}"]
    low, high = (f"{rate / 1e12:.2g} TB/s" for rate in traffic.bytes_per_second)
    says_much = traffic.bytes_per_second[0] >= _SAYS_MUCH * traffic.bytes_per_second[1]
    least = f"memory moves at least {low} of it" if says_much else "memory moves a part of it"
    return [f"lanes request at most {high} of L1; {least}: only counters tell how much"]


def floor_lines(answer: Diagnosis) -> list[str]:
    """A sentence about the floors of the code, where they leave little room."""
    floors = answer.floors
    if floors is None or floors.largest is None or floors.largest.share < _LOW_FLOOR_SHARE:
        return []
    return floor_sentences(floors)


def diagnosis_report(answer: Diagnosis | SampleDiagnosis, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of the diagnosis of a trace, or of PC samples: how far to trust it, then the findings in order."""
    if isinstance(answer, SampleDiagnosis):
        yield from sample_diagnosis_report(answer, limit=limit)
        return
    yield headline(verdict(answer))
    if context := context_line(answer):
        yield Sentence(context)
    yield from map(Sentence, floor_lines(answer))
    if answer.launch is not None:
        calls = f"; {calls_words(answer.in_run[0])}" if answer.in_run else ""
        yield Sentence(f"{launch_sentence(answer.launch)}; {launch_source(answer.launch)}{calls}")
    yield from trust_lines(answer.trust)
    yield from _caveats(answer.trust.caveats)
    if answer.link:
        yield from _link_lines(answer.link)
    yield from map(Sentence, filter(None, (answer.order_note,)))
    for number, finding in enumerate(answer.findings[:limit], 1):
        yield finding_block(number, finding, answer.in_run)
    if len(answer.findings) > limit:
        yield sentence((f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all", "bold yellow"))
    checks = [*strict_wait_words(answer.strict_waits), *open_barrier_words(answer.open_barriers)]
    if checks:
        yield GAP
    for text in checks[:limit]:
        yield Sentence(text, "note")


def _caveats(caveats: Sequence[Caveat]) -> Iterator[Labelled]:
    for caveat in caveats:
        words = f"{caveat.sentence}; {caveat.advice}" if caveat.advice else caveat.sentence
        yield labelled(caveat.severity, words, tone=SEVERITY_TONES[caveat.severity])


def run_words(in_run: Sequence[RunGain], number: int) -> str:
    """The effect of a finding, by its number, on the run; empty = not known."""
    return run_gain_words(in_run[number - 1]) if number <= len(in_run) else ""


def finding_block(number: int, finding: StallFinding, in_run: Sequence[RunGain] = ()) -> Finding:
    """A finding, by its number, with what it would do to the run where that is known."""
    run = [labelled("run", words)] if (words := run_words(in_run, number)) else []
    paragraphs = (*_paragraphs(finding), *run)
    share = finding.gain_share_max
    return Finding(number, finding.verdict, gain_words(finding), paragraphs, handle("f", number), share)


def _paragraphs(finding: StallFinding) -> Iterator[Labelled]:
    cost = []
    if finding.stall_cycles_total:
        share = f"{percent(finding.stall_share)} of the cycles of all waves"
        cost.append(f"{short(finding.stall_cycles_total)} cycles ({share})")
    if finding.row_count:
        cost.append(counted(finding.row_count, "instructions"))
    if finding.causes and finding.causes[0].no_issue_share:
        first = finding.causes[0]
        cost.append(f"SIMDs issue nothing for {percent(first.no_issue_share)} of the time during {first.name}")
    if cost:
        yield labelled("cost", ", ".join(cost))
    yield labelled("why", finding.reason)
    for reason in finding.reasons[:_REASONS]:
        yield labelled("counters", reason_words(reason), tone="magenta")
    if len(finding.reasons) > _REASONS:
        yield labelled("more", f"showing {_REASONS} of {len(finding.reasons)} reasons; --json has all")
    for remedy in finding.remedies[:_REMEDIES]:
        yield labelled("do", remedy_words(remedy))
    if len(finding.remedies) > _REMEDIES:
        yield labelled("more", f"showing {_REMEDIES} of {len(finding.remedies)} remedies; --json has all")
    for item in finding.evidence[:_EVIDENCE]:
        yield labelled("see", *_evidence(item))
    if finding.row_count > _EVIDENCE:
        yield labelled("more", f"showing {_EVIDENCE} of {finding.row_count:,} rows; `wavewright stalls` lists more")
    yield labelled("confidence", f"{finding.confidence} ({finding.confidence_reason})")


def gain_words(finding: StallFinding) -> str:
    """The gain in words."""
    if finding.gain_share_max < _NOTHING_TO_WIN:
        return "nothing to win in this code"
    return f"gain at most {percent(finding.gain_share_max)} of the {BASIS_WORDS[finding.gain_basis]}"


def _link_lines(link: Link) -> Iterator[AnyBlock]:
    if link.kernel_name is not None:
        mean = f", {link.duration_ns_mean / 1000:,.1f} µs each" if link.duration_ns_mean else ""
        name = link.kernel_name if len(link.kernel_name) <= 60 else f"{link.kernel_name[:59]}…"
        counters = f"{counted(link.dispatch_count, 'dispatches')} of {name}{mean}"
        yield labelled("hw", f"reasons from the counters of {counters}", tone="magenta")
    yield from _caveats(link.caveats)


def reason_words(reason: Reason) -> str:
    """One number of counters with the metric that it is."""
    return f"{reason.text} [{reason.metric_id}]" if reason.metric_id else reason.text


def remedy_words(remedy: Remedy) -> str:
    """One thing to do, and about how many rows it is."""
    text = f"{remedy.name}: {remedy.text}" if remedy.name else remedy.text
    if not remedy.rows:
        return text
    rows = counted(len(remedy.rows), "rows")
    return f"{text} ({rows})"


def _evidence(item: CodeEvidence) -> Iterator[Part]:
    where = place(item.file, item.line)
    if item.row < 0:
        yield where
        return
    yield Named(hexadecimal(item.address), "i")
    times = f"{item.execution_count:,} times, " if item.execution_count else ""
    source = f" ({where})" if where else ""
    yield f" {item.text}{source}: {times}{short(item.cycles_total)} cycles"
    if item.producers:
        yield f",\n  waits for {'; '.join(item.producers)}"
