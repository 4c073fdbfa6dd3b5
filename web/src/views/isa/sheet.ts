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

const [LIVE_COLUMNS, LANE_COLUMNS] = (["live", "lanes"] as const).map((needed) =>
  COLUMNS.filter(({ needs }) => needs === needed),
) as [IsaColumn[], IsaColumn[]];

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

export function useSheet(code: Code): Sheet {
  const facts = traceOverview();
  const rowCount = code.count;
  const mode = useComputed(() => isaSettings.value.mode);
  const canvas = useComputed<CanvasMode>(() => {
    const modes = canvasModes();
    const chosen = isaSettings.value.canvas;
    return chosen && modes.includes(chosen) ? chosen : (modes[0] ?? "total");
  });
  const target = useComputed(targetWave);
  const number = useComputed(() => target.value?.wave);
  const has = facts.instruction_count > 0;

  // One wave is needed for its figures, and for the executions of a row.
  const needsWave = useComputed(() => isOneWave(mode.value) || selection.value.row !== undefined);
  const of = current.value;
  const shownWave = number.value;
  const waveAnswer = useAnswer(shownWave === undefined || !needsWave.value ? null : waveOf(of, shownWave));
  const waitsOfAll = useAnswer(facts.holds.waits ? arrow(of, "arrows") : null);
  const branchTable = useAnswer(arrow(of, "branches"));
  const waitsOfWave = useAnswer(
    shownWave !== undefined && isOneWave(mode.value) && facts.holds.waits
      ? arrow(of, "wave_waits", { wave: shownWave })
      : null,
  );
  const costsOfWave = useAnswer(
    shownWave !== undefined && (mode.value === "sum_wave" || mode.value === "mean_wave")
      ? arrow(of, "wave_costs", { wave: shownWave }).as(costsFrom, rowCount)
      : null,
  );
  const showsLive = LIVE_COLUMNS.some(isShown);
  // Live registers do not delay what is on screen at first.
  const liveAnswer = useAnswer(
    showsLive && costsAnswer.value.state !== "waiting" ? arrow(of, "live_registers").as(liveFrom, rowCount) : null,
  );
  const classes = useAnswer(canvas.value === "classes" ? arrow(of, "stall_rows") : null);
  const latencies = useAnswer(canvas.value === "memory" ? arrow(of, "row_latencies") : null);
  const showsLanes = canvas.value === "lds" || canvas.value === "segments";
  const wantsLanes = showsLanes || LANE_COLUMNS.some((column) => isaSettings.value.columns[column.id]);
  useEffect(() => {
    if (wantsLanes) wantLanes();
  });
  const lanes = lanesNow();
  const sampled = useAnswer(facts.holds.samples ? together(arrow(of, "samples"), arrow(of, "sample_reasons")) : null);

  const targetData = ready(waveAnswer);
  const costs: Costs | null = ready(costsAnswer);
  const waveCosts = ready(costsOfWave);
  const iteration = selection.value.iteration ?? 0;
  const given = { costs, waveCosts, wave: targetData, waveBegin: target.value?.begin ?? 0, iteration, rowCount };
  const figures = useMemo(
    () => (has ? figuresFor(mode.value, given) : null),
    [mode.value, costs, waveCosts, targetData, target.value, mode.value === "iteration" ? iteration : 0],
  );
  const tables = ready(sampled);
  const samples = useMemo(() => tables && samplesFrom(tables[0], tables[1], rowCount), [tables, rowCount]);

  const oneWave = isOneWave(mode.value);
  const arrowTable = ready(waitsOfAll);
  const waveWaits = ready(waitsOfWave);
  const waits = useMemo(() => {
    if (!oneWave) return arrowTable ? arrowsOfAll(arrowTable) : [];
    return targetData && waveWaits ? arrowsOfWave(waveWaits, targetData) : [];
  }, [oneWave, arrowTable, waveWaits, targetData]);
  const taken = ready(branchTable);
  const branches = useMemo(() => {
    const jumps = taken ? branchesOfAll(taken) : [];
    return oneWave && targetData ? branchesOfWave(jumps, targetData) : jumps;
  }, [oneWave, taken, targetData]);

  const withIdle = settings.value.withIdle;
  const [classTable, latencyTable] = [ready(classes), ready(latencies)];
  const colours = `${theme.value} ${settings.value.palette} ${JSON.stringify(settings.value.colours)}`;
  const bars = useMemo<Bars | null>(() => {
    if (canvas.value === "samples") return samples && sampleBars(samples);
    if (canvas.value === "classes") return classTable && classBars(classTable, rowCount);
    if (canvas.value === "memory") return latencyTable && memoryBars(latencyTable);
    if (showsLanes) return lanes && laneBars(lanes.rows.rows, canvas.value === "lds");
    if (!figures || canvas.value === "waits" || canvas.value === "branches") return null;
    if (canvas.value === "latency_stall") return latencyAndStall(figures, code);
    return latencyBars(figures, withIdle, canvas.value === "total");
  }, [canvas.value, figures, samples, classTable, latencyTable, lanes, withIdle, colours, code, rowCount]);
  const heat = useMemo(() => {
    if (figures) return heatOf(figures.latency.map((value, row) => value + (withIdle ? (figures.idle[row] ?? 0) : 0)));
    if (samples) return heatOf(samples.all);
    return new Float64Array(rowCount);
  }, [figures, samples, withIdle, rowCount]);

  const answers: ReadonlySignal<Loaded<unknown>>[] = [
    waveAnswer,
    waitsOfAll,
    branchTable,
    classes,
    latencies,
    sampled,
    costsAnswer,
    liveAnswer,
  ];
  if (showsLanes) answers.push(lanesAnswer);
  const failed = answers.find(({ value }) => value.state === "failed");
  return {
    code,
    mode: mode.value,
    canvas: canvas.value,
    figures,
    samples,
    live: ready(liveAnswer),
    waits,
    branches,
    bars,
    heat,
    target: target.value,
    targetData,
    problem: failed?.value.state === "failed" ? failed.value.error : null,
  };
}
