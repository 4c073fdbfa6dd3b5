import { expect, test } from "vitest";
import type { LoopsRow } from "../../data/answers.gen";
import type { Layer } from "../../model/layers";
import type { Iteration } from "../../model/loops";
import type { WaveData } from "../../model/wave_data";
import type { Wave } from "../../model/waves";
import { byLoop, byRow, byStart, hottest, type Partners, partnerLoop, partnerWave } from "./alignment";
import { overlayRows } from "./rows";

const wave = (number: number, begin: number, more: Partial<Wave> = {}): Wave => ({
  wave: number,
  se: 0,
  cu: 1,
  simd: 0,
  slot: 0,
  slotWave: 0,
  begin,
  end: begin + 100,
  firstInstruction: 0,
  instructions: 10,
  stall: 0,
  ...more,
});

const loop = (number: number, rows: [number, number], share: number, depth = 0) =>
  ({
    loop: number,
    start_row: rows[0],
    first_row: rows[0],
    last_row: rows[1],
    self_cycles_share: share,
    depth,
  }) as LoopsRow;

const partners: Partners = { toBase: new Map([[7, 5]]), fromBase: new Map([[5, 7]]), baseTexts: new Map() };

const data = (row: number[], time: number[]) =>
  ({ count: row.length, row, time, category: row.map(() => 2) }) as unknown as WaveData;

test("first waves start together", () => {
  expect(byStart([wave(0, 900), wave(1, 700)], [wave(0, 50)])).toEqual({ offset: 650, own: 700, base: 50 });
  expect(byStart([], [wave(0, 50)])).toHaveProperty("why");
});

test("the partner of a wave lived in the same slot in the same turn, or is the longest", () => {
  const waves = [wave(3, 0, { slotWave: 1 }), wave(4, 0, { slot: 2, instructions: 99 })];
  expect(partnerWave(wave(0, 0, { slotWave: 1 }), waves)?.wave).toBe(3);
  expect(partnerWave(wave(0, 0, { cu: 9 }), waves)?.wave).toBe(4);
});

test("iterations of corresponding loops start together", () => {
  const [own, base] = [
    [loop(0, [2, 9], 0.1), loop(1, [7, 8], 0.6, 1)],
    [loop(0, [5, 6], 0.2), loop(1, [0, 1], 0.5)],
  ];
  const chosen = hottest(own);
  const partner = partnerLoop(chosen, base, partners);
  expect([chosen?.loop, partner?.loop]).toEqual([1, 0]);
  const turn = (number: number, begin: number) => ({ loop: number, begin }) as Iteration;
  const ownLoop = { loop: chosen, iterations: [turn(0, 1), turn(1, 100), turn(1, 140)] };
  const baseLoop = { loop: partner, iterations: [turn(0, 30), turn(0, 60), turn(1, 3)] };
  expect(byLoop(ownLoop, baseLoop, 1)).toEqual({ offset: 80, own: 140, base: 60 });
  expect(byLoop(ownLoop, baseLoop, 2)).toHaveProperty("why");
});

test("an instruction and its partner are executed together", () => {
  const waves = { own: data([7, 1, 7], [10, 11, 20]), base: data([5, 5], [3, 4]), partners };
  expect(byRow({ row: 7, n: 1 }, waves)).toEqual({ offset: 16, own: 20, base: 4 });
  expect(byRow({ row: 1, n: 0 }, waves)).toEqual({ why: "the baseline has no instruction like the selected one" });
  expect(byRow({ row: undefined, n: 0 }, waves)).toHaveProperty("why");
});

test("slots correspond by the order of compute units, and stand under each other", () => {
  const layer = (name: string, cu: number, slots: number[]) =>
    ({
      name,
      tracks: slots.map((slot, track) => ({ track, label: "", se: 0, cu, simd: 0, slot })),
    }) as unknown as Layer;
  const side = (word: string, of: Layer) => ({ word, layer: of, lives: new Map() });
  const [before, after] = [side("before", layer("base/i", 4, [0, 1])), side("after", layer("i", 2, [1, 2]))];
  const rows = overlayRows(before, after, "slots");
  expect(rows.map(({ key, label }) => [key, label])).toEqual([
    ["base/i/0", "0 before"],
    ["base/i/1", "1 before"],
    ["i/0", "1 after"],
    ["i/1", "2 after"],
  ]);
  expect(rows[0]?.path).toEqual(["SE 0 CU 2 (before: SE 0 CU 4)", "SIMD 0"]);
  expect(overlayRows(before, after, "traces").map(({ path }) => path[0])).toEqual([
    "before: SE 0 CU 4",
    "before: SE 0 CU 4",
    "after: SE 0 CU 2",
    "after: SE 0 CU 2",
  ]);
});
