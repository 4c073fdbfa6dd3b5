// What is selected, and what the pointer is over in other views, as executions on the tracks of the compute unit.
import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { rowsOf } from "../../model/code";
import type { Layer, Span } from "../../model/layers";
import { type Link, linksOf, type Step, stepAt } from "../../model/producers";
import { preview, type Range, type SourceLine, selection } from "../../model/selection";
import { slotKey, waveNumbered } from "../../model/slots";
import { intervalOf, intervalsWhere, loadWave, positionsOf, type WaveData } from "../../model/wave_data";
import { targetWave, type Wave } from "../../model/waves";

/** The selected wave, and what of the selected row is known in it. */
export interface Chosen {
  wave: Wave;
  track: number;
  /** All executions of the selected row in the wave; empty = no row is selected, or the wave is not loaded yet. */
  executions: Range[];
  /** The selected execution as a span, and as a step of its wave; null = none of them is selected. */
  focus: Span | null;
  step: Step | null;
  /** What that step waited for, or what waited for it. */
  links: Link[];
}

/** Executions that other views point at, and their track. */
export interface Previewed {
  track: number;
  executions: Range[];
}

/** What is selected, in three turns: the wave at once, its executions when it is loaded, their links when those are. */
export function useChosen(
  instructions: Layer | undefined,
  trackOf: Map<string, number>,
): ReadonlySignal<Chosen | null> {
  const chosen = useSignal<Chosen | null>(null);
  useSignalEffect(() => {
    const { wave: number, row, iteration } = selection.value;
    // What is said about a row is said about the target wave.
    const wave = waveNumbered(number) ?? (row === undefined ? undefined : targetWave());
    const track = wave ? trackOf.get(slotKey(wave)) : undefined;
    if (!wave || track === undefined || !instructions) {
      chosen.value = null;
      return;
    }
    const waveAlone: Chosen = { wave, track, executions: [], focus: null, step: null, links: [] };
    chosen.value = waveAlone;
    if (row === undefined) return;
    let isStale = false;
    loadWave(wave.wave).then(
      (data) => {
        if (isStale) return;
        const selected = { row, iteration, wave, data, instructions, track };
        const withExecutions: Chosen = { ...waveAlone, ...executionsOf(selected) };
        chosen.value = withExecutions;
        if (!withExecutions.step) return;
        void linksOf(wave.wave, withExecutions.step.position)
          .catch(() => []) // not in an exported page: no arrows
          .then((links) => {
            if (!isStale && links.length) chosen.value = { ...withExecutions, links };
          });
      },
      () => {}, // the wave cannot be read: it is marked without executions
    );
    return () => {
      isStale = true;
    };
  });
  return chosen;
}

interface SelectedRow {
  row: number;
  /** Which execution of the row is selected, from 0. */
  iteration: number | undefined;
  wave: Wave;
  data: WaveData;
  instructions: Layer;
  track: number;
}

function executionsOf({ row, iteration, wave, data, instructions, track }: SelectedRow) {
  const positions = positionsOf(data, row);
  const executions = positions.map((position) => intervalOf(data, position));
  const position = iteration === undefined ? undefined : positions[iteration];
  if (position === undefined) return { executions, focus: null, step: null };
  const item = wave.firstInstruction + position;
  const place = { layer: instructions, track, ...intervalOf(data, position) };
  const focus: Span = { ...place, kind: 0, count: 1, item, depth: 0, level: 0 };
  return { executions, focus, step: stepAt(data, position) };
}

/** The executions of what the pointer is over in another view, a row or a source line, in the target wave. */
export function usePreviewed(trackOf: Map<string, number>): ReadonlySignal<Previewed | null> {
  const previewed = useSignal<Previewed | null>(null);
  useSignalEffect(() => {
    const { row, lastRow, sourceLine, wave: number } = preview.value;
    const wave = waveNumbered(number) ?? targetWave();
    const track = wave ? trackOf.get(slotKey(wave)) : undefined;
    const isPointedAt = rowTest(row, lastRow, sourceLine);
    if (!isPointedAt || !wave || track === undefined) {
      previewed.value = null;
      return;
    }
    let isStale = false;
    loadWave(wave.wave).then(
      (data) => {
        if (!isStale) previewed.value = { track, executions: intervalsWhere(data, isPointedAt) };
      },
      () => {}, // the wave cannot be read: nothing is marked
    );
    return () => {
      isStale = true;
    };
  });
  return previewed;
}

/** Whether a row is one that the pointer is over in another view; null = it is over none. */
function rowTest(
  row: number | undefined,
  lastRow: number | undefined,
  sourceLine: SourceLine | undefined,
): ((row: number) => boolean) | null {
  if (row !== undefined) return (tested) => tested >= row && tested <= (lastRow ?? row);
  if (!sourceLine) return null;
  const rows = new Set(rowsOf(sourceLine).inlined);
  return (tested) => rows.has(tested);
}
