// Figures of the current document beside those of its baseline, from the server's comparison of both. Each comparison is
// requested when a view first reads it; results are null while there is no baseline or no answer yet.
import type { ReadonlySignal } from "@preact/signals";
import type {
  CompareAnswer,
  CompareUnitsRow,
  CounterCompareAnswer,
  CounterCompareMetricsRow,
  LoopsAnswer,
  LoopsRow,
  RunCompareAnswer,
  RunCompareSidesRow,
  RunCompareThingsRow,
} from "../data/answers.gen";
import { arrow, json, type Question } from "../data/ask";
import type { Columns } from "../data/columns";
import { changesAgainst } from "./baseline";
import { current, kind } from "./document";
import { answering, type Loaded, useAnswer } from "./loaded";
import { loopAround } from "./loops";

/** One figure before and now. */
export interface Change {
  /** null = the baseline does not have it. */
  before: number | null;
  after: number | null;
  /** The difference is not larger than between equal runs. */
  isNoise: boolean;
}

/** The answer to a question about a document of a kind and its baseline; waiting while there is no baseline. */
function against<T>(about: string, ask: (base: number) => Question<T>): ReadonlySignal<Loaded<T>> {
  return answering(() => {
    const base = changesAgainst.value;
    return base === null || kind.value !== about ? null : ask(base);
  });
}

const ready = <T>(answer: ReadonlySignal<Loaded<T>>): T | null =>
  answer.value.state === "ready" ? answer.value.value : null;

function byRow(columns: Columns): Map<number, CompareUnitsRow> {
  const units = columns.rows<CompareUnitsRow>();
  return new Map(units.flatMap((unit) => (unit.row === null ? [] : [[unit.row, unit]])));
}

function byLabel(columns: Columns): Map<string, CompareUnitsRow> {
  const units = columns.rows<CompareUnitsRow>();
  return new Map(units.flatMap((unit) => (unit.label === null ? [] : [[unit.label, unit]])));
}

const comparedUnits = (other: number, by: "instruction" | "line") =>
  arrow(current.value, "compare_units", { other, by });
const instructions = against("trace", (base) => comparedUnits(base, "instruction").as(byRow));
const lines = against("trace", (base) => comparedUnits(base, "line").as(byLabel));
const traces = against("trace", (other) => json<CompareAnswer>(current.value, "compare", { other, by: "instruction" }));
const baseLoops = against("trace", (base) => json<LoopsAnswer>(base, "loops"));
const runs = against("run", (base) => json<RunCompareAnswer>(current.value, "run_compare", { base }).as(thingsByName));
const captures = against("counters", (base) =>
  json<CounterCompareAnswer>(current.value, "counter_compare", { base }).as(metricsByKernel),
);

/** The answer of the baseline to the same question; null = there is none, or it is on its way. */
export function useBaseline<T>(ask: (document: number) => Question<T>): T | null {
  const base = changesAgainst.value;
  return ready(useAnswer(base === null ? null : ask(base)));
}

/** A change between two values; null while the baseline has not answered (`undefined`). */
export const changeOf = (before: number | null | undefined, after: number | null): Change | null =>
  before === undefined ? null : { before, after, isNoise: false };

export type UnitFigure = "latency" | "stall" | "exposed" | "cost";

function ofUnit(unit: CompareUnitsRow | undefined, figure: UnitFigure): Change | null {
  if (!unit) return null;
  return {
    before: unit.change === "new" ? null : unit[`base_${figure}_cycles_per_wave`],
    after: unit[`${figure}_cycles_per_wave`],
    isNoise: unit.stands_out === false,
  };
}

/** Cycles per wave of an instruction; null also where neither trace executed it. */
export function rowChange(row: number, figure: UnitFigure): Change | null {
  return ofUnit(ready(instructions)?.get(row), figure);
}

/** Cycles per wave of a source line. */
export function lineChange(file: string, line: number): Change | null {
  return ofUnit(ready(lines)?.get(`${file.slice(file.lastIndexOf("/") + 1)}:${line}`), "cost");
}

/** Stall cycles per wave of a class. */
export function stallChange(name: string): Change | null {
  const answer = ready(traces);
  const found = answer?.stall_classes.rows.find((row) => row.class === name);
  if (!answer || !found) return null;
  const { base_stall_cycles_per_wave: before, stall_cycles_per_wave: after } = found;
  return { before, after, isNoise: answer.same_code };
}

/** The names of the columns with numbers. */
type Figures<Row> = { [Name in keyof Row]: Row[Name] extends number | null ? Name : never }[keyof Row];

/** A figure of a loop and of the one of the baseline in which the partner of its first instruction stands. */
export function loopChange(loop: LoopsRow, name: Figures<LoopsRow>): Change | null {
  const [loops, partners] = [ready(baseLoops), ready(instructions)];
  if (!loops || !partners) return null;
  const start = partners.get(loop.start_row)?.base_row;
  const base = loopAround(loops.loops.rows, start ?? undefined);
  const before = base === undefined ? null : (base[name] as number | null);
  return { before, after: loop[name] as number | null, isNoise: ready(traces)?.same_code ?? false };
}

/** A comparison of two runs: kernels and other things by domain and name. */
interface Things {
  sides: RunCompareSidesRow[];
  byName: Map<string, RunCompareThingsRow>;
  /** What only the baseline has. */
  gone: RunCompareThingsRow[];
}

function thingsByName({ sides, things }: RunCompareAnswer): Things {
  return {
    sides: sides.rows,
    byName: new Map(things.rows.map((thing) => [`${thing.domain}/${thing.name}`, thing])),
    gone: things.rows.filter((thing) => thing.status === "gone"),
  };
}

/** Verdicts that are no change beyond noise. */
const QUIET = ["same", "cannot tell"];

/** Mean duration, calls or time of a kernel or another thing of a run, per run or step as the comparison counts. */
export function thingChange(domain: string, name: string, figure: "mean_ns" | "time_ns" | "calls"): Change | null {
  const thing = ready(runs)?.byName.get(`${domain}/${name}`);
  if (!thing) return null;
  const before = { mean_ns: thing.base_mean_ns, time_ns: thing.base_ns, calls: thing.base_calls }[figure];
  return {
    before: thing.status === "new" ? null : before,
    after: thing[figure],
    isNoise: QUIET.includes(thing.status),
  };
}

/** Kernels, copies or others that only the baseline has. */
export function goneThings(domain: string): RunCompareThingsRow[] {
  return (ready(runs)?.gone ?? []).filter((thing) => thing.domain === domain);
}

/** A figure of a whole run. */
export function runChange(name: "gpu_ns" | "wall_ns" | "gpu_count"): Change | null {
  const [base, own] = ready(runs)?.sides ?? [];
  if (!base || !own) return null;
  const isNoise = name === "gpu_ns" && own.noise !== null && Math.abs(own.change) <= own.noise;
  return { before: base[name], after: own[name], isNoise };
}

const metricKey = (kernel: number | null, id: string, series: string) => `${kernel ?? "all"}/${id}/${series}`;

function metricsByKernel({ metrics }: CounterCompareAnswer): Map<string, CounterCompareMetricsRow> {
  return new Map(metrics.rows.map((row) => [metricKey(row.kernel, row.metric_id, row.series), row]));
}

/** The average of a metric, of a kernel (its rank here) or of all dispatches. */
export function metricChange(kernel: number | null, id: string, series: string): Change | null {
  const row = ready(captures)?.get(metricKey(kernel, id, series));
  return row ? { before: row.base, after: row.value, isNoise: row.status === "same" } : null;
}
