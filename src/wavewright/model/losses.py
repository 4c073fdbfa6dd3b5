"""What can be lost, guessed or left unread, each with its sentence and its remedy, declared once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.base.shown import shown
from wavewright.model.schema import THREAD_TRACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_BY_COUNT = re.compile(r"\[([^][|]*)\|([^][|]*)\]")


@dataclass(frozen=True)
class LossKind:
    """A kind of loss: `message` may use {count} and {detail}, and [one|several] for words that depend on the count."""

    name: str
    message: str
    advice: str
    #: Whether data is missing or may be wrong; False = worth knowing, but `--strict` does not mind.
    is_damage: bool = True
    counted_in: str = "times"  #: What the count of such a loss counts.
    #: Whether it changes no number, so that `info` tells it and the other verbs do not repeat it.
    is_for_info: bool = False

    def worded(self, count: int = 2) -> str:
        """The message for one or for several, with {count} and {detail} still to be filled in."""
        return _BY_COUNT.sub(r"\1" if count == 1 else r"\2", self.message)


@dataclass(frozen=True)
class Loss:
    """One loss, ready to become a row of the `losses` table."""

    kind: str
    count: int = 1
    detail: str = ""
    se: int | None = None
    time_cycles: int | None = None
    byte_offset: int | None = None

    def __post_init__(self) -> None:
        """Details name files, and become columns of tables and lines of reports."""
        object.__setattr__(self, "detail", shown(self.detail))

    @property
    def message(self) -> str:
        """The sentence for people."""
        return LOSSES[self.kind].worded(self.count).format(count=f"{self.count:,}", detail=self.detail)

    @property
    def advice(self) -> str:
        """What to do about it."""
        return LOSSES[self.kind].advice


_KINDS = (
    LossKind(
        "packet_loss",
        "the hardware dropped trace packets; instructions around here are missing and times may be off",
        "capture less: fewer waves (--att-simd-select), a larger --att-buffer-size, or fewer counters",
    ),
    LossKind(
        "truncated_token",
        "the file ends inside a token; everything before was read",
        "check that the file was copied whole; if it was, enlarge --att-buffer-size",
        counted_in="bytes",
    ),
    LossKind(
        "wave_incomplete",
        "a wave has no end in the trace; its last instructions are missing",
        "enlarge --att-buffer-size, or trace a shorter kernel",
        counted_in="instructions of such waves",
    ),
    LossKind(
        "stitch_incomplete",
        "{count} [instruction|instructions] of a wave could not be attributed to code",
        "put every code object of the capture next to the trace",
    ),
    LossKind(
        "bad_slot",
        "a token names a wave slot that the hardware does not have; reading stopped there",
        "damaged at this offset: copy or capture the file again; decode without --amd skips the token and continues",
    ),
    LossKind(
        "stale_instruction",
        "a report belongs to an instruction that a memory replay removed; reading stopped there",
        "decode without --amd skips the token and continues",
    ),
    LossKind(
        "branch_target_missing",
        "a taken branch leads to an address without code",
        "pass the code object that was really loaded; decode without --amd continues",
    ),
    LossKind(
        "unknown_tokens",
        "{count} [token is|tokens are] of an unknown kind",
        "the file may be damaged, or of a generation that this version of wavewright does not support",
    ),
    LossKind(
        "marker_queue_full",
        "marker values of a wave were dropped because its code object was never loaded",
        "capture with the code object loaded before the trace starts",
    ),
    LossKind(
        "counter_gaps",
        "the sampling interval was announced too often; [once|{count} times] the gaps between counter "
        "samples were not filled",
        "the file is probably damaged: copy or capture it again",
    ),
    LossKind(
        "unread_tail",
        "the last [byte was|{count} bytes were] not read, as in AMD's decoder, which stops before the end of a buffer",
        "nothing is wrong with the file; a wave that ended in these bytes is shown as incomplete",
        is_damage=False,
        is_for_info=True,
    ),
    LossKind(
        "missing_end",
        "the trace does not end as a finished one does; its last records are missing",
        "check that the file was copied whole; if it was, enlarge --att-buffer-size",
    ),
    LossKind(
        "cut_file",
        "the file {detail} ends early; what followed is missing",
        "check that the file was copied whole, or record again",
    ),
    LossKind(
        "implausible_fact",
        "{detail}: no such GPU has that, so it is not used",
        "check the file that says it; --target NAME takes what is known about a GPU",
    ),
    LossKind(
        "unended_waves",
        "{count} [wave of the shader engine has|waves of the shader engine have] no end in the trace; "
        "occupancy shows [it|them] running to its end",
        "check that the file was copied whole; if it was, enlarge --att-buffer-size, or trace a shorter kernel",
    ),
    LossKind(
        "unreadable_trace",
        "{detail}",
        "capture this shader engine again; the other files were read",
    ),
    LossKind(
        "not_followed",
        "links that lead out of the input, or to nothing, and special files are not read: {detail}",
        "copy the input with what its links lead to (cp -rL), or name the files themselves",
        counted_in="files",
    ),
    LossKind(
        "no_code_object",
        "no code object for id {detail}: its instructions have no text",
        "copy *_code_object_id_*.out next to the .att files, or use --code-object FILE[@LOAD_ADDRESS][:ID]",
    ),
    LossKind(
        "unreadable_code_object",
        "{detail}",
        "capture again, or pass the code object with --code-object",
    ),
    LossKind(
        "code_of_other_gpu",
        "{detail}: its instructions cannot be those that ran, and it was not used",
        "put the code objects of this capture beside the trace, or pass them with --code-object",
    ),
    LossKind(
        "registers_not_followed",
        "live registers are not known: {detail}",
        "the listing, loops and waits are not affected",
        is_damage=False,
    ),
    LossKind(
        "no_disassembler",
        "the code cannot be disassembled ({detail}): instructions have categories and times, but no text and no PC",
        "install an LLVM that supports this GPU, or pass a listing of the code with --code-object",
    ),
    LossKind(
        "nearest_table",
        "wavewright has no instruction table of {detail}: instructions that only one of them has are misread",
        "install an LLVM that supports this GPU, or a newer wavewright",
    ),
    LossKind(
        "llvm_not_used",
        "wavewright disassembled with its own tables, not with the LLVM that WAVEWRIGHT_LLVM names ({detail})",
        "unset WAVEWRIGHT_LLVM, or set it to a libLLVM of version 19 or newer that supports this GPU",
        is_damage=False,
    ),
    LossKind(
        "disassembly_incomplete",
        "{detail}",
        "instructions at these addresses have no text; a newer LLVM may support them",
    ),
    LossKind(
        "listing_lines",
        "{count} [line|lines] of a listing could not be read ({detail})",
        "each line is: address TAB size TAB text",
    ),
    LossKind(
        "marker_names",
        "{count} [row|rows] of the marker names of {detail} could not be read; markers with [this id|these "
        "ids] are not "
        "shown",
        "build the code object again with the instrumentation pass of the same LLVM",
    ),
    LossKind(
        "debug_lines",
        "{detail}",
        "source lines are missing for this code object; compile with -g",
    ),
    LossKind(
        "guessed_load_address",
        "the load address of {detail} was inferred from the kernel entry",
        "pass it explicitly: --code-object FILE@LOAD_ADDRESS",
        is_damage=False,
    ),
    LossKind(
        "other_dispatches",
        "{detail}",
        "use --dispatch or --kernel (in Python: dispatch=, kernel=); `wavewright info` lists them with their kernels",
        is_damage=False,
        is_for_info=True,
    ),
    LossKind(
        "unopened_archives",
        "{detail} beside the decoded traces not opened",
        "pass an archive by its own path to read it",
        is_damage=False,
        counted_in="archives",
        is_for_info=True,
    ),
    LossKind(
        "left_out_of_page",
        "{count} [result|results] ({detail}) [is|are] not in this file, which would be too large",
        "`wavewright open` shows them; a trace of fewer waves or a part of the run makes a smaller file",
        is_damage=False,
    ),
    LossKind(
        "no_manifest",
        "filenames.json could not be used ({detail}); files were found by their names",
        "copy the whole directory again; without it the generation of the GPU is unknown",
    ),
    LossKind(
        "unknown_generation",
        "the directory does not name a supported generation of GPU: waits are not matched with their producers",
        "decode the raw capture again, or use a newer wavewright",
    ),
    LossKind(
        "missing_files",
        "{count} [file that belongs|files that belong] to the directory [is|are] not in it ({detail})",
        "copy the whole directory again",
    ),
    LossKind(
        "unlisted_files",
        "{count} [file is|files are] not listed in filenames.json ({detail})",
        "perhaps an earlier decoding left them: decode into a fresh directory",
    ),
    LossKind(
        "unreadable_json",
        "{detail}",
        "copy or decode this directory again; the other files were read",
    ),
    LossKind(
        "malformed_rows",
        "{count} [row does|rows do] not fit the format and [was|were] left out ({detail})",
        "the directory is damaged or of an unknown writer: decode the raw capture with wavewright",
    ),
    LossKind(
        "impossible_times",
        "{count} [instruction has|instructions have] impossible times: before their wave or each other, "
        "beyond 2^48 cycles, "
        "or stalls that are negative or longer than the instruction ({detail}); they are not changed",
        "the numbers around them are not reliable: decode the raw capture with wavewright",
    ),
    LossKind(
        "unresolved_pcs",
        "{count} [instruction has|instructions have] an unknown PC: the decoder could not attribute [it|them] to code "
        "({detail})",
        "decode the raw capture again with every code object next to it",
    ),
    LossKind(
        "unknown_rows",
        "{count} [instruction refers|instructions refer] to rows that code.json does not have ({detail})",
        "code.json is cut or of another decoding: decode the raw capture again",
    ),
    LossKind(
        "duplicate_rows",
        "{count} [row of code.json has|rows of code.json have] an id that another row has: instructions count for the "
        "first of them",
        "decode the raw capture again",
    ),
    LossKind(
        "duplicate_waves",
        "{count} [wave file repeats|wave files repeat] a wave that was already read and [was|were] left out ({detail})",
        "the directory mixes two decodings: decode into a fresh one",
    ),
    LossKind(
        "missing_sources",
        "{count} [source copy is|source copies are] not in the directory ({detail}): [its|their] text is not shown",
        "copy the whole directory, source_* included",
        is_damage=False,
        is_for_info=True,
    ),
    LossKind(
        "no_waves",
        "no wave ran on the traced CU: {detail}",
        "trace another CU or SE (--att-target-cu, --att-shader-engine-mask), or a larger grid",
        is_damage=False,
    ),
    LossKind(
        "placeholder",
        "an empty placeholder: this capture slot recorded neither waves, nor code, nor occupancy",
        "open another dispatch of the run, or capture again with fewer kernel iterations selected",
        is_damage=False,
    ),
    LossKind(
        "totals_disagree",
        "code.json counts {detail}: waves are missing, repeated or cut, or of another decoding",
        "copy the whole directory again, or decode the raw capture with wavewright",
    ),
    LossKind(
        "no_occupancy",
        "waves were traced, but no starts and ends of waves are recorded: kernels and residency are unknown",
        "copy the whole directory again, occupancy.json included",
    ),
    LossKind(
        "both_forms",
        "the folder contains raw traces and their decoded directories; {detail}",
        "name the decoded directory itself, or the folder of the .att files, to read the other form",
        is_damage=False,
        is_for_info=True,
    ),
    LossKind(
        "broken_archive",
        "the archive is damaged ({detail}); the [file|{count} files] before the damage [was|were] read",
        "check that the archive was copied whole",
    ),
    LossKind(
        "archive_entries",
        "{count} [entry of the archive was|entries of the archive were] left out: {detail}",
        "if they belong to the trace, unpack the archive and open the folder",
        is_damage=False,
        is_for_info=True,
    ),
    LossKind(
        "parquet_columns",
        "another version of wavewright wrote these tables; {count} [column or table differs|columns or "
        "tables differ] ({detail})",
        "decode the capture again if you miss them",
        is_damage=False,
        is_for_info=True,
    ),
    LossKind(
        "counter_rows",
        "{count} [row of {detail} lacks|rows of {detail} lack] a dispatch, a kernel, a counter or a number; "
        "[it was|they were] left out",
        "check that the file was copied whole, or collect the counters again",
    ),
    LossKind(
        "counter_twice",
        "{count} [value of {detail} gives|values of {detail} give] a counter of a dispatch again; the first "
        "value is used",
        "collect the counters again; a file should have one value per counter, dispatch and pass",
    ),
    LossKind(
        "counter_numbers",
        "{count} [value of {detail} is not a valid count|values of {detail} are not valid counts] (not a "
        "number, negative "
        "or too large) and [was|were] left out",
        "copy the original file again: a spreadsheet may have written commas into its numbers",
        counted_in="values",
    ),
    LossKind(
        "counter_cut",
        "{detail} ends inside a line: its last number may lack digits and was left out",
        "copy the file again; if it is whole, end its last line",
    ),
    LossKind(
        "counter_times",
        "{count} [dispatch does not end after it starts; its duration|dispatches do not end after they start; their "
        "durations] and rates are unknown",
        "the timestamps were rounded, as spreadsheets do: open the original file, or collect again",
        counted_in="dispatches",
    ),
    LossKind(
        "counter_dispatches",
        "{count} [dispatch is|dispatches are] not in every pass ({detail}); the other passes have no values "
        "for [it|them]",
        "collect all passes with the same input and the same filters",
        counted_in="dispatches",
    ),
    LossKind(
        "counter_silent",
        "{detail}",
        "fix the performance level of the GPU (rocm-smi --setperflevel high) and collect again",
        counted_in="counters",
    ),
    LossKind(
        "counter_partner",
        "{count} [L2 channel lacks|L2 channels lack] counters that others have ({detail}); [its|their] "
        "ratios are unknown",
        "collect all channels of these counters in one pass",
        counted_in="channels",
    ),
    LossKind(
        "other_workloads",
        "the database has {count} more [workload, which was|workloads, which were] not read: {detail}",
        "let rocprof-compute analyze write one database per workload",
        is_damage=False,
        counted_in="workloads",
    ),
    LossKind(
        "resources_ambiguous",
        "{detail}",
        "pass the file of this dispatch with --resources",
        is_damage=False,
    ),
    LossKind(
        "resources_unread",
        "{detail}",
        "pass a smaller or undamaged file with --resources, or do without",
        is_damage=False,
    ),
    LossKind(
        "launch_unread",
        "a run beside the trace was not read, so the duration of the traced dispatch may not be known: {detail}",
        "`wavewright summary` of that file tells more, or do without",
        is_damage=False,
    ),
    LossKind(
        "unreadable_source",
        "{detail}",
        "the other files were read",
    ),
    LossKind(
        "omniprobe_unread",
        "{count} [record|records] of Omniprobe could not be read and [was|were] left out ({detail})",
        "run Omniprobe again with its log in a file of its own (--log-location FILE)",
        counted_in="records",
    ),
    LossKind(
        "lost_worker",
        "{detail}",
        "start the command again; the other files are in the result",
    ),
    LossKind(
        "unreadable_rows",
        "a table ends early ({detail}); the rows before the damage were read",
        "copy the database again from where it was recorded, or record again",
    ),
    LossKind(
        "mixed_values",
        "{count} [value|values] of {detail} [is|are] not of the type that the column should have and "
        "[was|were] left out",
        "the file was changed or written by an unknown tool: compare it with its origin",
    ),
    LossKind(
        "missing_tables",
        "{detail}",
        "record again, or use commands that need only the other tables",
    ),
    LossKind(
        "missing_columns",
        "{detail}: values that need them are too small or missing",
        "the file was changed, or its version is wrong: compare it with its origin",
        counted_in="columns",
    ),
    LossKind(
        "unread_tables",
        "the database has {count} more [table than is|tables than are] read ({detail})",
        "no profiler writes that many; split the file",
        counted_in="tables",
    ),
    LossKind(
        "dangling_rows",
        "{count} [row refers|rows refer] to rows that do not exist ({detail}); [its|their] names or "
        "positions are unknown",
        "the file is damaged or was cut: compare it with its origin",
    ),
    LossKind(
        "backward_times",
        "{count} [event ends before it starts|events end before they start] ({detail}); [it counts as a "
        "call|they count as "
        "calls] without time",
        "the clocks of the recording were not synchronised: record again",
    ),
    LossKind(
        "unfinished_events",
        "{count} [event has|events have] no end ({detail}); [it counts as a call|they count as calls] without time",
        "the process ended while they ran, or the recording was cut",
    ),
    LossKind(
        "overflowing_times",
        "{count} [event lasts|events last] longer than 52 days ({detail}); [it counts as a call|they count "
        "as calls] without "
        "time",
        "the file or its writer is defective: record again",
    ),
    LossKind(
        "no_times",
        "{count} [dispatch has|dispatches have] no times ({detail}); [it counts as a call|they count as "
        "calls] without time",
        "record with --kernel-trace as well",
        is_damage=False,
    ),
    LossKind(
        "malformed_events",
        "{count} [row or event does|rows or events do] not fit the format and [was|were] left out ({detail})",
        "the file was cut or changed: copy it again, or record again",
    ),
    LossKind(
        "samples_beside",
        "{count} PC [sample is|samples are] in this file, too",
        "`wavewright hotspots` and `wavewright diagnose` of the same path read them",
        is_damage=False,
        counted_in="samples",
    ),
    LossKind(
        "other_samples",
        "{count} other PC sampling files are below this folder and are not in this answer ({detail})",
        "name one of them to read it",
        is_damage=False,
        counted_in="files",
    ),
    LossKind(
        "samples_without_addresses",
        "CSV files of PC samples do not record addresses: instructions of a kernel with the same text and source line "
        "are counted as one, and the order of the code is not known",
        "record with --output-format json to tell them apart",
        is_damage=False,
    ),
    LossKind(
        "samples_without_code",
        "{count} PC [sample is|samples are] of code that the profiler could not read (copies and fills of the runtime, "
        "code that changes itself): only the address is known",
        "the other samples are not affected",
        is_damage=False,
        counted_in="samples",
    ),
    LossKind(
        "unread_records",
        "{count} [record is of a kind|records are of kinds] that this version of wavewright does not read ({detail})",
        "the other kinds were read",
        is_damage=False,
    ),
    LossKind(
        "other_forms",
        "skipped {detail}: it holds the same run",
        "to read it instead, give only that file",
        is_damage=False,
    ),
    LossKind(
        "launched_before",
        "{count} [dispatch or copy was|dispatches and copies were] launched before the recording started",
        "--launched leaves them out, as TraceLens does",
        is_damage=False,
    ),
    LossKind(
        "duplicate_run",
        "{detail} is in the input twice; it counts once",
        "leave one of the files out",
    ),
    LossKind(
        "not_in_format",
        "{count} [row of {detail} does|rows of {detail} do] not fit into this format and [was|were] not written",
        "convert to parquet or arrow, which contain everything",
    ),
    LossKind(
        "window_beyond_run",
        "the window reaches beyond the run ({detail})",
        "choose a window inside the run, or use the selection as it is",
        is_damage=False,
    ),
    LossKind(
        "repeated_marker",
        "{count} markers are called {detail!r}: the window reaches from the first to the last of them",
        "choose a marker that occurs once, or a time window",
        is_damage=False,
    ),
)

LOSSES: dict[str, LossKind] = {kind.name: kind for kind in _KINDS}  #: Every kind of loss, by name.

#: Numbers that the native core uses (wavewright::Loss) -> names.
CORE_LOSSES: dict[int, str] = {
    1: "packet_loss",
    2: "truncated_token",
    3: "wave_incomplete",
    4: "stitch_incomplete",
    5: "bad_slot",
    6: "stale_instruction",
    7: "branch_target_missing",
    8: "unknown_tokens",
    9: "marker_queue_full",
    10: "counter_gaps",
    11: "unread_tail",
    12: "missing_end",
    13: "unended_waves",
}


def loss_frame(losses: Sequence[Loss]) -> pl.DataFrame:
    """Losses as the `losses` table."""
    import polars as pl

    spec = THREAD_TRACE["losses"]
    rows = [{c.name: getattr(loss, c.name) for c in spec.columns} for loss in losses]
    return pl.DataFrame(rows, schema=spec.dtypes)
