// What is marked in the overlay: in both traces the selected wave, the executions of the selected row in it, and one of them.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Frame } from "../../draw/frame";
import { outline } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { paper } from "../../draw/palette";
import type { Layer } from "../../model/layers";
import { type Range, selection } from "../../model/selection";
import { slotKey, slotOf } from "../../model/slots";
import { intervalsWhere, loadWave } from "../../model/wave_data";
import type { Wave } from "../../model/waves";

/** The marks of one trace: the track and the life of its wave, the executions of its row. */
export interface Mark {
  layer: Layer;
  track: number;
  life: Range;
  executions: Range[];
  /** The selected one of them, else the first; null = there are none. */
  focus: Range | null;
}

/** What is selected in one of both traces; undefined = it has no such thing. */
export interface Side {
  document: number;
  wave: Wave | undefined;
  layer: Layer | undefined;
  /** Cycles that move its times onto the common axis. */
  shift: number;
  row: number | undefined;
}

/** The marks of both sides, once the instructions of their waves are loaded. */
export function useMarks(sides: Side[]): Mark[] {
  const marks = useSignal<Mark[]>([]);
  const { iteration } = selection.value;
  useEffect(() => {
    let isStale = false;
    Promise.all(sides.map((side) => markOf(side, iteration))).then((all) => {
      if (!isStale) marks.value = all.filter((mark) => mark !== null);
    });
    return () => {
      isStale = true;
    };
  }, [iteration, ...sides.flatMap(({ wave, layer, shift, row }) => [wave, layer, shift, row])]);
  return marks.value;
}

/** Pixels of the line that marks an execution. */
const EXECUTION_HEIGHT = 3;

/** Outlines the lives of waves; executions get a line at the foot of the track, but only where they can be told apart. */
export function paintMarked(painter: Painter, frame: Frame, marks: Mark[]): void {
  for (const mark of marks) {
    const place = frame.trackToY(mark.layer, mark.track);
    if (!place) continue;
    outline(painter, frame, { place, range: mark.life, colour: `${paper("accent")}80`, width: 1 });
    let last = Number.NEGATIVE_INFINITY;
    for (const execution of mark.executions) {
      const x = frame.timeToX(execution.begin);
      const isVisible = execution.end >= frame.window.begin && execution.begin <= frame.window.end;
      if (!isVisible || x - last < 1) continue;
      last = x;
      outline(painter, frame, {
        place: { y: place.y + place.height - EXECUTION_HEIGHT, height: EXECUTION_HEIGHT },
        range: execution,
        colour: paper("text"),
        width: 1,
      });
    }
    if (mark.focus) outline(painter, frame, { place, range: mark.focus, colour: paper("text") });
  }
}

async function markOf({ document, wave, layer, shift, row }: Side, iteration?: number): Promise<Mark | null> {
  const track = wave && layer?.tracks.find((candidate) => slotKey(slotOf(candidate)) === slotKey(wave));
  if (!wave || !layer || !track) return null;
  const mark: Mark = {
    layer,
    track: track.track,
    life: { begin: wave.begin + shift, end: wave.end + shift },
    executions: [],
    focus: null,
  };
  if (row === undefined) return mark;
  const data = await loadWave(wave.wave, document).catch(() => null); // not in an exported page
  if (!data) return mark;
  const intervals = intervalsWhere(data, (executed) => executed === row);
  const executions = intervals.map(({ begin, end }) => ({ begin: begin + shift, end: end + shift }));
  return { ...mark, executions, focus: executions[iteration ?? 0] ?? null };
}
