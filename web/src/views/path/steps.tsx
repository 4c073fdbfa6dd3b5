// The steps of a critical path side by side: bars of one scale, in the order of the steps. Sorted by length, the outliers
// come first.
import { useMemo } from "preact/hooks";
import { nanoseconds, percent } from "../../base/format";
import type { RunPathStepsRow } from "../../data/answers.gen";
import { pathColour } from "../../draw/path_segments";
import { select } from "../../model/selection";
import { show } from "../../model/timewindow";
import { frontView } from "../../model/view";
import { PartsBar } from "../../widgets/bars";
import { type Column, DataTable } from "../../widgets/data_table";

/** Pixels of a row of the table, and the rows that it shows before it scrolls. */
const ROW_HEIGHT = 24;
const MOST_ROWS = 14;

/** One step; `classes` are the parts of its path by class. */
interface StepRow {
  step: number;
  begin: number;
  span_ns: number;
  classes: RunPathStepsRow[];
}

/** The answer has a row for each class of each step. */
export function stepRows(rows: RunPathStepsRow[]): StepRow[] {
  const steps = new Map<number, StepRow>();
  for (const row of rows) {
    const step = steps.get(row.step) ?? { step: row.step, begin: row.begin, span_ns: row.span_ns, classes: [] };
    step.classes.push(row);
    steps.set(row.step, step);
  }
  return [...steps.values()];
}

/** `left` says how many parts of steps are not here; empty = all are. */
export function Steps({ steps, left }: { steps: StepRow[]; left: string }) {
  const columns = useMemo(() => stepColumns(steps), [steps]);
  const height = `${Math.min(steps.length + 1.5, MOST_ROWS) * ROW_HEIGHT}px`;
  return (
    <>
      <h3>Steps side by side</h3>
      {left ? <p class="truncated">{left} parts of steps</p> : null}
      <div class="path-table" style={{ height }}>
        <DataTable label="Path by step" columns={columns} rows={steps} onSelect={showStep} />
      </div>
    </>
  );
}

/** Shows a step in the timeline, with a quarter of its length on both sides. */
function showStep({ begin, span_ns }: StepRow): void {
  select({ range: { begin, end: begin + span_ns } });
  show({ begin: begin - span_ns / 4, end: begin + span_ns * 1.25 });
  frontView("run_timeline");
}

function stepColumns(steps: StepRow[]): Column<StepRow>[] {
  const lengths = steps.map((step) => step.span_ns).sort((a, b) => a - b);
  const longest = lengths.at(-1) ?? 0;
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  const ofMedian = (row: StepRow) => (median ? row.span_ns / median : null);
  return [
    { name: "step", title: "Step", hint: "Number of the step", value: (row) => row.step, width: "4em" },
    {
      name: "span_ns",
      title: "Length",
      hint: "How long it took",
      value: (row) => row.span_ns,
      show: (row) => nanoseconds(row.span_ns),
      width: "7em",
    },
    {
      name: "of_median",
      title: "Of median",
      hint: "Its length over the median of the steps",
      value: ofMedian,
      show: (row) => `${ofMedian(row)?.toFixed(2) ?? "–"} x`,
      width: "7em",
    },
    {
      name: "classes",
      title: "Path",
      hint: "Classes of time on the path within the step; the longest step fills the width",
      value: (row) => row.classes.map(partTitle).join("; "),
      show: (row) => <StepBar row={row} longest={longest} />,
      width: "minmax(10em, 1fr)",
    },
  ];
}

const partTitle = (part: RunPathStepsRow) => `${part.class}: ${nanoseconds(part.path_ns)}, ${percent(part.path_share)}`;

function StepBar({ row, longest }: { row: StepRow; longest: number }) {
  const parts = row.classes.map((part) => ({
    share: longest ? part.path_ns / longest : 0,
    colour: pathColour(part.class),
    title: partTitle(part),
  }));
  return <PartsBar parts={parts} label={parts.map((part) => part.title).join("; ")} />;
}
