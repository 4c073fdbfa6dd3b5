// What is inside the selected time and tracks: instructions of a trace, events of a run.
import { useMemo, useRef } from "preact/hooks";
import { exact, nanoseconds, percent } from "../base/format";
import {
  AREA,
  type AreaAnswer,
  type AreaRow,
  RUN_AREA_NAMES,
  type RunAreaAnswer,
  type RunAreaNamesRow,
} from "../data/answers.gen";
import { json, type Parameters } from "../data/ask";
import { truncation } from "../model/answers";
import { selectRow } from "../model/code";
import { current } from "../model/document";
import { executionOf } from "../model/executions";
import { useAnswer } from "../model/loaded";
import { type Range, select, selection } from "../model/selection";
import { show } from "../model/timewindow";
import { frontView, type View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { instructionColumn } from "../widgets/code_columns";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { SaveMenu } from "../widgets/saving";

const ROWS: Column<AreaRow>[] = [
  ...figureColumns<AreaRow>(AREA, [["row", "Row", "id", "4em"]]),
  instructionColumn<AreaRow>("Instruction", (line) => line.row, "minmax(16em, 2fr)"),
  ...figureColumns<AreaRow>(AREA, [
    ["execution_count", "Executions"],
    ["latency_cycles_total", "Latency"],
    ["latency_share", "Share", "bar"],
    ["stall_cycles_total", "Stall"],
    ["issue_cycles_total", "Issue"],
    ["latency_cycles_max", "Longest"],
  ]),
];

const NAMES = figureColumns<RunAreaNamesRow>(RUN_AREA_NAMES, [
  ["name", "Name", "kernel", "minmax(14em, 2fr)"],
  ["event_count", "Count"],
  ["total_ns", "Total"],
  ["share", "Share", "bar"],
  ["mean_ns", "Mean"],
  ["max_ns", "Longest"],
  ["first_ns", "First at"],
]);

/** The selected time and tracks as parameters of a question; null = no time is selected. */
function selectedArea(): Parameters | null {
  const { range, tracks } = selection.value;
  return range ? { start: range.begin, stop: range.end, ...(tracks ? { tracks } : {}) } : null;
}

const NONE = "Drag over the tracks of a timeline: this lists what is inside. A drag on its axis takes all tracks.";

function Area() {
  const asked = selectedArea();
  const answer = useAnswer(asked ? json<AreaAnswer>(current.value, "area", asked) : null);
  if (!asked) return <Nothing>{NONE}</Nothing>;
  return <Answered answer={answer}>{(value) => <Rows answer={value} />}</Answered>;
}

/** A window around an interval, with as much again on both sides. */
const windowAround = ({ begin, end }: Range): Range => {
  const length = Math.max(1, end - begin);
  return { begin: begin - length, end: end + length };
};

function Rows({ answer }: { answer: AreaAnswer }) {
  const { rows } = answer;
  const selectExecution = async (item: number) => {
    const execution = await executionOf(item);
    if (execution) selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
    return execution;
  };
  const showLongest = async (line: AreaRow) => {
    const longest = await selectExecution(line.longest_item);
    if (longest)
      show(windowAround({ begin: longest.time, end: longest.time + Math.max(longest.stall, longest.duration) }));
    frontView("compute_unit");
  };
  return (
    <Table
      label="Instructions of the selected time and tracks"
      columns={ROWS}
      rows={rows.rows}
      isSelected={(line) => line.row === selection.value.row}
      select={(line) => void selectExecution(line.first_item)}
      go={(line) => void showLongest(line)}
      definition={answer.definition}
      words={[
        `${exact(answer.execution_count)} executions`,
        `latency ${exact(answer.latency_cycles_total)}`,
        `stall ${percent(answer.latency_cycles_total ? answer.stall_cycles_total / answer.latency_cycles_total : null)}`,
        `${exact(answer.track_count)} tracks`,
        answer.unknown_count ? `${exact(answer.unknown_count)} without a known PC` : "",
        truncation(rows.rows.length, rows.row_count),
      ]}
    />
  );
}

function RunArea() {
  const asked = selectedArea();
  const answer = useAnswer(asked ? json<RunAreaAnswer>(current.value, "run_area", asked) : null);
  if (!asked) return <Nothing>{NONE}</Nothing>;
  return <Answered answer={answer}>{(value) => <Names answer={value} />}</Answered>;
}

function Names({ answer }: { answer: RunAreaAnswer }) {
  const { names } = answer;
  const choose = (item: number) => select({ span: `run:${item}` });
  return (
    <Table
      label="Events of the selected time and tracks"
      columns={NAMES}
      rows={names.rows}
      isSelected={({ first_item, longest_item }) =>
        [first_item, longest_item].some((item) => selection.value.span === `run:${item}`)
      }
      select={(line) => choose(line.longest_item)}
      go={(line) => {
        choose(line.longest_item);
        show(windowAround({ begin: line.longest_ns, end: line.longest_ns + line.max_ns }));
        frontView("run_timeline");
      }}
      definition={answer.definition}
      words={[
        `${exact(answer.event_count)} events`,
        nanoseconds(answer.total_ns),
        `${exact(answer.track_count)} tracks`,
        truncation(names.rows.length, names.row_count),
      ]}
    />
  );
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  isSelected: (row: Row) => boolean;
  select: (row: Row) => void;
  /** Double click or Enter. */
  go: (row: Row) => void;
  definition: string;
  words: string[];
}

function Table<Row>({ label, columns, rows, isSelected, select: choose, go, definition, words }: TableProps<Row>) {
  const offers = useMemo(() => [tableOffer(columns, () => rows)], [columns, rows]);
  /** The row that was clicked last: it counts as selected also while its wave is on its way. */
  const clicked = useRef<Row | null>(null);
  const goToSelected = () => {
    const selected = clicked.current && rows.includes(clicked.current) ? clicked.current : rows.find(isSelected);
    if (selected) go(selected);
  };
  const onSelect = (row: Row) => {
    clicked.current = row;
    choose(row);
  };
  return (
    <div class="view">
      <div class="toolbar">
        <span title={definition}>{words.filter(Boolean).join(" · ")}</span>
        <span class="faint-text">double click: the longest</span>
        <SaveMenu name="selection" offers={offers} />
      </div>
      {rows.length ? (
        <div
          class="area-table"
          role="group"
          aria-label={label}
          onDblClick={goToSelected}
          onKeyDown={(event) => {
            if (event.key === "Enter") goToSelected();
          }}
        >
          <DataTable label={label} columns={columns} rows={rows} isSelected={isSelected} onSelect={onSelect} />
        </div>
      ) : (
        <Nothing>Nothing is inside the selected time and tracks.</Nothing>
      )}
    </div>
  );
}

const shared = { title: "Selection", hint: "What is inside the selected time and tracks of a timeline" };

export const area: View = {
  ...shared,
  id: "area",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced"),
  component: Area,
};

export const runAreaView: View = { ...shared, id: "run_area", about: "run", missing: () => "", component: RunArea };
