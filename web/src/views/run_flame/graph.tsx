// One flame graph of a run: any layout, any weights; zoom, search, keys and the figures of a frame.
import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { nanoseconds, percent } from "../../base/format";
import type { Matcher } from "../../base/matcher";
import { FLAME_ROW, type FlameLayout, type FlameWindow, matchedWeight, paintFlame, windowOf } from "../../draw/flame";
import { colourOf, nameColour, paper } from "../../draw/palette";
import { preview } from "../../model/selection";
import type { Paint, Size } from "../../widgets/canvas";
import type { FlameStage } from "../../widgets/flame_input";
import { besidePointer, Crumbs, Stage } from "../../widgets/flame_stage";

/** Frames as arrays; the first is the whole. */
export interface RunFrames {
  /** Of each frame the one around it; of the first -1. */
  parents: ArrayLike<number>;
  names: string[];
  /** What a frame is: "all" = the whole, "smaller" = what was left out together, else the domain of a call or of GPU work. */
  kinds: string[];
  /** Lines of the tip of a frame. */
  facts: (frame: number) => string[];
}

interface Props {
  frames: RunFrames;
  weights: ArrayLike<number>;
  layout: FlameLayout;
  rootAt: "top" | "bottom";
  label: string;
  query: Matcher;
  isSearching: boolean;
  /** A frame was chosen: it is zoomed to anyway. */
  onChoose?: (frame: number) => void;
  /** What is on screen, as shares of the whole, whenever it changes. */
  onWindow?: (window: FlameWindow) => void;
  /** Between the path to the frame and the picture. */
  above?: ComponentChildren;
  /** Beside the path to the frame. */
  more?: (frame: number) => ComponentChildren;
  handle?: PictureHandle;
}

/** The drawing of a graph, for saving. */
export class PictureHandle {
  paint: Paint = () => {};
  size: () => Size = () => ({ width: 900, height: 300 });
}

const START = { begin: 0, end: 1, scroll: 0 };

/** The frame that the pointer is over, and where on the canvas. */
interface PointedFrame {
  frame: number;
  x: number;
  y: number;
}

export function Graph(props: Props) {
  const { frames, weights, layout, label, query, isSearching, handle } = props;
  const zoom = useZoom(props);
  const over = useSignal<PointedFrame | null>(null);
  const canvas = useRef<HTMLCanvasElement | null>(null);
  useEffect(() => {
    over.value = null;
  }, [frames]);
  const paint: Paint = (painter, size) => {
    painter.rect(0, 0, size.width, size.height, paper("background"));
    const isFaint = (frame: number) => isSearching && !query.test(frames.names[frame] ?? "");
    paintFlame(
      painter,
      size,
      { layout, window: zoom.shownWindow() },
      {
        label: (frame) => `${frames.names[frame] ?? ""}  ${nanoseconds(weights[frame] ?? 0)}`,
        fill: (frame) => (isFaint(frame) ? paper("line") : colourOfFrame(frames, frame)),
        outlined: [
          { frame: zoom.cursor.value || -1, colour: paper("text") },
          { frame: over.value?.frame ?? -1, colour: paper("accent") },
        ],
      },
    );
  };
  if (handle) {
    handle.paint = paint;
    handle.size = () => ({
      width: canvas.current?.clientWidth ?? 900,
      height: Math.max(layout.deepest * FLAME_ROW, 60),
    });
  }
  return (
    <>
      <Crumbs
        parents={frames.parents}
        nameOf={(frame) => frames.names[frame] ?? ""}
        titleOf={(frame) => frames.names[frame] ?? ""}
        focus={zoom.focus.value}
        zoomTo={zoom.zoomTo}
        isZoomed={zoom.window.value.begin > 0 || zoom.window.value.end < 1}
      >
        {props.more?.(zoom.focus.value)}
      </Crumbs>
      {props.above}
      <Stage stage={stageOf(props, zoom, { over, canvas })} paint={paint} canvas={canvas} label={label}>
        <Facts frame={over.value?.frame ?? zoom.cursor.value} frames={frames} weights={weights} />
        {over.value ? <Tip {...{ frames, weights }} over={over.value} canvas={canvas.current} /> : null}
      </Stage>
    </>
  );
}

/** The part of the graph on screen, the frame that fills its width (`focus`), and the one that keys go on from (`cursor`). */
function useZoom({ frames, layout, rootAt, onWindow }: Props) {
  const window = useSignal<FlameWindow>({ ...START, rootAt });
  const focus = useSignal(0);
  const cursor = useSignal(0);
  const shownWindow = (): FlameWindow => ({ ...window.value, rootAt });
  const put = (next: FlameWindow) => {
    window.value = next;
    onWindow?.(next);
  };
  const zoomTo = (frame: number) => {
    focus.value = frame;
    put(windowOf(layout, frame, shownWindow()));
  };
  // The window stays when other frames come: in the order of time they are the same ones, asked for more closely.
  useEffect(() => {
    const count = frames.names.length;
    if (focus.value >= count) focus.value = 0;
    if (cursor.value >= count) cursor.value = 0;
  }, [frames]);
  return { window, focus, cursor, shownWindow, put, zoomTo };
}

interface Screen {
  over: Signal<PointedFrame | null>;
  canvas: { current: HTMLCanvasElement | null };
}

/** What pointer and keys do to the graph. */
function stageOf(
  { frames, weights, layout, onChoose }: Props,
  { cursor, shownWindow, put, zoomTo }: ReturnType<typeof useZoom>,
  { over, canvas }: Screen,
): FlameStage {
  return {
    layout: () => layout,
    window: shownWindow,
    show: put,
    size: () => ({ width: canvas.current?.clientWidth ?? 1, height: canvas.current?.clientHeight ?? 1 }),
    cursor: () => cursor.value,
    children: (frame) => (layout.children[frame] ?? []).filter((child) => (weights[child] ?? 0) > 0),
    parent: (frame) => Math.max(0, frames.parents[frame] ?? 0),
    hover: (frame, x, y) => {
      over.value = frame < 0 ? null : { frame, x, y };
      preview.value = frames.kinds[frame] === "KERNEL" ? { kernelName: frames.names[frame] } : {};
    },
    choose: (frame) => {
      cursor.value = frame;
      zoomTo(frame);
      onChoose?.(frame);
    },
    step: (frame) => {
      cursor.value = frame;
      over.value = null;
    },
    reset: () => zoomTo(0),
  };
}

interface TipProps {
  frames: RunFrames;
  weights: ArrayLike<number>;
  over: PointedFrame;
  canvas: HTMLCanvasElement | null;
}

/** What the pointer is over. */
function Tip({ frames, weights, over, canvas }: TipProps) {
  const weight = weights[over.frame] ?? 0;
  return (
    <div class="tip" style={besidePointer(over, canvas)}>
      <b>{frames.names[over.frame]}</b>
      <div data-column="weight">
        {nanoseconds(weight)}, {percent(weight / (weights[0] ?? 0))} of all
      </div>
      {frames.facts(over.frame).map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}

/** The frame that keys have reached, for those who cannot see the picture. */
function Facts({ frame, frames, weights }: { frame: number; frames: RunFrames; weights: ArrayLike<number> }) {
  return (
    <p class="run-flame-spoken" role="status" data-frame={frame}>
      {frames.names[frame]}, {nanoseconds(weights[frame] ?? 0)}, {percent((weights[frame] ?? 0) / (weights[0] || 1))}
    </p>
  );
}

/** How much of the whole is in frames that match. */
export function useMatches(
  frames: RunFrames,
  weights: ArrayLike<number>,
  query: ReadonlySignal<Matcher>,
): { weight: number; count: number } {
  return useMemo(() => {
    const matches = (frame: number) => frame > 0 && query.value.test(frames.names[frame] ?? "");
    return matchedWeight(frames, weights, matches);
  }, [frames, weights, query.value]);
}

function colourOfFrame(frames: RunFrames, frame: number): string {
  const kind = frames.kinds[frame];
  if (kind === "all") return paper("faint");
  return kind === "smaller" ? colourOf("NONE") : nameColour(frames.names[frame] ?? "");
}
