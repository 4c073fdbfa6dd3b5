// What is marked on the tracks of the compute unit: annotations, what is selected, and what the pointer is over elsewhere.
import type { Frame } from "../../draw/frame";
import { outline } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { type ArrowEnd, paintWaitArrows } from "../../draw/wait_arrows";
import { annotations, colourNumber, waveOf } from "../../model/annotations";
import type { Layer } from "../../model/layers";
import { preview, type Range } from "../../model/selection";
import { slotKey, waveNumbered } from "../../model/slots";
import type { Wave } from "../../model/waves";
import type { Chosen, Previewed } from "./chosen";

interface Marked {
  instructions: Layer;
  trackOf: Map<string, number>;
  chosen: Chosen | null;
  previewed: Previewed | null;
}

/** Paints all marks; returns where arrows of the selected execution end, to be clicked. */
export function paintMarks(painter: Painter, frame: Frame, marked: Marked): ArrowEnd[] {
  paintNotes(painter, frame, marked);
  const ends = paintChosen(painter, frame, marked);
  paintPreviewed(painter, frame, marked);
  return ends;
}

/** Frames around the intervals of annotations. */
function paintNotes(painter: Painter, frame: Frame, marked: Marked): void {
  for (const note of annotations.value) {
    const place = placeOf(waveOf(note), frame, marked);
    if (place && note.range)
      outline(painter, frame, { place, range: note.range, colour: seriesColour(colourNumber(note)) });
  }
}

/** The life of the selected wave, a line at the foot of its track for each execution, and arrows of the selected one. */
function paintChosen(painter: Painter, frame: Frame, { instructions, chosen }: Marked): ArrowEnd[] {
  const place = chosen && frame.trackToY(instructions, chosen.track);
  if (!place) return [];
  outline(painter, frame, { place, range: chosen.wave, colour: paper("accent") });
  const foot = place.y + place.height - EXECUTION_HEIGHT;
  paintExecutions(painter, frame, chosen.executions, { y: foot, colour: paper("text") });
  if (!chosen.step || !chosen.links.length) return [];
  const { links, step: from } = chosen;
  return paintWaitArrows(painter, frame, { place, links, from, colour: colourOf("arrow") });
}

/** What the pointer is over in another view: a line at the head of the track for each execution, the life of a wave. */
function paintPreviewed(painter: Painter, frame: Frame, marked: Marked): void {
  const { instructions, chosen, previewed } = marked;
  const pointedAt = previewed && frame.trackToY(instructions, previewed.track);
  if (pointedAt) {
    paintExecutions(painter, frame, previewed.executions, { y: pointedAt.y + 1, colour: paper("accent") });
  }
  const wave = waveNumbered(preview.value.wave);
  const place = placeOf(wave, frame, marked);
  if (wave && place && wave !== chosen?.wave)
    outline(painter, frame, { place, range: wave, colour: `${paper("accent")}80`, width: 1 });
}

function placeOf(wave: Wave | undefined, frame: Frame, { instructions, trackOf }: Marked) {
  const track = wave && trackOf.get(slotKey(wave));
  return track === undefined ? null : frame.trackToY(instructions, track);
}

/** Pixels of the line that marks an execution. */
const EXECUTION_HEIGHT = 3;

interface LineLook {
  y: number;
  colour: string;
}

function paintExecutions(painter: Painter, frame: Frame, executions: Range[], { y, colour }: LineLook): void {
  let last = Number.NEGATIVE_INFINITY;
  for (const execution of executions) {
    if (execution.end < frame.window.begin || execution.begin > frame.window.end) continue;
    const x = frame.timeToX(execution.begin);
    // Far out, many of them share a pixel.
    if (x - last < 1) continue;
    last = x;
    outline(painter, frame, { place: { y, height: EXECUTION_HEIGHT }, range: execution, colour, width: 1 });
  }
}
