// The one layer of a run: its tracks are threads and streams, its items events of all tables.
import type { Layer, Track } from "./layers";

export interface RunTrack extends Track {
  /** Process, then thread or GPU. */
  group: string[];
  kind: "thread" | "marks" | "allocations" | "stream";
}

export interface RunLayer extends Layer {
  tracks: RunTrack[];
  /** Table -> item of its first row. */
  first_items: Record<string, number>;
  /** What the picture leaves out, and what it must not be taken for. */
  notes: string[];
}

export function isDispatch(layer: RunLayer, item: number): boolean {
  return item >= 0 && item < (layer.first_items.copies ?? 0);
}

/** An event as the selection and the URL hold it. */
export function spanKey(layer: Layer, item: number): string {
  return `${layer.name}:${item}`;
}

/** The item of a selected event; -1 = none. */
export function spanItem(key: string | undefined): number {
  const match = /^run:(\d{1,10})$/.exec(key ?? "");
  return match ? Number(match[1]) : -1;
}
