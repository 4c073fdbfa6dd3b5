// Wave slots of the hardware and the waves that lived in them, one after the other.
import { computed } from "@preact/signals";
import { type Wave, wavesNow } from "./waves";

export interface Slot {
  se: number;
  cu: number;
  simd: number;
  slot: number;
}

export const slotKey = (place: Slot) => `${place.se}/${place.cu}/${place.simd}/${place.slot}`;

/** The place that a track of a layer stands for, when it stands for a slot. */
export function slotOf(track: Record<string, unknown>): Slot {
  const of = (name: string) => Number(track[name] ?? -1);
  return { se: of("se"), cu: of("cu"), simd: of("simd"), slot: of("slot") };
}

export interface Lives {
  waves: Wave[];
  begins: Float64Array;
  ends: Float64Array;
}

export function livesOf(waves: Wave[], keyOf: (wave: Wave) => string): Map<string, Lives> {
  const lists = new Map<string, Wave[]>();
  for (const wave of waves) {
    const list = lists.get(keyOf(wave));
    if (list) list.push(wave);
    else lists.set(keyOf(wave), [wave]);
  }
  return new Map(
    [...lists].map(([key, list]) => {
      const sorted = list.sort((a, b) => a.begin - b.begin);
      const begins = Float64Array.from(sorted, (wave) => wave.begin);
      return [key, { waves: sorted, begins, ends: Float64Array.from(sorted, (wave) => wave.end) }];
    }),
  );
}

const byNumber = computed(() => new Map(wavesNow().map((wave) => [wave.wave, wave])));

/** The traced wave with a number. */
export function waveNumbered(number: number | undefined): Wave | undefined {
  return number === undefined ? undefined : byNumber.value.get(number);
}

/** The traced waves of every slot. */
export const livesBySlot = computed(() => livesOf(wavesNow(), slotKey));

/** The traced wave that lived in a slot at a time. */
export function waveAt(place: Slot, time: number): Wave | undefined {
  return livesBySlot.value.get(slotKey(place))?.waves.find((wave) => wave.begin <= time && time < wave.end);
}
