// Rows of a query with times, as a track of the timeline: a layer whose only tile is made here.
import { ofDocument } from "./document";
import type { Kind, Layer, LayerSet } from "./layers";
import { Tile } from "./tile";

export interface TimedRow {
  name: string;
  begin: number;
  end: number;
}

export interface SqlTrack {
  layer: Layer;
  tile: Tile;
}

/** What the user put on the timeline last; null = nothing. */
export const sqlTrack = ofDocument<SqlTrack | null>(null);

/** How many tracks were made. */
let count = 0;
const TILE_CELLS = 1024;
/** Kinds have 16 bits in a tile; rows with further names have that of the first. */
const MOST_KINDS = 60_000;
/** Rows that overlap more deeply lie over each other. */
const MOST_DEPTH = 3;

/** The track of these rows, which may overlap: those that do stand below each other. */
export function trackOfRows(rows: TimedRow[]): SqlTrack | null {
  const sorted = rows.filter(({ begin, end }) => end >= begin).sort((a, b) => a.begin - b.begin);
  const [first] = sorted;
  if (!first) return null;
  const end = sorted.reduce((latest, row) => Math.max(latest, row.end), first.end);
  const kinds = new Map<string, Kind>();
  for (const { name } of sorted)
    if (!kinds.has(name) && kinds.size < MOST_KINDS) kinds.set(name, { kind: kinds.size, name });
  const busyUntil: number[] = []; // by depth
  const depthOf = (row: TimedRow) => {
    const free = busyUntil.findIndex((until) => until <= row.begin);
    const depth = Math.min(free < 0 ? busyUntil.length : free, MOST_DEPTH);
    busyUntil[depth] = Math.max(row.end, busyUntil[depth] ?? row.end);
    return depth;
  };
  const numbers = (of: (row: TimedRow, n: number) => number) => sorted.map(of);
  const tile = Tile.of({
    track: new Uint32Array(sorted.length),
    begin: Float64Array.from(numbers(({ begin }) => begin)),
    end: Float64Array.from(numbers((row) => row.end)),
    kind: Uint16Array.from(numbers(({ name }) => kinds.get(name)?.kind ?? 0)),
    count: new Uint32Array(sorted.length).fill(1),
    item: Int32Array.from(numbers((_, n) => n)),
    depth: Uint8Array.from(numbers(depthOf)),
  });
  const layer: Layer = {
    name: `sql ${++count}`, // another query is another layer: tiles are kept by name
    title: "Rows of a query",
    unit: "ns",
    begin: first.begin,
    end,
    cell: (1.001 * Math.max(end - first.begin, 1)) / TILE_CELLS, // one tile has all of it
    tile_cells: TILE_CELLS,
    level_count: 1,
    track_count: 1,
    tracks: [{ track: 0, label: "rows", group: ["SQL"] }],
    kinds: [...kinds.values()],
  };
  return { layer, tile };
}

/** The layer among those of the run. */
export function addTrack(set: LayerSet, { layer, tile }: SqlTrack): Layer {
  set.layers.set(layer.name, layer);
  set.ownTiles.set(layer.name, tile);
  return layer;
}
