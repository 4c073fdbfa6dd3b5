"""Write docs/reference/verdicts.md: verdicts of captures, what follows, messages of AMD's tools. `--check` compares."""

from __future__ import annotations

import sys
from pathlib import Path

from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.plans.retries import RULES
from wavewright.capture.rocprofv3.messages import messages

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "verdicts.md"

#: What leads to each verdict, in the data first.
EVIDENCE = {
    Verdict.GOOD: "The data hold what was asked for. Thread traces: waves with instructions, whole and without holes.",
    Verdict.EMPTY: (
        "Thread traces: streams can be read, but no wave ran on the traced CU and SIMDs; waves elsewhere are in the "
        "stream and tell where to look. PC samples: a table without a sample."
    ),
    Verdict.TRUNCATED: (
        "A stream does not end as a finished one does, waves have no end, or a stream fills the part of the buffer "
        "that its shader engine has."
    ),
    Verdict.LOSSY: "The stream says that packets were lost, or has tokens that cannot be.",
    Verdict.NO_DISPATCH: (
        "No stream of the wanted kernel, no kernel, or no sample. The kernel trace of the same run tells whether the "
        "filter, the launch numbers or the GPU are the reason."
    ),
    Verdict.INCOMPLETE: "Launches or counters that were asked for are missing; the others are good.",
    Verdict.NOT_COUNTED: "Every value of a counter is 0 in every dispatch.",
    Verdict.HUNG: "The program was stopped at the time limit and left nothing to keep.",
    Verdict.REFUSED: "Nothing to keep, and a message below that says why; or rocprofv3 could not be started.",
    Verdict.FAILED: "Nothing to keep, and the program ended with an error; or what was written cannot be read.",
    Verdict.INTERRUPTED: "Ctrl-C or another signal to wavewright. `--resume` goes on.",
}
LEVELS = {"F": "fatal", "E": "error", "W": "warning", "S": "script", "-": ""}
SIGNS = {
    "status": "",
    "data": "(nothing is printed: seen in the data)",
    "command": "(nothing is printed: seen in the options)",
    "variables": "(nothing is printed: seen in the variables)",
    "level": "any other line of level F",
}


def verdicts_page() -> str:
    """The page as Markdown."""
    lines = [
        "# Verdicts of captures",
        "",
        (
            "<!-- made by tools/make_verdict_docs.py from src/wavewright/capture/plans/retries.toml and "
            "src/wavewright/capture/rocprofv3/messages.toml -->"
        ),
        "",
        (
            "Every attempt of `wavewright capture` is judged by the data that it left, with wavewright's own decoder "
            "and readers. What the tools print only explains why data are missing: a run that ended with an error but "
            "left a good trace is good, with a caution; a run that ended well and left an empty trace is empty."
        ),
        "",
        "| verdict | data are kept | evidence |",
        "|---|---|---|",
    ]
    for verdict in Verdict:
        is_kept = Judgement(verdict=verdict, reasons=()).is_kept
        lines.append(f"| {verdict.value} | {'yes' if is_kept else ''} | {_cell(EVIDENCE[verdict])} |")
    lines += [
        "",
        (
            "A program that was stopped at the time limit is judged by its data, too: the profiler writes them when it "
            "is interrupted. Of several dispatches the best is the one with most waves, then most instructions, then "
            "most of them with a source line. Dispatches without a wave (placeholders) are listed, and removed with "
            "`--clean`. Two launches of one kernel are compared: the difference in the mean duration of their waves is "
            "the noise of the capture (`noise_share` in `judgement.json`)."
        ),
        "",
        "## What happens next",
        "",
        (
            "The first rule that has something new to offer makes the next attempt, up to `--attempts`. No request is "
            "made twice, except after a pause. Buffers stay within 1 MiB and 2 GiB, half of the GPU's memory, and "
            "128 KiB to 16 GiB per shader engine (gfx11: 512 MiB). Wrong usage and failing programs are never retried."
        ),
        "",
        "| verdict | when | then |",
        "|---|---|---|",
    ]
    for rule in RULES:
        pause = f", after {rule.pause_seconds:.0f} s" if rule.pause_seconds else ""
        once = ", once" if rule.most == 1 else ""
        lines.append(f"| {rule.verdict.value} | {_cell(rule.when)} | {_cell(rule.then)}{pause}{once} |")
    lines += [
        "",
        "## Messages that are recognised",
        "",
        (
            "In what the program and the profiler print, the following texts are looked for (… stands for anything). "
            "Their level says little: a full buffer is a warning, and `Opened result file`, which every good run "
            "prints, is of the level of an error."
        ),
        "",
        "| # | level | text | cause | remedy | verdict without data |",
        "|---|---|---|---|---|---|",
    ]
    for row in messages().values():
        texts = "<br>".join(f"`{_cell(text.removeprefix('^'))}`" for text in row.seen) or SIGNS[row.sign]
        verdict_text = row.verdict.value if row.verdict else ""
        cells = (str(row.number), LEVELS[row.level], texts, _cell(row.cause), _cell(row.remedy), verdict_text)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != verdicts_page())
    PAGE.write_text(verdicts_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
