// Around the picture of a flame graph: pointer, wheel and keys, and the path to the frame that was zoomed to.
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { Canvas, type Paint } from "./canvas";
import { FlameInput, type FlameStage } from "./flame_input";
import "./flame_stage.css";

interface StageProps {
  stage: FlameStage;
  paint: Paint;
  canvas: { current: HTMLCanvasElement | null };
  label: string;
  /** What lies over the picture: the figures of the frame under the pointer. */
  children?: ComponentChildren;
}

export function Stage({ stage, paint, canvas, label, children }: StageProps) {
  const latest = useRef(stage);
  latest.current = stage;
  const input = useMemo(() => new FlameInput(latest), []);
  return (
    <div
      class="stage"
      role="application"
      tabIndex={0}
      aria-label="Flame graph: arrow keys move, Enter zooms, Escape shows everything"
      onKeyDown={input.onKeyDown}
    >
      <Canvas
        paint={paint}
        canvasRef={canvas}
        label={label}
        events={{
          onPointerDown: input.onPointerDown,
          onPointerMove: input.onPointerMove,
          onPointerLeave: input.onPointerLeave,
          onClick: input.onClick,
          onWheel: input.onWheel,
        }}
      />
      {children}
    </div>
  );
}

interface CrumbsProps {
  parents: ArrayLike<number>;
  nameOf: (frame: number) => string;
  titleOf: (frame: number) => string;
  focus: number;
  zoomTo: (frame: number) => void;
  isZoomed: boolean;
  children?: ComponentChildren;
}

export function Crumbs({ parents, nameOf, titleOf, focus, zoomTo, isZoomed, children }: CrumbsProps) {
  const path: number[] = [];
  for (let frame = focus; frame >= 0; frame = parents[frame] ?? -1) path.unshift(frame);
  return (
    <div class="crumbs">
      {path.map((frame, at) => (
        <span key={frame}>
          {at ? " › " : ""}
          <button type="button" title={titleOf(frame)} onClick={() => zoomTo(frame)}>
            {nameOf(frame)}
          </button>
        </span>
      ))}
      {isZoomed ? (
        <button type="button" class="reset" title="Show everything (double click)" onClick={() => zoomTo(0)}>
          [reset]
        </button>
      ) : (
        " · click a frame to zoom into it and select it, wheel to zoom, Shift and wheel to scroll"
      )}
      {children}
    </div>
  );
}

/** Where a tip stands: on the side of the pointer that has more room. */
export function besidePointer({ x, y }: { x: number; y: number }, size: HTMLElement | null): Record<string, string> {
  const isRight = x > (size?.clientWidth ?? 0) / 2;
  const isLow = y > (size?.clientHeight ?? 0) / 2;
  return {
    [isRight ? "right" : "left"]: `${(isRight ? (size?.clientWidth ?? 0) - x : x) + 12}px`,
    [isLow ? "bottom" : "top"]: `${(isLow ? (size?.clientHeight ?? 0) - y : y) + 14}px`,
  };
}
