// When GPUs idle between work, and why: causes, lengths, and the longest gaps with what stood around them.
import { useMemo } from "preact/hooks";
import { exact, nanoseconds } from "../base/format";
import {
  ASKED,
  RUN_GAPS_CAUSES,
  RUN_GAPS_GPUS,
  RUN_GAPS_HISTOGRAM,
  RUN_GAPS_LARGEST,
  type RunGapsAnswer,
  type RunGapsCausesRow,
  type RunGapsGpusRow,
  type RunGapsHistogramRow,
  type RunGapsLargestRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { truncation } from "../model/answers";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { showOnGpu } from "../model/run";
import { selection } from "../model/selection";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { DataTable, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { gpuColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";
import "./gaps.css";

const GPUS = figureColumns<RunGapsGpusRow>(RUN_GAPS_GPUS, [
  ["gap_count", "Gaps"],
  ["gap_ns", "Total"],
  ["gap_share", "Of the span", "bar"],
  ["gap_mean_ns", "Mean"],
  ["gap_max_ns", "Longest"],
  ["busy_ns", "Busy"],
  ["edge_ns", "Idle at the edges"],
  ["wall_ns", "Wall time"],
]);
const CAUSES = figureColumns<RunGapsCausesRow>(RUN_GAPS_CAUSES, [
  ["cause", "Cause", "text"],
  ["function", "Function", "text"],
  ["call_count", "Count"],
  ["wait_ns", "In gaps"],
  ["gap_share", "Of the gaps", "bar"],
]);
const LENGTHS = figureColumns<RunGapsHistogramRow>(RUN_GAPS_HISTOGRAM, [
  ["from_ns", "Gaps from"],
  ["gap_count", "Count"],
  ["gap_ns", "Total"],
]);
const LARGEST = figureColumns<RunGapsLargestRow>(RUN_GAPS_LARGEST, [
  ["gap_ns", "Length"],
  ["begin", "Started at", "ns", "8em"],
  ["cause", "Cause", "text", "9em"],
  ["function", "Function", "text"],
  ["stack", "In", "text"],
  ["previous", "Previous", "kernel", "minmax(15em, 2fr)"],
  ["next", "Next", "kernel", "minmax(15em, 2fr)"],
  ["launch_ns", "Launch"],
  ["queue_depth", "Queued", "count", "5em"],
  ["tid", "Thread", "id"],
]);

function Gaps() {
  const answer = useAnswer(json<RunGapsAnswer>(current.value, "run_gaps"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

/** Shows a gap in the timeline of its GPU, and selects the kernel that ended it. */
function showGap(gap: RunGapsLargestRow): void {
  const kernel = gap.dispatch_id === null ? {} : { kernelName: gap.next };
  void showOnGpu(gap, { begin: gap.begin, end: gap.begin + gap.gap_ns }, kernel);
}

function Tables({ answer }: { answer: RunGapsAnswer }) {
  const { gpus, causes, histogram, largest } = answer;
  const columns = useMemo(() => {
    return {
      gpus: [gpuColumn<RunGapsGpusRow>("9em"), ...GPUS],
      causes: [gpuColumn<RunGapsCausesRow>("9em"), ...CAUSES],
      lengths: [gpuColumn<RunGapsHistogramRow>("9em"), ...LENGTHS],
      largest: [gpuColumn<RunGapsLargestRow>("9em"), ...LARGEST],
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
          title={`By GPU, ${nanoseconds(gapSum(gpus.rows))} in total`}
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

const gapSum = (rows: RunGapsGpusRow[]) => rows.reduce((total, row) => total + row.gap_ns, 0);

export const gaps: View = {
  id: "gaps",
  title: "Gaps",
  hint: ASKED.gaps,
  about: "run",
  time: "selected",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.dispatches || overview.holds.copies) ? "" : "no GPU work was recorded",
  component: Gaps,
};
