// What every pipe of every SIMD issues, when none does, and for how long instructions occupy each.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import type { UtilizationAnswer } from "../../data/answers.gen";
import { json } from "../../data/ask";
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
import {
  busyIn,
  busyPipeCurves,
  NO_ISSUE,
  type PipeCurves,
  type PipeShare,
  pipeCurves,
  sharesIn,
} from "../../model/pipe_shares";
import { selectedTime } from "../../model/selected_time";
import { preview, selection } from "../../model/selection";
import { firstWindow, shown } from "../../model/timewindow";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { type Column, DataTable, tableOffer } from "../../widgets/data_table";
import { entriesOf, KindLegend } from "../../widgets/kind_legend";
import { OfLayer } from "../../widgets/of_layer";
import { SaveMenu } from "../../widgets/saving";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { pipeRows } from "./rows";
import "./utilization.css";

/** The lines of the table for the whole trace: pipes and the bubbles, over all engines and in each of them. */
export function linesOf(use: UtilizationAnswer): PipeShare[] {
  const engines = (pipe: string) =>
    new Map(use.by_engine.rows.filter((row) => row.pipe === pipe).map((row) => [row.se, row.issue_share]));
  const pipes = use.pipes.rows
    .filter((row) => row.issue_cycles_total > 0)
    .map((row) => ({
      pipe: row.pipe,
      cycles: row.issue_cycles_total,
      share: row.issue_share,
      busy: row.busy_share,
      ofEngines: engines(row.pipe),
    }));
  const bubbles: PipeShare = {
    pipe: NO_ISSUE,
    cycles: use.bubbles.rows.reduce((sum, row) => sum + row.bubble_cycles_total, 0),
    share: use.bubble_share,
    busy: null,
    ofEngines: new Map(use.bubbles.rows.map((row) => [row.se, row.bubble_share])),
  };
  return [...pipes, bubbles];
}

/** Pipes that are not called like a category. */
const MEANINGS: Record<string, string> = {
  [NO_ISSUE]: "quiet",
  SCALAR: "SALU",
  BRANCH: "JUMP",
  RAY: "BVH",
  IMMEDIATE: "IMMED",
};

const colourOfPipe = (pipe: string) => colourOf(MEANINGS[pipe] ?? pipe);

/** The kinds of instructions of pipes that have several. */
const KINDS: Record<string, string[]> = { VMEM: ["VMEM", "FLAT"], SCALAR: ["SALU", "SMEM"], BRANCH: ["JUMP", "NEXT"] };
const FADED = 0.82;

/** What the table is about. */
type Period = "all" | "screen" | "selection";
const PERIODS: Record<Period, string> = {
  all: "of the whole trace",
  screen: "of the cycles on screen",
  selection: source.isExport ? "of the cycles within the selected time" : "of the selected time",
};
/** So many bins of the selected time are enough for its shares. */
const SELECTED_BINS = 2000;

const COMFORTABLE = { least: 16, most: 28 };

function Utilization() {
  return (
    <OfLayer name="pipes" nothing="Nothing to show: no instruction was traced.">
      {(set, layer) => <Tracks set={set} layer={layer} />}
    </OfLayer>
  );
}

function Tracks({ set, layer }: { set: LayerSet; layer: Layer }) {
  const facts = traceOverview();
  const handle = useMemo(() => new TimelineHandle(), []);
  const { range } = selection.value;
  // The selected time is asked about as everywhere, whether or not the other views are about it.
  const part = range && !source.isExport ? { begin: Math.floor(range.begin), end: Math.ceil(range.end) } : {};
  const answer = useAnswer(json<UtilizationAnswer>(current.value, "utilization", part));
  const use = answer.value.state === "ready" ? answer.value.value : null;
  const asked = useAnswer(pipeCurves(current.value));
  const askedBusy = useAnswer(busyPipeCurves(current.value));
  const curves = asked.value.state === "ready" ? asked.value.value : null;
  const busyNow = useComputed(() => {
    const answer = askedBusy.value;
    return answer.state === "ready" ? { set: answer.value, tiles: new CurveTiles(answer.value) } : null;
  });
  const tilesNow = useComputed(() => (asked.value.state === "ready" ? new CurveTiles(asked.value.value) : null));
  const tiles = tilesNow.value;
  useSignalEffect(() => {
    const drawn = [tilesNow.value, busyNow.value?.tiles];
    return () => {
      for (const each of drawn) each?.close();
    };
  });
  const lit = useSignal<number | null>(null);
  const faded = (colour: string) => mixed(colour, colourOf("EMPTY"), FADED);
  const rows = useComputed(() => {
    const name = lit.value === null ? null : kindName(layer, lit.value);
    const isLit = (pipe: string) => name === null || (KINDS[pipe] ?? [MEANINGS[pipe] ?? pipe]).includes(name);
    const colour = (pipe: string) => (isLit(pipe) ? colourOfPipe(pipe) : faded(colourOfPipe(pipe)));
    const [curves, ready] = [asked.value, tilesNow.value];
    return curves.state === "ready" && ready ? pipeRows(layer, curves.value, ready, busyNow.value, colour) : [];
  });
  const kindColour = (of: Layer, kind: number) =>
    lit.value === null || lit.value === kind ? undefined : faded(spanColour(of, kind, {}));
  const period = periodNow();
  const lines = use && curves && tiles ? linesIn(period, use, curves, tiles, busyNow.value) : [];
  const quiet = lines.find((line) => line.pipe === NO_ISSUE)?.share ?? null;
  const base = useBaseline((document) => json<UtilizationAnswer>(document, "utilization"));
  const columns = useMemo(() => columnsOf(use, PERIODS[period], period === "all" ? base : null), [use, period, base]);
  const onSpan = (span: Span | null) => {
    if (!span || span.item < 0) return;
    executionOf(span.item).then(
      (execution) => {
        if (execution) selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
      },
      () => {},
    );
  };
  const tooltipOf = async (span: Span): Promise<string[]> => {
    const execution = await executionOf(span.item);
    if (!execution) return ["of the neighbour SIMD: only its kind is traced"];
    preview.value = { wave: execution.wave.wave, row: execution.row, iteration: execution.iteration };
    return [
      textOf(execution.row),
      `row ${execution.row} · wave ${execution.wave.wave} · waited ${exact(execution.stall)} cycles before`,
    ];
  };
  const onHover = (span: Span | null) => {
    if (!span) preview.value = {};
  };
  const highlight = (painter: Painter, frame: TimelineFrame) => {
    if (selectedTime.value !== null) paintMoment(painter, frame, selectedTime.value);
  };
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span title={`${use?.definition ?? ""} ${PERIODS[period]}`.trim()} data-no-issue={quiet}>
          {quiet === null ? "" : `No pipe issues in ${percent(quiet)} of cycles`}
        </span>
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
        <SaveMenu name="utilization" offers={[...handle.offers(), tableOffer(columns, () => lines)]} />
      </div>
      <div class="utilization">
        <Timeline
          label="Issues of every pipe"
          set={set}
          rows={rows.value}
          unit="cycles"
          clockMhz={facts.clock_mhz}
          rowHeights={COMFORTABLE}
          overviewLayer={set.layer("waves") ?? layer}
          countedLayer={layer}
          countedAs="issues"
          handle={handle}
          {...{ onSpan, onHover, tooltipOf, highlight, kindColour }}
        />
        <div class="utilization-shares" data-shares-of={period}>
          <p class="faint-text">Shares {PERIODS[period]}</p>
          <Answered answer={answer}>
            {() => <DataTable label="Issue and busy share of every pipe" columns={columns} rows={lines} />}
          </Answered>
        </div>
      </div>
    </div>
  );
}

function periodNow(): Period {
  if (selection.value.range) return "selection";
  const { begin, end } = shown.value;
  const traced = firstWindow.value;
  return begin <= traced.begin && end >= traced.end ? "all" : "screen";
}

function linesIn(
  period: Period,
  use: UtilizationAnswer,
  curves: PipeCurves,
  tiles: CurveTiles,
  busy: { set: PipeCurves; tiles: CurveTiles } | null,
): PipeShare[] {
  if (period === "all" || (period === "selection" && !source.isExport)) return linesOf(use);
  const range = selection.value.range ?? shown.value;
  const busyOf = busy ? busyIn(busy.set, busy.tiles.inWindow(range, SELECTED_BINS), range) : new Map<string, number>();
  return sharesIn(curves, tiles.inWindow(range, SELECTED_BINS), range, busyOf);
}

function ShareCell({ line, share }: { line: PipeShare; share: number | null }) {
  if (share === null) return <span class="faint-text">–</span>;
  return (
    <span class="share">
      <span>
        <i style={{ width: `${100 * Math.min(1, share)}%`, background: colourOfPipe(line.pipe) }} />
      </span>
      {percent(share)}
    </span>
  );
}

function columnsOf(use: UtilizationAnswer | null, ofWhat: string, base: UtilizationAnswer | null): Column<PipeShare>[] {
  const before = new Map(base ? linesOf(base).map((line) => [line.pipe, line.busy ?? line.share]) : []);
  const engines = use?.bubbles.rows.map((row) => row.se) ?? [];
  return [
    { name: "pipe", title: "Pipe", hint: use?.definition ?? "", value: (line) => line.pipe, width: "6em" },
    {
      name: "busy_share",
      title: "Busy",
      hint: `Of the traced span of the SIMDs: instructions occupy the pipe, matrix instructions for all their passes; ${ofWhat}`,
      value: (line) => line.busy,
      show: (line) => <ShareCell line={line} share={line.busy} />,
      width: "minmax(8em, 1fr)",
    },
    ...(base ? [before] : []).map(
      (shares): Column<PipeShare> => ({
        name: "base_busy_share",
        title: "Before",
        hint: "Busy share, or share without issue, in the trace that this one is compared with",
        value: (line) => shares.get(line.pipe) ?? null,
        show: (line) => <ShareCell line={line} share={shares.get(line.pipe) ?? null} />,
        width: "minmax(8em, 1fr)",
      }),
    ),
    {
      name: "issue_share",
      title: "Issue",
      hint: `Of the traced span of the SIMDs; no issue: of the cycles with a traced wave; ${ofWhat}`,
      value: (line) => line.share,
      show: (line) => percent(line.share),
      width: "4.6em",
    },
    {
      name: "issue_cycles_total",
      title: "Cycles",
      hint: "In which it issues, added up over all SIMDs",
      value: (line) => line.cycles,
      width: "6.5em",
    },
    ...(engines.length > 1 ? engines : []).map(
      (se): Column<PipeShare> => ({
        name: `issue_share_se${se}`,
        title: `SE ${se}`,
        hint: `The same for shader engine ${se}`,
        value: (line) => line.ofEngines.get(se) ?? null,
        show: (line) => percent(line.ofEngines.get(se) ?? null),
        width: "4.2em",
      }),
    ),
  ];
}

export const utilization: View = {
  id: "utilization",
  title: "Utilization",
  hint: "What the pipes of every SIMD issue, and when none of them does",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced"),
  component: Utilization,
};
