// From an executed instruction (its number in the trace) to its wave, its row, and which execution of the row it is.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { reportFailure, turn as serverTurn } from "./connection";
import { current } from "./document";
import { asAnswerError } from "./loaded";
import { iterationOf, loadWave, type WaveData } from "./wave_data";
import { type Wave, wavesNow } from "./waves";

export interface Execution {
  wave: Wave;
  /** Among the instructions of the wave. */
  position: number;
  row: number;
  /** Which execution of the row in the wave, from 0. */
  iteration: number;
  /** First attempt to issue, in aligned cycles. */
  time: number;
  /** Cycles until it was issued. */
  stall: number;
  /** Cycles from the first attempt to issue to its end. */
  duration: number;
}

/** More waves than are on a screen; each takes 4 bytes per instruction. */
const MAX_CACHED_WAVES = 96;

function executionAt(wave: Wave, data: WaveData, position: number): Execution {
  return {
    wave,
    position,
    row: data.row[position] as number,
    iteration: iterationOf(data, position),
    time: data.time[position] as number,
    stall: data.stall[position] as number,
    duration: data.duration[position] as number,
  };
}

/** The executions of a document; `waves` are its traced waves. Instructions are named by their number in the trace. */
export class Executions {
  private readonly wavesInOrder: ReadonlySignal<Wave[]>;
  /** Rows of the instructions of waves that were loaded, the oldest first. */
  private readonly rowsByWave = new Map<string, ArrayLike<number>>();
  private readonly requested = new Set<string>();
  /** Grows whenever the rows of a wave arrive. */
  private readonly arrivals = signal(0);

  constructor(
    private readonly document: () => number,
    waves: () => Wave[],
  ) {
    this.wavesInOrder = computed(() => [...waves()].sort((a, b) => a.firstInstruction - b.firstInstruction));
  }

  /** The wave that an instruction belongs to. */
  private waveWith(instruction: number): Wave | undefined {
    const waves = this.wavesInOrder.value;
    let low = 0;
    let high = waves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((waves[middle] as Wave).firstInstruction <= instruction) low = middle + 1;
      else high = middle;
    }
    // Waves without instructions may share the place of their successor.
    for (let i = low - 1; i >= 0; i--) {
      const wave = waves[i] as Wave;
      if (wave.instructions) return instruction < wave.firstInstruction + wave.instructions ? wave : undefined;
    }
    return undefined;
  }

  /** Null for instructions of no traced wave: those of neighbour SIMDs. Fails when the wave cannot be loaded. */
  async executionOf(instruction: number): Promise<Execution | null> {
    const wave = this.waveWith(instruction);
    if (!wave) return null;
    return executionAt(wave, await loadWave(wave.wave, this.document()), instruction - wave.firstInstruction);
  }

  /** The row of an instruction if its wave is loaded; else it is loaded, and what reads this signal runs again then. */
  rowNow(instruction: number): number | undefined {
    void this.arrivals.value;
    const wave = this.waveWith(instruction);
    if (!wave) return undefined;
    const key = `${this.document()}/${wave.wave}`;
    const rows = this.rowsByWave.get(key);
    if (rows) return rows[instruction - wave.firstInstruction];
    this.request(key, wave);
    return undefined;
  }

  /** Loads the rows of a wave once; what failed is tried again only when the server is back. */
  private request(key: string, wave: Wave): void {
    const attempt = `${key} ${serverTurn.value}`;
    if (this.requested.has(attempt)) return;
    this.requested.add(attempt);
    loadWave(wave.wave, this.document()).then(
      ({ row }) => {
        this.rowsByWave.set(key, row);
        this.requested.delete(attempt);
        const oldest = this.rowsByWave.keys().next().value;
        if (this.rowsByWave.size > MAX_CACHED_WAVES && oldest !== undefined) this.rowsByWave.delete(oldest);
        this.arrivals.value++;
      },
      // The shell says that the server is gone. Other failures (the wave is not in an exported page, or cannot be read)
      // are said by the views that show the wave; here only the texts of its instructions are missing.
      (error: unknown) => reportFailure(asAnswerError(error)),
    );
  }
}

const ofCurrent = new Executions(() => current.value, wavesNow);

export const executionOf = (instruction: number) => ofCurrent.executionOf(instruction);

export const rowNow = (instruction: number) => ofCurrent.rowNow(instruction);
