// A compute unit that a view asks to see although no wave was traced there: the Global view brings its lane onto the screen.
import { effect, signal } from "@preact/signals";
import { selection } from "./selection";
import { slotOf } from "./slots";
import type { Track } from "./tracks";

export interface Unit {
  se: number;
  cu: number;
  /** Null = any SIMD. */
  simd: number | null;
}

export const soughtUnit = signal<Unit | null>(null);

/** A wave that is selected later is what is looked at. */
effect(() => {
  void selection.value.wave;
  soughtUnit.value = null;
});

/** The first lane of the unit that is sought; undefined = none is. */
export function soughtLane(track: Track): number | undefined {
  const unit = soughtUnit.value;
  if (!unit) return undefined;
  return track.lanes.find((lane) => {
    const { se, cu, simd } = slotOf(lane);
    return se === unit.se && cu === unit.cu && (unit.simd === null || simd === unit.simd);
  })?.lane;
}
