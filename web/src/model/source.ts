// Source files and lines of the current trace with what they cost, for the views of source: loaded once per document.

import { computed } from "@preact/signals";
import { baseName } from "../base/path";
import { arrow, together } from "../data/ask";
import type { Columns } from "../data/columns";
import { current, ofDocument, overview } from "./document";
import { answering } from "./loaded";
import { change, settings } from "./settings";

/** Cycles of all executions, and PC samples. */
export interface SourceCost {
  rows: number;
  hits: number;
  latency: number;
  stall: number;
  idle: number;
  exposedStall: number;
  exposedIssue: number;
  exposedIdle: number;
  issued: number;
  stalled: number;
  /** Samples of a method that does not tell whether the instruction was issued. */
  unknown: number;
}

/** `own`: of instructions that were compiled from it; `inclusive`: also of what was inlined into it. */
export interface Costed {
  own: SourceCost;
  inclusive: SourceCost;
}

export interface SourceFile extends Costed {
  number: number;
  /** Path as in the debug lines; "" stands for instructions without a debug line. */
  file: string;
  hasText: boolean;
  lineCount: number;
}

export interface CostedLine extends Costed {
  file: SourceFile;
  /** 0 = the compiler gave none. */
  line: number;
  /** Its first characters; "" = the source is not available. */
  text: string;
  /** What its own instructions stalled on most. */
  stallClass: string;
}

export interface Sources {
  /** Costliest first. */
  files: SourceFile[];
  lines: CostedLine[];
  linesOf: Map<SourceFile, CostedLine[]>;
  /** Of all instructions, with and without a debug line. */
  total: SourceCost;
}

/** The columns of both tables; with the prefix `inclusive_` they count what was inlined, too. */
const COLUMNS: Record<keyof SourceCost, string> = {
  rows: "row_count",
  hits: "hit_count",
  latency: "latency_cycles_total",
  stall: "stall_cycles_total",
  idle: "idle_cycles_total",
  exposedStall: "exposed_stall_cycles_total",
  exposedIssue: "exposed_issue_cycles_total",
  exposedIdle: "exposed_idle_cycles_total",
  issued: "issued_count",
  stalled: "stalled_count",
  unknown: "unknown_count",
};
const PARTS = Object.keys(COLUMNS) as (keyof SourceCost)[];

const NOTHING = Object.fromEntries(PARTS.map((part) => [part, 0])) as unknown as SourceCost;

function costsOf(costs: Columns, prefix: string): SourceCost[] {
  const columns = PARTS.map((part) => costs.numbers(prefix + COLUMNS[part]));
  return Array.from({ length: costs.length }, (_, row) => {
    const cost = { ...NOTHING };
    PARTS.forEach((part, at) => {
      cost[part] = columns[at]?.[row] ?? 0;
    });
    return cost;
  });
}

function sourcesFrom([fileTable, lineTable]: [Columns, Columns]): Sources {
  const files = filesFrom(fileTable);
  const lines = linesFrom(lineTable, files);
  const linesOf = new Map<SourceFile, CostedLine[]>(files.map((file) => [file, []]));
  for (const line of lines) linesOf.get(line.file)?.push(line);
  return { files, lines, linesOf, total: sumOf(files.map((file) => file.own)) };
}

function filesFrom(table: Columns): SourceFile[] {
  const [own, inclusive] = [costsOf(table, ""), costsOf(table, "inclusive_")];
  const [hasText, lineCount] = [table.flags("has_text"), table.numbers("line_count")];
  return table.texts("file").map((file, number) => ({
    number,
    file,
    hasText: hasText[number] ?? false,
    lineCount: lineCount[number] ?? 0,
    own: own[number] ?? NOTHING,
    inclusive: inclusive[number] ?? NOTHING,
  }));
}

/** The lines of all files; `file` of the table is the number of the file. */
function linesFrom(table: Columns, files: SourceFile[]): CostedLine[] {
  const [own, inclusive] = [costsOf(table, ""), costsOf(table, "inclusive_")];
  const [fileNumbers, lineNumbers] = [table.numbers("file"), table.numbers("line")];
  const [texts, stallClasses] = [table.texts("text"), table.texts("stall_class")];
  const lines: CostedLine[] = [];
  for (let row = 0; row < table.length; row++) {
    const file = files[fileNumbers[row] as number];
    if (!file) continue;
    lines.push({
      file,
      line: lineNumbers[row] ?? 0,
      text: texts[row] ?? "",
      stallClass: stallClasses[row] ?? "",
      own: own[row] ?? NOTHING,
      inclusive: inclusive[row] ?? NOTHING,
    });
  }
  return lines;
}

/** Asked for when a view that shows source is first on screen. */
export const sourcesAnswer = answering(() =>
  overview.value?.kind === "trace"
    ? together(arrow(current.value, "source_files"), arrow(current.value, "source_lines")).as(sourcesFrom)
    : null,
);

export type Attribution = "own" | "inclusive";
export type SortBy = "cycles" | "stall" | "exposed";

/** Whether a line's cost is that of its own instructions, or also of what was inlined into it. */
export const attribution = computed<Attribution>(() =>
  settings.value.sourceAttribution === "inclusive" ? "inclusive" : "own",
);
export function setAttribution(value: Attribution): void {
  change({ sourceAttribution: value });
}

/** Whether there are only PC samples to show. */
export const isSampled = computed(() => {
  const facts = overview.value;
  return facts?.kind === "trace" && facts.instruction_count === 0 && (facts.holds.samples ?? 0) > 0;
});

/** What a cost weighs: cycles (with idle, where that is wanted), stall or what nothing hid; of samples their number. */
export function weightOf(cost: SourceCost, by: SortBy = "cycles"): number {
  const withIdle = settings.value.withIdle;
  if (isSampled.value) return by === "cycles" ? cost.issued + cost.stalled + cost.unknown : cost.stalled;
  if (by === "stall") return cost.stall;
  if (by === "exposed") return cost.exposedStall + cost.exposedIssue + (withIdle ? cost.exposedIdle : 0);
  return cost.latency + (withIdle ? cost.idle : 0);
}

export interface CostPart {
  /** A meaning of draw/palette.ts. */
  meaning: string;
  label: string;
  value: number;
}

/** The parts that a bar of `weightOf(cost, by)` is stacked of. */
export function partsOf(cost: SourceCost, by: SortBy = "cycles"): CostPart[] {
  if (isSampled.value) {
    return [
      { meaning: "stall", label: "stalled samples", value: cost.stalled },
      { meaning: "issue", label: "issued samples", value: by === "cycles" ? cost.issued : 0 },
      { meaning: "hidden", label: "samples, issued or stalled", value: by === "cycles" ? cost.unknown : 0 },
    ];
  }
  const issue = by === "stall" ? 0 : cost.exposedIssue;
  const idle = by === "stall" || !settings.value.withIdle ? 0 : cost.exposedIdle;
  const shown = cost.exposedStall + issue + idle;
  return [
    { meaning: "stall", label: "stall that nothing hid", value: cost.exposedStall },
    { meaning: "issue", label: "issue that nothing hid", value: issue },
    { meaning: "idle", label: "idle that nothing hid", value: idle },
    { meaning: "hidden", label: "hidden by other waves", value: Math.max(0, weightOf(cost, by) - shown) },
  ];
}

export function sumOf(costs: Iterable<SourceCost>): SourceCost {
  const sum = { ...NOTHING };
  for (const cost of costs) for (const part of PARTS) sum[part] += cost[part];
  return sum;
}

/** The line that costs most, own or with inlined code as chosen; null when no line cost anything. */
export function hottestLine(sources: Sources, by: SortBy = "cycles"): CostedLine | null {
  let best: CostedLine | null = null;
  for (const line of sources.lines) {
    const cost = line[attribution.value];
    if (weightOf(cost, by) > (best ? weightOf(best[attribution.value], by) : 0)) best = line;
  }
  return best;
}

/** `tiled_gemm.hip:18` of a long path. */
export function shortLine(file: string, line: number): string {
  return `${baseName(file)}${line ? `:${line}` : ""}`;
}

/** The file that the source view shows when nothing in it is selected; flame graph and explorer set it. */
export const openedFile = ofDocument("");
