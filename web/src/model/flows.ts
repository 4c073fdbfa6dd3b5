// Lines of a run's timeline: arrows from a call to the dispatch or copy that it launched, and edges between events of one name.
import { arrow, json, type Question, together } from "../data/ask";
import type { Columns } from "../data/columns";
import type { Layer } from "./layers";
import { tileWidth } from "./levels";
import type { Range } from "./selection";

export interface Flow {
  from_item: number;
  from_track: number;
  from_begin: number;
  from_end: number;
  to_item: number;
  to_track: number;
  to_begin: number;
  to_end: number;
}

export interface Flows {
  /** How many there are; more than `flows` when they are too many to draw. */
  count: number;
  flows: Flow[];
}

/** Begins of events that touch the one before them, which has the same name. */
export interface Edges {
  tracks: ArrayLike<number>;
  times: ArrayLike<number>;
}

export interface TileRange {
  level: number;
  first: number;
  last: number;
}

/** The fewest tiles that cover an interval without reaching far beyond it. */
export function tilesAround(layer: Layer, range: Range): TileRange {
  const length = range.end - range.begin;
  let level = 0;
  while (level + 1 < layer.level_count && tileWidth(layer, level) < length / 2) level += 1;
  const wide = tileWidth(layer, level);
  const most = Math.floor((layer.end - layer.begin) / wide);
  const at = (time: number) => Math.min(most, Math.max(0, Math.floor((time - layer.begin) / wide)));
  return { level, first: at(range.begin), last: at(range.end) };
}

const numbersOf = ({ first, last }: TileRange) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** The edges of some tiles. */
export function edgesOf(document: number, layer: Layer, tiles: TileRange): Question<Edges[]> {
  const { level } = tiles;
  const asked = numbersOf(tiles).map((tile) => arrow(document, "edges", { layer: layer.name, level, tile }));
  return together(...asked).as(edgesFrom);
}

function edgesFrom(answers: Columns[]): Edges[] {
  return answers.map((columns) => ({ tracks: columns.numbers("track"), times: columns.numbers("time") }));
}

/** The flows of some tiles; of those that reach over several, one. */
export function flowsOf(document: number, layer: Layer, tiles: TileRange): Question<Flows> {
  const { level } = tiles;
  const asked = numbersOf(tiles).map((tile) => json<Flows>(document, "flows", { layer: layer.name, level, tile }));
  return together(...asked).as(flowsFrom);
}

function flowsFrom(answers: Flows[]): Flows {
  const flowsById = new Map<number, Flow>();
  for (const answer of answers) for (const flow of answer.flows) flowsById.set(flow.to_item, flow);
  const isWhole = answers.every((answer) => answer.count === answer.flows.length);
  return {
    count: isWhole ? flowsById.size : answers.reduce((sum, { count }) => sum + count, 0),
    flows: [...flowsById.values()],
  };
}
