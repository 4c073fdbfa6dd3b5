// What every pipe of every SIMD issues over time, when none does, and for how long instructions occupy each pipe: tracks of
// pipes (rows.ts) above a table of shares (shares.tsx).
import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import type { UtilizationAnswer } from "../../data/answers.gen";
import { json, type Question } from "../../data/ask";
import { source } from "../../data/source";
import type { Frame as TimelineFrame } from "../../draw/frame";
import { paintMoment } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { colourOf, mixed } from "../../draw/palette";
import { kindName, spanColour } from "../../draw/timeline_spans";
import { useBaseline } from "../../model/changes";
import { selectRow, textOf } from "../../model/code";
import { CurveTiles } from "../../model/curves";
import { current, traceOverview } from "../../model/document";
import { executionOf } from "../../model/executions";
import type { Layer, LayerSet, Span } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { busyPipeCurves, NO_ISSUE, type PipeCurves, pipeCurves } from "../../model/pipe_shares";
import { selectedTime } from "../../model/selected_time";
import { preview, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { entriesOf, KindLegend } from "../../widgets/kind_legend";
import { OfLayer } from "../../widgets/of_layer";
import { SaveMenu } from "../../widgets/saving";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { type PipeTiles, pipeRows } from "./rows";
import { colourOfPipe, MEANINGS, PERIODS, periodNow, shareColumns, sharesOf } from "./shares";
import "./utilization.css";

/** Pipe -> the kinds of instructions that issue to it, for pipes with several; others have the kind of their meaning. */
const KINDS: Record<string, string[]> = { VMEM: ["VMEM", "FLAT"], SCALAR: ["SALU", "SMEM"], BRANCH: ["JUMP", "NEXT"] };

/** How much paler everything is but the kind that is lit, from 0 to 1. */
const FADED = 0.82;
const faded = (colour: string) => mixed(colour, colourOf("EMPTY"), FADED);

const ROW_HEIGHTS = { least: 16, most: 28 };

function Utilization() {
  return (
    <OfLayer name="pipes" nothing="Nothing to show: no instruction was traced.">
      {(set, layer) => <Tracks set={set} layer={layer} />}
    </OfLayer>
  );
}

function Tracks({ set, layer }: { set: LayerSet; layer: Layer }) {
  const handle = useMemo(() => new TimelineHandle(), []);
  const answer = useAnswer(json<UtilizationAnswer>(current.value, "utilization", selectedPart()));
  const base = useBaseline((document) => json<UtilizationAnswer>(document, "utilization"));
  const issuing = usePipeTiles(pipeCurves(current.value));
  const busy = usePipeTiles(busyPipeCurves(current.value));
  /** The kind of instructions that the legend lights up; null = none, all have their colours. */
  const lit = useSignal<number | null>(null);
  const rows = useComputed(() => {
    const colour = (pipe: string) => (isLit(pipe, layer, lit.value) ? colourOfPipe(pipe) : faded(colourOfPipe(pipe)));
    return issuing.value ? pipeRows(layer, issuing.value, busy.value, colour) : [];
  });
  const kindColour = (of: Layer, kind: number) =>
    lit.value === null || lit.value === kind ? undefined : faded(spanColour(of, kind, {}));
  const period = periodNow();
  const ready = answer.value.state === "ready" ? answer.value.value : null;
  const shares =
    ready && issuing.value ? sharesOf(period, { answer: ready, issuing: issuing.value, busy: busy.value }) : [];
  const noIssueShare = shares.find((line) => line.pipe === NO_ISSUE)?.share ?? null;
  const columns = useMemo(
    () => shareColumns(ready, period, period === "all" ? base : null), // the baseline was asked about its whole trace
    [ready, period, base],
  );
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span title={`${ready?.definition ?? ""} ${PERIODS[period]}`.trim()} data-no-issue={noIssueShare}>
          {noIssueShare === null ? "" : `No pipe issues in ${percent(noIssueShare)} of cycles`}
        </span>
        <Legend layer={layer} lit={lit} />
        <SaveMenu name="utilization" offers={[...handle.offers(), tableOffer(columns, () => shares)]} />
      </div>
      <div class="utilization">
        <Timeline
          label="Issues of every pipe"
          set={set}
          rows={rows.value}
          unit="cycles"
          clockMhz={traceOverview().clock_mhz}
          rowHeights={ROW_HEIGHTS}
          overviewLayer={set.layer("waves") ?? layer}
          countedLayer={layer}
          countedAs="issues"
          handle={handle}
          onSpan={selectExecution}
          onHover={endPreview}
          tooltipOf={executionFacts}
          highlight={paintSelectedTime}
          kindColour={kindColour}
        />
        <div class="utilization-shares" data-shares-of={period}>
          <p class="faint-text">Shares {PERIODS[period]}</p>
          <Answered answer={answer}>
            {() => <DataTable label="Issue and busy share of every pipe" columns={columns} rows={shares} />}
          </Answered>
        </div>
      </div>
    </div>
  );
}

/** The selected time as parameters: asked about whether or not the other views are about it. Exports have no such answers. */
function selectedPart() {
  const { range } = selection.value;
  return range && !source.isExport ? { begin: Math.floor(range.begin), end: Math.ceil(range.end) } : {};
}

/** Curves with tiles of their own; tiles are asked no longer when other curves come or the view is closed. */
function usePipeTiles(question: Question<PipeCurves>): ReadonlySignal<PipeTiles | null> {
  const answer = useAnswer(question);
  const pipeTiles = useComputed(() => {
    const curves = answer.value;
    return curves.state === "ready" ? { set: curves.value, tiles: new CurveTiles(curves.value) } : null;
  });
  useSignalEffect(() => {
    const drawn = pipeTiles.value;
    return () => drawn?.tiles.close();
  });
  return pipeTiles;
}

/** Whether a pipe keeps its colour while the legend lights one kind; null = it lights none. */
function isLit(pipe: string, layer: Layer, litKind: number | null): boolean {
  return litKind === null || (KINDS[pipe] ?? [MEANINGS[pipe] ?? pipe]).includes(kindName(layer, litKind));
}

function Legend({ layer, lit }: { layer: Layer; lit: Signal<number | null> }) {
  return (
    <>
      <span
        class="wide-only"
        title="The height of a track is 100 % of a pixel's time. Pale: an instruction occupies the pipe; full colour: one issues. Zoomed in, every issue has its own length"
      >
        pale: busy · full: issues
      </span>
      <KindLegend
        label="Kinds of instructions"
        entries={entriesOf(layer)}
        chosen={lit.value ?? undefined}
        onKind={(kind) => {
          lit.value = kind === lit.value ? null : kind;
        }}
      />
    </>
  );
}

/** Selects the execution that a span stands for. */
function selectExecution(span: Span | null): void {
  if (!span || span.item < 0) return;
  executionOf(span.item).then(
    (execution) => {
      if (execution) selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
    },
    () => {}, // its wave cannot be read: nothing is selected
  );
}

/** Lines of the tooltip; other views preview the execution meanwhile. */
async function executionFacts(span: Span): Promise<string[]> {
  const execution = await executionOf(span.item);
  if (!execution) return ["of the neighbour SIMD: only its kind is traced"];
  const { row, wave, iteration, stall } = execution;
  preview.value = { wave: wave.wave, row, iteration };
  return [textOf(row), `row ${row} · wave ${wave.wave} · waited ${exact(stall)} cycles before`];
}

function endPreview(span: Span | null): void {
  if (!span) preview.value = {};
}

function paintSelectedTime(painter: Painter, frame: TimelineFrame): void {
  if (selectedTime.value !== null) paintMoment(painter, frame, selectedTime.value);
}

export const utilization: View = {
  id: "utilization",
  title: "Utilization",
  hint: "What the pipes of every SIMD issue, and when none of them does",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced"),
  component: Utilization,
};
