// The critical path of a run on its timeline.
import { json, type Question, together } from "../data/ask";
import type { TileRange } from "./flows";
import type { Track } from "./tracks";

export interface Stretch {
  lane: number;
  item: number;
  begin: number;
  end: number;
  class: string;
  is_inferred: boolean;
}

/** The stretches of some tiles, in the order of time; of those in several tiles, one. */
export function stretchesOf(document: number, track: Track, { level, first, last }: TileRange): Question<Stretch[]> {
  const tiles = Array.from({ length: last - first + 1 }, (_, n) => first + n);
  const asked = tiles.map((tile) => json<Stretch[]>(document, "run_path_spans", { track: track.name, level, tile }));
  return together(...asked).as(inOrder);
}

/** Examples in the test. */
export function inOrder(answers: Stretch[][]): Stretch[] {
  const byBegin = new Map<string, Stretch>();
  for (const stretch of answers.flat()) byBegin.set(`${stretch.lane} ${stretch.begin}`, stretch);
  return [...byBegin.values()].sort((a, b) => a.begin - b.begin || a.end - b.end);
}
