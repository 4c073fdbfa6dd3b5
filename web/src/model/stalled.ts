// How much of the time the waves of each slot stall: shares of bins, tiled as curves are.
import { askUncached, json, type Question } from "../data/ask";
import { type CurveSet, CurveTiles } from "./curves";
import type { Levels } from "./levels";

interface Tiling extends Levels {
  track_count: number;
}

/** Shares in 255ths, a series per track of the layer of instructions. */
export function stalledShares(document: number): Question<CurveTiles> {
  return json<Tiling>(document, "stalled").as(tilesFrom, document);
}

function tilesFrom({ track_count, ...levels }: Tiling, document: number): CurveTiles {
  const series = Array.from({ length: track_count }, (_, track) => ({ label: String(track), keys: {} }));
  const set: CurveSet = { ...levels, name: "stalled", unit: "share", se: null, series };
  return new CurveTiles(set, async ({ level, tile }, stop) => {
    const share = (await askUncached(document, "stalled_shares", { level, tile }, stop)).numbers("share");
    const count = share.length / track_count;
    return { first: tile * levels.tile_cells, count, mean: share, low: share, high: share };
  });
}
