// The table beside the tracks of Utilization: for each pipe how much of the time it was busy and issued, and how often
// none issued. The time is the whole trace, what is on screen, or what is selected (`Period`).
import { percent } from "../../base/format";
import type { UtilizationAnswer } from "../../data/answers.gen";
import { source } from "../../data/source";
import { colourOf } from "../../draw/palette";
import { busyIn, NO_ISSUE, type PipeShare, sharesIn } from "../../model/pipe_shares";
import { selection } from "../../model/selection";
import { firstWindow, shown } from "../../model/timewindow";
import type { Column } from "../../widgets/data_table";
import type { PipeTiles } from "./rows";

/** Pipe -> meaning in the palette, for pipes that have another name than it. */
export const MEANINGS: Record<string, string> = {
  [NO_ISSUE]: "quiet",
  SCALAR: "SALU",
  BRANCH: "JUMP",
  RAY: "BVH",
  IMMEDIATE: "IMMED",
};

export const colourOfPipe = (pipe: string) => colourOf(MEANINGS[pipe] ?? pipe);

export type Period = "all" | "screen" | "selection";
export const PERIODS: Record<Period, string> = {
  all: "of the whole trace",
  screen: "of the cycles on screen",
  selection: source.isExport ? "of the cycles within the selected time" : "of the selected time",
};
/** Bins over the period: enough for its shares. */
const PERIOD_BINS = 2000;

export function periodNow(): Period {
  if (selection.value.range) return "selection";
  const { begin, end } = shown.value;
  const traced = firstWindow.value;
  return begin <= traced.begin && end >= traced.end ? "all" : "screen";
}

interface ShareSources {
  /** Of the whole trace, or of the selected time where the server was asked about it. */
  answer: UtilizationAnswer;
  issuing: PipeTiles;
  /** null = not arrived yet. */
  busy: PipeTiles | null;
}

/** What the server has counted, where it was asked about the period; else sums over the curves that are at hand. */
export function sharesOf(period: Period, { answer, issuing, busy }: ShareSources): PipeShare[] {
  if (period === "all" || (period === "selection" && !source.isExport)) return sharesOfAnswer(answer);
  const range = selection.value.range ?? shown.value;
  const busyOf = busy ? busyIn(busy.set, busy.tiles.inWindow(range, PERIOD_BINS), range) : new Map<string, number>();
  return sharesIn(issuing.set, issuing.tiles.inWindow(range, PERIOD_BINS), range, busyOf);
}

/** Pipes that issue, and at the end the bubbles as "no issue": over all engines and in each of them. */
function sharesOfAnswer({ pipes, by_engine, bubbles, bubble_share }: UtilizationAnswer): PipeShare[] {
  const engines = (pipe: string) =>
    new Map(by_engine.rows.filter((row) => row.pipe === pipe).map((row) => [row.se, row.issue_share]));
  const ofPipes = pipes.rows
    .filter((row) => row.issue_cycles_total > 0)
    .map((row) => ({
      pipe: row.pipe,
      cycles: row.issue_cycles_total,
      share: row.issue_share,
      busy: row.busy_share,
      ofEngines: engines(row.pipe),
    }));
  const noIssue: PipeShare = {
    pipe: NO_ISSUE,
    cycles: bubbles.rows.reduce((sum, row) => sum + row.bubble_cycles_total, 0),
    share: bubble_share,
    busy: null,
    ofEngines: new Map(bubbles.rows.map((row) => [row.se, row.bubble_share])),
  };
  return [...ofPipes, noIssue];
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

/** `base` is the same of the trace that this one is compared with; null = there is none, or not of this period. */
export function shareColumns(
  answer: UtilizationAnswer | null,
  period: Period,
  base: UtilizationAnswer | null,
): Column<PipeShare>[] {
  const engines = answer?.bubbles.rows.map((row) => row.se) ?? [];
  return [
    { name: "pipe", title: "Pipe", hint: answer?.definition ?? "", value: (line) => line.pipe, width: "6em" },
    {
      name: "busy_share",
      title: "Busy",
      hint: `Of the traced span of the SIMDs: instructions occupy the pipe, matrix instructions for all their passes; ${PERIODS[period]}`,
      value: (line) => line.busy,
      show: (line) => <ShareCell line={line} share={line.busy} />,
      width: "minmax(8em, 1fr)",
    },
    ...(base ? [baseColumn(base)] : []),
    {
      name: "issue_share",
      title: "Issue",
      hint: `Of the traced span of the SIMDs; no issue: of the cycles with a traced wave; ${PERIODS[period]}`,
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
    ...(engines.length > 1 ? engines.map(engineColumn) : []),
  ];
}

function baseColumn(base: UtilizationAnswer): Column<PipeShare> {
  const before = new Map(sharesOfAnswer(base).map((line) => [line.pipe, line.busy ?? line.share]));
  const shareOf = (line: PipeShare) => before.get(line.pipe) ?? null;
  return {
    name: "base_busy_share",
    title: "Before",
    hint: "Busy share, or share without issue, in the trace that this one is compared with",
    value: shareOf,
    show: (line) => <ShareCell line={line} share={shareOf(line)} />,
    width: "minmax(8em, 1fr)",
  };
}

function engineColumn(se: number): Column<PipeShare> {
  return {
    name: `issue_share_se${se}`,
    title: `SE ${se}`,
    hint: `The same for shader engine ${se}`,
    value: (line) => line.ofEngines.get(se) ?? null,
    show: (line) => percent(line.ofEngines.get(se) ?? null),
    width: "4.2em",
  };
}
