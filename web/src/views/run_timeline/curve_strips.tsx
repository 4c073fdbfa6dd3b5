// Curves below the timeline, on its axis of time: memory, power, clocks, and whatever else was sampled.
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { ChartFrame, paintAxes, paintBand, paintCurve, paintLine, type ValueRange } from "../../draw/curves";
import type { Painter } from "../../draw/painter";
import { paper, seriesColour } from "../../draw/palette";
import { type CurveSet, CurveTiles, cursor, curvesOf } from "../../model/curves";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { type Range, selection } from "../../model/selection";
import { bounds, shown } from "../../model/timewindow";
import { Canvas, type Size } from "../../widgets/canvas";
import { wholeRange } from "../../widgets/curve_chart";
import { chartEvents } from "../../widgets/curve_input";

/** One quantity of a set of curves: of each GPU or process a line. */
interface Strip {
  name: string;
  set: CurveSet;
  lines: number[];
}

const TITLES: Record<string, string> = { busy: "GPUs busy", memory: "memory", copying: "copies" };
/** Shown at first, where it was sampled. */
const POWER = /power/i;
const MOST_STRIPS = 4;
const LINE = 13;
const LEFT_OF_TICKS = 36;

export interface Strips {
  all: Strip[];
  /** Names of those that are shown. */
  names: readonly string[];
  choose: (names: readonly string[]) => void;
}

export function useStrips(): Strips {
  const answer = useAnswer(curvesOf(current.value));
  const sets = answer.value.state === "ready" ? answer.value.value : null;
  const all = useMemo(() => (sets ?? []).flatMap(stripsOf), [sets]);
  const chosen = useSignal<readonly string[] | null>(null);
  const first = all.find((strip) => strip.set.name === "monitors" && POWER.test(strip.name));
  const choose = (names: readonly string[]) => {
    chosen.value = names;
  };
  return { all, names: chosen.value ?? (first ? [first.name] : []), choose };
}

export function StripChooser({ strips: { all, names, choose } }: { strips: Strips }) {
  if (names.length >= Math.min(MOST_STRIPS, all.length)) return null;
  return (
    <select
      aria-label="Curves below the timeline"
      data-choose="strip"
      value=""
      onChange={(change) => {
        const { value } = change.currentTarget;
        if (value) choose([...names, value]);
        change.currentTarget.value = "";
      }}
    >
      <option value="">add a curve</option>
      {all
        .filter((strip) => !names.includes(strip.name))
        .map((strip) => (
          <option key={strip.name} value={strip.name}>
            {strip.name}
          </option>
        ))}
    </select>
  );
}

export function CurveStrips({ strips, gutter }: { strips: Strips; gutter: ReadonlySignal<number> }) {
  const { all, names, choose } = strips;
  return (
    <>
      {names.map((name) => {
        const strip = all.find((each) => each.name === name);
        const close = () => choose(names.filter((other) => other !== name));
        return strip ? <StripChart key={name} strip={strip} gutter={gutter} onClose={close} /> : null;
      })}
    </>
  );
}

function stripsOf(set: CurveSet): Strip[] {
  const strips = new Map<string, Strip>();
  set.series.forEach((series, number) => {
    const name = TITLES[set.name] ?? String(series.keys.quantity || set.name);
    const strip = strips.get(name) ?? { name, set, lines: [] };
    strip.lines.push(number);
    strips.set(name, strip);
  });
  return [...strips.values()];
}

interface Props {
  strip: Strip;
  gutter: ReadonlySignal<number>;
  onClose: () => void;
}

function StripChart({ strip, gutter, onClose }: Props) {
  const { set, lines, name } = strip;
  const tiles = useMemo(() => new CurveTiles(set), [set]);
  const values = useSignal<ValueRange | null>(null);
  const measuring = useSignal<Range | null>(null);
  const frame = useRef<ChartFrame | null>(null);
  const events = useMemo(() => chartEvents({ frame, values, measuring }), [tiles]);
  const paint = (painter: Painter, { width, height }: Size) => {
    const range = values.value ?? wholeRange(tiles, lines, set.name !== "monitors");
    const drawn = new ChartFrame(shown.value, range, width, height, null, "ns", gutter.value, 0);
    frame.current = drawn;
    paintAxes(painter, drawn, bounds.value.begin, set.unit);
    const parts = tiles.inWindow(shown.value, drawn.plotWidth);
    painter.clipped(drawn.left, drawn.top - 2, drawn.plotWidth, drawn.plotHeight + 3, () => {
      const marked = measuring.value ?? selection.value.range;
      if (marked) paintBand(painter, drawn, marked, paper("accent"));
      lines.forEach((number, n) => {
        paintCurve(painter, drawn, parts, number, seriesColour(n));
      });
      if (cursor.value !== null) paintLine(painter, drawn, cursor.value, paper("text"), [2, 3]);
    });
    paintNames(painter, strip, drawn);
  };
  return (
    <div class="curve-strip" data-strip={name}>
      <Canvas paint={paint} label={name} events={events} />
      <button type="button" class="quiet strip-close" aria-label={`Close ${name}`} onClick={onClose}>
        ×
      </button>
    </div>
  );
}

/** The quantity and its lines, left of the values. */
function paintNames(painter: Painter, { name, set, lines }: Strip, frame: ChartFrame): void {
  const room = Math.max(0, frame.left - LEFT_OF_TICKS);
  const maxWidth = room - 24;
  painter.text(20, frame.top + 3, name, paper("text"), { maxWidth });
  const fit = Math.floor((frame.bottom - frame.top) / LINE) - 1;
  const cut = lines.length > fit ? fit - 1 : lines.length;
  lines.slice(0, cut).forEach((number, n) => {
    const y = frame.top + 3 + (n + 1) * LINE;
    const label = (set.series[number]?.label ?? "").replace(name, "").trim();
    painter.rect(10, y - 4, 7, 7, seriesColour(n));
    painter.text(20, y, label || name, paper("faint"), { maxWidth });
  });
  if (cut < lines.length) {
    painter.text(20, frame.top + 3 + (cut + 1) * LINE, `and ${lines.length - cut} more`, paper("faint"), { maxWidth });
  }
}
