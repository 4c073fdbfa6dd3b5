// The figures of the frame under the pointer.
import { exact, percent } from "../../base/format";
import { codeNow } from "../../model/code";
import { isSampled } from "../../model/source";
import { besidePointer } from "../../widgets/flame_stage";
import type { Frames } from "./frames";

interface TipProps {
  frames: Frames;
  weights: Float64Array;
  over: { frame: number; x: number; y: number };
  size: HTMLCanvasElement | null;
}

export function Tip({ frames, weights, over, size }: TipProps) {
  const { frame } = over;
  const { latency, idle, exposedLatency, exposedIdle, stall, hits, samples } = frames.measures;
  const of = (values: ArrayLike<number>) => values[frame] ?? 0;
  const cycles = of(latency) + of(idle);
  const exposed = of(exposedLatency) + of(exposedIdle);
  const place = besidePointer(over, size);
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
