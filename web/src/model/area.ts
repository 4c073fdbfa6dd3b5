// Tracks of a timeline as the selection and the URL hold them: "instructions:0-3,7".
import { selection } from "./selection";

/** Longer texts are cut: a server takes no longer parameter. */
const LONGEST = 4000;

export interface AreaTracks {
  layer: string;
  tracks: ReadonlySet<number>;
}

/** Tracks of a layer as text, neighbours as ranges. */
export function tracksText(layer: string, tracks: Iterable<number>): string {
  const sorted = [...new Set(tracks)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let last = i;
    while (last + 1 < sorted.length && sorted[last + 1] === (sorted[last] as number) + 1) last++;
    parts.push(last > i ? `${sorted[i]}-${sorted[last]}` : `${sorted[i]}`);
    i = last + 1;
  }
  let text = `${layer}:${parts.join(",")}`;
  while (text.length > LONGEST) text = text.slice(0, text.lastIndexOf(","));
  return text;
}

const MOST_TRACKS = 100_000;

/** The tracks that a text names; null = it names none. */
export function tracksFrom(text: string | undefined): AreaTracks | null {
  const match = /^([a-z_]{1,40}):(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)$/.exec(text ?? "");
  if (!match) return null;
  const tracks = new Set<number>();
  for (const part of (match[2] as string).split(",")) {
    const [first, last = first] = part.split("-").map(Number) as [number, number?];
    for (let track = first; track <= last && tracks.size < MOST_TRACKS; track++) tracks.add(track);
  }
  return { layer: match[1] as string, tracks };
}

let parsed: { text: string | undefined; tracks: AreaTracks | null } = { text: undefined, tracks: null };

/** The selected tracks; null = none, the selected time is that of all. */
export function selectedTracks(): AreaTracks | null {
  const { tracks: text } = selection.value;
  if (text !== parsed.text) parsed = { text, tracks: tracksFrom(text) };
  return parsed.tracks;
}
