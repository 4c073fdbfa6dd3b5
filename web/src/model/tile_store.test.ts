import { expect, test } from "vitest";
import { Tile } from "./tile";
import { TileStore } from "./tile_store";

const TILE = Tile.of({
  track: new Uint32Array(0),
  begin: new Float64Array(0),
  end: new Float64Array(0),
  kind: new Uint16Array(0),
  depth: new Uint8Array(0),
  item: new Int32Array(0),
  count: new Uint32Array(0),
});
const wanted = (tile: number) => ({ layer: "waves", level: 0, tile });

/** A store whose tiles come when they are let, and what became of each request. */
function made() {
  const requests: { tile: number; stop: AbortSignal; land: () => void }[] = [];
  const store = new TileStore(
    ({ tile }, stop) =>
      new Promise((resolve, reject) => {
        stop.addEventListener("abort", () => reject(new Error("aborted")));
        requests.push({ tile, stop, land: () => resolve(TILE) });
      }),
  );
  return { store, requests };
}

test("a closed view aborts what nobody else wants, and that does not fail", async () => {
  const { store, requests } = made();
  const [closed, open] = [{}, {}];
  store.want(closed, [wanted(1), wanted(2)]);
  store.want(open, [wanted(2)]);
  const fetched = store.fetch(wanted(3));
  store.release(closed);
  expect(requests.map(({ tile, stop }) => [tile, stop.aborted])).toEqual([
    [1, true],
    [2, false],
    [3, false],
  ]);
  for (const request of requests) request.land();
  await fetched;
  expect(store.problem.value).toBeNull();
  store.want(closed, [wanted(1)]); // asked anew, at once
  expect(requests.at(-1)).toMatchObject({ tile: 1, stop: { aborted: false } });
});
