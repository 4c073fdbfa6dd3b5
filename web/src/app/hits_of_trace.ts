// What the palette finds in a trace: addresses, rows, lines, waves, times, kernels, instructions and source.
import { exact, nanoseconds } from "../base/format";
import { type InstructionFacts, instructionQuery } from "../base/instruction_query";
import { overlap, registersOf } from "../base/isa_text";
import { baseName } from "../base/path";
import type { Meaning } from "../base/query";
import { askTable } from "../data/ask";
import { type Code, type Costs, codeAnswer, codeNow, costsNow, selectRow, selectSourceLine } from "../model/code";
import { clockMhz, current, type TraceOverview, traceOverview } from "../model/document";
import { type SourceLine, select, selection } from "../model/selection";
import { openedFile } from "../model/source";
import { axisOrigin, bounds, show } from "../model/timewindow";
import { frontView } from "../model/view";
import { selectWave, type Wave, wavesNow } from "../model/waves";
import { type Collected, type Fit, MEANT } from "./hit_groups";
import { showTime } from "./show_time";

/** The code, as soon as it is here; null when it cannot be had. */
function codeWhenHere(): Promise<Code | null> {
  return new Promise((resolve) => {
    const stop = codeAnswer.subscribe(({ state }) => {
      if (state === "waiting") return;
      resolve(codeNow());
      queueMicrotask(() => stop());
    });
  });
}

export async function findInTrace(meaning: Meaning, rate: Fit, results: Collected): Promise<void> {
  const facts = traceOverview();
  const isAll = meaning.scope === "all";
  const code = await codeWhenHere();
  if (code) goToRows(meaning, code, results);
  goToLine(meaning, results);
  if (isAll) {
    goToWaves(meaning, results);
    goToTimes(meaning, results);
    findKernels(facts, rate, results);
  }
  if (code && isAll) {
    findInstructions(meaning.text, rate, code, results);
    findFunctions(facts, rate, code, results);
  }
  if (isAll) await findSource(meaning, rate, results);
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

const rowNote = (row: number, { address }: Code, costs: Costs | null) =>
  `row ${exact(row)} · ${address[row]}${costs ? ` · ${exact(costs.latency[row] ?? 0)} cycles` : ""}`;

function goToRows({ address, number, row = number }: Meaning, code: Code, results: Collected): void {
  const costs = costsNow();
  const add = (at: number, what: string) =>
    results.add("Go to", MEANT, () => ({
      text: `${what}: ${code.text[at]}`,
      note: rowNote(at, code, costs),
      go: () => goToRow(at),
    }));
  if (row !== undefined && row < code.count) add(row, `row ${exact(row)}`);
  if (address) for (const at of rowsAt(address, code)) add(at, address);
}

/** The rows at an address, or those whose instruction it lies inside of, one of each code object. */
export function rowsAt(address: string, code: Pick<Code, "address" | "codeObject" | "count">): number[] {
  const same = code.address.flatMap((at, row) => (at.toLowerCase() === address ? [row] : []));
  if (same.length) return same;
  const wanted = BigInt(address);
  const inside: number[] = [];
  for (let row = 0; row + 1 < code.count; row++) {
    if (code.codeObject[row] !== code.codeObject[row + 1] || !code.address[row] || !code.address[row + 1]) continue;
    if (BigInt(code.address[row] as string) < wanted && wanted < BigInt(code.address[row + 1] as string))
      inside.push(row);
  }
  return inside;
}

/** In the rows' scope a number may be a line of the file on screen. */
function goToLine({ scope, number }: Meaning, results: Collected): void {
  const file = selection.value.sourceLine?.file;
  if (scope !== "rows" || number === undefined || !file) return;
  const go = () => goToSource({ file, line: number });
  results.add("Go to", MEANT, () => ({ text: `line ${number} of ${baseName(file)}`, note: file, go }));
}

function goToWaves({ number, wave = number }: Meaning, results: Collected): void {
  const target: Wave | undefined = wavesNow().find((each) => each.wave === wave);
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
  results.add("Go to", MEANT, () => ({ text: `wave ${target.wave}`, note, go }));
}

function goToTimes({ number, cycle = number, nanoseconds: time }: Meaning, results: Collected): void {
  const { begin: from, end: to } = bounds.value;
  const mhz = clockMhz();
  const add = (at: number, text: string, note: string) => {
    if (at < from || at > to) return;
    results.add("Go to", MEANT, () => ({ text, note, go: () => showTime(at, "compute_unit") }));
  };
  if (cycle !== undefined) {
    const absolute = () => add(cycle, `cycle ${exact(cycle)}`, `${exact(cycle - from)} after the start`);
    const sinceStart = () =>
      add(from + cycle, `${exact(cycle)} cycles after the start`, `cycle ${exact(from + cycle)}`);
    for (const offer of axisOrigin.value ? [sinceStart, absolute] : [absolute, ...(from ? [sinceStart] : [])]) offer();
  }
  if (time === undefined || !mhz) return;
  const at = Math.round(from + (time * mhz) / 1000);
  add(at, `${nanoseconds(time)} after the start`, `cycle ${exact(at)}, at ${exact(Math.round(mhz))} MHz`);
}

function findKernels(facts: TraceOverview, rate: Fit, results: Collected): void {
  for (const { kernel, name, demangled } of facts.kernels) {
    const good = rate(demangled) || rate(name);
    if (good) results.add("Kernels", good, () => ({ text: demangled, note: "", go: () => select({ kernel }) }));
  }
}

/** Functions that are not kernels: where each starts. */
function findFunctions(facts: TraceOverview, rate: Fit, code: Code, results: Collected): void {
  const seen = new Set(facts.kernels.map(({ name }) => name));
  code.functionName.forEach((name, row) => {
    if (!name || seen.has(name)) return;
    seen.add(name);
    const good = rate(name);
    if (good) results.add("Functions", good, () => ({ text: name, note: `row ${exact(row)}`, go: () => goToRow(row) }));
  });
}

function findInstructions(text: string, rate: Fit, code: Code, results: Collected): void {
  const costs = costsNow();
  const add = (row: number, good: number, more = "") =>
    results.add("Instructions", good, () => ({
      text: code.text[row] as string,
      note: more + rowNote(row, code, costs),
      go: () => goToRow(row),
    }));
  const query = instructionQuery(text);
  if (!query) {
    code.text.forEach((words, row) => {
      const good = rate(words);
      if (good) add(row, good);
    });
    return;
  }
  const rows: number[] = [];
  for (let row = 0; row < code.count; row++) if (query.test(factsOf(row, code, costs))) rows.push(row);
  const { by } = query;
  if (by && costs) rows.sort((a, b) => (costs[by][b] ?? 0) - (costs[by][a] ?? 0));
  const isWritten = (row: number) =>
    registersOf(`${code.writes[row]} ${code.implicitWrites[row]}`).some((register) =>
      query.registers.some((wanted) => overlap(register, wanted)),
    );
  for (const row of rows) {
    const parts = [
      query.registers.length ? (isWritten(row) ? "writes" : "reads") : "",
      by && by !== "latency" ? `${by} ${exact(costs?.[by][row] ?? 0)}` : "",
    ].filter(Boolean);
    add(row, MEANT, parts.length ? `${parts.join(" · ")} · ` : "");
  }
}

function factsOf(row: number, code: Code, costs: Costs | null): InstructionFacts {
  return {
    text: code.text[row] as string,
    kind: code.kind[row] ?? "",
    unnamed: `${code.implicitWrites[row] ?? ""} ${code.implicitReads[row] ?? ""}`,
    figure: (name) => costs?.[name][row],
  };
}

async function findSource({ place }: Meaning, rate: Fit, results: Collected): Promise<void> {
  const lines = await askTable(current.value, "source_texts");
  const [files, numbers, texts] = [lines.texts("file"), lines.numbers("line"), lines.texts("text")];
  const code = codeNow();
  const all = new Set([...files, ...(code?.file ?? [])]);
  all.delete("");
  for (const file of all) {
    const isIt = place && (file === place.file || file.endsWith(`/${place.file}`));
    if (isIt) {
      const line = { file, line: place.line };
      const at = texts.findIndex((_, i) => files[i] === file && numbers[i] === place.line);
      const text = `${baseName(file)}:${place.line}`;
      results.add("Go to", MEANT, () => ({ text, note: texts[at]?.trim() || file, go: () => goToSource(line) }));
    }
    const good = rate(baseName(file)) || rate(file);
    const open = () => {
      openedFile.value = file;
      frontView("source");
    };
    if (good) results.add("Files", good, () => ({ text: baseName(file), note: file, go: open }));
  }
  texts.forEach((text, i) => {
    const good = rate(text.trim());
    if (!good) return;
    const line = { file: files[i] as string, line: numbers[i] as number };
    const note = `${baseName(line.file)}:${line.line}`;
    results.add("Source", good, () => ({ text: text.trim(), note, go: () => goToSource(line) }));
  });
}
