// One kernel: how its durations are distributed, how they change over time, with which sizes and where it runs.

import { useMemo } from "preact/hooks";
import { baseName } from "../../base/path";
import {
  RUN_KERNEL_COUNTERS,
  RUN_KERNEL_HISTOGRAM,
  RUN_KERNEL_LONGEST,
  RUN_KERNEL_SHAPES,
  RUN_SUMMARY_THINGS,
  type RunKernelAnswer,
  type RunKernelCountersRow,
  type RunKernelHistogramRow,
  type RunKernelLongestRow,
  type RunKernelOverTimeRow,
  type RunKernelShapesRow,
  type RunSummaryThingsRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import { hintOf } from "../../data/tables";
import { colourOf, nameColour } from "../../draw/palette";
import { paintBars, paintSteps, plotBox } from "../../draw/plot";
import { current, documents, runOverview } from "../../model/document";
import { kernelName } from "../../model/kernel_names";
import { layersOf } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { gpuName, processName, showOnGpu } from "../../model/run";
import { bounds } from "../../model/timewindow";
import { Answered } from "../../widgets/answered";
import { Canvas, type Paint } from "../../widgets/canvas";
import { Definition, Section } from "../../widgets/cards";
import type { Column } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";

const SHAPES = figureColumns<RunKernelShapesRow>(RUN_KERNEL_SHAPES, [
  ["grid_x", "Grid x"],
  ["grid_y", "y"],
  ["grid_z", "z"],
  ["workgroup_x", "Workgroup x"],
  ["workgroup_y", "y"],
  ["workgroup_z", "z"],
  ["calls", "Calls"],
  ["mean_ns", "Mean"],
  ["kernel_share", "Share"],
  ["vgpr_count", "VGPR"],
  ["accum_vgpr_count", "AGPR"],
  ["sgpr_count", "SGPR"],
  ["lds_bytes", "LDS"],
  ["scratch_bytes", "Scratch"],
  ["waves_per_simd", "Waves/SIMD"],
  ["waves_per_simd_max", "of"],
  ["bound_by", "Bound by", "text"],
]);
const RANGES = figureColumns<RunKernelHistogramRow>(RUN_KERNEL_HISTOGRAM, [
  ["from_ns", "From"],
  ["calls", "Dispatches"],
]);
const COUNTERS = figureColumns<RunKernelCountersRow>(RUN_KERNEL_COUNTERS, [
  ["counter", "Counter", "text"],
  ["dispatch_count", "Dispatches"],
  ["value_mean", "Mean"],
  ["value_min", "Min"],
  ["value_max", "Max"],
]);
const FIGURES = figureColumns<RunSummaryThingsRow>(RUN_SUMMARY_THINGS, [
  ["calls", "Calls"],
  ["total_ns", "Total"],
  ["mean_ns", "Mean"],
  ["median_ns", "Median"],
  ["p95_ns", "p95"],
  ["max_ns", "Max"],
]);
const LONGEST = figureColumns<RunKernelLongestRow>(RUN_KERNEL_LONGEST, [
  ["duration_ns", "Duration"],
  ["median_ratio", "x median", "factor"],
  ["begin", "Started at", "ns"],
  ["stream_id", "Stream"],
  ["dispatch_id", "Dispatch"],
]);

/** Pixels of a plot on screen, and of its saved picture. */
const PLOT_HEIGHT = 150;
const SAVED_SIZE = { width: 600, height: 220 };

/** The colour that the kernel has in the timeline. */
function useKernelColour(name: string): string {
  const layers = useAnswer(layersOf(current.value)).value;
  const known = layers.state === "ready" ? layers.value.layer("run")?.kinds.find((kind) => kind.name === name) : null;
  return known?.colour ? colourOf(known.colour) : nameColour(name);
}

export function KernelDetails({ name }: { name: string }) {
  const answer = useAnswer(json<RunKernelAnswer>(current.value, "run_kernel", { name }));
  return (
    <div class="kernels-more" key={name} data-kernel={name}>
      <Answered answer={answer}>{(value) => <Details answer={value} name={name} />}</Answered>
    </div>
  );
}

function Details({ answer, name }: { answer: RunKernelAnswer; name: string }) {
  const { shapes, counters, by_process } = answer;
  const nodeCount = runOverview().clocks.nodes.length;
  return (
    <>
      <h2 class="kernel-name" title={`recorded as ${name}`}>
        {kernelName(name)?.readable ?? name}
      </h2>
      <Plots answer={answer} name={name} />
      <Section title="By GPU">
        <SmallTable
          label="By GPU"
          rows={answer.by_gpu}
          columns={[placeColumn("GPU", (row) => gpuName(row.host, row.gpu, nodeCount)), ...FIGURES]}
        />
      </Section>
      {by_process.length > 1 ? (
        <Section title="By process">
          <SmallTable
            label="By process"
            rows={by_process}
            columns={[placeColumn("Process", (row) => processName(row.pid, row.rank)), ...FIGURES]}
          />
        </Section>
      ) : null}
      <Section title="Launched with" hint="Sizes, registers, memory, and how many waves of it fit on a SIMD">
        <SmallTable label="Launch sizes" columns={SHAPES} rows={shapes.rows} total={shapes.row_count} />
      </Section>
      <Longest answer={answer} name={name} />
      {counters.rows.length ? (
        <Section title="Counters per dispatch">
          <SmallTable label="Counters per dispatch" columns={COUNTERS} rows={counters.rows} />
        </Section>
      ) : null}
      <InFolder answer={answer} />
      <Definition text={answer.definition} />
    </>
  );
}

/** The column that says of which GPU or process a row is. */
function placeColumn(title: string, value: (row: RunSummaryThingsRow) => string): Column<RunSummaryThingsRow> {
  return { name: "where", title, value, width: "12em" };
}

/** The durations as a histogram, and over time on one plot per node. */
function Plots({ answer: { histogram, over_time }, name }: { answer: RunKernelAnswer; name: string }) {
  const { nodes } = runOverview().clocks;
  const nodeOf = (machine: string) => baseName(nodes.find((node) => node.machine === machine)?.node ?? machine);
  const colour = useKernelColour(name);
  const machines = useMemo(() => [...new Set(over_time.rows.map((row) => row.machine))], [over_time]);
  const bars = histogram.rows.map((row) => ({ from: row.from_ns, value: row.calls }));
  const paint: Paint = (painter, size) => paintBars(painter, plotBox(size), bars, colour);
  return (
    <div class="kernel-plots">
      <Section title="Durations" hint={hintOf(RUN_KERNEL_HISTOGRAM.from_ns)}>
        <Canvas paint={paint} label={`Histogram of the durations of ${name}`} height={PLOT_HEIGHT} />
        <details>
          <summary>as a table</summary>
          <SmallTable label="Histogram of durations" columns={RANGES} rows={histogram.rows} />
        </details>
        <SaveMenu name="kernel-durations" offers={pictures(paint, () => SAVED_SIZE)} />
      </Section>
      {machines.map((machine) => (
        <OverTime
          key={machine}
          name={name}
          colour={colour}
          title={nodes.length > 1 ? `Over time on ${nodeOf(machine)}` : "Over time"}
          rows={over_time.rows.filter((row) => row.machine === machine)}
        />
      ))}
    </div>
  );
}

function Longest({ answer: { longest }, name }: { answer: RunKernelAnswer; name: string }) {
  return (
    <Section title="Longest dispatches" hint="A click shows it in the timeline">
      <SmallTable
        label="Longest dispatches"
        rows={longest.rows}
        total={longest.row_count}
        columns={[
          {
            name: "gpu",
            title: "GPU",
            value: (row: RunKernelLongestRow) => gpuName(row.node, row.gpu, runOverview().clocks.nodes.length),
            width: "",
          },
          ...LONGEST,
        ]}
        onSelect={(row) => {
          void showOnGpu(row, { begin: row.begin, end: row.begin + row.duration_ns }, { kernelName: name });
        }}
      />
    </Section>
  );
}

/** Thread traces of the kernel, and its limit by counters, in the folder of the run. */
function InFolder({ answer: { traces, limits } }: { answer: RunKernelAnswer }) {
  if (!traces.rows.length && !limits.rows.length) return null;
  return (
    <Section title="In the same folder">
      <ul data-evidence>
        {limits.rows.map((row) => (
          <li key={row.command}>
            Counters: {row.limit}. <OtherDocument label="counters" view="counter_diagnosis" command={row.command} />
          </li>
        ))}
        {traces.rows.map((row) => (
          <li key={row.command}>
            Thread trace{row.dispatch ? ` of dispatch ${row.dispatch}` : ""}:{" "}
            <OtherDocument label={`dispatch ${row.dispatch}`} view="diagnosis" command={row.command} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** A link to a document of the same input, which is found by the end of its label; else the command that shows it. */
function OtherDocument({ label, view, command }: { label: string; view: string; command: string }) {
  const path = documents.value[current.value]?.path;
  const other = documents.value.find((line) => line.path === path && line.label.endsWith(label));
  if (!other) return <code>{command}</code>;
  return (
    <a class="link" href={`#document=${other.number}&view=${view}`} title={command}>
      {other.label}
    </a>
  );
}

interface OverTimeProps {
  name: string;
  title: string;
  rows: RunKernelOverTimeRow[];
  colour: string;
}

function OverTime({ name, title, rows, colour }: OverTimeProps) {
  const intervals = rows.map((row) => ({
    begin: row.begin,
    end: row.begin + row.length_ns,
    mean: row.mean_ns,
    low: row.min_ns,
    high: row.max_ns,
  }));
  const paint: Paint = (painter, size) => paintSteps(painter, plotBox(size), intervals, bounds.value, colour);
  return (
    <Section
      title={title}
      hint="Mean duration of the dispatches that started in each interval; the band spans the shortest to the longest"
    >
      <Canvas paint={paint} label={`Durations of ${name} over time`} height={PLOT_HEIGHT} />
      <SaveMenu name="kernel-over-time" offers={pictures(paint, () => SAVED_SIZE)} />
    </Section>
  );
}
