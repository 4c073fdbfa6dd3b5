import { expect, test } from "vitest";
import { LayerSet } from "./layers";
import { addTrack, trackOfRows } from "./sql_track";

const ROWS = [
  { name: "b", begin: 300, end: 500 },
  { name: "a", begin: 100, end: 400 },
  { name: "a", begin: 450, end: 450 },
  { name: "broken", begin: 9, end: 3 },
];

test("rows are spans of one tile, by time; those that overlap stand below each other", () => {
  const { layer, tile } = trackOfRows(ROWS) ?? { layer: null, tile: null };
  expect([...(tile?.begin ?? [])]).toEqual([100, 300, 450]);
  expect([...(tile?.depth ?? [])]).toEqual([0, 1, 0]);
  expect(layer?.kinds.map(({ name }) => name)).toEqual(["a", "b"]);
  expect([layer?.begin, layer?.end]).toEqual([100, 500]);
  expect(trackOfRows([])).toBeNull();
});

test("nothing of them is asked from the server, wherever one looks", async () => {
  const set = new LayerSet([], () => Promise.reject(new Error("not asked for")));
  const track = trackOfRows(ROWS);
  if (!track) throw new Error("no track");
  const layer = addTrack(set, track);
  for (const window of [layer, { begin: 0, end: 900 }, { begin: 460, end: 500 }]) {
    const wanted = set.tilesFor([layer], window, 1);
    expect(new Set(wanted.map(({ level, tile }) => `${level}/${tile}`))).toEqual(new Set(["0/0"]));
    await Promise.all(wanted.map((each) => set.store.fetch(each)));
    expect(set.pieces(layer, window, 1)).toHaveLength(1);
  }
  expect(set.spanAt({ layer, track: 0, time: 320 }, 1)?.item).toBe(1);
});
