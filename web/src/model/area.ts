// Lanes of a timeline as the selection and the URL hold them: "instructions:0-3,7".
import { selection } from "./selection";

/** Longer texts are cut: a server takes no longer parameter. */
const LONGEST = 4000;

export interface AreaLanes {
  track: string;
  lanes: ReadonlySet<number>;
}

/** Lanes of a track as text, neighbours as ranges. */
export function lanesText(track: string, lanes: Iterable<number>): string {
  const sorted = [...new Set(lanes)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let last = i;
    while (last + 1 < sorted.length && sorted[last + 1] === (sorted[last] as number) + 1) last++;
    parts.push(last > i ? `${sorted[i]}-${sorted[last]}` : `${sorted[i]}`);
    i = last + 1;
  }
  let text = `${track}:${parts.join(",")}`;
  while (text.length > LONGEST) text = text.slice(0, text.lastIndexOf(","));
  return text;
}

const MOST_LANES = 100_000;

/** The lanes that a text names; null = it names none. */
export function lanesFrom(text: string | undefined): AreaLanes | null {
  const match = /^([a-z_]{1,40}):(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)$/.exec(text ?? "");
  if (!match) return null;
  const lanes = new Set<number>();
  for (const part of (match[2] as string).split(",")) {
    const [first, last = first] = part.split("-").map(Number) as [number, number?];
    for (let lane = first; lane <= last && lanes.size < MOST_LANES; lane++) lanes.add(lane);
  }
  return { track: match[1] as string, lanes };
}

let parsed: { text: string | undefined; lanes: AreaLanes | null } = { text: undefined, lanes: null };

/** The selected lanes; null = none, the selected time is that of all. */
export function selectedLanes(): AreaLanes | null {
  const { lanes: text } = selection.value;
  if (text !== parsed.text) parsed = { text, lanes: lanesFrom(text) };
  return parsed.lanes;
}
