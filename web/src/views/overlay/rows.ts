// The rows of two traces in one timeline: slot by slot those of both under each other, or one trace below the other.
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

/** Where a track stands among those of its trace: the same numbers in both traces stand under each other. */
interface PlacedTrack {
  track: Track;
  place: Slot;
  /** Which compute unit of the trace, from 0 in their order: two captures seldom trace the same ones. */
  unit: number;
}

function placedTracks(layer: Layer): PlacedTrack[] {
  const tracks = layer.tracks.map((track) => ({ track, place: slotOf(track) })).sort((a, b) => order(a.place, b.place));
  const units = [...new Set(tracks.map(({ place }) => unitOf(place)))];
  return tracks.map(({ track, place }) => ({ track, place, unit: units.indexOf(unitOf(place)) }));
}

export function overlayRows(before: Side, after: Side, arrangement: Arrangement): TimelineRow[] {
  const sides = [before, after].map((side) => ({ side, tracks: placedTracks(side.layer) }));
  return arrangement === "traces" ? sides.flatMap(rowsOfTrace) : rowsBySlot(sides);
}

interface PlacedSide {
  side: Side;
  tracks: PlacedTrack[];
}

function rowsOfTrace({ side, tracks }: PlacedSide): TimelineRow[] {
  return tracks.map(({ track, place }) =>
    rowOf(side, track, { path: [`${side.word}: ${unitOf(place)}`, `SIMD ${place.simd}`], label: String(place.slot) }),
  );
}

/** Each slot with the rows of both sides; sorting is stable, so the first side stays above the second. */
function rowsBySlot(sides: PlacedSide[]): TimelineRow[] {
  const nameOf = ({ tracks }: PlacedSide, unit: number) => {
    const first = tracks.find((placed) => placed.unit === unit);
    return first && unitOf(first.place);
  };
  const headingOf = (unit: number) => {
    const [before, after] = sides.map((side) => nameOf(side, unit));
    return before === after ? (after ?? "") : `${after ?? "none"} (before: ${before ?? "none"})`;
  };
  return sides
    .flatMap(({ side, tracks }) => tracks.map((placed) => ({ side, ...placed })))
    .sort((a, b) => a.unit - b.unit || a.place.simd - b.place.simd || a.place.slot - b.place.slot)
    .map(({ side, track, unit, place }) =>
      rowOf(side, track, {
        path: [headingOf(unit), `SIMD ${place.simd}`],
        label: `${place.slot} ${side.word}`,
      }),
    );
}

function rowOf(side: Side, track: Track, names: Pick<TimelineRow, "path" | "label">): TimelineRow {
  const behind = side.lives.get(slotKey(slotOf(track)));
  const strip = { layer: side.layer, track: track.track, ...(behind ? { behind } : {}) };
  return { key: `${side.layer.name}/${track.track}`, ...names, strips: [strip] };
}
