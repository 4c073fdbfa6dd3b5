// How much of the time each GPU had work, and over time: busy share, memory, copies, clocks, counters.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { percent } from "../base/format";
import {
  ASKED,
  RUN_BUSY_GPUS,
  RUN_BUSY_STREAMS,
  type RunBusyAnswer,
  type RunBusyGpusRow,
  type RunBusyStreamsRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { type CurveSet, curvesOf } from "../model/curves";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { View } from "../model/view";
import { Answered } from "../widgets/answered";
import { Definition, Section } from "../widgets/cards";
import { CurveChart } from "../widgets/curve_chart";
import { tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { gpuColumn, processColumn } from "../widgets/run_columns";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";
import { Split } from "../widgets/split";
import { TableSection } from "../widgets/table_section";
import { Strips } from "./busy/strips";
import "./busy.css";

const GPUS = figureColumns<RunBusyGpusRow>(RUN_BUSY_GPUS, [
  ["busy_share", "Busy", "bar"],
  ["busy_ns", "Busy time"],
  ["span_ns", "of"],
  ["kernel_busy_share", "Kernels"],
  ["copy_busy_share", "Copies"],
  ["duration_sum_ns", "Summed"],
  ["duration_sum_share", "of the span"],
  ["concurrency_mean", "Concurrency"],
  ["kernel_count", "Dispatches"],
  ["copy_count", "Copies"],
  ["process_count", "Processes"],
  ["product", "Product", "text"],
]);
const STREAMS = figureColumns<RunBusyStreamsRow>(RUN_BUSY_STREAMS, [
  ["stream_id", "Stream"],
  ["busy_share", "Busy", "bar"],
  ["busy_ns", "Busy time"],
  ["duration_sum_ns", "Summed"],
  ["kernel_count", "Dispatches"],
  ["copy_count", "Copies"],
]);
/** Name of a set of curves -> title. */
const TITLES: Record<string, string> = {
  busy: "GPUs busy",
  memory: "Allocated memory",
  copying: "Bytes being copied",
  monitors: "Clocks, power, temperature",
  samples: "Counters sampled over time",
  dispatches: "Counters of dispatches",
};
/** In place of a quantity: sets of one quantity have no choice. */
const ALL = "";

function Busy() {
  const answer = useAnswer(json<RunBusyAnswer>(current.value, "run_busy"));
  const curves = useAnswer(curvesOf(current.value));
  return (
    <div class="view">
      <Split name="busy" label="Between curves and tables" direction="column" first={0.62}>
        <Answered answer={curves}>{(sets) => <Curves sets={sets} />}</Answered>
        <div class="busy-tables">
          <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>
        </div>
      </Split>
    </div>
  );
}

function Curves({ sets }: { sets: CurveSet[] }) {
  const name = useSignal(sets[0]?.name ?? "");
  const quantity = useSignal(ALL);
  const set = sets.find((choice) => choice.name === name.value);
  const quantities = [...new Set(set?.series.map((series) => String(series.keys.quantity ?? "")))].filter(Boolean);
  const chosen = quantities.includes(quantity.value) ? quantity.value : (quantities[0] ?? ALL);
  if (!set) return <p class="note">Nothing that changes over time was recorded.</p>;
  const choose = (
    <select
      aria-label="Curves"
      value={set.name}
      data-choose="curves"
      onChange={(change) => {
        name.value = change.currentTarget.value;
      }}
    >
      {sets.map((choice) => (
        <option key={choice.name} value={choice.name}>
          {TITLES[choice.name] ?? choice.name}
        </option>
      ))}
    </select>
  );
  if (set.name === "busy") return <Strips choose={choose} />;
  return (
    <CurveChart
      key={`${set.name}/${chosen}`}
      set={set}
      label={TITLES[set.name] ?? set.name}
      fileName={`run-${set.name}`}
      fromZero={set.name !== "monitors"}
      isHiddenAtFirst={(series) => chosen !== ALL && series.keys.quantity !== chosen}
    >
      {choose}
      {quantities.length > 1 ? (
        <select
          aria-label="Quantity"
          value={chosen}
          onChange={(change) => {
            quantity.value = change.currentTarget.value;
          }}
        >
          {quantities.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : null}
      <LeftOut set={set} />
    </CurveChart>
  );
}

/** How many curves are not here; the answer states it for sets that are cut. */
function LeftOut({ set }: { set: CurveSet }) {
  const { left_out: count = 0 } = set as CurveSet & { left_out?: number };
  return count ? <strong>{`showing ${set.series.length} of ${set.series.length + count} curves`}</strong> : null;
}

function Tables({ answer }: { answer: RunBusyAnswer }) {
  const { gpus, streams, nodes } = answer;
  const columns = useMemo(
    () => ({
      gpus: [gpuColumn<RunBusyGpusRow>(), ...GPUS],
      streams: [gpuColumn<RunBusyStreamsRow>(), processColumn<RunBusyStreamsRow>(), ...STREAMS],
    }),
    [answer],
  );
  const unused = nodes.rows.reduce((sum, node) => sum + node.unused_gpu_count, 0);
  const busiest = [...gpus.rows].sort((a, b) => b.busy_share - a.busy_share)[0];
  if (!busiest) return <p class="note">No GPU had any work.</p>;
  return (
    <>
      <Section title={`GPUs, up to ${percent(busiest.busy_share)} busy${unused ? `; ${unused} had no work` : ""}`}>
        <SmallTable label="GPUs" columns={columns.gpus} rows={gpus.rows} total={gpus.row_count} />
        <SaveMenu name="busy" offers={[tableOffer(columns.gpus, () => gpus.rows)]} />
      </Section>
      <TableSection title="Streams" columns={columns.streams} table={streams} />
      <Definition text={answer.definition} />
    </>
  );
}

export const busy: View = {
  id: "busy",
  title: "Busy",
  hint: ASKED.busy,
  about: "run",
  time: "selected",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.dispatches || overview.holds.copies || overview.holds.monitors)
      ? ""
      : "no GPU work was recorded",
  component: Busy,
};
