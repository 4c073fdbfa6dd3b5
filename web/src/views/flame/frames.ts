// The frames of an answer: their weights, names and colours, and what a click on one selects.
import { baseName } from "../../base/path";
import type { Columns } from "../../data/columns";
import type { FlameLayout } from "../../draw/flame";
import { colourOf, nameColour, paper } from "../../draw/palette";
import { codeNow, selectRow, selectSourceLine } from "../../model/code";
import { type Selection, selection } from "../../model/selection";
import { isSampled, openedFile, shortLine } from "../../model/source";
import { frontView } from "../../model/view";
import { csv } from "../../widgets/saving";

export type Weight = "total" | "exposed";

/** The frames of an answer as arrays. */
export interface Frames {
  count: number;
  parents: ArrayLike<number>;
  kinds: string[];
  names: string[];
  files: string[];
  lines: ArrayLike<number>;
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

export function weightsOf(frames: Frames, weight: Weight, withIdle: boolean): Float64Array {
  const { latency, idle, exposedLatency, exposedIdle, samples } = frames.measures;
  const [cycles, gaps] = weight === "total" ? [latency, idle] : [exposedLatency, exposedIdle];
  return Float64Array.from({ length: frames.count }, (_, i) =>
    isSampled.value ? (samples[i] ?? 0) : (cycles[i] ?? 0) + (withIdle ? (gaps[i] ?? 0) : 0),
  );
}

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

/** The category whose colour a class of instructions has, by the beginning of its name. */
function categoryOf(kind: string): string {
  const kinds: [string, string][] = [
    ["matrix", "MATRIX"],
    ["valu", "VALU"],
    ["lds", "LDS"],
    ["vmem", "VMEM"],
    ["flat", "FLAT"],
    ["smem", "SMEM"],
    ["branch", "JUMP"],
    ["end", "JUMP"],
    ["salu", "SALU"],
  ];
  return kinds.find(([begin]) => kind.startsWith(begin))?.[1] ?? "IMMED";
}

/** Kinds of frames that stand for several rows: a click zooms, and selects the first. */
const OF_CODE = new Set(["function", "loop", "block"]);

export function selectFrame(frames: Frames, frame: number): void {
  const [kind, file] = [frames.kinds[frame], frames.files[frame] ?? ""];
  if (kind === "instruction") selectRow(frames.rows[frame] as number);
  else if (OF_CODE.has(kind ?? "")) selectRow(frames.rows[frame] as number, {}, true);
  else if (kind === "line") selectSourceLine({ file, line: frames.lines[frame] as number });
  else if (kind === "file" && file) {
    openedFile.value = file;
    frontView("explorer");
  }
}

export function previewOf(frames: Frames, frame: number): Selection {
  const kind = frames.kinds[frame];
  if (kind === "instruction") return { row: frames.rows[frame] as number };
  return kind === "line"
    ? { sourceLine: { file: frames.files[frame] ?? "", line: frames.lines[frame] as number } }
    : {};
}

/** The frame of the selected instruction or line: the widest one. */
export function selectedFrame(frames: Frames, layout: FlameLayout): number {
  const { row, sourceLine } = selection.value;
  let best = -1;
  const width = (frame: number) => (layout.end[frame] ?? 0) - (layout.begin[frame] ?? 0);
  const text = row === undefined ? undefined : codeNow()?.text[row];
  for (let frame = 0; frame < frames.count; frame++) {
    const kind = frames.kinds[frame];
    const parent = frames.parents[frame] ?? -1;
    const isRow =
      kind === "instruction" &&
      (frames.rows[frame] === row ||
        (text !== undefined &&
          frames.names[frame] === text &&
          frames.files[parent] === sourceLine?.file &&
          frames.lines[parent] === sourceLine?.line));
    const isLine =
      row === undefined &&
      kind === "line" &&
      frames.files[frame] === sourceLine?.file &&
      frames.lines[frame] === sourceLine?.line;
    if ((isRow || isLine) && (best < 0 || width(frame) > width(best))) best = frame;
  }
  return best;
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
