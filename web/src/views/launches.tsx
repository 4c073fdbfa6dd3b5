// Launches of GPU work: by which calls, how long before it starts, how much waits in queues, how many per step.
import { useMemo } from "preact/hooks";
import { groupBy } from "../base/group";
import {
  ASKED,
  RUN_LAUNCHES_FUNCTIONS,
  RUN_LAUNCHES_PROCESSES,
  type RunLaunchesAnswer,
  type RunLaunchesDepthsRow,
  type RunLaunchesFunctionsRow,
  type RunLaunchesProcessesRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { paper } from "../draw/palette";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { Definition } from "../widgets/cards";
import { type Column, tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { TableSection } from "../widgets/table_section";

const FUNCTIONS = figureColumns<RunLaunchesFunctionsRow>(RUN_LAUNCHES_FUNCTIONS, [
  ["function", "Call", "text"],
  ["launch_count", "Launches"],
  ["graph_count", "Graphs"],
  ["work_count", "Kernels and copies"],
  ["call_median_ns", "Median of the call"],
  ["call_total_ns", "All calls"],
  ["delay_median_ns", "Median delay"],
  ["delay_mean_ns", "Mean delay"],
  ["delay_p95_ns", "p95 of delays"],
  ["delay_max_ns", "Longest delay"],
  ["early_count", "Started before the call returned"],
]);
const PROCESSES = figureColumns<RunLaunchesProcessesRow>(RUN_LAUNCHES_PROCESSES, [
  ["host", "Node", "text"],
  ["launch_count", "Launches"],
  ["work_count", "Kernels and copies"],
  ["unknown_share", "Launch not recorded"],
  ["launches_per_step", "Launches per step"],
  ["calls_per_step", "Calls per step"],
  ["depth_mean", "Mean depth"],
  ["depth_max", "Deepest"],
  ["empty_share", "Queue empty", "bar"],
]);
/** Pixels of the curve in a cell. */
const [WIDTH, HEIGHT] = [180, 18];

type Process = Pick<RunLaunchesDepthsRow, "host" | "pid" | "rank" | "run">;
/** A process, as both tables name it. */
const keyOf = ({ host, pid, rank, run }: Process) => `${host} ${pid} ${rank} ${run}`;

function Launches() {
  const answer = useAnswer(json<RunLaunchesAnswer>(current.value, "run_launches"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

function Tables({ answer }: { answer: RunLaunchesAnswer }) {
  const { functions, processes, depths } = answer;
  const columns = useMemo(() => {
    const curves = groupBy(depths.rows, keyOf);
    const most = Math.max(1, ...depths.rows.map((row) => row.depth_max));
    const curve: Column<RunLaunchesProcessesRow> = {
      name: "depths",
      title: "Queue depth over time",
      hint: `Mean number of launches whose work has not started; the height is ${most}, the deepest queue of all`,
      value: (row) => row.depth_mean,
      show: (row) => <Curve rows={curves.get(keyOf(row)) ?? []} most={most} />,
      width: "",
    };
    return [processColumn<RunLaunchesProcessesRow>(), ...PROCESSES, curve];
  }, [answer]);
  return (
    <div class="view">
      <div class="toolbar">
        <span>Short delays with an empty queue: the GPU waits for the host.</span>
        <SaveMenu name="launches" offers={[tableOffer(FUNCTIONS, () => functions.rows)]} />
      </div>
      <div class="scroll">
        <p>
          <strong data-verdict>{answer.verdict}</strong>
        </p>
        <TableSection title="Calls that launch work" label="Launches by call" columns={FUNCTIONS} table={functions} />
        <TableSection title="Processes" label="Launches by process" columns={columns} table={processes} />
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

/** The mean queue depth as a line of steps; `most` is the depth at the top. */
function Curve({ rows, most }: { rows: RunLaunchesDepthsRow[]; most: number }) {
  const step = WIDTH / Math.max(1, rows.length);
  const y = (depth: number) => HEIGHT - 1 - (depth / most) * (HEIGHT - 2);
  const points = rows.flatMap(({ depth_mean: depth }, n) => [n * step, y(depth), (n + 1) * step, y(depth)]);
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true">
      <polyline points={points.join(" ")} fill="none" stroke={paper("accent")} />
    </svg>
  );
}

export const launches: View = {
  id: "launches",
  title: "Launches",
  hint: ASKED.launches,
  about: "run",
  time: "selected",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.dispatches || overview.holds.copies) ? "" : "no GPU work was recorded",
  component: Launches,
};
