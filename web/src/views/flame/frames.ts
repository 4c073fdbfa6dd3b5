// The frames of a flame graph, as they are in the answer to `flame`: their weights, names and colours, and what a click on
// one selects. A frame is known by its number, which is its place in all arrays; frame 0 is the whole.
import { baseName } from "../../base/path";
import type { Columns } from "../../data/columns";
import type { FlameLayout } from "../../draw/flame";
import { colourOf, nameColour, paper } from "../../draw/palette";
import { codeNow, selectRow, selectRowInPlace, selectSourceLine } from "../../model/code";
import { type Selection, selection } from "../../model/selection";
import { isSampled, openedFile, shortLine } from "../../model/source";
import { frontView } from "../../model/view";
import { csv } from "../../widgets/saving";

/** What the width of a frame is: all cycles, or those that work of other waves did not hide. */
export type Weight = "total" | "exposed";

/** The frames of an answer as arrays. */
export interface Frames {
  count: number;
  /** Of each frame the one around it; of the whole -1. */
  parents: ArrayLike<number>;
  /** all, smaller (siblings that were put together), file, line, function, loop, block, instruction, or that of a scope. */
  kinds: string[];
  names: string[];
  /** Source file; empty = the frame has none. */
  files: string[];
  lines: ArrayLike<number>;
  /** Row of code; of a function, loop or block the first. */
  rows: ArrayLike<number>;
  measures: Record<
    "hits" | "latency" | "stall" | "idle" | "exposedLatency" | "exposedIdle" | "samples",
    ArrayLike<number>
  >;
}

export function framesFrom(table: Columns): Frames {
  return {
    count: table.length,
    parents: table.numbers("parent"),
    kinds: table.texts("kind"),
    names: table.texts("name"),
    files: table.texts("file"),
    lines: table.numbers("line"),
    rows: table.numbers("row"),
    measures: {
      hits: table.numbers("hit_count"),
      latency: table.numbers("latency_cycles_total"),
      stall: table.numbers("stall_cycles_total"),
      idle: table.numbers("idle_cycles_total"),
      exposedLatency: table.numbers("exposed_latency_cycles_total"),
      exposedIdle: table.numbers("exposed_idle_cycles_total"),
      samples: table.numbers("sample_count"),
    },
  };
}

/** The weight of each frame: samples, or cycles, with the idle ones before instructions as chosen. */
export function weightsOf(frames: Frames, weight: Weight, withIdle: boolean): Float64Array {
  const { latency, idle, exposedLatency, exposedIdle, samples } = frames.measures;
  const [cycles, gaps] = weight === "total" ? [latency, idle] : [exposedLatency, exposedIdle];
  return Float64Array.from({ length: frames.count }, (_, i) =>
    isSampled.value ? (samples[i] ?? 0) : (cycles[i] ?? 0) + (withIdle ? (gaps[i] ?? 0) : 0),
  );
}

/** The name on a frame: of lines and files the end of their path. */
export function shownName(frames: Frames, frame: number): string {
  const name = frames.names[frame] ?? "";
  const file = frames.files[frame] ?? "";
  if (!file) return name;
  return frames.kinds[frame] === "line" ? shortLine(file, frames.lines[frame] ?? 0) : baseName(file);
}

/** Files and lines by their file, instructions by what they are, scopes by their name. */
export function colourOfFrame(frames: Frames, frame: number): string {
  const kind = frames.kinds[frame];
  if (kind === "all") return paper("faint");
  if (kind === "smaller") return colourOf("NONE");
  if (kind === "instruction") return colourOf(categoryOf(codeNow()?.kind[frames.rows[frame] ?? -1] ?? ""));
  return nameColour(kind === "file" || kind === "line" ? (frames.files[frame] ?? "") : (frames.names[frame] ?? ""));
}

/** How names of classes of instructions begin, and the category whose colour they have. */
const CATEGORIES = [
  { prefix: "matrix", category: "MATRIX" },
  { prefix: "valu", category: "VALU" },
  { prefix: "lds", category: "LDS" },
  { prefix: "vmem", category: "VMEM" },
  { prefix: "flat", category: "FLAT" },
  { prefix: "smem", category: "SMEM" },
  { prefix: "branch", category: "JUMP" },
  { prefix: "end", category: "JUMP" },
  { prefix: "salu", category: "SALU" },
];

function categoryOf(instructionClass: string): string {
  return CATEGORIES.find(({ prefix }) => instructionClass.startsWith(prefix))?.category ?? "IMMED";
}

/** Kinds of frames that stand for several rows: a click zooms, and selects the first. */
const OF_CODE = new Set(["function", "loop", "block"]);

export function selectFrame(frames: Frames, frame: number): void {
  const [kind, file] = [frames.kinds[frame], frames.files[frame] ?? ""];
  if (kind === "instruction") selectRow(frames.rows[frame] as number);
  else if (OF_CODE.has(kind ?? "")) selectRowInPlace(frames.rows[frame] as number);
  else if (kind === "line") selectSourceLine({ file, line: frames.lines[frame] as number });
  else if (kind === "file" && file) {
    openedFile.value = file;
    frontView("explorer");
  }
}

/** What other views preview while the pointer is over a frame; empty = it stands for neither a row nor a line. */
export function previewOf(frames: Frames, frame: number): Selection {
  const kind = frames.kinds[frame];
  if (kind === "instruction") return { row: frames.rows[frame] as number };
  return kind === "line"
    ? { sourceLine: { file: frames.files[frame] ?? "", line: frames.lines[frame] as number } }
    : {};
}

/** The frame of the selected instruction, or else of the selected line: the widest of several; -1 = there is none. */
export function selectedFrame(frames: Frames, layout: FlameLayout): number {
  const width = (frame: number) => (layout.end[frame] ?? 0) - (layout.begin[frame] ?? 0);
  const isSelected = selectionTest(frames);
  let best = -1;
  for (let frame = 0; frame < frames.count; frame++) {
    if (isSelected(frame) && (best < 0 || width(frame) > width(best))) best = frame;
  }
  return best;
}

/** Whether a frame is of what is selected. Equal instructions of one line share a frame, which has the row of one of them. */
function selectionTest(frames: Frames): (frame: number) => boolean {
  const { row, sourceLine } = selection.value;
  const isOnLine = (frame: number) =>
    frames.files[frame] === sourceLine?.file && frames.lines[frame] === sourceLine?.line;
  if (row === undefined) return (frame) => frames.kinds[frame] === "line" && isOnLine(frame);
  const text = codeNow()?.text[row];
  return (frame) =>
    frames.kinds[frame] === "instruction" &&
    (frames.rows[frame] === row ||
      (text !== undefined && frames.names[frame] === text && isOnLine(frames.parents[frame] ?? -1)));
}

export function asCsv(frames: Frames, weights: Float64Array): string {
  const header = [
    "frame",
    "parent",
    "kind",
    "name",
    "file",
    "line",
    "row",
    "weight",
    "hit_count",
    "latency_cycles",
    "stall_cycles",
    "idle_cycles",
    "exposed_latency_cycles",
    "exposed_idle_cycles",
    "sample_count",
  ];
  const { hits, latency, stall, idle, exposedLatency, exposedIdle, samples } = frames.measures;
  const columns = [weights, hits, latency, stall, idle, exposedLatency, exposedIdle, samples];
  const rows = Array.from({ length: frames.count }, (_, i) => [
    i,
    frames.parents[i],
    frames.kinds[i],
    frames.names[i],
    frames.files[i],
    frames.lines[i],
    frames.rows[i],
    ...columns.map((values) => values[i]),
  ]);
  return csv(header, rows);
}
