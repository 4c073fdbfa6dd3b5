// When the selected execution of an instruction happened: views over time mark it.
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { current } from "./document";
import { selection } from "./selection";
import { loadWave, timesOf } from "./wave_data";

const time = signal<number | null>(null);
export const selectedTime: ReadonlySignal<number | null> = time;

let turn = 0;
effect(() => {
  const { row, wave, iteration } = selection.value;
  const document = current.value;
  const ownTurn = ++turn;
  if (row === undefined || wave === undefined || iteration === undefined) {
    time.value = null;
    return;
  }
  loadWave(wave, document).then(
    (data) => {
      if (ownTurn === turn) time.value = timesOf(data, row)[iteration] ?? null;
    },
    () => {
      if (ownTurn === turn) time.value = null;
    },
  );
});
