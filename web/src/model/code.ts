// The code of the current trace and what each row of it cost: loaded once per document, for every view that shows
// instructions or source lines. Rows are numbered from 0 without gaps, so arrays here are indexed by row.
import { computed, effect } from "@preact/signals";
import { arrow } from "../data/ask";
import type { Columns, Numbers } from "../data/columns";
import { current, overview } from "./document";
import { answering } from "./loaded";
import { type Selection, type SourceLine, select, selection } from "./selection";
import { bounds, reveal, shown } from "./timewindow";
import { uncoverView } from "./view";
import { loadWave, timesOf } from "./wave_data";
import { targetWave } from "./waves";

export interface Code {
  readonly count: number;
  readonly text: string[];
  readonly mnemonic: string[];
  /** What kind of instruction it is, as the analyses call it. */
  readonly kind: string[];
  /** Registers that the text names and the instruction writes: `v[4:7] vcc`; "" = none, or not known. */
  readonly writes: string[];
  /** Registers that the instruction writes, and reads, although the text does not name them. */
  readonly implicitWrites: string[];
  readonly implicitReads: string[];
  /** Counters of waits that it adds to: `vmcnt lgkmcnt`; "" = none. */
  readonly counters: string[];
  readonly functionName: string[];
  /** Innermost source file; "" = no debug line. */
  readonly file: string[];
  /** Innermost source line; NaN = not known. */
  readonly line: Numbers;
  /** `file:line`, innermost first, call sites after ` -> `; "" = no debug line. */
  readonly chain: string[];
  readonly codeObject: string[];
  /** Hexadecimal, with 0x. */
  readonly address: string[];
}

/** Sums over all executions in all waves, in cycles, by row; rows that never ran have zeros. */
export interface Costs {
  readonly hits: Float64Array;
  readonly latency: Float64Array;
  readonly stall: Float64Array;
  readonly idle: Float64Array;
  /** Stall, issue and idle that work of other waves hid, together. */
  readonly hidden: Float64Array;
  readonly hiddenStall: Float64Array;
  readonly hiddenIssue: Float64Array;
  readonly hiddenIdle: Float64Array;
  /** Latency and idle that nothing hid. */
  readonly exposed: Float64Array;
  readonly exposedStall: Float64Array;
  readonly exposedIssue: Float64Array;
  readonly exposedIdle: Float64Array;
}

export const codeAnswer = answering(() =>
  overview.value?.kind === "trace" ? arrow(current.value, "code").as(codeFrom) : null,
);
export const costsAnswer = answering(() =>
  overview.value?.kind === "trace" ? arrow(current.value, "costs").as(costsFrom, overview.value.row_count) : null,
);

/** The code, or null while it is on its way. */
export function codeNow(): Code | null {
  return codeAnswer.value.state === "ready" ? codeAnswer.value.value : null;
}

/** Whether any row of the code has a source line. */
export const hasLines = computed(() => codeNow()?.file.some((file) => file !== "") ?? false);

/** The costs, or null while they are on their way. */
export function costsNow(): Costs | null {
  return costsAnswer.value.state === "ready" ? costsAnswer.value.value : null;
}

/** Most views of a trace need both: they are on their way before the first of them asks. */
effect(() => {
  void codeAnswer.value;
  void costsAnswer.value;
});

function codeFrom(columns: Columns): Code {
  return {
    count: columns.length,
    text: columns.texts("text"),
    mnemonic: columns.texts("mnemonic"),
    kind: columns.texts("class"),
    writes: columns.texts("writes"),
    implicitWrites: columns.texts("implicit_writes"),
    implicitReads: columns.texts("implicit_reads"),
    counters: columns.texts("counters"),
    functionName: columns.texts("function"),
    file: columns.texts("file"),
    line: columns.numbers("line"),
    chain: columns.texts("inline_chain"),
    codeObject: columns.texts("code_object"),
    address: columns.texts("address"),
  };
}

/** Answers of the shape of `costs`, spread over all rows. */
export function costsFrom(columns: Columns, rowCount: number): Costs {
  const rows = columns.numbers("row");
  const spread = (...names: string[]) => {
    const sums = new Float64Array(rowCount);
    for (const name of names) {
      const values = columns.numbers(name);
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i] as number;
        sums[row] = (sums[row] ?? 0) + (values[i] as number);
      }
    }
    return sums;
  };
  return {
    hits: spread("hit_count"),
    latency: spread("latency_cycles_total"),
    stall: spread("stall_cycles_total"),
    idle: spread("idle_cycles_total"),
    hidden: spread("hidden_stall_cycles_total", "hidden_issue_cycles_total", "hidden_idle_cycles_total"),
    hiddenStall: spread("hidden_stall_cycles_total"),
    hiddenIssue: spread("hidden_issue_cycles_total"),
    hiddenIdle: spread("hidden_idle_cycles_total"),
    exposed: spread("exposed_cycles_total"),
    exposedStall: spread("exposed_stall_cycles_total"),
    exposedIssue: spread("exposed_issue_cycles_total"),
    exposedIdle: spread("exposed_idle_cycles_total"),
  };
}

/** The disassembly of a row; "" while it is not here. */
export function textOf(row: number): string {
  return codeNow()?.text[row] ?? "";
}

/** The innermost source line of a row. */
export function sourceLineOf(row: number): SourceLine | undefined {
  const code = codeNow();
  const [file, line] = [code?.file[row], code?.line[row]];
  return file && line !== undefined && !Number.isNaN(line) ? { file, line } : undefined;
}

/** The source lines of a row, innermost first, then its call sites. */
export function chainOf(row: number): SourceLine[] {
  return framesOf(codeNow()?.chain[row] ?? "");
}

/** `a.h:3 -> b.cpp:17` as places; a frame without a line has line 0. */
export function framesOf(chain: string): SourceLine[] {
  if (!chain) return [];
  return chain.split(" -> ").map((frame) => {
    const colon = frame.lastIndexOf(":");
    const line = Number(frame.slice(colon + 1));
    return colon > 0 && Number.isInteger(line) ? { file: frame.slice(0, colon), line } : { file: frame, line: 0 };
  });
}

const keyOf = (line: SourceLine) => `${line.file}:${line.line}`;

export interface RowsOfLine {
  /** Rows whose innermost line it is. */
  own: number[];
  /** Rows whose inline chain mentions it, `own` included. */
  inlined: number[];
}

let indexed: { code: Code; lines: Map<string, RowsOfLine> } | null = null;

/** The rows that belong to a source line, in row order. */
export function rowsOf(line: SourceLine): RowsOfLine {
  const code = codeNow();
  if (!code) return { own: [], inlined: [] };
  if (indexed?.code !== code) indexed = { code, lines: rowsByLine(code) };
  return indexed.lines.get(keyOf(line)) ?? { own: [], inlined: [] };
}

/** Every source line of the code with its rows. */
export function rowsByLine(code: Code): Map<string, RowsOfLine> {
  const lines = new Map<string, RowsOfLine>();
  const frames = new Map<string, string[]>();
  for (let row = 0; row < code.count; row++) {
    const chain = code.chain[row] as string;
    let keys = frames.get(chain);
    if (!keys) {
      keys = [...new Set(framesOf(chain).map(keyOf))];
      frames.set(chain, keys);
    }
    keys.forEach((key, depth) => {
      const rows = lines.get(key) ?? { own: [], inlined: [] };
      if (depth === 0) rows.own.push(row);
      rows.inlined.push(row);
      lines.set(key, rows);
    });
  }
  return lines;
}

/**
 * Make a row the selected one, with its source line; the target wave stays, the execution does not. Instructions come
 * to the front unless they are on screen.
 */
export function selectRow(row: number, more: Selection = {}): void {
  selectRowInPlace(row, more);
  uncoverView("isa");
}

/** The same where the view that was clicked is what the user looks at: no other one comes to the front. */
export function selectRowInPlace(row: number, more: Selection = {}): void {
  select({ row, lastRow: undefined, sourceLine: sourceLineOf(row), iteration: undefined, ...more });
  if (more.iteration === undefined) void followRow(row);
}

/** Bring an execution of a row in the target wave onto the screen, the nearest one, unless one is there. */
async function followRow(row: number): Promise<void> {
  const { begin, end } = shown.value;
  const wave = targetWave();
  if (!wave || (begin <= bounds.value.begin && end >= bounds.value.end)) return;
  const data = await loadWave(wave.wave).catch(() => null); // not in an exported page: the time stays
  const isStale = selection.value.row !== row || shown.value.begin !== begin || shown.value.end !== end;
  if (!data || isStale) return;
  const middle = (begin + end) / 2;
  const times = timesOf(data, row);
  const nearest = times.reduce(
    (best, time) => (Math.abs(time - middle) < Math.abs(best - middle) ? time : best),
    times[0] ?? middle,
  );
  reveal(nearest);
}

/** Make a source line the selected one, with the row of it that waves waited at most (own ones first, then inlined). */
export function selectSourceLine(line: SourceLine, more: Selection = {}): void {
  const { own, inlined } = rowsOf(line);
  const row = costliest(own.length ? own : inlined);
  select({ sourceLine: line, row, lastRow: undefined, iteration: undefined, ...more });
  if (row !== undefined && more.iteration === undefined) void followRow(row);
}

/** The end of a wave: what it seems to take is what others needed until the wave could go. */
export const isEnd = (mnemonic: string | undefined) => /^s_endpgm/.test(mnemonic ?? "");

function costliest(rows: number[]): number | undefined {
  const [costs, code] = [costsNow(), codeNow()];
  return costs ? costliestOf(rows, costs, code?.mnemonic ?? []) : rows[0];
}

/** The row with the most exposed stall, then the most cycles; the end of a wave only where there is nothing else. */
export function costliestOf(rows: number[], costs: Costs, mnemonics: string[]): number | undefined {
  const ends = (row: number) => Number(isEnd(mnemonics[row]));
  const cycles = (row: number) => (costs.latency[row] ?? 0) + (costs.idle[row] ?? 0);
  const stall = (row: number) => costs.exposedStall[row] ?? 0;
  const order = (a: number, b: number) => ends(a) - ends(b) || stall(b) - stall(a) || cycles(b) - cycles(a) || a - b;
  return [...rows].sort(order)[0];
}

/**
 * Select the n-th execution (from 0) of a row in a wave and bring its time onto the screen. When there are fewer,
 * the last one. Gives back which execution it was, or -1 when the wave never executed the row.
 */
export async function revealExecution(wave: number, row: number, iteration: number): Promise<number> {
  const data = await loadWave(wave);
  const times = timesOf(data, row);
  const execution = Math.min(Math.max(iteration, 0), times.length - 1);
  if (execution < 0) return -1;
  const isSelected = selection.value.row === row;
  const line = isSelected ? { sourceLine: selection.value.sourceLine } : {}; // which may be one that it was inlined through
  selectRowInPlace(row, { wave, iteration: execution, ...line });
  reveal(times[execution] as number);
  return execution;
}
