import { expect, it } from "vitest";
import type { Columns } from "../data/columns";
import { distanceOf, linksAt } from "./producers";
import type { WaveData } from "./wave_data";

const data: WaveData = {
  wave: 3,
  count: 5,
  time: Float64Array.from([100, 110, 120, 130, 200]),
  stall: Int32Array.from([4, 0, 0, 60, 0]),
  duration: Int32Array.from([8, 4, 4, 64, 4]),
  category: Uint8Array.from([3, 3, 6, 9, 3]),
  row: Int32Array.from([7, 8, 9, 10, 7]),
};
const numbers: Record<string, number[]> = { instruction: [3, 3], producer: [0, 1] };
const waits = {
  length: 2,
  numbers: (name: string) => numbers[name] as unknown,
  texts: () => ["vmcnt", "vmcnt"],
} as unknown as Columns;

it("links a wait with all that it waited for, the nearest first", () => {
  const links = linksAt(data, waits, 3);
  expect(links.map((link) => [link.producer.row, distanceOf(link)])).toEqual([
    [8, 20],
    [7, 26],
  ]);
  expect(links[1]?.producer).toEqual({ position: 0, row: 7, iteration: 0, time: 100, issue: 104, end: 108 });
});

it("links what was awaited with its wait, and others with nothing", () => {
  expect(linksAt(data, waits, 1).map((link) => link.wait.row)).toEqual([10]);
  expect(linksAt(data, waits, 2)).toEqual([]);
  expect(linksAt(data, waits, 4)).toEqual([]);
});
