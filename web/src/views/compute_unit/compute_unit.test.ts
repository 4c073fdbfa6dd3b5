import { describe, expect, it } from "vitest";
import { layOutTracks, THIN } from "../../draw/track_layout";
import type { Execution } from "../../model/executions";
import { type Layer, LayerSet, type Track } from "../../model/layers";
import { livesOf, slotKey } from "../../model/slots";
import type { Wave } from "../../model/waves";
import { remembered } from "./history";
import { computeUnitRows } from "./rows";

const LOOK = { areStates: false, shares: null, classes: null };
const wave = (number: number, slot: number, begin: number, end: number): Wave => ({
  wave: number,
  se: 0,
  cu: 1,
  simd: 0,
  slot,
  slotWave: 0,
  begin,
  end,
  firstInstruction: 0,
  instructions: 1,
  stall: 0,
});

function made(name: string, tracks: Partial<Track>[]): Layer {
  const layer = { name, title: name, unit: "cycles" as const, begin: 0, end: 100, cell: 1, level_count: 1 };
  const full = tracks.map((track, i) => ({ track: i, label: "", ...track }));
  return { ...layer, tile_cells: 1024, track_count: tracks.length, tracks: full, kinds: [] };
}

const at = (slot: number, se = 0) => ({ se, cu: 1, simd: 0, slot, group: `SE ${se} CU 1` });

describe("the rows of the compute unit", () => {
  const set = new LayerSet(
    [
      made("instructions", [at(0), at(1), at(0, 2)]),
      made("states", [at(0), at(1), at(0, 2)]),
      made("markers", [
        { ...at(1), depth: 0 },
        { ...at(1), depth: 1 },
      ]),
      made("shader_data", [{ se: 0, cu: 7, simd: 2, slot: 3 }]),
      made("events", [{ se: 0 }, { se: 2 }]),
      made("other_simd", [{ se: 0, cu: 1, simd: 1, label: "SIMD 1" }]),
    ],
    () => Promise.reject(new Error("not asked for")),
  );
  const lives = livesOf([wave(1, 0, 50, 90), wave(0, 0, 0, 40)], slotKey);
  it("show nothing but states where they are too thin for kinds", () => {
    const rows = computeUnitRows(set, new Map(), () => true, LOOK).filter(({ strips }) => strips.length > 1);
    const drawn = (height: number) =>
      layOutTracks(rows, height, new Set()).rows[0]?.strips.map(({ layer, instead }) => (instead?.layer ?? layer).name);
    expect(drawn(THIN)).toEqual(["instructions", "states"]);
    expect(drawn(THIN - 1)).toEqual(["states"]);
  });

  it("are events, markers above their slot, slots with states and lives, neighbours last", () => {
    const rows = computeUnitRows(set, lives, (se) => se === 0, LOOK);
    expect(rows.map(({ path, label }) => [path[1], label])).toEqual([
      ["events", ""],
      ["SIMD 0", "0"],
      ["SIMD 0", "1 mark 0"],
      ["SIMD 0", "1 mark 1"],
      ["SIMD 0", "1"],
      ["SIMD 1", "other"],
      ["CU 7 SIMD 2", "3 data"],
    ]);
    expect(rows[1]?.strips.map(({ layer }) => layer.name)).toEqual(["instructions", "states"]);
    expect(Array.from(rows[1]?.strips[0]?.behind?.begins ?? [])).toEqual([0, 50]);
  });
  it("are those of the engines that are shown", () => {
    const rows = computeUnitRows(set, lives, (se) => se === 2, LOOK);
    expect(rows.map(({ path }) => path)).toEqual([
      ["SE 2 CU 1", "events"],
      ["SE 2 CU 1", "SIMD 0"],
    ]);
  });
});

describe("the history", () => {
  const clicked = (position: number): Execution => ({
    wave: wave(0, 0, 0, 1),
    position,
    row: 0,
    iteration: 0,
    time: 0,
    stall: 0,
    duration: 0,
  });
  it("has the newest first and no repetition", () => {
    const list = [clicked(1), clicked(1), clicked(2), clicked(1)].reduce(remembered, [] as Execution[]);
    expect(list.map(({ position }) => position)).toEqual([1, 2, 1]);
  });
});
