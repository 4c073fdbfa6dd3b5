// What is selected, and what the pointer is over in other views, as executions on the tracks of the compute unit.
import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { rowsOf } from "../../model/code";
import type { Layer, Span } from "../../model/layers";
import { type Link, linksOf, type Step, stepAt } from "../../model/producers";
import { preview, type Range, type SourceLine, selection } from "../../model/selection";
import { slotKey, waveNumbered } from "../../model/slots";
import { loadWave, positionsOf, stretchesWhere, stretchOf, type WaveData } from "../../model/wave_data";
import { targetWave, type Wave } from "../../model/waves";

/** The executions of the selected row in the selected wave, and the one that is selected. */
export interface Chosen {
  wave: Wave;
  track: number;
  executions: Range[];
  focus: Span | null;
  at: Step | null;
  /** What it waited for, or what waited for it. */
  links: Link[];
}

const NOTHING = { executions: [], focus: null, at: null, links: [] };

/** Executions that other views point at, and their track. */
export interface Previewed {
  track: number;
  executions: Range[];
}

/** What is selected, with its executions in the target wave. */
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
    let isStale = false;
    chosen.value = { wave, track, ...NOTHING };
    if (row !== undefined) {
      loadWave(wave.wave).then(
        (data) => {
          if (isStale) return;
          const positions = positionsOf(data, row);
          const executions = positions.map((position) => stretchOf(data, position));
          const position = positions[iteration ?? -1];
          const focus = focusOf(instructions, track, wave, data, position);
          const at = position === undefined ? null : stepAt(data, position);
          chosen.value = { wave, track, executions, focus, at, links: [] };
          if (!at) return;
          void linksOf(wave.wave, at.position)
            .catch(() => []) // not in an exported page: no arrows
            .then((links) => {
              if (!isStale && links.length) chosen.value = { wave, track, executions, focus, at, links };
            });
        },
        () => {},
      );
    }
    return () => {
      isStale = true;
    };
  });
  return chosen;
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
        if (!isStale) previewed.value = { track, executions: stretchesWhere(data, isPointedAt) };
      },
      () => {},
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

function focusOf(layer: Layer, track: number, wave: Wave, data: WaveData, position: number | undefined): Span | null {
  if (position === undefined) return null;
  const item = wave.firstInstruction + position;
  return { layer, track, ...stretchOf(data, position), kind: 0, count: 1, item, depth: 0, level: 0 };
}
