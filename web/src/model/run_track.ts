// The one track of a run: its lanes are threads and streams, its items events of all tables.
import type { Lane, Track } from "./tracks";

export interface RunLane extends Lane {
  /** Process, then thread or GPU. */
  group: string[];
  kind: "thread" | "marks" | "allocations" | "stream";
}

export interface RunTrack extends Track {
  lanes: RunLane[];
  /** Table -> item of its first row. */
  first_items: Record<string, number>;
  /** What the picture leaves out, and what it must not be taken for. */
  notes: string[];
}

export function isDispatch(track: RunTrack, item: number): boolean {
  return item >= 0 && item < (track.first_items.copies ?? 0);
}

/** An event as the selection and the URL hold it. */
export function spanKey(track: Track, item: number): string {
  return `${track.name}:${item}`;
}

/** The item of a selected event; -1 = none. */
export function spanItem(key: string | undefined): number {
  const match = /^run:(\d{1,10})$/.exec(key ?? "");
  return match ? Number(match[1]) : -1;
}
