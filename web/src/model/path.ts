// The critical path of a run on its timeline.
import { json, type Question, together } from "../data/ask";
import type { TileRange } from "./flows";
import type { Layer } from "./layers";

export interface Segment {
  track: number;
  item: number;
  begin: number;
  end: number;
  class: string;
  is_inferred: boolean;
}

/** The segments of some tiles, in the order of time; of those in several tiles, one: no two of a path start together. */
export function segmentsOf(document: number, layer: Layer, { level, first, last }: TileRange): Question<Segment[]> {
  const tiles = Array.from({ length: last - first + 1 }, (_, n) => first + n);
  const asked = tiles.map((tile) => json<Segment[]>(document, "run_path_spans", { layer: layer.name, level, tile }));
  return together(...asked).as(inOrder);
}

/** Examples in the test. */
export function inOrder(answers: Segment[][]): Segment[] {
  const segments = new Map<number, Segment>();
  for (const segment of answers.flat()) segments.set(segment.begin, segment);
  return [...segments.values()].sort((a, b) => a.begin - b.begin || a.end - b.end);
}
