// Flags: named moments that stand on the axis and through all tracks.
import type { Frame } from "./frame";
import { letterWidth, type Painter } from "./painter";
import { inkOn, seriesColour } from "./palette";

export interface PlacedFlag {
  id: string;
  time: number;
  text: string;
  colour: number;
}

/** Height of a flag in pixels, and the letters that stand on it at most. */
const TALL = 13;
const LONGEST = 16;

/** The text that stands on a flag. */
const written = (text: string) => {
  const line = text.split("\n")[0] ?? "";
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
};
const width = (text: string) => written(text).length * letterWidth() + 8;

/** Lines through the tracks of a part of the picture. */
export function paintFlagLines(painter: Painter, frame: Frame, flags: readonly PlacedFlag[]): void {
  const { gutter, top, height, width: right } = frame.parts;
  for (const { time, colour } of flags) {
    const x = Math.round(frame.timeToX(time)) + 0.5;
    if (x >= gutter && x <= right) painter.polyline([x, top, x, height], seriesColour(colour), 1.5);
  }
}

/** The flags themselves, on the axis. */
export function paintFlags(painter: Painter, frame: Frame, flags: readonly PlacedFlag[], axisY: number): void {
  const { gutter } = frame.parts;
  painter.clipped(gutter, axisY, frame.plotWidth, TALL + 20, () => {
    for (const { time, text, colour } of flags) {
      const x = Math.round(frame.timeToX(time));
      const ground = seriesColour(colour);
      painter.rect(x, axisY, 2, TALL + 20, ground);
      painter.rect(x, axisY + 1, width(text), TALL, ground);
      painter.text(x + 4, axisY + 1 + TALL / 2, written(text), inkOn(ground), { size: 11 });
    }
  });
}

/** The flag at a point of the axis: the one that is drawn last lies on top. */
export function flagAt(frame: Frame, flags: readonly PlacedFlag[], x: number): PlacedFlag | null {
  return (
    flags.findLast(({ time, text }) => {
      const from = frame.timeToX(time);
      return x >= from - 2 && x <= from + width(text);
    }) ?? null
  );
}
