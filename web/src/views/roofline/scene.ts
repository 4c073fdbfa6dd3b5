// What the plot shows of the answer: roofs and marks of the chosen levels and kinds, and the window around them.

import type {
  CounterRooflineAnswer,
  CounterRooflineCeilingsRow,
  CounterRooflinePointsRow,
} from "../../data/answers.gen";
import { decades, type LogWindow } from "../../draw/loglog";
import type { Work } from "./ceilings";

export interface Options {
  work: Work;
  levels: ReadonlySet<string>;
  /** Names of compute ceilings. */
  kinds: ReadonlySet<string>;
}

/** One line of the plot, between two points in operations per byte and 10^9 operations per second. */
export interface Roof {
  ceiling: CounterRooflineCeilingsRow;
  from: [intensity: number, rate: number];
  to: [intensity: number, rate: number];
}

export interface Scene {
  roofs: Roof[];
  marks: (CounterRooflinePointsRow & { intensity: number; gops_per_second: number })[];
  window: LogWindow;
}

/** Of the operations of a kernel: kinds below it get no roof unless they are chosen. */
const LEAST_SHARE = 0.01;
/** Exponents of ten when nothing says anything better. */
const OTHERWISE: LogWindow = { left: -2, right: 3, bottom: 0, top: 6 };
/** Roofs without marks need some room to look like roofs. */
const LEAST_DECADES = 3;
/** How far lines go beyond any window. */
const FAR = 1e18;

/** Integer work only where there is no other. */
export function firstWork(answer: CounterRooflineAnswer): Work {
  const has = (work: Work) => answer.points.rows.some((point) => point.work === work && point.intensity);
  return has("iop") && !has("flop") ? "iop" : "flop";
}

const unitOf = (work: Work) => (work === "flop" ? "GFLOP/s" : "GIOP/s");

/** Compute ceilings of a kind of work that can be drawn. */
export function kindsOf(answer: CounterRooflineAnswer, work: Work): CounterRooflineCeilingsRow[] {
  return answer.ceilings.rows.filter((row) => row.kind === "compute" && row.used && row.unit === unitOf(work));
}

/** Levels that have a roof or a point. */
export function levelsOf(answer: CounterRooflineAnswer): string[] {
  const roofs = answer.ceilings.rows.filter((row) => row.kind === "bandwidth" && row.used).map((row) => row.name);
  const points = answer.points.rows.filter((point) => point.intensity).map((point) => point.level);
  return [...new Set([...roofs, ...points])];
}

/** The kinds that kernels use; where they use none, those of 32 bits. */
export function firstKinds(answer: CounterRooflineAnswer, work: Work): Set<string> {
  const totals = new Map<number, number>();
  const rows = answer.operations.rows.filter((row) => row.work === work && row.operations);
  for (const row of rows) totals.set(row.kernel, (totals.get(row.kernel) ?? 0) + (row.operations ?? 0));
  const used = rows.filter((row) => (row.operations ?? 0) >= LEAST_SHARE * (totals.get(row.kernel) ?? 0));
  const names = kindsOf(answer, work).map((row) => row.name);
  const kinds = new Set(used.map((row) => row.kind).filter((kind) => names.includes(kind)));
  if (!kinds.size) for (const name of names.filter((kind) => /FP32|INT32/.test(kind))) kinds.add(name);
  return kinds;
}

export function sceneOf(answer: CounterRooflineAnswer, { work, levels, kinds }: Options): Scene {
  const bandwidths = answer.ceilings.rows.filter((row) => row.kind === "bandwidth" && row.used && levels.has(row.name));
  const computes = kindsOf(answer, work).filter((row) => kinds.has(row.name));
  const marks = answer.points.rows.filter(
    (point): point is Scene["marks"][number] =>
      point.work === work && levels.has(point.level) && Boolean(point.intensity) && Boolean(point.gops_per_second),
  );
  const roofs = [...slopes(bandwidths, computes), ...plateaus(bandwidths, computes)];
  return { roofs, marks, window: windowAround(marks, bandwidths, computes) };
}

/** 10^9 bytes or operations per second. */
const rate = (row: CounterRooflineCeilingsRow) => row.used ?? 0;

/** Roofs of memory: they rise with the intensity until they reach the highest roof of arithmetic. */
function slopes(bandwidths: CounterRooflineCeilingsRow[], computes: CounterRooflineCeilingsRow[]): Roof[] {
  const highest = Math.max(0, ...computes.map(rate));
  return bandwidths.map((row) => {
    const end = highest ? highest / rate(row) : FAR;
    return { ceiling: row, from: [1 / FAR, rate(row) / FAR], to: [end, end * rate(row)] };
  });
}

/** Roofs of arithmetic: they are level, and begin where the steepest roof of memory reaches them. */
function plateaus(bandwidths: CounterRooflineCeilingsRow[], computes: CounterRooflineCeilingsRow[]): Roof[] {
  const steepest = Math.max(0, ...bandwidths.map(rate));
  return computes.map((row) => {
    const begin = steepest ? rate(row) / steepest : 1 / FAR;
    return { ceiling: row, from: [begin, rate(row)], to: [FAR, rate(row)] };
  });
}

/** The window that holds all marks, all ridges (where a slope meets a level roof) and all level roofs. */
function windowAround(
  marks: Scene["marks"],
  bandwidths: CounterRooflineCeilingsRow[],
  computes: CounterRooflineCeilingsRow[],
): LogWindow {
  const ridges = bandwidths.flatMap((row) => computes.map((compute) => rate(compute) / rate(row)));
  const intensities = [...marks.map((mark) => mark.intensity), ...ridges];
  const [near, right] = decades(intensities, [OTHERWISE.left, OTHERWISE.right]);
  const left = Math.min(near, right - LEAST_DECADES);
  const slowest = Math.min(...bandwidths.map(rate));
  // Without marks nothing else shows how low the slopes come in.
  const lowest = marks.length || !bandwidths.length ? [] : [10 ** left * slowest];
  const rates = [...marks.map((mark) => mark.gops_per_second), ...computes.map(rate), ...lowest];
  const [bottom, top] = decades(rates, [OTHERWISE.bottom, OTHERWISE.top]);
  return { left, right, bottom, top };
}
