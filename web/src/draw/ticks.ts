// Round numbers on a time axis.
import { exact } from "../base/format";

/** The smallest step of 1, 2 or 5 times a power of ten that is at least `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * (1 - 1e-12)) return factor * power;
  return 10 * power;
}

export interface Ticks {
  step: number;
  times: number[];
}

interface TickOptions {
  /** What the multiples are counted from. */
  origin?: number;
  /** The step is not smaller than this: 1 where there is nothing between whole numbers. */
  leastStep?: number;
}

/** Multiples of a round step in a window that has so many pixels, at least `gap` pixels apart. */
export function ticks(
  begin: number,
  end: number,
  pixels: number,
  gap: number,
  { origin = 0, leastStep = 0 }: TickOptions = {},
): Ticks {
  if (!(end > begin) || !(pixels > 0)) return { step: 1, times: [] };
  const step = roundStep(Math.max(((end - begin) * gap) / pixels, leastStep, Number.MIN_VALUE));
  const times: number[] = [];
  for (let n = Math.ceil((begin - origin) / step); origin + n * step <= end; n++) times.push(origin + n * step);
  return { step, times };
}

/** Nanoseconds of each unit, the longest first. */
const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
] as const;

/** Nanoseconds in the unit of the step, with as many digits as the step needs: all ticks of an axis look alike. */
export function tickNanoseconds(value: number, step: number): string {
  const [scale, unit] = UNITS.find(([scale]) => Math.max(step * 9, Math.abs(value)) >= scale) ?? [1, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
  return `${(value / scale).toFixed(Math.min(digits, 9))} ${unit}`;
}

/** A length of time in words: cycles (and the time they take, when the clock is known), or nanoseconds. */
export function durationText(length: number, unit: "cycles" | "ns", clockMhz: number | null): string {
  if (unit === "ns") return nanosecondsText(length);
  const cycles = `${exact(Math.round(length))} cycles`;
  return clockMhz ? `${cycles} (${nanosecondsText((length * 1e3) / clockMhz)})` : cycles;
}

/** A point in time in words. */
export function timeText(time: number, unit: "cycles" | "ns"): string {
  return unit === "ns" ? nanosecondsText(time) : exact(Math.round(time));
}

/** A point in time since the origin of the axis and, where that is another number, as it is in the data. */
export function momentText(time: number, unit: "cycles" | "ns", origin: number): string {
  const since = timeText(time - origin, unit);
  return origin ? `${since} (absolute ${timeText(time, unit)})` : since;
}

function nanosecondsText(value: number): string {
  const [scale, unit] = UNITS.find(([scale]) => Math.abs(value) >= scale) ?? [1, "ns"];
  return `${scale === 1 ? Math.round(value * 10) / 10 : (value / scale).toFixed(3)} ${unit}`;
}
