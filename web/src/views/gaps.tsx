// When GPUs idle between work, and why: causes, lengths, and the longest gaps with what stood around them.
import { useMemo } from "preact/hooks";
import { exact, nanoseconds } from "../base/format";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { selectKernel, type Told } from "../model/run";
import { select, selection } from "../model/selection";
import { show } from "../model/timewindow";
import { frontView, type View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { type Described, figureColumns } from "../widgets/figure_columns";
import { gpuColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";
import "./gaps.css";

interface Where {
  node: string;
  gpu: number | null;
}

interface Gap extends Where {
  begin: number;
  gap_ns: number;
  before: string;
  after: string;
  dispatch_id: number | null;
}

interface GapsAnswer {
  definition: string;
  gpus: Told<Where>;
  causes: Told<Where>;
  histogram: Told<Where>;
  largest: Told<Gap>;
  gap_count: number;
}

const GPUS: Described[] = [
  ["gap_count", "Gaps", "count"],
  ["gap_ns", "Total", "ns"],
  ["gap_share", "Of the span", "bar"],
  ["gap_mean_ns", "Mean", "ns"],
  ["gap_max_ns", "Longest", "ns"],
  ["busy_ns", "Busy", "ns"],
  ["edge_ns", "Edges", "ns"],
  ["span_ns", "Span", "ns"],
];
const CAUSES: Described[] = [
  ["cause", "Cause", "text"],
  ["function", "Function", "text"],
  ["call_count", "Calls or gaps", "count"],
  ["wait_ns", "In gaps", "ns"],
  ["gap_share", "Of the gaps", "bar"],
];
const LENGTHS: Described[] = [
  ["from_ns", "Gaps from", "ns"],
  ["gap_count", "Count", "count"],
  ["gap_ns", "Total", "ns"],
];
const LARGEST: Described[] = [
  ["gap_ns", "Length", "ns"],
  ["begin", "Began at", "ns", "8em"],
  ["cause", "Cause", "text", "9em"],
  ["function", "Function", "text"],
  ["context", "In", "text"],
  ["before", "After", "text"],
  ["after", "Before", "text"],
  ["launch_ns", "Launch", "ns"],
  ["queue_depth", "Queued", "count", "5em"],
  ["tid", "Thread", "id"],
];

function Gaps() {
  const answer = useAnswer(json<GapsAnswer>(current.value, "run_gaps"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

/** Around a gap, as much again on both sides: what ended before it and what ended it are seen. */
function showGap(gap: Gap): void {
  select({ range: { begin: gap.begin, end: gap.begin + gap.gap_ns } });
  show({ begin: gap.begin - gap.gap_ns, end: gap.begin + 2 * gap.gap_ns });
  if (gap.dispatch_id !== null) selectKernel(gap.after);
  frontView("run_timeline");
}

function Tables({ answer }: { answer: GapsAnswer }) {
  const { gpus, causes, histogram, largest } = answer;
  const columns = useMemo(() => {
    const where = gpuColumn<Where>("9em");
    return {
      gpus: [where, ...figureColumns<Where>(gpus.hints, GPUS)],
      causes: [where, ...figureColumns<Where>(causes.hints, CAUSES)],
      lengths: [where, ...figureColumns<Where>(histogram.hints, LENGTHS)],
      largest: [where, ...figureColumns<Gap>(largest.hints, LARGEST)] as Column<Gap>[],
    };
  }, [answer]);
  const chosen = selection.value.range;
  if (!answer.gap_count) return <Nothing>No GPU idled between two pieces of work.</Nothing>;
  return (
    <div class="view">
      <div class="toolbar">
        <span>
          {exact(answer.gap_count)} gaps; the longest:{" "}
          {truncation(largest.rows.length, answer.gap_count) || `all ${exact(answer.gap_count)}`}. A click shows one in
          the timeline.
        </span>
        <SaveMenu name="gaps" offers={[tableOffer(columns.largest, () => largest.rows)]} />
      </div>
      <div class="gaps-longest">
        <DataTable
          label="Longest gaps"
          columns={columns.largest}
          rows={largest.rows}
          isSelected={(gap) => gap.begin === chosen?.begin && gap.begin + gap.gap_ns === chosen.end}
          onSelect={showGap}
        />
      </div>
      <div class="gaps-more">
        <TableSection
          title={`By GPU, ${nanoseconds(sum(gpus.rows))} in all`}
          label="Gaps by GPU"
          columns={columns.gpus}
          table={gpus}
        />
        <TableSection
          title="What the launching threads did meanwhile"
          label="Causes"
          columns={columns.causes}
          table={causes}
        />
        <TableSection title="Lengths" label="Lengths of gaps" columns={columns.lengths} table={histogram} />
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

function sum(rows: Where[]): number {
  return rows.reduce((total, row) => total + ((row as Where & { gap_ns: number }).gap_ns ?? 0), 0);
}

export const gaps: View = {
  id: "gaps",
  title: "Gaps",
  hint: "When GPUs idle between work, what the launching thread did meanwhile, and the longest gaps",
  about: "run",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.kernels || overview.holds.copies) ? "" : "no GPU work was recorded",
  component: Gaps,
};
