// From an executed instruction (its number in the trace) to its wave, its row, and which execution of the row it is.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
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

const MOST_KEPT = 96;

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

/** The executions of a document; `waves` are its traced waves. */
export class Executions {
  private readonly byFirst: ReadonlySignal<Wave[]>;
  private readonly rows = new Map<string, ArrayLike<number>>();
  private readonly asked = new Set<string>();
  private readonly turn = signal(0);

  constructor(
    private readonly document: () => number,
    waves: () => Wave[],
  ) {
    this.byFirst = computed(() => [...waves()].sort((a, b) => a.firstInstruction - b.firstInstruction));
  }

  /** The wave that an instruction belongs to. */
  private waveOfItem(item: number): Wave | undefined {
    const waves = this.byFirst.value;
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

  async of(item: number): Promise<Execution | null> {
    const wave = this.waveOfItem(item);
    if (!wave) return null;
    return executionAt(wave, await loadWave(wave.wave, this.document()), item - wave.firstInstruction);
  }

  /** The row of an instruction if its wave is here; it is asked for otherwise, and what reads this runs again then. */
  rowNow(item: number): number | undefined {
    void this.turn.value;
    const wave = this.waveOfItem(item);
    if (!wave) return undefined;
    const key = `${this.document()}/${wave.wave}`;
    const cached = this.rows.get(key);
    if (cached) return cached[item - wave.firstInstruction];
    if (this.asked.has(key)) return undefined;
    this.asked.add(key);
    loadWave(wave.wave, this.document()).then(
      (data) => {
        this.rows.set(key, data.row);
        this.asked.delete(key);
        const oldest = this.rows.keys().next().value;
        if (this.rows.size > MOST_KEPT && oldest !== undefined) this.rows.delete(oldest);
        this.turn.value++;
      },
      () => {}, // not in an exported page: it stays asked for, and has no text
    );
    return undefined;
  }
}

const ofCurrent = new Executions(() => current.value, wavesNow);

export const executionOf = (item: number) => ofCurrent.of(item);

export const rowNow = (item: number) => ofCurrent.rowNow(item);
