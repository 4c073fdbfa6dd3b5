// What the palette finds in a trace: addresses, rows, lines, waves, times, kernels, instructions and source.
import { exact, nanoseconds } from "../base/format";
import { type InstructionFacts, type InstructionQuery, instructionQuery } from "../base/instruction_query";
import { overlap, registersOf } from "../base/isa_text";
import { baseName } from "../base/path";
import { type Meaning, RANK } from "../base/query";
import { askTable } from "../data/ask";
import { type Code, type Costs, codeAnswer, codeNow, costsNow, selectRow, selectSourceLine } from "../model/code";
import { clockMhz, current, type TraceOverview, traceOverview } from "../model/document";
import { type SourceLine, select, selection } from "../model/selection";
import { openedFile } from "../model/source";
import { axisOrigin, bounds, show } from "../model/timewindow";
import { frontView } from "../model/view";
import { selectWave, type Wave, wavesNow } from "../model/waves";
import type { Collected, Fit } from "./hit_groups";
import { showTime } from "./show_time";

/** The code, as soon as it has arrived; null when it cannot be had. */
function codeOnceHere(): Promise<Code | null> {
  return new Promise((resolve) => {
    const stop = codeAnswer.subscribe(({ state }) => {
      if (state === "waiting") return;
      resolve(codeNow());
      queueMicrotask(() => stop()); // the first call comes before `subscribe` returns `stop`
    });
  });
}

export async function findInTrace(meaning: Meaning, fitOfName: Fit, results: Collected): Promise<void> {
  const facts = traceOverview();
  const isAll = meaning.scope === "all";
  const code = await codeOnceHere();
  if (code) goToRows(meaning, code, results);
  goToLine(meaning, results);
  if (isAll) {
    goToWaves(meaning, results);
    goToTimes(meaning, results);
    findKernels(facts, fitOfName, results);
  }
  if (code && isAll) {
    findInstructions(meaning.text, fitOfName, code, results);
    findFunctions(facts, fitOfName, code, results);
  }
  if (isAll) await findSource(meaning, fitOfName, results);
}

function goToRow(row: number): void {
  selectRow(row);
  frontView("isa");
}

function goToSource(line: SourceLine): void {
  openedFile.value = line.file;
  selectSourceLine(line);
  frontView("source");
}

/** Where a row is, and its latency in all executions. */
const noteOfRow = (row: number, { address }: Code, costs: Costs | null) =>
  `row ${exact(row)} · ${address[row]}${costs ? ` · ${exact(costs.latency[row] ?? 0)} cycles` : ""}`;

/** The row of a number, and those of an address. */
function goToRows({ address, number, row: typedRow = number }: Meaning, code: Code, results: Collected): void {
  const costs = costsNow();
  const add = (row: number, typed: string) =>
    results.add("Go to", RANK.meant, () => ({
      text: `${typed}: ${code.text[row]}`,
      note: noteOfRow(row, code, costs),
      go: () => goToRow(row),
    }));
  if (typedRow !== undefined && typedRow < code.count) add(typedRow, `row ${exact(typedRow)}`);
  if (address) for (const row of rowsAt(address, code)) add(row, address);
}

/** The rows at an address, or those whose instruction it lies inside of, one of each code object. */
export function rowsAt(address: string, code: Pick<Code, "address" | "codeObject" | "count">): number[] {
  const exactRows = code.address.flatMap((start, row) => (start.toLowerCase() === address ? [row] : []));
  if (exactRows.length) return exactRows;
  const sought = BigInt(address);
  const rowsAround: number[] = [];
  for (let row = 0; row + 1 < code.count; row++) {
    const [start, next] = [code.address[row], code.address[row + 1]];
    if (!start || !next || code.codeObject[row] !== code.codeObject[row + 1]) continue;
    if (BigInt(start) < sought && sought < BigInt(next)) rowsAround.push(row);
  }
  return rowsAround;
}

/** In the scope of rows (typed with ":") a number may be a line of the file that the source view shows. */
function goToLine({ scope, number }: Meaning, results: Collected): void {
  const file = openedFile.value || selection.value.sourceLine?.file;
  if (scope !== "rows" || number === undefined || !file) return;
  const go = () => goToSource({ file, line: number });
  results.add("Go to", RANK.meant, () => ({ text: `line ${number} of ${baseName(file)}`, note: file, go }));
}

function goToWaves({ number, wave = number }: Meaning, results: Collected): void {
  const target: Wave | undefined = wavesNow().find((candidate) => candidate.wave === wave);
  if (!target) return;
  const go = () => {
    selectWave(target.wave);
    const margin = (target.end - target.begin) / 20;
    show({ begin: target.begin - margin, end: target.end + margin });
    frontView("compute_unit");
  };
  const { se, cu, simd, slot, begin: from, end: to, instructions } = target;
  const place = `SE ${se} CU ${cu} SIMD ${simd} slot ${slot}`;
  const note = `${place} · ${exact(from)} to ${exact(to)} · ${exact(instructions)} instructions`;
  results.add("Go to", RANK.meant, () => ({ text: `wave ${target.wave}`, note, go }));
}

/**
 * A cycle is counted as the time axis counts it, and the other way is offered below it: since the start of the trace, or
 * as recorded. A time in seconds is since the start, where the clock is known.
 */
function goToTimes({ number, cycle = number, nanoseconds: ns }: Meaning, results: Collected): void {
  const { begin: start, end } = bounds.value;
  const mhz = clockMhz();
  const add = (time: number, text: string, note: string) => {
    if (time < start || time > end) return;
    results.add("Go to", RANK.meant, () => ({ text, note, go: () => showTime(time, "compute_unit") }));
  };
  if (cycle !== undefined) {
    const addRecorded = () => add(cycle, `cycle ${exact(cycle)}`, `${exact(cycle - start)} after the start`);
    const addSinceStart = () =>
      add(start + cycle, `${exact(cycle)} cycles after the start`, `cycle ${exact(start + cycle)}`);
    if (axisOrigin.value) addSinceStart();
    addRecorded();
    if (!axisOrigin.value && start) addSinceStart(); // a trace that starts at 0 has one way only
  }
  if (ns === undefined || !mhz) return;
  const time = Math.round(start + (ns * mhz) / 1000);
  add(time, `${nanoseconds(ns)} after the start`, `cycle ${exact(time)}, at ${exact(Math.round(mhz))} MHz`);
}

function findKernels(facts: TraceOverview, fitOfName: Fit, results: Collected): void {
  for (const { kernel, name, demangled } of facts.kernels) {
    const rank = fitOfName(demangled) ?? fitOfName(name);
    results.add("Kernels", rank, () => ({ text: demangled, note: "", go: () => select({ kernel }) }));
  }
}

/** Functions that are not kernels: where each starts. */
function findFunctions(facts: TraceOverview, fitOfName: Fit, code: Code, results: Collected): void {
  const seen = new Set(facts.kernels.map(({ name }) => name));
  code.functionName.forEach((name, row) => {
    if (!name || seen.has(name)) return;
    seen.add(name);
    results.add("Functions", fitOfName(name), () => ({
      text: name,
      note: `row ${exact(row)}`,
      go: () => goToRow(row),
    }));
  });
}

/** Instructions by what they are (base/instruction_query.ts) where that is what was typed, else by their texts. */
function findInstructions(text: string, fitOfName: Fit, code: Code, results: Collected): void {
  const costs = costsNow();
  const hitOf = (row: number, remark = "") => ({
    text: code.text[row] as string,
    note: remark + noteOfRow(row, code, costs),
    go: () => goToRow(row),
  });
  const query = instructionQuery(text);
  if (!query) {
    code.text.forEach((instruction, row) => {
      results.add("Instructions", fitOfName(instruction), () => hitOf(row));
    });
    return;
  }
  for (const row of rowsOfQuery(query, code, costs)) {
    results.add("Instructions", RANK.meant, () => hitOf(row, remarkOf(row, query, code, costs)));
  }
}

/** The rows that an instruction query fits, in the order that it asks for. */
function rowsOfQuery({ test, by }: InstructionQuery, code: Code, costs: Costs | null): number[] {
  const rows: number[] = [];
  for (let row = 0; row < code.count; row++) if (test(factsOf(row, code, costs))) rows.push(row);
  return by && costs ? rows.sort((a, b) => (costs[by][b] ?? 0) - (costs[by][a] ?? 0)) : rows;
}

/** What a row has to do with the registers of a query, and the figure that was asked for. */
function remarkOf(row: number, { registers, by }: InstructionQuery, code: Code, costs: Costs | null): string {
  const parts: string[] = [];
  if (registers.length) {
    const written = registersOf(`${code.writes[row]} ${code.implicitWrites[row]}`);
    const isWritten = written.some((register) => registers.some((sought) => overlap(register, sought)));
    parts.push(isWritten ? "writes" : "reads");
  }
  if (by && by !== "latency") parts.push(`${by} ${exact(costs?.[by][row] ?? 0)}`); // every note has the latency
  return parts.map((part) => `${part} · `).join("");
}

function factsOf(row: number, code: Code, costs: Costs | null): InstructionFacts {
  return {
    text: code.text[row] as string,
    kind: code.kind[row] ?? "",
    unnamed: `${code.implicitWrites[row] ?? ""} ${code.implicitReads[row] ?? ""}`,
    figure: (name) => costs?.[name][row],
  };
}

/** Files by name, lines by text, and the line that was named as file:line. */
async function findSource({ place }: Meaning, fitOfName: Fit, results: Collected): Promise<void> {
  const lines = await askTable(current.value, "source_texts");
  const [files, numbers, texts] = [lines.texts("file"), lines.numbers("line"), lines.texts("text")];
  const allFiles = new Set([...files, ...(codeNow()?.file ?? [])]);
  allFiles.delete(""); // instructions without a debug line
  for (const file of allFiles) {
    if (place && (file === place.file || file.endsWith(`/${place.file}`))) {
      const line = { file, line: place.line };
      const at = texts.findIndex((_, i) => files[i] === file && numbers[i] === place.line);
      const text = `${baseName(file)}:${place.line}`;
      results.add("Go to", RANK.meant, () => ({ text, note: texts[at]?.trim() || file, go: () => goToSource(line) }));
    }
    const go = () => {
      openedFile.value = file;
      frontView("source");
    };
    results.add("Files", fitOfName(baseName(file)) ?? fitOfName(file), () => ({
      text: baseName(file),
      note: file,
      go,
    }));
  }
  texts.forEach((text, i) => {
    results.add("Source", fitOfName(text.trim()), () => {
      const line = { file: files[i] as string, line: numbers[i] as number };
      return { text: text.trim(), note: `${baseName(line.file)}:${line.line}`, go: () => goToSource(line) };
    });
  });
}
