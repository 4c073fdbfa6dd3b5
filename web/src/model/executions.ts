// From an executed instruction (its number in the trace) to its wave, its row, and which execution of the row it is.
import { computed, signal } from "@preact/signals";
import { current } from "./document";
import { loadWave, positionsOf, type WaveData } from "./wave_data";
import { type Wave, wavesNow } from "./waves";

export interface Execution {
  wave: Wave;
  /** Among the instructions of the wave. */
  position: number;
  row: number;
  /** Which execution of the row in the wave, from 0. */
  iteration: number;
  time: number;
  stall: number;
  duration: number;
}

const byFirst = computed(() => [...wavesNow()].sort((a, b) => a.firstInstruction - b.firstInstruction));

/** The wave that an instruction belongs to. */
function waveOfItem(item: number): Wave | undefined {
  const waves = byFirst.value;
  let low = 0;
  let high = waves.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((waves[middle] as Wave).firstInstruction <= item) low = middle + 1;
    else high = middle;
  }
  // Waves without instructions may share the place of their successor.
  for (let i = low - 1; i >= 0; i--) {
    const wave = waves[i] as Wave;
    if (wave.instructions) return item < wave.firstInstruction + wave.instructions ? wave : undefined;
  }
  return undefined;
}

function executionAt(wave: Wave, data: WaveData, position: number): Execution {
  const row = data.row[position] as number;
  return {
    wave,
    position,
    row,
    iteration: positionsOf(data, row).indexOf(position),
    time: data.time[position] as number,
    stall: data.stall[position] as number,
    duration: data.duration[position] as number,
  };
}

export async function executionOf(item: number): Promise<Execution | null> {
  const wave = waveOfItem(item);
  if (!wave) return null;
  return executionAt(wave, await loadWave(wave.wave), item - wave.firstInstruction);
}

const MOST_KEPT = 96;
const rows = new Map<string, ArrayLike<number>>();
const asked = new Set<string>();
const turn = signal(0);

/** The row of an instruction if its wave is here; it is asked for otherwise, and what reads this runs again then. */
export function rowNow(item: number): number | undefined {
  void turn.value;
  const wave = waveOfItem(item);
  if (!wave) return undefined;
  const key = `${current.value}/${wave.wave}`;
  const cached = rows.get(key);
  if (cached) return cached[item - wave.firstInstruction];
  if (asked.has(key)) return undefined;
  asked.add(key);
  loadWave(wave.wave).then(
    (data) => {
      rows.set(key, data.row);
      asked.delete(key);
      const oldest = rows.keys().next().value;
      if (rows.size > MOST_KEPT && oldest !== undefined) rows.delete(oldest);
      turn.value++;
    },
    () => {}, // not in an exported page: it stays asked for, and has no text
  );
  return undefined;
}
