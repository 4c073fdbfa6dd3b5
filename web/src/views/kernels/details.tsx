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
  const { shapes, histogram, over_time, longest, counters, by_gpu, by_process } = answer;
  const known = runOverview().clocks.nodes;
  const nodes = known.length;
  const nodeOf = (machine: string) => baseName(known.find((node) => node.machine === machine)?.node ?? machine);
  const colour = useKernelColour(name);
  const bars = histogram.rows.map((row) => ({ from: row.from_ns, value: row.calls }));
  const paintHistogram: Paint = (painter, size) => paintBars(painter, plotBox(size), bars, colour, null);
  const machines = useMemo(() => [...new Set(over_time.rows.map((row) => row.machine))], [over_time]);
  const where = (title: string, of: (row: RunSummaryThingsRow) => string) => ({
    name: "where",
    title,
    value: of,
    width: "12em",
  });
  return (
    <>
      <h2 class="kernel-name" title={`recorded as ${name}`}>
        {kernelName(name)?.readable ?? name}
      </h2>
      <div class="kernel-plots">
        <Section title="Durations" hint={hintOf(RUN_KERNEL_HISTOGRAM.from_ns)}>
          <Canvas paint={paintHistogram} label={`Histogram of the durations of ${name}`} height={150} />
          <details>
            <summary>as a table</summary>
            <SmallTable label="Histogram of durations" columns={RANGES} rows={histogram.rows} />
          </details>
          <SaveMenu name="kernel-durations" offers={pictures(paintHistogram, () => ({ width: 600, height: 220 }))} />
        </Section>
        {machines.map((machine) => (
          <OverTime
            key={machine}
            name={name}
            colour={colour}
            title={nodes > 1 ? `Over time on ${nodeOf(machine)}` : "Over time"}
            rows={over_time.rows.filter((row) => row.machine === machine)}
          />
        ))}
      </div>
      <Section title="By GPU">
        <SmallTable
          label="By GPU"
          rows={by_gpu}
          columns={[where("GPU", (row) => gpuName(row.host, row.gpu, nodes)), ...FIGURES]}
        />
      </Section>
      {by_process.length > 1 ? (
        <Section title="By process">
          <SmallTable
            label="By process"
            rows={by_process}
            columns={[where("Process", (row) => processName(row.pid, row.rank)), ...FIGURES]}
          />
        </Section>
      ) : null}
      <Section title="Launched with" hint="Sizes, registers, memory, and how many waves of it fit on a SIMD">
        <SmallTable label="Launch sizes" columns={SHAPES} rows={shapes.rows} total={shapes.row_count} />
      </Section>
      <Section title="Longest dispatches" hint="A click shows it in the timeline">
        <SmallTable
          label="Longest dispatches"
          rows={longest.rows}
          total={longest.row_count}
          columns={[
            {
              name: "gpu",
              title: "GPU",
              value: (row: RunKernelLongestRow) => gpuName(row.node, row.gpu, nodes),
              width: "",
            },
            ...LONGEST,
          ]}
          onSelect={(row) => {
            void showOnGpu(row, { begin: row.begin, end: row.begin + row.duration_ns }, { kernelName: name });
          }}
        />
      </Section>
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

/** A document of the same input, by the end of its label; else the command that shows it. */
function OtherDocument({ label, view, command }: { label: string; view: string; command: string }) {
  const here = documents.value[current.value]?.path;
  const found = documents.value.find((line) => line.path === here && line.label.endsWith(label));
  if (!found) return <code>{command}</code>;
  return (
    <a class="link" href={`#document=${found.number}&view=${view}`} title={command}>
      {found.label}
    </a>
  );
}

function OverTime({
  name,
  title,
  rows,
  colour,
}: {
  name: string;
  title: string;
  rows: RunKernelOverTimeRow[];
  colour: string;
}) {
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
      <Canvas paint={paint} label={`Durations of ${name} over time`} height={150} />
      <SaveMenu name="kernel-over-time" offers={pictures(paint, () => ({ width: 600, height: 220 }))} />
    </Section>
  );
}
