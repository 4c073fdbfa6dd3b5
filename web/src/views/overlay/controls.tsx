// What both overlays, of traces and of runs, have in common: the choice of alignment, how rows of the two sides differ,
// and the bounds of the time axis.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { exact, nanoseconds } from "../../base/format";
import type { Frame } from "../../draw/frame";
import type { Painter } from "../../draw/painter";
import { paper } from "../../draw/palette";
import { isBase } from "../../model/paired_layers";
import type { Range } from "../../model/selection";
import { bounds, firstWindow, show, shown } from "../../model/timewindow";
import type { Aligned } from "./alignment";
import "./overlay.css";

interface Props<W extends string> {
  /** Way of aligning -> its name. */
  ways: Record<W, string>;
  way: Signal<W>;
  aligned: Aligned;
  unit: "cycles" | "ns";
  /** Fields that the chosen way has beside it. */
  more?: ComponentChildren;
}

export function Alignment<W extends string>({ ways, way, aligned, unit, more }: Props<W>) {
  return (
    <>
      <label>
        aligned by{" "}
        <select
          aria-label="Aligned by"
          value={way.value}
          onChange={(event) => (way.value = event.currentTarget.value as W)}
        >
          {(Object.keys(ways) as W[]).map((name) => (
            <option key={name} value={name}>
              {ways[name]}
            </option>
          ))}
        </select>
      </label>
      {more}
      {"offset" in aligned ? (
        <output
          data-offset={aligned.offset}
          title={`At ${exact(aligned.own)} here, at ${exact(aligned.base)} in the baseline (${unit})`}
        >
          before moved by {signed(aligned.offset, unit)}
        </output>
      ) : (
        <output data-why>not aligned: {aligned.why}</output>
      )}
    </>
  );
}

function signed(offset: number, unit: "cycles" | "ns"): string {
  const amount = unit === "ns" ? nanoseconds(Math.abs(offset)) : `${exact(Math.abs(offset))} cycles`;
  return `${offset < 0 ? "-" : "+"}${amount}`;
}

/** Pixels of the edge at the left of a row. */
const EDGE = 4;

/** Rows of the baseline are paler, and both sides have an edge of their colour. */
export function paintSides(painter: Painter, frame: Frame): void {
  const { gutter, top: plotTop, height } = frame.parts;
  painter.clipped(gutter, plotTop, frame.plotWidth, Math.max(0, height - plotTop), () => {
    for (const { row, y, height: tall } of frame.visibleRows()) {
      const isBefore = row.strips.every(({ layer }) => isBase(layer));
      const top = frame.toScreen(y);
      if (isBefore) painter.rect(gutter, top, frame.plotWidth, tall, `${paper("background")}60`);
      painter.rect(gutter, top, EDGE, tall, paper(isBefore ? "faint" : "accent"));
    }
  });
}

/** What the edges of the rows mean. */
export function SideLegend() {
  return (
    <span class="side-legend">
      <i class="before" /> before, paler <i class="after" /> after
    </span>
  );
}

/** While two documents are on screen the time reaches as far as both do: `begin` and `end` are those of the baseline. */
export function useBounds({ begin, end }: Range): void {
  useEffect(() => {
    const ownBounds = bounds.peek();
    const [first, now] = [firstWindow.peek(), shown.peek()];
    const reaching = (range: Range) => ({ begin: Math.min(range.begin, begin), end: Math.max(range.end, end) });
    if (end > begin) bounds.value = reaching(ownBounds);
    const isFirst = now.begin === first.begin && now.end === first.end; // nobody has zoomed yet
    if (isFirst) show(reaching(first));
    return () => {
      bounds.value = ownBounds;
      show(shown.peek()); // within those bounds again
    };
  }, [begin, end]);
}
