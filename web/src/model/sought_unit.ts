// A compute unit that a view asks to see although no wave was traced there: the Global view brings its track onto the screen.
import { effect, signal } from "@preact/signals";
import type { Layer } from "./layers";
import { selection } from "./selection";
import { slotOf } from "./slots";

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

/** The first track of the unit that is sought; undefined = none is. */
export function soughtTrack(layer: Layer): number | undefined {
  const unit = soughtUnit.value;
  if (!unit) return undefined;
  return layer.tracks.find((track) => {
    const { se, cu, simd } = slotOf(track);
    return se === unit.se && cu === unit.cu && (unit.simd === null || simd === unit.simd);
  })?.track;
}
