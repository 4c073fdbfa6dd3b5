import { expect, test } from "vitest";
import { tilesAround } from "./flows";
import type { Layer } from "./layers";

const layer = { name: "run", begin: 0, end: 1_000_000, cell: 16, tile_cells: 1024, level_count: 7 } as Layer;

test("an interval needs at most three tiles, none of them outside", () => {
  for (const [begin, end] of [
    [0, 1_000_000],
    [5, 80],
    [16_000, 17_000],
    [250_000, 750_000],
    [999_990, 1_000_000],
  ] as const) {
    const { level, first, last } = tilesAround(layer, { begin, end });
    const wide = 16 * 1024 * 2 ** level;
    expect(last - first).toBeLessThan(3);
    expect(first * wide).toBeLessThanOrEqual(begin);
    expect((last + 1) * wide).toBeGreaterThan(end - 1);
    expect(last * wide).toBeLessThanOrEqual(layer.end);
  }
});
