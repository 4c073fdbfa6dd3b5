// Around the picture: the path to the frame that was zoomed to, and the figures of the frame under the pointer.
import { exact, percent } from "../../base/format";
import { codeNow } from "../../model/code";
import { isSampled } from "../../model/source";
import { type Frames, shownName } from "./frames";

export function Crumbs(props: { frames: Frames; focus: number; zoomTo: (frame: number) => void; isZoomed: boolean }) {
  const { frames, focus, zoomTo, isZoomed } = props;
  const path: number[] = [];
  for (let frame = focus; frame >= 0; frame = frames.parents[frame] ?? -1) path.unshift(frame);
  return (
    <div class="crumbs">
      {path.map((frame, at) => (
        <span key={frame}>
          {at ? " › " : ""}
          <button type="button" title={frames.names[frame]} onClick={() => zoomTo(frame)}>
            {shownName(frames, frame)}
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
    </div>
  );
}

interface TipProps {
  frames: Frames;
  weights: Float64Array;
  over: { frame: number; x: number; y: number };
  size: HTMLCanvasElement | null;
}

export function Tip({ frames, weights, over, size }: TipProps) {
  const { frame, x, y } = over;
  const { latency, idle, exposedLatency, exposedIdle, stall, hits, samples } = frames.measures;
  const of = (values: ArrayLike<number>) => values[frame] ?? 0;
  const cycles = of(latency) + of(idle);
  const exposed = of(exposedLatency) + of(exposedIdle);
  const isRight = x > (size?.clientWidth ?? 0) / 2;
  const isLow = y > (size?.clientHeight ?? 0) / 2;
  const place = {
    [isRight ? "right" : "left"]: `${(isRight ? (size?.clientWidth ?? 0) - x : x) + 12}px`,
    [isLow ? "bottom" : "top"]: `${(isLow ? (size?.clientHeight ?? 0) - y : y) + 14}px`,
  };
  const row = frames.kinds[frame] === "instruction" ? frames.rows[frame] : undefined;
  return (
    <div class="tip" style={place}>
      <b>{frames.names[frame]}</b>
      {row === undefined ? null : <div>{codeNow()?.address[row]}</div>}
      {isSampled.value ? (
        <div>
          {exact(of(samples))} samples, {percent((weights[frame] ?? 0) / (weights[0] ?? 1))} of all
        </div>
      ) : (
        <>
          <div data-column="cycles">
            {exact(cycles)} cycles, {percent(cycles / ((latency[0] ?? 0) + (idle[0] ?? 0)))} of all
          </div>
          <div>
            latency {exact(of(latency))} (stall {exact(of(stall))}), idle {exact(of(idle))}, hits {exact(of(hits))}
          </div>
          {exposed ? (
            <div>
              not hidden {exact(exposed)}, hidden {percent(cycles ? 1 - exposed / cycles : null)}
            </div>
          ) : null}
        </>
      )}
    </div>
  );
}
