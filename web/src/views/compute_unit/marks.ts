// What is marked on the tracks of the compute unit.
import type { Frame } from "../../draw/frame";
import { outline } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { type ArrowEnd, paintWaitArrows } from "../../draw/wait_arrows";
import { annotations, colourNumber, waveOf } from "../../model/annotations";
import type { Layer } from "../../model/layers";
import type { Step } from "../../model/producers";
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

/** Notes, the selected wave with its executions and what it waited for, and what the pointer is over elsewhere: the ends of the arrows. */
export function paintMarks(painter: Painter, frame: Frame, marked: Marked): ArrowEnd[] {
  const { instructions, trackOf, chosen, previewed } = marked;
  const placeOf = (wave: Wave | undefined) => {
    const track = wave && trackOf.get(slotKey(wave));
    return track === undefined ? null : frame.trackToY(instructions, track);
  };
  const mark = (executions: Range[], y: number, colour: string) => {
    let last = Number.NEGATIVE_INFINITY;
    for (const execution of executions) {
      if (execution.end < frame.window.begin || execution.begin > frame.window.end) continue;
      const x = frame.timeToX(execution.begin);
      // Far out, many of them share a pixel.
      if (x - last < 1) continue;
      last = x;
      outline(painter, frame, { y, height: 3 }, execution, colour, 1);
    }
  };
  for (const each of annotations.value) {
    const box = placeOf(waveOf(each));
    if (box && each.range) outline(painter, frame, box, each.range, seriesColour(colourNumber(each)), 2);
  }
  const place = chosen && frame.trackToY(instructions, chosen.track);
  if (place) {
    outline(painter, frame, place, chosen.wave, paper("accent"));
    mark(chosen.executions, place.y + place.height - 3, paper("text"));
  }
  const isLinked = chosen?.at && place && chosen.links.length;
  const ends = isLinked
    ? paintWaitArrows(painter, frame, place, chosen.links, chosen.at as Step, colourOf("arrow"))
    : [];
  const pointedAt = previewed && frame.trackToY(instructions, previewed.track);
  if (pointedAt) mark(previewed.executions, pointedAt.y + 1, paper("accent"));
  const other = waveNumbered(preview.value.wave);
  const seen = placeOf(other);
  if (other && seen && other !== chosen?.wave) outline(painter, frame, seen, other, `${paper("accent")}80`, 1);
  return ends;
}
