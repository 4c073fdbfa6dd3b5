// Everything the listing shows, put together from the answers that its modes need.
import { type ReadonlySignal, useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { arrow, together } from "../../data/ask";
import type { AnswerError } from "../../data/source";
import { type Code, type Costs, costsAnswer, costsFrom } from "../../model/code";
import { current, traceOverview } from "../../model/document";
import { lanesAnswer, lanesNow, wantLanes } from "../../model/lanes";
import { type Loaded, useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import { settings, theme } from "../../model/settings";
import { type WaveData, waveOf } from "../../model/wave_data";
import { targetWave, type Wave } from "../../model/waves";
import { type Arrow, arrowsOfAll, arrowsOfWave, branchesOfAll, branchesOfWave } from "./arrows";
import { type Bars, classBars, laneBars, latencyAndStall, latencyBars, memoryBars, sampleBars } from "./bars";
import { COLUMNS, type IsaColumn, isShown } from "./columns";
import { type Figures, figuresFor, heatOf } from "./figures";
import { type Live, liveFrom } from "./live";
import { type Samples, samplesFrom } from "./samples";
import { type CanvasMode, isaSettings, isOneWave, type LatencyMode } from "./state";

export interface Sheet {
  code: Code;
  mode: LatencyMode;
  canvas: CanvasMode;
  figures: Figures | null;
  samples: Samples | null;
  live: Live | null;
  /** Arrows to waits and of branches, of all waves or of the target wave as the mode says. */
  waits: Arrow[];
  branches: Arrow[];
  bars: Bars | null;
  /** From 0 to 1, by row. */
  heat: Float64Array;
  target: Wave | undefined;
  targetData: WaveData | null;
  problem: AnswerError | null;
}

const ready = <T>(answer: ReadonlySignal<Loaded<T>>): T | null =>
  answer.value.state === "ready" ? answer.value.value : null;

const columnsThatNeed = (needed: IsaColumn["needs"]) => COLUMNS.filter(({ needs }) => needs === needed);
const LIVE_COLUMNS = columnsThatNeed("live");
const LANE_COLUMNS = columnsThatNeed("lanes");

/** Canvas modes that this trace has something for. */
export function canvasModes(): CanvasMode[] {
  const facts = traceOverview();
  const traced: CanvasMode[] = ["total", "exposed", "classes", "latency_stall", "lds", "segments"];
  return [
    ...(facts.holds.waits ? (["waits", "memory"] as const) : []),
    ...(facts.instruction_count ? traced : []),
    ...(facts.holds.samples ? (["samples"] as const) : []),
    "branches",
  ];
}

/** The canvas mode that the user chose, if this trace has it. */
function canvasNow(): CanvasMode {
  const modes = canvasModes();
  const chosen = isaSettings.value.canvas;
  return chosen && modes.includes(chosen) ? chosen : (modes[0] ?? "total");
}

const showsLanes = (canvas: CanvasMode) => canvas === "lds" || canvas === "segments";

export function useSheet(code: Code): Sheet {
  const mode = useComputed(() => isaSettings.value.mode).value;
  const canvas = useComputed(canvasNow).value;
  const target = useComputed(targetWave).value;
  const answers = useAnswers(mode, canvas, target?.wave, code.count);
  const targetData = ready(answers.wave);
  const figures = useFigures(mode, answers, target, code.count);
  const tables = ready(answers.samples);
  const samples = useMemo(() => tables && samplesFrom(tables[0], tables[1], code.count), [tables, code.count]);
  const { withIdle } = settings.value;
  const heat = useMemo(() => {
    if (figures) return heatOf(figures.latency.map((value, row) => value + (withIdle ? (figures.idle[row] ?? 0) : 0)));
    if (samples) return heatOf(samples.all);
    return new Float64Array(code.count);
  }, [figures, samples, withIdle, code.count]);
  return {
    code,
    mode,
    canvas,
    figures,
    samples,
    live: ready(answers.live),
    ...useArrows(isOneWave(mode), answers),
    bars: useBars({ code, canvas, figures, samples }, answers),
    heat,
    target,
    targetData,
    problem: problemOf(answers, showsLanes(canvas)),
  };
}

type Answers = ReturnType<typeof useAnswers>;

/** Asks for what the modes need; what they do not need stays waiting, as an answer to no question. */
function useAnswers(mode: LatencyMode, canvas: CanvasMode, target: number | undefined, rowCount: number) {
  const { holds } = traceOverview();
  const document = current.value;
  // One wave is needed for its figures, and for the executions of a row.
  const needsWave = useComputed(() => isOneWave(isaSettings.value.mode) || selection.value.row !== undefined);
  const wave = useAnswer(target === undefined || !needsWave.value ? null : waveOf(document, target));
  const waitsOfAll = useAnswer(holds.waits ? arrow(document, "arrows") : null);
  const branches = useAnswer(arrow(document, "branches"));
  const waitsOfWave = useAnswer(
    target !== undefined && isOneWave(mode) && holds.waits ? arrow(document, "wave_waits", { wave: target }) : null,
  );
  const costsOfWave = useAnswer(
    target !== undefined && (mode === "sum_wave" || mode === "mean_wave")
      ? arrow(document, "wave_costs", { wave: target }).as(costsFrom, rowCount)
      : null,
  );
  // Live registers do not delay what is on screen at first.
  const showsLive = LIVE_COLUMNS.some(isShown) && costsAnswer.value.state !== "waiting";
  const live = useAnswer(showsLive ? arrow(document, "live_registers").as(liveFrom, rowCount) : null);
  const classes = useAnswer(canvas === "classes" ? arrow(document, "stall_rows") : null);
  const latencies = useAnswer(canvas === "memory" ? arrow(document, "row_latencies") : null);
  const needsLanes = showsLanes(canvas) || LANE_COLUMNS.some((column) => isaSettings.value.columns[column.id]);
  useEffect(() => {
    if (needsLanes) wantLanes();
  });
  const samples = useAnswer(
    holds.samples ? together(arrow(document, "samples"), arrow(document, "sample_reasons")) : null,
  );
  return { wave, waitsOfAll, branches, waitsOfWave, costsOfWave, live, classes, latencies, samples };
}

/**
 * What went wrong with what is on screen; null = nothing. `waitsOfWave` and `costsOfWave` are not looked at: without
 * them only the arrows and the hidden cycles of one wave are missing.
 */
function problemOf(answers: Answers, withLanes: boolean): AnswerError | null {
  const { wave, waitsOfAll, branches, classes, latencies, samples, live } = answers;
  const shown: ReadonlySignal<Loaded<unknown>>[] = [
    wave,
    waitsOfAll,
    branches,
    classes,
    latencies,
    samples,
    costsAnswer,
    live,
  ];
  if (withLanes) shown.push(lanesAnswer);
  for (const { value } of shown) if (value.state === "failed") return value.error;
  return null;
}

function useFigures(mode: LatencyMode, answers: Answers, target: Wave | undefined, rowCount: number): Figures | null {
  const hasInstructions = traceOverview().instruction_count > 0;
  const wave = ready(answers.wave);
  const costs: Costs | null = ready(costsAnswer);
  const waveCosts = ready(answers.costsOfWave);
  const iteration = selection.value.iteration ?? 0;
  return useMemo(() => {
    const given = { costs, waveCosts, wave, waveBegin: target?.begin ?? 0, iteration, rowCount };
    return hasInstructions ? figuresFor(mode, given) : null;
  }, [mode, costs, waveCosts, wave, target, mode === "iteration" ? iteration : 0]);
}

/** Arrows to waits and of branches: of all waves, or of the target wave. */
function useArrows(oneWave: boolean, answers: Answers): Pick<Sheet, "waits" | "branches"> {
  const wave = ready(answers.wave);
  const waitsOfAll = ready(answers.waitsOfAll);
  const waitsOfWave = ready(answers.waitsOfWave);
  const waits = useMemo(() => {
    if (!oneWave) return waitsOfAll ? arrowsOfAll(waitsOfAll) : [];
    return wave && waitsOfWave ? arrowsOfWave(waitsOfWave, wave) : [];
  }, [oneWave, waitsOfAll, waitsOfWave, wave]);
  const taken = ready(answers.branches);
  const branches = useMemo(() => {
    const jumps = taken ? branchesOfAll(taken) : [];
    return oneWave && wave ? branchesOfWave(jumps, wave) : jumps;
  }, [oneWave, taken, wave]);
  return { waits, branches };
}

/** The bars of the canvas; null = the mode has none, or they are on their way. */
function useBars({ code, canvas, figures, samples }: BarSources, answers: Answers): Bars | null {
  const { withIdle, palette } = settings.value;
  const lanes = lanesNow();
  const [classes, latencies] = [ready(answers.classes), ready(answers.latencies)];
  // bars hold their colours: they are made anew when these may be others
  const colours = `${theme.value} ${palette} ${JSON.stringify(settings.value.colours)}`;
  return useMemo<Bars | null>(() => {
    switch (canvas) {
      case "waits":
      case "branches":
        return null; // arrows
      case "samples":
        return samples && sampleBars(samples);
      case "classes":
        return classes && classBars(classes, code.count);
      case "memory":
        return latencies && memoryBars(latencies);
      case "lds":
      case "segments":
        return lanes && laneBars(lanes.rows.rows, canvas === "lds");
      case "latency_stall":
        return figures && latencyAndStall(figures, code);
      case "total":
      case "exposed":
        return figures && latencyBars(figures, { withIdle, withHidden: canvas === "total" });
    }
  }, [canvas, figures, samples, classes, latencies, lanes, withIdle, colours, code]);
}

type BarSources = Pick<Sheet, "code" | "canvas" | "figures" | "samples">;
