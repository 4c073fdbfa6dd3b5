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

/** One thing after the other: which one is looked at (from 0; -1 = none), how many there are, and going to another one. */
interface Steps {
  number: number;
  count: number;
  /** Nothing happens where there is no such one. */
  goTo: (number: number) => void;
}

/** The executions of the selected instruction in the target wave, and the times at which they happened. */
function useExecutions(data: WaveData | null): Steps & { times: number[] } {
  const row = selection.value.row;
  const times = useMemo(() => (data && row !== undefined ? timesOf(data, row) : []), [data, row]);
  const number = Math.min(selection.value.iteration ?? 0, Math.max(0, times.length - 1));
  const goTo = (to: number) => {
    if (data && row !== undefined && to >= 0 && to < times.length) void revealExecution(data.wave, row, to);
  };
  return { number, count: times.length, goTo, times };
}

/** The iterations of the innermost loop around the selected instruction; the one in which `time` lies. */
function useIterations(data: WaveData | null, time: number): Steps {
  const loop = loopAround(loopsNow(), selection.value.row);
  const wave = useComputed(() => targetWave()?.wave);
  const answer = useAnswer(wave.value === undefined || !loop ? null : iterationsOf(current.value, wave.value));
  const all = answer.value.state === "ready" ? answer.value.value : [];
  const iterations = loop ? all.filter((iteration) => iteration.loop === loop.loop) : [];
  const goTo = (to: number) => {
    const next = iterations[to];
    if (loop && next && data) void showIteration(data.wave, loop, next);
  };
  return { number: iterationAt(iterations, time), count: iterations.length, goTo };
}

export function Stepping({ data }: { data: WaveData | null }) {
  const executions = useExecutions(data);
  const time = executions.times[executions.number] ?? (shown.value.begin + shown.value.end) / 2;
  const iterations = useIterations(data, time);
  const hasLoops = loopsNow().length > 0;
  useStepKeys({
    "[": () => executions.goTo(executions.number - 1),
    "]": () => executions.goTo(executions.number + 1),
    "{": () => iterations.goTo(iterations.number - 1),
    "}": () => iterations.goTo(iterations.number + 1),
  });
  // The place is kept while nothing is selected: the listing does not move when something is.
  const isShown = data !== null && selection.value.row !== undefined;
  return (
    <span class="group" style={{ visibility: isShown ? undefined : "hidden" }}>
      <ExecutionSteps steps={executions} isShown={isShown} />
      {hasLoops ? <IterationSteps steps={iterations} isShown={isShown} /> : null}
    </span>
  );
}

/** Listens to keys of the whole page while the listing is there. */
function useStepKeys(moves: Record<string, () => void>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const move = isForPage(event) ? moves[event.key] : undefined;
      if (!move) return;
      event.preventDefault();
      move();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
}

interface StepProps {
  steps: Steps;
  isShown: boolean;
}

function ExecutionSteps({ steps: { number, count, goTo }, isShown }: StepProps) {
  return (
    <span class="stepper" title="Executions of the selected instruction in the target wave; keys [ and ]">
      <span>exec.</span>
      <button type="button" data-step="back" disabled={number <= 0} onClick={() => goTo(number - 1)}>
        ‹
      </button>
      <input
        type="number"
        min={1}
        max={Math.max(1, count)}
        aria-label="Number of the execution"
        value={count ? number + 1 : ""}
        disabled={!count}
        onChange={(event) => goTo(Number(event.currentTarget.value) - 1)}
      />
      <button type="button" data-step="on" disabled={number + 1 >= count} onClick={() => goTo(number + 1)}>
        ›
      </button>
      <output data-executions>
        {count ? `${exact(number + 1)} of ${exact(count)}` : isShown ? "not in this wave" : ""}
      </output>
    </span>
  );
}

function IterationSteps({ steps: { number, count, goTo }, isShown }: StepProps) {
  return (
    <span
      class="stepper"
      style={{ visibility: isShown && count ? undefined : "hidden" }}
      title="Iterations of the innermost loop around it in the target wave; keys { and }; the timelines show exactly one"
    >
      <span>loop</span>
      <button type="button" data-loop-step="back" disabled={number <= 0} onClick={() => goTo(number - 1)}>
        «
      </button>
      <output data-iterations>
        {number < 0 ? "–" : exact(number + 1)} of {exact(count)}
      </output>
      <button type="button" data-loop-step="on" disabled={number + 1 >= count} onClick={() => goTo(number + 1)}>
        »
      </button>
    </span>
  );
}
