"""A diagnosis in words and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from wavewright.analysis.trace.about.traced_call import launch_sentence, launch_source
from wavewright.analysis.trace.diagnose import Diagnosis
from wavewright.analysis.trace.diagnose.finding import Link, Reason, Remedy, StallFinding
from wavewright.analysis.trace.diagnose.grid_findings import bandwidth_words, traffic_words
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Drawn, Named, Part, Sentence, headline, labelled, sentence
from wavewright.model.findings import CodeEvidence
from wavewright.words.kit.frame_tables import hexadecimal, place
from wavewright.words.kit.run_gain import calls_words, run_gain_words
from wavewright.words.kit.wait_checks import open_barrier_words, strict_wait_words
from wavewright.words.trace.floors import floor_sentences
from wavewright.words.trace.input.trust import SEVERITY_TONES, trust_lines
from wavewright.writers.terminal.bars import bar

_REASONS = 5
_SAYS_MUCH = 0.01  #: Of what is requested: a smaller lower bound of what the memory moves tells nothing.
_NEARLY_ALL = 0.95  #: Share of the instructions from which a part is not mentioned.
_NOTHING_TO_WIN = 0.01  #: Below this share there is nothing to win.
_LOW_FLOOR_SHARE = 0.5  #: Floors below this share of the span leave room for everything: nothing is said about them.
BASIS_WORDS = {"traced SIMDs": "time", "dispatch": "dispatch"}


def verdict(answer: Diagnosis) -> str:
    """The diagnosis in one sentence."""
    if not answer.wave_cycles_total:
        return "Nothing to diagnose: the trace has no instructions"
    if not answer.findings:
        return "Nothing stands out: no cause takes 1 % of the time"
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


def diagnosis_report(answer: Diagnosis, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of the plan: how far to trust it, then the findings in order."""
    yield headline(verdict(answer))
    if context := context_line(answer):
        yield Sentence(context)
    yield from map(Sentence, floor_lines(answer))
    if answer.launch is not None:
        calls = f"; {calls_words(answer.in_run[0])}" if answer.in_run else ""
        yield Sentence(f"{launch_sentence(answer.launch)}; {launch_source(answer.launch)}{calls}")
    yield from trust_lines(answer.trust)
    for caveat in answer.trust.caveats:
        words = f"{printable(caveat.sentence)}; {caveat.advice}"
        yield labelled(caveat.severity, words, tone=SEVERITY_TONES[caveat.severity])
    if answer.link:
        yield from _link_lines(answer.link)
    yield from map(Sentence, filter(None, (answer.order_note,)))
    for number, finding in enumerate(answer.findings[:limit], 1):
        yield GAP
        yield from finding_lines(number, finding)
        if words := run_words(answer, number):
            yield labelled("run", words)
    if len(answer.findings) > limit:
        yield sentence((f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all", "bold yellow"))
    checks = [*strict_wait_words(answer.strict_waits), *open_barrier_words(answer.open_barriers)]
    if checks:
        yield GAP
    for text in checks[:limit]:
        yield Sentence(text, "note")


def run_words(answer: Diagnosis, number: int) -> str:
    """What a finding, by its number, would do to the run; empty = not known."""
    return run_gain_words(answer.in_run[number - 1]) if number <= len(answer.in_run) else ""


def finding_lines(number: int, finding: StallFinding) -> Iterator[AnyBlock]:
    """Blocks of one finding."""
    head = f"{number}. {finding.verdict}"
    yield sentence((head, "bold"), "  ", Drawn(bar(finding.gain_share_max)), " ", (gain_words(finding), "bold"))
    cycles = []
    if finding.stall_cycles_total:
        share = f"{percent(finding.stall_share)} of the cycles of all waves"
        cycles.append(f"{short(finding.stall_cycles_total)} cycles ({share})")
    if finding.row_count:
        cycles.append(counted(finding.row_count, "instructions"))
    if finding.causes and finding.causes[0].no_issue_share:
        first = finding.causes[0]
        cycles.append(f"SIMDs issue nothing for {percent(first.no_issue_share)} of the time during {first.name}")
    if cycles:
        yield sentence((", ".join(cycles), "dim"), indent=3)
    yield labelled("why", printable(finding.reason))
    for reason in finding.reasons[:_REASONS]:
        yield labelled("counters", reason_words(reason), tone="magenta")
    if len(finding.reasons) > _REASONS:
        yield sentence(
            (f"showing {_REASONS} of {len(finding.reasons)} reasons; --json has all", "bold yellow"), indent=3
        )
    for remedy in finding.remedies[:3]:
        yield labelled("do", remedy_words(remedy))
    if len(finding.remedies) > 3:
        yield sentence((f"showing 3 of {len(finding.remedies)} remedies; --json has all", "bold yellow"), indent=3)
    for item in finding.evidence[:3]:
        yield labelled("see", *_evidence(item))
    if finding.row_count > 3:
        yield sentence((f"showing 3 of {finding.row_count:,} rows; `wavewright stalls` lists more", "dim"), indent=3)
    yield labelled("confidence", f"{finding.confidence} ({finding.confidence_reason})")


def gain_words(finding: StallFinding) -> str:
    """The gain in words."""
    if finding.gain_share_max < _NOTHING_TO_WIN:
        return "nothing to win in this code"
    return f"gain at most {percent(finding.gain_share_max)} of the {BASIS_WORDS[finding.gain_basis]}"


def _link_lines(link: Link) -> Iterator[AnyBlock]:
    if link.kernel_name is not None:
        each = f", {link.duration_ns_mean / 1000:,.1f} µs each" if link.duration_ns_mean else ""
        name = link.kernel_name if len(link.kernel_name) <= 60 else f"{link.kernel_name[:59]}…"
        counters = f"{counted(link.dispatch_count, 'dispatches')} of {name}{each}"
        yield labelled("hw", f"reasons from the counters of {printable(counters)}", tone="magenta")
    for caveat in link.caveats:
        words = f"{printable(caveat.sentence)}; {caveat.advice}"
        yield labelled(caveat.severity, words, tone=SEVERITY_TONES[caveat.severity])


def reason_words(reason: Reason) -> str:
    """One number of counters with the metric that it is."""
    return printable(f"{reason.text} [{reason.metric_id}]" if reason.metric_id else reason.text)


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
    source = f"  ({where})" if where else ""
    yield f" {printable(item.text)}{printable(source)}  {times}{short(item.cycles_total)} cycles"
    if item.producers:
        yield f"\n  <- {printable('; '.join(item.producers))}"
