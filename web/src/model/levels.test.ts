import { describe, expect, it } from "vitest";
import { cover, levelFor, needed, tilesIn } from "./levels";

const layer = { begin: 1000, end: 1000 + 1024 * 4 * 10 - 1, cell: 4, level_count: 5, tile_cells: 1024 };

describe("levels", () => {
  it("are as coarse as pixels", () => {
    expect(levelFor(layer, 0.5)).toBe(0);
    expect(levelFor(layer, 4)).toBe(0);
    expect(levelFor(layer, 8)).toBe(1);
    expect(levelFor(layer, 16)).toBe(2);
    expect(levelFor(layer, 1e9)).toBe(4);
  });
  it("cells are at most one and a half pixels wide, and half a pixel unless they are the finest", () => {
    for (let perPixel = 6; perPixel < 60; perPixel += 0.7) {
      const cell = layer.cell * 2 ** levelFor(layer, perPixel);
      expect(cell / perPixel).toBeLessThanOrEqual(1.5);
      expect(cell / perPixel).toBeGreaterThan(0.7);
    }
  });
  it("need the tiles that reach into the window, the middle first", () => {
    expect(tilesIn(layer, 0, { begin: 1000, end: 1000 + 4096 })).toEqual({ first: 0, last: 0 });
    expect(tilesIn(layer, 0, { begin: 0, end: 500 })).toEqual({ first: 0, last: -1 });
    expect(tilesIn(layer, 0, { begin: 0, end: 1e9 })).toEqual({ first: 0, last: 9 });
    const wanted = needed(layer, 0, { begin: 1000 + 4096 * 2 + 5, end: 1000 + 4096 * 5 - 5 });
    expect(wanted.map(({ tile }) => tile)).toEqual([3, 2, 4]);
  });
});

describe("what stands in for missing tiles", () => {
  const window = { begin: 1000, end: 1000 + 4096 * 4 };
  const shown = (have: string[], level = 0) =>
    cover(layer, level, window, ({ level, tile }) =>
      have.includes(`${level}/${tile}`) ? `${level}/${tile}` : undefined,
    ).map(({ tile, begin, end }) => [tile, (begin - 1000) / 4096, (end - 1000) / 4096]);
  it("is the next coarser one, only for the missing interval", () => {
    expect(shown(["0/0", "0/3", "1/0", "2/0", "4/0"])).toEqual([
      ["0/0", 0, 1],
      ["1/0", 1, 2],
      ["2/0", 2, 3],
      ["0/3", 3, 4],
    ]);
  });
  it("are finer ones when they are enough, before something much coarser", () => {
    expect(shown(["0/0", "0/1", "1/1", "4/0"], 2)).toEqual([
      ["0/0", 0, 1],
      ["0/1", 1, 2],
      ["1/1", 2, 4],
    ]);
    expect(shown(["0/0", "1/1", "4/0"], 2)).toEqual([["4/0", 0, 4]]);
    expect(shown(["0/0", "1/1"], 2)).toEqual([
      ["0/0", 0, 1],
      ["1/1", 2, 4],
    ]);
  });
  it("is found for a moment as well", () => {
    const moment = { begin: 2000, end: 2000.5 };
    const found = cover(layer, 0, moment, ({ level, tile }) => (level === 3 && tile === 0 ? "coarse" : undefined));
    expect(found.map(({ tile }) => tile)).toEqual(["coarse"]);
  });
  it("is nothing when nothing is at hand", () => {
    expect(shown([])).toEqual([]);
  });
});
