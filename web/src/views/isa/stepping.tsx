// From one execution of the selected instruction to the next, and from one iteration of its loop to the next.
import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { isForPage } from "../../base/keys";
import { revealExecution } from "../../model/code";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { iterationAt, iterationsOf, loopAround, loopsNow, showIteration } from "../../model/loops";
import { selection } from "../../model/selection";
import { shown } from "../../model/timewindow";
import { timesOf, type WaveData } from "../../model/wave_data";
import { targetWave } from "../../model/waves";

export function Stepping({ data }: { data: WaveData | null }) {
  const row = selection.value.row;
  const times = useMemo(() => (data && row !== undefined ? timesOf(data, row) : []), [data, row]);
  const number = Math.min(selection.value.iteration ?? 0, Math.max(0, times.length - 1));
  const step = (to: number) => {
    if (data && row !== undefined && to >= 0 && to < times.length) void revealExecution(data.wave, row, to);
  };

  const loop = loopAround(loopsNow(), row);
  const wave = useComputed(() => targetWave()?.wave);
  const hasLoops = loopsNow().length > 0;
  const answer = useAnswer(wave.value === undefined || !loop ? null : iterationsOf(current.value, wave.value));
  const all = answer.value.state === "ready" ? answer.value.value : [];
  const iterations = loop ? all.filter((iteration) => iteration.loop === loop.loop) : [];
  const time = times[number] ?? (shown.value.begin + shown.value.end) / 2;
  const inLoop = iterationAt(iterations, time);
  const stepLoop = (to: number) => {
    const next = iterations[to];
    if (loop && next && data) void showIteration(data.wave, loop, next);
  };

  useEffect(() => {
    const moves: Record<string, () => void> = {
      "[": () => step(number - 1),
      "]": () => step(number + 1),
      "{": () => stepLoop(inLoop - 1),
      "}": () => stepLoop(inLoop + 1),
    };
    const listen = (event: KeyboardEvent) => {
      if (!isForPage(event)) return;
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      move();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });

  // The place is kept while nothing is selected: the listing does not move when something is.
  const isShown = data !== null && row !== undefined;
  return (
    <span class="group" style={{ visibility: isShown ? undefined : "hidden" }}>
      <span class="stepper" title="Executions of the selected instruction in the target wave; keys [ and ]">
        <span>exec.</span>
        <button type="button" data-step="back" disabled={number <= 0} onClick={() => step(number - 1)}>
          ‹
        </button>
        <input
          type="number"
          min={1}
          max={Math.max(1, times.length)}
          aria-label="Number of the execution"
          value={times.length ? number + 1 : ""}
          disabled={!times.length}
          onChange={(event) => step(Number(event.currentTarget.value) - 1)}
        />
        <button type="button" data-step="on" disabled={number + 1 >= times.length} onClick={() => step(number + 1)}>
          ›
        </button>
        <output data-executions>
          {times.length ? `${exact(number + 1)} of ${exact(times.length)}` : isShown ? "not in this wave" : ""}
        </output>
      </span>
      {hasLoops ? (
        <span
          class="stepper"
          style={{ visibility: isShown && iterations.length ? undefined : "hidden" }}
          title="Iterations of the innermost loop around it in the target wave; keys { and }; the timelines show exactly one"
        >
          <span>loop</span>
          <button type="button" data-loop-step="back" disabled={inLoop <= 0} onClick={() => stepLoop(inLoop - 1)}>
            «
          </button>
          <output data-iterations>
            {inLoop < 0 ? "–" : exact(inLoop + 1)} of {exact(iterations.length)}
          </output>
          <button
            type="button"
            data-loop-step="on"
            disabled={inLoop + 1 >= iterations.length}
            onClick={() => stepLoop(inLoop + 1)}
          >
            »
          </button>
        </span>
      ) : null}
    </span>
  );
}
