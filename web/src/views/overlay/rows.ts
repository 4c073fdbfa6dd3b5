// The rows of two traces: slot by slot one above the other, or one trace below the other.
import type { TimelineRow } from "../../draw/track_layout";
import type { Layer, Track } from "../../model/layers";
import { type Lives, type Slot, slotKey, slotOf } from "../../model/slots";

export interface Side {
  /** What the rows of this side are called: "before". */
  word: string;
  layer: Layer;
  lives: Map<string, Lives>;
}

export type Arrangement = "slots" | "traces";

const order = (a: Slot, b: Slot) => a.se - b.se || a.cu - b.cu || a.simd - b.simd || a.slot - b.slot;
const unitOf = (place: Slot) => `SE ${place.se}${place.cu >= 0 ? ` CU ${place.cu}` : ""}`;

/** Compute units of both traces correspond in their order: two captures seldom trace the same one. */
function byPlace(layer: Layer): Map<string, { track: Track; place: Slot }> {
  const tracks = layer.tracks.map((track) => ({ track, place: slotOf(track) })).sort((a, b) => order(a.place, b.place));
  const units = [...new Set(tracks.map(({ place }) => unitOf(place)))];
  return new Map(
    tracks.map((each) => [`${units.indexOf(unitOf(each.place))}/${each.place.simd}/${each.place.slot}`, each]),
  );
}

export function overlayRows(before: Side, after: Side, arrangement: Arrangement): TimelineRow[] {
  const sides = [before, after].map((side) => ({ side, places: byPlace(side.layer) }));
  const row = (side: Side, track: Track, path: string[], label: string): TimelineRow => {
    const behind = side.lives.get(slotKey(slotOf(track)));
    const strip = { layer: side.layer, track: track.track, ...(behind ? { behind } : {}) };
    return { key: `${side.layer.name}/${track.track}`, label, path, strips: [strip] };
  };
  if (arrangement === "traces") {
    return sides.flatMap(({ side, places }) =>
      [...places.values()].map(({ track, place }) =>
        row(side, track, [`${side.word}: ${unitOf(place)}`, `SIMD ${place.simd}`], String(place.slot)),
      ),
    );
  }
  const numbers = (key: string) => key.split("/").map(Number) as [number, number, number];
  const keys = [...new Set(sides.flatMap(({ places }) => [...places.keys()]))].sort((a, b) => {
    const [left, right] = [numbers(a), numbers(b)];
    return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
  });
  return keys.flatMap((key) => {
    const [unit, simd, slot] = numbers(key);
    const names = sides.map(({ places }) => unitNamed(places, unit));
    const heading = names[0] === names[1] ? (names[1] ?? "") : `${names[1] ?? "none"} (before: ${names[0] ?? "none"})`;
    return sides.flatMap(({ side, places }) => {
      const here = places.get(key);
      return here ? [row(side, here.track, [heading, `SIMD ${simd}`], `${slot} ${side.word}`)] : [];
    });
  });
}

function unitNamed(places: Map<string, { place: Slot }>, unit: number): string | undefined {
  for (const [key, { place }] of places) if (key.startsWith(`${unit}/`)) return unitOf(place);
  return undefined;
}
