// Which tracks of a timeline are pinned, hidden and moved, and which curves stand beside them: kept per document.
import { effect, signal } from "@preact/signals";
import { current, documents } from "./document";
import { identity } from "./notes";
import { storageTurn, store, stored, storedBelow } from "./user_storage";

/** A track or group that was moved: inside its parent before another child, or to the end. */
export interface Move {
  parent: string;
  child: string;
  before: string | null;
}

/** A strip of curves beside the tracks. */
export interface CurveStrip {
  name: string;
  /** Above the tracks, not below. */
  isPinned?: boolean;
  isFolded?: boolean;
  /** In pixels; absent = as usual. */
  height?: number;
}

export interface Arrangement {
  /** Keys of rows, in the order in which they stand on top. */
  pinned: string[];
  /** Keys of rows, and names of groups (`groupName`). */
  hidden: string[];
  moves: Move[];
  /** null = as it is at first. */
  curves: CurveStrip[] | null;
}

export const AS_IT_IS: Arrangement = { pinned: [], hidden: [], moves: [], curves: null };

/** Keys of the storage start with it: tracks were called lanes when the first of them were written. */
const BELOW = "lanes.";
const MOST_PINNED = 64;
const MOST_HIDDEN = 2000;
const MOST_MOVES = 200;
const MOST_CURVES = 16;
/** The oldest are forgotten. */
const MOST_DOCUMENTS = 60;

const arrangements = signal<Record<string, Arrangement>>({});

const texts = (value: unknown, most: number): string[] =>
  (Array.isArray(value) ? value : []).filter((text): text is string => typeof text === "string").slice(0, most);

/** What another version, or another program, may have written. */
export function arrangementFrom(value: unknown): Arrangement {
  const given = (value ?? {}) as Record<string, unknown>;
  const list = (name: string) => (Array.isArray(given[name]) ? (given[name] as Record<string, unknown>[]) : []);
  const moves = list("moves").filter((move) => typeof move?.parent === "string" && typeof move.child === "string");
  const curves = list("curves").filter((curve) => typeof curve?.name === "string");
  return {
    pinned: texts(given.pinned, MOST_PINNED),
    hidden: texts(given.hidden, MOST_HIDDEN),
    moves: (moves as unknown as Move[]).slice(-MOST_MOVES),
    curves: Array.isArray(given.curves) ? (curves as unknown as CurveStrip[]).slice(0, MOST_CURVES) : null,
  };
}

effect(() => {
  void storageTurn.value;
  void documents.value;
  void current.value;
  const read = (stored(BELOW + identity()) ?? {}) as Record<string, unknown>;
  arrangements.value = Object.fromEntries(Object.entries(read).map(([name, value]) => [name, arrangementFrom(value)]));
});

/** The arrangement of a timeline of the current document. */
export function arrangementOf(timeline: string): Arrangement {
  return arrangements.value[timeline] ?? AS_IT_IS;
}

export function arrange(timeline: string, change: Partial<Arrangement>): void {
  const next = arrangementFrom({ ...arrangementOf(timeline), ...change });
  arrangements.value = { ...arrangements.value, [timeline]: next };
  const changed = Object.entries(arrangements.value).filter(([, value]) => isChanged(value));
  store(BELOW + identity(), changed.length ? Object.fromEntries(changed) : null);
  const names = Object.keys(storedBelow(BELOW));
  for (const old of names.slice(0, Math.max(0, names.length - MOST_DOCUMENTS))) {
    if (old !== identity()) store(BELOW + old, null);
  }
}

export function isChanged({ pinned, hidden, moves, curves }: Arrangement): boolean {
  return pinned.length + hidden.length + moves.length > 0 || curves !== null;
}
